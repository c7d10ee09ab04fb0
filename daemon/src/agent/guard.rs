//! The guard against the same call again with nothing changed in between. Pure.

use std::collections::HashMap;

use serde_json::Value;

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
}

/// Remembers the calls of a turn, by tool and canonical arguments.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CallGuard {
    seen: HashMap<String, (String, u32)>,
}

impl CallGuard {
    /// Judges a call and counts it.
    pub fn judge(&mut self, id: &str, name: &str, arguments: &Value) -> Verdict {
        let entry = self.seen.entry(key(name, arguments)).or_insert_with(|| (id.to_owned(), 0));
        entry.1 += 1;
        match entry.1 {
            1 => Verdict::Run,
            2 => Verdict::Repeat(entry.0.clone()),
            3 => Verdict::Refuse,
            _ => Verdict::End,
        }
    }

    /// Something changed by the call with this id: every other call may find something new.
    pub fn changed_by(&mut self, id: &str) {
        self.seen.retain(|_, (first, _)| first == id);
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
        let same = [json!({"a": 1, "b": {"c": 2, "d": [3]}}), json!({"b": {"d": [3], "c": 2}, "a": 1})];
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
    }
}
