//! A generated corpus: English words of the embedder's vocabulary drawn by Zipf's law, from a seed.
//!
//! Must not know: the daemon.

use anyhow::{Context, Result};
use serde_json::{Value, json};

/// A small generator of pseudo-random numbers (SplitMix64), so that a seed gives the same corpus everywhere.
pub struct Random(u64);

impl Random {
    /// From a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The next number.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// In `0..n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next_u64() % n.max(1) as u64) as usize
    }

    fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Words and their cumulative frequencies.
pub struct Corpus {
    words: Vec<String>,
    cumulative: Vec<f64>,
    seed: u64,
}

impl Corpus {
    /// Reads the vocabulary that is compiled into the embedder.
    ///
    /// # Errors
    /// When the file is not where the project keeps it.
    pub fn new(seed: u64) -> Result<Corpus> {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../index/data/static-en-zh-192.en.txt");
        let text = std::fs::read_to_string(path).with_context(|| format!("reading {path}"))?;
        let words: Vec<String> =
            text.lines().filter(|w| w.len() >= 2 && w.bytes().all(|b| b.is_ascii_lowercase())).map(str::to_owned).collect();
        let mut total = 0.0;
        let cumulative = (0..words.len())
            .map(|rank| {
                total += 1.0 / (rank as f64 + 2.7);
                total
            })
            .collect();
        Ok(Corpus { words, cumulative, seed })
    }

    /// A word of the language, frequent ones more often.
    pub fn word(&self, random: &mut Random) -> &str {
        let top = self.cumulative.last().copied().unwrap_or(0.0);
        let at = random.unit() * top;
        let place = self.cumulative.partition_point(|c| *c < at).min(self.words.len().saturating_sub(1));
        &self.words[place]
    }

    fn words_of(&self, number: usize) -> Vec<&str> {
        let mut random = Random::new(self.seed ^ (number as u64).wrapping_mul(0x2545_F491_4F6C_DD1D));
        (0..30).map(|_| self.word(&mut random)).collect()
    }

    /// Memory number `number`: 30 words.
    pub fn text(&self, number: usize) -> String {
        self.words_of(number).join(" ")
    }

    /// A question about memory number `number`: five of its words and three words of the language.
    pub fn query(&self, number: usize, salt: u64) -> String {
        let own = self.words_of(number);
        let mut random = Random::new(salt ^ 0x00A5_5A00);
        let mut words: Vec<&str> = (0..5).map(|_| own[random.below(own.len())]).collect();
        words.extend((0..3).map(|_| self.word(&mut random)));
        words.join(" ")
    }

    /// Params of `memory/rememberMany` for memories `from..to`.
    pub fn batch(&self, from: usize, to: usize) -> Value {
        let items: Vec<Value> = (from..to).map(|n| json!({"text": self.text(n), "verbatim": true})).collect();
        json!({"items": items})
    }
}
