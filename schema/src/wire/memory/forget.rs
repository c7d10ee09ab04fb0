//! `memory/forget`.
//!
//! Must not know: what hiding takes.

use super::{Filter, Receipt};
use crate::wire::{Timestamp, params, result};

params! {
    /// Params of `memory/forget`: exactly one of `ids` and `filter`.
    ForgetParams {
        /// The memories, by id or unique prefix.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ids: Option<Vec<String>>,
        /// All that fits, of every status unless it names some; needs `space`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        filter: Option<Filter>,
        /// The space the filter looks in.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        space: Option<String>,
        /// Only count.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        dry_run: Option<bool>,
        /// Take them out physically too, now: it cannot be undone. `ids` may then name forgotten memories, by their whole ids.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        purge: Option<bool>,
        /// Idempotency key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    }
}

result! {
    /// Result of `memory/forget` and `space/delete`.
    ForgetResult {
        /// How many are hidden (or, on a dry run, would be).
        count: u64,
        /// Their ids, the first 1,000. No call lists the others, and `memory/undo` takes an id: to be able to bring back more than
        /// 1,000, forget the `ids` of a dry run, page by page.
        ids: Vec<String>,
        /// Sequence token of the write.
        seq: String,
        /// Until then `memory/undo` brings them back; absent on a dry run and with `purge`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        undo_until: Option<Timestamp>,
        /// Memories that one of them was merged into: they are made of others too, and stay. What was merged into a forgotten memory goes
        /// with it, and is counted.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        derived: Vec<String>,
        /// With `purge`: when and where they are gone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        receipt: Option<Receipt>,
    }
}
