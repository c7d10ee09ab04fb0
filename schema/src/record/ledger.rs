//! What the store keeps about writes themselves: audit, outbox, idempotency keys, settings.
//!
//! Must not know: what the writes mean.

use serde::{Deserialize, Serialize};

/// Who acted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActorRecord {
    /// User id.
    pub uid: u32,
    /// Process id.
    pub pid: i32,
    /// Executable, where it could be read.
    pub executable: String,
    /// Name given in `initialize`.
    pub client: String,
}

/// One row of the audit. `chain` is SHA-256 over the row before and this one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditRecord {
    /// Number of the row, from 1.
    pub row: u64,
    /// When, Unix ms.
    pub at_ms: i64,
    /// The method.
    pub method: String,
    /// False for a read.
    pub write: bool,
    /// Space id; 0 when the call named several or none.
    pub space: u32,
    /// Keys touched or shown, bounded.
    pub keys: Vec<u64>,
    /// Who.
    pub actor: ActorRecord,
    /// What became of the call, in a word or two; empty is done.
    pub outcome: String,
    /// Id of the recall it tells of.
    pub recall: Option<[u8; 16]>,
    /// The rows that retention took out, where the row tells of that.
    pub cut: Option<AuditCutRecord>,
    /// Hash chain.
    pub chain: [u8; 32],
}

/// Rows that retention took out of the audit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditCutRecord {
    /// The first of them.
    pub first: u64,
    /// The last of them.
    pub last: u64,
    /// Chain value of the last: a hash over it and every row before it.
    pub hash: [u8; 32],
}

/// A row of the audit as the first record version has it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditRecordV1 {
    /// See [`AuditRecord::row`].
    pub row: u64,
    /// See [`AuditRecord::at_ms`].
    pub at_ms: i64,
    /// See [`AuditRecord::method`].
    pub method: String,
    /// See [`AuditRecord::write`].
    pub write: bool,
    /// See [`AuditRecord::space`].
    pub space: u32,
    /// See [`AuditRecord::keys`].
    pub keys: Vec<u64>,
    /// See [`AuditRecord::actor`].
    pub actor: ActorRecord,
    /// See [`AuditRecord::chain`].
    pub chain: [u8; 32],
}

impl From<AuditRecordV1> for AuditRecord {
    fn from(first: AuditRecordV1) -> Self {
        let AuditRecordV1 { row, at_ms, method, write, space, keys, actor, chain } = first;
        AuditRecord { row, at_ms, method, write, space, keys, actor, chain, ..AuditRecord::default() }
    }
}

/// What the index has to do for a write.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutboxRecord {
    /// The memory.
    pub key: u64,
    /// Its version after the write.
    pub version: u32,
    /// True when the index must drop it.
    pub remove: bool,
}

/// An answer kept under an idempotency key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdempotencyRecord {
    /// SHA-256 of the canonical JSON of the body.
    pub body_hash: [u8; 32],
    /// The answer as JSON.
    pub result_json: String,
    /// Kept until then, Unix ms.
    pub expires_at_ms: i64,
}

/// Identity of a store. Its first member never moves.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreRecord {
    /// On-disk format.
    pub format: u32,
    /// Random id.
    pub id: [u8; 16],
    /// Changes when a backup is restored.
    pub epoch: u64,
    /// When it was made, Unix ms.
    pub created_at_ms: i64,
    /// Model whose vectors it holds.
    pub embedder: String,
    /// Dimension of these.
    pub dimension: u32,
}

/// Where the audit stands. Its chain can be followed from `checkpoint`, the chain value of the row before the first one kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditHeadRecord {
    /// Newest row; 0 when there is none.
    pub row: u64,
    /// Its chain value.
    pub chain: [u8; 32],
    /// Oldest row kept; older ones were taken out by retention.
    pub first_row: u64,
    /// Chain value of the row before the oldest kept.
    pub checkpoint: [u8; 32],
}
