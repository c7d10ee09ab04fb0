//! Rewriting the store into a fresh file: what was taken out stays in free pages of the old one and goes with it.
//!
//! All tables are copied under one view while writes go on; the keys that writes touch meanwhile are noted and copied after, until few
//! are left. The last few, and the change of files, are done on the writer's thread. The fresh file takes the name by one rename, which
//! is done or not done: there is nothing to finish at the next opening but to remove a file that never got the name. The freed
//! blocks of the disk are not overwritten. Must not know: why it is done, the wire.

use super::backend::{SharedBackend, StagedBackend};
use super::backup::Copying;
use super::disk::Room;
use super::error::{StoreError, engine};
use super::handle::Handle;
use super::open::{Progress, create_private};
use super::rows::{ReadTx, Rows, guarded};
use super::tables::ALL;
use super::writer::{Command, NotSwapped, Swap, Swapped};
use super::{LongWork, Store};
use crate::limits::{
    BACKUP_COMMIT_BYTES, INTEGRITY_AT_OPEN_BYTES_MAX, REWRITE_LAST_ROWS, REWRITE_ROUNDS_MAX, REWRITE_TOUCHED_BYTES_MAX,
    SWAP_TRIES_MAX,
};
use redb::{Database, ReadableDatabase, WriteTransaction};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;
use tokio::sync::oneshot;

/// The fresh file until it takes the store's name.
pub(super) const REWRITTEN_FILE: &str = "store.rewriting";

/// A row by its table's tag and its key.
pub(super) type Place = (u8, Vec<u8>);

/// Rows that writes touched since a rewriting looked.
#[derive(Default)]
pub(super) struct Touched {
    rows: BTreeSet<Place>,
    bytes: usize,
}

impl Touched {
    /// Adds what a transaction touched.
    pub(super) fn add(&mut self, places: Vec<Place>) {
        for place in places {
            let bytes = place.1.len();
            if self.rows.insert(place) {
                self.bytes += bytes + size_of::<Place>();
            }
        }
    }
}

/// A rewriting done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RewriteReport {
    /// Size of the old file.
    pub bytes_before: u64,
    /// Size of the new one.
    pub bytes_after: u64,
    /// Milliseconds it took.
    pub elapsed_ms: u64,
    /// Of these, milliseconds in which no write was taken.
    pub writes_waited_ms: u64,
}

