//! `memory/supersede`: a new memory takes the place of one; both stay, linked.
//!
//! Must not know: who finds that one supersedes another.

use super::draft::{Judged, judge, secret_in};
use super::fingerprint::{canonical, fingerprint};
use super::place::{Ready, ensure_space};
use super::resolve::{id_text, resolve};
use super::show::space_name_of;
use super::{Memory, MemoryError, ledger};
use crate::caller::Caller;
use crate::idempotency::{Key, idempotent};
use crate::store::WriteTx;
use tiro_schema::convert::{CHANGE_SUPERSEDED, STATUS_SUPERSEDED};
use tiro_schema::record::MemoryRecord;
use tiro_schema::wire::memory::{RememberParams, SupersedeParams, SupersedeResult};

const METHOD: &str = "memory/supersede";

impl Memory {
    /// Makes a new memory and links the old one to it, in one transaction. The new one is made as it is, without comparison.
    ///
    /// # Errors
    /// `Invalid` (also when the old one is superseded already), `TooLarge`, `Secret`, `NotFound`, `Ambiguous`, `Key`, and the store's.
    pub async fn supersede(&self, caller: &Caller, params: SupersedeParams) -> Result<SupersedeResult, MemoryError> {
        let key = Key::of(METHOD, "", params.key.as_deref(), &params)?;
        let mut wanted = params.memory.clone();
        if wanted.space.is_none() {
            let space = self.store().read(|tx| {
                let old = resolve(tx, &params.id, "id")?;
                Ok::<_, MemoryError>(space_name_of(tx, old.space)?)
            });
            wanted.space = match (space, &key) {
                (Ok(space), _) => Some(space),
                // A call that was done before answers again, whatever became of the old memory since.
                (Err(_), Some(_)) => None,
                (Err(error), None) => return Err(error),
            };
        }
        let ready = match judge(&wanted).map_err(|e| e.under("memory"))? {
            Judged::Draft(draft) => Ready::new(self, *draft, self.now_ms()),
            Judged::Refused(reason) => return Err(refusal(&reason, &wanted)),
        };
        let (memory, caller) = (self.clone(), caller.clone());
        let written = self.store().write(METHOD, move |tx| {
            idempotent(tx, key.as_ref(), |tx| {
                let old = resolve(tx, &params.id, "id")?;
                if let Some(by) = old.superseded_by {
                    let by = super::show::linked(tx, Some(by))?.unwrap_or_default();
                    return Err(MemoryError::invalid("id", format!("it is superseded already, by {by}: supersede that one")));
                }
                let space = ensure_space(tx, &ready.draft.space)?;
                let new = ready.create(&memory, tx, space.id, Some(old.key))?;
                let old = memory.give_way(tx, &old, new.key)?;
                ledger::wrote(tx, &caller, METHOD, &ledger::touched([&old, &new]))?;
                Ok::<_, MemoryError>(SupersedeResult { id: id_text(&new.id), seq: memory.store().seq_token(old.seq) })
            })
        });
        Ok(written.await?)
    }

    /// Writes the version of a memory that gave way to another.
    pub(super) fn give_way(&self, tx: &mut WriteTx, old: &MemoryRecord, to: u64) -> Result<MemoryRecord, MemoryError> {
        let next = MemoryRecord {
            version: old.version + 1,
            seq: tx.next_seq(),
            status: STATUS_SUPERSEDED,
            change: CHANGE_SUPERSEDED,
            superseded_by: Some(to),
            recorded_at_ms: tx.now_ms(),
            ..old.clone()
        };
        tx.remove_fingerprint(next.space, fingerprint(&canonical(&next.text)), next.key)?;
        self.write_version(tx, &next, None)?;
        Ok(next)
    }
}

fn refusal(reason: &str, wanted: &RememberParams) -> MemoryError {
    let none: &[String] = &[];
    let (tags, entities) = (wanted.tags.as_deref().unwrap_or(none), wanted.entities.as_deref().unwrap_or(none));
    let found = secret_in(&wanted.text, tags, entities, wanted.source.as_ref()).map(|(_, secret)| secret);
    match found.or_else(|| reason.starts_with("secret:").then_some("secret")) {
        Some(secret) => MemoryError::Secret { path: "memory", secret },
        None => MemoryError::invalid("memory.text", "must not be blank"),
    }
}
