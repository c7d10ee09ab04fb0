//! `memory/update`, `supersede`, `pin`, `archive`, `restore` and `undo`.
//!
//! Must not know: how versions are kept.

use super::{Category, Kind, Related, RememberParams};
use crate::wire::{Timestamp, params, result};

params! {
    /// Params of `memory/update`: only the members given change.
    UpdateParams {
        /// The memory.
        id: String,
        /// Version the change was made on; needed when the text changes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        if_version: Option<u32>,
        /// New words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// New kind.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<Kind>,
        /// New category.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        category: Option<Category>,
        /// New labels, in place of the old.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tags: Option<Vec<String>>,
        /// New entities, in place of the old.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        entities: Option<Vec<String>>,
        /// New importance, 0 to 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        importance: Option<f32>,
        /// New time of the event.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        occurred_at: Option<Timestamp>,
        /// New start of validity.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        valid_from: Option<Timestamp>,
        /// New end of validity.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        valid_to: Option<Timestamp>,
        /// Idempotency key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    }
}

result! {
    /// Result of `memory/update`, `memory/undo`, `memory/merge` and `memory/resolve`.
    VersionResult {
        /// The memory.
        id: String,
        /// Its version now.
        version: u32,
        /// Sequence token of the write.
        seq: String,
        /// `memory/update` only: another current memory with the same words.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        related: Vec<Related>,
    }
}

params! {
    /// Params of `memory/supersede`.
    SupersedeParams {
        /// The memory that gives way.
        id: String,
        /// The memory that takes its place; its space is the old one's when absent.
        memory: RememberParams,
        /// Idempotency key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    }
}

result! {
    /// Result of `memory/supersede`.
    SupersedeResult {
        /// The new memory.
        id: String,
        /// Sequence token of the write.
        seq: String,
    }
}

params! {
    /// Params of `memory/pin`, `memory/archive` and `memory/restore`.
    IdsParams {
        /// The memories, by id or unique prefix.
        ids: Vec<String>,
        /// `memory/pin` only: false takes the pin away; true when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pinned: Option<bool>,
        /// Idempotency key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    }
}

result! {
    /// Result of a write that answers its place only.
    SeqResult {
        /// Sequence token of the write.
        seq: String,
    }
}

params! {
    /// Params of `memory/undo`.
    UndoParams {
        /// The memory whose last change is taken back. A forgotten one is named by its whole id.
        id: String,
        /// Idempotency key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    }
}
