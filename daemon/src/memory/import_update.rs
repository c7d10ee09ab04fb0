//! What an import makes of a memory that is there under the id of its line: the same, changed as the source has it now, or left as
//! somebody else made it since. And what it retires.
//!
//! An import owns what it wrote last: the first version, or one with the change code of imports. Pins, and being told again, change nothing
//! of that. Must not know: how lines are read; embedding.

use super::draft::Draft;
use super::fingerprint::canonical;
use super::place::Ready;
use super::{Memory, MemoryError};
use crate::store::{Reads, StoreError, WriteTx};
use tiro_schema::convert::{
    CHANGE_CREATED, CHANGE_IMPORTED, CHANGE_PINNED, CHANGE_SEEN, STATUS_ACTIVE, STATUS_ARCHIVED, STATUS_FORGOTTEN,
    STATUS_SUPERSEDED,
};
use tiro_schema::record::{MemoryRecord, SourceRecord};

/// What becomes of a memory that is there.
pub(super) enum Renewal {
    /// It is as the line says.
    Same,
    /// Somebody else changed it, put it away or forgot it since: it stays.
    Kept,
    /// Its next version.
    Next(Box<MemoryRecord>),
}

/// Whether a memory says what a line says; with `update`, whether it is in everything as the line has it.
pub(super) fn is_same(draft: &Draft, wanted: &MemoryRecord, record: &MemoryRecord, update: bool) -> bool {
    if record.status == STATUS_FORGOTTEN {
        return false;
    }
    if !update {
        return record.text == draft.text || (!draft.verbatim && canonical(&record.text) == draft.canonical);
    }
    let stands = record.status == wanted.status || record.status == STATUS_SUPERSEDED;
    stands
        && record.text == wanted.text
        && (record.kind, record.category) == (wanted.kind, wanted.category)
        && (&record.tags, &record.entities) == (&wanted.tags, &wanted.entities)
        && record.occurred_at_ms == wanted.occurred_at_ms
        && same_source(record.sources.first(), wanted.sources.first())
}

fn same_source(a: Option<&SourceRecord>, b: Option<&SourceRecord>) -> bool {
    let members = |s: &SourceRecord| (s.session.clone(), s.position, s.speaker.clone(), s.program.clone(), s.uri.clone());
    a.map(members) == b.map(members)
}

/// Whether the last change of a memory that was one of its words, labels or status was an import's.
fn is_an_imports(tx: &impl Reads, record: &MemoryRecord) -> Result<bool, StoreError> {
    let mut version = record.version;
    let mut change = record.change;
    while matches!(change, CHANGE_SEEN | CHANGE_PINNED) && version > 1 {
        version -= 1;
        let Some(before) = tx.memory_version(record.key, version)? else { return Ok(false) };
        change = before.change;
    }
    Ok(matches!(change, CHANGE_CREATED | CHANGE_IMPORTED))
}

/// What a line that updates makes of the memory that is there.
pub(super) fn renewal(tx: &impl Reads, ready: &Ready, record: &MemoryRecord) -> Result<Renewal, StoreError> {
    let wanted = &ready.record;
    if is_same(&ready.draft, wanted, record, true) {
        return Ok(Renewal::Same);
    }
    if !matches!(record.status, STATUS_ACTIVE | STATUS_ARCHIVED) || !is_an_imports(tx, record)? {
        return Ok(Renewal::Kept);
    }
    let mut sources = record.sources.clone();
    match (sources.first_mut(), wanted.sources.first()) {
        (Some(first), Some(told)) => *first = told.clone(),
        (None, Some(told)) => sources.push(told.clone()),
        _ => {}
    }
    Ok(Renewal::Next(Box::new(MemoryRecord {
        version: record.version + 1,
        text: wanted.text.clone(),
        kind: wanted.kind,
        category: wanted.category,
        tags: wanted.tags.clone(),
        entities: wanted.entities.clone(),
        occurred_at_ms: wanted.occurred_at_ms,
        occurred_offset_min: wanted.occurred_offset_min,
        status: wanted.status,
        change: CHANGE_IMPORTED,
        sources,
        ..record.clone()
    })))
}

/// What retiring makes of a memory.
pub(super) fn retirement(tx: &impl Reads, record: &MemoryRecord) -> Result<Renewal, StoreError> {
    match record.status {
        STATUS_ARCHIVED => Ok(Renewal::Same),
        // What somebody pinned is to stay, whatever its source has.
        STATUS_ACTIVE if !record.pinned && is_an_imports(tx, record)? => Ok(Renewal::Next(Box::new(MemoryRecord {
            version: record.version + 1,
            status: STATUS_ARCHIVED,
            change: CHANGE_IMPORTED,
            ..record.clone()
        }))),
        _ => Ok(Renewal::Kept),
    }
}

impl Memory {
    /// Writes the next version of a memory, with the vectors of its new words where they changed.
    pub(super) fn renew(
        &self,
        tx: &mut WriteTx,
        before: &MemoryRecord,
        next: MemoryRecord,
        vectors: &[Vec<f32>],
    ) -> Result<MemoryRecord, MemoryError> {
        let mut next = MemoryRecord { seq: tx.next_seq(), recorded_at_ms: tx.now_ms(), ..next };
        let speaks = |record: &MemoryRecord| record.sources.first().and_then(|source| source.speaker.clone());
        let is_told_anew = next.text != before.text || speaks(&next) != speaks(before);
        if is_told_anew {
            next.vector_version = next.version;
            next.vector_count = u16::try_from(vectors.len()).unwrap_or(u16::MAX);
        }
        self.write_version(tx, &next, is_told_anew.then_some(vectors))?;
        self.mark_current(tx, before, &next)?;
        if is_told_anew {
            let (memory, old) = (self.clone(), before.text.clone());
            tx.after_commit(Box::new(move || memory.inner.gate.recalled().forget(&old)));
        }
        Ok(next)
    }
}
