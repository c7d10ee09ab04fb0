//! `memory/merge`: several memories become one.
//!
//! Must not know: why they belong together.

use super::draft::{check_text, is_blank, secret_in};
use super::fingerprint::{canonical, fingerprint};
use super::merge_seen::taken_in;
use super::place::claim_fingerprint;
use super::resolve::{id_text, resolve_all};
use super::{Memory, MemoryError, documents, ledger};
use crate::caller::Caller;
use crate::idempotency::{Key, idempotent};
use crate::limits::MERGED_MEMORIES_MAX;
use crate::store::WriteTx;
use tiro_schema::convert::{CHANGE_MERGED, STATUS_ACTIVE};
use tiro_schema::record::MemoryRecord;
use tiro_schema::wire::memory::{MergeParams, VersionResult};

const METHOD: &str = "memory/merge";

impl Memory {
    /// Puts memories into the first of them: it has all their sources and labels, and the words given where some are; the others are
    /// superseded by it. All must be current and of one space.
    ///
    /// # Errors
    /// `Invalid`, `TooLarge`, `Secret`, `NotFound`, `Ambiguous`, `Key`, and the store's.
    pub async fn merge(&self, caller: &Caller, params: MergeParams) -> Result<VersionResult, MemoryError> {
        let key = Key::of(METHOD, "", params.key.as_deref(), &params)?;
        if params.ids.len() > MERGED_MEMORIES_MAX {
            return Err(MemoryError::too_large("ids", "mergedMemoriesMax", MERGED_MEMORIES_MAX));
        }
        let text = checked(params.text.as_deref())?;
        let (memory, caller) = (self.clone(), caller.clone());
        let written = self.store().write(METHOD, move |tx| {
            idempotent(tx, key.as_ref(), |tx| {
                let records = resolve_all(tx, &params.ids, false)?;
                let [into, others @ ..] = records.as_slice() else { return Err(MemoryError::Lost) };
                if others.is_empty() {
                    return Err(MemoryError::invalid("ids", "name at least two different memories"));
                }
                for (n, record) in records.iter().enumerate() {
                    if record.status != STATUS_ACTIVE || record.space != into.space {
                        let why = if record.space == into.space { "not current" } else { "of another space" };
                        return Err(MemoryError::invalid(format!("ids[{n}]"), format!("{} is {why}", id_text(&record.id))));
                    }
                }
                let merged = memory.merge_into(tx, into, others, text.as_deref())?;
                ledger::wrote(tx, &caller, METHOD, &ledger::touched(&merged))?;
                merged.first().map(|record| memory.version_result(record)).ok_or(MemoryError::Lost)
            })
        });
        Ok(written.await?)
    }

    /// Writes the merged version of a memory and the superseded ones of the others; the merged one is the first.
    pub(super) fn merge_into(
        &self,
        tx: &mut WriteTx,
        into: &MemoryRecord,
        others: &[MemoryRecord],
        text: Option<&str>,
    ) -> Result<Vec<MemoryRecord>, MemoryError> {
        let mut next = MemoryRecord {
            version: into.version + 1,
            seq: tx.next_seq(),
            change: CHANGE_MERGED,
            recorded_at_ms: tx.now_ms(),
            ..into.clone()
        };
        for other in others {
            taken_in(&mut next, other);
            next.derived_from.push(other.key);
        }
        match text.filter(|text| *text != into.text) {
            Some(text) => {
                text.clone_into(&mut next.text);
                let vectors = documents::embed(self.embedder(), text, next.sources.first());
                next.vector_version = next.version;
                next.vector_count = u16::try_from(vectors.len()).unwrap_or(u16::MAX);
                tx.remove_fingerprint(into.space, fingerprint(&canonical(&into.text)), into.key)?;
                self.write_version(tx, &next, Some(&vectors))?;
            }
            None => self.write_version(tx, &next, None)?,
        }
        let mut written = vec![next];
        for other in others {
            written.push(self.give_way(tx, other, into.key)?);
        }
        claim_fingerprint(tx, &written[0], fingerprint(&canonical(&written[0].text)))?;
        Ok(written)
    }
}

/// The words of a merged memory, checked as those of an update are.
pub(super) fn checked(text: Option<&str>) -> Result<Option<String>, MemoryError> {
    let Some(text) = text else { return Ok(None) };
    if is_blank(text) {
        return Err(MemoryError::invalid("text", "must not be blank"));
    }
    check_text("text", text)?;
    if let Some((path, secret)) = secret_in(text, &[], &[], None) {
        return Err(MemoryError::Secret { path, secret });
    }
    Ok(Some(text.to_owned()))
}
