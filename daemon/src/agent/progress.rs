//! Whether what tools answer leads anywhere: a step that tells nothing new, and the same failure again. Pure.
//!
//! Two answers are *alike* when the Dice coefficient (Dice 1945) of their adjacent word pairs is [`limits::AGENT_ALIKE`] or more. Words are
//! runs of letters and digits, lower case; a CJK character is one; at most [`limits::AGENT_ALIKE_WORDS_MAX`] words from the beginning count, so
//! that a request's number or a time in a long answer makes it no other answer, and another value in a short one does. Must not know: what
//! a tool does.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::limits;

/// What a step led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Something new, or nothing to be judged.
    Onward,
    /// Nothing new for the first time.
    Stale,
    /// A failure that came before.
    SameError,
    /// Nothing new in two steps in a row.
    NoProgress,
    /// The same failure three times.
    RepeatedError,
}

/// One answer as it is compared: its word pairs, sorted.
#[derive(Debug, Clone, PartialEq)]
struct Shape {
    pairs: Vec<u64>,
}

#[derive(Debug, Clone, PartialEq)]
struct Seen {
    tool: String,
    shape: Shape,
}

/// A failure, and in how many steps it came.
#[derive(Debug, Clone, PartialEq)]
struct Failure {
    seen: Seen,
    steps: u32,
    is_of_this_step: bool,
}

/// Watches the answers of a turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProgressGuard {
    seen: VecDeque<Seen>,
    failures: VecDeque<Failure>,
    this_step: Vec<Seen>,
    has_news: bool,
    has_judged: bool,
    stale_steps: u32,
}

impl ProgressGuard {
    /// Takes an answer of the step under way. `counts` is false for tools that change something or that are asked until something changes:
    /// what they answer is only a failure or not.
    pub fn observe(&mut self, tool: &str, counts: bool, text: &str, is_error: bool) {
        let seen = Seen { tool: tool.to_owned(), shape: Shape::of(text) };
        if is_error {
            self.failed(seen);
            return;
        }
        self.failures.retain(|failure| failure.seen.tool != tool);
        if !counts {
            self.has_news = true;
            return;
        }
        self.has_judged = true;
        self.has_news |= !self.seen.iter().any(|earlier| earlier.is_like(&seen));
        self.this_step.push(seen);
    }

    fn failed(&mut self, seen: Seen) {
        match self.failures.iter_mut().find(|failure| failure.seen.is_like(&seen)) {
            Some(failure) if failure.is_of_this_step => {}
            Some(failure) => {
                failure.steps += 1;
                failure.is_of_this_step = true;
            }
            None => {
                self.failures.push_back(Failure { seen, steps: 1, is_of_this_step: true });
                if self.failures.len() > limits::AGENT_GUARD_CALLS {
                    self.failures.pop_front();
                }
            }
        }
    }

    /// The step is over.
    pub fn end_step(&mut self) -> Progress {
        let failed = self.failures.iter().filter(|failure| failure.is_of_this_step);
        let same_error = failed.map(|failure| failure.steps).max().unwrap_or(0);
        self.failures.iter_mut().for_each(|failure| failure.is_of_this_step = false);
        let is_stale = self.has_judged && !self.has_news;
        if self.has_news {
            self.stale_steps = 0;
        } else if is_stale {
            self.stale_steps += 1;
        }
        self.seen.extend(self.this_step.drain(..));
        while self.seen.len() > limits::AGENT_GUARD_CALLS {
            self.seen.pop_front();
        }
        (self.has_news, self.has_judged) = (false, false);
        if same_error >= limits::AGENT_SAME_ERROR_STEPS_MAX {
            Progress::RepeatedError
        } else if is_stale && self.stale_steps >= limits::AGENT_STALE_STEPS_MAX {
            Progress::NoProgress
        } else if same_error > 1 {
            Progress::SameError
        } else if is_stale {
            Progress::Stale
        } else {
            Progress::Onward
        }
    }

    /// The user said something new.
    pub fn new_input(&mut self) {
        *self = ProgressGuard::default();
    }
}

impl Seen {
    fn is_like(&self, other: &Seen) -> bool {
        self.tool == other.tool && self.shape.likeness(&other.shape) >= limits::AGENT_ALIKE
    }
}

