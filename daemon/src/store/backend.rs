//! Between redb and its file: where tests put faults in, and where changes wait until an open has succeeded.
//!
//! Opening a redb file writes to it (repair, flags). So that a refused file stays as it was, these changes are kept in memory
//! until the store has been found whole and ours, then replayed in order. Must not know: tables or records.

use parking_lot::RwLock;
use redb::backends::FileBackend;
use redb::{BackendError, StorageBackend};
use std::fmt;
use std::io;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Opens the storage behind a store file. The file exists when `open` is called.
pub trait BackendFactory: Send + Sync {
    /// The storage for the file at `path`.
    ///
    /// # Errors
    /// The system's.
    fn open(&self, path: &Path) -> io::Result<Box<dyn StorageBackend>>;
}

/// The file itself.
#[derive(Debug, Default, Clone, Copy)]
pub struct FileFactory;

impl BackendFactory for FileFactory {
    fn open(&self, path: &Path) -> io::Result<Box<dyn StorageBackend>> {
        let file = std::fs::OpenOptions::new().read(true).write(true).open(path)?;
        Ok(Box::new(FileBackend::new(file).map_err(io::Error::other)?))
    }
}

/// A file that is only read. It takes no lock, which needs a file open for writing: nothing else writes what is read so.
#[derive(Debug)]
pub(super) struct ReadOnlyFile(pub(super) std::fs::File);

impl ReadOnlyFile {
    fn refuse<R>() -> io::Result<R> {
        Err(io::Error::new(io::ErrorKind::ReadOnlyFilesystem, "the file is open for reading"))
    }
}

impl StorageBackend for ReadOnlyFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.0, out, offset)
    }

    fn set_len(&self, _len: u64) -> io::Result<()> {
        Self::refuse()
    }

    fn sync_data(&self) -> io::Result<()> {
        Self::refuse()
    }

    fn write(&self, _offset: u64, _data: &[u8]) -> io::Result<()> {
        Self::refuse()
    }
}

/// A change that waits.
#[derive(Debug)]
enum Change {
    Write(u64, Vec<u8>),
    SetLen(u64),
    Sync,
}

/// Changes that wait, and the length they give the file.
#[derive(Debug)]
struct Staged {
    changes: Vec<Change>,
    len: u64,
}

/// A backend whose changes wait until [`StagedBackend::release`].
#[derive(Debug)]
pub(super) struct StagedBackend {
    inner: Box<dyn StorageBackend>,
    staged: RwLock<Option<Staged>>,
    live: AtomicBool,
}

impl StagedBackend {
    pub(super) fn new(inner: Box<dyn StorageBackend>) -> io::Result<Arc<Self>> {
        let len = inner.len()?;
        let staged = RwLock::new(Some(Staged { changes: Vec::new(), len }));
        Ok(Arc::new(StagedBackend { inner, staged, live: AtomicBool::new(false) }))
    }

    /// Replays what waits, and lets changes through from now on. After an error all of it goes on waiting, and reads go on seeing it.
    pub(super) fn release(&self) -> io::Result<()> {
        let mut staged = self.staged.write();
        if let Some(waiting) = staged.as_ref() {
            for change in &waiting.changes {
                match change {
                    Change::Write(offset, data) => self.inner.write(*offset, data)?,
                    Change::SetLen(len) => self.inner.set_len(*len)?,
                    Change::Sync => self.inner.sync_data()?,
                }
            }
        }
        *staged = None;
        self.live.store(true, Ordering::Release);
        Ok(())
    }

    fn is_live(&self) -> bool {
        self.live.load(Ordering::Acquire)
    }

    fn read_staged(&self, staged: &Staged, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let end = offset + out.len() as u64;
        if end > staged.len {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "read past the end of the store file"));
        }
        let there = usize::try_from(self.inner.len()?.clamp(offset, end) - offset).map_err(io::Error::other)?;
        self.inner.read(offset, &mut out[..there])?;
        out[there..].fill(0);
        for change in &staged.changes {
            match change {
                Change::Write(at, data) => overlay(out, offset, *at, data),
                Change::SetLen(len) if *len < end => {
                    let from = usize::try_from(len.saturating_sub(offset)).map_err(io::Error::other)?;
                    out[from..].fill(0);
                }
                Change::SetLen(_) | Change::Sync => {}
            }
        }
        Ok(())
    }
}

/// Lays `data`, which starts at `at`, over `out`, which starts at `offset`.
fn overlay(out: &mut [u8], offset: u64, at: u64, data: &[u8]) {
    let from = at.max(offset);
    let to = (at + data.len() as u64).min(offset + out.len() as u64);
    if from < to {
        // Both differences lie within the two slices: from >= at, from >= offset, to <= both ends.
        let (place, source) = ((from - offset) as usize, (from - at) as usize);
        let len = (to - from) as usize;
        out[place..place + len].copy_from_slice(&data[source..source + len]);
    }
}

/// A handle on a [`StagedBackend`] for redb, while the store keeps another.
pub(super) struct SharedBackend(pub(super) Arc<StagedBackend>);

impl fmt::Debug for SharedBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedBackend")
    }
}

impl StorageBackend for SharedBackend {
    fn len(&self) -> io::Result<u64> {
        let this = &self.0;
        if !this.is_live()
            && let Some(staged) = this.staged.read().as_ref()
        {
            return Ok(staged.len);
        }
        this.inner.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let this = &self.0;
        if !this.is_live()
            && let Some(staged) = this.staged.read().as_ref()
        {
            return this.read_staged(staged, offset, out);
        }
        this.inner.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let this = &self.0;
        if !this.is_live()
            && let Some(staged) = this.staged.write().as_mut()
        {
            staged.changes.push(Change::SetLen(len));
            staged.len = len;
            return Ok(());
        }
        this.inner.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        let this = &self.0;
        if !this.is_live()
            && let Some(staged) = this.staged.write().as_mut()
        {
            staged.changes.push(Change::Sync);
            return Ok(());
        }
        this.inner.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let this = &self.0;
        if !this.is_live()
            && let Some(staged) = this.staged.write().as_mut()
        {
            staged.changes.push(Change::Write(offset, data.to_vec()));
            staged.len = staged.len.max(offset + data.len() as u64);
            return Ok(());
        }
        this.inner.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.0.inner.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.0.inner.try_lock_range(start, end)
    }

    fn try_lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.0.inner.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.0.inner.lock_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.0.inner.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.0.inner.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.0.inner.query_lock_range(start, end)
    }
}
