//! `memory/rememberMany`: many texts, each judged alone, in a few transactions.
//!
//! Must not know: how one text is kept.

use super::draft::Judged;
use super::place::{Ready, Spaces};
use super::remember::{item_key, keep, refused};
use super::{Memory, MemoryError, ledger};
use crate::caller::Caller;
use crate::idempotency::{Key, idempotent};
use crate::limits::{ITEMS_PER_CALL_MAX, ITEMS_PER_TRANSACTION, PREPARE_THREADS_MAX};
use crate::params;
use crate::store::WriteTx;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use tiro_schema::wire::memory::{RememberManyParams, RememberManyResult, RememberOutcome, RememberParams, RememberResult};
use tiro_schema::{ErrorObject, WriteOutcome};

const METHOD: &str = "memory/rememberMany";

/// An item on its way.
enum Item {
    /// Answered before any write: refused or failed.
    Answered(Box<RememberResult>),
    /// To be written, under its own key where it has one.
    Ready(Box<Ready>, Option<Key>),
}

impl Memory {
    /// Keeps many texts. A bad item fails alone. Items are written in order, some hundreds in one transaction; what an
    /// earlier transaction wrote stays when a later one fails.
    ///
    /// # Errors
    /// `TooLarge` for too many items, `Key`, `Cancelled`, and the store's.
    pub async fn remember_many(&self, caller: &Caller, params: RememberManyParams) -> Result<RememberManyResult, MemoryError> {
        if params.items.len() > ITEMS_PER_CALL_MAX {
            return Err(MemoryError::too_large("items", "itemsPerCallMax", ITEMS_PER_CALL_MAX));
        }
        let key = match &params.key {
            Some(_) => Key::of(METHOD, "", params.key.as_deref(), &params)?,
            None => None,
        };
        let total = params.items.len();
        let mut results = Vec::with_capacity(total);
        let mut waiting = params.items.into_iter().enumerate();
        let mut chunk_number = 0;
        let first: Vec<(usize, Value)> = waiting.by_ref().take(ITEMS_PER_TRANSACTION).collect();
        // A call without items is still answered under its key.
        let any = !first.is_empty() || key.is_some();
        let mut preparing = any.then(|| tokio::spawn(prepare_all(self.clone(), first)));
        while let Some(prepared) = preparing.take() {
            let items = prepared.await.unwrap_or(Err(MemoryError::Lost))?;
            // The next items are prepared while these are written.
            let next: Vec<(usize, Value)> = waiting.by_ref().take(ITEMS_PER_TRANSACTION).collect();
            preparing = (!next.is_empty()).then(|| tokio::spawn(prepare_all(self.clone(), next)));
            if caller.cancel.is_cancelled() {
                return Err(MemoryError::Cancelled);
            }
            results.extend(self.write_items(caller, items, key.as_ref().map(|k| k.part(chunk_number))).await?);
            chunk_number += 1;
            caller.tell("remembering", results.len() as u64, Some(total as u64));
        }
        Ok(RememberManyResult { results, seq: self.store().seq_token(self.store().seq()) })
    }

    async fn write_items(&self, caller: &Caller, items: Vec<Item>, key: Option<Key>) -> Result<Vec<RememberResult>, MemoryError> {
        if items.iter().all(|item| matches!(item, Item::Answered(_))) && key.is_none() {
            let results: Vec<RememberResult> = items
                .into_iter()
                .filter_map(|i| match i {
                    Item::Answered(r) => Some(*r),
                    Item::Ready(..) => None,
                })
                .collect();
            self.audit_refused(caller, METHOD, true, None, &summary(&results));
            return Ok(results);
        }
        let (memory, caller) = (self.clone(), caller.clone());
        let written = self.store().write(METHOD, move |tx| {
            idempotent(tx, key.as_ref(), |tx| {
                let (mut touched, mut spaces) = (Vec::new(), Spaces::default());
                let results: Result<Vec<_>, MemoryError> =
                    items.iter().map(|item| write_item(&memory, tx, item, &mut spaces, &mut touched)).collect();
                let results = results?;
                if touched.is_empty() {
                    touched.push((0, 0));
                }
                ledger::wrote_as(tx, &caller, METHOD, &summary(&results), &touched)?;
                Ok::<_, MemoryError>(results)
            })
        });
        Ok(written.await?)
    }
}

