//! `memory/conflicts`, `memory/resolve` and `memory/merge`.
//!
//! Must not know: when two memories are in conflict.

use super::Memory;
use crate::wire::{Open, Page, Timestamp, params, result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

params! {
    /// Params of `memory/conflicts`.
    ConflictsParams {
        /// Space; `personal` when neither is given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        space: Option<String>,
        /// Only conflicts that name this memory.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// From the page before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cursor: Option<String>,
        /// Items at most; 50 when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    }
}

/// Why two memories cannot both hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ConflictReason {
    /// One says what the other denies.
    #[default]
    Denied,
    /// Another number for the same thing.
    Number,
    /// Another day or time for the same thing.
    Time,
    /// The same names in each other's places.
    Roles,
    /// Another value for the same thing.
    Value,
    /// Another value, and what was told later happened earlier.
    Order,
}

result! {
    /// Two memories that cannot both hold, both current.
    Conflict {
        /// Names it in `memory/resolve`; its first 8 characters usually tell it apart.
        id: String,
        /// Space of both.
        space: String,
        /// Why.
        reason: Open<ConflictReason>,
        /// When it was found.
        opened_at: Timestamp,
        /// The memory that was there.
        first: Memory,
        /// The memory that came later.
        second: Memory,
    }
}

/// Result of `memory/conflicts`, oldest first.
pub type ConflictsResult = Page<Conflict>;

/// What is kept of a conflict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Keep {
    /// The first; the second is superseded by it.
    First,
    /// The second; the first is superseded by it.
    Second,
    /// Both: they do not exclude each other.
    #[default]
    Both,
    /// One memory made of both: the first with the words given.
    Merge,
}

params! {
    /// Params of `memory/resolve`.
    ResolveParams {
        /// The conflict, by id or unique prefix.
        id: String,
        /// What is kept.
        keep: Keep,
        /// The words of the merged memory; needed with `merge`, and only there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// Idempotency key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    }
}

params! {
    /// Params of `memory/merge`.
    MergeParams {
        /// The memories; all go into the first.
        ids: Vec<String>,
        /// The words of the one; the first's when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// Idempotency key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    }
}
