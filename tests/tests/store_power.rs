//! Power cuts: what a disk may hold after one, opened again.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use tiro_daemon::store::{OpenOptions, STORE_FILE, Store};
use tiro_tests::storage::{Random, Recorder};
use tiro_tests::store_writes::{numbers, options, remember};

const WRITES: u64 = 60;

/// Number of images: a quick run, or a long one with `TIRO_HEAVY=1`.
fn images() -> u64 {
    if std::env::var_os("TIRO_HEAVY").is_some() { 20_000 } else { 300 }
}

/// A recorded run of acknowledged writes.
fn record() -> (Recorder, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    Store::open(dir.path(), options()).unwrap().close().unwrap();
    let recorder = Recorder::default();
    let store = Store::open(dir.path(), OpenOptions { backend: Arc::new(recorder.clone()), ..options() }).unwrap();
    for n in 1..=WRITES {
        remember(&store, n).unwrap();
        recorder.acknowledged(n);
    }
    (recorder, dir)
}

/// What became of one image.
#[derive(Debug, PartialEq)]
enum Found {
    Whole,
    Lost,
    Refused(String),
}

fn open_image(bytes: &[u8], acknowledged: u64) -> Found {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join(STORE_FILE), bytes).unwrap();
    let store = match Store::open(dir.path(), options()) {
        Ok(store) => store,
        Err(refusal) => return Found::Refused(refusal.to_string()),
    };
    let found = numbers(&store).unwrap();
    // Never a hole, never a half: a prefix of the history, at least as long as what was acknowledged.
    assert_eq!(found, (1..=found.len() as u64).collect::<Vec<_>>());
    let report = store.verify(None, &options().progress, &|| false).unwrap();
    assert_eq!(report.problems, Vec::<String>::new());
    if (found.len() as u64) < acknowledged { Found::Lost } else { Found::Whole }
}

// STORE-1, MEM-12, D4: nothing acknowledged is lost, nothing is half there
#[test]
fn a_power_cut_on_an_honest_disk_loses_nothing_acknowledged() {
    let (recorder, _dir) = record();
    for seed in 1..=images() {
        let image = recorder.power_cut(&mut Random::new(seed), 0);
        assert_eq!(open_image(&image.bytes, image.acknowledged), Found::Whole, "seed {seed}");
    }
}

// D4 with its defence off: the same check sees the loss when syncs are not honoured, and no image is opened with holes
#[test]
fn a_power_cut_on_a_lying_disk_is_seen_by_the_same_check() {
    let (recorder, _dir) = record();
    let (mut lost, mut refused) = (0, 0);
    for seed in 1..=images() {
        let mut random = Random::new(seed);
        let syncs_lost = 1 + random.below(5);
        let image = recorder.power_cut(&mut random, syncs_lost);
        match open_image(&image.bytes, image.acknowledged) {
            Found::Lost => lost += 1,
            Found::Refused(_) => refused += 1,
            Found::Whole => {}
        }
    }
    assert!(lost > 0 && refused > 0, "lost {lost}, refused {refused}: the check cannot fail");
}
