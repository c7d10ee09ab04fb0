//! Every limit of the daemon, with its unit in its name.
//!
//! Must not know: what is done when a limit is met.

/// Bytes redb may keep of the store's pages in memory.
pub const STORE_CACHE_BYTES: usize = 24 << 20;
/// Writes that may wait for the writer.
pub const WRITE_QUEUE_MAX: usize = 1_024;
/// Writes put into one transaction.
pub const WRITE_BATCH_MAX: usize = 256;
/// Bytes of one encoded record.
pub const RECORD_BYTES_MAX: u64 = 4 << 20;
/// Least and most of the disk kept free of writes, and the share of the volume it is in between.
pub const DISK_RESERVE_BYTES_MIN: u64 = 1 << 20;
/// See [`DISK_RESERVE_BYTES_MIN`].
pub const DISK_RESERVE_BYTES_MAX: u64 = 32 << 20;
/// See [`DISK_RESERVE_BYTES_MIN`].
pub const DISK_RESERVE_DIVISOR: u64 = 16;
/// First and longest pause between attempts to reopen a store that a full disk stopped, in ms.
pub const REOPEN_BACKOFF_MS_MIN: u64 = 50;
/// See [`REOPEN_BACKOFF_MS_MIN`].
pub const REOPEN_BACKOFF_MS_MAX: u64 = 5_000;
/// A store file up to this size is checked whole before the first answer; a larger one behind it, after a clean stop.
pub const INTEGRITY_AT_OPEN_BYTES_MAX: u64 = 512 << 20;
/// Days an idempotency key is kept.
pub const IDEMPOTENCY_KEPT_DAYS: i64 = 7;
/// Lapsed idempotency keys taken out in one commit.
pub const IDEMPOTENCY_SWEEP_ROWS_MAX: usize = 64;
/// Outbox rows taken out in one commit.
pub const OUTBOX_TRIM_ROWS_MAX: usize = 4_096;
/// Rows of the audit kept.
pub const AUDIT_ROWS_MAX: u64 = 200_000;
/// Rows of the audit over that limit taken out in one commit.
pub const AUDIT_TRIM_ROWS_MAX: u64 = 256;
/// Reads of memory that may wait to be written to the audit.
pub const AUDIT_QUEUE_MAX: usize = 8_192;
/// Longest time a read waits to be written to the audit, in ms.
pub const AUDIT_FLUSH_MS: u64 = 500;
/// Keys listed in one row of the audit.
pub const AUDIT_KEYS_MAX: usize = 100;
/// Rows read in one step of a scan.
pub const SCAN_ROWS: usize = 256;
/// Daily backups kept.
pub const BACKUPS_KEPT: usize = 7;
/// Time between backups, in ms.
pub const BACKUP_INTERVAL_MS: i64 = 24 * 60 * 60 * 1_000;
/// Problems that a check of the store lists.
pub const VERIFY_PROBLEMS_MAX: usize = 100;
