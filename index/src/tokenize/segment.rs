//! Cuts a normalised text into runs: compounds of words, runs of a script without spaces, symbols. It must not know how a run
//! becomes tokens.

use super::class::{Class, class_of};

/// A run of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Run<'a> {
    /// Words with single joiners between them.
    Compound(&'a str),
    /// A word and the sign that belongs to its name.
    Signed(&'a str, &'a str),
    /// Characters of one script written without spaces.
    Unspaced(&'a str),
    /// One symbol.
    Symbol(&'a str),
}

/// Calls `out` with each run, in order.
pub(super) fn segment<'a>(text: &'a str, out: &mut impl FnMut(Run<'a>)) {
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let taken = match class_of(c) {
            Class::Word => {
                let end = compound_end(rest);
                let sign = sign_after(&rest[..end], &rest[end..]);
                if sign.is_empty() {
                    out(Run::Compound(&rest[..end]));
                } else {
                    out(Run::Signed(&rest[..end], sign));
                }
                end + sign.len()
            }
            class @ (Class::Han | Class::Kana | Class::Hangul | Class::Unspaced) => {
                let end = rest.char_indices().find(|&(_, c)| class_of(c) != class).map_or(rest.len(), |(i, _)| i);
                out(Run::Unspaced(&rest[..end]));
                end
            }
            Class::Symbol => {
                out(Run::Symbol(&rest[..c.len_utf8()]));
                c.len_utf8()
            }
            Class::Other => c.len_utf8(),
        };
        rest = &rest[taken..];
    }
}

/// End of the compound that starts `text`: word characters, and joiners that stand between two of them.
fn compound_end(text: &str) -> usize {
    let mut end = 0;
    loop {
        end += text[end..].char_indices().find(|&(_, c)| class_of(c) != Class::Word).map_or(text.len() - end, |(i, _)| i);
        let joiner = joiner_len(&text[..end], &text[end..]);
        if joiner == 0 || !text[end + joiner..].chars().next().is_some_and(|c| class_of(c) == Class::Word) {
            return end;
        }
        end += joiner;
    }
}

/// Length of the joiner at the start of `after`, 0 where there is none.
fn joiner_len(before: &str, after: &str) -> usize {
    let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    if after.starts_with("::") {
        return 2;
    }
    match after.chars().next() {
        Some('_') => after.bytes().take_while(|&b| b == b'_').count(),
        Some('-' | '.' | '/' | '@' | '\'' | '\\' | '&' | '=') => 1,
        Some(',' | ':') if digit(before.chars().next_back()) && digit(after.chars().nth(1)) => 1,
        _ => 0,
    }
}

/// The sign after a word that belongs to it: `++` and `#`, unless more of a word follows.
fn sign_after<'a>(word: &str, after: &'a str) -> &'a str {
    let len = if after.starts_with("++") {
        2
    } else if after.starts_with('#') {
        1
    } else {
        return "";
    };
    let letters = word.chars().all(char::is_alphabetic);
    let ends = !after[len..].chars().next().is_some_and(|c| class_of(c) == Class::Word || c == '+' || c == '#');
    if letters && ends { &after[..len] } else { "" }
}
