//! `memory/pin`: pinned memories do not decay.
//!
//! Must not know: how decay is counted.

use super::resolve::resolve_all;
use super::{Memory, MemoryError, ledger};
use crate::caller::Caller;
use crate::idempotency::{Key, idempotent};
use crate::store::WriteTx;
use tiro_schema::convert::CHANGE_PINNED;
use tiro_schema::record::MemoryRecord;
use tiro_schema::wire::memory::{IdsParams, SeqResult};

impl Memory {
    /// Pins memories, or takes the pin away. One unknown id refuses the call; a memory that is so already stays as it is.
    ///
    /// # Errors
    /// `Invalid`, `TooLarge`, `NotFound`, `Ambiguous`, `Key`, and the store's.
    pub async fn pin(&self, caller: &Caller, params: IdsParams) -> Result<SeqResult, MemoryError> {
        let pinned = params.pinned.unwrap_or(true);
        self.change_all(caller, "memory/pin", params, move |_, record| {
            Ok((record.pinned != pinned).then(|| MemoryRecord { pinned, change: CHANGE_PINNED, ..record.clone() }))
        })
        .await
    }

    /// Writes what `change` makes of each memory as its next version, all in one transaction.
    pub(super) async fn change_all(
        &self,
        caller: &Caller,
        method: &'static str,
        params: IdsParams,
        change: impl Fn(&mut WriteTx, &MemoryRecord) -> Result<Option<MemoryRecord>, MemoryError> + Send + 'static,
    ) -> Result<SeqResult, MemoryError> {
        let key = Key::of(method, "", params.key.as_deref(), &params)?;
        let (memory, caller) = (self.clone(), caller.clone());
        let written = self.store().write(method, move |tx| {
            idempotent(tx, key.as_ref(), |tx| {
                let records = resolve_all(tx, &params.ids, false)?;
                let mut seq = memory.store().seq();
                for record in &records {
                    let Some(next) = change(tx, record)? else { continue };
                    let next =
                        MemoryRecord { version: record.version + 1, seq: tx.next_seq(), recorded_at_ms: tx.now_ms(), ..next };
                    memory.mark_current(tx, record, &next)?;
                    memory.write_version(tx, &next, None)?;
                    seq = next.seq;
                }
                ledger::wrote(tx, &caller, method, &ledger::touched(&records))?;
                Ok::<_, MemoryError>(SeqResult { seq: memory.store().seq_token(seq) })
            })
        });
        Ok(written.await?)
    }
}