/// Ends the noting of touched rows when the rewriting is over, however it ends, and removes its file.
struct Ending<'a> {
    handle: &'a Handle,
    path: std::path::PathBuf,
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        *self.handle.touched.lock() = None;
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Store {
    /// Copies what the store holds into a fresh file and puts it in the place of the old one, which is gone then. Reads and writes go on;
    /// the writes wait while the last of them are copied. Blocks.
    ///
    /// # Errors
    /// The disk's; `Full` where there is no room for a second file; `Busy` when writes come faster than they are copied, or reads leave
    /// no moment for the change; `Interrupted`. The store is then as it was.
    pub fn rewrite(
        &self,
        _alone: &LongWork<'_>,
        progress: &Progress,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<RewriteReport, StoreError> {
        let (handle, began) = (self.handle(), Instant::now());
        let path = handle.dir.join(REWRITTEN_FILE);
        let bytes_before = handle.file_bytes();
        has_room(&handle.dir, bytes_before)?;
        let _ending = Ending { handle, path: path.clone() };
        // Set on the writer's thread, between its transactions: whatever is written after the view below is noted.
        let shared = std::sync::Arc::clone(&self.shared.handle);
        let noting = self.write_blocking("note what is written", move |_| {
            *shared.touched.lock() = Some(Touched::default());
            Ok::<_, StoreError>(())
        });
        noting.map_err(|failure| failure.into_store())?;
        let fresh = make(handle, &path)?;
        let epoch = handle.record().epoch;
        let copying =
            Copying { dir: &handle.dir, epoch, options: &handle.options, progress, cancelled, stage: "rewriting the store" };
        copying.fill(&handle.long_view()?, &fresh)?;
        let swapped = self.put_in_place(fresh, &path, cancelled)?;
        // The last handle on the old file, whose name is gone: closing it may take a while, and happens here.
        drop(swapped.old);
        let elapsed_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let bytes_after = handle.file_bytes();
        Ok(RewriteReport { bytes_before, bytes_after, elapsed_ms, writes_waited_ms: swapped.waited_ms })
    }

    /// Has a copy follow what is written, and take the store's place; again while reads leave no moment for that.
    fn put_in_place(&self, mut fresh: Database, path: &Path, cancelled: &dyn Fn() -> bool) -> Result<Swapped, StoreError> {
        for _ in 0..SWAP_TRIES_MAX {
            self.follow(&fresh, cancelled)?;
            let (reply, answer) = oneshot::channel();
            let swap = Swap { fresh, path: path.to_owned(), reply };
            self.send(Command::Swap(Box::new(swap))).map_err(|_| StoreError::Busy)?;
            match answer.blocking_recv().map_err(|_| StoreError::Closed)?.map_err(|not_swapped| *not_swapped) {
                Ok(swapped) => return Ok(swapped),
                Err(NotSwapped { fresh: kept, error: StoreError::Busy }) => fresh = kept,
                Err(NotSwapped { error, .. }) => return Err(error),
            }
        }
        Err(StoreError::Busy)
    }

    /// Copies what was written meanwhile, round by round, until little is left.
    fn follow(&self, fresh: &Database, cancelled: &dyn Fn() -> bool) -> Result<(), StoreError> {
        let handle = self.handle();
        for _ in 0..REWRITE_ROUNDS_MAX {
            if cancelled() {
                return Err(StoreError::Interrupted);
            }
            let rows = handle.take_touched()?;
            copy_rows(&handle.long_view()?, fresh, &rows, None)?;
            if rows.len() <= REWRITE_LAST_ROWS {
                break;
            }
        }
        Ok(())
    }
}

/// A second file of the store's size fits, and the reserve stays free.
fn has_room(dir: &Path, bytes: u64) -> Result<(), StoreError> {
    match Room::of(dir) {
        Some(room) if room.free_bytes < bytes.saturating_add(room.reserve_bytes) => {
            Err(StoreError::Full { free_bytes: room.free_bytes, reserve_bytes: bytes.saturating_add(room.reserve_bytes) })
        }
        _ => Ok(()),
    }
}

fn make(handle: &Handle, path: &Path) -> Result<Database, StoreError> {
    let _ = std::fs::remove_file(path);
    drop(create_private(path)?);
    let backend = StagedBackend::new(handle.options.backend.open(path)?)?;
    backend.release()?;
    let mut builder = Database::builder();
    builder.set_cache_size(handle.options.cache_bytes);
    guarded(|| builder.create_with_backend(SharedBackend(backend)).map_err(engine))
}

/// The last commit before the copy is used is made in any case.
#[derive(Debug, Clone, Copy)]
pub(super) struct Last {
    /// Size of the file, which decides how it is opened after a crash.
    pub(super) bytes: u64,
}

/// Makes rows in a copy what they are in a view.
pub(super) fn copy_rows(view: &ReadTx, fresh: &Database, rows: &[Place], last: Option<Last>) -> Result<(), StoreError> {
    let mut rest = rows;
    while !rest.is_empty() || last.is_some() {
        let mut transaction = guarded(|| fresh.begin_write().map_err(engine))?;
        transaction.set_two_phase_commit(true);
        let done = guarded(|| copy_some(view, &transaction, rest))?;
        rest = &rest[done..];
        let is_end = rest.is_empty();
        transaction.set_quick_repair(is_end && last.is_some_and(|last| last.bytes > INTEGRITY_AT_OPEN_BYTES_MAX));
        guarded(|| transaction.commit().map_err(engine))?;
        if is_end {
            return Ok(());
        }
    }
    Ok(())
}

/// Copies as many rows as go into one transaction; how many. The rows of a table stand together, so each is opened once.
fn copy_some(view: &ReadTx, transaction: &WriteTransaction, rows: &[Place]) -> Result<usize, StoreError> {
    let (mut bytes, mut done) = (0, 0);
    for of_table in rows.chunk_by(|a, b| a.0 == b.0) {
        let Some(table) = ALL.iter().find(|table| table.tag == of_table[0].0) else {
            done += of_table.len();
            continue;
        };
        let mut copy = transaction.open_table(table.definition()).map_err(engine)?;
        for (_, key) in of_table {
            let value = view.row(*table, key)?;
            bytes += key.len() + value.as_ref().map_or(0, Vec::len);
            done += 1;
            match &value {
                Some(value) => drop(copy.insert(key.as_slice(), value.as_slice()).map_err(engine)?),
                None => drop(copy.remove(key.as_slice()).map_err(engine)?),
            }
            if bytes >= BACKUP_COMMIT_BYTES {
                return Ok(done);
            }
        }
    }
    Ok(done)
}

/// Refuses a copy whose tables have not as many rows as the store's.
pub(super) fn same_counts(view: &ReadTx, fresh: &Database) -> Result<(), StoreError> {
    let copy = ReadTx::new(fresh.begin_read().map_err(engine)?, view.checks());
    for table in ALL {
        if copy.row_count(*table)? != view.row_count(*table)? {
            return Err(StoreError::Engine(format!("the rewritten table {} is not the store's", table.name)));
        }
    }
    Ok(())
}

impl Handle {
    /// Notes what a transaction touched, once its commit is over. Whether that succeeded does not matter: what stands there is looked up,
    /// in a view that was opened after the noting was read.
    pub(super) fn touch(&self, places: Vec<Place>) {
        if let Some(touched) = &mut *self.touched.lock() {
            touched.add(places);
        }
    }

    /// What writes touched since the last look.
    pub(super) fn take_touched(&self) -> Result<Vec<Place>, StoreError> {
        let mut touched = self.touched.lock();
        let taken = touched.as_mut().map(std::mem::take).ok_or(StoreError::Interrupted)?;
        if taken.bytes > REWRITE_TOUCHED_BYTES_MAX {
            return Err(StoreError::Busy);
        }
        Ok(taken.rows.into_iter().collect())
    }
}
