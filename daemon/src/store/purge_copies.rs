//! Copies of the store that still hold purged memories: backups in the backup folder, stores set aside by a restore.
//!
//! The policy: once a newer backup is made, every copy that holds one of them is removed. A backup is asked for its rows. A store set aside has
//! free pages too, and a copy that does not open may be worth something still: of these every byte is looked at for the ids, since a
//! memory's words never stand without its id. What cannot even be read goes. Copies made elsewhere are their owner's. Must not know: the order
//! of a purge's steps.

use super::absent::Needles;
use super::error::StoreError;
use super::open::{OpenOptions, Probed, look};
use super::purge::PurgeReads;
use super::read::Reads;
use super::{LongWork, Store, backup, restore};
use crate::limits::{BACKUP_CACHE_BYTES, PURGE_STEP_ROWS};
use std::ops::ControlFlow;
use std::path::Path;

/// Copies that were removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CopiesRemoved {
    /// Backups.
    pub backups: u32,
    /// Stores set aside.
    pub set_aside: u32,
}

/// Is shown ids of purged memories, some at a time; answers whether to go on.
type VisitIds<'a> = &'a mut dyn FnMut(&[[u8; 16]]) -> Result<ControlFlow<()>, StoreError>;

impl Store {
    /// Removes every backup but `newest`, and every store set aside, that holds a memory of these purges. Blocks.
    ///
    /// # Errors
    /// The disk's, `Interrupted`.
    pub fn remove_copies(
        &self,
        _alone: &LongWork<'_>,
        newest: &Path,
        purges: &[u64],
        cancelled: &dyn Fn() -> bool,
    ) -> Result<CopiesRemoved, StoreError> {
        let dir = &self.handle().dir;
        let mut removed = CopiesRemoved::default();
        for copy in backup::list(dir).into_iter().filter(|copy| copy.path != newest) {
            let by_rows = self.open_copy(&copy.path).and_then(|opened| self.has_row(&opened, purges));
            let holds = by_rows.or_else(|_| self.has_bytes(&copy.path, purges, cancelled));
            removed.backups += u32::from(remove_if(&copy.path, holds)?);
        }
        for path in restore::set_aside(dir) {
            removed.set_aside += u32::from(remove_if(&path, self.has_bytes(&path, purges, cancelled))?);
        }
        Ok(removed)
    }

    /// Whether a copy of the store has a memory.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn copy_has(&self, path: &Path, id: &[u8; 16]) -> Result<bool, StoreError> {
        Ok(self.open_copy(path)?.view.key_of_id(id)?.is_some())
    }

    fn open_copy(&self, path: &Path) -> Result<Probed, StoreError> {
        let options = OpenOptions { cache_bytes: BACKUP_CACHE_BYTES, ..self.handle().options.clone() };
        look(path, &options, false).map_err(backup::refused)
    }

    fn has_row(&self, copy: &Probed, purges: &[u64]) -> Result<bool, StoreError> {
        let mut found = false;
        self.each_purged(purges, &mut |ids| {
            for id in ids {
                found = found || copy.view.key_of_id(id)?.is_some();
            }
            Ok(if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        Ok(found)
    }

    fn has_bytes(&self, path: &Path, purges: &[u64], cancelled: &dyn Fn() -> bool) -> Result<bool, StoreError> {
        let mut found = false;
        self.each_purged(purges, &mut |ids| {
            let ids: Vec<Vec<u8>> = ids.iter().map(|id| id.to_vec()).collect();
            found = Needles::new(&[], &ids)?.count_in(path, cancelled)?.0 > 0;
            Ok(if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        Ok(found)
    }

    fn each_purged(&self, purges: &[u64], visit: VisitIds<'_>) -> Result<(), StoreError> {
        for purge in purges {
            let mut after = None;
            loop {
                let ids = self.read(|tx| tx.purged_by(*purge, after, PURGE_STEP_ROWS))?;
                let Some(last) = ids.last() else { break };
                after = Some(*last);
                if visit(&ids)?.is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// Removes a copy that holds a purged memory, or that cannot be read. Whether it did.
fn remove_if(path: &Path, holds: Result<bool, StoreError>) -> Result<bool, StoreError> {
    match holds {
        Ok(false) => return Ok(false),
        Err(StoreError::Interrupted) => return Err(StoreError::Interrupted),
        Ok(true) => tracing::info!(path = %path.display(), "removed: it held purged memories"),
        Err(error) => {
            tracing::warn!(%error, path = %path.display(), "removed: it cannot be read, so it may hold purged memories")
        }
    }
    std::fs::remove_file(path)?;
    Ok(true)
}
