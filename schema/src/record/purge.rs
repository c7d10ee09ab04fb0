//! What the store keeps about purges: when each part was done and which ids went. No words.
//!
//! Must not know: how a purge is carried out.

use serde::{Deserialize, Serialize};

/// One purge. It is over when every time is set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PurgeRecord {
    /// Internal key: the store sequence at which it was asked for.
    pub key: u64,
    /// Random id.
    pub id: [u8; 16],
    /// The method that asked for it; `purge` for the daemon's own job.
    pub method: String,
    /// When it was asked for, Unix ms.
    pub requested_at_ms: i64,
    /// Memories purged.
    pub count: u64,
    /// When the first of them was hidden, Unix ms.
    pub hidden_from_ms: i64,
    /// When the last of them was hidden, Unix ms.
    pub hidden_to_ms: i64,
    /// When their rows were taken out, Unix ms.
    pub rows_at_ms: Option<i64>,
    /// When what recalls had put of them into sessions was taken out, Unix ms.
    pub sessions_at_ms: Option<i64>,
    /// When the store stood in a file without them, Unix ms.
    pub store_at_ms: Option<i64>,
    /// When the full-text index stood in files without them, Unix ms.
    pub index_at_ms: Option<i64>,
    /// When snapshot and graphs of the vectors stood in files without them, Unix ms.
    pub vectors_at_ms: Option<i64>,
    /// When no backup and no store set aside held them, Unix ms.
    pub backups_at_ms: Option<i64>,
    /// Messages and events of sessions that were changed.
    pub session_rows: u64,
    /// Backups that were removed.
    pub backups_removed: u32,
    /// Stores set aside by a restore that were removed.
    pub set_aside_removed: u32,
    /// Why it was last put off; empty when it was not.
    pub put_off: String,
}

/// One memory of a purge.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PurgedRecord {
    /// Key of the purge.
    pub purge: u64,
    /// Key the memory had.
    pub key: u64,
    /// Space it was in.
    pub space: u32,
    /// When it was hidden, Unix ms.
    pub hidden_at_ms: i64,
}
