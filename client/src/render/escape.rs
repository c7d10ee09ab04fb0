//! Text of memories, models and errors made safe to show.
//!
//! A terminal obeys control characters, and bidirectional ones reorder what is read: both are shown, not sent. In a
//! pipe only what would break a line-and-tab format is escaped. Must not know: where the text comes from.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a terminal would act on this character instead of showing it, or show the text in another order.
fn acts(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}')
}

/// Text for a terminal: control and bidirectional characters are written as `\u{..}`; line breaks and tabs stay.
pub fn terminal(text: &str) -> Cow<'_, str> {
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if acts(c) {
            let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// The same on one line: breaks become spaces.
pub fn terminal_line(text: &str) -> String {
    terminal(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// One field of a tab-separated line: `\` `\n` `\t` `\r` escaped, all else as it is.
pub fn field(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => shown.push_str("\\\\"),
            '\n' => shown.push_str("\\n"),
            '\t' => shown.push_str("\\t"),
            '\r' => shown.push_str("\\r"),
            c => shown.push(c),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_never_told_what_to_do_by_a_memory() {
        assert_eq!(terminal("\u{1b}]0;owned\u{7}"), "\\u{1b}]0;owned\\u{7}");
        assert_eq!(terminal("a\u{9b}2J"), "a\\u{9b}2J");
        assert_eq!(terminal("user \u{202e}gnp.exe"), "user \\u{202e}gnp.exe");
        assert_eq!(terminal("\u{2066}x\u{2069}"), "\\u{2066}x\\u{2069}");
        assert_eq!(terminal("a\rb"), "a\\u{d}b");
    }

    #[test]
    fn ordinary_text_of_any_script_is_left_alone() {
        for text in ["tabs\tand\nlines", "中文、日本語", "👩‍👩‍👧", "שלום", ""] {
            assert_eq!(terminal(text), text);
        }
    }

    #[test]
    fn fields_stay_on_one_line() {
        assert_eq!(field("a\tb\nc\\d"), "a\\tb\\nc\\\\d");
        assert_eq!(terminal_line("a\n  b\tc"), "a b c");
    }
}
