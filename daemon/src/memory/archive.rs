//! `memory/archive` and `memory/restore`: put away, found only when asked for, and brought back.
//!
//! Must not know: what is worth keeping.

use super::fingerprint::{canonical, fingerprint};
use super::place::claim_fingerprint;
use super::undo::leave_one_current;
use super::{Memory, MemoryError};
use crate::caller::Caller;
use crate::store::WriteTx;
use tiro_schema::convert::{CHANGE_ARCHIVED, CHANGE_RESTORED, STATUS_ACTIVE, STATUS_ARCHIVED, STATUS_SUPERSEDED};
use tiro_schema::record::MemoryRecord;
use tiro_schema::wire::memory::{IdsParams, SeqResult};

impl Memory {
    /// Puts memories away. One that is away already stays as it is.
    ///
    /// # Errors
    /// `Invalid`, `TooLarge`, `NotFound`, `Ambiguous`, `Key`, and the store's.
    pub async fn archive(&self, caller: &Caller, params: IdsParams) -> Result<SeqResult, MemoryError> {
        no_pin(&params)?;
        self.change_all(caller, "memory/archive", params, |_, record| {
            let archived = || MemoryRecord { status: STATUS_ARCHIVED, change: CHANGE_ARCHIVED, ..record.clone() };
            Ok((record.status != STATUS_ARCHIVED).then(archived))
        })
        .await
    }

    /// Brings memories back from the archive: current again, or superseded where another took their place. Others stay as they are.
    ///
    /// # Errors
    /// As `archive`, and `UndoInTheWay` where it would leave two memories current of which one took the other's place.
    pub async fn restore(&self, caller: &Caller, params: IdsParams) -> Result<SeqResult, MemoryError> {
        no_pin(&params)?;
        self.change_all(caller, "memory/restore", params, |tx, record| {
            if record.status != STATUS_ARCHIVED {
                return Ok(None);
            }
            let status = if record.superseded_by.is_some() { STATUS_SUPERSEDED } else { STATUS_ACTIVE };
            if status == STATUS_ACTIVE {
                leave_one_current(tx, record, None)?;
            }
            Ok(Some(MemoryRecord { status, change: CHANGE_RESTORED, ..record.clone() }))
        })
        .await
    }

    /// Keeps the mark of known texts right when a memory becomes current or ceases to be.
    pub(super) fn mark_current(&self, tx: &mut WriteTx, before: &MemoryRecord, after: &MemoryRecord) -> Result<(), MemoryError> {
        let (was, is) = (before.status == STATUS_ACTIVE, after.status == STATUS_ACTIVE);
        if was && (!is || before.text != after.text) {
            tx.remove_fingerprint(before.space, fingerprint(&canonical(&before.text)), before.key)?;
        }
        if is && (!was || before.text != after.text) {
            claim_fingerprint(tx, after, fingerprint(&canonical(&after.text)))?;
        }
        Ok(())
    }
}

fn no_pin(params: &IdsParams) -> Result<(), MemoryError> {
    if params.pinned.is_some() {
        return Err(MemoryError::invalid("pinned", "only memory/pin takes it"));
    }
    Ok(())
}
