//! Copies of the store that still hold purged memories: backups in the backup folder, stores set aside by a restore.
//!
//! The policy: once a newer backup is made, every copy that holds one of them is removed. A copy that cannot be read cannot be shown to
//! be without them, and goes too. Copies made elsewhere are their owner's. Must not know: the order of a purge's steps.

use super::error::StoreError;
use super::open::{OpenOptions, look};
use super::purge::PurgeReads;
use super::read::Reads;
use super::{LongWork, Store, backup, restore};
use crate::limits::{BACKUP_CACHE_BYTES, PURGE_STEP_ROWS};
use std::path::Path;

/// Copies that were removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CopiesRemoved {
    /// Backups.
    pub backups: u32,
    /// Stores set aside.
    pub set_aside: u32,
}

impl Store {
    /// Removes every backup but `newest`, and every store set aside, that holds a memory of these purges. Blocks.
    ///
    /// # Errors
    /// The disk's.
    pub fn remove_copies(&self, _alone: &LongWork<'_>, newest: &Path, purges: &[u64]) -> Result<CopiesRemoved, StoreError> {
        let dir = &self.handle().dir;
        let mut removed = CopiesRemoved::default();
        for copy in backup::list(dir).into_iter().filter(|copy| copy.path != newest) {
            removed.backups += u32::from(self.remove_if_holding(&copy.path, purges)?);
        }
        for path in restore::set_aside(dir) {
            removed.set_aside += u32::from(self.remove_if_holding(&path, purges)?);
        }
        Ok(removed)
    }

    fn remove_if_holding(&self, path: &Path, purges: &[u64]) -> Result<bool, StoreError> {
        match self.holds(path, purges) {
            Ok(false) => return Ok(false),
            Ok(true) => tracing::info!(path = %path.display(), "removed: it held purged memories"),
            Err(error) => {
                tracing::warn!(%error, path = %path.display(), "removed: it cannot be read, so it may hold purged memories")
            }
        }
        std::fs::remove_file(path)?;
        Ok(true)
    }

    /// Whether a copy of the store has a memory.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn copy_has(&self, path: &Path, id: &[u8; 16]) -> Result<bool, StoreError> {
        let options = OpenOptions { cache_bytes: BACKUP_CACHE_BYTES, ..self.handle().options.clone() };
        let copy = look(path, &options, false).map_err(backup::refused)?;
        Ok(copy.view.key_of_id(id)?.is_some())
    }

    fn holds(&self, path: &Path, purges: &[u64]) -> Result<bool, StoreError> {
        let options = OpenOptions { cache_bytes: BACKUP_CACHE_BYTES, ..self.handle().options.clone() };
        let copy = look(path, &options, false).map_err(backup::refused)?;
        for purge in purges {
            let mut after = None;
            loop {
                let ids = self.read(|tx| tx.purged_by(*purge, after, PURGE_STEP_ROWS))?;
                for id in &ids {
                    if copy.view.key_of_id(id)?.is_some() {
                        return Ok(true);
                    }
                }
                match ids.last() {
                    Some(last) => after = Some(*last),
                    None => break,
                }
            }
        }
        Ok(false)
    }
}
