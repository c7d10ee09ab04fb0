//! Puts a new memory into the store: the record, its vectors, its fingerprint, and the index told once it is durable.
//!
//! Everything slow was done before, outside the transaction. Must not know: which verb it is for.

use super::Memory;
use super::compare::{Comparison, Since, other_event, other_speaker, same_case};
use super::documents::{self, documents};
use super::draft::Draft;
use super::error::MemoryError;
use super::fingerprint::canonical;
use crate::limits::SPACES_MAX;
use crate::store::{Reads, WriteTx};
use std::collections::HashMap;
use std::sync::Arc;
use tiro_index::{Change, Prepared};
use tiro_schema::convert::{CHANGE_CREATED, STATUS_ACTIVE, source_record};
use tiro_schema::record::{MemoryRecord, SpaceRecord, UseRecord};
use uuid::Uuid;

/// A memory ready to be written: embedded and analysed, without its place in the store.
#[derive(Debug, Clone)]
pub(super) struct Ready {
    pub draft: Draft,
    pub record: MemoryRecord,
    pub usage: UseRecord,
    vectors: Vec<Vec<f32>>,
    prepared: Vec<Prepared>,
    /// What it is to the memories there are; empty when it is not compared.
    pub comparison: Arc<Comparison>,
}

impl Ready {
    /// Embeds and analyses a draft recorded at `now_ms`.
    pub fn new(memory: &Memory, draft: Draft, now_ms: i64) -> Ready {
        let record = Ready::record_of(&draft, now_ms);
        Ready::from_record(memory, draft, record, UseRecord::default())
    }

    /// The first version of a draft's memory, recorded at `now_ms`, without its place.
    pub fn record_of(draft: &Draft, now_ms: i64) -> MemoryRecord {
        MemoryRecord {
            version: 1,
            id: Uuid::new_v4().into_bytes(),
            kind: draft.kind,
            category: draft.category,
            status: STATUS_ACTIVE,
            change: CHANGE_CREATED,
            text: draft.text.clone(),
            tags: draft.tags.clone(),
            entities: draft.entities.clone(),
            sources: draft.source.iter().map(|s| source_record(s, now_ms)).collect(),
            seen_count: 1,
            importance: draft.importance,
            pinned: draft.pinned,
            explicit: draft.explicit,
            verbatim: draft.verbatim,
            created_at_ms: now_ms,
            recorded_at_ms: now_ms,
            occurred_at_ms: draft.occurred.map(|(ms, _)| ms),
            occurred_offset_min: draft.occurred.and_then(|(_, offset)| offset),
            valid_from_ms: draft.valid_from_ms,
            valid_to_ms: draft.valid_to_ms,
            vector_version: 1,
            ..MemoryRecord::default()
        }
    }

    /// The same for a record whose members are known, as from an export.
    pub fn from_record(memory: &Memory, draft: Draft, mut record: MemoryRecord, usage: UseRecord) -> Ready {
        let vectors = documents::embed(memory.embedder(), &record.text, record.sources.first());
        record.vector_count = u16::try_from(vectors.len()).unwrap_or(u16::MAX);
        let prepared = documents(&record, &usage, &vectors);
        Ready { draft, record, usage, vectors, prepared, comparison: Arc::default() }
    }

    /// The same, compared with the memories of its space.
    pub fn compared(mut self, memory: &Memory) -> Result<Ready, MemoryError> {
        self.comparison = Arc::new(memory.compare_with_known(&self)?);
        Ok(self)
    }

    /// The vector of its first passage.
    pub fn vector(&self) -> Option<&[f32]> {
        self.vectors.first().filter(|vector| !vector.is_empty()).map(Vec::as_slice)
    }

    /// The vectors of its passages.
    pub fn vectors(&self) -> &[Vec<f32>] {
        &self.vectors
    }

    /// When it happened, as far as is known, Unix ms.
    pub fn happened_at_ms(&self) -> i64 {
        self.record.occurred_at_ms.unwrap_or(self.record.created_at_ms)
    }

