//! The store rewritten into a fresh file: nothing that was taken out is left in it, nothing that was written meanwhile is lost, and what
//! goes wrong leaves the store as it was.

#![allow(clippy::unwrap_used)]

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};
use tiro_daemon::store::{Health, OpenOptions, Reads, RewriteReport, STORE_FILE, Store, StoreError};
use tiro_schema::record::UseRecord;
use tiro_tests::heavy;
use tiro_tests::storage::{FailAt, SlowSync};
use tiro_tests::store_writes::{DIMENSION, check_memory, numbers, options, remember, text};

fn rewrite(store: &Store) -> Result<RewriteReport, StoreError> {
    let alone = store.long_work()?;
    store.rewrite(&alone, &options().progress, &|| false)
}

fn assert_whole(store: &Store) {
    assert_eq!(store.verify(None, &options().progress, &|| false).unwrap().problems, Vec::<String>::new());
}

/// Takes memories out. Their outbox rows stay, as after a purge.
fn take_out(store: &Store, keys: Vec<u64>) {
    let taken = store.write_blocking("take out", move |tx| {
        for key in &keys {
            let record = tx.memory(*key)?.ok_or(StoreError::Interrupted)?;
            tx.remove_memory(&record, &[])?;
        }
        Ok::<_, StoreError>(())
    });
    taken.unwrap();
}

/// Where these bytes stand in the store file.
fn stands(dir: &Path, bytes: &[u8]) -> bool {
    let file = std::fs::read(dir.join(STORE_FILE)).unwrap();
    file.windows(bytes.len()).any(|window| window == bytes)
}

/// A vector as its row holds it.
fn vector(n: u64) -> Vec<u8> {
    [n as f32; DIMENSION].iter().flat_map(|x| x.to_le_bytes()).collect()
}

// MEM-9, D15
#[test]
fn what_was_taken_out_stands_in_the_file_until_it_is_rewritten() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path(), options()).unwrap();
    let keys: Vec<u64> = (1..=200).map(|n| remember(&store, n).unwrap()).collect();
    take_out(&store, [20, 77, 200].map(|gone| keys[gone - 1]).into());
    // The transaction wrote other pages: what it took out is in free ones.
    for gone in [20, 77, 200] {
        assert!(stands(dir.path(), text(gone).as_bytes()), "the words of {gone} are in the file");
        assert!(stands(dir.path(), &vector(gone)), "the vector of {gone} is in the file");
    }
    let report = rewrite(&store).unwrap();
    assert!(report.bytes_after > 0 && report.writes_waited_ms <= report.elapsed_ms);
    for gone in [20, 77, 200] {
        assert!(!stands(dir.path(), text(gone).as_bytes()), "the words of {gone}");
        assert!(!stands(dir.path(), &vector(gone)), "the vector of {gone}");
    }
    assert!(stands(dir.path(), text(78).as_bytes()) && stands(dir.path(), &vector(78)));
    let left = |store: &Store| assert_eq!(numbers(store).unwrap().len(), 197);
    left(&store);
    store.close().unwrap();
    let store = Store::open(dir.path(), options()).unwrap();
    left(&store);
    assert!(check_memory(&store, 199).unwrap() && !check_memory(&store, 200).unwrap());
}

