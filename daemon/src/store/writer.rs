//! The one writer: takes what waits, puts it into one transaction, commits, runs the hooks, answers.
//!
//! It never lingers for more. A job that fails before it wrote is just answered; one that wrote and then failed takes the transaction
//! back, and the others run again without it. Must not know: what the jobs write.

use super::error::{StoreError, engine};
use super::handle::{Handle, Health};
use super::job::{Fate, Job, Ran};
use super::rows::{guarded, panic_text};
use super::write_tx::{Hook, WriteTx};
use crate::limits::{AUDIT_FLUSH_MS, INTEGRITY_AT_OPEN_BYTES_MAX, WRITE_BATCH_MAX};
use redb::Database;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// What the writer can be asked for.
pub(super) enum Command {
    /// A write.
    Job(Box<dyn Job>),
    /// Something waits in the audit's queue.
    Nudge,
    /// Work on the closed store file, with the writer standing still; the store is opened again afterwards.
    Exclusive(Exclusive),
    /// A rewritten file that takes the store's place.
    Swap(Box<Swap>),
    /// The end.
    Close(oneshot::Sender<Result<(), StoreError>>),
}

/// Work on the closed store file, and where its outcome goes.
pub(super) struct Exclusive {
    pub(super) work: Box<dyn FnOnce() -> Result<(), StoreError> + Send>,
    pub(super) change: super::StoreChange,
    pub(super) reply: oneshot::Sender<Result<(), StoreError>>,
}

/// A rewritten file, and where the old one goes.
pub(super) struct Swap {
    pub(super) fresh: Database,
    pub(super) path: std::path::PathBuf,
    pub(super) reply: oneshot::Sender<Result<Swapped, Box<NotSwapped>>>,
}

/// What became of a rewritten file.
pub(super) struct Swapped {
    /// The database it replaced.
    pub(super) old: Database,
    /// Milliseconds in which no write was taken.
    pub(super) waited_ms: u64,
}

/// A rewritten file that could not take the store's place, and why. It can be tried again.
pub(super) struct NotSwapped {
    pub(super) fresh: Database,
    pub(super) error: StoreError,
}

/// The writer's thread.
pub(super) struct Writer {
    handle: Arc<Handle>,
    commands: Receiver<Command>,
    flush_at: Option<Instant>,
}

/// How one attempt at a transaction ended.
enum Attempt {
    Committed(u64, Vec<Hook>),
    Again,
    Failed(Fate),
}

impl Writer {
    pub(super) fn new(handle: Arc<Handle>, commands: Receiver<Command>) -> Self {
        Writer { handle, commands, flush_at: None }
    }

    /// Works until the store is closed or nobody holds it any more.
    pub(super) fn run(mut self) {
        let mut next = None;
        loop {
            let command = match next.take() {
                Some(command) => command,
                None => match self.wait() {
                    Some(command) => command,
                    None => break,
                },
            };
            match command {
                Command::Job(job) => next = self.take_batch(job),
                Command::Nudge => self.nudged(),
                Command::Exclusive(exclusive) => self.exclusive(exclusive),
                Command::Swap(swap) => self.swap(*swap),
                Command::Close(reply) => {
                    let _ = reply.send(self.close());
                    break;
                }
            }
            if self.flush_at.is_some_and(|at| at <= Instant::now()) {
                self.write_batch(Vec::new());
            }
        }
        let _ = self.close();
        for command in self.commands.try_iter() {
            if let Command::Job(job) = command {
                job.answer(Fate::NotDone(StoreError::Closed));
            }
        }
    }

    /// The next command; none when all senders are gone.
    fn wait(&mut self) -> Option<Command> {
        let Some(at) = self.flush_at else { return self.commands.recv().ok() };
        match self.commands.recv_timeout(at.saturating_duration_since(Instant::now())) {
            Ok(command) => Some(command),
            Err(RecvTimeoutError::Timeout) => Some(Command::Nudge),
            Err(RecvTimeoutError::Disconnected) => None,
        }
    }

    fn nudged(&mut self) {
        self.handle.nudged.store(false, Ordering::Release);
        self.flush_at.get_or_insert_with(|| Instant::now() + Duration::from_millis(AUDIT_FLUSH_MS));
    }

    /// Writes this job and what waits behind it. Gives back the command that ended the batch, if it was another kind.
    fn take_batch(&mut self, first: Box<dyn Job>) -> Option<Command> {
        let mut jobs = vec![first];
        let mut next = None;
        while jobs.len() < WRITE_BATCH_MAX {
            match self.commands.try_recv() {
                Ok(Command::Job(job)) => jobs.push(job),
                Ok(Command::Nudge) => self.nudged(),
                Ok(other) => {
                    next = Some(other);
                    break;
                }
                Err(_) => break,
            }
        }
        self.write_batch(jobs);
        next
    }

