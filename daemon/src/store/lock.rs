//! The lock on the store's folder, held for life, taken before the store file is touched.
//!
//! Its file tells others who holds it and where that one answers. Must not know: the socket's lock.

use super::error::{OpenError, StoreError};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;
pub use tiro_schema::owner::LOCK_FILE;
use tiro_schema::owner::{LOCK_BYTES_MAX, Owner};

/// How often a lock file is read again whose owner is about to write it, and the pause between.
const OWNER_LOOKS_MAX: u32 = 20;
/// See [`OWNER_LOOKS_MAX`].
const OWNER_PAUSE_MS: u64 = 10;

/// The lock. Released when it is dropped, or when the process ends however it ends.
#[derive(Debug)]
pub struct StoreLock {
    file: File,
    owner: Owner,
}

impl StoreLock {
    /// Takes the lock on a folder, which exists, without waiting.
    ///
    /// # Errors
    /// [`OpenError::InUse`] when another process has it.
    pub fn take(dir: &Path) -> Result<Self, OpenError> {
        let path = dir.join(LOCK_FILE);
        let failed = |error: std::io::Error| OpenError::Store { path: path.clone(), source: StoreError::io(&error) };
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {
                let epoch = read(&file).epoch;
                let mut lock = StoreLock { file, owner: Owner { pid: Some(std::process::id()), epoch, socket: None } };
                lock.write();
                Ok(lock)
            }
            Err(TryLockError::WouldBlock) => {
                let Owner { pid, socket, .. } = look(&file);
                let owner = pid.map_or_else(|| "another process".to_owned(), |pid| format!("pid {pid}"));
                Err(OpenError::InUse { dir: dir.to_owned(), owner, socket })
            }
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }

    /// The epoch noted by the last owner, if it could be read.
    pub(super) fn epoch(&self) -> Option<u64> {
        self.owner.epoch
    }

    /// Notes the epoch for others to read.
    pub(super) fn note(&mut self, epoch: u64) {
        self.owner.epoch = Some(epoch);
        self.write();
    }

    /// Notes where its owner answers, for others to read.
    pub fn note_socket(&mut self, socket: &Path) {
        self.owner.socket = Some(socket.to_owned());
        self.write();
    }

    /// Best effort: the lock holds without it.
    fn write(&mut self) {
        let written = self.file.set_len(0).and_then(|()| self.file.seek(SeekFrom::Start(0)));
        let written = written.and_then(|_| self.file.write_all(&self.owner.write()));
        if let Err(error) = written {
            tracing::debug!(%error, "the owner was not noted in the lock file");
        }
    }
}

/// What the lock file says now.
fn read(mut file: &File) -> Owner {
    let mut bytes = Vec::new();
    match file.seek(SeekFrom::Start(0)).and_then(|_| file.take(LOCK_BYTES_MAX).read_to_end(&mut bytes)) {
        Ok(_) => Owner::read(&bytes),
        Err(_) => Owner::default(),
    }
}

/// What the lock file says once its owner has written it.
fn look(file: &File) -> Owner {
    for _ in 0..OWNER_LOOKS_MAX {
        let owner = read(file);
        if owner.pid.is_some() && owner.socket.is_some() {
            return owner;
        }
        std::thread::sleep(Duration::from_millis(OWNER_PAUSE_MS));
    }
    read(file)
}
