//! What the store keeps about writes themselves: the audit's chain, idempotency keys that lapse, the outbox, and the check that finds what
//! does not fit together.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use tiro_daemon::clock::{Clock, ManualClock};
use tiro_daemon::limits::{AUDIT_CUT_ROWS, KEY_KEPT_MS};
use tiro_daemon::store::{AuditRetention, Checks, OpenOptions, Reads, Rows, STORE_FILE, Store, StoreError, codec, tables};
use tiro_schema::record::{AuditHeadRecord, AuditRecord, AuditRecordV1};
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

/// A store of six memories, closed, and what a check finds after its audit was tampered with.
fn found_after(change: impl FnOnce(&redb::WriteTransaction)) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path(), options()).unwrap();
    (1..=6).for_each(|n| assert!(remember(&store, n).is_ok()));
    assert_eq!(problems(&store), Vec::<String>::new());
    store.close().unwrap();
    tamper(dir.path(), change);
    problems(&Store::open(dir.path(), options()).unwrap())
}

/// One row as it lies in the file, and the same put back under any number with a right checksum.
fn row_of(transaction: &redb::WriteTransaction, row: u64) -> AuditRecord {
    let table = transaction.open_table(ROWS).unwrap();
    let key = row.to_be_bytes();
    let value = redb::ReadableTable::get(&table, &key[..]).unwrap().unwrap();
    codec::unseal(tables::AUDIT, &key, value.value(), Checks::On).unwrap()
}

fn put_row(transaction: &redb::WriteTransaction, row: u64, record: &AuditRecord) {
    let key = row.to_be_bytes();
    let value = codec::seal(tables::AUDIT, &key, record).unwrap();
    transaction.open_table(ROWS).unwrap().insert(&key[..], &value[..]).unwrap();
}

// MEM-11, A8: a row of the audit that was taken out is noticed and named, though every row left is as it was written
#[test]
fn a_row_taken_out_of_the_audit_is_noticed() {
    for (rows, said) in [
        (1..=1_u64, "audit: row 1 was taken out"),
        (3..=3, "audit: row 3 was taken out"),
        (2..=4, "audit: rows 2 to 4 were taken out"),
        (6..=6, "audit: it ends at row 5; the rows up to 6 were taken out"),
    ] {
        let found = found_after(|transaction| {
            for row in rows.clone() {
                transaction.open_table(ROWS).unwrap().remove(&row.to_be_bytes()[..]).unwrap().unwrap();
            }
        });
        assert_eq!(found, [said], "{rows:?}");
    }
}

// MEM-11: a row that says something else than was written is named, though its checksum is right; the rows after it are not blamed
#[test]
fn a_row_of_the_audit_that_was_changed_is_named() {
    type Change = fn(&mut AuditRecord);
    let changes: [(&str, Change); 3] = [
        ("method", |record| record.method = "memory/get".to_owned()),
        ("keys", |record| record.keys.clear()),
        ("actor", |record| record.actor.client = "somebody else".to_owned()),
    ];
    for (name, change) in changes {
        let found = found_after(|transaction| {
            let mut record = row_of(transaction, 4);
            change(&mut record);
            put_row(transaction, 4, &record);
        });
        assert_eq!(found, ["audit: row 4 is not as it was written after the row before it"], "{name}");
    }
}

// MEM-11: two rows that changed places are both named, whether they keep their numbers or not
#[test]
fn rows_of_the_audit_that_changed_places_are_named() {
    let swapped = |renumber: bool| {
        found_after(|transaction| {
            let (mut second, mut fifth) = (row_of(transaction, 2), row_of(transaction, 5));
            if renumber {
                (second.row, fifth.row) = (5, 2);
            }
            put_row(transaction, 2, &fifth);
            put_row(transaction, 5, &second);
        })
    };
    let kept = swapped(false);
    assert!(kept.iter().any(|fault| fault == "audit: row 5 stands in the place of row 2"), "{kept:?}");
    assert!(kept.iter().any(|fault| fault == "audit: row 2 stands in the place of row 5"), "{kept:?}");
    let renumbered = swapped(true);
    for row in [2, 5] {
        let said = format!("audit: row {row} is not as it was written after the row before it");
        assert!(renumbered.contains(&said), "{renumbered:?}");
    }
}

/// Options with a clock of the test's and this retention.
fn kept_for(clock: &Arc<ManualClock>, rows: u64, days: Option<u32>) -> OpenOptions {
    OpenOptions { clock: clock.clone(), audit: AuditRetention { rows, days }, ..options() }
}

fn append(store: &Store, rows: u64) {
    let appended = store.write_blocking("fill", move |tx| {
        let at_ms = tx.now_ms();
        (0..rows).try_for_each(|_| tx.append_audit(AuditRecord { at_ms, ..AuditRecord::default() }).map(drop))
    });
    appended.unwrap();
}

fn standing(store: &Store) -> (u64, AuditHeadRecord) {
    store.read(|tx| Ok::<_, StoreError>((tx.row_count(tables::AUDIT)?, tx.audit_head()?))).unwrap()
}

