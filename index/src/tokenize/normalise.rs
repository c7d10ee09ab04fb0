//! One spelling for what is written alike: compatibility forms composed, zero-width characters dropped, diacritics folded,
//! apostrophes straight. Case is kept, since identifiers are split by it. It must not know what a token is.

use super::class::{Class, class_of, is_ignorable};
use std::borrow::Cow;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{decompose_canonical, is_combining_mark};

/// Normalises a text. ASCII text comes back as it is.
pub(super) fn normalise(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars().filter(|&c| !is_ignorable(c)).nfkc().filter(|&c| !is_ignorable(c)) {
        match c {
            '\u{2019}' | '\u{2018}' | '\u{02BC}' => out.push('\''),
            '\u{2010}' | '\u{2011}' | '\u{2212}' => out.push('-'),
            '\u{0300}'..='\u{036F}' => {}
            c if !c.is_ascii() && class_of(c) == Class::Word => fold(c, &mut out),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Drops the marks of a character that has any; letters that do not decompose but are commonly written plain are replaced.
fn fold(c: char, out: &mut String) {
    match c {
        'ß' => out.push_str("ss"),
        'æ' => out.push_str("ae"),
        'Æ' => out.push_str("Ae"),
        'ø' => out.push('o'),
        'Ø' => out.push('O'),
        'ł' => out.push('l'),
        'Ł' => out.push('L'),
        'đ' => out.push('d'),
        'Đ' => out.push('D'),
        'ı' => out.push('i'),
        c if is_combining_mark(c) => out.push(c),
        c => decompose_canonical(c, |d| {
            if !('\u{0300}'..='\u{036F}').contains(&d) {
                out.push(d);
            }
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_meet() {
        assert_eq!(normalise("plain"), "plain");
        assert_eq!(normalise("Ｃａｆé Ｎｏ．５"), "Cafe No.5");
        assert_eq!(normalise("e\u{301}te\u{301} zero\u{200B}width"), "ete zerowidth");
        assert_eq!(normalise("bot’s naïve Łódź straße"), "bot's naive Lodz strasse");
        assert_eq!(normalise("ガギ 한국어 が"), "ガギ 한국어 が");
    }
}