    fn write_batch(&mut self, mut jobs: Vec<Box<dyn Job>>) {
        self.flush_at = None;
        if let Err(error) = self.handle.admit_write() {
            if self.handle.audit.counts().0 > 0 {
                self.flush_at = Some(Instant::now() + Duration::from_millis(AUDIT_FLUSH_MS));
            }
            return answer_all(jobs, &Fate::NotDone(error));
        }
        loop {
            let audit = self.handle.audit.take();
            let attempt = self.handle.with_database(|database| self.attempt(database, &mut jobs, &audit));
            match attempt.unwrap_or_else(|error| Attempt::Failed(Fate::NotDone(error))) {
                Attempt::Committed(seq, hooks) => {
                    self.handle.committed(seq);
                    run_hooks(hooks);
                    return answer_all(jobs, &Fate::Committed);
                }
                Attempt::Again => self.handle.audit.put_back(audit),
                Attempt::Failed(fate) => {
                    self.handle.audit.put_back(audit);
                    let (Fate::NotDone(error) | Fate::Unknown(error)) = &fate else { return };
                    self.handle.failed(error);
                    return answer_all(jobs, &fate);
                }
            }
        }
    }

    /// One transaction with all jobs. A job that spoils it is answered and taken out of `jobs`.
    fn attempt(
        &self,
        database: &Database,
        jobs: &mut Vec<Box<dyn Job>>,
        audit: &std::collections::VecDeque<tiro_schema::record::AuditRecord>,
    ) -> Attempt {
        let not_done = |error| Attempt::Failed(Fate::NotDone(self.handle.describe(error)));
        let mut tx = match begin(database, &self.handle) {
            Ok(tx) => tx,
            Err(error) => return not_done(error),
        };
        for at in 0..jobs.len() {
            let mark = tx.mark();
            let ran = jobs[at].run(&mut tx);
            if let Some(error) = tx.failure() {
                return not_done(error);
            }
            let fate = match ran {
                Ran::Done => continue,
                Ran::Refused if !tx.changed_since(mark) => {
                    tx.reset_to(mark);
                    continue;
                }
                // The transaction is taken back when `tx` is dropped: this refusal is about nothing that could still change.
                Ran::Refused => Fate::Committed,
                Ran::Panicked(message) => {
                    tracing::error!(label = jobs[at].label(), message, "a write panicked");
                    Fate::NotDone(StoreError::JobPanicked { label: jobs[at].label(), message })
                }
            };
            jobs.remove(at).answer(fate);
            return Attempt::Again;
        }
        for row in audit {
            if let Err(error) = tx.append_audit(row.clone()) {
                return not_done(error);
            }
        }
        match tx.finish() {
            Ok(true) => {}
            Ok(false) => {
                let (transaction, seq, hooks) = tx.into_parts();
                let _ = guarded(|| transaction.abort().map_err(engine));
                return Attempt::Committed(seq, hooks);
            }
            Err(error) => return not_done(error),
        }
        let touched = tx.take_touched();
        let (transaction, seq, hooks) = tx.into_parts();
        let committed = guarded(|| transaction.commit().map_err(engine));
        // After the commit, whatever came of it: a rewriting that took these rows before would look them up in a view without it.
        self.handle.touch(touched);
        match committed {
            Ok(()) => Attempt::Committed(seq, hooks),
            Err(error) => Attempt::Failed(Fate::Unknown(self.handle.describe(error))),
        }
    }

    fn exclusive(&mut self, exclusive: Exclusive) {
        let outcome = self.handle.replace(exclusive.work, exclusive.change);
        let _ = exclusive.reply.send(outcome);
    }

    fn swap(&mut self, swap: Swap) {
        let began = Instant::now();
        let swapped = self.handle.swap_in(swap.fresh, &swap.path).map_err(Box::new);
        let waited_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let _ = swap.reply.send(swapped.map(|old| Swapped { old, waited_ms }));
    }

    fn close(&mut self) -> Result<(), StoreError> {
        if self.handle.health() == Health::Well && self.handle.audit.counts().0 > 0 {
            self.write_batch(Vec::new());
        }
        self.handle.close()
    }
}

/// Begins a transaction. A file too large to be checked before the first answer records its allocation with every commit, so that it
/// opens in milliseconds however it was left: at 1,088 MB 6 ms instead of 1.7 s, for 72 KB more written a commit (197 instead of 125)
/// and 0.1 ms of CPU. A smaller one is walked at every open (272 MB: 0.45 s with both cores busy), which is the check and the repair.
fn begin(database: &Database, handle: &Handle) -> Result<WriteTx, StoreError> {
    let mut transaction = guarded(|| database.begin_write().map_err(engine))?;
    transaction.set_two_phase_commit(true);
    transaction.set_quick_repair(handle.file_bytes() > INTEGRITY_AT_OPEN_BYTES_MAX);
    let mut tx = WriteTx::new(transaction, handle.checks(), handle.now_ms(), handle.options.audit)?;
    tx.note_touched(handle.touched.lock().is_some());
    Ok(tx)
}

fn run_hooks(hooks: Vec<Hook>) {
    for hook in hooks {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(hook)) {
            tracing::error!(message = panic_text(&*panic), "a hook after a commit panicked");
        }
    }
}

fn answer_all(jobs: Vec<Box<dyn Job>>, fate: &Fate) {
    for job in jobs {
        job.answer(fate.clone());
    }
}
