//! The guard against calls that lead nowhere: the same one again, or a few in turn, for ever. Pure.
//!
//! Calls are compared by tool and canonical arguments. Must not know: what tools answer.

use std::collections::{HashMap, VecDeque};

use serde_json::Value;

use crate::limits;

/// What the guard says about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The first of its kind: run it.
    Run,
    /// The same as the earlier call with this id: repeat its result with a note.
    Repeat(String),
    /// Once more: refuse it.
    Refuse,
    /// And again: the turn ends.
    End,
    /// So many calls came in turn again and again: the turn ends, whether or not they changed something.
    Cycle(usize),
}

/// Remembers the calls of a turn, by tool and canonical arguments.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CallGuard {
    /// Since something last changed: the first call of its kind, and how often.
    seen: HashMap<String, (String, u32)>,
    /// The newest calls, whatever changed between them.
    recent: VecDeque<String>,
}

impl CallGuard {
    /// Judges a call and counts it.
    pub fn judge(&mut self, id: &str, name: &str, arguments: &Value) -> Verdict {
        let key = key(name, arguments);
        self.recent.push_back(key.clone());
        if self.recent.len() > limits::AGENT_GUARD_CALLS {
            self.recent.pop_front();
        }
        let entry = self.seen.entry(key).or_insert_with(|| (id.to_owned(), 0));
        entry.1 += 1;
        let verdict = match entry.1 {
            1 => Verdict::Run,
            2 => Verdict::Repeat(entry.0.clone()),
            3 => Verdict::Refuse,
            _ => Verdict::End,
        };
        match self.cycle() {
            Some(period) => Verdict::Cycle(period),
            None => verdict,
        }
    }

    /// Something changed by the call with this id: every other call may find something new.
    pub fn changed_by(&mut self, id: &str) {
        self.seen.retain(|_, (first, _)| first == id);
    }

    /// The user said something new: every call may mean something else now.
    pub fn new_input(&mut self) {
        self.seen.clear();
        self.recent.clear();
    }

    /// How many calls take turns, if the newest ones are the same few in the same order, [`limits::AGENT_CYCLE_ROUNDS`] times.
    fn cycle(&self) -> Option<usize> {
        (2..=limits::AGENT_CYCLE_CALLS_MAX).find(|period| {
            let span = period * limits::AGENT_CYCLE_ROUNDS;
            let Some(begin) = self.recent.len().checked_sub(span) else { return false };
            let newest: Vec<&String> = self.recent.iter().skip(begin).collect();
            let repeats = newest.iter().skip(*period).zip(&newest).all(|(later, earlier)| later == earlier);
            // The same call all the time is for the counting above.
            repeats && newest[..*period].iter().any(|call| *call != newest[0])
        })
    }
}

fn key(name: &str, arguments: &Value) -> String {
    let mut out = format!("{name}\n");
    canonical(arguments, &mut out);
    out
}

/// JSON with the keys of every object sorted, so that their order does not matter.
fn canonical(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort();
            out.push('{');
            for key in keys {
                out.push_str(&Value::String(key.clone()).to_string());
                out.push(':');
                canonical(&map[key], out);
                out.push(',');
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for item in items {
                canonical(item, out);
                out.push(',');
            }
            out.push(']');
        }
        // A whole number is the same however it is written.
        Value::Number(number) => match number.as_f64() {
            Some(float) if float.fract() == 0.0 && float.abs() < 9e15 => out.push_str(&format!("{float:.0}")),
            _ => out.push_str(&number.to_string()),
        },
        other => out.push_str(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // LOOP-3, A10
    #[test]
    fn the_same_call_runs_once_whatever_the_order_of_its_keys() {
        let mut guard = CallGuard::default();
        let same = [json!({"a": 1, "b": {"c": 2, "d": [3]}}), json!({"b": {"d": [3.0], "c": 2}, "a": 1})];
        assert_eq!(guard.judge("1", "f", &same[0]), Verdict::Run);
        assert_eq!(guard.judge("2", "f", &same[1]), Verdict::Repeat("1".to_owned()));
        assert_eq!(guard.judge("3", "f", &same[0]), Verdict::Refuse);
        assert_eq!(guard.judge("4", "f", &same[1]), Verdict::End);
        assert_eq!(guard.judge("5", "g", &same[0]), Verdict::Run);
        assert_eq!(guard.judge("6", "f", &json!({"a": 2})), Verdict::Run);
    }

    // LOOP-3
    #[test]
    fn a_write_lets_other_calls_run_again_but_not_itself() {
        let mut guard = CallGuard::default();
        guard.judge("read", "recall", &json!({}));
        guard.judge("write", "remember", &json!({"text": "x"}));
        guard.changed_by("write");
        assert_eq!(guard.judge("2", "recall", &json!({})), Verdict::Run);
        assert_eq!(guard.judge("3", "remember", &json!({"text": "x"})), Verdict::Repeat("write".to_owned()));
        guard.new_input();
        assert_eq!(guard.judge("4", "remember", &json!({"text": "x"})), Verdict::Run);
    }

    // LOOP-3, A11: each write made the other call new, so two of them took turns for ever
    #[test]
    fn calls_that_take_turns_are_seen_though_each_changes_something() {
        for period in 2..=limits::AGENT_CYCLE_CALLS_MAX {
            let mut guard = CallGuard::default();
            let mut last = Verdict::Run;
            for n in 0..period * limits::AGENT_CYCLE_ROUNDS {
                assert_eq!(last, Verdict::Run, "call {n} of a cycle of {period}");
                let id = n.to_string();
                last = guard.judge(&id, "write", &json!({ "to": n % period }));
                guard.changed_by(&id);
            }
            assert_eq!(last, Verdict::Cycle(period));
        }
        let mut guard = CallGuard::default();
        for n in 0..limits::AGENT_GUARD_CALLS {
            assert_eq!(guard.judge(&n.to_string(), "write", &json!({ "to": n })), Verdict::Run, "never the same");
        }
    }
}
