//! A disk that is full, under the full-text index and the snapshots: searches go on and are right, and all is well once there is space.
#![allow(clippy::unwrap_used)]

mod double;

use double::Store;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use tiro_index::{Mode, Settings};

/// A small file system of its own, gone when dropped. `None` where mounting is not allowed.
struct SmallDisk {
    dir: tempfile::TempDir,
}

impl SmallDisk {
    fn mount() -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=3m", "tmpfs"]).arg(dir.path()).output();
        mounted.is_ok_and(|output| output.status.success()).then_some(Self { dir })
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.dir.path()).output();
    }
}

/// Takes what space there is, to the last page.
fn fill(disk: &Path) {
    let mut file = fs::OpenOptions::new().create(true).append(true).open(disk.join("filler")).unwrap();
    let page = [0_u8; 4096];
    while file.write_all(&page).is_ok() {}
}

// STORE-2
#[test]
fn searches_go_on_while_the_disk_is_full_and_nothing_is_lost_after() {
    let Some(disk) = SmallDisk::mount() else {
        eprintln!("skipped: no file system may be mounted here");
        return;
    };
    let mut store =
        Store::new(Settings { direct_documents_max: 0, batch_documents: 20, batch_interval_ms: 1, ..Settings::default() });
    let dir = disk.path().join("index");
    let (index, _) = store.start(&dir);
    let mut number = 0;
    for round in 0..4 {
        for _ in 0..50 {
            number += 1;
            index.apply(vec![store.add(1, &format!("remark r{number} of round {round}"))]);
        }
        index.flush().unwrap();
        for _ in 0..50 {
            fill(disk.path());
            number += 1;
            index.apply(vec![store.add(1, &format!("remark r{number} while the disk is full"))]);
            assert_eq!(store.ask(&index, &format!("r{number}"), Mode::Lexical, None).hits[0].key, number);
        }
        let gone = store.remove(number - 60);
        index.apply(vec![gone]);
        // What a failed commit leaves is cleaned up and gives some space back: until that is taken too. Each try has something to
        // write, or a flush after one that just fitted would have nothing to fail at.
        let failed = (0..20).any(|n| {
            fill(disk.path());
            index.apply(vec![store.add(1, &format!("remark x{n} of round {round}"))]);
            index.flush().is_err()
        });
        number = store.seq;
        assert!(failed, "the disk is not full");
        fill(disk.path());
        assert!(index.snapshot().is_err());
        assert!(store.ask(&index, "remark", Mode::Lexical, None).degraded.is_some());
        fs::remove_file(disk.path().join("filler")).unwrap();
        index.flush().unwrap();
        let stats = index.stats();
        assert_eq!((stats.overlay, stats.lexical_documents, stats.degraded), (0, stats.documents as u64, None));
        assert_eq!(index.verify(), Vec::<String>::new());
        assert_eq!(store.ask(&index, "remark", Mode::Lexical, None).degraded, None);
        for key in store.documents.lock().keys() {
            assert_eq!(index.contains(*key), Some(*key));
        }
    }
    index.close().unwrap();
}
