//! `memory/forget`: hidden everywhere at once, and for seven days brought back by undo; with `purge`, taken out physically too.
//!
//! Must not know: how that is done (`purge`).

use super::draft::space_name;
use super::filter::{Sieve, Unnamed};
use super::list::{Walk, walk};
use super::resolve::{id_text, resolve_all};
use super::{Memory, MemoryError, ledger};
use crate::caller::Caller;
use crate::clock;
use crate::idempotency::Key;
use crate::limits::{FORGET_MEMORIES_MAX, IDS_LISTED_MAX, ITEMS_PER_TRANSACTION, PAGE_SCAN_MAX, REPLAY_ROWS, UNDO_FORGET_MS};
use crate::store::{Direction, Reads, StoreError, WriteTx};
use std::collections::HashSet;
use tiro_schema::convert::{CHANGE_FORGOTTEN, STATUS_FORGOTTEN};
use tiro_schema::record::MemoryRecord;
use tiro_schema::wire::memory::{Filter, ForgetParams, ForgetResult};

const METHOD: &str = "memory/forget";

/// Key and id of memories.
type Named = Vec<(u64, [u8; 16])>;

impl Memory {
    /// Hides memories: named, or all of a space that pass a filter (of every status unless the filter names some). Many are
    /// hidden in several transactions, in order; a call that fails in between may be repeated and goes on with the rest.
    ///
    /// # Errors
    /// `Invalid`, `TooLarge`, `NotFound`, `Ambiguous`, `Key`, `Cancelled`, and the store's.
    pub async fn forget(&self, caller: &Caller, params: ForgetParams) -> Result<ForgetResult, MemoryError> {
        let key = Key::of(METHOD, params.space.as_deref().unwrap_or(""), params.key.as_deref(), &params)?;
        if let Some(answer) = self.answered(key.as_ref())? {
            return Ok(answer);
        }
        let (dry_run, purge) = (params.dry_run.unwrap_or(false), params.purge.unwrap_or(false));
        let named = self.blocking(move |memory| memory.to_forget(&params).and_then(|named| memory.with_parts(named)));
        let (records, derived) = named.await?;
        let mut answer = match () {
            () if dry_run => self.forgotten(&records, None),
            () if purge => return self.forget_for_good(caller, records, derived, key).await,
            () => self.forget_records(caller, METHOD, records, derived.clone(), key).await?,
        };
        answer.derived = derived;
        Ok(answer)
    }

    /// With a memory go those that were merged into it: they are current nowhere and hold words of it. What was made of one and of others
    /// stays, and is named: ids of the memories that these were merged into and that are not among them.
    fn with_parts(&self, named: Named) -> Result<(Named, Vec<String>), MemoryError> {
        let (mut all, mut derived) = (named, Vec::new());
        let mut seen: HashSet<u64> = all.iter().map(|(key, _)| *key).collect();
        let mut into: Vec<u64> = Vec::new();
        let mut at = 0;
        while at < all.len() {
            let some: Vec<u64> = all[at..].iter().take(REPLAY_ROWS).map(|(key, _)| *key).collect();
            at += some.len();
            self.store().read(|tx| {
                for key in some {
                    let Some(record) = tx.memory(key)? else { continue };
                    for part in &record.derived_from {
                        let part = tx.memory(*part)?.filter(|p| p.status != STATUS_FORGOTTEN && p.superseded_by == Some(key));
                        all.extend(part.filter(|part| seen.insert(part.key)).map(|part| (part.key, part.id)));
                    }
                    into.extend(record.superseded_by);
                }
                Ok::<_, StoreError>(())
            })?;
        }
        into.sort_unstable();
        into.dedup();
        into.retain(|key| !seen.contains(key));
        self.store().read(|tx| {
            for key in into {
                let whole = tx.memory(key)?.filter(|whole| whole.status != STATUS_FORGOTTEN);
                let made_of_them = whole.filter(|whole| whole.derived_from.iter().any(|part| seen.contains(part)));
                derived.extend(made_of_them.filter(|_| derived.len() < IDS_LISTED_MAX).map(|whole| id_text(&whole.id)));
            }
            Ok::<_, StoreError>(())
        })?;
        Ok((all, derived))
    }

