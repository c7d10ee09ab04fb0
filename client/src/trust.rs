//! Whether a socket may be spoken to: its folder, the socket itself and the process behind it have to be this user's.
//!
//! Anybody can plant a folder or a socket under a name that is guessed; the one fooled would be the client. Must not
//! know: what is said over the socket.

use nix::unistd::Uid;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use tokio::net::UnixStream;

/// Bits of a mode that let others write.
const OTHERS_WRITE: u32 = 0o022;
/// The sticky bit: in such a folder nobody can replace what is not theirs.
const STICKY: u32 = 0o1000;

/// Why a socket is not spoken to.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// It could not be looked at.
    #[error("{}: {source}", path.display())]
    Look {
        /// What was looked at.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// It is of the wrong type: a link, a file, …
    #[error("{} is not a {wanted}", path.display())]
    Type {
        /// What was looked at.
        path: PathBuf,
        /// What it should be.
        wanted: &'static str,
    },
    /// It belongs to somebody else.
    #[error("{} belongs to user {owner}, not to user {us}", path.display())]
    Owner {
        /// What was looked at.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
        /// Who asks.
        us: u32,
    },
    /// Others may write to it.
    #[error("{} can be written to by others (mode {mode:04o})", path.display())]
    Mode {
        /// What was looked at.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// The process that answers belongs to somebody else.
    #[error("{} is answered by user {peer}, not by user {us}", path.display())]
    Peer {
        /// The socket.
        path: PathBuf,
        /// Who answers.
        peer: u32,
        /// Who asks.
        us: u32,
    },
}

fn look(path: &Path) -> Result<Metadata, TrustError> {
    fs::symlink_metadata(path).map_err(|source| TrustError::Look { path: path.to_owned(), source })
}

/// Checks the folder of a socket and, where it stands already, the socket.
///
/// The folder has to be a folder of this user that others cannot write to, or a sticky one (`/tmp`), in which others
/// cannot replace the socket. A socket that does not exist is no fault.
///
/// # Errors
/// [`TrustError`], naming what is wrong; a folder that does not exist is [`TrustError::Look`] with `NotFound`.
pub fn check_path(socket: &Path) -> Result<(), TrustError> {
    let us = Uid::effective().as_raw();
    let folder = match socket.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    let found = look(&folder)?;
    let mode = found.mode() & 0o7777;
    if !found.is_dir() {
        return Err(TrustError::Type { path: folder, wanted: "folder" });
    }
    let shared = mode & STICKY != 0;
    if !shared && found.uid() != us {
        return Err(TrustError::Owner { path: folder, owner: found.uid(), us });
    }
    if !shared && mode & OTHERS_WRITE != 0 {
        return Err(TrustError::Mode { path: folder, mode });
    }
    match look(socket) {
        Ok(found) if !found.file_type().is_socket() => Err(TrustError::Type { path: socket.to_owned(), wanted: "socket" }),
        Ok(found) if found.uid() != us => Err(TrustError::Owner { path: socket.to_owned(), owner: found.uid(), us }),
        Ok(_) => Ok(()),
        Err(TrustError::Look { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(other) => Err(other),
    }
}

/// Checks who answers on a connection that was just made, before a byte is said.
///
/// # Errors
/// [`TrustError::Peer`] when it is somebody else, [`TrustError::Look`] when the kernel does not say.
pub fn check_peer(stream: &UnixStream, socket: &Path) -> Result<(), TrustError> {
    let us = Uid::effective().as_raw();
    let peer = stream.peer_cred().map_err(|source| TrustError::Look { path: socket.to_owned(), source })?.uid();
    if peer == us { Ok(()) } else { Err(TrustError::Peer { path: socket.to_owned(), peer, us }) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;

    fn folder(mode: u32) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(mode)).unwrap();
        dir
    }

    #[test]
    fn a_private_folder_with_or_without_socket_is_trusted() {
        let dir = folder(0o700);
        let socket = dir.path().join("s");
        assert!(check_path(&socket).is_ok());
        let _listener = UnixListener::bind(&socket).unwrap();
        assert!(check_path(&socket).is_ok());
    }

    #[test]
    fn a_planted_folder_or_socket_is_refused() {
        // A37: the client is the one fooled, so it checks too
        let open = folder(0o777);
        assert!(matches!(check_path(&open.path().join("s")), Err(TrustError::Mode { .. })));
        let dir = folder(0o700);
        let link = dir.path().join("link");
        symlink(dir.path(), &link).unwrap();
        assert!(matches!(check_path(&link.join("s")), Err(TrustError::Type { wanted: "folder", .. })));
        fs::write(dir.path().join("s"), "").unwrap();
        assert!(matches!(check_path(&dir.path().join("s")), Err(TrustError::Type { wanted: "socket", .. })));
        let gone = check_path(&dir.path().join("none/s"));
        assert!(matches!(gone, Err(TrustError::Look { source, .. }) if source.kind() == io::ErrorKind::NotFound));
    }
}
