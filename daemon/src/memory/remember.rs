//! `memory/remember`: a text becomes a memory, or is recognised as one that is known.
//!
//! Must not know: the write gate (it judges before), or how sameness of meaning is found.

use super::draft::{Judged, judge};
use super::merge_seen::told_again;
use super::place::{Ready, Spaces};
use super::resolve::id_text;
use super::{Memory, MemoryError, ledger};
use crate::caller::Caller;
use crate::idempotency::{Key, idempotent};
use crate::store::WriteTx;
use tiro_schema::DEFAULT_SPACE;
use tiro_schema::record::MemoryRecord;
use tiro_schema::wire::memory::{Related, RememberOutcome, RememberParams, RememberResult};

/// The method's name.
pub(super) const METHOD: &str = "memory/remember";

impl Memory {
    /// Keeps a text. The same words in the same space again make no second memory: the known one is told again. Only current
    /// memories count as known: what was archived, superseded or forgotten is made anew.
    ///
    /// # Errors
    /// `Invalid` and `TooLarge` about params, `Key`, and the store's. A secret or an empty text is no error but the outcome `refused`.
    pub async fn remember(&self, caller: &Caller, params: RememberParams) -> Result<RememberResult, MemoryError> {
        let key = item_key(&params)?;
        let now_ms = self.now_ms();
        let ready = match judge(&params)? {
            Judged::Refused(reason) => return Ok(refused(reason)),
            Judged::Draft(draft) => Ready::new(self, *draft, now_ms),
        };
        let (memory, caller) = (self.clone(), caller.clone());
        let written = self.store().write(METHOD, move |tx| {
            idempotent(tx, key.as_ref(), |tx| {
                let (result, record) = keep(&memory, tx, &mut Spaces::default(), &ready)?;
                ledger::wrote(tx, &caller, METHOD, &ledger::touched([&record]))?;
                Ok::<_, MemoryError>(result)
            })
        });
        Ok(written.await?)
    }
}

/// The idempotency key of one text.
pub(super) fn item_key(params: &RememberParams) -> Result<Option<Key>, MemoryError> {
    let space = params.space.as_deref().unwrap_or(DEFAULT_SPACE);
    Ok(Key::of(METHOD, space, params.key.as_deref(), params)?)
}

/// Keeps one text inside a transaction: a known memory is told again, else a new one is made. The answer, and the memory.
pub(super) fn keep(
    memory: &Memory,
    tx: &mut WriteTx,
    spaces: &mut Spaces,
    ready: &Ready,
) -> Result<(RememberResult, MemoryRecord), MemoryError> {
    let space = spaces.id(tx, &ready.draft.space)?;
    let (outcome, record) = match ready.known(tx, space)? {
        Some(known) => {
            let next = told_again(&known, &ready.draft, tx.next_seq(), tx.now_ms());
            memory.write_version(tx, &next, None)?;
            (RememberOutcome::Duplicate, next)
        }
        None => (RememberOutcome::Created, ready.create(memory, tx, space, None)?),
    };
    let id = id_text(&record.id);
    let related = match outcome {
        RememberOutcome::Duplicate => vec![Related { id: id.clone(), relation: "duplicate".to_owned() }],
        _ => Vec::new(),
    };
    let result = RememberResult {
        outcome: outcome.into(),
        id: Some(id),
        seq: Some(memory.store().seq_token(record.seq)),
        related,
        reason: None,
        error: None,
    };
    Ok((result, record))
}

/// The answer for a text that was not kept.
pub(super) fn refused(reason: String) -> RememberResult {
    RememberResult {
        outcome: RememberOutcome::Refused.into(),
        id: None,
        seq: None,
        related: Vec::new(),
        reason: Some(reason),
        error: None,
    }
}
