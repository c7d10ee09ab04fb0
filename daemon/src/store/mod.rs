//! The store: one redb file that is the only truth, one writer, many readers.
//!
//! redb is named in this folder and nowhere else. `tables` says what lies where, `codec` how a record becomes bytes, `open` when a
//! file is refused, `writer` how writes are grouped, `handle` what happens after an error. Must not know: what memories and
//! sessions are for; the index (it is told of changes through hooks and a listener).

pub mod absent;
pub mod audit;
pub mod backend;
pub mod backup;
pub mod codec;
mod disk;
pub mod error;
pub mod feedback;
#[cfg(test)]
mod golden;
mod handle;
mod job;
mod keys;
pub mod lock;
pub mod models;
pub mod open;
pub mod purge;
mod purge_copies;
pub mod purge_sessions;
pub mod read;
pub mod read_conflict;
pub mod read_session;
pub mod restore;
pub mod rewrite;
pub mod rows;
pub mod rules;
pub mod tables;
mod upkeep;
pub mod verify;
mod verify_rows;
mod write_conflict;
mod write_session;
pub mod write_tx;
mod writer;

pub use audit::AuditRetention;
pub use backend::{BackendFactory, FileFactory};
pub use backup::{BackupFile, BackupReport};
pub use codec::Checks;
pub use error::{OpenError, StoreError, WriteFailure};
pub use feedback::FeedbackReads;
pub use handle::Health;
pub use lock::StoreLock;
pub use models::ModelReads;
pub use open::{FORMAT, INDEX_FOLDER, OpenOptions, Progress, STORE_FILE};
pub use purge::PurgeReads;
pub use purge_copies::CopiesRemoved;
pub use purge_sessions::{Spoken, SpokenReads};
pub use read::{Reads, SpaceCounts};
pub use read_conflict::ConflictReads;
pub use read_session::SessionReads;
pub use restore::{RestoreReport, restore_folder};
pub use rewrite::RewriteReport;
pub use rows::{Direction, ReadTx, Rows};
pub use rules::RuleReads;
pub use upkeep::Upkeep;
pub use verify::{IndexCheck, VerifyReport};
pub use write_tx::WriteTx;

use crate::limits::{OUTBOX_TRIM_ROWS_MAX, WRITE_QUEUE_MAX};
use handle::Handle;
use job::{Answer, TypedJob};
use parking_lot::Mutex;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use tiro_schema::record::{AuditRecord, StoreRecord};
use tokio::sync::oneshot;
use writer::{Command, Exclusive, Writer};

/// Held while a long piece of work on the store is under way.
pub type LongWork<'a> = parking_lot::MutexGuard<'a, ()>;

/// What happened to the contents besides a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreChange {
    /// The file was reopened: a write whose outcome was unknown may stand in it.
    Reopened,
    /// Another file took its place: its epoch is new.
    Restored,
}

/// A store that is open. Cheap to clone.
#[derive(Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

struct Shared {
    handle: Arc<Handle>,
    commands: Mutex<Option<SyncSender<Command>>>,
    long_work: Mutex<()>,
    /// How many wait for it who were asked by somebody.
    long_work_wanted: AtomicUsize,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.commands.lock().take();
        if let Some(thread) = self.thread.lock().take()
            && thread.thread().id() != std::thread::current().id()
        {
            let _ = thread.join();
        }
    }
}

/// Counts about the store.
#[derive(Debug, Clone, PartialEq)]
pub struct StoreStats {
    /// How it is.
    pub health: Health,
    /// Size of the file.
    pub file_bytes: u64,
    /// Newest sequence.
    pub seq: u64,
    /// Transactions committed since the start.
    pub commits: u64,
    /// Reads that wait to be written to the audit.
    pub audit_waiting: usize,
    /// Reads that were not written to the audit because too many waited.
    pub audit_dropped: u64,
}

impl Store {
    /// Opens the store of a folder, which exists, making one where the folder has none. Takes the folder's lock for life.
    ///
    /// # Errors
    /// Says why the store was refused; its file is then as it was.
    pub fn open(dir: &Path, options: OpenOptions) -> Result<Store, OpenError> {
        Self::open_locked(dir, StoreLock::take(dir)?, options)
    }

