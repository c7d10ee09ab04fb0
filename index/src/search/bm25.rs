//! BM25 of a document for a query, with the statistics of a space, and over the score a perfect document would have.
//! It must not know where candidates come from.
//!
//! Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the inverse document frequency
//! `ln(1 + (N - df + 0.5) / (df + 0.5))` that is never negative. The ideal is the limit of the score as every token of the query
//! occurs ever more often: the sum of `idf x (k1 + 1)`. Tokens that no document holds count in it, so that a query of which little
//! is known scores low.

use crate::state::space::Statistics;
use crate::state::tokens::Tokens;
use crate::tokenize::QueryToken;

/// Saturation of repeats.
const K1: f32 = 1.2;
/// Share of length normalisation.
const B: f32 = 0.75;

/// The query against one space.
pub(crate) struct Bm25 {
    terms: Vec<(u32, f32)>,
    ideal: f32,
    mean_length: f32,
}

impl Bm25 {
    /// Prepares a query for a space.
    pub(crate) fn new(tokens: &[QueryToken], statistics: &Statistics) -> Self {
        let documents = statistics.documents as f32;
        let idf = |token: &QueryToken| {
            let frequency = statistics.frequency(token.id) as f32;
            (1.0 + (documents - frequency + 0.5) / (frequency + 0.5)).ln() * token.weight
        };
        let terms: Vec<(u32, f32)> = tokens.iter().map(|token| (token.id, idf(token))).collect();
        let ideal = terms.iter().map(|(_, idf)| idf * (K1 + 1.0)).sum();
        Self { terms, ideal, mean_length: statistics.mean_length() }
    }

    /// The highest score, 0 for an empty query.
    pub(crate) fn ideal(&self) -> f32 {
        self.ideal
    }

    /// The score of a document.
    pub(crate) fn score(&self, tokens: &Tokens) -> f32 {
        let norm = K1 * (1.0 - B + B * tokens.length() as f32 / self.mean_length);
        self.terms
            .iter()
            .map(|&(id, idf)| match tokens.count(id) {
                0 => 0.0,
                count => idf * f32::from(count) * (K1 + 1.0) / (f32::from(count) + norm),
            })
            .sum()
    }
}
