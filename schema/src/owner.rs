//! What stands in the lock file of a store's folder: who serves the store, and where it answers.
//!
//! The daemon writes it under the lock, clients read it to find a daemon that answers elsewhere than they look. Must not
//! know: how a lock is taken or asked about.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// Name of the lock file in the store's folder. It is never deleted.
pub const LOCK_FILE: &str = "lock";
/// Bytes of a lock file that are read.
pub const LOCK_BYTES_MAX: u64 = 8 << 10;

/// Who holds the lock of a store, as it says itself: a line `pid N`, a line `epoch N`, a line `socket PATH`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Owner {
    /// Process of the daemon.
    pub pid: Option<u32>,
    /// Epoch of the store when the lock was last written.
    pub epoch: Option<u64>,
    /// The socket the daemon answers at.
    pub socket: Option<PathBuf>,
}

impl Owner {
    /// Reads the bytes of a lock file; what cannot be read is absent.
    pub fn read(bytes: &[u8]) -> Self {
        let mut owner = Owner::default();
        // A last line without its end is still being written.
        for line in bytes.split_inclusive(|byte| *byte == b'\n').filter_map(|line| line.strip_suffix(b"\n")) {
            let number = |rest: &[u8]| std::str::from_utf8(rest).ok()?.parse::<u64>().ok();
            if let Some(rest) = line.strip_prefix(b"pid ") {
                owner.pid = number(rest).and_then(|pid| u32::try_from(pid).ok());
            } else if let Some(rest) = line.strip_prefix(b"epoch ") {
                owner.epoch = number(rest);
            } else if let Some(rest) = line.strip_prefix(b"socket ") {
                owner.socket = Some(OsString::from_vec(rest.to_vec()).into());
            }
        }
        owner
    }

    /// The bytes of the lock file. A path with a line end in it is left out.
    pub fn write(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let numbers = [("pid", self.pid.map(u64::from)), ("epoch", self.epoch)];
        for (name, number) in numbers {
            bytes.extend(number.map(|number| format!("{name} {number}\n")).unwrap_or_default().into_bytes());
        }
        if let Some(path) = self.socket.as_ref().map(|path| path.as_os_str().as_bytes()).filter(|path| !path.contains(&b'\n')) {
            bytes.extend_from_slice(b"socket ");
            bytes.extend_from_slice(path);
            bytes.push(b'\n');
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back_whatever_the_path() {
        // API-2
        let raw = PathBuf::from(OsString::from_vec(b"/run/\xff/d.sock".to_vec()));
        let owner = Owner { pid: Some(7), epoch: Some(3), socket: Some(raw) };
        assert_eq!(Owner::read(&owner.write()), owner);
        assert_eq!(Owner::read(b"pid 7\nepoch 3\n"), Owner { pid: Some(7), epoch: Some(3), socket: None });
        assert_eq!(Owner::read(b"pid 7\nepoch 3\nsocket /run/d"), Owner { pid: Some(7), epoch: Some(3), socket: None });
        assert_eq!(Owner::read(b"\xff\xff"), Owner::default());
        let split = Owner { socket: Some("/a\nb".into()), ..Owner::default() };
        assert_eq!(split.write(), b"");
    }
}
