//! `memory/update`: members of a memory change; the older version stays in the store.
//!
//! Must not know: how a text is told to the index.

use super::documents;
use super::draft::{check_text, check_validity, importance, instant, is_blank, labels, secret_in};
use super::fingerprint::{canonical, fingerprint};
use super::place::claim_fingerprint;
use super::resolve::{id_text, resolve};
use super::{Memory, MemoryError, ledger};
use crate::caller::Caller;
use crate::idempotency::{Key, idempotent};
use crate::limits::{ENTITIES_MAX, ENTITY_BYTES_MAX, TAG_BYTES_MAX, TAGS_MAX};
use crate::store::{Reads, WriteTx};
use tiro_schema::convert::{CHANGE_UPDATED, STATUS_ACTIVE, category_code, kind_code};
use tiro_schema::record::MemoryRecord;
use tiro_schema::wire::memory::{Related, UpdateParams, VersionResult};

const METHOD: &str = "memory/update";

/// The changes, checked.
struct Edit {
    params: UpdateParams,
    tags: Option<Vec<String>>,
    entities: Option<Vec<String>>,
    importance: Option<f32>,
    occurred: Option<(i64, Option<i16>)>,
    valid_from_ms: Option<i64>,
    valid_to_ms: Option<i64>,
}

impl Memory {
    /// Changes the members given. A change of the text needs `ifVersion`.
    ///
    /// # Errors
    /// `Invalid`, `TooLarge`, `NotFound`, `Ambiguous`, `VersionMismatch`, `Secret`, `Key`, and the store's.
    pub async fn update(&self, caller: &Caller, params: UpdateParams) -> Result<VersionResult, MemoryError> {
        let key = Key::of(METHOD, "", params.key.as_deref(), &params)?;
        let edit = check(params)?;
        let (memory, caller) = (self.clone(), caller.clone());
        let written = self.store().write(METHOD, move |tx| {
            idempotent(tx, key.as_ref(), |tx| {
                let record = memory.apply_edit(tx, &edit)?;
                ledger::wrote(tx, &caller, METHOD, &ledger::touched([&record]))?;
                let mut result = memory.version_result(&record);
                if edit.params.text.is_some() {
                    result.related = same_words(tx, &record)?;
                }
                Ok::<_, MemoryError>(result)
            })
        });
        Ok(written.await?)
    }

    fn apply_edit(&self, tx: &mut WriteTx, edit: &Edit) -> Result<MemoryRecord, MemoryError> {
        let known = resolve(tx, &edit.params.id, "id")?;
        if edit.params.if_version.is_some_and(|v| v != known.version) {
            return Err(MemoryError::VersionMismatch { id: id_text(&known.id), current: known.version });
        }
        let mut next = known.clone();
        edit.apply(&mut next);
        check_validity(next.valid_from_ms, next.valid_to_ms)?;
        next.version += 1;
        next.seq = tx.next_seq();
        next.change = CHANGE_UPDATED;
        next.recorded_at_ms = tx.now_ms();
        if next.text == known.text {
            self.write_version(tx, &next, None)?;
            return Ok(next);
        }
        let vectors = documents::embed(self.embedder(), &next.text, next.sources.first());
        next.vector_version = next.version;
        next.vector_count = u16::try_from(vectors.len()).unwrap_or(u16::MAX);
        tx.remove_fingerprint(next.space, fingerprint(&canonical(&known.text)), next.key)?;
        self.write_version(tx, &next, Some(&vectors))?;
        claim_fingerprint(tx, &next, fingerprint(&canonical(&next.text)))?;
        let (memory, old) = (self.clone(), known.text);
        tx.after_commit(Box::new(move || memory.inner.gate.recalled().forget(&old)));
        Ok(next)
    }

    /// The answer that names a memory's version now.
    pub(super) fn version_result(&self, record: &MemoryRecord) -> VersionResult {
        VersionResult {
            id: id_text(&record.id),
            version: record.version,
            seq: self.store().seq_token(record.seq),
            related: Vec::new(),
        }
    }
}

/// Another current memory of the space with the same words. An edit is somebody's will: nothing is done about it.
fn same_words(tx: &WriteTx, record: &MemoryRecord) -> Result<Vec<Related>, MemoryError> {
    let words = canonical(&record.text);
    let Some(key) = tx.key_by_fingerprint(record.space, fingerprint(&words))?.filter(|key| *key != record.key) else {
        return Ok(Vec::new());
    };
    let other = tx.memory(key)?.filter(|other| other.status == STATUS_ACTIVE && canonical(&other.text) == words);
    Ok(other.iter().map(|other| Related { id: id_text(&other.id), relation: "duplicate".to_owned() }).collect())
}

fn check(params: UpdateParams) -> Result<Edit, MemoryError> {
    let p = &params;
    let changes = p.text.is_some() || p.kind.is_some() || p.category.is_some() || p.tags.is_some() || p.entities.is_some();
    if !changes && p.importance.is_none() && p.occurred_at.is_none() && p.valid_from.is_none() && p.valid_to.is_none() {
        return Err(MemoryError::invalid("", "nothing to change: give at least one member besides id"));
    }
    if let Some(text) = &p.text {
        if p.if_version.is_none() {
            return Err(MemoryError::invalid("ifVersion", "needed when the text changes: give the version that was read"));
        }
        if is_blank(text) {
            return Err(MemoryError::invalid("text", "must not be blank; to take a memory away, forget it"));
        }
        check_text("text", text)?;
    }
    let list = |path, list: &Option<Vec<String>>, most, limit, bytes| {
        list.as_deref().map(|l| labels(path, Some(l), most, limit, bytes)).transpose()
    };
    let tags = list("tags", &p.tags, TAGS_MAX, "tagsMax", TAG_BYTES_MAX)?;
    let entities = list("entities", &p.entities, ENTITIES_MAX, "entitiesMax", ENTITY_BYTES_MAX)?;
    let none: &[String] = &[];
    let (all_tags, all_entities) = (tags.as_deref().unwrap_or(none), entities.as_deref().unwrap_or(none));
    if let Some((path, secret)) = secret_in(p.text.as_deref().unwrap_or(""), all_tags, all_entities, None) {
        return Err(MemoryError::Secret { path, secret });
    }
    Ok(Edit {
        tags,
        entities,
        importance: importance(p.importance)?,
        occurred: instant("occurredAt", p.occurred_at.as_ref())?,
        valid_from_ms: instant("validFrom", p.valid_from.as_ref())?.map(|(ms, _)| ms),
        valid_to_ms: instant("validTo", p.valid_to.as_ref())?.map(|(ms, _)| ms),
        params,
    })
}

impl Edit {
    fn apply(&self, record: &mut MemoryRecord) {
        let p = &self.params;
        record.text = p.text.clone().unwrap_or_else(|| std::mem::take(&mut record.text));
        record.kind = p.kind.map_or(record.kind, kind_code);
        record.category = p.category.map_or(record.category, category_code);
        record.tags = self.tags.clone().unwrap_or_else(|| std::mem::take(&mut record.tags));
        record.entities = self.entities.clone().unwrap_or_else(|| std::mem::take(&mut record.entities));
        record.importance = self.importance.unwrap_or(record.importance);
        if let Some((ms, offset)) = self.occurred {
            (record.occurred_at_ms, record.occurred_offset_min) = (Some(ms), offset);
        }
        record.valid_from_ms = self.valid_from_ms.or(record.valid_from_ms);
        record.valid_to_ms = self.valid_to_ms.or(record.valid_to_ms);
    }
}
