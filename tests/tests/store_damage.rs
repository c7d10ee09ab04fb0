//! Damage: a store file with bytes turned at random places is refused or right, never wrong; and files that are no store are left alone.

#![allow(clippy::unwrap_used)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use tiro_daemon::store::{Checks, OpenError, OpenOptions, STORE_FILE, Store, StoreError};
use tiro_tests::storage::Random;
use tiro_tests::store_writes::{check_memory, numbers, options, remember_job};

const MEMORIES: u64 = 400;

/// A closed store of some pages, as bytes.
fn whole_store() -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path(), options()).unwrap();
    for from in (1..=MEMORIES).step_by(50) {
        let mut jobs: Vec<_> = (from..from + 50).map(remember_job).collect();
        let written = store.write_blocking("remember", move |tx| jobs.iter_mut().try_for_each(|job| job(tx).map(drop)));
        written.unwrap();
    }
    store.close().unwrap();
    std::fs::read(dir.path().join(STORE_FILE)).unwrap()
}

fn turn_bytes(bytes: &mut [u8], seed: u64) {
    let mut random = Random::new(seed);
    let at = random.below(bytes.len() - 16);
    bytes[at..at + 16].iter_mut().for_each(|byte| *byte ^= 1 + random.below(255) as u8);
}

#[derive(Debug, PartialEq)]
enum Outcome {
    Refused,
    Right,
    Wrong(String),
}

/// Opens a damaged file and reads all of it by every way there is.
fn read_all(bytes: &[u8], options: OpenOptions) -> Outcome {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join(STORE_FILE), bytes).unwrap();
    let opened = catch_unwind(AssertUnwindSafe(|| Store::open(dir.path(), options)));
    let store = match opened {
        Ok(Ok(store)) => store,
        Ok(Err(refusal)) => {
            assert!(std::fs::read(dir.path().join(STORE_FILE)).unwrap() == bytes, "a refused file was changed");
            let text = refusal.to_string();
            assert!(text.contains(STORE_FILE), "{text}");
            return Outcome::Refused;
        }
        Err(_) => return Outcome::Wrong("a panic left the opening".into()),
    };
    let read = catch_unwind(AssertUnwindSafe(|| -> Result<(), StoreError> {
        assert_eq!(numbers(&store)?, (1..=MEMORIES).collect::<Vec<_>>(), "the list of all memories");
        for n in 1..=MEMORIES {
            assert!(check_memory(&store, n)?, "memory {n} is said not to be there");
        }
        Ok(())
    }));
    match read {
        Ok(Ok(())) => Outcome::Right,
        Ok(Err(StoreError::Damaged { .. })) => Outcome::Refused,
        Ok(Err(other)) => Outcome::Wrong(other.to_string()),
        Err(panic) => Outcome::Wrong(panic.downcast_ref::<String>().cloned().unwrap_or_default()),
    }
}

fn places() -> u64 {
    if std::env::var_os("TIRO_HEAVY").is_some() { 1_000 } else { 200 }
}

// STORE-2, D10
#[test]
fn a_damaged_store_is_refused_or_right_and_never_wrong() {
    let whole = whole_store();
    let (mut refused, mut right) = (0, 0);
    for seed in 1..=places() {
        let mut bytes = whole.clone();
        turn_bytes(&mut bytes, seed);
        match read_all(&bytes, options()) {
            Outcome::Refused => refused += 1,
            Outcome::Right => right += 1,
            Outcome::Wrong(what) => panic!("seed {seed}: {what}"),
        }
    }
    assert!(refused > 0 && right > 0, "refused {refused}, right {right}");
}

// D10 with its defence off: the same damage is answered wrongly, so the test above can fail
#[test]
fn without_checks_the_same_damage_gives_wrong_answers() {
    let whole = whole_store();
    let unchecked = || OpenOptions { checks: Checks::OffForTests, ..options() };
    let wrong = (1..=60)
        .filter(|seed| {
            let mut bytes = whole.clone();
            turn_bytes(&mut bytes, *seed);
            matches!(read_all(&bytes, unchecked()), Outcome::Wrong(_))
        })
        .count();
    assert!(wrong > 0, "no wrong answer in 60 damaged files: the check cannot fail");
}

