//! The socket file: made private, told from a stale one, removed by its maker only.
//!
//! Must be called with the socket's lock held. Must not know: who connects.

use crate::limits::ACCEPT_BACKLOG;
use crate::paths::own_uid;
use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, Backlog, SockFlag, SockType, UnixAddr, bind, connect, listen, socket};
use nix::sys::stat::{Mode, umask};
use parking_lot::Mutex;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

/// Why there is no socket.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// Something that is no socket, or not ours, stands there.
    #[error("{path} is in the way: {why}; it was left as it is")]
    InTheWay {
        /// Where.
        path: PathBuf,
        /// What it is.
        why: &'static str,
    },
    /// Somebody answers there.
    #[error("somebody already answers at {0}")]
    Alive(PathBuf),
    /// It came out wider than 0600.
    #[error("{path} came out with mode {mode:04o} instead of 0600: refused")]
    Open {
        /// Where.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// The system refused.
    #[error("cannot {action} {path}: {source}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// Where.
        path: PathBuf,
        /// The answer.
        source: std::io::Error,
    },
}

/// A listening socket and, when we made it, the file that stands for it.
#[derive(Debug)]
pub struct Listening {
    /// Non-blocking and close-on-exec.
    pub listener: UnixListener,
    /// The file to remove at the end; none for an inherited socket.
    pub file: Option<SocketFile>,
}

/// A socket file of our making.
#[derive(Debug)]
pub struct SocketFile {
    path: PathBuf,
    identity: Identity,
}

/// Tells one socket file from another that came to the same name: device, inode (which may be used again), time of making.
type Identity = (u64, u64, i64, i64);

fn identity(metadata: &std::fs::Metadata) -> Identity {
    (metadata.dev(), metadata.ino(), metadata.mtime(), metadata.mtime_nsec())
}

impl SocketFile {
    /// Whether the name still leads to the socket we made. To be asked while that socket is open: its inode cannot be
    /// used again until then.
    pub fn is_in_place(&self) -> bool {
        std::fs::symlink_metadata(&self.path).is_ok_and(|m| (m.dev(), m.ino()) == (self.identity.0, self.identity.1))
    }

    /// Removes the file, if it is still the one we made.
    pub fn remove(self) {
        if std::fs::symlink_metadata(&self.path).is_ok_and(|m| identity(&m) == self.identity)
            && let Err(error) = std::fs::remove_file(&self.path)
        {
            tracing::warn!(path = %self.path.display(), %error, "the socket file could not be removed");
        }
    }
}

/// The umask is the process's own, so only one bind at a time.
static UMASK: Mutex<()> = Mutex::new(());

/// Removes a stale socket, binds a new one with mode 0600 and listens.
///
/// # Errors
/// When something else stands there, or the system refuses.
pub fn bind_private(path: &Path) -> Result<Listening, SocketError> {
    clear_stale(path)?;
    let io = |action: &'static str| move |errno: Errno| SocketError::Io { action, path: path.into(), source: errno.into() };
    let address = UnixAddr::new(path).map_err(io("name the socket"))?;
    let fd = new_socket().map_err(io("open a socket for"))?;
    {
        let _one_at_a_time = UMASK.lock();
        let before = umask(Mode::from_bits_truncate(0o177));
        let bound = bind(fd.as_raw_fd(), &address);
        umask(before);
        bound.map_err(io("bind"))?;
    }
    let metadata =
        std::fs::symlink_metadata(path).map_err(|source| SocketError::Io { action: "look at", path: path.into(), source })?;
    let file = SocketFile { path: path.into(), identity: identity(&metadata) };
    let mode = metadata.mode() & 0o777;
    if mode & 0o077 != 0 {
        file.remove();
        return Err(SocketError::Open { path: path.into(), mode });
    }
    let backlog = Backlog::new(ACCEPT_BACKLOG).unwrap_or(Backlog::MAXCONN);
    listen(&fd, backlog).map_err(io("listen at"))?;
    Ok(Listening { listener: UnixListener::from(fd), file: Some(file) })
}

fn new_socket() -> nix::Result<OwnedFd> {
    let fd = socket(AddressFamily::Unix, SockType::Stream, SockFlag::empty(), None)?;
    nix::fcntl::fcntl(&fd, nix::fcntl::FcntlArg::F_SETFD(nix::fcntl::FdFlag::FD_CLOEXEC))?;
    nix::fcntl::fcntl(&fd, nix::fcntl::FcntlArg::F_SETFL(nix::fcntl::OFlag::O_NONBLOCK))?;
    Ok(fd)
}

/// Removes a socket that nobody listens at. Only a refused connection proves that, and only under the lock; a daemon
/// that is slow to answer is alive.
fn clear_stale(path: &Path) -> Result<(), SocketError> {
    let io = |action: &'static str, source: std::io::Error| SocketError::Io { action, path: path.into(), source };
    let metadata = match std::fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(io("look at", error)),
    };
    if !metadata.file_type().is_socket() {
        return Err(SocketError::InTheWay { path: path.into(), why: "it is no socket" });
    }
    if metadata.uid() != own_uid() {
        return Err(SocketError::InTheWay { path: path.into(), why: "it belongs to another user" });
    }
    match probe(path) {
        Err(Errno::ECONNREFUSED) => {}
        Err(Errno::ENOENT) => return Ok(()),
        Ok(()) | Err(Errno::EAGAIN) => return Err(SocketError::Alive(path.into())),
        Err(errno) => return Err(io("probe", errno.into())),
    }
    let now = std::fs::symlink_metadata(path).map_err(|error| io("look at", error))?;
    if identity(&now) != identity(&metadata) {
        return Err(SocketError::InTheWay { path: path.into(), why: "it was replaced just now" });
    }
    tracing::info!(path = %path.display(), "removing a stale socket");
    std::fs::remove_file(path).map_err(|error| io("remove the stale socket", error))
}

/// Tries to connect, without waiting.
fn probe(path: &Path) -> nix::Result<()> {
    let fd = new_socket()?;
    connect(fd.as_raw_fd(), &UnixAddr::new(path)?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn only_a_socket_that_refuses_is_stale() {
        // API-2, A33, A35, D12
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s");
        let first = bind_private(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(matches!(bind_private(&path), Err(SocketError::Alive(_))));
        drop(first.listener);
        assert!(path.exists(), "a file without a listener is what kill -9 leaves");
        let second = bind_private(&path).unwrap();
        first.file.unwrap().remove();
        assert!(path.exists(), "removed a socket that another made");
        second.file.unwrap().remove();
        assert!(!path.exists());
    }

    #[test]
    fn what_is_no_socket_is_left_alone() {
        // A37, S3
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s");
        std::fs::write(&path, "mine").unwrap();
        assert!(matches!(bind_private(&path), Err(SocketError::InTheWay { .. })));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
    }
}