impl Shape {
    fn of(text: &str) -> Shape {
        let mut pairs = Vec::new();
        let mut before = hash("", "");
        let mut take = |word: &str| {
            let now = hash(word, "");
            pairs.push(hash(&before.to_string(), word));
            before = now;
            pairs.len() < limits::AGENT_ALIKE_WORDS_MAX
        };
        let mut word = String::new();
        let mut is_full = false;
        for c in text.chars() {
            let is_single = (c as u32) >= 0x2E80;
            if c.is_alphanumeric() && !is_single {
                word.extend(c.to_lowercase());
                continue;
            }
            if !word.is_empty() {
                is_full |= !take(&word);
                word.clear();
            }
            if c.is_alphanumeric() {
                is_full |= !take(c.encode_utf8(&mut [0; 4]));
            }
            if is_full {
                break;
            }
        }
        if !word.is_empty() && !is_full {
            take(&word);
        }
        pairs.sort_unstable();
        Shape { pairs }
    }

    /// 0 for nothing in common, 1 for the same pairs.
    fn likeness(&self, other: &Shape) -> f32 {
        if self.pairs == other.pairs {
            return 1.0;
        }
        let mut left: HashMap<u64, u32> = HashMap::new();
        self.pairs.iter().for_each(|pair| *left.entry(*pair).or_default() += 1);
        let shared = other.pairs.iter().filter(|pair| match left.get_mut(pair) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        });
        2.0 * shared.count() as f32 / (self.pairs.len() + other.pairs.len()).max(1) as f32
    }
}

fn hash(a: &str, b: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (a, b).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alike(a: &str, b: &str) -> bool {
        Shape::of(a).likeness(&Shape::of(b)) >= limits::AGENT_ALIKE
    }

    // LOOP-3: alike is not equal, and another value in a short answer is another answer
    #[test]
    fn alike_is_a_stated_similarity() {
        let long = "The order is being prepared in the warehouse and will be handed to the carrier as soon as the parcel is weighed, packed \
                    and labelled by the team on duty; nothing has to be done by the customer until then.";
        assert!(alike(&format!("{long} (request 81f3, 12:03:04)"), &format!("{long} (request 99aa, 12:05:44)")));
        assert!(alike("No results.", "no  results"));
        assert!(alike("没有找到相关的记录。", "没有找到相关的记录"));
        for (a, b) in [
            ("The temperature in Paris is 21 degrees", "The temperature in Paris is 25 degrees"),
            ("no such file: a.txt", "no such file: b.txt"),
            ("order OD2024001 is paid", "order OD2024002 is paid"),
            ("杭州今天二十一度", "杭州今天二十五度，有雨"),
            ("", "something"),
        ] {
            assert!(!alike(a, b), "{a} / {b}");
        }
    }

    fn step(guard: &mut ProgressGuard, answers: &[(&str, bool)]) -> Progress {
        answers.iter().for_each(|(text, is_error)| guard.observe("search", true, text, *is_error));
        guard.end_step()
    }

    // LOOP-3
    #[test]
    fn two_steps_in_a_row_that_tell_nothing_new_end() {
        let mut guard = ProgressGuard::default();
        // Five lookups at once that find nothing are one step.
        assert_eq!(step(&mut guard, &[("nothing found", false); 5]), Progress::Onward);
        assert_eq!(step(&mut guard, &[("nothing found", false)]), Progress::Stale);
        assert_eq!(step(&mut guard, &[("nothing found", false), ("the door is green", false)]), Progress::Onward);
        assert_eq!(step(&mut guard, &[("nothing found", false)]), Progress::Stale);
        guard.observe("write", false, "done", false);
        assert_eq!(guard.end_step(), Progress::Onward, "what changes something is progress");
        assert_eq!(step(&mut guard, &[("The door is green.", false)]), Progress::Stale);
        assert_eq!(guard.end_step(), Progress::Onward, "a step without answers says nothing");
        assert_eq!(step(&mut guard, &[("nothing found", false)]), Progress::NoProgress);
    }

    // LOOP-3, A11
    #[test]
    fn the_same_failure_three_times_ends() {
        let mut guard = ProgressGuard::default();
        assert_eq!(step(&mut guard, &[("no answer within 8 s", true); 3]), Progress::Onward, "one step");
        assert_eq!(step(&mut guard, &[("another failure altogether", true)]), Progress::Onward);
        assert_eq!(step(&mut guard, &[("no answer within 8 s", true)]), Progress::SameError);
        assert_eq!(step(&mut guard, &[("no answer within 8 s", true)]), Progress::RepeatedError);
        let mut guard = ProgressGuard::default();
        for _ in 0..5 {
            assert_eq!(step(&mut guard, &[("no answer within 8 s", true)]), Progress::Onward);
            guard.observe("search", true, "it worked", false);
            guard.end_step();
            guard.new_input();
        }
    }
}
