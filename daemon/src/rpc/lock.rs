//! The lock beside the socket: whoever holds it may bind there. Held for life, never removed.
//!
//! It is taken before the socket is touched, so that a live socket is never mistaken for a stale one. Must not know:
//! sockets.

use nix::fcntl::{Flock, FlockArg};
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why the lock was not taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another daemon holds it.
    #[error("another daemon{} already answers at this socket (lock {path})", owner(*pid))]
    Held {
        /// The lock file.
        path: PathBuf,
        /// The owner's pid, when it could be read.
        pid: Option<u32>,
    },
    /// The file is not one we would have made.
    #[error("the lock file {path} cannot be trusted: {why}")]
    Untrusted {
        /// The lock file.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The system refused.
    #[error("cannot take the lock {path}: {source}")]
    Io {
        /// The lock file.
        path: PathBuf,
        /// The answer.
        source: std::io::Error,
    },
}

fn owner(pid: Option<u32>) -> String {
    pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default()
}

/// The lock; given up when dropped.
#[derive(Debug)]
pub struct SocketLock {
    file: Flock<File>,
    path: PathBuf,
}

impl SocketLock {
    /// Takes the lock without waiting and writes our pid into it.
    ///
    /// # Errors
    /// [`LockError::Held`] when another process has it.
    pub fn take(path: &Path) -> Result<Self, LockError> {
        let io = |source: std::io::Error| LockError::Io { path: path.into(), source };
        // Once more when the file was replaced between opening and locking.
        for _ in 0..3 {
            let file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .mode(0o600)
                .custom_flags(nix::libc::O_NOFOLLOW | nix::libc::O_CLOEXEC)
                .open(path)
                .map_err(io)?;
            check(&file, path)?;
            let mut file = match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
                Ok(file) => file,
                Err((mut file, nix::errno::Errno::EWOULDBLOCK)) => {
                    return Err(LockError::Held { path: path.into(), pid: read_owner(&mut file) });
                }
                Err((_, errno)) => return Err(io(errno.into())),
            };
            if !stands_at(&file, path) {
                continue;
            }
            file.set_len(0).map_err(io)?;
            file.rewind().map_err(io)?;
            writeln!(file, "{}", std::process::id()).map_err(io)?;
            return Ok(SocketLock { file, path: path.into() });
        }
        Err(LockError::Untrusted { path: path.into(), why: "somebody keeps replacing it" })
    }

    /// Whether the name still leads to the file that is locked; if not, another daemon can take the lock of that name.
    pub fn is_in_place(&self) -> bool {
        stands_at(&self.file, &self.path)
    }
}

/// Whether this file stands at this path.
fn stands_at(file: &File, path: &Path) -> bool {
    let at_path = std::fs::symlink_metadata(path).map(|m| (m.dev(), m.ino()));
    at_path.is_ok_and(|at_path| file.metadata().is_ok_and(|ours| (ours.dev(), ours.ino()) == at_path))
}

/// Checks that the file is a plain one of ours, closed to others.
fn check(file: &File, path: &Path) -> Result<(), LockError> {
    let metadata = file.metadata().map_err(|source| LockError::Io { path: path.into(), source })?;
    let why = if !metadata.is_file() {
        "it is not a plain file"
    } else if metadata.uid() != crate::paths::own_uid() {
        "it belongs to another user"
    } else if metadata.mode() & 0o077 != 0 {
        "it is open to others"
    } else if metadata.nlink() > 1 {
        "it has several names"
    } else {
        return Ok(());
    };
    Err(LockError::Untrusted { path: path.into(), why })
}

/// The pid in the lock file; the owner may be about to write it.
fn read_owner(file: &mut File) -> Option<u32> {
    for _ in 0..20 {
        let mut text = String::new();
        if file.rewind().is_ok() && file.read_to_string(&mut text).is_ok() && text.ends_with('\n') {
            return text.trim().parse().ok();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    None
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn one_holder_at_a_time_and_the_next_after_it() {
        // API-2, D12
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.lock");
        let first = SocketLock::take(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        match SocketLock::take(&path) {
            Err(LockError::Held { pid, .. }) => assert_eq!(pid, Some(std::process::id())),
            other => panic!("{other:?}"),
        }
        drop(first);
        SocketLock::take(&path).unwrap();
    }

    #[test]
    fn a_planted_lock_file_is_refused() {
        // A37, S3
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("target");
        std::fs::write(&target, "").unwrap();
        let link = dir.path().join("link.lock");
        std::os::unix::fs::symlink(&target, &link).unwrap();
        assert!(matches!(SocketLock::take(&link), Err(LockError::Io { .. })));
        let open = dir.path().join("open.lock");
        std::fs::write(&open, "").unwrap();
        std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o666)).unwrap();
        assert!(matches!(SocketLock::take(&open), Err(LockError::Untrusted { .. })));
    }
}
