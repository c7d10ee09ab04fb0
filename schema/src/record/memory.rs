//! A memory's version row, its use statistics, and its space.
//!
//! Must not know: how rows are keyed.

use serde::{Deserialize, Serialize};

/// Where a version came from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceRecord {
    /// Conversation or document.
    pub session: Option<String>,
    /// Place in it.
    pub position: Option<u64>,
    /// Who said it.
    pub speaker: Option<String>,
    /// Program that brought it.
    pub program: Option<String>,
    /// Where it can be read.
    pub uri: Option<String>,
    /// When it was told, Unix ms.
    pub recorded_at_ms: i64,
}

/// One version of a memory. The current one is the highest.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MemoryRecord {
    /// Internal key: the store sequence at which the memory was created.
    pub key: u64,
    /// Version, from 1.
    pub version: u32,
    /// Random UUID.
    pub id: [u8; 16],
    /// Sequence of the write that made this version.
    pub seq: u64,
    /// Space id.
    pub space: u32,
    /// See `convert::kind_code`.
    pub kind: u8,
    /// See `convert::category_code`.
    pub category: u8,
    /// See `convert::STATUS_*`.
    pub status: u8,
    /// What made this version, see `convert::CHANGE_*`.
    pub change: u8,
    /// The words.
    pub text: String,
    /// Labels.
    pub tags: Vec<String>,
    /// Names it mentions.
    pub entities: Vec<String>,
    /// Where it comes from, oldest first.
    pub sources: Vec<SourceRecord>,
    /// How many times it was told.
    pub seen_count: u32,
    /// 0 to 1.
    pub importance: f32,
    /// Never decays.
    pub pinned: bool,
    /// A person asked for it.
    pub explicit: bool,
    /// Kept without gate or comparison.
    pub verbatim: bool,
    /// When the first version was recorded, Unix ms.
    pub created_at_ms: i64,
    /// When this version was recorded, Unix ms.
    pub recorded_at_ms: i64,
    /// When it happened, Unix ms; none when nobody said.
    pub occurred_at_ms: Option<i64>,
    /// Offset of the caller's clock in `occurredAt`, minutes east of UTC.
    pub occurred_offset_min: Option<i16>,
    /// True from then, Unix ms.
    pub valid_from_ms: Option<i64>,
    /// True until then, Unix ms.
    pub valid_to_ms: Option<i64>,
    /// Key of the memory that took its place.
    pub superseded_by: Option<u64>,
    /// Key of the memory whose place it took.
    pub supersedes: Option<u64>,
    /// Version whose vectors are this version's (the text is the same since).
    pub vector_version: u32,
    /// Number of vectors: one a passage; 0 when there is no vector leg.
    pub vector_count: u16,
    /// Keys it was made from.
    pub derived_from: Vec<u64>,
}

/// How often and when a memory was put to use. Bumps no version.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UseRecord {
    /// Last use, Unix ms.
    pub last_used_at_ms: i64,
    /// Number of uses.
    pub use_count: u64,
}

/// What feedback said of a memory. Bumps no version.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeedbackRecord {
    /// Times it was said to be wrong, less those taken back; bounded.
    pub wrong: u8,
    /// Times it was ignored since it was last used; bounded.
    pub ignored: u8,
    /// Id of the recall that was spoken of last.
    pub recall: [u8; 16],
    /// What was said then, see `convert::VERDICT_*`.
    pub verdict: u8,
    /// `wrong` before that.
    pub wrong_before: u8,
    /// `ignored` before that.
    pub ignored_before: u8,
    /// Use statistics before that.
    pub used_before: UseRecord,
    /// When that was, Unix ms.
    pub at_ms: i64,
}

/// A space.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpaceRecord {
    /// Internal id, from 1.
    pub id: u32,
    /// Flat name.
    pub name: String,
    /// When it was first written to, Unix ms.
    pub created_at_ms: i64,
    /// Secrets are redacted instead of refused.
    pub redact_secrets: bool,
}

/// Somebody whom a rule of a space names: by executable, declared name, or both.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrincipalRecord {
    /// Path of the executable, as the kernel names it.
    pub executable: Option<String>,
    /// Name declared in `initialize`, with or without its version.
    pub client: Option<String>,
}

/// The rules of a space, but for its secrets (see [`SpaceRecord`]).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpaceRulesRecord {
    /// Days after which what is not pinned is put away.
    pub retention_days: Option<u32>,
    /// How, see `convert::retention_code`.
    pub retention_act: u8,
    /// Strictness of the write gate, see `convert::gate_code`.
    pub gate: u8,
    /// Who may read; everybody when none.
    pub readers: Option<Vec<PrincipalRecord>>,
    /// Who may write; everybody when none.
    pub writers: Option<Vec<PrincipalRecord>>,
    /// Memories at most, forgotten ones not counted.
    pub memories_max: Option<u64>,
    /// Bytes of their texts at most.
    pub bytes_max: Option<u64>,
}

/// The vector of one passage.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct VectorRecord {
    /// Its components.
    pub values: Vec<f32>,
}

/// A model that makes vectors beside the built-in table's.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmbedderRecord {
    /// Names provider, model, prefixes and dimension asked for: vectors of different ids are never compared.
    pub id: String,
    /// Length of its vectors.
    pub dimension: u32,
    /// When it was first used, Unix ms.
    pub created_at_ms: i64,
}
