//! Generated sentences about a few thousand topics, from a seed: what vectors of real notes look like more than words drawn at random.
//!
//! Must not know: what is made of them.

use crate::corpus::{Corpus, Random};
use anyhow::Result;

const TOPICS: usize = 4_000;
const WORDS_A_TOPIC: usize = 40;
/// Of ten words so many are the topic's; the rest are the language's.
const OWN_OF_TEN: usize = 6;
/// Fewest words of a sentence, and how many more it may have.
const LENGTHS: (usize, usize) = (6, 19);
/// Words of a question: of its sentence, and of the language.
const ASKED: (usize, usize) = (5, 2);

/// Topics, each with words of its own.
pub struct Sentences {
    corpus: Corpus,
    topics: Vec<Vec<String>>,
    seed: u64,
}

impl Sentences {
    /// Draws the topics.
    ///
    /// # Errors
    /// When the embedder's vocabulary is not where the project keeps it.
    pub fn new(seed: u64) -> Result<Sentences> {
        let corpus = Corpus::new(seed)?;
        let mut random = Random::new(seed ^ 0x5EED);
        let topics = (0..TOPICS).map(|_| (0..WORDS_A_TOPIC).map(|_| corpus.word(&mut random).to_owned()).collect()).collect();
        Ok(Sentences { corpus, topics, seed })
    }

    fn words(&self, number: usize) -> Vec<&str> {
        let mut random = Random::new(self.seed ^ (number as u64 + 1).wrapping_mul(0x2545_F491_4F6C_DD1D));
        // Some topics are talked of far more than others.
        let topic = &self.topics[random.below(TOPICS).min(random.below(TOPICS))];
        let length = LENGTHS.0 + random.below(LENGTHS.1);
        let mut word = || match random.below(10) < OWN_OF_TEN {
            true => topic[random.below(topic.len())].as_str(),
            false => self.corpus.word(&mut random),
        };
        (0..length).map(|_| word()).collect()
    }

    /// Sentence number `number`.
    pub fn text(&self, number: usize) -> String {
        self.words(number).join(" ")
    }

    /// A question about sentence number `number`: some of its words and some of the language.
    pub fn question(&self, number: usize, salt: u64) -> String {
        let own = self.words(number);
        let mut random = Random::new(salt ^ number as u64);
        let mut words: Vec<&str> = (0..ASKED.0).map(|_| own[random.below(own.len())]).collect();
        words.extend((0..ASKED.1).map(|_| self.corpus.word(&mut random)));
        words.join(" ")
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_sentences_and_questions_of_their_words() {
        let (one, other) = (Sentences::new(7).unwrap(), Sentences::new(7).unwrap());
        assert_eq!(one.text(12_345), other.text(12_345));
        assert_ne!(one.text(1), one.text(2));
        let (sentence, question) = (one.text(5), one.question(5, 1));
        assert!(question.split(' ').take(ASKED.0).all(|word| sentence.split(' ').any(|own| own == word)));
    }
}
