//! Many constant patterns over one text, at the price of the few that can match it.
//!
//! Every match of a pattern contains one of a few literals, which are derived from the pattern itself; one pass of an automaton over
//! the text finds whose literals are there, and only those patterns are run, each with its own small automaton. One automaton of all
//! patterns has too many states to be kept (their counted repeats multiply) and falls back to a search a hundred times slower.
//! Must not know: what the patterns are for.

use aho_corasick::{AhoCorasick, MatchKind};
use regex::Regex;
use regex_syntax::hir::{Class, Hir, HirKind};

/// Literals of one pattern at most; a part with more of them is looked at as one that has none.
const LITERALS_MAX: usize = 512;
/// Characters of a class at most that are told apart.
const CLASS_CHARS_MAX: usize = 8;
/// Repeats of a part at most that are written out.
const REPEATS_MAX: u32 = 4;

/// Constant patterns, numbered as they were given.
pub(super) struct Patterns {
    single: Vec<Regex>,
    literals: AhoCorasick,
    /// The pattern of each literal.
    owners: Vec<u16>,
    /// Patterns without a literal: always run.
    always: Vec<u16>,
}

impl Patterns {
    /// Compiles constant patterns.
    ///
    /// # Panics
    /// When one is no pattern: they are constants, and tests compile every one of them.
    pub fn new(patterns: &[&str]) -> Patterns {
        let (mut needles, mut owners, mut always) = (Vec::new(), Vec::new(), Vec::new());
        for (number, pattern) in (0u16..).zip(patterns) {
            match literals_of(pattern) {
                Some(literals) => {
                    owners.extend(literals.iter().map(|_| number));
                    needles.extend(literals);
                }
                None => always.push(number),
            }
        }
        let literals = AhoCorasick::builder().ascii_case_insensitive(true).match_kind(MatchKind::Standard).build(&needles);
        Patterns {
            single: patterns.iter().map(|p| Regex::new(p).expect("invariant: constant patterns")).collect(),
            literals: literals.expect("invariant: constant patterns"),
            owners,
            always,
        }
    }

    /// How many there are.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.single.len()
    }

    /// One of the patterns.
    pub fn single(&self, number: usize) -> &Regex {
        &self.single[number]
    }

    /// The numbers of the patterns that can match the text, in order: every one that does is among them.
    pub fn candidates(&self, text: &str) -> Vec<usize> {
        if text.contains(FOLDED_TO_ASCII) {
            return (0..self.single.len()).collect();
        }
        let mut able = vec![false; self.single.len()];
        self.always.iter().for_each(|number| able[usize::from(*number)] = true);
        for found in self.literals.find_overlapping_iter(text) {
            able[usize::from(self.owners[found.pattern().as_usize()])] = true;
        }
        able.iter().enumerate().filter(|(_, able)| **able).map(|(number, _)| number).collect()
    }

    /// Which patterns match the text, by number.
    pub fn matches(&self, text: &str) -> Vec<bool> {
        let mut matched = vec![false; self.single.len()];
        for number in self.candidates(text) {
            matched[number] = self.single[number].is_match(text);
        }
        matched
    }

    /// Whether any pattern matches the text.
    pub fn is_match(&self, text: &str) -> bool {
        self.candidates(text).into_iter().any(|number| self.single[number].is_match(text))
    }
}

/// Letters beyond ASCII that a pattern without regard to case takes for `s` and `k`: a text with one is read by every pattern.
const FOLDED_TO_ASCII: [char; 2] = ['\u{17F}', '\u{212A}'];

/// Literals, in lower case, one of which stands in every match; none when there are none, or too many.
fn literals_of(pattern: &str) -> Option<Vec<String>> {
    let hir = regex_syntax::parse(pattern).expect("invariant: constant patterns");
    let whole = exact(&hir).filter(|strings| usable(strings));
    whole.or_else(|| within(&hir))
}

/// Every string that the part matches, in lower case, where these are few.
fn exact(hir: &Hir) -> Option<Vec<String>> {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Some(vec![String::new()]),
        HirKind::Literal(literal) => Some(vec![std::str::from_utf8(&literal.0).ok()?.chars().map(folded).collect()]),
        HirKind::Class(class) => class_chars(class),
        HirKind::Capture(capture) => exact(&capture.sub),
        HirKind::Concat(parts) => parts.iter().try_fold(vec![String::new()], |left, part| joined(&left, &exact(part)?)),
        HirKind::Alternation(parts) => few(parts.iter().map(exact).collect::<Option<Vec<_>>>()?.concat()),
        HirKind::Repetition(repetition) => {
            let (least, most) = (repetition.min, repetition.max.filter(|most| *most <= REPEATS_MAX)?);
            let once = exact(&repetition.sub)?;
            let mut power = times(&once, least)?;
            let mut all = power.clone();
            for _ in least..most {
                power = joined(&power, &once)?;
                all.extend(power.iter().cloned());
            }
            few(all)
        }
    }
}