// MEM-9, STORE-2: a row that is written while its transaction is being committed is copied as the commit leaves it
#[test]
fn updates_and_new_rows_made_while_the_store_is_rewritten_are_all_there() {
    let dir = tempfile::tempdir().unwrap();
    let slow = SlowSync::new(Duration::from_millis(2));
    let store = Store::open(dir.path(), OpenOptions { backend: Arc::new(slow), ..options() }).unwrap();
    let keys: Vec<u64> = (1..=400).map(|n| remember(&store, n).unwrap()).collect();
    let over = AtomicBool::new(false);
    let next = AtomicU64::new(1_000);
    let counts: Vec<(u64, u64)> = std::thread::scope(|scope| {
        let (over, next) = (&over, &next);
        let updating: Vec<_> = keys[..6]
            .iter()
            .map(|&key| {
                let store = store.clone();
                scope.spawn(move || {
                    let mut use_count = 0;
                    while !over.load(Ordering::SeqCst) {
                        use_count += 1;
                        let usage = UseRecord { last_used_at_ms: 1, use_count };
                        store.write_blocking("use", move |tx| tx.put_usage(key, &usage)).unwrap();
                        remember(&store, next.fetch_add(1, Ordering::SeqCst)).unwrap();
                    }
                    (key, use_count)
                })
            })
            .collect();
        let failed = (0..12).find_map(|round| rewrite(&store).err().map(|error| (round, error)));
        over.store(true, Ordering::SeqCst);
        assert!(failed.is_none(), "{failed:?}");
        updating.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let check = |store: &Store| {
        for (key, count) in &counts {
            let stored = store.read(|tx| tx.usage(*key)).unwrap();
            assert_eq!(stored.use_count, *count, "the last acknowledged use of {key}");
        }
        for n in (1..=400).chain(1_000..next.load(Ordering::SeqCst)) {
            assert!(check_memory(store, n).unwrap(), "memory {n}");
        }
        assert_whole(store);
    };
    check(&store);
    store.close().unwrap();
    check(&Store::open(dir.path(), options()).unwrap());
}

/// Rewrites with the n-th call failing. True when no call failed any more.
fn rewrite_with_fault(nth: u64) -> bool {
    let dir = tempfile::tempdir().unwrap();
    let faults = FailAt::new(ErrorKind::Other);
    let store = Store::open(dir.path(), OpenOptions { backend: Arc::new(faults.clone()), ..options() }).unwrap();
    let keys: Vec<u64> = (1..=12).map(|n| remember(&store, n).unwrap()).collect();
    take_out(&store, vec![keys[9]]);
    faults.arm(nth, false);
    let rewritten = rewrite(&store);
    let clean = !faults.disarm();
    assert!(!clean || rewritten.is_ok(), "call {nth}: {rewritten:?}");
    let there = |store: &Store, last: u64| {
        for n in 1..=last {
            assert_eq!(check_memory(store, n).unwrap(), n != 10, "call {nth}: memory {n}");
        }
    };
    there(&store, 12);
    assert_eq!(stands(dir.path(), text(10).as_bytes()), rewritten.is_err(), "call {nth}: {rewritten:?}");
    // A fault of the fresh file is none of the store's.
    assert_eq!(store.health(), Health::Well, "call {nth}");
    remember(&store, 13).unwrap();
    assert!(rewrite(&store).is_ok() && !stands(dir.path(), text(10).as_bytes()), "call {nth}: it can be done again");
    let _ = store.close();
    let store = Store::open(dir.path(), options()).unwrap();
    there(&store, 13);
    let names: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!names.iter().any(|name| name == "store.rewriting"), "call {nth}: {names:?}");
    clean
}

// MEM-9, D6
#[test]
fn an_error_of_the_disk_at_every_place_of_a_rewriting_leaves_the_store_as_it_was() {
    let step = if heavy() { 1 } else { 7 };
    let clean = (0..2_000).step_by(step).find(|nth| rewrite_with_fault(*nth)).expect("some run meets no fault");
    assert!(clean > 20, "only {clean} places were tried");
    println!("{clean} places");
}

// MEM-9: a read that takes its time puts the change of files off; writes go on meanwhile
#[test]
fn a_long_read_holds_up_neither_writes_nor_in_the_end_the_rewriting() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path(), options()).unwrap();
    for n in 1..=50 {
        remember(&store, n).unwrap();
    }
    let (began, has_begun) = channel();
    let (release, released) = channel::<()>();
    std::thread::scope(|scope| {
        let reading = store.clone();
        scope.spawn(move || {
            reading.read(|tx| {
                began.send(()).unwrap();
                released.recv().unwrap();
                tx.newest_seq()
            })
        });
        has_begun.recv().unwrap();
        let rewriting = store.clone();
        let rewritten = scope.spawn(move || rewrite(&rewriting));
        let since = Instant::now();
        let mut slowest = Duration::ZERO;
        for n in 51.. {
            if since.elapsed() > Duration::from_secs(3) {
                break;
            }
            let before = Instant::now();
            remember(&store, n).unwrap();
            slowest = slowest.max(before.elapsed());
        }
        let changed_under_the_read = rewritten.is_finished();
        release.send(()).unwrap();
        rewritten.join().unwrap().unwrap();
        assert!(!changed_under_the_read, "the file was changed under a read");
        assert!(slowest < Duration::from_millis(1_500), "a write waited {slowest:?}");
    });
    assert_whole(&store);
}