// STORE-2: damage that comes while the store is open gives no wrong text either, and a check of the store finds it
#[test]
fn damage_under_an_open_store_is_met_or_found() {
    let whole = whole_store();
    let (mut met, mut found) = (0, 0);
    for seed in 1..=40 {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(STORE_FILE);
        std::fs::write(&path, &whole).unwrap();
        let store = Store::open(dir.path(), OpenOptions { cache_bytes: 0, ..options() }).unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        turn_bytes(&mut bytes, seed);
        std::fs::write(&path, &bytes).unwrap();
        let mut all_there = true;
        let mut refused = false;
        for n in 1..=MEMORIES {
            // A panic here would be a record that is not as it was written. A hidden one is what only the whole check can find.
            match catch_unwind(AssertUnwindSafe(|| check_memory(&store, n))) {
                Ok(Ok(there)) => all_there &= there,
                Ok(Err(StoreError::Damaged { .. })) => refused = true,
                Ok(Err(other)) => panic!("seed {seed}: {other}"),
                Err(_) => all_there = false,
            }
        }
        met += u64::from(refused);
        if !refused && !all_there {
            let report = store.verify(None, &options().progress, &|| false).unwrap();
            assert!(!report.problems.is_empty(), "seed {seed}: something is hidden, and the check finds nothing");
            assert!(
                store.verify(None, &options().progress, &|| false).is_err()
                    || report.damage.is_none()
                    || numbers(&store).is_err()
            );
            found += 1;
        }
    }
    assert!(met > 0, "met {met}, found {found}");
}

/// Opens a file that must be refused, and checks that it was left as it was.
fn refusal(prepare: impl FnOnce(&Path)) -> OpenError {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(STORE_FILE);
    prepare(&path);
    let before = std::fs::read(&path).unwrap();
    let refusal = Store::open(dir.path(), options()).err().expect("it must be refused");
    assert!(std::fs::read(&path).unwrap() == before, "the file was changed");
    // Again, as the lock must have been given up and nothing made in its place.
    assert!(Store::open(dir.path(), options()).is_err());
    refusal
}

// STORE-2
#[test]
fn empty_cut_and_foreign_files_are_refused_and_left_alone() {
    let whole = whole_store();
    let refused = refusal(|path| std::fs::write(path, b"").unwrap());
    assert!(matches!(refused, OpenError::Damaged { .. }), "{refused}");
    for tenth in 0..10 {
        let cut = (whole.len() * tenth / 10).max(3);
        let refused = refusal(|path| std::fs::write(path, &whole[..cut]).unwrap());
        assert!(matches!(refused, OpenError::Damaged { .. }), "cut to {cut}: {refused}");
        let text = refused.to_string();
        assert!(text.contains("tiro store restore") && text.contains("backup"), "{text}");
    }
    let refused = refusal(|path| std::fs::write(path, "a shopping list\n".repeat(900)).unwrap());
    assert!(matches!(refused, OpenError::Foreign { .. }), "{refused}");
    let refused = refusal(|path| {
        let database = redb::Database::create(path).unwrap();
        let transaction = database.begin_write().unwrap();
        transaction.open_table(redb::TableDefinition::<u64, u64>::new("theirs")).unwrap().insert(1, 2).unwrap();
        transaction.commit().unwrap();
    });
    assert!(matches!(refused, OpenError::Foreign { .. }), "{refused}");
}

// STORE-3: a newer format, closed in order or not, is refused with both numbers and untouched
#[test]
fn a_newer_format_is_refused_untouched() {
    let settings = redb::TableDefinition::<&[u8], &[u8]>::new("settings");
    for in_order in [true, false] {
        let refused = refusal(|path| {
            std::fs::write(path, whole_store()).unwrap();
            let database = redb::Database::create(path).unwrap();
            let transaction = database.begin_write().unwrap();
            {
                let mut settings = transaction.open_table(settings).unwrap();
                let mut row = redb::ReadableTable::get(&settings, &b"store"[..]).unwrap().unwrap().value().to_vec();
                row[9..13].copy_from_slice(&7_u32.to_le_bytes());
                settings.insert(&b"store"[..], row.as_slice()).unwrap();
            }
            transaction.commit().unwrap();
            if !in_order {
                let left = std::fs::read(path).unwrap();
                drop(database);
                std::fs::write(path, left).unwrap();
            }
        });
        assert!(matches!(refused, OpenError::Newer { found: 7, supported: 1, .. }), "{refused}");
        let text = refused.to_string();
        assert!(text.contains("format 7") && text.contains("knows 1"), "{text}");
    }
}
