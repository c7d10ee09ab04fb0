//! `memory/remember` and `memory/rememberMany`.
//!
//! Must not know: how sameness is judged.

use super::{Category, Kind, Source};
use crate::error::ErrorObject;
use crate::wire::{Open, Timestamp, params, result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

params! {
    /// Params of `memory/remember`, and one item of `memory/rememberMany`.
    RememberParams {
        /// The words to keep.
        text: String,
        /// Space to keep them in; `personal` when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        space: Option<String>,
        /// What sort of knowledge; derived from the category when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<Kind>,
        /// What it is about; `other` when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        category: Option<Category>,
        /// Labels.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tags: Option<Vec<String>>,
        /// Names it mentions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        entities: Option<Vec<String>>,
        /// 0 to 1; 0.5 when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        importance: Option<f32>,
        /// Never decays.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pinned: Option<bool>,
        /// When it happened.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        occurred_at: Option<Timestamp>,
        /// True from then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        valid_from: Option<Timestamp>,
        /// True until then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        valid_to: Option<Timestamp>,
        /// Where it comes from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source: Option<Source>,
        /// A person asked for it: passes the write gate.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        explicit: Option<bool>,
        /// Kept as it is: no gate, no comparison. For imports.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        verbatim: Option<bool>,
        /// Idempotency key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    }
}

/// What became of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RememberOutcome {
    /// A new memory.
    Created,
    /// The same was known: its seen count, sources and labels grew; its words and times stay.
    Duplicate,
    /// A known memory was changed.
    Updated,
    /// A known memory gave way to this one.
    Superseded,
    /// Kept beside one that says otherwise.
    Conflict,
    /// Not kept; `reason` says why.
    Refused,
    /// This item failed; `error` says why.
    Failed,
}

result! {
    /// A memory near to the one remembered.
    Related {
        /// Its id.
        id: String,
        /// How it is related: `duplicate`, `updated`, `superseded`, `conflict`, `near`.
        relation: String,
    }
}

result! {
    /// Result of `memory/remember`.
    RememberResult {
        /// What became of the text.
        outcome: Open<RememberOutcome>,
        /// The memory that holds it now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// Sequence token of the write.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seq: Option<String>,
        /// Memories near to it.
        #[serde(default)]
        related: Vec<Related>,
        /// Why it was refused: `secret:KIND`, `empty`, …
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// Why it failed (`rememberMany` only).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<ErrorObject>,
    }
}

params! {
    /// Params of `memory/rememberMany`.
    RememberManyParams {
        /// The items, each judged alone. An item that does not fit fails alone.
        items: Vec<serde_json::Value>,
        /// Idempotency key of the whole call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    }
}

result! {
    /// Result of `memory/rememberMany`: one entry an item, in order.
    RememberManyResult {
        /// What became of each.
        results: Vec<RememberResult>,
        /// Sequence token after the last write.
        seq: String,
    }
}
