//! The current documents nearest to a text about to be kept: few, quick, unscored. It must not know what they are wanted for.

use crate::index::Index;
use crate::query::Filter;
use crate::search::nearest;
use crate::tokenize::query_tokens;

/// A document near to a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbour {
    /// Key of the document.
    pub key: u64,
    /// Its approximate cosine, where both have a vector.
    pub cosine: Option<f32>,
    /// Its distinct tokens, and how many of them the text has too.
    pub tokens: (u32, u32),
}

/// What [`Index::near`] gives.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Near {
    /// Documents, by vector first, without repeats.
    pub neighbours: Vec<Neighbour>,
    /// Store sequence up to which the state had every write.
    pub seq: u64,
}

impl Index {
    /// The current documents of a space nearest to a text: at most `by_vector` by cosine and `by_words` by words. No threshold, no decay,
    /// no second look at full-precision vectors.
    pub fn near(&self, space: u32, text: &str, vector: Option<&[f32]>, by_vector: usize, by_words: usize) -> Near {
        let vector = vector.filter(|vector| vector.len() == self.dimension() && vector.iter().all(|x| x.is_finite()));
        let tokens = query_tokens(text);
        self.with_state(|state, settings| {
            let filter = Filter::default();
            let neighbours =
                nearest(state, settings, space, &filter, (&tokens, by_words), vector.map(|vector| (vector, by_vector)));
            Near { neighbours, seq: state.seq }
        })
    }
}
