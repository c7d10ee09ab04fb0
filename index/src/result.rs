//! What a search answers, with every part of each score. It must not know texts: the caller fetches them by key.

use crate::search::Weights;

/// How sure a hit is, from its relevance alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Strength {
    /// Below the calibrated threshold.
    #[default]
    None,
    /// Perhaps.
    Weak,
    /// Likely.
    Good,
    /// Sure.
    Strong,
}

impl Strength {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Weak => "weak",
            Self::Good => "good",
            Self::Strong => "strong",
        }
    }
}

/// Where candidates came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ServedBy {
    /// The full-text index.
    Tantivy,
    /// Documents newer than the full-text index, read directly.
    Overlay,
    /// Every eligible document's tokens, read directly (small spaces and narrow filters).
    Forward,
    /// Every eligible vector, compared exactly.
    Exact,
    /// The approximate graph.
    Hnsw,
    /// Vectors of the model in use beside the built-in one, compared exactly.
    Model,
}

impl ServedBy {
    /// The word for it on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tantivy => "tantivy",
            Self::Overlay => "overlay",
            Self::Forward => "forward",
            Self::Exact => "exact",
            Self::Hnsw => "hnsw",
            Self::Model => "model",
        }
    }
}

/// What a hit repeats of one before it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GaveWay {
    /// The document before it that it is most alike.
    pub key: u64,
    /// How alike they are, 0 to 1.
    pub likeness: f32,
    /// What of its score counted when its place was found, 0 to 1.
    pub factor: f32,
}

/// The parts of a hit's score.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Features {
    /// BM25 over the ideal score of the query, 0 to 1.
    pub lexical: f32,
    /// BM25 with the statistics of the hit's space.
    pub bm25: f32,
    /// The highest BM25 this query could reach.
    pub ideal: f32,
    /// Cosine of query and document, where both have a vector.
    pub cosine: Option<f32>,
    /// That cosine as a standard score against the background sample.
    pub z: Option<f32>,
    /// Dense evidence: the standard score over 16, shifted by what the query scores anywhere; from the words where there is no vector.
    pub dense: f32,
    /// The highest dense evidence among the document and what was said right before and after it.
    pub beside: f32,
    /// BM25 over the ideal of the document with two neighbours on each side.
    pub near: f32,
    /// The same with eight on each side.
    pub far: f32,
    /// BM25 over the ideal of the question that the document comes right after, 0 where there is none.
    pub answers: f32,
    /// 1 where the query names who said it, else 0.
    pub speaker: f32,
    /// 1 for an assistant's reply, else 0.
    pub reply: f32,
    /// 1 in a stretch of time the query names, less near it, else 0.
    pub time: f32,
    /// Evidence it lost because it was told again later: a newer document is the same but for a value, and the query cannot tell them apart.
    pub later: f32,
    /// Which hit before it it repeats, where that was asked.
    pub gave_way: Option<GaveWay>,
    /// Share of the query's weight whose tokens it holds, 0 to 1; no part of the evidence.
    pub covered: f32,
    /// Whether it and the query are in different scripts, so that they can share no word.
    pub across_scripts: bool,
    /// Whether it has neighbours in a conversation.
    pub in_conversation: bool,
    /// Weighted sum of the features.
    pub evidence: f32,
    /// Rank in the lexical leg, from 1, among its candidates.
    pub lexical_rank: Option<u32>,
    /// Rank in the vector leg, from 1, among its candidates.
    pub vector_rank: Option<u32>,
    /// Score before decay, 0 to 1.
    pub relevance: f32,
    /// What decay multiplied it with, floor to 1.
    pub decay: f32,
    /// Age that decay used, milliseconds, never below 0.
    pub age_ms: i64,
    /// Rank it would have had without decay, from 1.
    pub rank_without_decay: u32,
}

/// One feature of a hit: its share of the evidence is value times weight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Part {
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub value: f32,
    /// What it weighs.
    pub weight: f32,
}

impl Features {
    /// Every feature that makes up the evidence of a hybrid search.
    pub fn parts(&self, weights: &Weights) -> [Part; 10] {
        let part = |name, value, weight| Part { name, value, weight };
        [
            part("lexical", self.lexical, weights.lexical),
            part("near", self.near, weights.near),
            part("far", self.far, weights.far),
            part("answers", self.answers, weights.answers),
            part("dense", self.dense, weights.dense),
            part("beside", self.beside, weights.beside),
            part("speaker", self.speaker, weights.speaker),
            part("reply", self.reply, weights.reply),
            part("time", self.time, weights.time),
            part("later", self.later, weights.later),
        ]
    }
}

/// A document found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The document.
    pub key: u64,
    /// Sequence of the state that was found.
    pub seq: u64,
    /// Its space.
    pub space: u32,
    /// Final score, 0 to 1: relevance times decay.
    pub score: f32,
    /// How sure it is.
    pub strength: Strength,
    /// The parts of the score.
    pub features: Features,
}

/// The answer to a search.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SearchResult {
    /// Best first; equal scores by newer key first.
    pub hits: Vec<Hit>,
    /// How many of the first `limit` candidates were left out for being below the threshold.
    pub below_threshold: usize,
    /// What the candidates came from, without repeats.
    pub served_by: Vec<ServedBy>,
    /// Why the answer may be less than whole or slower than usual, where it is.
    pub degraded: Option<String>,
    /// Sequence up to which the searched state had every write.
    pub seq: u64,
}
