//! The first format: a store written by the build that introduced it still opens, and says what was written then.
//!
//! `tests/fixtures/store-v1/store.redb` was made once by `make_the_fixture` below and is never made again: a change of the format gets
//! a fixture of its own beside it.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use tiro_daemon::clock::ManualClock;
use tiro_daemon::store::{Direction, OpenOptions, Reads, STORE_FILE, SessionReads, Store, StoreError, WriteTx};
use tiro_schema::record::*;
use tiro_tests::store_writes::{check_memory, numbers, options, remember_job};

/// When it was made, by its clock.
const MADE_AT_MS: i64 = 1_764_547_200_000;
const MEMORIES: u64 = 12;

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/store-v1").join(STORE_FILE)
}

fn fixed() -> OpenOptions {
    OpenOptions { clock: Arc::new(ManualClock::new(MADE_AT_MS)), ..options() }
}

fn second_version(tx: &mut WriteTx) -> Result<(), StoreError> {
    let mut memory = tx.memory(3)?.ok_or(StoreError::Interrupted)?;
    memory.version = 2;
    memory.seq = tx.next_seq();
    memory.status = 3;
    memory.superseded_by = Some(4);
    tx.put_memory(&memory, None)?;
    tx.put_usage(4, &UseRecord { last_used_at_ms: MADE_AT_MS, use_count: 3 })?;
    tx.put_setting("room", "茶".as_bytes())
}

fn one_session(tx: &mut WriteTx) -> Result<(), StoreError> {
    let key = tx.next_seq();
    let session = SessionRecord {
        key,
        id: [7; 16],
        space: 1,
        title: "tea".into(),
        message_count: 1,
        turn_count: 1,
        event_seq: 1,
        ..Default::default()
    };
    tx.put_session(&session)?;
    tx.put_message(key, &MessageRecord { turn: [8; 16], content_json: "[]".into(), ..Default::default() })?;
    tx.put_turn(&TurnRecord {
        id: [8; 16],
        session: key,
        text: "done".into(),
        recalled: vec![4],
        created_at_ms: MADE_AT_MS,
        ..Default::default()
    })?;
    tx.put_event(key, &EventRecord { event_seq: 1, method: "turn/started".into(), params_json: "{}".into() })
}

// STORE-3
#[test]
fn the_first_format_opens_and_reads_right() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::copy(fixture(), dir.path().join(STORE_FILE)).unwrap();
    let store = Store::open(dir.path(), options()).unwrap();
    let identity = store.identity();
    assert_eq!((identity.format, identity.epoch, identity.created_at_ms), (1, 1, MADE_AT_MS));
    assert_eq!((identity.embedder.as_str(), store.seq()), ("test", MEMORIES + 2));
    assert_eq!(numbers(&store).unwrap(), (1..=MEMORIES).collect::<Vec<_>>());
    assert!((1..=MEMORIES).filter(|n| *n != 3).all(|n| check_memory(&store, n).unwrap()));
    let read = store.read(|tx| {
        let versions = tx.memory_versions(3)?;
        assert_eq!(versions.iter().map(|memory| (memory.version, memory.status)).collect::<Vec<_>>(), [(1, 0), (2, 3)]);
        assert_eq!(tx.usage(4)?, UseRecord { last_used_at_ms: MADE_AT_MS, use_count: 3 });
        assert_eq!(tx.setting("room")?, Some("茶".as_bytes().to_vec()));
        let session = tx.session_by_id(&[7; 16])?.unwrap();
        assert_eq!(tx.messages(session.key, 0..=9, Direction::Ascending, 9)?.len(), 1);
        assert_eq!(tx.turns_of_session(session.key, Direction::Ascending, 9)?[0].text, "done");
        assert_eq!(tx.events(session.key, 0, 9)?[0].method, "turn/started");
        assert_eq!(tx.audit(u64::MAX, 99)?.len() as u64, MEMORIES);
        assert_eq!(tx.spaces()?.iter().map(|space| space.name.as_str()).collect::<Vec<_>>(), ["personal", "work"]);
        Ok::<_, StoreError>(())
    });
    read.unwrap();
    assert_eq!(store.verify(None, &options().progress, &|| false).unwrap().problems, Vec::<String>::new());
    store.write_blocking("go on", |tx| tx.put_setting("room", b"written by a later build")).unwrap();
}

/// Made the fixture: `cargo test -p tiro-tests --test store_fixture make_the_fixture -- --ignored`. Refuses to make it again.
#[test]
#[ignore = "the fixture of a format is made once"]
fn make_the_fixture() {
    assert!(!fixture().exists(), "the fixture is there, and is never made again");
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path(), fixed()).unwrap();
    for n in 1..=MEMORIES {
        store.write_blocking("remember", remember_job(n)).unwrap();
    }
    store.write_blocking("second version", second_version).unwrap();
    store.write_blocking("session", one_session).unwrap();
    std::fs::create_dir_all(fixture().parent().unwrap()).unwrap();
    // A backup is a store file without the dead pages of the one it was made of.
    let report = store.backup(Some(&fixture()), &options().progress, &|| false).unwrap();
    assert!(report.bytes < 200_000, "{report:?}");
}
