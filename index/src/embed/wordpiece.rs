//! BERT's uncased tokenisation: clean, lower case, decompose and drop marks, split at white space and punctuation, then the longest pieces
//! of the vocabulary from the left. After Devlin et al., the `BasicTokenizer` and `WordpieceTokenizer` of the BERT release.
//! It must not know of Chinese words (`segment`) or of vectors.

use unicode_normalization::char::decompose_canonical;

use super::ranges::{DROPPED, MARKS, PUNCTUATION};
use super::words::{Place, WordTable};

/// Words of more characters are unknown as a whole, as in the BERT release.
const WORD_CHARS_MAX: usize = 100;
/// How the vocabulary writes the unknown word.
const UNKNOWN: &str = "[UNK]";

/// Tokenises text that holds no Han run (those are cut elsewhere), a character at a time.
#[derive(Debug)]
pub(super) struct WordPiece<'t> {
    table: &'t WordTable,
    word: String,
    word_chars: usize,
}

impl<'t> WordPiece<'t> {
    /// A tokeniser between words.
    pub(super) fn new(table: &'t WordTable) -> Self {
        Self { table, word: String::with_capacity(32), word_chars: 0 }
    }

    /// Takes the next character of the text; completed pieces go to `rows`.
    pub(super) fn push(&mut self, c: char, rows: &mut Vec<u32>) {
        if c.is_ascii() {
            if c.is_ascii_alphanumeric() {
                self.append(c.to_ascii_lowercase());
            } else if matches!(c, ' ' | '\t' | '\n' | '\r') {
                self.finish(rows);
            } else if c.is_ascii_punctuation() {
                self.alone(c, rows);
            }
            return; // what remains are control characters: dropped
        }
        if c == '\u{FFFD}' || within(DROPPED, c) {
            return;
        }
        if c.is_whitespace() {
            return self.finish(rows);
        }
        if is_rare_ideograph(c) {
            self.finish(rows);
            self.decomposed(c, rows);
            return self.finish(rows);
        }
        self.decomposed(c, rows);
    }

    /// Ends the word at hand: its pieces, or the unknown row, go to `rows`.
    pub(super) fn finish(&mut self, rows: &mut Vec<u32>) {
        if self.word.is_empty() {
            return;
        }
        let before = rows.len();
        if self.word_chars > WORD_CHARS_MAX || !self.pieces(rows) {
            rows.truncate(before);
            rows.extend(self.table.find(Place::Start, UNKNOWN));
        }
        self.word.clear();
        self.word_chars = 0;
    }

    fn decomposed(&mut self, c: char, rows: &mut Vec<u32>) {
        decompose_canonical(c, |part| {
            if !within(MARKS, part) {
                for lower in part.to_lowercase() {
                    if lower.is_ascii_punctuation() || (!lower.is_ascii() && within(PUNCTUATION, lower)) {
                        self.alone(lower, rows);
                    } else {
                        self.append(lower);
                    }
                }
            }
        });
    }

    fn append(&mut self, c: char) {
        self.word_chars += 1;
        if self.word_chars <= WORD_CHARS_MAX {
            self.word.push(c);
        }
    }

    fn alone(&mut self, c: char, rows: &mut Vec<u32>) {
        self.finish(rows);
        self.append(c);
        self.finish(rows);
    }

    /// False when some part of the word is in no piece.
    fn pieces(&self, rows: &mut Vec<u32>) -> bool {
        let (word, mut start, mut place) = (self.word.as_str(), 0, Place::Start);
        while start < word.len() {
            let mut end = boundary(word, (start + self.table.longest_bytes()).min(word.len()));
            let row = loop {
                if end <= start {
                    return false;
                }
                if let Some(row) = self.table.find(place, &word[start..end]) {
                    break row;
                }
                end = boundary(word, end - 1);
            };
            rows.push(row);
            (start, place) = (end, Place::Inside);
        }
        true
    }
}

/// The last place not behind `at` where a character begins or the text ends.
fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Ideographs outside the range that `segment` cuts; BERT makes each a word of its own.
fn is_rare_ideograph(c: char) -> bool {
    matches!(c as u32, 0xF900..=0xFAFF | 0x20000..=0x2A6DF | 0x2A700..=0x2CEAF | 0x2F800..=0x2FA1F)
}

/// Whether a sorted list of ranges holds `c`.
fn within(ranges: &[(u32, u32)], c: char) -> bool {
    let c = c as u32;
    let after = ranges.partition_point(|&(low, _)| low <= c);
    after > 0 && c <= ranges[after - 1].1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(table: &WordTable, text: &str) -> Vec<&'static str> {
        let (mut cut, mut rows) = (WordPiece::new(table), Vec::new());
        text.chars().for_each(|c| cut.push(c, &mut rows));
        cut.finish(&mut rows);
        rows.into_iter().map(|row| table.word(row)).collect()
    }

    #[test]
    fn cuts_the_longest_pieces_first() {
        let table = WordTable::new("[UNK]\nun\nuna\n##ffable\n##able\n+\ncafe\n–\n");
        assert_eq!(pieces(&table, "Unaffable"), ["una", "##ffable"]);
        assert_eq!(pieces(&table, "unable"), ["una", "##able"].map(|_| "[UNK]")[..1]);
        assert_eq!(pieces(&table, "CAFÉ+cafe\u{301}"), ["cafe", "+", "cafe"]);
        assert_eq!(pieces(&table, "un–un"), ["un", "–", "un"]);
        assert_eq!(pieces(&table, "u\u{0}n\u{200B} \u{FFFD}"), ["un"]);
    }

    #[test]
    fn a_word_over_a_hundred_characters_is_unknown() {
        let table = WordTable::new("[UNK]\na\n##a\n");
        assert_eq!(pieces(&table, &"a".repeat(100)).len(), 100);
        assert_eq!(pieces(&table, &"a".repeat(101)), ["[UNK]"]);
        assert_eq!(pieces(&table, &"a".repeat(100_000)), ["[UNK]"]);
    }
}
