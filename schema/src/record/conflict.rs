//! Two memories that cannot both hold.
//!
//! Must not know: how that was found.

use serde::{Deserialize, Serialize};

/// An open conflict, or how it was resolved.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConflictRecord {
    /// Internal key: the store sequence at which it was opened.
    pub key: u64,
    /// Random id.
    pub id: [u8; 16],
    /// Space id.
    pub space: u32,
    /// Key of the memory that was there.
    pub first: u64,
    /// Key of the memory that came later.
    pub second: u64,
    /// See `convert::CONFLICT_*`.
    pub state: u8,
    /// See `convert::conflict_reason_code`.
    pub reason: u8,
    /// When it was opened, Unix ms.
    pub opened_at_ms: i64,
    /// When it was resolved, Unix ms.
    pub resolved_at_ms: Option<i64>,
    /// Sequence of the write that resolved it; 0 while it is open.
    pub resolved_seq: u64,
}
