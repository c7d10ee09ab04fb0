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
const K1: f32 = 0.9;
/// Share of length normalisation.
const B: f32 = 0.85;
/// Tokens added to every length, so that a filler of three words gains little over a sentence by being short.
const LENGTH_SMOOTHING: f32 = 30.0;

/// Share of a query's ideal score that its rarest tokens must carry before common ones are left out of the search for candidates.
const CANDIDATE_SHARE: f32 = 0.6;
/// Share of documents from which a token is common.
const COMMON_SHARE: f32 = 0.01;
/// Documents up to which no token is common.
const COMMON_DOCUMENTS_MIN: u32 = 1_000;

/// Places that tokens fall on. A query has some dozen tokens, so one in a hundred of the others falls on one of them.
const PLACES: usize = 4_096;
/// Times as many distinct tokens as the query from which a document is asked for each token of the query.
const LONG_DOCUMENT: usize = 24;

/// By which of a query's tokens candidates are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Breadth {
    /// By those that tell documents apart.
    Telling,
    /// By every one: where words alone decide, and where a filter may leave of the documents with a rare token none, or lets documents
    /// through that the statistics do not count.
    Every,
}

/// The query against one space.
pub(crate) struct Bm25 {
    /// Tokens, ascending, with their weight.
    terms: Vec<(u32, f32)>,
    /// A bit for each place that tokens fall on: most tokens of a document fall on none, and need no look-up.
    places: [u64; PLACES / 64],
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
        let mut terms: Vec<(u32, f32)> = tokens.iter().map(|token| (token.id, idf(token))).collect();
        terms.sort_unstable_by_key(|term| term.0);
        let ideal = terms.iter().map(|(_, idf)| idf * (K1 + 1.0)).sum();
        let mut places = [0; PLACES / 64];
        terms.iter().for_each(|term| places[term.0 as usize % PLACES / 64] |= 1 << (term.0 % 64));
        Self { terms, places, ideal, mean_length: statistics.mean_length() }
    }

    /// The highest score, 0 for an empty query.
    pub(crate) fn ideal(&self) -> f32 {
        self.ideal
    }

    /// The tokens to look for candidates by. [`Breadth::Telling`]: those that carry most of the ideal score, rarest first. Common ones
    /// are left out once the rest carries `CANDIDATE_SHARE` of it: a document that holds only those cannot rank, and reading their long
    /// lists is most of the work of a long query. Tokens without a document are left out.
    pub(crate) fn candidate_tokens(&self, statistics: &Statistics, breadth: Breadth) -> Vec<u32> {
        if breadth == Breadth::Every {
            return self.terms.iter().map(|term| term.0).collect();
        }
        let mut known: Vec<(u32, f32, u32)> = self.terms.iter().map(|&(id, idf)| (id, idf, statistics.frequency(id))).collect();
        known.retain(|term| term.2 > 0);
        known.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let (total, common) = (
            known.iter().map(|term| term.1).sum::<f32>(),
            ((statistics.documents as f32 * COMMON_SHARE) as u32).max(COMMON_DOCUMENTS_MIN),
        );
        let mut carried = 0.0;
        known.retain(|&(_, idf, frequency)| {
            let kept = carried < total * CANDIDATE_SHARE || frequency <= common;
            carried += idf;
            kept
        });
        known.into_iter().map(|term| term.0).collect()
    }

    /// Calls `see` with weight and count of every token of the query that a document holds, ascending.
    #[inline]
    fn each_held(&self, tokens: &Tokens, mut see: impl FnMut(f32, f32)) {
        let ids = tokens.ids();
        if ids.len() > self.terms.len() * LONG_DOCUMENT {
            for &(id, idf) in &self.terms {
                match tokens.count(id) {
                    0 => {}
                    count => see(idf, f32::from(count)),
                }
            }
            return;
        }
        for (at, id) in ids.iter().enumerate() {
            if self.places[*id as usize % PLACES / 64] & (1 << (id % 64)) != 0
                && let Ok(term) = self.terms.binary_search_by_key(id, |term| term.0)
            {
                see(self.terms[term].1, f32::from(tokens.count_at(at)));
            }
        }
    }

    /// The score of a document.
    pub(crate) fn score(&self, tokens: &Tokens) -> f32 {
        let norm = norm(tokens.length() as f32, self.mean_length);
        let mut score = 0.0;
        self.each_held(tokens, |idf, count| score += saturated(idf, count, norm));
        score
    }

    /// The score of a document, and the share of the query's weight whose tokens it holds: [`Bm25::score`] and [`Bm25::covered`] in one walk.
    pub(crate) fn score_and_covered(&self, tokens: &Tokens) -> (f32, f32) {
        let norm = norm(tokens.length() as f32, self.mean_length);
        let (mut score, mut held) = (0.0, 0.0);
        self.each_held(tokens, |idf, count| {
            score += saturated(idf, count, norm);
            held += idf * (K1 + 1.0);
        });
        (score, self.share(held))
    }

    /// Share of the query's weight whose tokens a document holds, 0 to 1.
    pub(crate) fn covered(&self, tokens: &Tokens) -> f32 {
        let mut held = 0.0;
        self.each_held(tokens, |idf, _| held += idf * (K1 + 1.0));
        self.share(held)
    }

    fn share(&self, of: f32) -> f32 {
        if self.ideal > 0.0 { of / self.ideal } else { 0.0 }
    }

    /// How many tokens the query has.
    pub(crate) fn terms(&self) -> usize {
        self.terms.len()
    }

    /// How often a document holds each token of the query, appended to `out` in an order of its own.
    pub(crate) fn push_counts(&self, tokens: &Tokens, out: &mut Vec<u8>) {
        let ids = tokens.ids();
        if ids.len() > self.terms.len() * 8 {
            out.extend(self.terms.iter().map(|&(id, _)| tokens.count(id)));
            return;
        }
        let mut at = 0;
        for &(id, _) in &self.terms {
            while ids.get(at).is_some_and(|&other| other < id) {
                at += 1;
            }
            out.push(if ids.get(at) == Some(&id) { tokens.count_at(at) } else { 0 });
        }
    }

    /// The score of counts as [`Bm25::push_counts`] orders them, in a text of `length` tokens where texts of its kind have `mean_length`.
    pub(crate) fn score_counts(&self, counts: &[u32], length: f32, mean_length: f32) -> f32 {
        let norm = norm(length, mean_length);
        let scores = self.terms.iter().zip(counts).filter(|(_, count)| **count > 0);
        scores.map(|(&(_, idf), &count)| saturated(idf, count as f32, norm)).sum()
    }

    /// Mean length of the documents of its space, tokens.
    pub(crate) fn mean_length(&self) -> f32 {
        self.mean_length
    }
}

