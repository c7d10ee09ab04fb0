//! `memory/undo`: the last change of a memory is taken back by a new version; repeated, it goes further back.
//!
//! Must not know: how versions are keyed.

use super::conflicts::conflict_of_id;
use super::resolve::{id_text, resolve, whole_id};
use super::{Memory, MemoryError, ledger};
use crate::caller::Caller;
use crate::idempotency::{Key, idempotent};
use crate::limits::{CONFLICTS_PER_MEMORY_MAX, UNDO_FORGET_MS, UNDO_VERSIONS_MAX};
use crate::store::{ConflictReads, PurgeReads, Reads, StoreError, WriteTx};
use tiro_schema::convert::{
    CHANGE_CREATED, CHANGE_FORGOTTEN, CHANGE_MERGED, CHANGE_SUPERSEDED, CHANGE_UNDONE, CONFLICT_KEPT_BOTH, CONFLICT_KEPT_FIRST,
    CONFLICT_OPEN, STATUS_ACTIVE, STATUS_FORGOTTEN,
};
use tiro_schema::record::{ConflictRecord, MemoryRecord};
use tiro_schema::wire::memory::{UndoParams, VersionResult};

const METHOD: &str = "memory/undo";

impl Memory {
    /// Takes the last change of a memory back: an update, a pin, archiving, a further telling, a merge (named by any of its memories),
    /// forgetting (for seven days, by the whole id); or, named by its whole id, the settling of a conflict. Of a supersession both
    /// sides go back: the old memory is current again and the new one is forgotten,
    /// whichever of the two is named. That is refused when the new one was changed since, so that nobody's work is hidden, and so
    /// is whatever would leave both current.
    ///
    /// # Errors
    /// `NothingToUndo`, `UndoInTheWay`, `NotFound`, `Ambiguous`, `Invalid`, `Key`, and the store's.
    pub async fn undo(&self, caller: &Caller, params: UndoParams) -> Result<VersionResult, MemoryError> {
        let key = Key::of(METHOD, "", params.key.as_deref(), &params)?;
        let (memory, caller) = (self.clone(), caller.clone());
        let written = self.store().write(METHOD, move |tx| {
            idempotent(tx, key.as_ref(), |tx| {
                let written = match settled_conflict(tx, &params.id)? {
                    Some(conflict) => memory.take_back_settling(tx, &conflict)?,
                    None => {
                        let record = named(tx, &params.id)?;
                        memory.take_back(tx, &record)?
                    }
                };
                ledger::wrote(tx, &caller, METHOD, &ledger::touched(&written))?;
                // The memory that was named is the first.
                written.first().map(|r| memory.version_result(r)).ok_or(MemoryError::Lost)
            })
        });
        Ok(written.await?)
    }

    fn take_back(&self, tx: &mut WriteTx, record: &MemoryRecord) -> Result<Vec<MemoryRecord>, MemoryError> {
        let nothing = |why| MemoryError::NothingToUndo { id: id_text(&record.id), why };
        let Some((version, change)) = last_change(tx, record)? else { return Err(nothing("it is as it was first kept")) };
        if change == CHANGE_CREATED {
            return self.take_back_successor(tx, record)?.ok_or_else(|| nothing("it is as it was first kept"));
        }
        if change == CHANGE_FORGOTTEN && tx.now_ms().saturating_sub(record.recorded_at_ms) > UNDO_FORGET_MS {
            return Err(nothing("it was forgotten more than seven days ago"));
        }
        let before = tx.memory_version(record.key, version - 1)?.ok_or_else(|| nothing("the version before is not kept"))?;
        let taken = tx.memory_version(record.key, version)?.map_or(0, |v| v.seq);
        if change == CHANGE_MERGED {
            return self.take_back_merge(tx, record, &before);
        }
        let successor = match (change, record.superseded_by) {
            (CHANGE_SUPERSEDED, Some(by)) => match tx.memory(by)? {
                Some(into) if into.derived_from.contains(&record.key) => return self.take_back_merged(tx, record, &into),
                // It was there before, as the other side of a conflict: it stays.
                Some(kept) if kept.supersedes != Some(record.key) => {
                    reopen(tx, record.key, taken)?;
                    None
                }
                _ => successor(tx, record, version, by)?,
            },
            _ => None,
        };
        if before.status == STATUS_ACTIVE && record.status != STATUS_ACTIVE {
            leave_one_current(tx, record, successor.as_ref().map(|new| new.key))?;
        }
        let mut written = vec![self.write_back(tx, record, &before)?];
        if let Some(new) = successor {
            written.push(self.hide_one(tx, &new)?);
        }
        Ok(written)
    }

