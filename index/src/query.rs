//! What is asked of the index. It must not know how an answer is found.

use crate::document::Status;

/// Which legs a search uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Both legs, their scores weighted.
    #[default]
    Hybrid,
    /// Words only.
    Lexical,
    /// Vectors only; without a query vector nothing is found.
    Vector,
}

/// What a hit must fulfil. An empty list asks for nothing; within a list any one suffices; all lists together must hold.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    /// Codes of kinds.
    pub kinds: Vec<u8>,
    /// Codes of categories.
    pub categories: Vec<u8>,
    /// Tags, any of them.
    pub tags: Vec<String>,
    /// Entities, any of them.
    pub entities: Vec<String>,
    /// Speakers, any of them.
    pub speakers: Vec<String>,
    /// The conversation.
    pub session: Option<String>,
    /// Not before this instant (unix milliseconds, inclusive), by when it occurred, else when it was recorded. A document whose words
    /// tell a stretch of time fulfils this and the next by that stretch, too.
    pub after_ms: Option<i64>,
    /// Before this instant (unix milliseconds, exclusive), by when it occurred, else when it was recorded.
    pub before_ms: Option<i64>,
    /// Statuses; empty means active only.
    pub statuses: Vec<Status>,
    /// What its document tells has to hold at this instant (unix milliseconds).
    pub valid_at_ms: Option<i64>,
    /// It has to have held at this instant by all that is known (unix milliseconds): [`crate::Document::held_ms`].
    pub held_at_ms: Option<i64>,
}

/// How scores fade with age: `score x (floor + (1 - floor) x 2^(-age / half-life))`, the half-life times
/// `1 + ln(1 + uses) / 2`, at most 4. Age counts from when it occurred (else was recorded) or was last used, whichever is later;
/// an age below zero counts as zero. Pinned documents do not fade.
#[derive(Debug, Clone, PartialEq)]
pub struct DecayParams {
    /// The present, unix milliseconds.
    pub now_ms: i64,
    /// What is left of the score at infinite age, 0 to 1.
    pub floor: f32,
    /// Half-life in milliseconds by category code; a category beyond the end uses `half_life_default_ms`.
    pub half_life_ms: Vec<i64>,
    /// Half-life in milliseconds of categories not listed.
    pub half_life_default_ms: i64,
}

/// A stretch of time that a question names; documents of that time rank higher, others stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeSpan {
    /// Its beginning, unix milliseconds, inclusive.
    pub from_ms: i64,
    /// Its end, unix milliseconds, exclusive.
    pub to_ms: i64,
}

/// A search.
#[derive(Debug, Clone, Default)]
pub struct Query<'a> {
    /// What is looked for, as written; never parsed as query syntax.
    pub text: &'a str,
    /// Query-role embedding of the text (norm 1); `None` leaves the vector leg out.
    pub vector: Option<&'a [f32]>,
    /// The same by the model in use beside the built-in one; `None` where there is none or it did not answer.
    pub model_vector: Option<&'a [f32]>,
    /// Spaces searched; nothing of any other space is looked at.
    pub spaces: Vec<u32>,
    /// What hits must fulfil.
    pub filter: Filter,
    /// Stretches of time the text names; the first 64 count.
    pub spans: Vec<TimeSpan>,
    /// Legs.
    pub mode: Mode,
    /// Hits wanted.
    pub limit: usize,
    /// Candidates each leg brings; 0 takes the default of 100; between 20 and 1,000 otherwise.
    pub candidates: usize,
    /// Least relevance (before decay) of a hit, 0 to 1; 0 keeps all; `None` takes the calibrated default.
    pub threshold: Option<f32>,
    /// How scores fade with age; `None` leaves them as they are.
    pub decay: Option<DecayParams>,
    /// How far near-duplicates give way to other hits, 0 (not at all) to 1.
    pub diversity: f32,
}
