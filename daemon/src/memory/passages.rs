//! Cuts a long text into the passages that the index holds; the whole text is kept by the store.
//!
//! Pure: the same text always gives the same passages, so they are never stored. Must not know: the index's documents.

use crate::limits::{PASSAGE_CHARS_MAX, PASSAGE_THRESHOLD_CHARS, PASSAGES_MAX};
use std::ops::Range;

/// Byte ranges of the passages of a text, in order, covering all of it. One range for a text that is not long.
pub fn passages(text: &str) -> Vec<Range<usize>> {
    if text.len() <= PASSAGE_THRESHOLD_CHARS || text.chars().nth(PASSAGE_THRESHOLD_CHARS).is_none() {
        return std::iter::once(0..text.len()).collect();
    }
    let mut ranges = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let end = if ranges.len() + 1 == PASSAGES_MAX { text.len() } else { start + cut(&text[start..]) };
        ranges.push(start..end);
        start = end;
    }
    ranges
}

/// Where the first passage of the rest ends: at the best place in the second half of its room.
fn cut(rest: &str) -> usize {
    let mut offsets = rest.char_indices().map(|(i, _)| i);
    let Some(half) = offsets.nth(PASSAGE_CHARS_MAX / 2) else { return rest.len() };
    let Some(room) = offsets.nth(PASSAGE_CHARS_MAX - PASSAGE_CHARS_MAX / 2 - 1) else { return rest.len() };
    let window = &rest[half..room];
    let after = |found: Option<(usize, &str)>| found.map(|(i, mark)| half + i + mark.len());
    after(window.rmatch_indices("\n\n").next())
        .or_else(|| after(window.rmatch_indices('\n').next()))
        .or_else(|| sentence_end(window).map(|i| half + i))
        .or_else(|| after(window.rmatch_indices(char::is_whitespace).next()))
        .unwrap_or_else(|| whole_character(rest, half, room))
}

/// The end of the last sentence in the window.
fn sentence_end(window: &str) -> Option<usize> {
    let mut end = None;
    let mut chars = window.char_indices().peekable();
    while let Some((i, c)) = chars.next() {
        let next = chars.peek().map(|(_, n)| *n);
        if matches!(c, '。' | '！' | '？' | '；') || (matches!(c, '.' | '!' | '?') && next.is_some_and(char::is_whitespace)) {
            end = Some(i + c.len_utf8());
        }
    }
    end
}

/// A place not after `room` where no mark, joiner or flag is torn from its character.
fn whole_character(rest: &str, half: usize, room: usize) -> usize {
    let glued = |i: usize| {
        let next = rest[i..].chars().next();
        let before = rest[..i].chars().next_back();
        next.is_some_and(joins) || before == Some('\u{200D}')
    };
    rest[half..room].char_indices().rev().map(|(i, _)| half + i).find(|i| !glued(*i)).filter(|i| *i > half).unwrap_or(room)
}

fn joins(c: char) -> bool {
    matches!(c, '\u{0300}'..='\u{036F}' | '\u{1AB0}'..='\u{1AFF}' | '\u{20D0}'..='\u{20FF}' | '\u{FE00}'..='\u{FE0F}' | '\u{FE20}'..='\u{FE2F}' | '\u{200C}' | '\u{200D}' | '\u{1F3FB}'..='\u{1F3FF}' | '\u{1F1E6}'..='\u{1F1FF}' | '\u{E0100}'..='\u{E01EF}')
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::limits::TEXT_BYTES_MAX;

    #[track_caller]
    fn check_whole(text: &str) -> Vec<Range<usize>> {
        let ranges = passages(text);
        assert_eq!(ranges.iter().map(|r| &text[r.clone()]).collect::<String>(), text);
        assert!(ranges.len() <= PASSAGES_MAX, "{} passages", ranges.len());
        ranges
    }

    #[test]
    fn a_short_text_is_one_passage() {
        assert_eq!(check_whole("hello"), vec![0..5]);
        assert_eq!(check_whole("").len(), 1);
        assert_eq!(check_whole(&"茶".repeat(PASSAGE_THRESHOLD_CHARS)).len(), 1);
    }

    #[test]
    fn a_long_text_is_cut_at_sentences() {
        let text = "This is a sentence about tea. ".repeat(300);
        for range in check_whole(&text) {
            let passage = &text[range];
            assert!(passage.trim_end().ends_with('.'), "{passage:?}");
            assert!(passage.chars().count() <= PASSAGE_CHARS_MAX);
        }
    }

    // M21
    #[test]
    fn the_longest_text_of_any_script_is_cut_within_the_limit() {
        for unit in ["a", "茶", "👨‍👩‍👧", "e\u{301}", "🇨🇳", "用户喜欢茶。", "word ", "line\n", "\u{200B}"]
        {
            let text = unit.repeat(TEXT_BYTES_MAX / unit.len());
            for range in check_whole(&text) {
                assert!(text[range].chars().count() <= PASSAGE_CHARS_MAX);
            }
        }
    }

    // M21
    #[test]
    fn mixed_text_cut_at_every_length_stays_whole() {
        let unit = "用户 said “hi” 👨‍👩‍👧\u{200B}é。";
        let long = unit.repeat(400);
        for n in 1..=64 {
            let short: String = long.chars().take(n).collect();
            check_whole(&short);
            let longer: String = long.chars().take(PASSAGE_THRESHOLD_CHARS + n).collect();
            assert!(check_whole(&longer).len() >= 2);
        }
    }
}
