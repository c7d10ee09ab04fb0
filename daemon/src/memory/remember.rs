//! `memory/remember`: a text becomes a memory, or is recognised as one that is known.
//!
//! Must not know: the rules of the write gate (it judges before), or how sameness of meaning is found.

use super::compare::Outcome;
use super::conflicts::open_conflict;
use super::draft::Judged;
use super::fingerprint::{canonical, fingerprint};
use super::merge_seen::{told_again, told_more};
use super::place::{Ready, Spaces, claim_fingerprint};
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
    /// Keeps a text, compared with the current memories of its space that are nearest to it: the same fact again makes no second memory,
    /// the same with more to it becomes a new version, a later value of the same thing takes the old one's place, what contradicts
    /// without an order stands beside it as an open conflict, and everything else is new. With `verbatim` it is kept as it is.
    ///
    /// # Errors
    /// `Invalid` and `TooLarge` about params, `Key`, and the store's. A secret, and what the gate does not let pass, is no error but the outcome `refused`.
    pub async fn remember(&self, caller: &Caller, params: RememberParams) -> Result<RememberResult, MemoryError> {
        let key = item_key(&params)?;
        let now_ms = self.now_ms();
        let space = params.space.clone().unwrap_or_else(|| DEFAULT_SPACE.to_owned());
        let judged = self.in_place(move |memory| match memory.judge_new(&params)? {
            Judged::Refused(reason) => Ok(Err(reason)),
            Judged::Draft(draft) => Ok(Ok(Ready::new(memory, *draft, now_ms).compared(memory)?)),
        });
        let ready = match judged.await? {
            Ok(ready) => ready,
            Err(reason) => {
                self.audit_refused(caller, METHOD, true, Some(&space), &format!("refused: {reason}"));
                return Ok(refused(reason));
            }
        };
        let (memory, caller) = (self.clone(), caller.clone());
        let written = self.store().write(METHOD, move |tx| {
            idempotent(tx, key.as_ref(), |tx| {
                let (result, records) = keep(&memory, tx, &mut Spaces::default(), &ready)?;
                ledger::wrote_as(tx, &caller, METHOD, &result.outcome.to_string(), &ledger::touched(&records))?;
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

/// Keeps one text inside a transaction, as it is to the memories there are. The answer, and the memories it touched.
pub(super) fn keep(
    memory: &Memory,
    tx: &mut WriteTx,
    spaces: &mut Spaces,
    ready: &Ready,
) -> Result<(RememberResult, Vec<MemoryRecord>), MemoryError> {
    let space = spaces.id(tx, &ready.draft.space)?;
    let (outcome, related) = match ready.known(tx, space)? {
        Some(known) => (Outcome::Duplicate(Box::new(known.clone())), vec![(known, "duplicate")]),
        None => memory.settle(tx, space, ready, &mut spaces.since)?,
    };
    let related = related.iter().map(|(r, relation)| Related { id: id_text(&r.id), relation: (*relation).to_owned() }).collect();
    let (outcome, records) = match outcome {
        Outcome::Created => (RememberOutcome::Created, vec![ready.create(memory, tx, space, None)?]),
        Outcome::Duplicate(known) => (RememberOutcome::Duplicate, vec![memory.tell_again(tx, &known, ready)?]),
        Outcome::Updated(known) => (RememberOutcome::Updated, vec![memory.tell_more(tx, &known, ready)?]),
        Outcome::Superseded(known, others) => {
            let new = ready.create(memory, tx, space, Some(known.key))?;
            let old = memory.give_way(tx, &known, new.key)?;
            let mut touched = vec![new, old];
            for (other, reason) in others {
                open_conflict(tx, &other, &touched[0], reason)?;
                touched.push(other);
            }
            (RememberOutcome::Superseded, touched)
        }
        Outcome::Conflict(others) => {
            let new = ready.create(memory, tx, space, None)?;
            let mut touched = vec![new];
            for (other, reason) in others {
                open_conflict(tx, &other, &touched[0], reason)?;
                touched.push(other);
            }
            (RememberOutcome::Conflict, touched)
        }
    };
    let newest = records.iter().map(|record| record.seq).max().unwrap_or(0);
    let result = RememberResult {
        outcome: outcome.into(),
        id: records.first().map(|record| id_text(&record.id)),
        seq: Some(memory.store().seq_token(newest)),
        related,
        reason: ready.draft.redacted.map(|kind| format!("redacted:{kind}")),
        error: None,
    };
    Ok((result, records))
}

impl Memory {
    /// Writes the version of a memory that was told again.
    fn tell_again(&self, tx: &mut WriteTx, known: &MemoryRecord, ready: &Ready) -> Result<MemoryRecord, MemoryError> {
        let next = told_again(known, &ready.draft, tx.next_seq(), tx.now_ms());
        self.write_version(tx, &next, None)?;
        Ok(next)
    }

    /// Writes the version of a memory that was told with more to it: the new words, the old ones in its history.
    fn tell_more(&self, tx: &mut WriteTx, known: &MemoryRecord, ready: &Ready) -> Result<MemoryRecord, MemoryError> {
        let mut next = told_more(known, &ready.draft, tx.next_seq(), tx.now_ms());
        next.vector_count = u16::try_from(ready.vectors().len()).unwrap_or(u16::MAX);
        tx.remove_fingerprint(known.space, fingerprint(&canonical(&known.text)), known.key)?;
        self.write_version(tx, &next, Some(ready.vectors()))?;
        claim_fingerprint(tx, &next, ready.draft.fingerprint)?;
        Ok(next)
    }
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
