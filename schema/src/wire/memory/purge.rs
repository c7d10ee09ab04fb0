//! `store/purge` and `memory/receipts`: what is physically gone, and since when.
//!
//! Must not know: files.

use crate::wire::{Page, Timestamp, params, result};

params! {
    /// Params of `store/purge`.
    PurgeParams {
        /// Only count.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        dry_run: Option<bool>,
        /// Idempotency key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    }
}

result! {
    /// Result of `store/purge`.
    PurgeResult {
        /// Forgotten memories that were purged (or, on a dry run, would be).
        count: u64,
        /// When and where they are gone; absent on a dry run, and where there was nothing to purge.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        receipt: Option<Receipt>,
    }
}

params! {
    /// Params of `memory/receipts`.
    ReceiptsParams {
        /// Of one purge, or of the purge that a memory fell to: its whole id.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// Where to go on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cursor: Option<String>,
        /// Items of a page (50).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    }
}

/// Result of `memory/receipts`, newest first.
pub type ReceiptsResult = Page<Receipt>;

result! {
    /// The receipt of a purge. It holds ids and times, no words.
    Receipt {
        /// Its id.
        id: String,
        /// The method that asked for it; `purge` for the daemon's own job.
        method: String,
        /// When it was asked for.
        requested_at: Timestamp,
        /// Whether every part is done. What is not is taken up again by the daemon itself.
        done: bool,
        /// Memories purged.
        count: u64,
        /// Their ids, the first 1,000; only where one receipt is told.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ids: Vec<String>,
        /// When the first of them was hidden.
        hidden_from: Timestamp,
        /// When the last of them was hidden.
        hidden_to: Timestamp,
        /// When each place was without them; a place that is not named holds them still.
        purged_at: PurgedAt,
        /// Messages and events of sessions out of which what recalls had put there was taken.
        session_rows: u64,
        /// Backups that held them and were removed after a newer one was made.
        backups_removed: u32,
        /// Stores set aside by a restore that held them and were removed.
        set_aside_removed: u32,
        /// Why it was put off, where it was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        put_off: Option<String>,
    }
}

/// When each place was without the memories of a purge.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PurgedAt {
    /// Rows: all versions, vectors of all models, use, feedback, conflicts, answers kept under idempotency keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<Timestamp>,
    /// What recalls had put into sessions. What was said there in own words stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<Timestamp>,
    /// The bytes of the store file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store: Option<Timestamp>,
    /// The files of the full-text index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<Timestamp>,
    /// Snapshot and graphs of the vectors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vectors: Option<Timestamp>,
    /// Backups in the backup folder, and stores set aside by a restore.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backups: Option<Timestamp>,
}