    /// Hides memories and purges them. That they are hidden stands, whatever comes of the purge: its receipt says what.
    async fn forget_for_good(
        &self,
        caller: &Caller,
        records: Vec<(u64, [u8; 16])>,
        derived: Vec<String>,
        key: Option<Key>,
    ) -> Result<ForgetResult, MemoryError> {
        let keys = records.iter().map(|(key, _)| *key).collect();
        let mut answer = self.forget_records(caller, METHOD, records, derived, None).await?;
        answer.undo_until = None;
        answer.receipt = self.purge_these(caller, METHOD, keys).await?;
        self.keep_answer(key, &answer).await?;
        Ok(answer)
    }

    fn to_forget(&self, params: &ForgetParams) -> Result<Vec<(u64, [u8; 16])>, MemoryError> {
        match (&params.ids, &params.filter) {
            (Some(ids), None) if params.space.is_none() => {
                let forgotten_too = params.purge.unwrap_or(false);
                self.store().read(|tx| Ok(resolve_all(tx, ids, forgotten_too)?.iter().map(|r| (r.key, r.id)).collect()))
            }
            (Some(_), None) => Err(MemoryError::invalid("space", "goes with filter, not with ids")),
            (None, Some(filter)) if says_nothing(filter) => {
                Err(MemoryError::invalid("filter", "an empty filter fits everything: to forget a whole space, call space/delete"))
            }
            (None, Some(filter)) => {
                if params.space.is_none() {
                    return Err(MemoryError::invalid("space", "needed with filter"));
                }
                self.matching(&space_name("space", params.space.as_deref())?, &Sieve::new(Some(filter), Unnamed::Every)?)
            }
            _ => Err(MemoryError::invalid("ids", "give exactly one of ids and filter")),
        }
    }

