//! Cuts a run of Han characters into the most probable sequence of table words (dynamic programming over log probabilities).
//! It must not know of vectors or of what stands outside the run.

use super::words::{Place, WordTable};

/// Log probability of a character that is no word of the table.
const UNKNOWN_LOGP: f64 = -20.0;
const HAN_FIRST: u32 = 0x3400;
const HAN_LAST: u32 = 0x9FFF;

/// Whether `c` belongs to a run that is cut here.
pub(super) fn is_han(c: char) -> bool {
    (HAN_FIRST..=HAN_LAST).contains(&(c as u32))
}

/// The word list with its log probabilities.
#[derive(Debug)]
pub(super) struct Segmenter {
    words: WordTable,
    /// Little-endian f32, one a row.
    logp: &'static [u8],
    /// Characters of the longest word that begins with each character of the range; bounds the look-ups.
    longest: Vec<u8>,
}

/// The best way to reach one position of the run.
#[derive(Debug, Clone, Copy)]
struct Step {
    score: f64,
    /// Character where the last word begins.
    from: usize,
    row: Option<u32>,
}

impl Segmenter {
    /// `logp` holds four bytes a word of `words`.
    pub(super) fn new(words: WordTable, logp: &'static [u8]) -> Self {
        let mut longest = vec![0_u8; (HAN_LAST - HAN_FIRST + 1) as usize];
        for row in 0..words.len() as u32 {
            let word = words.word(row);
            if let Some(first) = word.chars().next().filter(|&c| is_han(c)) {
                let at = &mut longest[(first as u32 - HAN_FIRST) as usize];
                *at = (*at).max(u8::try_from(word.chars().count()).unwrap_or(u8::MAX));
            }
        }
        Self { words, logp, longest }
    }

    /// Cuts `run`, which holds Han characters only, and hands over each word with its row (`None`: no row). Linear in the run's length.
    pub(super) fn cut(&self, run: &str, mut word: impl FnMut(&str, Option<u32>)) {
        let starts: Vec<usize> = run.char_indices().map(|(at, _)| at).chain([run.len()]).collect();
        let chars = starts.len() - 1;
        let mut best = vec![Step { score: f64::NEG_INFINITY, from: 0, row: None }; chars + 1];
        best[0].score = 0.0;
        for (at, first) in run.chars().enumerate() {
            let longest = usize::from(self.longest[(first as u32 - HAN_FIRST) as usize]).min(chars - at);
            for length in 1..=longest.max(1) {
                let row = self.words.find(Place::Start, &run[starts[at]..starts[at + length]]);
                let logp = match row {
                    Some(row) => self.logp(row),
                    None if length == 1 => UNKNOWN_LOGP,
                    None => continue,
                };
                let score = best[at].score + logp;
                if score > best[at + length].score {
                    best[at + length] = Step { score, from: at, row };
                }
            }
        }
        let mut path = Vec::with_capacity(chars);
        let mut at = chars;
        while at > 0 {
            path.push((best[at].from, at, best[at].row));
            at = best[at].from;
        }
        for (from, to, row) in path.into_iter().rev() {
            word(&run[starts[from]..starts[to]], row);
        }
    }

    fn logp(&self, row: u32) -> f64 {
        let at = row as usize * 4;
        let bytes = [self.logp[at], self.logp[at + 1], self.logp[at + 2], self.logp[at + 3]];
        f64::from(f32::from_le_bytes(bytes))
    }
}
