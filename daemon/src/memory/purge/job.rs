//! The daemon's own purge: a thread that looks now and then for what cannot be undone any more, and takes up purges that were cut short.
//!
//! It gives way to long work that somebody asks for, and goes on at the next look. Must not know: the steps.

use super::super::{Memory, MemoryError};
use crate::caller::Caller;
use crate::limits::{PURGE_FIRST_LOOK_MS, PURGE_INTERVAL_MS, PURGE_LOOK_MS, PURGE_SCAN_LOOKS, UNDO_FORGET_MS};
use crate::store::{Health, Progress, PurgeReads, StoreError};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// What the job is called in audit and receipts.
const METHOD: &str = "purge";

/// What a look is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    /// Purges that were put off or cut short.
    Open,
    /// These, and what cannot be undone any more.
    Forgotten,
}

/// The thread. Ends when dropped.
pub struct PurgeJob {
    stop: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl PurgeJob {
    /// Starts it.
    ///
    /// # Errors
    /// The system's.
    pub fn start(memory: Memory, runtime: tokio::runtime::Handle) -> std::io::Result<PurgeJob> {
        let (stop, stopped) = sync_channel::<()>(0);
        let thread = std::thread::Builder::new().name("purge".into()).spawn(move || {
            let mut pause = PURGE_FIRST_LOOK_MS;
            let mut looks = 0;
            while matches!(stopped.recv_timeout(Duration::from_millis(pause)), Err(RecvTimeoutError::Timeout)) {
                let is_over = || !matches!(stopped.try_recv(), Err(std::sync::mpsc::TryRecvError::Empty));
                let look = if looks % PURGE_SCAN_LOOKS == 0 { Look::Forgotten } else { Look::Open };
                looks += 1;
                match memory.purge_due(look, &runtime, &is_over) {
                    Ok(0) => {}
                    Ok(count) => tracing::info!(count, "forgotten memories were purged"),
                    Err(MemoryError::Store(StoreError::Busy | StoreError::Interrupted)) => tracing::info!("a purge is put off"),
                    Err(error) => memory.put_off(&error),
                }
                pause = PURGE_LOOK_MS;
            }
        })?;
        Ok(PurgeJob { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for PurgeJob {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Memory {
    /// Takes up what was cut short; else, once a day, purges what was forgotten longer ago than it can be undone. How many were decided on.
    fn purge_due(&self, look: Look, runtime: &tokio::runtime::Handle, stopped: &dyn Fn() -> bool) -> Result<u64, MemoryError> {
        if self.store().health() != Health::Well {
            return Ok(0);
        }
        let alone = self.store().try_long_work()?;
        let mut count = 0;
        if self.open_purges()?.is_empty() {
            if look == Look::Open {
                return Ok(0);
            }
            let (now_ms, last_ms) = (self.now_ms(), self.last_own_purge_ms()?);
            // One from the future means that the clock was set back: it says nothing then.
            if last_ms.is_some_and(|last| (last..last.saturating_add(PURGE_INTERVAL_MS)).contains(&now_ms)) {
                return Ok(0);
            }
            let keys = self.forgotten_before(now_ms.saturating_sub(UNDO_FORGET_MS))?;
            count = keys.len() as u64;
            if count == 0 || runtime.block_on(self.decide(&Caller::daemon(), METHOD, keys))?.is_none() {
                return Ok(0);
            }
        }
        let quiet: Progress = Arc::new(|_, _, _| {});
        let gives_way = || stopped() || self.store().long_work_wanted();
        self.carry_out(&alone, &quiet, &gives_way)?;
        Ok(count)
    }

    /// When the daemon last purged by itself.
    fn last_own_purge_ms(&self) -> Result<Option<i64>, StoreError> {
        let newest = self.store().read(|tx| tx.purges_before(u64::MAX, crate::limits::PURGE_OPEN_MAX))?;
        Ok(newest.iter().find(|purge| purge.method == METHOD).map(|purge| purge.requested_at_ms))
    }
}
