//! `memory/export` and `memory/import`.
//!
//! Must not know: foreign formats.

use super::{Filter, RememberParams, Status};
use crate::wire::{Page, Timestamp, params, result};
use serde_json::Value;

params! {
    /// Params of `memory/export`.
    ExportParams {
        /// Space; `personal` when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        space: Option<String>,
        /// What to export; every status when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        filter: Option<Filter>,
        /// From the page before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cursor: Option<String>,
        /// Lines at most; 200 when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    }
}

/// One line of an export: the params of `memory/remember` plus what an export adds.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExportLine {
    /// The params of `memory/remember` that would make it.
    #[serde(flatten)]
    pub memory: RememberParams,
    /// Its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// When it was first recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
    /// Where it stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// Its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
    /// How many times it was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen_count: Option<u32>,
    /// The id of the memory that took its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
    /// The id of the memory whose place it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<String>,
    /// When it was last put to use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<Timestamp>,
    /// How often it was put to use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub use_count: Option<u64>,
    /// Further sources beyond `source`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub more_sources: Option<Vec<super::Source>>,
}

/// Result of `memory/export`.
pub type ExportResult = Page<ExportLine>;

params! {
    /// Params of `memory/import`.
    ImportParams {
        /// The lines; see [`ExportLine`]. Unknown members are reported and left out.
        lines: Vec<Value>,
        /// Space for lines that name none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        space: Option<String>,
        /// A line whose id is there with other words or labels changes that memory (a new version), and brings it back where an import
        /// had retired it; without this such a line is refused. What somebody else changed, put away or forgot since stays as it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        update: Option<bool>,
        /// Ids of memories of `space` that an earlier import brought and their source no longer holds: they are archived, after the
        /// lines. What somebody else changed since stays as it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retire: Option<Vec<String>>,
        /// Only judge.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        dry_run: Option<bool>,
        /// Idempotency key of this batch.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    }
}

result! {
    /// A line that was not taken.
    RefusedLine {
        /// Its index in the batch, from 0.
        line: u64,
        /// Why.
        reason: String,
    }
}

result! {
    /// Result of `memory/import`.
    ImportResult {
        /// New memories.
        created: u64,
        /// Known already.
        duplicate: u64,
        /// Memories changed or brought back, with `update`.
        #[serde(default)]
        updated: u64,
        /// Memories archived, by `retire`.
        #[serde(default)]
        retired: u64,
        /// Lines and ids of which the memory stays as somebody else left it: changed, put away or forgotten since.
        #[serde(default)]
        kept: u64,
        /// Lines not taken, with why.
        refused: Vec<RefusedLine>,
        /// Names of members left out, with how often.
        unknown_fields: std::collections::BTreeMap<String, u64>,
        /// Sequence token after the batch.
        seq: String,
    }
}
