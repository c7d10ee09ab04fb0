//! `memory/resolve`: a conflict is settled in one call.
//!
//! Must not know: how a contradiction is found.

use super::conflicts::{is_open, resolve_conflict_id};
use super::merge::checked;
use super::resolve::id_text;
use super::{Memory, MemoryError, ledger};
use crate::caller::Caller;
use crate::idempotency::{Key, idempotent};
use crate::store::{Reads, WriteTx};
use tiro_schema::convert::{CONFLICT_KEPT_BOTH, CONFLICT_KEPT_FIRST, CONFLICT_KEPT_SECOND, CONFLICT_MERGED};
use tiro_schema::record::{ConflictRecord, MemoryRecord};
use tiro_schema::wire::memory::{Keep, ResolveParams, VersionResult};

const METHOD: &str = "memory/resolve";

impl Memory {
    /// Keeps one side (the other is superseded by it), both, or merges the second into the first with the words given. The answer names
    /// the memory that stays, the first where both do.
    ///
    /// # Errors
    /// `NoConflict`, `Settled`, `Ambiguous`, `Invalid`, `TooLarge`, `Secret`, `Key`, and the store's.
    pub async fn resolve(&self, caller: &Caller, params: ResolveParams) -> Result<VersionResult, MemoryError> {
        let key = Key::of(METHOD, "", params.key.as_deref(), &params)?;
        let text = checked(params.text.as_deref())?;
        if text.is_some() != (params.keep == Keep::Merge) {
            return Err(MemoryError::invalid("text", "needed with keep merge, and only there"));
        }
        let (memory, caller) = (self.clone(), caller.clone());
        let written = self.store().write(METHOD, move |tx| {
            idempotent(tx, key.as_ref(), |tx| {
                let conflict = resolve_conflict_id(tx, &params.id)?;
                if !is_open(tx, &conflict)? {
                    return Err(MemoryError::Settled { id: id_text(&conflict.id) });
                }
                let touched = memory.settle_conflict(tx, &conflict, params.keep, text.as_deref())?;
                ledger::wrote(tx, &caller, METHOD, &ledger::touched(&touched))?;
                touched.first().map(|record| memory.version_result(record)).ok_or(MemoryError::Lost)
            })
        });
        Ok(written.await?)
    }

    /// The memories touched, the one that stays first.
    fn settle_conflict(
        &self,
        tx: &mut WriteTx,
        conflict: &ConflictRecord,
        keep: Keep,
        text: Option<&str>,
    ) -> Result<Vec<MemoryRecord>, MemoryError> {
        let side = |key| tx.memory(key)?.ok_or(MemoryError::Lost);
        let (first, second) = (side(conflict.first)?, side(conflict.second)?);
        let (state, touched) = match keep {
            Keep::First => (CONFLICT_KEPT_FIRST, vec![first.clone(), self.give_way(tx, &second, first.key)?]),
            Keep::Second => (CONFLICT_KEPT_SECOND, vec![second.clone(), self.give_way(tx, &first, second.key)?]),
            Keep::Both => (CONFLICT_KEPT_BOTH, vec![first, second]),
            Keep::Merge => (CONFLICT_MERGED, self.merge_into(tx, &first, &[second], text)?),
        };
        let resolved_seq = match touched.iter().map(|record| record.seq).max() {
            Some(seq) if keep != Keep::Both => seq,
            _ => tx.next_seq(),
        };
        let settled = ConflictRecord { state, resolved_at_ms: Some(tx.now_ms()), resolved_seq, ..conflict.clone() };
        tx.put_conflict(&settled)?;
        Ok(touched)
    }
}
