//! `space/list` and `space/delete`.
//!
//! Must not know: the memories inside.

use super::{Page, Timestamp, params, result};

params! {
    /// Params of `space/list`.
    SpaceListParams {
        /// From the page before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cursor: Option<String>,
        /// Items at most.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    }
}

result! {
    /// One space.
    SpaceItem {
        /// Its flat name.
        name: String,
        /// Memories in it that are not forgotten.
        memories: u64,
        /// When it was first written to.
        created_at: Timestamp,
    }
}

/// Result of `space/list`.
pub type SpaceListResult = Page<SpaceItem>;

params! {
    /// Params of `space/delete`: every memory of the space is forgotten.
    SpaceDeleteParams {
        /// Its name.
        space: String,
        /// Only count.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        dry_run: Option<bool>,
        /// Idempotency key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    }
}