fn norm(length: f32, mean_length: f32) -> f32 {
    K1 * (1.0 - B + B * (length + LENGTH_SMOOTHING) / (mean_length + LENGTH_SMOOTHING))
}

fn saturated(idf: f32, count: f32, norm: f32) -> f32 {
    idf * count * (K1 + 1.0) / (count + norm)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenize::{count_tokens, query_tokens};

    #[test]
    fn a_short_and_a_long_document_are_scored_alike() {
        let statistics = Statistics { documents: 100, tokens: 1_000, ..Statistics::default() };
        let bm25 = Bm25::new(&query_tokens("where does the harbour pump stand, and who mends it on Sundays"), &statistics);
        let told = "the harbour pump stands in the old shed, the harbour master mends it";
        let filler: String = (0..1_000).map(|n| format!(" filler{n}")).collect();
        for text in [told.to_owned(), format!("{told}{filler}"), filler.clone(), String::new()] {
            let tokens = Tokens::pack(&count_tokens(&text));
            let norm = norm(tokens.length() as f32, bm25.mean_length);
            let (mut score, mut held) = (0.0, 0.0);
            for &(id, idf) in &bm25.terms {
                if tokens.count(id) > 0 {
                    score += saturated(idf, f32::from(tokens.count(id)), norm);
                    held += idf * (K1 + 1.0);
                }
            }
            assert_eq!(bm25.score(&tokens), score);
            assert_eq!(bm25.covered(&tokens), held / bm25.ideal);
            assert_eq!(bm25.score_and_covered(&tokens), (score, held / bm25.ideal));
        }
    }
}
