//! What the store keeps about writes themselves: the audit's chain, idempotency keys that lapse, the outbox, and the check that finds what
//! does not fit together.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use tiro_daemon::clock::{Clock, ManualClock};
use tiro_daemon::limits::{AUDIT_ROWS_MAX, AUDIT_TRIM_ROWS_MAX, KEY_KEPT_MS};
use tiro_daemon::store::{OpenOptions, Reads, Rows, STORE_FILE, Store, StoreError, tables};
use tiro_schema::record::AuditRecord;
use tiro_tests::store_writes::{numbers, options, remember};

const ROWS: redb::TableDefinition<&[u8], &[u8]> = redb::TableDefinition::new("audit");

fn problems(store: &Store) -> Vec<String> {
    store.verify(None, &options().progress, &|| false).unwrap().problems
}

/// Changes a closed store's file behind the store's back.
fn tamper(dir: &std::path::Path, change: impl FnOnce(&redb::WriteTransaction)) {
    let database = redb::Database::create(dir.join(STORE_FILE)).unwrap();
    let transaction = database.begin_write().unwrap();
    change(&transaction);
    transaction.commit().unwrap();
}

// MEM-11, A8: a row of the audit that was taken out is noticed, though every row left is as it was written
#[test]
fn a_row_taken_out_of_the_audit_is_noticed() {
    for row in [1_u64, 3, 6] {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path(), options()).unwrap();
        (1..=6).for_each(|n| assert!(remember(&store, n).is_ok()));
        assert_eq!(problems(&store), Vec::<String>::new());
        store.close().unwrap();
        tamper(dir.path(), |transaction| {
            transaction.open_table(ROWS).unwrap().remove(&row.to_be_bytes()[..]).unwrap().unwrap();
        });
        let found = problems(&Store::open(dir.path(), options()).unwrap());
        assert!(found.iter().any(|problem| problem.starts_with("audit: ")), "row {row}: {found:?}");
    }
}

// MEM-11: the audit is kept up to its limit, and what is left still follows from the checkpoint
#[test]
fn the_audit_keeps_to_its_limit_and_stays_a_chain() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path(), options()).unwrap();
    let batch = 20_000;
    for _ in 0..AUDIT_ROWS_MAX / batch {
        let filled = store
            .write_blocking("fill", move |tx| (0..batch).try_for_each(|_| tx.append_audit(AuditRecord::default()).map(drop)));
        filled.unwrap();
    }
    assert_eq!(store.read(|tx| tx.row_count(tables::AUDIT)).unwrap(), AUDIT_ROWS_MAX);
    for n in 1..=3 {
        remember(&store, n).unwrap();
    }
    let (rows, head) = store.read(|tx| Ok::<_, StoreError>((tx.row_count(tables::AUDIT)?, tx.audit_head()?))).unwrap();
    assert_eq!((rows, head.row, head.first_row), (AUDIT_ROWS_MAX, AUDIT_ROWS_MAX + 3, 4));
    store
        .write_blocking("more", |tx| {
            (0..AUDIT_TRIM_ROWS_MAX + 9).try_for_each(|_| tx.append_audit(AuditRecord::default()).map(drop))
        })
        .unwrap();
    let over = store.read(|tx| tx.row_count(tables::AUDIT)).unwrap();
    assert_eq!(over, AUDIT_ROWS_MAX + 9, "one commit takes out a bounded number");
    remember(&store, 4).unwrap();
    assert_eq!(store.read(|tx| tx.row_count(tables::AUDIT)).unwrap(), AUDIT_ROWS_MAX);
    assert_eq!(problems(&store), Vec::<String>::new());
}

// DESIGN 1: idempotency keys are kept seven days and then go away by themselves
#[test]
fn idempotency_keys_lapse_after_seven_days() {
    let dir = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::new(1_700_000_000_000));
    let store = Store::open(dir.path(), OpenOptions { clock: clock.clone(), ..options() }).unwrap();
    let keep = |key: u8, answer: &'static str| {
        store.write_blocking("keep", move |tx| tx.put_idempotency(&[key; 32], [0; 32], answer.to_owned())).unwrap();
    };
    let kept = |key: u8| store.read(|tx| tx.idempotency(&[key; 32], clock.now_ms())).unwrap().map(|kept| kept.result_json);
    let rows =
        || store.read(|tx| Ok::<_, StoreError>((tx.row_count(tables::IDEMPOTENCY)?, tx.row_count(tables::IDEMPOTENCY_EXPIRY)?)));
    keep(1, "first");
    clock.set(clock.now_ms() + KEY_KEPT_MS - 1);
    assert_eq!(kept(1).as_deref(), Some("first"));
    clock.set(clock.now_ms() + 1);
    assert_eq!(kept(1), None, "seven days are over");
    keep(1, "again");
    assert_eq!((kept(1).as_deref(), rows().unwrap()), (Some("again"), (1, 1)));
    clock.set(clock.now_ms() + KEY_KEPT_MS + 1);
    keep(2, "other");
    assert_eq!((kept(1), kept(2).as_deref(), rows().unwrap()), (None, Some("other"), (1, 1)));
    assert_eq!(problems(&store), Vec::<String>::new());
}

// DESIGN 2: outbox rows stand until they are trimmed, and then up to the sequence named
#[test]
fn the_outbox_is_kept_until_it_is_trimmed() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path(), options()).unwrap();
    (1..=9).for_each(|n| assert!(remember(&store, n).is_ok()));
    let seqs = || store.read(|tx| tx.outbox_after(0, 99)).unwrap().iter().map(|(seq, _)| *seq).collect::<Vec<_>>();
    assert_eq!(seqs(), (1..=9).collect::<Vec<_>>());
    store.trim_outbox(6).unwrap();
    assert_eq!(seqs(), [7, 8, 9]);
    assert_eq!(problems(&store), Vec::<String>::new());
}

// STORE-2: rows that are whole but do not fit together are found
#[test]
fn a_pointer_that_leads_nowhere_is_found() {
    for (table, part) in
        [("memory_ids", "id"), ("memory_spaces", "space"), ("memories", "version"), ("vectors", "vectors"), ("outbox", "")]
    {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path(), options()).unwrap();
        (1..=4).for_each(|n| assert!(remember(&store, n).is_ok()));
        store.close().unwrap();
        tamper(dir.path(), |transaction| {
            let mut rows = transaction.open_table(redb::TableDefinition::<&[u8], &[u8]>::new(table)).unwrap();
            rows.pop_first().unwrap().unwrap();
        });
        let store = Store::open(dir.path(), options()).unwrap();
        let found = problems(&store);
        if table == "outbox" {
            // A trimmed outbox looks the same: the row is not missed here, the index notices by its watermark.
            assert_eq!(found, Vec::<String>::new());
        } else {
            assert!(found.iter().any(|problem| problem.contains(part)), "{table}: {found:?}");
        }
    }
}

// STORE-2: of many that open at once one has the store
#[test]
fn of_racing_openings_one_has_the_store() {
    let dir = tempfile::tempdir().unwrap();
    let opened: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..20).map(|_| scope.spawn(|| Store::open(dir.path(), options()))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut stores = opened.into_iter().flatten();
    let store = stores.next().expect("one opened it");
    assert!(stores.next().is_none(), "two have it");
    remember(&store, 1).unwrap();
    assert_eq!(numbers(&store).unwrap(), [1]);
}
