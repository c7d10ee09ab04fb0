//! A value that a rule found, with the text around it, and the plain questions asked of one.
//!
//! Must not know: which rule found it.

use std::ops::Range;

/// A part of a text.
pub(super) struct Value<'a> {
    /// The whole text.
    pub text: &'a str,
    /// Where the value stands in it.
    pub range: Range<usize>,
}

impl<'a> Value<'a> {
    /// The value.
    pub fn get(&self) -> &'a str {
        &self.text[self.range.clone()]
    }

    /// The character before it.
    pub fn before(&self) -> Option<char> {
        self.text[..self.range.start].chars().next_back()
    }

    /// The text after it.
    pub fn after(&self) -> &'a str {
        &self.text[self.range.end..]
    }
}

/// Digits and nothing else of the text, as numbers.
pub(super) fn digits(text: &str) -> Vec<u32> {
    text.chars().filter_map(|c| c.to_digit(10)).collect()
}

pub(super) fn has_digit(text: &str) -> bool {
    text.bytes().any(|b| b.is_ascii_digit())
}

pub(super) fn has_lower(text: &str) -> bool {
    text.bytes().any(|b| b.is_ascii_lowercase())
}

pub(super) fn has_upper(text: &str) -> bool {
    text.bytes().any(|b| b.is_ascii_uppercase())
}

pub(super) fn has_letter(text: &str) -> bool {
    text.bytes().any(|b| b.is_ascii_alphabetic())
}

/// Shannon entropy of the bytes, in bits a byte.
pub(super) fn entropy(text: &str) -> f64 {
    let mut counts = [0u32; 256];
    for b in text.bytes() {
        counts[usize::from(b)] += 1;
    }
    let n = text.len().max(1) as f64;
    counts.iter().filter(|c| **c > 0).map(|c| f64::from(*c) / n).map(|p| -p * p.log2()).sum()
}

/// Whether it is an 8-4-4-4-12 UUID.
pub(super) fn is_uuid(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    parts.len() == 5
        && parts.iter().zip([8, 4, 4, 4, 12]).all(|(part, n)| part.len() == n && part.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// Whether it reads as words and numbers joined by `- _ . /`: a name, a path, a date, a version.
pub(super) fn is_words(text: &str) -> bool {
    text.split(['-', '_', '.', '/', '+', '=', '~', ':']).all(|part| {
        let digits = part.bytes().all(|b| b.is_ascii_digit());
        let word = part.bytes().all(|b| b.is_ascii_alphabetic())
            && (part.len() <= 16 && !part.bytes().skip(1).any(|b| b.is_ascii_uppercase())
                || part.bytes().all(|b| b.is_ascii_uppercase()));
        let numbered = part.len() <= 10 && {
            let stem = part.trim_end_matches(|c: char| c.is_ascii_digit());
            stem.bytes().all(|b| b.is_ascii_lowercase()) || stem.bytes().all(|b| b.is_ascii_uppercase())
        };
        let camel = is_camel(part);
        part.is_empty() || (digits && part.len() <= 12) || word || numbered || camel
    })
}

/// Whether it is a camel-case name of words of three letters or more: `fooBarBaz`.
fn is_camel(text: &str) -> bool {
    let mut run = 0usize;
    let mut short = 0usize;
    for b in text.bytes() {
        if !b.is_ascii_alphabetic() {
            return false;
        }
        if b.is_ascii_uppercase() {
            short += usize::from(run < 3);
            run = 0;
        }
        run += 1;
    }
    short <= 1
}

/// Whether it stands for a value that is elsewhere: `${TOKEN}`, `<password>`, `****`, `xxxx`, `os.environ[…]`.
pub(super) fn is_placeholder(text: &str) -> bool {
    let bare = text.trim_matches(['"', '\'', '`']);
    let first = bare.chars().next().unwrap_or(' ');
    let lower = bare.to_ascii_lowercase();
    let repeated = bare.chars().all(|c| c == first || matches!(c, '-' | '_' | '.'));
    matches!(first, '$' | '<' | '{' | '[' | '%')
        || repeated
        || bare.contains("...")
        || bare.contains('…')
        || bare.contains("***")
        || lower.contains("xxxx")
        || lower.contains("your-")
        || lower.contains("your_")
        || bare.contains("{{")
        || [
            "your",
            "my-",
            "my_",
            "example",
            "changeme",
            "change-me",
            "change_me",
            "placeholder",
            "redacted",
            "os.environ",
            "process.env",
            "env.",
            "getenv",
            "secrets.",
            "vault:",
            "op://",
            "file:",
            "dummy",
            "insert",
        ]
        .iter()
        .any(|p| lower.starts_with(p))
        || (bare.contains('(')
            && bare.starts_with(|c: char| c.is_ascii_alphabetic())
            && bare
                .trim_end_matches([')', ';', '.'])
                .ends_with(|c: char| c == '(' || c.is_ascii_alphanumeric() || c == '"' || c == '\'')
            && bare.ends_with([')', ';']))
}
