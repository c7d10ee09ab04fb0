//! `memory/stats` and `memory/audit`.
//!
//! Must not know: how counts are kept.

use crate::wire::{Page, Timestamp, params, result};
use std::collections::BTreeMap;

params! {
    /// Params of `memory/stats`.
    StatsParams {
        /// Counts of this space only; `personal` when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        space: Option<String>,
    }
}

result! {
    /// State of the derived indexes for one space.
    SpaceIndexState {
        /// Documents of the space that the index answers from: a memory is one, a long one several.
        documents: u64,
        /// Of these, not yet in tantivy.
        overlay: u64,
        /// What serves its vectors: `exact` or `hnsw`.
        vectors: String,
        /// How its vectors are searched, and why so, in words.
        #[serde(default)]
        vectors_why: String,
        /// Why answers may be less than whole.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        degraded: Option<String>,
    }
}

result! {
    /// Result of `memory/stats`: of one space alone; `daemon/status` says what the whole store holds.
    StatsResult {
        /// Space counted.
        space: String,
        /// Memories by status.
        by_status: BTreeMap<String, u64>,
        /// Memories by category.
        by_category: BTreeMap<String, u64>,
        /// Memories by kind.
        by_kind: BTreeMap<String, u64>,
        /// Texts not kept since the daemon started, by reason; not durable.
        #[serde(default)]
        refused: BTreeMap<String, u64>,
        /// Bytes of the words of its memories.
        text_bytes: u64,
        /// State of the indexes for it.
        index: SpaceIndexState,
    }
}

params! {
    /// Params of `memory/audit`.
    AuditParams {
        /// Rows about this memory.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// Rows of this space; `personal` when neither is given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        space: Option<String>,
        /// True for the rows of calls that belong to no space: refused ones that named none, `space/list`, `store/*`, and what retention took
        /// out. Not with `id` or `space`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        outside: Option<bool>,
        /// Only rows of clients whose declared name is this, with or without its version, or whose executable has this path or file name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        client: Option<String>,
        /// Only rows of this method.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        method: Option<String>,
        /// Only rows about this recall.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        recall_id: Option<String>,
        /// From the page before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cursor: Option<String>,
        /// Rows at most; 50 when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    }
}

result! {
    /// Who did something.
    Actor {
        /// User id.
        uid: u32,
        /// Process id.
        pid: i32,
        /// Executable, where it could be read.
        executable: String,
        /// Name the client gave in `initialize`.
        client: String,
    }
}

result! {
    /// Rows that retention took out of the audit.
    AuditCut {
        /// Number of the first.
        first: u64,
        /// Number of the last.
        last: u64,
        /// How many.
        count: u64,
        /// SHA-256 that the chain of these rows ends with, as hexadecimal digits.
        hash: String,
    }
}

result! {
    /// One row of the audit, newest first.
    AuditRow {
        /// When.
        at: Timestamp,
        /// The method.
        method: String,
        /// `read` or `write`.
        access: String,
        /// The space; empty for a call that belongs to none.
        space: String,
        /// Ids touched or shown, the first 1,000.
        ids: Vec<String>,
        /// What became of it: `done`, or more exactly (`created`, `duplicate`, `refused: REASON`, `failed: KIND`).
        outcome: String,
        /// The recall it tells of.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        recall_id: Option<String>,
        /// The rows that retention took out, where the row tells of that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cut: Option<AuditCut>,
        /// Who.
        actor: Actor,
    }
}

/// Result of `memory/audit`.
pub type AuditResult = Page<AuditRow>;
