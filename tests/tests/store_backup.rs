//! Backups and restores: every backup is a prefix of the history, a restore sets the present file aside and begins a new epoch.

#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tiro_daemon::clock::{Clock, ManualClock};
use tiro_daemon::limits::{BACKUP_FIRST_MS, BACKUP_INTERVAL_MS, BACKUPS_KEPT, SET_ASIDE_KEPT};
use tiro_daemon::store::{OpenError, OpenOptions, Progress, STORE_FILE, Store, StoreChange, StoreError, restore_folder};
use tiro_tests::store_writes::{check_memory, numbers, options, remember};

fn quiet() -> Progress {
    options().progress
}

/// Opens a copy of a store file in a folder of its own.
fn open_copy(file: &Path) -> (Store, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::copy(file, dir.path().join(STORE_FILE)).unwrap();
    (Store::open(dir.path(), options()).unwrap(), dir)
}

fn assert_whole(store: &Store) {
    assert_eq!(store.verify(None, &quiet(), &|| false).unwrap().problems, Vec::<String>::new());
}

// STORE-2, D11
#[test]
fn a_backup_under_writes_opens_and_is_a_prefix_of_the_history() {
    let rounds = if std::env::var_os("TIRO_HEAVY").is_some() { 100 } else { 10 };
    let dir = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path(), options()).unwrap();
    let over = AtomicBool::new(false);
    let reports = std::thread::scope(|scope| {
        for writer in 0..3_u64 {
            let (store, over) = (store.clone(), &over);
            scope.spawn(move || {
                for n in 0.. {
                    remember(&store, 1 + writer * 1_000_000 + n).unwrap();
                    if over.load(Ordering::SeqCst) {
                        return;
                    }
                }
            });
        }
        let reports: Result<Vec<_>, _> = (0..rounds)
            .map(|round| store.backup(Some(&outside.path().join(format!("{round}.redb"))), &quiet(), &|| false))
            .collect();
        over.store(true, Ordering::SeqCst);
        reports.unwrap()
    });
    let history = numbers(&store).unwrap();
    for report in reports {
        let (copy, _dir) = open_copy(&report.path);
        let found = numbers(&copy).unwrap();
        assert_eq!(found, history[..found.len()]);
        assert_eq!((copy.seq(), found.len() as u64), (report.seq, report.seq));
        assert_eq!(copy.identity(), store.identity());
        assert_whole(&copy);
    }
}

// STORE-2: daily, seven kept, nothing when nothing was written; a cancelled one leaves nothing
#[test]
fn backups_are_daily_and_seven_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::new(1_700_000_000_000));
    let store = Store::open(dir.path(), OpenOptions { clock: clock.clone(), ..options() }).unwrap();
    remember(&store, 1).unwrap();
    assert_eq!(store.backup_if_due(&quiet(), &|| false).unwrap(), None, "the store was made just now");
    for day in 1..=10_u64 {
        clock.set(clock.now_ms() + if day == 1 { BACKUP_FIRST_MS } else { BACKUP_INTERVAL_MS });
        let made = store.backup_if_due(&quiet(), &|| false).unwrap().expect("on the first day soon, then daily");
        assert_eq!(made.seq, day);
        assert_eq!(store.backup_if_due(&quiet(), &|| false).unwrap(), None, "twice a day");
        remember(&store, day + 1).unwrap();
    }
    let seqs: Vec<u64> = store.backups().iter().map(|backup| backup.seq).collect();
    assert_eq!(seqs, (4..=10).rev().collect::<Vec<_>>());
    assert_eq!(seqs.len(), BACKUPS_KEPT);
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&store.backups()[0].path).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);

    let unfinished = dir.path().join("never.redb");
    std::fs::write(dir.path().join("never.part"), b"left by a crash").unwrap();
    let taken = store.backup(Some(&store.backups()[0].path), &quiet(), &|| false);
    assert!(matches!(taken, Err(StoreError::Invalid(_))), "{taken:?}");
    store.backup(Some(&unfinished), &quiet(), &|| false).unwrap();
    assert!(!dir.path().join("never.part").exists());
}