// MEM-11: the audit is kept up to its limit; a row tells what went, and what is left still follows from the checkpoint
#[test]
fn the_audit_keeps_to_its_limit_and_stays_a_chain() {
    let dir = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::new(1_700_000_000_000));
    let store = Store::open(dir.path(), kept_for(&clock, 1_000, None)).unwrap();
    append(&store, 1_000 + AUDIT_CUT_ROWS - 1);
    assert_eq!(standing(&store).0, 1_000 + AUDIT_CUT_ROWS - 1, "a few more wait until it is worth a row");
    append(&store, 1);
    let (rows, head) = standing(&store);
    assert_eq!((rows, head.first_row), (1_001, AUDIT_CUT_ROWS + 1));
    let told = store.read(|tx| tx.audit_row(head.row)).unwrap().unwrap();
    let cut = told.cut.unwrap();
    assert_eq!((told.method.as_str(), cut.first, cut.last, cut.hash), ("audit/cut", 1, AUDIT_CUT_ROWS, head.checkpoint));
    append(&store, 9_000);
    assert!(standing(&store).0 <= 1_000 + AUDIT_CUT_ROWS, "what one commit adds it can also take out");
    assert_eq!(problems(&store), Vec::<String>::new());
    // The row that told of the newest cut is taken out, and the head is set as if it had never been.
    let head = standing(&store).1;
    store.close().unwrap();
    tamper(dir.path(), |transaction| {
        let mut table = transaction.open_table(ROWS).unwrap();
        table.remove(&head.row.to_be_bytes()[..]).unwrap().unwrap();
        drop(table);
        let last = row_of(transaction, head.row - 1);
        let name = tables::SETTING_AUDIT.as_bytes();
        let forged = AuditHeadRecord { row: head.row - 1, chain: last.chain, ..head };
        let value = codec::seal(tables::SETTINGS, name, &forged).unwrap();
        let mut settings = transaction.open_table(redb::TableDefinition::<&[u8], &[u8]>::new("settings")).unwrap();
        settings.insert(name, &value[..]).unwrap();
    });
    let found = problems(&Store::open(dir.path(), kept_for(&clock, 1_000, None)).unwrap());
    assert!(found.iter().any(|fault| fault.ends_with("were taken out, and no row tells of it")), "{found:?}");
}

// MEM-11: days bound the audit too, by the clock; a clock that is set back takes nothing out
#[test]
fn the_audit_is_kept_for_as_many_days_as_the_setting_says() {
    const DAY_MS: i64 = 24 * 3_600 * 1_000;
    let dir = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::new(1_700_000_000_000));
    let store = Store::open(dir.path(), kept_for(&clock, 1_000, Some(30))).unwrap();
    append(&store, 10);
    clock.set(clock.now_ms() + 20 * DAY_MS);
    append(&store, 10);
    assert_eq!(standing(&store).0, 20);
    clock.set(clock.now_ms() - 60 * DAY_MS);
    append(&store, 1);
    assert_eq!(standing(&store).0, 21);
    clock.set(clock.now_ms() + 71 * DAY_MS);
    append(&store, 1);
    let (rows, head) = standing(&store);
    assert_eq!((rows, head.first_row), (13, 11), "ten of 31 days ago are gone, and a row tells of it");
    assert_eq!(problems(&store), Vec::<String>::new());
}

// STORE-3, MEM-11: rows of the first record version are read, and the chain goes on from them to rows of the next
#[test]
fn a_chain_goes_on_from_rows_of_the_first_version() {
    let dir = tempfile::tempdir().unwrap();
    let fixture = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/store-v1").join(STORE_FILE);
    std::fs::copy(fixture, dir.path().join(STORE_FILE)).unwrap();
    let store = Store::open(dir.path(), options()).unwrap();
    let first = standing(&store).1.row;
    append(&store, 3);
    assert_eq!(standing(&store).1.row, first + 3);
    assert_eq!(store.read(|tx| tx.audit_row(1)).unwrap().unwrap().method, "memory/remember");
    assert_eq!(problems(&store), Vec::<String>::new());
    store.close().unwrap();
    tamper(dir.path(), |transaction| {
        let key = 2_u64.to_be_bytes();
        let old = tables::Table { version: 1, ..tables::AUDIT };
        let mut table = transaction.open_table(ROWS).unwrap();
        let value = redb::ReadableTable::get(&table, &key[..]).unwrap().unwrap().value().to_vec();
        let record: AuditRecordV1 = codec::unseal(old, &key, &value, Checks::On).unwrap();
        let changed = AuditRecordV1 { write: false, ..record };
        table.insert(&key[..], &codec::seal(old, &key, &changed).unwrap()[..]).unwrap();
    });
    let found = problems(&Store::open(dir.path(), options()).unwrap());
    assert_eq!(found, ["audit: row 2 is not as it was written after the row before it"]);
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
