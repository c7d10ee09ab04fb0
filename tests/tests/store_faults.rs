//! Errors of the disk, one at every place: truthful answers, reads that go on, and a store that is whole afterwards.

#![allow(clippy::unwrap_used)]

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tiro_daemon::store::{Health, OpenOptions, Reads, Store, StoreChange, StoreError, WriteFailure};
use tiro_tests::storage::{FailAt, SlowSync};
use tiro_tests::store_writes::{numbers, options, remember, remember_job};

fn faulty(faults: &FailAt) -> OpenOptions {
    OpenOptions { backend: Arc::new(faults.clone()), ..options() }
}

/// Writes a few memories with the n-th call failing. True when no call failed any more.
fn run_with_fault(kind: ErrorKind, nth: u64) -> bool {
    let dir = tempfile::tempdir().unwrap();
    let faults = FailAt::new(kind);
    let store = Store::open(dir.path(), faulty(&faults)).unwrap();
    remember(&store, 1).unwrap();
    faults.arm(nth, false);
    let mut acknowledged = vec![1];
    let mut unknown = Vec::new();
    for n in 2..=6 {
        match remember(&store, n) {
            Ok(_) => acknowledged.push(n),
            Err(WriteFailure::Unknown(_)) => unknown.push(n),
            Err(WriteFailure::NotDone(_) | WriteFailure::ReadOnly { .. } | WriteFailure::Full { .. }) => {}
            Err(other) => panic!("call {nth}: {other}"),
        }
        // Reads go on, and show what is acknowledged and nothing that was refused.
        let seen = numbers(&store).unwrap();
        assert!(acknowledged.iter().all(|n| seen.contains(n)), "call {nth}: {acknowledged:?} acknowledged, {seen:?} seen");
        assert!(seen.iter().all(|n| acknowledged.contains(n) || unknown.contains(n)), "call {nth}: {seen:?} seen");
    }
    let clean = !faults.disarm();
    let _ = store.close();
    let store = Store::open(dir.path(), options()).unwrap();
    let seen = numbers(&store).unwrap();
    assert!(acknowledged.iter().all(|n| seen.contains(n)), "call {nth}: {acknowledged:?} acknowledged, {seen:?} after reopening");
    assert!(seen.iter().all(|n| acknowledged.contains(n) || unknown.contains(n)), "call {nth}: {seen:?} after reopening");
    assert_eq!(store.verify(None, &options().progress, &|| false).unwrap().problems, Vec::<String>::new(), "call {nth}");
    clean
}

// STORE-2, D6
#[test]
fn an_error_of_the_disk_at_every_place_is_answered_truthfully() {
    for kind in [ErrorKind::Other, ErrorKind::StorageFull] {
        let clean = (0..2_000).find(|nth| run_with_fault(kind, *nth)).expect("some run meets no fault");
        assert!(clean > 20, "only {clean} places were tried");
    }
}

// STORE-2, D6: after an error writes are refused with one code until the store is reopened, and the unknown write is then seen
#[test]
fn after_an_error_the_store_is_read_only_until_reopened() {
    let dir = tempfile::tempdir().unwrap();
    let faults = FailAt::new(ErrorKind::Other);
    let store = Store::open(dir.path(), faulty(&faults)).unwrap();
    let told = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&told);
    store.on_change(move |change| {
        assert_eq!(change, StoreChange::Reopened);
        count.fetch_add(1, Ordering::SeqCst);
    });
    let hooked = Arc::new(AtomicBool::new(false));
    remember(&store, 1).unwrap();
    let before = faults.calls();
    remember(&store, 2).unwrap();
    let last = faults.calls() - before - 1;
    faults.arm(last, true);
    let hook = Arc::clone(&hooked);
    let mut job = remember_job(3);
    let failed = store.write_blocking("remember", move |tx| {
        let hook = Arc::clone(&hook);
        tx.after_commit(Box::new(move || hook.store(true, Ordering::SeqCst)));
        job(tx)
    });
    assert!(matches!(failed, Err(WriteFailure::Unknown(StoreError::Io { .. }))), "{failed:?}");
    assert!(!hooked.load(Ordering::SeqCst), "a hook ran after a failed commit");
    assert!(matches!(remember(&store, 4), Err(WriteFailure::ReadOnly { .. })));
    assert!(matches!(store.health(), Health::ReadOnly { .. }));
    assert_eq!(numbers(&store).unwrap(), [1, 2]);
    faults.disarm();
    store.reopen().unwrap();
    assert_eq!(told.load(Ordering::SeqCst), 1);
    let seen = numbers(&store).unwrap();
    assert!(seen == [1, 2] || seen == [1, 2, 3], "{seen:?}");
    remember(&store, 5).unwrap();
    assert_eq!(numbers(&store).unwrap().len(), seen.len() + 1);
}