    /// Key and id of every memory of a space that passes.
    pub(super) fn matching(&self, space: &str, sieve: &Sieve) -> Result<Vec<(u64, [u8; 16])>, MemoryError> {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let page = self.store().read(|tx| match tx.space_by_name(space)? {
                None => Ok::<_, MemoryError>(None),
                Some(space) => {
                    let walk_over =
                        Walk { space: space.id, sieve, text: None, direction: Direction::Ascending, after, limit: PAGE_SCAN_MAX };
                    Ok(Some(walk(tx, &walk_over)?))
                }
            })?;
            let Some(page) = page else { return Ok(found) };
            found.extend(page.records.iter().map(|r| (r.key, r.id)));
            if found.len() > FORGET_MEMORIES_MAX {
                return Err(MemoryError::too_large("filter", "forgetMemoriesMax", FORGET_MEMORIES_MAX));
            }
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(found),
            }
        }
    }

    /// Hides these memories in bounded transactions. The answer is kept under the key with the last of them.
    pub(super) async fn forget_records(
        &self,
        caller: &Caller,
        method: &'static str,
        records: Vec<(u64, [u8; 16])>,
        derived: Vec<String>,
        key: Option<Key>,
    ) -> Result<ForgetResult, MemoryError> {
        let until_ms = self.now_ms().saturating_add(UNDO_FORGET_MS);
        let mut answer = ForgetResult { derived, ..self.forgotten(&records, Some(until_ms)) };
        let (total, mut done) = (records.len(), 0);
        let mut chunks: Vec<Vec<u64>> =
            records.chunks(ITEMS_PER_TRANSACTION).map(|c| c.iter().map(|(key, _)| *key).collect()).collect();
        if chunks.is_empty() && key.is_some() {
            chunks.push(Vec::new());
        }
        let last = chunks.len().saturating_sub(1);
        for (n, chunk) in chunks.into_iter().enumerate() {
            if caller.cancel.is_cancelled() {
                return Err(MemoryError::Cancelled);
            }
            done += chunk.len();
            let (memory, who, base) = (self.clone(), caller.clone(), answer.clone());
            let key = key.clone().filter(|_| n == last);
            let written = self.store().write(method, move |tx| {
                let now_ms = tx.now_ms();
                if let Some(key) = &key
                    && let Some(kept) = key.answered::<ForgetResult, MemoryError>(tx, now_ms)?
                {
                    return Ok(kept);
                }
                let mut answer = base.clone();
                if let Some(seq) = memory.hide(tx, &who, method, &chunk)? {
                    answer.seq = memory.store().seq_token(seq);
                }
                if let Some(key) = &key {
                    key.keep(tx, &answer)?;
                }
                Ok::<_, MemoryError>(answer)
            });
            answer = written.await?;
            caller.tell("forgetting", done as u64, Some(total as u64));
        }
        Ok(answer)
    }

    /// Writes the forgotten versions of some memories; one that is forgotten already is passed over. The newest sequence.
    fn hide(&self, tx: &mut WriteTx, caller: &Caller, method: &str, keys: &[u64]) -> Result<Option<u64>, MemoryError> {
        let mut hidden: Vec<MemoryRecord> = Vec::with_capacity(keys.len());
        for key in keys {
            if let Some(record) = tx.memory(*key)?.filter(|r| r.status != STATUS_FORGOTTEN) {
                hidden.push(self.hide_one(tx, &record)?);
            }
        }
        ledger::wrote(tx, caller, method, &ledger::touched(&hidden))?;
        Ok(hidden.last().map(|r| r.seq))
    }

    /// Writes the forgotten version of a memory.
    pub(super) fn hide_one(&self, tx: &mut WriteTx, record: &MemoryRecord) -> Result<MemoryRecord, MemoryError> {
        let next = MemoryRecord {
            version: record.version + 1,
            seq: tx.next_seq(),
            status: STATUS_FORGOTTEN,
            change: CHANGE_FORGOTTEN,
            recorded_at_ms: tx.now_ms(),
            ..record.clone()
        };
        self.mark_current(tx, record, &next)?;
        self.write_version(tx, &next, None)?;
        Ok(next)
    }

    pub(super) fn forgotten(&self, records: &[(u64, [u8; 16])], until_ms: Option<i64>) -> ForgetResult {
        ForgetResult {
            count: records.len() as u64,
            ids: records.iter().take(IDS_LISTED_MAX).map(|(_, id)| id_text(id)).collect(),
            seq: self.store().seq_token(self.store().seq()),
            undo_until: until_ms.map(|ms| clock::format(ms, None)),
            receipt: None,
            derived: Vec::new(),
        }
    }

    /// The answer kept under a key, read before any work.
    pub(super) fn answered<R: serde::de::DeserializeOwned>(&self, key: Option<&Key>) -> Result<Option<R>, MemoryError> {
        match key {
            Some(key) => self.store().read(|tx| key.answered(tx, self.now_ms())),
            None => Ok(None),
        }
    }
}

/// Whether a filter leaves nothing out: no member is given, or only empty lists.
fn says_nothing(filter: &Filter) -> bool {
    fn empty<T>(list: &Option<Vec<T>>) -> bool {
        list.as_ref().is_none_or(Vec::is_empty)
    }
    empty(&filter.kinds)
        && empty(&filter.categories)
        && empty(&filter.tags)
        && empty(&filter.entities)
        && empty(&filter.speakers)
        && empty(&filter.statuses)
        && filter.session.is_none()
        && filter.after.is_none()
        && filter.before.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    // MEM-9
    #[test]
    fn empty_lists_do_not_make_a_filter() {
        assert!(says_nothing(&Filter::default()));
        assert!(says_nothing(&Filter { tags: Some(vec![]), statuses: Some(vec![]), ..Filter::default() }));
        assert!(!says_nothing(&Filter { tags: Some(vec!["a".into()]), ..Filter::default() }));
    }
}
