//! Purging: what was forgotten is taken out physically, now (`memory/forget` with `purge`, `store/purge`) or by the daemon itself once it
//! cannot be undone any more. A purge is written down first; from then on it is carried out to its end, by whoever comes next.
//!
//! Must not know: how files are rewritten.

mod job;
mod looked_for;
mod receipt;
mod sessions;
mod steps;

pub use job::PurgeJob;

use super::{Memory, MemoryError, ledger};
use crate::caller::Caller;
use crate::idempotency::Key;
use crate::limits::{FORGET_MEMORIES_MAX, ITEMS_PER_TRANSACTION, PURGE_STEP_ROWS};
use crate::store::{PurgeReads, Reads, WriteTx};
use std::ops::ControlFlow;
use tiro_schema::convert::STATUS_FORGOTTEN;
use tiro_schema::record::PurgeRecord;
use tiro_schema::wire::memory::{PurgeParams, PurgeResult, Receipt};

const METHOD: &str = "store/purge";

impl Memory {
    /// `store/purge`: every forgotten memory, whenever it was forgotten.
    ///
    /// # Errors
    /// `Invalid`, `TooLarge`, `Key`, `Cancelled`, and the store's, before anything is decided; afterwards the receipt says what was put off.
    pub async fn purge(&self, caller: &Caller, params: PurgeParams) -> Result<PurgeResult, MemoryError> {
        let key = Key::of(METHOD, "", params.key.as_deref(), &params)?;
        if let Some(answer) = self.answered(key.as_ref())? {
            return Ok(answer);
        }
        let keys = self.blocking(|memory| memory.forgotten_before(i64::MAX)).await?;
        if params.dry_run.unwrap_or(false) {
            return Ok(PurgeResult { count: keys.len() as u64, receipt: None });
        }
        let receipt = self.purge_these(caller, METHOD, keys).await?;
        let answer = PurgeResult { count: receipt.as_ref().map_or(0, |receipt| receipt.count), receipt };
        self.keep_answer(key, &answer).await?;
        Ok(answer)
    }

    /// Keeps the answer of a call whose work was done in several transactions.
    pub(super) async fn keep_answer<R>(&self, key: Option<Key>, answer: &R) -> Result<(), MemoryError>
    where
        R: serde::Serialize + Clone + Send + 'static,
    {
        let Some(key) = key else { return Ok(()) };
        let answer = answer.clone();
        Ok(self.store().write("keep an answer", move |tx| key.keep(tx, &answer).map_err(MemoryError::from)).await?)
    }

    /// Keys of the memories forgotten before an instant, by space. Reads the index rows of every space in bounded steps.
    fn forgotten_before(&self, before_ms: i64) -> Result<Vec<u64>, MemoryError> {
        let mut found = Vec::new();
        for space in self.store().read(|tx| tx.spaces())? {
            let mut from = 0;
            loop {
                let (mut looked, mut last) = (0, None);
                let mut some = Vec::new();
                self.store().read(|tx| {
                    tx.keys_of_space(space.id, from..=u64::MAX, crate::store::Direction::Ascending, &mut |key, status| {
                        (looked, last) = (looked + 1, Some(key));
                        if status == STATUS_FORGOTTEN && tx.memory(key)?.is_some_and(|r| r.recorded_at_ms < before_ms) {
                            some.push(key);
                        }
                        Ok(if looked < PURGE_STEP_ROWS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
                    })
                })?;
                found.append(&mut some);
                if found.len() > FORGET_MEMORIES_MAX {
                    return Ok(found);
                }
                match last {
                    Some(key) => from = key + 1,
                    None => break,
                }
            }
        }
        Ok(found)
    }

    /// Decides on a purge of forgotten memories and carries it out. What is in the way of that is told by the receipt. None where none
    /// of them is forgotten any more.
    ///
    /// # Errors
    /// The store's, while it is decided.
    pub(super) async fn purge_these(
        &self,
        caller: &Caller,
        method: &'static str,
        keys: Vec<u64>,
    ) -> Result<Option<Receipt>, MemoryError> {
        let Some(purge) = self.decide(caller, method, keys).await? else { return Ok(None) };
        let caller = caller.clone();
        self.blocking(move |memory| {
            let stopped = || caller.cancel.is_cancelled();
            let progress: crate::store::Progress = {
                let caller = caller.clone();
                std::sync::Arc::new(move |stage: &str, done, total| caller.tell(stage, done, (total > 0).then_some(total)))
            };
            let carried_out = memory.store().long_work().map_err(MemoryError::from);
            let carried_out = carried_out.and_then(|alone| memory.carry_out(&alone, &progress, &stopped));
            if let Err(error) = carried_out {
                memory.put_off(&error);
            }
            memory.receipt_of(purge)
        })
        .await
    }

    /// Writes down which memories are to go. None where none of them is forgotten.
    async fn decide(&self, caller: &Caller, method: &'static str, keys: Vec<u64>) -> Result<Option<u64>, MemoryError> {
        let mut purge: Option<PurgeRecord> = None;
        for chunk in keys.chunks(ITEMS_PER_TRANSACTION) {
            let (chunk, caller, before) = (chunk.to_vec(), caller.clone(), purge.clone());
            let decided = self.store().write(method, move |tx| mark(tx, &caller, method, &chunk, before.clone()));
            purge = decided.await?;
        }
        Ok(purge.map(|purge| purge.key))
    }
}

/// Adds those of some memories that are forgotten to a purge, which is made with the first.
fn mark(
    tx: &mut WriteTx,
    caller: &Caller,
    method: &str,
    keys: &[u64],
    purge: Option<PurgeRecord>,
) -> Result<Option<PurgeRecord>, MemoryError> {
    let mut marked = Vec::with_capacity(keys.len());
    for key in keys {
        if let Some(record) = tx.memory(*key)?.filter(|r| r.status == STATUS_FORGOTTEN)
            && tx.purged(&record.id)?.is_none()
        {
            marked.push(record);
        }
    }
    if marked.is_empty() {
        return Ok(purge);
    }
    let mut purge = purge.unwrap_or_else(|| PurgeRecord {
        key: tx.next_seq(),
        id: uuid::Uuid::new_v4().into_bytes(),
        method: method.to_owned(),
        requested_at_ms: tx.now_ms(),
        hidden_from_ms: i64::MAX,
        hidden_to_ms: i64::MIN,
        ..PurgeRecord::default()
    });
    for record in &marked {
        purge.count += 1;
        purge.hidden_from_ms = purge.hidden_from_ms.min(record.recorded_at_ms);
        purge.hidden_to_ms = purge.hidden_to_ms.max(record.recorded_at_ms);
        tx.mark_purged(purge.key, record)?;
    }
    tx.put_purge(&purge)?;
    ledger::wrote(tx, caller, method, &ledger::touched(&marked))?;
    Ok(Some(purge))
}
