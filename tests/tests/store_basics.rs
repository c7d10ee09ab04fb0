//! The store as a library: what is written is read back, across closing and opening, and nothing else is.

#![allow(clippy::unwrap_used)]

use std::ops::ControlFlow;
use tiro_daemon::store::{Direction, OpenError, OpenOptions, Reads, Store, StoreError, WriteFailure};
use tiro_schema::record::{AuditRecord, MemoryRecord};

fn options() -> OpenOptions {
    OpenOptions { embedder: ("static".into(), 4), ..OpenOptions::default() }
}

/// A memory of the space `personal` with one vector and its audit row.
fn remember(store: &Store, text: &str) -> Result<MemoryRecord, WriteFailure<StoreError>> {
    let text = text.to_owned();
    store.write_blocking("remember", move |tx| {
        let space = tx.ensure_space("personal", tx.now_ms())?;
        let seq = tx.next_seq();
        let mut id = [0; 16];
        id[..8].copy_from_slice(&seq.to_be_bytes());
        let record = MemoryRecord {
            key: seq,
            seq,
            version: 1,
            id,
            space: space.id,
            text: text.clone(),
            vector_version: 1,
            vector_count: 1,
            ..MemoryRecord::default()
        };
        tx.put_memory(&record, Some(&[vec![1.0, 2.0, 3.0, seq as f32]]))?;
        tx.append_audit(AuditRecord { write: true, space: space.id, keys: vec![seq], ..AuditRecord::default() })?;
        Ok(record)
    })
}

// STORE-1, MEM-11, MEM-12
#[test]
fn what_is_written_is_read_back_also_after_reopening() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path(), options()).unwrap();
    let identity = store.identity();
    let first = remember(&store, "the first").unwrap();
    let second = remember(&store, "the second").unwrap();
    assert_eq!(store.seq(), 2);
    store.close().unwrap();

    let store = Store::open(dir.path(), options()).unwrap();
    assert_eq!(store.identity(), identity);
    assert_eq!(store.seq(), 2);
    assert_eq!(store.seq_token(2), "1-2");
    let check = |tx: &tiro_daemon::store::ReadTx| -> Result<(), StoreError> {
        assert_eq!(tx.memory(first.key)?.as_ref(), Some(&first));
        assert_eq!(tx.key_of_id(&second.id)?, Some(second.key));
        assert_eq!(tx.keys_by_id_prefix("00000000-0000-0002", 2)?, vec![(second.id, second.key)]);
        assert_eq!(tx.keys_by_id_prefix("0000", 9)?.len(), 2);
        assert_eq!(tx.keys_by_id_prefix("xyz", 9)?, vec![]);
        assert_eq!(tx.vectors(2, 1)?, vec![vec![1.0, 2.0, 3.0, 2.0]]);
        assert_eq!(tx.outbox_after(1, 9)?.len(), 1);
        assert_eq!(tx.counts(1)?.shown(), 2);
        assert_eq!(tx.audit(u64::MAX, 9)?.iter().map(|row| row.row).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(tx.audit_by_key(1, u64::MAX, 9)?.len(), 1);
        let mut texts = Vec::new();
        tx.memories_of_space(1, 0..=u64::MAX, Direction::Descending, &mut |memory| {
            texts.push(memory.text);
            Ok(ControlFlow::Continue(()))
        })?;
        assert_eq!(texts, ["the second", "the first"]);
        Ok(())
    };
    store.read(check).unwrap();
}

// STORE-2: one store, one owner, from the same process too
#[test]
fn a_second_open_is_refused_and_names_the_owner() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path(), options()).unwrap();
    let refused = Store::open(dir.path(), options()).err().unwrap();
    assert!(matches!(&refused, OpenError::InUse { owner, .. } if *owner == format!("pid {}", std::process::id())), "{refused}");
    store.close().unwrap();
    Store::open(dir.path(), options()).unwrap();
}

// STORE-1
#[test]
fn a_job_that_refuses_or_panics_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path(), options()).unwrap();
    let refused = store.write_blocking("refuse", |tx| {
        tx.put_setting("half", b"done")?;
        tx.next_seq();
        Err::<(), _>(StoreError::Invalid("no".into()))
    });
    assert_eq!(refused, Err(WriteFailure::Job(StoreError::Invalid("no".into()))));
    let panicked = store.write_blocking("panic", |tx| {
        tx.put_setting("half", b"done")?;
        assert!(tx.now_ms() < 0, "on purpose");
        Ok::<(), StoreError>(())
    });
    assert!(matches!(panicked, Err(WriteFailure::NotDone(StoreError::JobPanicked { label: "panic", .. }))), "{panicked:?}");
    let half = store.read(|tx| tx.setting("half")).unwrap();
    assert_eq!(half, None);
    assert_eq!(remember(&store, "goes on").unwrap().seq, 1);
}
