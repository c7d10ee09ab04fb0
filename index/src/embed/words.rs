//! A word list compiled into the binary, found by hash: word -> row. Open addressing over the text itself, so that no word is ever copied.
//! It must not know what a row holds or how a text is cut.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// What marks a list entry that continues a word, as WordPiece vocabularies write it.
const CONTINUATION: &str = "##";

/// Where in a word a piece stands. A WordPiece vocabulary keeps the two apart (`##ing` and `ing` are different rows).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// At the beginning of a word, or the whole of it.
    Start,
    /// After the beginning; written with `##` in the list.
    Inside,
}

/// Words of one list in row order. About 12 bytes a word beside the compiled-in text.
#[derive(Debug)]
pub(super) struct WordTable {
    text: &'static str,
    /// `starts[row]..starts[row + 1] - 1` is the word of `row` (the last byte is its newline).
    starts: Vec<u32>,
    /// Row + 1, or 0 for an empty bucket. The length is a power of two.
    buckets: Vec<u32>,
    longest_bytes: usize,
}

impl WordTable {
    /// Indexes `text`, one word a line, each line ended by a newline.
    pub(super) fn new(text: &'static str) -> Self {
        let mut starts = vec![0_u32];
        for (at, byte) in text.bytes().enumerate() {
            if byte == b'\n' {
                starts.push(at as u32 + 1);
            }
        }
        let rows = starts.len() - 1;
        let mut table = Self { text, starts, buckets: vec![0; (rows * 2).next_power_of_two()], longest_bytes: 0 };
        for row in 0..rows as u32 {
            let (place, piece) = split(table.word(row));
            table.longest_bytes = table.longest_bytes.max(piece.len());
            let mut at = table.home(place, piece);
            while table.buckets[at] != 0 {
                at = (at + 1) & (table.buckets.len() - 1);
            }
            table.buckets[at] = row + 1;
        }
        table
    }

    /// Rows in the list.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Bytes of the longest piece: no longer text can be found.
    pub(super) fn longest_bytes(&self) -> usize {
        self.longest_bytes
    }

    /// The word of a row as the list writes it.
    pub(super) fn word(&self, row: u32) -> &'static str {
        let row = row as usize;
        &self.text[self.starts[row] as usize..self.starts[row + 1] as usize - 1]
    }

    /// The row of `piece` standing at `place`.
    pub(super) fn find(&self, place: Place, piece: &str) -> Option<u32> {
        let mut at = self.home(place, piece);
        loop {
            let row = self.buckets[at].checked_sub(1)?;
            if split(self.word(row)) == (place, piece) {
                return Some(row);
            }
            at = (at + 1) & (self.buckets.len() - 1);
        }
    }

    fn home(&self, place: Place, piece: &str) -> usize {
        xxh3_64_with_seed(piece.as_bytes(), place as u64) as usize & (self.buckets.len() - 1)
    }
}

fn split(word: &'static str) -> (Place, &'static str) {
    match word.strip_prefix(CONTINUATION) {
        Some(piece) if !piece.is_empty() => (Place::Inside, piece),
        _ => (Place::Start, word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_each_word_at_its_place_only() {
        let table = WordTable::new("ing\n##ing\n##\n花生\n");
        assert_eq!(table.len(), 4);
        assert_eq!(table.find(Place::Start, "ing"), Some(0));
        assert_eq!(table.find(Place::Inside, "ing"), Some(1));
        assert_eq!(table.find(Place::Start, "##"), Some(2));
        assert_eq!(table.find(Place::Start, "花生"), Some(3));
        assert_eq!(table.find(Place::Inside, "花生"), None);
        assert_eq!(table.find(Place::Start, "in"), None);
        assert_eq!(table.find(Place::Start, ""), None);
    }
}