// STORE-2
#[test]
fn a_restore_sets_the_present_aside_and_begins_a_new_epoch() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path(), options()).unwrap();
    let told = Arc::new(parking_lot::Mutex::new(Vec::new()));
    let list = Arc::clone(&told);
    store.on_change(move |change| list.lock().push(change));
    (1..=10).for_each(|n| assert!(remember(&store, n).is_ok()));
    let backup = store.backup(None, &quiet(), &|| false).unwrap();
    (11..=20).for_each(|n| assert!(remember(&store, n).is_ok()));

    let report = store.restore(None, &quiet(), &|| false).unwrap();
    assert_eq!((report.from, report.memories, report.epoch), (backup.path, 10, 2));
    assert_eq!(numbers(&store).unwrap(), (1..=10).collect::<Vec<_>>());
    assert_eq!(store.seq_token(store.seq()), "2-10");
    assert_eq!(*told.lock(), [StoreChange::Restored]);
    remember(&store, 21).unwrap();
    assert_whole(&store);
    let (aside, _other) = open_copy(&report.set_aside.unwrap());
    assert_eq!(numbers(&aside).unwrap().len(), 20);

    // The same backup again: its epoch is older, the next one is new all the same.
    assert_eq!(store.restore(None, &quiet(), &|| false).unwrap().epoch, 3);
    store.close().unwrap();
    assert_eq!(Store::open(dir.path(), options()).unwrap().identity().epoch, 3);
}

// STORE-2: the newest backup is no good, so the one before it is taken
#[test]
fn a_damaged_backup_is_passed_over() {
    let dir = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::new(1_700_000_000_000));
    let store = Store::open(dir.path(), OpenOptions { clock: clock.clone(), ..options() }).unwrap();
    remember(&store, 1).unwrap();
    let good = store.backup(None, &quiet(), &|| false).unwrap();
    clock.set(clock.now_ms() + 1);
    remember(&store, 2).unwrap();
    let bad = store.backup(None, &quiet(), &|| false).unwrap();
    let mut bytes = std::fs::read(&bad.path).unwrap();
    let half = bytes.len() / 2;
    bytes.truncate(half);
    std::fs::write(&bad.path, bytes).unwrap();
    let refused = store.restore(Some(&bad.path), &quiet(), &|| false);
    assert!(matches!(refused, Err(StoreError::Invalid(_))), "{refused:?}");
    assert_eq!(numbers(&store).unwrap(), [1, 2], "a refused restore changed the store");
    assert_eq!(store.restore(None, &quiet(), &|| false).unwrap().from, good.path);
    assert!(check_memory(&store, 1).unwrap() && !check_memory(&store, 2).unwrap());
}

// STORE-2: the clock was ahead for a week and was then set right
#[test]
fn backups_of_a_clock_once_ahead_neither_outlast_nor_outrank_the_newest() {
    let dir = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::new(4_000_000_000_000));
    let store = Store::open(dir.path(), OpenOptions { clock: clock.clone(), ..options() }).unwrap();
    for n in 1..=BACKUPS_KEPT as u64 {
        remember(&store, n).unwrap();
        store.backup(None, &quiet(), &|| false).unwrap();
        clock.set(clock.now_ms() + 1);
    }
    for (n, now_ms) in [(8, 1_700_000_000_000), (9, -5)] {
        clock.set(now_ms);
        remember(&store, n).unwrap();
        let made = store.backup(None, &quiet(), &|| false).unwrap();
        let kept = store.backups();
        assert_eq!((kept.len(), &kept[0].path, kept[0].created_at_ms), (BACKUPS_KEPT, &made.path, now_ms));
        assert_eq!(kept.iter().map(|b| b.seq).collect::<Vec<_>>(), (n - 6..=n).rev().collect::<Vec<_>>());
    }
    assert_eq!(store.restore(None, &quiet(), &|| false).unwrap().memories, 9);
    // After a restore of an old one, what is written then is newer than all there was.
    let old = store.backups().pop().unwrap();
    assert_eq!(store.restore(Some(&old.path), &quiet(), &|| false).unwrap().memories, 3);
    remember(&store, 20).unwrap();
    let made = store.backup(None, &quiet(), &|| false).unwrap();
    assert_eq!((store.backups()[0].path.as_path(), made.seq), (made.path.as_path(), 4));
    assert_eq!(store.restore(None, &quiet(), &|| false).unwrap().from, made.path);
}

// STORE-2: backups of the earlier form of name, `store-<Unix ms>-<sequence>.redb`, a time before 1970 too
#[test]
fn a_backup_named_as_earlier_builds_did_is_known_and_placed_by_what_it_holds() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path(), options()).unwrap();
    for (n, name) in [(1, "store-9999999999999-1.redb"), (2, "store--5-2.redb")] {
        remember(&store, n).unwrap();
        let made = store.backup(None, &quiet(), &|| false).unwrap();
        std::fs::rename(&made.path, made.path.with_file_name(name)).unwrap();
    }
    let named: Vec<_> = store.backups().iter().map(|b| (b.epoch, b.seq, b.created_at_ms)).collect();
    assert_eq!(named, [(1, 2, -5), (1, 1, 9_999_999_999_999)]);
    assert_eq!(store.restore(None, &quiet(), &|| false).unwrap().memories, 2);
    remember(&store, 3).unwrap();
    let made = store.backup(None, &quiet(), &|| false).unwrap();
    assert_eq!((&store.backups()[0].path, store.backups()[0].epoch), (&made.path, 2));
}

