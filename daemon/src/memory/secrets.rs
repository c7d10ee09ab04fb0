//! Recognises secrets in text before anything of it is kept: keys, tokens, passwords, card and identity numbers.
//!
//! Pure and linear in the text (no back-tracking). It answers the kind of what it found and never the value.
//! Must not know: memories, the store, or what becomes of a text that holds one.

mod checks;
mod named;
mod redact;
mod rules;
#[cfg(test)]
mod tests;
mod values;

use super::patterns::Patterns;
use named::NAMED;
pub use redact::{redact, redact_json};
use regex::Regex;
use rules::{Rule, SHAPES};
use std::ops::Range;
use std::sync::LazyLock;
use unicode_normalization::UnicodeNormalization;

struct Table {
    rules: &'static [Rule],
    patterns: Patterns,
}

static BY_SHAPE: LazyLock<Table> = LazyLock::new(|| table(SHAPES));
static BY_NAME: LazyLock<Table> = LazyLock::new(|| table(NAMED));

fn table(rules: &'static [Rule]) -> Table {
    let patterns: Vec<&str> = rules.iter().map(|rule| rule.pattern).collect();
    Table { rules, patterns: Patterns::new(&patterns) }
}

/// The kind of the first secret found in the text, such as `privateKey` or `cardNumber`; none when there is none.
pub fn find(text: &str) -> Option<&'static str> {
    if let Some(kind) = find_plain(text) {
        return Some(kind);
    }
    if text.chars().any(is_disguise) {
        return find_plain(&undisguised(text));
    }
    None
}

/// The same over several texts of one call.
pub fn find_in<'a>(texts: impl IntoIterator<Item = &'a str>) -> Option<&'static str> {
    texts.into_iter().find_map(find)
}

fn find_plain(text: &str) -> Option<&'static str> {
    tables().into_iter().find_map(|table| {
        let held = |i: &usize| next_value(&table.rules[*i], table.patterns.single(*i), text, 0).is_some();
        Some(table.rules[table.patterns.candidates(text).into_iter().find(held)?].kind)
    })
}

fn tables() -> [&'static Table; 2] {
    [&BY_SHAPE, &BY_NAME]
}

/// The next value from `at` on that stands up to the rule's check. A match that does not gives way to one that begins in its value.
fn next_value(rule: &Rule, pattern: &Regex, text: &str, mut at: usize) -> Option<Range<usize>> {
    while at <= text.len() {
        let found = pattern.captures_at(text, at)?;
        let value = found.get(1).or_else(|| found.get(0))?.range();
        if (rule.check)(&values::Value { text, range: value.clone() }) {
            return Some(value);
        }
        let step = text[at..].chars().next().map_or(1, char::len_utf8);
        at = if value.start > at { value.start } else { value.end.max(at + step) };
    }
    None
}

/// Full-width forms and characters without width can dress a number up without changing how it reads.
fn is_disguise(c: char) -> bool {
    matches!(c, '\u{FF01}'..='\u{FF5E}' | '\u{200B}'..='\u{200D}' | '\u{2060}' | '\u{FEFF}' | '\u{00AD}' | '\u{2010}'..='\u{2015}' | '\u{00A0}' | '\u{3000}')
}

fn undisguised(text: &str) -> String {
    text.nfkc()
        .filter(|c| !matches!(c, '\u{200B}'..='\u{200D}' | '\u{2060}' | '\u{FEFF}' | '\u{00AD}'))
        .map(|c| if matches!(c, '\u{2010}'..='\u{2015}') { '-' } else { c })
        .collect()
}