// MEM-12: eight writers share transactions
#[test]
fn writes_that_wait_are_committed_together() {
    let dir = tempfile::tempdir().unwrap();
    let slow = SlowSync::new(Duration::from_millis(2));
    let store = Store::open(dir.path(), OpenOptions { backend: Arc::new(slow), ..options() }).unwrap();
    let before = store.stats().commits;
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let store = store.clone();
            scope.spawn(move || (0..25).for_each(|n| assert!(remember(&store, 1 + writer * 25 + n).is_ok())));
        }
    });
    let commits = store.stats().commits - before;
    assert_eq!(numbers(&store).unwrap().len(), 200);
    assert!(commits * 3 <= 200, "{commits} commits for 200 writes");
}

// MEM-12: one that fails after it wrote spoils nobody else's write
#[test]
fn a_job_that_fails_after_it_wrote_does_not_take_others_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let slow = SlowSync::new(Duration::from_millis(5));
    let store = Store::open(dir.path(), OpenOptions { backend: Arc::new(slow), ..options() }).unwrap();
    std::thread::scope(|scope| {
        for n in 1..=24 {
            let store = store.clone();
            scope.spawn(move || {
                let mut job = remember_job(n);
                let answer = store.write_blocking("remember", move |tx| {
                    let seq = job(tx)?;
                    if n.is_multiple_of(4) { Err(StoreError::Invalid(format!("{n}"))) } else { Ok(seq) }
                });
                assert_eq!(answer.is_ok(), !n.is_multiple_of(4), "{answer:?}");
            });
        }
    });
    let mut seen = numbers(&store).unwrap();
    seen.sort_unstable();
    assert_eq!(seen, (1..=24).filter(|n| n % 4 != 0).collect::<Vec<u64>>());
    assert_eq!(store.verify(None, &options().progress, &|| false).unwrap().problems, Vec::<String>::new());
}

// API-3: the queue of writes has an end, and what it refuses is not done
#[test]
fn a_full_queue_refuses_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path(), options()).unwrap();
    let (open, gate) = std::sync::mpsc::channel::<()>();
    let (began, begun) = std::sync::mpsc::channel::<()>();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let blocked = {
        let store = store.clone();
        std::thread::spawn(move || {
            store.write_blocking("wait", move |_| {
                let _ = began.send(());
                let _ = gate.recv();
                Ok::<(), StoreError>(())
            })
        })
    };
    begun.recv().unwrap();
    runtime.block_on(async {
        let mut waiting = Vec::new();
        let refused = loop {
            let n = waiting.len() as u64 + 1;
            let mut write = Box::pin(store.write("remember", remember_job(n)));
            match futures_poll(&mut write).await {
                Some(answer) => break answer,
                None => waiting.push(write),
            }
        };
        assert!(matches!(refused, Err(WriteFailure::Overloaded)), "{refused:?}");
        assert_eq!(waiting.len(), tiro_daemon::limits::WRITE_QUEUE_MAX);
        open.send(()).unwrap();
        for write in waiting {
            write.await.unwrap();
        }
    });
    blocked.join().unwrap().unwrap();
    assert_eq!(numbers(&store).unwrap().len(), tiro_daemon::limits::WRITE_QUEUE_MAX);
}

/// Polls a future once.
async fn futures_poll<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    std::future::poll_fn(|context| {
        std::task::Poll::Ready(match std::pin::Pin::new(&mut *future).poll(context) {
            std::task::Poll::Ready(output) => Some(output),
            std::task::Poll::Pending => None,
        })
    })
    .await
}

// MEM-11: a read is in the audit within a second, without anyone writing
#[test]
fn reads_reach_the_audit_within_a_second() {
    const { assert!(tiro_daemon::limits::AUDIT_FLUSH_MS < 1_000) };
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path(), options()).unwrap();
    remember(&store, 1).unwrap();
    store.audit_read(tiro_schema::record::AuditRecord { method: "memory/recall".into(), keys: vec![1], ..Default::default() });
    // No other write comes along: the commit that is waited for is the audit's own.
    let commits = store.stats().commits;
    tiro_tests::wait_for("the read in the audit", tiro_tests::DEADLINE, || (store.stats().commits > commits).then_some(()));
    let rows = store.read(|tx| tx.audit_by_key(1, u64::MAX, 9)).unwrap();
    assert_eq!(
        rows.iter().map(|row| (row.row, row.method.as_str())).collect::<Vec<_>>(),
        [(2, "memory/recall"), (1, "memory/remember")]
    );
}
