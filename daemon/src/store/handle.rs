//! The open database, the state of its health, and its replacement in place.
//!
//! Reads hold the handle for reading, so a replacement waits for them and they for it. Must not know: queues or jobs.

use super::StoreChange;
use super::audit::AuditQueue;
use super::codec::Checks;
use super::disk::Room;
use super::error::{OpenError, StoreError, engine};
use super::lock::StoreLock;
use super::open::{OpenOptions, Opened, STORE_FILE, open_dir, sync_folder};
use super::rewrite::{self, Touched};
use super::rows::ReadTx;
use super::writer::NotSwapped;
use super::{backup, restore};
use crate::limits::{REOPEN_BACKOFF_MS_MAX, REOPEN_BACKOFF_MS_MIN, SWAP_WAIT_MS_MAX};
use parking_lot::{Mutex, RwLock};
use redb::{Database, ReadableDatabase};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tiro_schema::record::StoreRecord;

/// How the store is.
#[derive(Debug, Clone, PartialEq)]
pub enum Health {
    /// Reads and writes.
    Well,
    /// The disk was full in the middle of a write: reads; writes again once there is room and the file is reopened.
    Full,
    /// An error of the disk: reads; writes after a reopening.
    ReadOnly {
        /// The error.
        cause: String,
    },
    /// Damage was found: neither.
    Damaged {
        /// What was found.
        cause: String,
    },
    /// Closed in order.
    Closed,
}

/// Told when the contents changed under the feet of whoever derives something from them.
pub(super) type Listener = Box<dyn Fn(StoreChange) + Send + Sync>;

/// The open database and what goes with it.
pub(super) struct Handle {
    pub(super) dir: PathBuf,
    pub(super) options: OpenOptions,
    database: RwLock<Option<Database>>,
    lock: Mutex<Option<StoreLock>>,
    record: RwLock<StoreRecord>,
    seq: AtomicU64,
    commits: AtomicU64,
    health: RwLock<Health>,
    retry: Mutex<Retry>,
    pub(super) audit: AuditQueue,
    pub(super) nudged: AtomicBool,
    listener: RwLock<Option<Arc<Listener>>>,
    unchecked: AtomicBool,
    /// Rows that writes touch while the store is rewritten.
    pub(super) touched: Mutex<Option<Touched>>,
}

/// When the next attempt at reopening is due.
struct Retry {
    at: Instant,
    pause: Duration,
}

impl Retry {
    fn new() -> Self {
        Retry { at: Instant::now(), pause: Duration::from_millis(REOPEN_BACKOFF_MS_MIN) }
    }

    fn failed(&mut self) {
        self.at = Instant::now() + self.pause;
        self.pause = (self.pause * 2).min(Duration::from_millis(REOPEN_BACKOFF_MS_MAX));
    }
}

impl Handle {
    /// Opens the store of a folder whose lock was taken.
    pub(super) fn open(dir: &Path, mut lock: StoreLock, options: OpenOptions) -> Result<Self, OpenError> {
        let opened = open_dir(dir, lock.epoch(), &options)?;
        backup::remove_unfinished(dir);
        restore::remove_unfinished(dir);
        lock.note(opened.record.epoch);
        let unchecked = !opened.checked && options.checks == Checks::On;
        let health = opened.read_only.as_ref().map_or(Health::Well, state_after);
        Ok(Handle {
            dir: dir.to_owned(),
            // The opening is what this progress was about; what opens files later brings its own.
            options: OpenOptions { progress: Arc::new(|_, _, _| {}), ..options },
            record: RwLock::new(opened.record),
            seq: AtomicU64::new(opened.seq),
            commits: AtomicU64::new(0),
            health: RwLock::new(health),
            database: RwLock::new(Some(opened.database)),
            lock: Mutex::new(Some(lock)),
            retry: Mutex::new(Retry::new()),
            audit: AuditQueue::default(),
            nudged: AtomicBool::new(false),
            listener: RwLock::new(None),
            unchecked: AtomicBool::new(unchecked),
            touched: Mutex::new(None),
        })
    }

    pub(super) fn record(&self) -> StoreRecord {
        self.record.read().clone()
    }

    pub(super) fn seq(&self) -> u64 {
        self.seq.load(Ordering::Acquire)
    }

