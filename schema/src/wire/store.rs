//! `store/verify`, `store/backup`, `store/restore` and `store/rebuild`.
//!
//! Must not know: files or formats.

use super::{Timestamp, params, result};

params! {
    /// Params of the store verbs.
    StoreParams {
        /// `store/backup`: where to; the backup folder when absent. `store/restore`: which backup; the newest good one when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
    }
}

result! {
    /// Result of `store/verify`.
    VerifyResult {
        /// True when nothing is wrong, with the store or with the index.
        ok: bool,
        /// Records read.
        records: u64,
        /// Memories that are not forgotten.
        memories: u64,
        /// What is wrong with the store, the first 100.
        problems: Vec<String>,
        /// Where the index does not match the store, the first 100. The store is no worse for it: `store/rebuild` makes the index anew.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        index_problems: Vec<String>,
        /// Milliseconds it took.
        elapsed_ms: u64,
    }
}

result! {
    /// Result of `store/backup`.
    BackupResult {
        /// The file written.
        path: String,
        /// Its size.
        bytes: u64,
        /// Newest sequence in it.
        seq: String,
        /// Backups kept now, newest first.
        kept: Vec<BackupItem>,
    }
}

result! {
    /// One backup.
    BackupItem {
        /// The file.
        path: String,
        /// Its size.
        bytes: u64,
        /// When it was made.
        created_at: Timestamp,
    }
}

result! {
    /// Result of `store/restore`.
    RestoreResult {
        /// The backup taken.
        from: String,
        /// Where the store it replaced stands now.
        set_aside: String,
        /// Memories in it that are not forgotten.
        memories: u64,
        /// Epoch of the store from now on.
        epoch: u64,
    }
}

result! {
    /// Result of `store/rebuild`.
    RebuildResult {
        /// Memories indexed.
        documents: u64,
        /// Milliseconds it took.
        elapsed_ms: u64,
    }
}