    /// The same with the folder's lock taken already.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_locked(dir: &Path, lock: StoreLock, options: OpenOptions) -> Result<Store, OpenError> {
        let handle = Arc::new(Handle::open(dir, lock, options)?);
        let (commands, waiting) = sync_channel(WRITE_QUEUE_MAX);
        let writer = Writer::new(Arc::clone(&handle), waiting);
        let thread = std::thread::Builder::new().name("store-writer".into()).spawn(move || writer.run());
        let thread = thread.map_err(|error| OpenError::Store { path: dir.join(STORE_FILE), source: error.into() })?;
        let shared = Shared {
            handle,
            commands: Mutex::new(Some(commands)),
            long_work: Mutex::new(()),
            long_work_wanted: AtomicUsize::new(0),
            thread: Mutex::new(Some(thread)),
        };
        Ok(Store { shared: Arc::new(shared) })
    }

    fn handle(&self) -> &Handle {
        &self.shared.handle
    }

    /// Its identity.
    pub fn identity(&self) -> StoreRecord {
        self.handle().record()
    }

    /// Newest committed sequence.
    pub fn seq(&self) -> u64 {
        self.handle().seq()
    }

    /// A sequence as it is shown on the wire: opaque, bound to the epoch.
    pub fn seq_token(&self, seq: u64) -> String {
        format!("{}-{seq}", self.identity().epoch)
    }

    /// Unix milliseconds now, by its clock.
    pub fn now_ms(&self) -> i64 {
        self.handle().now_ms()
    }

    /// How it is.
    pub fn health(&self) -> Health {
        self.handle().health()
    }

    /// Counts about it.
    pub fn stats(&self) -> StoreStats {
        let handle = self.handle();
        let (audit_waiting, audit_dropped) = handle.audit.counts();
        StoreStats {
            health: handle.health(),
            file_bytes: handle.file_bytes(),
            seq: handle.seq(),
            commits: handle.commits(),
            audit_waiting,
            audit_dropped,
        }
    }

    /// Names who is told when the contents change otherwise than by a commit. Called on the writer's thread: it must not wait for a write.
    pub fn on_change(&self, listener: impl Fn(StoreChange) + Send + Sync + 'static) {
        self.handle().set_listener(Box::new(listener));
    }

    /// Reads on one consistent view. Short and synchronous: never hold it over an await.
    ///
    /// # Errors
    /// That of `read`, or the store's when no view can be had. Damage found on the way closes the store to reads and writes.
    pub fn read<R, E: From<StoreError>>(&self, read: impl FnOnce(&ReadTx) -> Result<R, E>) -> Result<R, E> {
        self.handle().read(|tx| {
            let result = read(tx);
            if let Some(damage) = tx.damage() {
                self.handle().found_damage(&damage);
                return Err(E::from(damage));
            }
            result
        })?
    }

    /// Writes: `job` runs in a transaction shared with others that wait, possibly more than once, and the answer comes when it is durable.
    ///
    /// # Errors
    /// Says whether the write was refused by the job, was not done, or has an unknown outcome.
    pub async fn write<R, E, F>(&self, label: &'static str, job: F) -> Result<R, WriteFailure<E>>
    where
        R: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: FnMut(&mut WriteTx) -> Result<R, E> + Send + 'static,
    {
        self.enqueue(label, job)?.await.unwrap_or(Err(WriteFailure::Closed))
    }

    /// The same for threads outside the runtime.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub fn write_blocking<R, E, F>(&self, label: &'static str, job: F) -> Result<R, WriteFailure<E>>
    where
        R: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: FnMut(&mut WriteTx) -> Result<R, E> + Send + 'static,
    {
        self.enqueue(label, job)?.blocking_recv().unwrap_or(Err(WriteFailure::Closed))
    }

    fn enqueue<R, E, F>(&self, label: &'static str, job: F) -> Result<oneshot::Receiver<Answer<R, E>>, WriteFailure<E>>
    where
        R: Send + 'static,
        E: Send + 'static,
        F: FnMut(&mut WriteTx) -> Result<R, E> + Send + 'static,
    {
        let (job, answer) = TypedJob::new(label, job);
        match self.send(Command::Job(Box::new(job))) {
            Ok(()) => Ok(answer),
            Err(TrySendError::Full(_)) => Err(WriteFailure::Overloaded),
            Err(TrySendError::Disconnected(_)) => Err(WriteFailure::Closed),
        }
    }

    fn send(&self, command: Command) -> Result<(), TrySendError<Command>> {
        match &*self.shared.commands.lock() {
            Some(commands) => commands.try_send(command),
            None => Err(TrySendError::Disconnected(command)),
        }
    }

    /// Puts a read of memory into the audit, durable within a second. Never waits; when too many wait, the oldest is dropped and counted.
    pub fn audit_read(&self, row: AuditRecord) {
        self.handle().audit.push(row);
        if !self.handle().nudged.swap(true, Ordering::AcqRel) && self.send(Command::Nudge).is_err() {
            // The queue is full of writes, and the next of their transactions takes the audit along.
            self.handle().nudged.store(false, Ordering::Release);
        }
    }

    /// Takes out outbox rows up to a sequence, once everything derived from the store has passed it. In bounded steps, waiting for each.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub fn trim_outbox(&self, upto: u64) -> Result<(), WriteFailure<StoreError>> {
        while self.write_blocking("trim the outbox", move |tx| tx.trim_outbox(upto, OUTBOX_TRIM_ROWS_MAX))? {}
        Ok(())
    }

    /// Closes the file and opens it again, which ends the state after an error of the disk. Waits; not for the runtime's threads.
    ///
    /// # Errors
    /// Why it could not be opened.
    pub fn reopen(&self) -> Result<(), StoreError> {
        self.exclusive(Box::new(|| Ok(())), StoreChange::Reopened)
    }

    fn exclusive(&self, work: Box<dyn FnOnce() -> Result<(), StoreError> + Send>, change: StoreChange) -> Result<(), StoreError> {
        let (reply, answer) = oneshot::channel();
        self.send(Command::Exclusive(Exclusive { work, change, reply })).map_err(|_| StoreError::Closed)?;
        answer.blocking_recv().unwrap_or(Err(StoreError::Closed))
    }

    /// Does what waits, closes the file in order and lets the folder go. Waits; not for the runtime's threads.
    ///
    /// # Errors
    /// The disk's; the store is closed all the same.
    pub fn close(&self) -> Result<(), StoreError> {
        let Some(commands) = self.shared.commands.lock().take() else { return Ok(()) };
        let (reply, answer) = oneshot::channel();
        commands.send(Command::Close(reply)).map_err(|_| StoreError::Closed)?;
        let closed = answer.blocking_recv().unwrap_or(Err(StoreError::Closed));
        if let Some(thread) = self.shared.thread.lock().take() {
            let _ = thread.join();
        }
        closed
    }
}
