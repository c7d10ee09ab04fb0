//! `memory/history`.
//!
//! Must not know: how versions are kept.

use super::{Actor, ConflictReason, Status};
use crate::wire::{Open, Timestamp, params, result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

params! {
    /// Params of `memory/history`.
    HistoryParams {
        /// The memory, by id or unique prefix.
        id: String,
        /// From the page before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cursor: Option<String>,
        /// Versions at most; 50 when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    }
}

/// What made a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ChangeKind {
    /// It was kept for the first time.
    Created,
    /// Members or words changed.
    Updated,
    /// It was told again.
    Seen,
    /// The pin was set or taken away.
    Pinned,
    /// It was put away.
    Archived,
    /// It was brought back.
    Restored,
    /// Another took its place.
    Superseded,
    /// It was hidden.
    Forgotten,
    /// The change before it was taken back.
    Undone,
    /// Others were merged into it.
    Merged,
    /// An import changed it, put it away or brought it back, as its source had it.
    Imported,
}

result! {
    /// One version of a memory.
    Version {
        /// Its number, from 1.
        version: u32,
        /// What made it.
        change: Open<ChangeKind>,
        /// When.
        at: Timestamp,
        /// Its words.
        text: String,
        /// Where the memory stood then; absent while it was forgotten.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<Open<Status>>,
        /// Names of the members that differ from the version before.
        changed: Vec<String>,
        /// The method that wrote it, where the audit still has it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        method: Option<String>,
        /// Who wrote it, where the audit still has it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Actor>,
    }
}

result! {
    /// A memory before or after in a chain of supersessions, or merged into it.
    Link {
        /// Its id.
        id: String,
        /// Its words now.
        text: String,
        /// Where it stands.
        status: Open<Status>,
        /// When it was first recorded.
        created_at: Timestamp,
    }
}

/// How a conflict stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ConflictState {
    /// Both are current.
    Open,
    /// One of the two is not current any more, and nobody resolved it.
    Lapsed,
    /// The first was kept.
    KeptFirst,
    /// The second was kept.
    KeptSecond,
    /// Both were kept.
    KeptBoth,
    /// They were merged.
    Merged,
}

result! {
    /// A conflict in a memory's life.
    PastConflict {
        /// The conflict.
        id: String,
        /// How it stands.
        state: Open<ConflictState>,
        /// Why.
        reason: Open<ConflictReason>,
        /// The other memory; absent when it is forgotten.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        with: Option<String>,
        /// When it was found.
        opened_at: Timestamp,
        /// When it was resolved.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resolved_at: Option<Timestamp>,
    }
}

result! {
    /// Result of `memory/history`.
    HistoryResult {
        /// The memory.
        id: String,
        /// Its versions, newest first.
        items: Vec<Version>,
        /// Memories whose place it took, the nearest first.
        before: Vec<Link>,
        /// Memories that took its place, the nearest first.
        after: Vec<Link>,
        /// Memories that were merged into it.
        merged: Vec<Link>,
        /// Conflicts that name it, oldest first.
        conflicts: Vec<PastConflict>,
        /// Goes on with older versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next_cursor: Option<String>,
    }
}