/// Literals one of which stands in every match of the part: the longest there are.
fn within(hir: &Hir) -> Option<Vec<String>> {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) | HirKind::Class(_) | HirKind::Literal(_) => exact(hir).filter(|all| usable(all)),
        HirKind::Capture(capture) => within(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min == 0 => None,
        HirKind::Repetition(repetition) => {
            let written_out = exact(&repetition.sub).and_then(|once| times(&once, repetition.min.min(REPEATS_MAX)));
            written_out.filter(|all| usable(all)).or_else(|| within(&repetition.sub))
        }
        HirKind::Alternation(parts) => {
            let each = parts.iter().map(|part| exact(part).filter(|all| usable(all)).or_else(|| within(part)));
            few(each.collect::<Option<Vec<_>>>()?.concat())
        }
        HirKind::Concat(parts) => {
            let (mut found, mut run) = (Vec::new(), vec![String::new()]);
            for part in parts {
                let strings = exact(part);
                match strings.as_ref().and_then(|strings| joined(&run, strings)) {
                    Some(longer) => run = longer,
                    None => {
                        found.push(std::mem::replace(&mut run, strings.unwrap_or_else(|| vec![String::new()])));
                        found.extend(within(part));
                    }
                }
            }
            found.push(run);
            let worth = |all: &Vec<String>| (all.iter().map(String::len).min().unwrap_or(0), std::cmp::Reverse(all.len()));
            found.into_iter().filter(|all| usable(all)).max_by_key(worth)
        }
    }
}

/// Whether each says something.
fn usable(strings: &[String]) -> bool {
    !strings.is_empty() && strings.iter().all(|s| !s.is_empty())
}

fn few(mut strings: Vec<String>) -> Option<Vec<String>> {
    strings.sort();
    strings.dedup();
    (strings.len() <= LITERALS_MAX).then_some(strings)
}

/// Every string of the left followed by every one of the right.
fn joined(left: &[String], right: &[String]) -> Option<Vec<String>> {
    if left.len() * right.len() > LITERALS_MAX {
        return None;
    }
    few(left.iter().flat_map(|l| right.iter().map(move |r| format!("{l}{r}"))).collect())
}

fn times(once: &[String], count: u32) -> Option<Vec<String>> {
    (0..count.min(REPEATS_MAX)).try_fold(vec![String::new()], |power, _| joined(&power, once))
}

fn class_chars(class: &Class) -> Option<Vec<String>> {
    let Class::Unicode(class) = class else { return None };
    let mut chars = Vec::new();
    for range in class.iter() {
        for c in range.start()..=range.end() {
            chars.push(folded(c).to_string());
            if chars.len() > CLASS_CHARS_MAX {
                return None;
            }
        }
    }
    few(chars)
}

fn folded(c: char) -> char {
    match c {
        '\u{17F}' => 's',
        '\u{212A}' => 'k',
        c => c.to_ascii_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_those_that_every_match_contains() {
        let of = |pattern| literals_of(pattern).unwrap_or_default();
        assert_eq!(of(r"(?-u:\b)(AIza[0-9A-Za-z_-]{35})"), ["aiza"]);
        assert_eq!(of(r"gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[a-z]+"), ["gho_", "ghp_", "ghr_", "ghs_", "ghu_", "github_pat_"]);
        assert_eq!(of(r"(?i)[a-z]+ (?:my|our)? password"), ["  password", " my password", " our password"]);
        assert_eq!(of(r"(?i)[a-z]+ [0-9]+ password"), [" password"]);
        assert_eq!(of(r"A{18,}[a-z]"), ["aaaa"]);
        assert_eq!(of(r"(?:密码|口令)[:：]([!-~]{4,})"), ["口令:", "口令：", "密码:", "密码："]);
        assert_eq!(of(r"[0-9]{17}[0-9Xx]"), [] as [&str; 0]);
        assert_eq!(of(r"(?:abc)?[0-9]+"), [] as [&str; 0]);
        assert_eq!(of(r"abc|[0-9]+"), [] as [&str; 0]);
    }

    #[test]
    fn a_pattern_that_matches_is_a_candidate_whatever_the_case() {
        let patterns = Patterns::new(&[r"(?i)secret[ _]key", r"SK[0-9]+", r"[0-9]{4}"]);
        for text in ["my SECRET_KEY", "ſecret key", "a secret_\u{212A}ey", "secret key"] {
            assert_eq!(patterns.matches(text), [true, false, false], "{text}");
        }
        assert_eq!(patterns.matches("SK12345"), [false, true, true]);
        assert_eq!(patterns.candidates("nothing"), [2]);
        assert!(!patterns.is_match("nothing") && patterns.is_match("in 2024"));
    }
}