    /// The other side of a supersession: the new memory, not changed since or changed back, goes and the old one comes back.
    fn take_back_successor(&self, tx: &mut WriteTx, new: &MemoryRecord) -> Result<Option<Vec<MemoryRecord>>, MemoryError> {
        let Some(old) = new.supersedes else { return Ok(None) };
        if new.status != STATUS_ACTIVE || new.superseded_by.is_some() {
            return Ok(None);
        }
        let Some(old) = tx.memory(old)?.filter(|o| o.superseded_by == Some(new.key)) else { return Ok(None) };
        let Some((version, CHANGE_SUPERSEDED)) = last_change(tx, &old)? else { return Ok(None) };
        let Some(before) = tx.memory_version(old.key, version - 1)? else { return Ok(None) };
        leave_one_current(tx, &old, Some(new.key))?;
        let hidden = self.hide_one(tx, new)?;
        let restored = self.write_back(tx, &old, &before)?;
        Ok(Some(vec![hidden, restored]))
    }

    /// A merge: the memory is as it was, and those that went into it are current again.
    fn take_back_merge(
        &self,
        tx: &mut WriteTx,
        into: &MemoryRecord,
        before: &MemoryRecord,
    ) -> Result<Vec<MemoryRecord>, MemoryError> {
        let mut written = vec![self.write_back(tx, into, before)?];
        for key in into.derived_from.iter().filter(|key| !before.derived_from.contains(key)) {
            let Some(other) = tx.memory(*key)?.filter(|other| other.superseded_by == Some(into.key)) else { continue };
            let Some((version, CHANGE_SUPERSEDED)) = last_change(tx, &other)? else { continue };
            let Some(earlier) = tx.memory_version(other.key, version - 1)? else { continue };
            reopen(tx, other.key, tx.memory_version(other.key, version)?.map_or(0, |v| v.seq))?;
            written.push(self.write_back(tx, &other, &earlier)?);
        }
        Ok(written)
    }

    /// The same, named by one of the memories that went into the other. The one that was named is the first.
    fn take_back_merged(
        &self,
        tx: &mut WriteTx,
        named: &MemoryRecord,
        into: &MemoryRecord,
    ) -> Result<Vec<MemoryRecord>, MemoryError> {
        let since = || MemoryError::UndoInTheWay {
            id: id_text(&named.id),
            other: id_text(&into.id),
            why: "took it in and was changed since",
            hint: "undo the changes of that memory first",
        };
        let Some((version, CHANGE_MERGED)) = last_change(tx, into)? else { return Err(since()) };
        let before = tx.memory_version(into.key, version - 1)?.ok_or_else(since)?;
        if before.derived_from.contains(&named.key) {
            return Err(since());
        }
        let mut written = self.take_back_merge(tx, into, &before)?;
        written.sort_by_key(|record| record.key != named.key);
        Ok(written)
    }

