//! When two texts say the same in the same words: the canonical form they share, and its hash.
//!
//! Only what cannot change the meaning is folded: Unicode form (NFKC), white space, quotation marks around the whole, the full
//! stop or exclamation mark at its end, and the case of ordinary words. A question mark stays, and so does everything inside
//! the text: numbers, signs, negations, names in capitals or mixed case, identifiers. `C++` is not `C`, `-5` is not `5`,
//! `No, deploys` is not `No deploys`. Must not know: memories or the store.

use std::borrow::Cow;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};
use xxhash_rust::xxh3::xxh3_128;

/// Hash of the canonical form. Equal hashes are a hint: compare [`canonical`] before believing them.
pub fn fingerprint(canonical: &str) -> [u8; 16] {
    xxh3_128(canonical.as_bytes()).to_be_bytes()
}

/// The form that texts in the same words share.
pub fn canonical(text: &str) -> String {
    let plain = plain_text(text);
    let mut joined = String::with_capacity(plain.len());
    for word in plain.split_whitespace() {
        let before = joined.chars().next_back();
        let next = word.chars().next();
        if let (Some(before), Some(next)) = (before, next)
            && !is_cjk(before)
            && !is_cjk(next)
        {
            joined.push(' ');
        }
        fold_word(word, &mut joined);
    }
    let inner = joined.trim_end_matches(ENDS).trim_start_matches(QUOTES).trim_end_matches(QUOTES).trim_end_matches(ENDS);
    if inner.is_empty() { joined } else { inner.to_owned() }
}

/// NFKC without what cannot be seen and with plain marks; most texts are NFKC already, and ASCII needs nothing at all.
fn plain_text(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let plain = |chars: &mut dyn Iterator<Item = char>| chars.filter(|c| !is_invisible(*c)).map(plain_mark).collect();
    Cow::Owned(match is_nfkc_quick(text.chars()) {
        IsNormalized::Yes => plain(&mut text.chars()),
        _ => plain(&mut text.nfkc()),
    })
}

const ENDS: [char; 3] = ['.', '!', ' '];
const QUOTES: [char; 8] = ['"', '\'', '«', '»', '「', '」', '『', '』'];

/// Characters that cannot be seen. The joiners of emoji and of Persian stay: there they change what is read.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200B}' | '\u{2060}' | '\u{FEFF}' | '\u{00AD}')
}

fn plain_mark(c: char) -> char {
    match c {
        '‘' | '’' | '‛' => '\'',
        '“' | '”' | '‟' => '"',
        '。' | '．' => '.',
        '‐' | '‑' => '-',
        _ => c,
    }
}

/// Chinese, Japanese and Korean characters and their punctuation, beside which white space says nothing.
pub fn is_cjk(c: char) -> bool {
    matches!(c, '\u{2E80}'..='\u{30FF}' | '\u{3100}'..='\u{31FF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}' | '\u{F900}'..='\u{FAFF}' | '\u{FE30}'..='\u{FE4F}' | '\u{FF00}'..='\u{FFEF}' | '\u{20000}'..='\u{3FFFF}')
}

/// Folds the case of the ordinary words in what stands between two white spaces.
fn fold_word(word: &str, out: &mut String) {
    if word
        .chars()
        .any(|c| c.is_numeric() || matches!(c, '_' | '/' | '\\' | '@' | '=' | '#' | '+' | '*' | '<' | '>' | '$' | '%' | '&'))
        || word.contains("::")
    {
        return out.push_str(word);
    }
    let mut rest = word;
    while let Some((at, mark)) = rest.char_indices().find(|(_, c)| !c.is_alphabetic()) {
        fold_run(&rest[..at], out);
        out.push(mark);
        rest = &rest[at + mark.len_utf8()..];
    }
    fold_run(rest, out);
}

/// `Word` becomes `word`, and so do `I` and `A`; `WORD`, `iWord` and single letters stay as they are.
fn fold_run(run: &str, out: &mut String) {
    let mut chars = run.chars();
    let Some(first) = chars.next() else { return };
    let rest = chars.as_str();
    let ordinary =
        if rest.is_empty() { matches!(first, 'I' | 'A') } else { first.is_uppercase() && !rest.chars().any(char::is_uppercase) };
    if ordinary { out.extend(run.chars().flat_map(char::to_lowercase)) } else { out.push_str(run) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_same(a: &str, b: &str) {
        assert_eq!(canonical(a), canonical(b), "{a:?} and {b:?} say the same");
    }

    #[track_caller]
    fn check_different(a: &str, b: &str) {
        assert_ne!(canonical(a), canonical(b), "{a:?} and {b:?} differ");
    }

    #[test]
    fn the_same_words_are_the_same() {
        check_same("The user likes green tea.", "the  user likes\ngreen tea");
        check_same("The user likes green tea!", "“The user likes green tea.”");
        check_same("I prefer tabs", "i prefer tabs");
        check_same("用户喜欢绿茶。", "用户 喜欢绿茶");
        check_same("部署 API 网关", "部署API网关");
        check_same("Ｆｕｌｌ width", "full width");
        check_same("zero\u{200B}width", "zerowidth");
        check_same("it’s fine", "it's fine");
        check_same("Café", "Cafe\u{301}");
    }

    // MEM-8, M5, M6
    #[test]
    fn a_change_that_means_something_is_never_the_same() {
        for (a, b) in [
            ("Use port 22", "Use port 49222"),
            ("Deploys on Friday are allowed", "Deploys on Friday are not allowed"),
            ("Use the bot account", "Use the bot account except for releases"),
            ("C++ is preferred", "C is preferred"),
            ("C# is preferred", "C is preferred"),
            ("the limit is -5", "the limit is 5"),
            ("the limit is +5", "the limit is 5"),
            ("version 1.2", "version 12"),
            ("US rules", "us rules"),
            ("the iPhone app", "the iphone app"),
            ("Ann owns it", "Anna owns it"),
            ("due 2024-05-01", "due 2024-05-10"),
            ("We deploy on Friday?", "We deploy on Friday."),
            ("No, deploys are allowed", "No deploys are allowed"),
            ("REQ-2041 is open", "req-2041 is open"),
            ("no where", "nowhere"),
            ("周五可以部署", "周五不可以部署"),
            ("vitamin C", "vitamin c"),
            ("snake_case", "Snake_case"),
            ("5%", "5"),
            ("$5", "5"),
            ("a<b", "a>b"),
        ] {
            check_different(a, b);
        }
    }

    #[test]
    fn a_text_of_marks_alone_keeps_them() {
        check_different("...", "!");
        assert!(!canonical("。。。").is_empty());
    }

    #[test]
    fn any_cut_of_a_mixed_text_has_a_form() {
        let text = "用户 说 “Hello” 👨‍👩‍👧 \u{200B} naïve Ｘ";
        for (i, _) in text.char_indices() {
            let _ = fingerprint(&canonical(&text[..i]));
        }
    }
}