/// What became of the items, for the audit: how many of each outcome.
fn summary(results: &[RememberResult]) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for result in results {
        *counts.entry(result.outcome.to_string()).or_default() += 1;
    }
    counts.iter().map(|(outcome, count)| format!("{outcome} {count}")).collect::<Vec<_>>().join(", ")
}

/// Writes one item. Only an error of the store is one of the whole transaction.
fn write_item(
    memory: &Memory,
    tx: &mut WriteTx,
    item: &Item,
    spaces: &mut Spaces,
    touched: &mut Vec<(u32, u64)>,
) -> Result<RememberResult, MemoryError> {
    let (ready, key) = match item {
        Item::Answered(result) => return Ok((**result).clone()),
        Item::Ready(ready, key) => (ready, key),
    };
    let kept = idempotent(tx, key.as_ref(), |tx| {
        let (result, records) = keep(memory, tx, spaces, ready)?;
        touched.extend(ledger::touched(&records));
        Ok::<_, MemoryError>(result)
    });
    match kept {
        Err(error @ (MemoryError::Store(_) | MemoryError::Write(_))) => Err(error),
        Err(error) => Ok(failed(error.into())),
        Ok(result) => Ok(result),
    }
}

/// Reads, judges, embeds and analyses items on a few threads, in order.
async fn prepare_all(memory: Memory, items: Vec<(usize, Value)>) -> Result<Vec<Item>, MemoryError> {
    let now_ms = memory.now_ms();
    let threads = std::thread::available_parallelism().map_or(1, usize::from).clamp(1, PREPARE_THREADS_MAX);
    let share = items.len().div_ceil(threads).max(1);
    let items = Arc::new(items);
    let mut parts = Vec::new();
    for start in (0..items.len()).step_by(share) {
        let (memory, items) = (memory.clone(), Arc::clone(&items));
        parts.push(tokio::task::spawn_blocking(move || {
            let end = (start + share).min(items.len());
            items[start..end].iter().map(|(i, value)| prepare_one(&memory, *i, value, now_ms)).collect::<Vec<Item>>()
        }));
    }
    let mut prepared = Vec::with_capacity(items.len());
    for part in parts {
        prepared.extend(part.await.map_err(|_| MemoryError::Lost)?);
    }
    Ok(prepared)
}

fn prepare_one(memory: &Memory, i: usize, value: &Value, now_ms: i64) -> Item {
    let params: RememberParams = match params::read_ref(value) {
        Ok(params) => params,
        Err(misfit) => {
            let error = MemoryError::invalid(misfit.path, misfit.message);
            return Item::Answered(Box::new(failed(error.under(&format!("items[{i}]")).into())));
        }
    };
    let judged = item_key(&params).and_then(|key| Ok((memory.judge_new(&params)?, key)));
    match judged {
        Ok((Judged::Draft(draft), key)) => match Ready::new(memory, *draft, now_ms).compared(memory) {
            Ok(ready) => Item::Ready(Box::new(ready), key),
            Err(error) => Item::Answered(Box::new(failed(error.into()))),
        },
        Ok((Judged::Refused(reason), _)) => Item::Answered(Box::new(refused(reason))),
        Err(error) => Item::Answered(Box::new(failed(error.under(&format!("items[{i}]")).into()))),
    }
}

/// The answer for an item that failed. Nothing of it was written: what fails in a transaction fails alone, before its rows.
fn failed(error: ErrorObject) -> RememberResult {
    let error = if error.data.as_ref().is_some_and(|data| data.outcome.is_some()) {
        error
    } else {
        error.with_outcome(WriteOutcome::NotDone)
    };
    RememberResult {
        outcome: RememberOutcome::Failed.into(),
        id: None,
        seq: None,
        related: Vec::new(),
        reason: None,
        error: Some(error),
    }
}