    /// The known memory of the space that says the same in the same words, if one is current.
    pub fn known(&self, tx: &impl Reads, space: u32) -> Result<Option<MemoryRecord>, MemoryError> {
        if self.draft.verbatim {
            return Ok(None);
        }
        let Some(key) = tx.key_by_fingerprint(space, self.draft.fingerprint)? else { return Ok(None) };
        let ours = |r: &MemoryRecord| {
            !(self.comparison.first_person() && other_speaker(r, self) || self.comparison.tells_event() && other_event(r, self))
        };
        let written = |r: &MemoryRecord| canonical(&r.text) == self.draft.canonical && same_case(&r.text, &self.draft.text);
        let same = |r: &MemoryRecord| r.status == STATUS_ACTIVE && written(r) && ours(r);
        Ok(tx.memory(key)?.filter(same))
    }

    /// Writes it as a new memory of the space. `supersedes` is the key of the one whose place it takes.
    pub fn create(
        &self,
        memory: &Memory,
        tx: &mut WriteTx,
        space: u32,
        supersedes: Option<u64>,
    ) -> Result<MemoryRecord, MemoryError> {
        memory.check_quota(tx, space, self.record.text.len())?;
        let seq = tx.next_seq();
        let record = MemoryRecord { key: seq, seq, space, supersedes, ..self.record.clone() };
        tx.put_memory(&record, Some(&self.vectors))?;
        if self.usage.use_count > 0 {
            tx.put_usage(record.key, &self.usage)?;
        }
        claim_fingerprint(tx, &record, self.draft.fingerprint)?;
        // One that takes another's place holds from its beginning on, which the index learns with it.
        let mut prepared =
            if supersedes.is_some() { documents(&record, &self.usage, &self.vectors) } else { self.prepared.clone() };
        for (n, document) in prepared.iter_mut().enumerate() {
            document.place(documents::index_key(record.key, n), seq, space);
        }
        let (memory, recorded_at_ms) = (memory.clone(), record.recorded_at_ms);
        tx.after_commit(Box::new(move || {
            memory.index().apply(prepared.into_iter().map(Change::Upsert).collect());
            memory.inner.past.wrote(CHANGE_CREATED, recorded_at_ms);
            memory.leg().iter().for_each(|leg| leg.made());
        }));
        Ok(record)
    }
}

/// Marks a current memory with its fingerprint, unless another current one has it.
pub(super) fn claim_fingerprint(tx: &mut WriteTx, record: &MemoryRecord, fingerprint: [u8; 16]) -> Result<(), MemoryError> {
    if record.status != STATUS_ACTIVE {
        return Ok(());
    }
    let holder = match tx.key_by_fingerprint(record.space, fingerprint)? {
        Some(key) => tx.memory(key)?,
        None => None,
    };
    if holder.is_none_or(|h| h.status != STATUS_ACTIVE) {
        tx.put_fingerprint(record.space, fingerprint, record.key)?;
    }
    Ok(())
}

/// The space of this name, made when there is none, within the limit of spaces.
pub(super) fn ensure_space(tx: &mut WriteTx, name: &str) -> Result<SpaceRecord, MemoryError> {
    if let Some(space) = tx.space_by_name(name)? {
        return Ok(space);
    }
    if tx.spaces()?.len() >= SPACES_MAX {
        return Err(MemoryError::too_large("space", "spacesMax", SPACES_MAX));
    }
    let now_ms = tx.now_ms();
    Ok(tx.ensure_space(name, now_ms)?)
}

/// Spaces met in one run of a transaction.
#[derive(Default)]
pub(super) struct Spaces {
    ids: HashMap<String, u32>,
    /// What was written since the texts of this run were compared.
    pub since: Since,
}

impl Spaces {
    /// The id of the space of this name, made when there is none.
    pub fn id(&mut self, tx: &mut WriteTx, name: &str) -> Result<u32, MemoryError> {
        if let Some(id) = self.ids.get(name) {
            return Ok(*id);
        }
        let id = ensure_space(tx, name)?.id;
        self.ids.insert(name.to_owned(), id);
        Ok(id)
    }
}
