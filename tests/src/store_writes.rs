//! Writes as the memory verbs make them, for tests of the store alone: memory, vector, fingerprint, audit and idempotency rows at once.
//!
//! Must not know: the socket, the index.

use std::ops::ControlFlow;
use tiro_daemon::store::{OpenOptions, ReadTx, Reads, Store, StoreError, WriteFailure};
use tiro_schema::record::{AuditRecord, MemoryRecord};

/// Dimension of the vectors written here.
pub const DIMENSION: usize = 8;

/// Options for a store that holds such writes.
pub fn options() -> OpenOptions {
    OpenOptions { embedder: ("test".to_owned(), DIMENSION as u32), ..OpenOptions::default() }
}

/// Text number `n`: long enough for a few pages once there are some.
pub fn text(n: u64) -> String {
    format!("memory number {n}: ") + &"something to remember ".repeat(1 + (n % 13) as usize)
}

/// An id or hash that belongs to a number.
fn bytes_of<const N: usize>(n: u64) -> [u8; N] {
    let mut bytes = [0; N];
    let mut state = n.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    for byte in &mut bytes {
        state ^= state >> 29;
        state = state.wrapping_mul(0xBF58_476D_1CE4_E5B9);
        *byte = (state >> 56) as u8;
    }
    bytes
}

/// The job that writes memory number `n`, as one operation.
pub fn remember_job(n: u64) -> impl FnMut(&mut tiro_daemon::store::WriteTx) -> Result<u64, StoreError> + Send + 'static {
    move |tx| {
        let space = tx.ensure_space(if n.is_multiple_of(3) { "work" } else { "personal" }, tx.now_ms())?;
        let seq = tx.next_seq();
        let record = MemoryRecord {
            key: seq,
            seq,
            version: 1,
            id: bytes_of(n),
            space: space.id,
            text: text(n),
            tags: vec![format!("n{n}")],
            created_at_ms: tx.now_ms(),
            recorded_at_ms: tx.now_ms(),
            vector_version: 1,
            vector_count: 1,
            ..MemoryRecord::default()
        };
        tx.put_memory(&record, Some(&[vec![n as f32; DIMENSION]]))?;
        tx.put_fingerprint(space.id, bytes_of(n), seq)?;
        tx.append_audit(AuditRecord {
            method: "memory/remember".into(),
            write: true,
            space: space.id,
            keys: vec![seq],
            ..AuditRecord::default()
        })?;
        tx.put_idempotency(&bytes_of(n), [1; 32], format!("{{\"n\":{n}}}"))?;
        Ok(seq)
    }
}

/// Writes memory number `n` and waits for the answer.
///
/// # Errors
/// The store's.
pub fn remember(store: &Store, n: u64) -> Result<u64, WriteFailure<StoreError>> {
    store.write_blocking("remember", remember_job(n))
}

/// Numbers of the memories there are, in the order they were written.
///
/// # Errors
/// The store's.
pub fn numbers(store: &Store) -> Result<Vec<u64>, StoreError> {
    store.read(numbers_in)
}

/// The same in a view; panics when a memory is not as it was written.
///
/// # Errors
/// The store's.
pub fn numbers_in(tx: &ReadTx) -> Result<Vec<u64>, StoreError> {
    let mut numbers = Vec::new();
    tx.all_memories(0, &mut |memory| {
        let n: u64 = memory.tags.first().and_then(|tag| tag.strip_prefix('n')?.parse().ok()).unwrap_or(u64::MAX);
        assert_eq!(memory.text, text(n), "a memory is not as it was written");
        numbers.push(n);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(numbers)
}

/// Reads everything about memory number `n` by every way there is, and compares it with what was written. False when it is not there at all.
///
/// # Errors
/// The store's; panics when it is there in part or otherwise.
pub fn check_memory(store: &Store, n: u64) -> Result<bool, StoreError> {
    store.read(|tx| {
        let Some(key) = tx.key_of_id(&bytes_of(n))? else { return Ok(false) };
        let Some(memory) = tx.memory(key)? else { return Ok(false) };
        assert_eq!((memory.text.as_str(), memory.id), (text(n).as_str(), bytes_of(n)), "memory {n}");
        assert_eq!(tx.vectors(key, memory.vector_version)?, [vec![n as f32; DIMENSION]], "vector of memory {n}");
        assert_eq!(tx.key_by_fingerprint(memory.space, bytes_of(n))?, Some(key), "fingerprint of memory {n}");
        let outbox = tx.outbox_after(memory.seq - 1, 1)?;
        assert!(outbox.first().is_some_and(|(seq, row)| *seq == memory.seq && row.key == key), "outbox row of memory {n}");
        let kept = tx.idempotency(&bytes_of(n), 0)?;
        assert_eq!(kept.map(|kept| kept.result_json), Some(format!("{{\"n\":{n}}}")), "idempotency key of memory {n}");
        Ok(true)
    })
}