    /// A conflict that was settled is open again, and what was settled about its memories is taken back.
    fn take_back_settling(&self, tx: &mut WriteTx, conflict: &ConflictRecord) -> Result<Vec<MemoryRecord>, MemoryError> {
        let changed = match conflict.state {
            CONFLICT_KEPT_FIRST => conflict.second,
            _ => conflict.first,
        };
        let record = tx.memory(changed)?.ok_or(MemoryError::Lost)?;
        if conflict.state == CONFLICT_KEPT_BOTH {
            tx.put_conflict(&opened(conflict))?;
            return Ok(vec![record]);
        }
        let newest = last_change(tx, &record)?;
        let at = match newest {
            Some((version, CHANGE_SUPERSEDED | CHANGE_MERGED)) => tx.memory_version(record.key, version)?.map(|v| v.seq),
            _ => None,
        };
        if at.is_none_or(|at| at > conflict.resolved_seq) {
            return Err(MemoryError::UndoInTheWay {
                id: id_text(&conflict.id),
                other: id_text(&record.id),
                why: "was changed since the conflict was settled",
                hint: "undo the changes of that memory first",
            });
        }
        self.take_back(tx, &record)
    }

    /// Writes a version that says what an earlier one said.
    fn write_back(&self, tx: &mut WriteTx, now: &MemoryRecord, before: &MemoryRecord) -> Result<MemoryRecord, MemoryError> {
        let next = MemoryRecord {
            version: now.version + 1,
            seq: tx.next_seq(),
            change: CHANGE_UNDONE,
            recorded_at_ms: tx.now_ms(),
            ..before.clone()
        };
        self.mark_current(tx, now, &next)?;
        self.write_version(tx, &next, None)?;
        Ok(next)
    }
}

/// The memory that took a memory's place by the version given, to be hidden when that one comes back; none when it is forgotten already.
/// An error when hiding it would hide more than it was at that time, or when another took its own place.
fn successor(tx: &impl Reads, old: &MemoryRecord, version: u32, by: u64) -> Result<Option<MemoryRecord>, MemoryError> {
    let Some(new) = tx.memory(by)?.filter(|n| n.status != STATUS_FORGOTTEN) else { return Ok(None) };
    let in_the_way = |why, hint| MemoryError::UndoInTheWay { id: id_text(&old.id), other: id_text(&new.id), why, hint };
    if new.superseded_by.is_some() {
        return Err(in_the_way("took its place and was superseded itself", "undo the later supersession first"));
    }
    if new.status != STATUS_ACTIVE {
        return Err(in_the_way("took its place and is not active", "undo that change first, or forget that memory"));
    }
    let taken_at = tx.memory_version(old.key, version)?.map_or(0, |v| v.seq);
    let changed_at = match last_change(tx, &new)? {
        Some((version, _)) => tx.memory_version(new.key, version)?.map(|v| v.seq),
        None => None,
    };
    if changed_at.is_none_or(|at| at > taken_at) {
        return Err(in_the_way("took its place and was changed since", "undo those changes first, or forget that memory"));
    }
    Ok(Some(new))
}

/// Refuses to make a memory current while another of its line is: one whose place it took, or one that took the place of it or of
/// one before it. `hidden` is a memory that is about to be hidden, and so stands in nobody's way.
pub(super) fn leave_one_current(tx: &impl Reads, record: &MemoryRecord, hidden: Option<u64>) -> Result<(), MemoryError> {
    let in_the_way = |other: &MemoryRecord, why, hint| {
        Err(MemoryError::UndoInTheWay { id: id_text(&record.id), other: id_text(&other.id), why, hint })
    };
    let is_other = |other: &MemoryRecord| other.status == STATUS_ACTIVE && other.key != record.key && Some(other.key) != hidden;
    let (mut line, mut older) = (taken_by(tx, record)?, record.supersedes);
    for _ in 0..UNDO_VERSIONS_MAX {
        let Some(old) = older.map(|key| tx.memory(key)).transpose()?.flatten() else { break };
        if is_other(&old) {
            let hint = "supersede that memory with what is to hold, or forget it first";
            return in_the_way(&old, "whose place it took is current again", hint);
        }
        line.extend(old.superseded_by.map(|by| (old.key, by)));
        older = old.supersedes;
    }
    for (mut old, by) in line {
        let mut newer = Some(by);
        for _ in 0..UNDO_VERSIONS_MAX {
            let Some(new) = newer.map(|key| tx.memory(key)).transpose()?.flatten() else { break };
            if new.key == record.key || new.supersedes != Some(old) {
                break;
            }
            if is_other(&new) {
                return in_the_way(&new, "took its place and is current", "forget that memory first");
            }
            (old, newer) = (new.key, new.superseded_by);
        }
    }
    Ok(())
}

