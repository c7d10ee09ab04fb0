//! The lock on the store's folder, held for life, taken before the store file is touched.
//!
//! Must not know: the socket's lock.

use super::error::{OpenError, StoreError};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Name of the lock file in the store's folder. It is never deleted.
pub const LOCK_FILE: &str = "lock";

/// The lock. Released when it is dropped, or when the process ends however it ends.
#[derive(Debug)]
pub(super) struct StoreLock {
    file: File,
}

impl StoreLock {
    /// Takes the lock on a folder.
    pub(super) fn take(dir: &Path) -> Result<Self, OpenError> {
        let path = dir.join(LOCK_FILE);
        let failed = |error: std::io::Error| OpenError::Store { path: path.clone(), source: StoreError::io(&error) };
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(StoreLock { file }),
            Err(TryLockError::WouldBlock) => {
                let mut owner = String::new();
                let _ = (&file).take(200).read_to_string(&mut owner);
                let owner = owner.lines().next().filter(|line| !line.is_empty()).unwrap_or("another process");
                Err(OpenError::InUse { dir: dir.to_owned(), owner: owner.to_owned() })
            }
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }

    /// The epoch noted by the last owner, if it can be read.
    pub(super) fn epoch(&mut self) -> Option<u64> {
        let mut text = String::new();
        self.file.seek(SeekFrom::Start(0)).ok()?;
        (&self.file).take(200).read_to_string(&mut text).ok()?;
        text.lines().find_map(|line| line.strip_prefix("epoch ")?.parse().ok())
    }

    /// Notes owner and epoch for others to read. Best effort: the lock holds without it.
    pub(super) fn note(&mut self, epoch: u64) {
        let text = format!("pid {}\nepoch {epoch}\n", std::process::id());
        let written = self.file.set_len(0).and_then(|()| self.file.seek(SeekFrom::Start(0)));
        let written = written.and_then(|_| self.file.write_all(text.as_bytes()));
        if let Err(error) = written {
            tracing::debug!(%error, "the owner was not noted in the lock file");
        }
    }
}