    pub(super) fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }

    pub(super) fn health(&self) -> Health {
        self.health.read().clone()
    }

    pub(super) fn checks(&self) -> Checks {
        self.options.checks
    }

    pub(super) fn now_ms(&self) -> i64 {
        self.options.clock.now_ms()
    }

    /// Whether the file was too large to be checked when it was opened; answers true once.
    pub(super) fn take_unchecked(&self) -> bool {
        self.unchecked.swap(false, Ordering::AcqRel)
    }

    /// Size of the store file.
    pub(super) fn file_bytes(&self) -> u64 {
        std::fs::metadata(self.dir.join(STORE_FILE)).map_or(0, |meta| meta.len())
    }

    pub(super) fn set_listener(&self, listener: Listener) {
        *self.listener.write() = Some(Arc::new(listener));
    }

    /// Runs a read on the current view.
    pub(super) fn read<R>(&self, read: impl FnOnce(&ReadTx) -> R) -> Result<R, StoreError> {
        if let Health::Damaged { cause } = &*self.health.read() {
            return Err(StoreError::damaged_file(cause.clone()));
        }
        let database = self.database.read_recursive();
        let database = database.as_ref().ok_or_else(|| self.absent())?;
        let tx = ReadTx::new(database.begin_read().map_err(engine)?, self.checks());
        Ok(read(&tx))
    }

    /// Why there is no open database.
    fn absent(&self) -> StoreError {
        match self.health() {
            Health::Well | Health::Closed => StoreError::Closed,
            Health::Full => self.describe(StoreError::Full { free_bytes: 0, reserve_bytes: 0 }),
            Health::ReadOnly { cause } => StoreError::ReadOnly { cause },
            Health::Damaged { cause } => StoreError::damaged_file(cause),
        }
    }

    /// A view that outlives the call. A replacement of the database ends it with an error.
    pub(super) fn long_view(&self) -> Result<ReadTx, StoreError> {
        let database = self.database.read_recursive();
        let view = database.as_ref().ok_or_else(|| self.absent())?.begin_read().map_err(engine)?;
        Ok(ReadTx::new(view, self.checks()))
    }

    /// Runs something on the open database.
    pub(super) fn with_database<R>(&self, work: impl FnOnce(&Database) -> R) -> Result<R, StoreError> {
        let database = self.database.read_recursive();
        Ok(work(database.as_ref().ok_or_else(|| self.absent())?))
    }

    /// Notes damage found by a read: from now on neither reads nor writes are served.
    pub(super) fn found_damage(&self, error: &StoreError) {
        let mut health = self.health.write();
        if !matches!(*health, Health::Damaged { .. } | Health::Closed) {
            tracing::error!(%error, "the store is damaged; restore the last good backup: tiro store restore");
            *health = Health::Damaged { cause: error.to_string() };
        }
    }

    /// Whether a write may begin. Reopens the database where a full disk had stopped it and there is room again.
    pub(super) fn admit_write(&self) -> Result<(), StoreError> {
        match self.health() {
            Health::Well => Room::check(&self.dir),
            Health::Full => self.come_back(),
            Health::ReadOnly { cause } => Err(StoreError::ReadOnly { cause }),
            Health::Damaged { cause } => Err(StoreError::damaged_file(cause)),
            Health::Closed => Err(StoreError::Closed),
        }
    }

    fn come_back(&self) -> Result<(), StoreError> {
        Room::check(&self.dir)?;
        if Instant::now() < self.retry.lock().at {
            return Err(self.describe(StoreError::Full { free_bytes: 0, reserve_bytes: 0 }));
        }
        let outcome = self.replace(Box::new(|| Ok(())), StoreChange::Reopened);
        match (&outcome, self.health()) {
            (Ok(()), Health::Well) => *self.retry.lock() = Retry::new(),
            _ => self.retry.lock().failed(),
        }
        match self.health() {
            Health::Well => outcome,
            _ => Err(self.describe(StoreError::Full { free_bytes: 0, reserve_bytes: 0 })),
        }
    }

    /// Notes a commit.
    pub(super) fn committed(&self, seq: u64) {
        self.seq.store(seq, Ordering::Release);
        self.commits.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes that a transaction failed for a reason of the disk's.
    pub(super) fn failed(&self, error: &StoreError) {
        if !error.is_storage() {
            return;
        }
        if matches!(error, StoreError::Damaged { .. }) {
            return self.found_damage(error);
        }
        tracing::error!(%error, "a write failed; the store takes no writes until it is reopened");
        *self.health.write() = state_after(error);
    }

    /// An error with the figures of the volume.
    pub(super) fn describe(&self, error: StoreError) -> StoreError {
        Room::describe(&self.dir, error)
    }

    /// Closes the database, does the work, and opens it again; tells the listener.
    pub(super) fn replace(
        &self,
        work: Box<dyn FnOnce() -> Result<(), StoreError> + Send>,
        change: StoreChange,
    ) -> Result<(), StoreError> {
        let (worked, opened) = {
            let mut database = self.database.write();
            drop(database.take());
            let worked = work();
            match open_dir(&self.dir, Some(self.record().epoch), &self.options) {
                Ok(opened) => {
                    self.take_over(&mut database, opened);
                    (worked, Ok(()))
                }
                Err(error) => (worked, Err(error)),
            }
        };
        match opened {
            Ok(()) => {}
            Err(OpenError::Store { source, .. }) => {
                *self.health.write() = state_after(&source);
                return Err(source);
            }
            Err(refusal) => {
                let error = StoreError::damaged_file(refusal.to_string());
                *self.health.write() = Health::Damaged { cause: refusal.to_string() };
                return Err(error);
            }
        }
        let listener = self.listener.read().clone();
        if let Some(listener) = listener {
            listener(if worked.is_ok() { change } else { StoreChange::Reopened });
        }
        worked
    }

    /// Puts a rewritten file in the place of the open one: what was written last is copied, the file takes the store's name. Gives the
    /// old database. On the writer's thread, so that no write comes in between.
    pub(super) fn swap_in(&self, fresh: Database, path: &Path) -> Result<Database, NotSwapped> {
        if let Err(error) = self.complete(&fresh, path) {
            return Err(NotSwapped { fresh, error });
        }
        let store = self.dir.join(STORE_FILE);
        let old = {
            let wait = Duration::from_millis(SWAP_WAIT_MS_MAX);
            let Some(mut database) = self.database.try_write_for(wait) else {
                return Err(NotSwapped { fresh, error: StoreError::Busy });
            };
            // Taken out before, so that nothing can stand between the rename and the change of databases.
            let Some(old) = database.take() else { return Err(NotSwapped { fresh, error: StoreError::Closed }) };
            if let Err(error) = std::fs::rename(path, &store) {
                *database = Some(old);
                return Err(NotSwapped { fresh, error: error.into() });
            }
            *database = Some(fresh);
            old
        };
        if let Err(error) = sync_folder(&store) {
            // After a loss of power the name may stand for the old file: nothing may be written that it would lack.
            tracing::error!(%error, "the folder of the store could not be synced; the store takes no writes until it is reopened");
            *self.health.write() = state_after(&error);
        }
        Ok(old)
    }

    /// Copies the last of what was written into a rewritten file, and holds the two against each other.
    fn complete(&self, fresh: &Database, path: &Path) -> Result<(), StoreError> {
        if self.health() != Health::Well {
            return Err(StoreError::Interrupted);
        }
        let rows = self.take_touched()?;
        let view = self.long_view()?;
        let bytes = std::fs::metadata(path)?.len();
        rewrite::copy_rows(&view, fresh, &rows, Some(rewrite::Last { bytes }))?;
        rewrite::same_counts(&view, fresh)
    }

    fn take_over(&self, database: &mut Option<Database>, opened: Opened) {
        *self.health.write() = opened.read_only.as_ref().map_or(Health::Well, state_after);
        if let Some(lock) = &mut *self.lock.lock() {
            lock.note(opened.record.epoch);
        }
        *self.record.write() = opened.record;
        self.seq.store(opened.seq, Ordering::Release);
        *database = Some(opened.database);
    }

    /// Closes the database in order and lets the folder go.
    pub(super) fn close(&self) -> Result<(), StoreError> {
        let database = self.database.write().take();
        *self.health.write() = Health::Closed;
        let closed = database.map_or(Ok(()), |database| super::rows::guarded(|| database.close().map_err(engine)));
        self.lock.lock().take();
        closed
    }

    /// The epoch noted in the lock file.
    pub(super) fn noted_epoch(&self) -> Option<u64> {
        self.lock.lock().as_ref().and_then(StoreLock::epoch)
    }
}

/// The state an error of the disk leaves the store in.
fn state_after(error: &StoreError) -> Health {
    match error {
        StoreError::Full { .. } => Health::Full,
        StoreError::Damaged { .. } => Health::Damaged { cause: error.to_string() },
        other => Health::ReadOnly { cause: other.to_string() },
    }
}