// STORE-2
#[test]
fn an_unfinished_backup_left_by_a_crash_is_gone_after_the_next_opening() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path(), options()).unwrap();
    remember(&store, 1).unwrap();
    let made = store.backup(None, &quiet(), &|| false).unwrap();
    store.close().unwrap();
    let left = made.path.with_file_name("store-1-9-1700000000000.part");
    std::fs::write(&left, b"left by a crash").unwrap();
    let store = Store::open(dir.path(), options()).unwrap();
    assert!(!left.exists() && made.path.exists());
    assert_eq!(store.backups().len(), 1);
}

// STORE-2: a store that is refused at its opening is restored without a daemon
#[test]
fn a_refused_store_is_restored_from_its_folder() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path(), options()).unwrap();
    remember(&store, 1).unwrap();
    let backup = store.backup(None, &quiet(), &|| false).unwrap();
    store.close().unwrap();
    let path = dir.path().join(STORE_FILE);
    std::fs::write(&path, b"").unwrap();
    let refused = Store::open(dir.path(), options()).err().unwrap();
    assert!(matches!(&refused, OpenError::Damaged { backup: Some(found), .. } if *found == backup.path), "{refused}");
    assert!(refused.to_string().contains(&backup.path.display().to_string()), "{refused}");
    let report = restore_folder(dir.path(), None, &options()).unwrap();
    assert_eq!((report.epoch, report.memories), (2, 1));
    assert_eq!(std::fs::read(report.set_aside.unwrap()).unwrap(), b"");
    assert!(check_memory(&Store::open(dir.path(), options()).unwrap(), 1).unwrap());
}

// STORE-2: a missing file is not a new store where there was one, and a swap cut short between its renames is finished
#[test]
fn a_missing_store_file_is_not_a_new_store() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(STORE_FILE);
    let store = Store::open(dir.path(), options()).unwrap();
    remember(&store, 1).unwrap();
    store.backup(None, &quiet(), &|| false).unwrap();
    store.close().unwrap();
    let aside = dir.path().join("store-1-0.replaced");
    std::fs::rename(&path, &aside).unwrap();
    let refused = Store::open(dir.path(), options()).err().unwrap();
    assert!(matches!(refused, OpenError::Damaged { .. }) && !path.exists(), "{refused}");
    std::fs::copy(&aside, dir.path().join("store.next")).unwrap();
    assert!(check_memory(&Store::open(dir.path(), options()).unwrap(), 1).unwrap());
}

/// What stands in a folder under names that end so.
fn ending(dir: &Path, end: &str) -> usize {
    std::fs::read_dir(dir).unwrap().filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().ends_with(end)).count()
}

// STORE-2: a restore asked for while the daily backup was under way was refused
#[test]
fn a_daily_backup_gives_way_to_a_restore_that_is_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::new(1_700_000_000_000));
    let store = Store::open(dir.path(), OpenOptions { clock: clock.clone(), ..options() }).unwrap();
    remember(&store, 1).unwrap();
    store.backup(None, &quiet(), &|| false).unwrap();
    remember(&store, 2).unwrap();
    clock.set(clock.now_ms() + BACKUP_INTERVAL_MS);
    std::thread::scope(|scope| {
        // Held as a backup under way holds it, until somebody else asks.
        let alone = store.long_work().unwrap();
        let asked = scope.spawn(|| store.restore(None, &quiet(), &|| false));
        assert!(matches!(store.backup_if_due(&quiet(), &|| false), Err(StoreError::Busy)));
        drop(alone);
        assert_eq!(asked.join().unwrap().unwrap().memories, 1);
    });
}

// STORE-2: what restores set aside is bounded, and what one that was cut short left goes at the next opening
#[test]
fn files_set_aside_are_bounded_and_unfinished_ones_go() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path(), options()).unwrap();
    remember(&store, 1).unwrap();
    store.backup(None, &quiet(), &|| false).unwrap();
    let mut newest = None;
    for _ in 0..SET_ASIDE_KEPT + 2 {
        newest = store.restore(None, &quiet(), &|| false).unwrap().set_aside;
    }
    assert_eq!(ending(dir.path(), ".replaced"), SET_ASIDE_KEPT);
    assert!(newest.unwrap().exists());
    store.close().unwrap();
    for left in ["store.restoring", "store.next"] {
        std::fs::write(dir.path().join(left), b"cut short").unwrap();
    }
    let store = Store::open(dir.path(), options()).unwrap();
    assert_eq!(numbers(&store).unwrap(), [1]);
    assert_eq!(ending(dir.path(), "store.restoring") + ending(dir.path(), "store.next"), 0);
}
