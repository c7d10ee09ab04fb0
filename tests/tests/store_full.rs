//! A full disk: writes are refused with one code, reads go on, and writes come back with the room, without a restart.
//!
//! Needs root for its small file systems; says so and does nothing elsewhere.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use tiro_daemon::store::{Health, Store, StoreError, WriteFailure};
use tiro_tests::store_writes::{numbers, options, remember, remember_job};

/// A small file system, unmounted when dropped.
struct Volume {
    at: PathBuf,
    _dir: tempfile::TempDir,
}

impl Volume {
    fn tmpfs(mebibytes: u32) -> Option<Volume> {
        let dir = tempfile::tempdir().unwrap();
        let at = dir.path().join("volume");
        std::fs::create_dir(&at).unwrap();
        let size = format!("size={mebibytes}m");
        run("mount", &["-t", "tmpfs", "-o", &size, "tmpfs", at.to_str().unwrap()]).then_some(Volume { at, _dir: dir })
    }

    fn ext4(mebibytes: u32) -> Option<Volume> {
        let dir = tempfile::tempdir().unwrap();
        let (at, image) = (dir.path().join("volume"), dir.path().join("image"));
        std::fs::create_dir(&at).unwrap();
        std::fs::File::create(&image).unwrap().set_len(u64::from(mebibytes) << 20).unwrap();
        let made = run("mkfs.ext4", &["-q", "-F", image.to_str().unwrap()])
            && run("mount", &["-o", "loop", image.to_str().unwrap(), at.to_str().unwrap()]);
        made.then_some(Volume { at, _dir: dir })
    }
}

impl Drop for Volume {
    fn drop(&mut self) {
        run("umount", &[self.at.to_str().unwrap()]);
    }
}

fn run(program: &str, arguments: &[&str]) -> bool {
    Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
}

/// Writes until the disk is full; gives the number of the first memory that was refused.
fn fill(store: &Store, from: u64) -> u64 {
    for n in from..from + 100_000 {
        let mut job = remember_job(n);
        let written = store.write_blocking("remember", move |tx| {
            tx.put_setting(&format!("ballast {n}"), &vec![7; 200_000])?;
            job(tx)
        });
        match written {
            Ok(_) => {}
            Err(WriteFailure::Full { free_bytes, reserve_bytes }) => {
                assert!(free_bytes < reserve_bytes);
                return n;
            }
            Err(other) => panic!("{other}"),
        }
    }
    panic!("the disk never became full");
}

/// A file that takes all the room there is.
fn ballast(at: &Path) -> PathBuf {
    let path = at.join("ballast");
    let mut file = std::fs::File::create(&path).unwrap();
    while std::io::Write::write_all(&mut file, &[0; 65_536]).is_ok() {}
    path
}

/// Repeats a write until it is taken, for as long as the pause between attempts at reopening may be.
fn write_again(store: &Store, n: u64) {
    let began = Instant::now();
    while let Err(error) = remember(store, n) {
        assert!(matches!(error, WriteFailure::Full { .. }), "{error}");
        assert!(began.elapsed() < Duration::from_secs(10), "writes do not come back: {error}");
        std::thread::yield_now();
    }
}

fn check(volume: Option<Volume>, kind: &str) {
    let Some(volume) = volume else {
        println!("SKIPPED: no {kind} could be mounted (needs root)");
        return;
    };
    let data = volume.at.join("data");
    std::fs::create_dir(&data).unwrap();
    let store = Store::open(&data, options()).unwrap();
    let mut next = fill(&store, 1);
    let expected: Vec<u64> = (1..next).collect();
    assert_eq!(numbers(&store).unwrap(), expected, "reads on a full disk");
    assert_eq!(store.health(), Health::Well, "the reserve is there so that redb never meets the end of the disk");
    store.close().unwrap();
    let store = Store::open(&data, options()).unwrap();
    assert_eq!(numbers(&store).unwrap(), expected, "reopened on a full disk");
    // Room again: what was refused is taken, in the same process.
    let freed = store.write_blocking("free", move |tx| (1..next).try_for_each(|n| tx.put_setting(&format!("ballast {n}"), b"")));
    assert!(matches!(freed, Err(WriteFailure::Full { .. })), "{freed:?}");
    drop(store);

    // Another program takes the last byte in the middle of a write that needs more than the reserve.
    let roomy = volume.at.join("roomy");
    std::fs::remove_dir_all(&data).unwrap();
    std::fs::create_dir(&roomy).unwrap();
    let store = Store::open(&roomy, options()).unwrap();
    let cycles = if std::env::var_os("TIRO_HEAVY").is_some() { 20 } else { 4 };
    next = 1;
    let mut acknowledged = Vec::new();
    let mut unknown = Vec::new();
    for cycle in 0..cycles {
        write_again(&store, next);
        acknowledged.push(next);
        next += 1;
        let (at, number) = (volume.at.clone(), next);
        let mut job = remember_job(number);
        let failed = store.write_blocking("too much", move |tx| {
            job(tx)?;
            let _full = ballast(&at);
            (0..8).try_for_each(|n| tx.put_setting(&format!("large {n}"), &vec![cycle; 1 << 20]))
        });
        match failed {
            Err(WriteFailure::Full { .. }) => {}
            Err(WriteFailure::Unknown(StoreError::Full { .. })) => unknown.push(number),
            other => panic!("cycle {cycle}: {other:?}"),
        }
        next += 1;
        assert!(matches!(remember(&store, next), Err(WriteFailure::Full { .. })));
        next += 1;
        let seen = numbers(&store).unwrap();
        assert!(acknowledged.iter().all(|n| seen.contains(n)), "cycle {cycle}: {acknowledged:?} acknowledged, {seen:?} seen");
        std::fs::remove_file(volume.at.join("ballast")).unwrap();
        write_again(&store, next);
        acknowledged.push(next);
        next += 1;
    }
    let seen = numbers(&store).unwrap();
    assert!(acknowledged.iter().all(|n| seen.contains(n)));
    assert!(seen.iter().all(|n| acknowledged.contains(n) || unknown.contains(n)), "{seen:?}");
    assert_eq!(store.verify(None, &options().progress, &|| false).unwrap().problems, Vec::<String>::new());
    store.close().unwrap();
}

// STORE-2, D7
#[test]
fn a_full_tmpfs_refuses_writes_and_comes_back() {
    check(Volume::tmpfs(24), "tmpfs");
}

// STORE-2, D7
#[test]
fn a_full_ext4_refuses_writes_and_comes_back() {
    check(Volume::ext4(24), "ext4 on a loop device");
}
