//! Who holds a store: the daemon that the lock file of the store's folder names, if it still has the lock.
//!
//! The lock is only asked about, never tried: a client that took it for a moment could turn a starting daemon away. Must
//! not know: what is said to the daemon.

use nix::unistd::Uid;
use std::fs::{self, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use tiro_schema::owner::{LOCK_BYTES_MAX, Owner};

/// The daemon that holds the lock in this file; none when nobody does, or when the file is not this user's.
pub fn of(lock_file: &Path) -> Option<Owner> {
    let file = OpenOptions::new().read(true).custom_flags(nix::libc::O_NOFOLLOW).open(lock_file).ok()?;
    let found = file.metadata().ok()?;
    if !found.is_file() || found.uid() != Uid::effective().as_raw() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(LOCK_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    let owner = Owner::read(&bytes);
    let pid = owner.pid?;
    (is_alive(pid) && is_locked(found.ino(), pid)).then_some(owner)
}

/// Whether a process is there and has not ended (a zombie has).
pub fn is_alive(pid: u32) -> bool {
    let Ok(raw) = i32::try_from(pid) else { return false };
    if nix::sys::signal::kill(nix::unistd::Pid::from_raw(raw), None).is_err() {
        return false;
    }
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_none_or(|(_, rest)| !rest.starts_with('Z'))
}

/// Whether the kernel lists a lock on this file, or one of this process; where it lists none, the process is believed.
fn is_locked(inode: u64, pid: u32) -> bool {
    fs::read_to_string("/proc/locks").map_or(true, |listed| lists(&listed, inode, pid))
}

/// Lines are `1: FLOCK  ADVISORY  WRITE 1552 fe:00:5308990 0 EOF`; one that waits has `->` behind its number.
fn lists(listed: &str, inode: u64, pid: u32) -> bool {
    listed.lines().any(|line| {
        let mut words = line.split_whitespace().skip(1);
        let kind = words.next();
        let (owner, file) = (words.nth(2), words.next());
        let same_file = file.and_then(|file| file.rsplit(':').next()).is_some_and(|found| found == inode.to_string());
        kind == Some("FLOCK") && (same_file || owner.is_some_and(|owner| owner == pid.to_string()))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_lock_is_found_by_its_file_and_one_that_waits_is_none() {
        let listed = "1: FLOCK  ADVISORY  WRITE 10756 fe:00:5349474 0 EOF\n1: -> FLOCK  ADVISORY  WRITE 22 fe:00:7 0 EOF\n2: POSIX ADVISORY WRITE 33 fe:00:8 0 EOF\n";
        assert!(lists(listed, 5_349_474, 1) && lists(listed, 1, 10756));
        assert!(!lists(listed, 7, 22) && !lists(listed, 8, 33) && !lists("", 1, 1));
    }

    #[test]
    fn what_a_dead_daemon_left_names_nobody() {
        // API-2, A33
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        assert_eq!(of(&path), None);
        let left = Owner { pid: Some(std::process::id()), epoch: Some(1), socket: Some("/s".into()) };
        fs::write(&path, left.write()).unwrap();
        assert_eq!(of(&path), None, "nobody locked it");
        let file = fs::File::open(&path).unwrap();
        let _held = nix::fcntl::Flock::lock(file, nix::fcntl::FlockArg::LockExclusiveNonblock).map_err(|(_, e)| e).unwrap();
        assert_eq!(of(&path), Some(left));
    }
}