/// The memories that ever took a memory's place, each with its key. Its links of today say nothing of a supersession that was taken
/// back and came again: its versions do.
fn taken_by(tx: &impl Reads, record: &MemoryRecord) -> Result<Vec<(u64, u64)>, StoreError> {
    let mut takers: Vec<(u64, u64)> = Vec::new();
    for version in (1..=record.version).rev().take(UNDO_VERSIONS_MAX) {
        let Some(earlier) = tx.memory_version(record.key, version)? else { break };
        takers.extend(earlier.superseded_by.map(|by| (record.key, by)).filter(|taker| !takers.contains(taker)));
    }
    Ok(takers)
}

/// The settled conflict of an id, when it is one's.
fn settled_conflict(tx: &impl Reads, id: &str) -> Result<Option<ConflictRecord>, MemoryError> {
    let Some(id) = whole_id(id) else { return Ok(None) };
    match conflict_of_id(tx, &id)? {
        Some(conflict) if conflict.state == CONFLICT_OPEN => {
            Err(MemoryError::NothingToUndo { id: id_text(&id), why: "it is a conflict that is not settled" })
        }
        found => Ok(found),
    }
}

fn opened(conflict: &ConflictRecord) -> ConflictRecord {
    ConflictRecord { state: CONFLICT_OPEN, resolved_at_ms: None, resolved_seq: 0, ..conflict.clone() }
}

/// Opens the conflict of a memory that was settled by the write of a sequence.
fn reopen(tx: &mut WriteTx, memory: u64, seq: u64) -> Result<(), StoreError> {
    for conflict in tx.conflicts_of_memory(memory, CONFLICTS_PER_MEMORY_MAX)? {
        if conflict.state != CONFLICT_OPEN && conflict.resolved_seq == seq {
            tx.put_conflict(&opened(&conflict))?;
        }
    }
    Ok(())
}

/// The memory of a whole id, a forgotten one too, or of a prefix.
fn named(tx: &impl Reads, id: &str) -> Result<MemoryRecord, MemoryError> {
    if let Some(whole) = whole_id(id)
        && let Some(purged) = tx.purged(&whole)?
    {
        let at_ms = tx.purge(purged.purge)?.map_or(purged.hidden_at_ms, |purge| purge.requested_at_ms);
        return Err(MemoryError::Purged { id: id_text(&whole), at: crate::clock::format(at_ms, None).0 });
    }
    if let Some(whole) = whole_id(id)
        && let Some(key) = tx.key_of_id(&whole)?
        && let Some(record) = tx.memory(key)?
    {
        return Ok(record);
    }
    resolve(tx, id, "id")
}

/// The newest change that was not taken back: the version it made, and what it was.
fn last_change(tx: &impl Reads, record: &MemoryRecord) -> Result<Option<(u32, u8)>, StoreError> {
    let (mut version, mut change, mut undone) = (record.version, record.change, 0u32);
    for _ in 0..UNDO_VERSIONS_MAX {
        if change == CHANGE_UNDONE {
            undone += 1;
        } else if undone > 0 {
            undone -= 1;
        } else {
            return Ok(Some((version, change)));
        }
        version -= 1;
        match tx.memory_version(record.key, version)? {
            Some(earlier) => change = earlier.change,
            None => return Ok(None),
        }
    }
    Ok(None)
}
