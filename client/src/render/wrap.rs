//! Breaking text into lines by the columns it takes, also where a script has no spaces, and cutting it short.
//!
//! Must not know: what the text is.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Lines of at most `width` columns; breaks at spaces where there are some, between wide characters else.
pub fn lines(text: &str, width: usize) -> Vec<String> {
    let width = width.max(2);
    let mut all = Vec::new();
    for paragraph in text.split('\n') {
        let mut line = String::new();
        let mut used = 0;
        for word in paragraph.split_inclusive(' ') {
            let bare = word.trim_end_matches(' ').width();
            if used > 0 && used + bare > width {
                all.push(std::mem::take(&mut line).trim_end().to_owned());
                used = 0;
            }
            for c in word.chars() {
                let columns = c.width().unwrap_or(0);
                if used + columns > width && c != ' ' {
                    all.push(std::mem::take(&mut line).trim_end().to_owned());
                    used = 0;
                }
                line.push(c);
                used += columns;
            }
        }
        all.push(line.trim_end().to_owned());
    }
    all
}

/// The text on one line of at most `width` columns, cut with `…`.
pub fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut shown = String::new();
    let mut used = 0;
    for c in text.chars() {
        let columns = c.width().unwrap_or(0);
        if used + columns + 1 > width {
            break;
        }
        shown.push(c);
        used += columns;
    }
    shown.push('…');
    shown
}

/// The text filled with spaces to `width` columns.
pub fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_spaces_and_between_wide_characters() {
        assert_eq!(lines("one two three", 8), ["one two", "three"]);
        assert_eq!(lines("向量索引重建", 6), ["向量索", "引重建"]);
        assert_eq!(lines("a\n\nb", 10), ["a", "", "b"]);
        assert_eq!(lines("abcdefgh", 3), ["abc", "def", "gh"]);
        for width in 1..20 {
            assert!(lines("short 与 long 混合的文字 mixed", width).iter().all(|l| l.width() <= width.max(2)));
        }
    }

    #[test]
    fn cutting_and_padding_count_columns() {
        assert_eq!(cut("向量索引", 5), "向量…");
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(pad("向量", 6), "向量  ");
    }
}
