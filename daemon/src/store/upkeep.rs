//! The store's long pieces of work: backup, verify, restore; and the thread that makes backups daily and checks a large file behind its opening.
//!
//! They block: call them on a thread that may wait. Must not know: the wire, the index (handed in as a closure).

use super::backup::{self, BackupFile, BackupReport, Copying};
use super::error::StoreError;
use super::open::Progress;
use super::restore::{self, RestoreReport};
use super::verify::{IndexCheck, VerifyReport, Verifying};
use super::{Health, LongWork, Store, StoreChange};
use crate::limits::{BACKUP_FIRST_MS, BACKUP_INTERVAL_MS, BACKUP_LOOK_MS, LONG_WORK_WAIT_MS};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

impl Store {
    /// Copies the store, as it is now, into one file: `to`, or a new one in the backup folder, of which the newest few are kept.
    ///
    /// # Errors
    /// The disk's, `Damaged`, `Busy`, `Interrupted` when cancelled; no file is left then.
    pub fn backup(
        &self,
        to: Option<&Path>,
        progress: &Progress,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<BackupReport, StoreError> {
        let _alone = self.long_work()?;
        self.copy(to, progress, cancelled)
    }

    fn copy(&self, to: Option<&Path>, progress: &Progress, cancelled: &dyn Fn() -> bool) -> Result<BackupReport, StoreError> {
        let handle = self.handle();
        let view = handle.long_view()?;
        let copying = Copying {
            dir: &handle.dir,
            epoch: handle.record().epoch,
            options: &handle.options,
            progress,
            cancelled,
            stage: "backup",
        };
        copying.run(&view, to).inspect_err(|error| self.notice(error))
    }

    /// Backups in the backup folder, newest first.
    pub fn backups(&self) -> Vec<BackupFile> {
        backup::list(&self.handle().dir)
    }

    /// Makes a backup when the newest is a day old (or there is none and the store is older than [`BACKUP_FIRST_MS`]) and something was
    /// written since. It gives way to what somebody asks for.
    ///
    /// # Errors
    /// As [`Store::backup`]; `Busy` at once while something else is under way, `Interrupted` when it gave way.
    pub fn backup_if_due(&self, progress: &Progress, cancelled: &dyn Fn() -> bool) -> Result<Option<BackupReport>, StoreError> {
        let newest = self.backups().into_iter().next();
        let identity = self.identity();
        let first = (identity.created_at_ms, BACKUP_FIRST_MS, (identity.epoch, 0));
        let (since, interval_ms, held) = newest.map_or(first, |n| (n.created_at_ms, BACKUP_INTERVAL_MS, (n.epoch, n.seq)));
        let now = self.handle().now_ms();
        // A newest backup from the future means that the clock was set back: then it says nothing about its age.
        let due = now >= since.saturating_add(interval_ms) || now < since;
        if !due || (identity.epoch, self.seq()) == held || self.health() != Health::Well {
            return Ok(None);
        }
        let _alone = self.shared.long_work.try_lock().ok_or(StoreError::Busy)?;
        let gives_way = || cancelled() || self.shared.long_work_wanted.load(Ordering::Relaxed) > 0;
        self.copy(None, progress, &gives_way).map(Some)
    }

    /// Checks every record, every table's count, every pointer between tables and the audit's chain; and the index, where a check of it is
    /// handed in. Damage closes the store to reads and writes.
    ///
    /// # Errors
    /// The disk's, `Busy`, or `Interrupted` when cancelled. What is wrong with the store is in the report.
    pub fn verify(
        &self,
        index: Option<IndexCheck<'_>>,
        progress: &Progress,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<VerifyReport, StoreError> {
        let _alone = self.long_work()?;
        let view = self.handle().long_view()?;
        let report = Verifying { progress, cancelled, index }.run(&view)?;
        if let Some(damage) = &report.damage {
            self.notice(damage);
        }
        Ok(report)
    }

    /// Puts a backup in the place of the store: the one asked for, or the newest good one. The present file is set aside. Afterwards the epoch
    /// is new, and the listener was told `Restored`.
    ///
    /// # Errors
    /// Why no backup could be put in place; the store is then as it was, or as [`Store::health`] says.
    pub fn restore(
        &self,
        asked: Option<&Path>,
        progress: &Progress,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<RestoreReport, StoreError> {
        let _alone = self.long_work()?;
        let handle = self.handle();
        let options = super::OpenOptions { progress: progress.clone(), ..handle.options.clone() };
        let chosen = restore::choose(&handle.dir, asked, &options, cancelled)?;
        let epoch = handle.record().epoch.max(chosen.epoch).max(handle.noted_epoch().unwrap_or(0)) + 1;
        restore::prepare(&handle.dir, &chosen, epoch, &options)?;
        let (dir, aside) = (handle.dir.clone(), restore::aside_name(&handle.dir, handle.now_ms()));
        let set_aside = aside.clone();
        self.exclusive(Box::new(move || restore::swap(&dir, aside.as_deref())), StoreChange::Restored)?;
        restore::prune_set_aside(&handle.dir);
        Ok(RestoreReport { from: chosen.path, set_aside, memories: chosen.memories, epoch })
    }

    /// The same, by somebody who holds the long work already.
    ///
    /// # Errors
    /// As [`Store::backup`].
    pub fn backup_within(
        &self,
        _alone: &LongWork<'_>,
        progress: &Progress,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<BackupReport, StoreError> {
        self.copy(None, progress, cancelled)
    }

    /// Whether somebody who was asked for it waits for the long work.
    pub fn long_work_wanted(&self) -> bool {
        self.shared.long_work_wanted.load(Ordering::Relaxed) > 0
    }

    /// The long work, if nobody has it.
    ///
    /// # Errors
    /// `Busy`.
    pub fn try_long_work(&self) -> Result<LongWork<'_>, StoreError> {
        self.shared.long_work.try_lock().ok_or(StoreError::Busy)
    }

    /// Held while a long piece of work on the store is under way; one at a time. Waits for one that is, bounded.
    ///
    /// # Errors
    /// `Busy`.
    pub fn long_work(&self) -> Result<LongWork<'_>, StoreError> {
        let wanted = &self.shared.long_work_wanted;
        wanted.fetch_add(1, Ordering::Relaxed);
        let taken = self.shared.long_work.try_lock_for(Duration::from_millis(LONG_WORK_WAIT_MS));
        wanted.fetch_sub(1, Ordering::Relaxed);
        taken.ok_or(StoreError::Busy)
    }

    fn notice(&self, error: &StoreError) {
        if matches!(error, StoreError::Damaged { .. }) {
            self.handle().found_damage(error);
        }
    }

    /// Folder of the store.
    pub fn dir(&self) -> PathBuf {
        self.handle().dir.clone()
    }
}

/// The thread that makes daily backups, and first checks a file that was too large to be checked before the first answer. Ends when dropped.
pub struct Upkeep {
    stop: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Upkeep {
    /// Starts it.
    ///
    /// # Errors
    /// The system's.
    pub fn start(store: Store) -> std::io::Result<Upkeep> {
        let (stop, stopped) = sync_channel::<()>(0);
        let thread = std::thread::Builder::new().name("store-upkeep".into()).spawn(move || {
            let quiet: Progress = std::sync::Arc::new(|_, _, _| {});
            let is_over = || !matches!(stopped.try_recv(), Err(std::sync::mpsc::TryRecvError::Empty));
            if store.handle().take_unchecked() {
                match store.verify(None, &quiet, &is_over) {
                    Ok(report) if report.problems.is_empty() => tracing::info!(report.elapsed_ms, "the store was checked whole"),
                    Ok(report) => tracing::error!(problems = ?report.problems, "the store is not whole"),
                    Err(error) => tracing::warn!(%error, "the store was not checked whole"),
                }
            }
            loop {
                match store.backup_if_due(&quiet, &is_over) {
                    Ok(Some(report)) => tracing::info!(path = %report.path.display(), report.bytes, "backup made"),
                    Ok(None) => {}
                    Err(StoreError::Busy | StoreError::Interrupted) => tracing::info!("the daily backup is put off"),
                    Err(error) => tracing::warn!(%error, "the daily backup was not made"),
                }
                if !matches!(stopped.recv_timeout(Duration::from_millis(BACKUP_LOOK_MS)), Err(RecvTimeoutError::Timeout)) {
                    return;
                }
            }
        })?;
        Ok(Upkeep { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Upkeep {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
