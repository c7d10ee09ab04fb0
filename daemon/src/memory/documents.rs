//! Between a stored memory and the index: its passages as documents, their keys, and the change a write makes.
//!
//! Must not know: verbs.

use super::Memory;
use super::passages::passages;
use super::times::{held_ms, occurred, told_by};
use super::when::Told;
use crate::limits::PASSAGES_MAX;
use crate::store::{ModelReads, Reads, StoreError, WriteTx};
use std::borrow::Cow;
use tiro_index::embed::{Embedder, PassageKind, Role};
use tiro_index::{Change, Document, Index, Prepared, Status, Voice, prepare};
use tiro_schema::convert::{STATUS_ACTIVE, STATUS_FORGOTTEN};
use tiro_schema::record::{MemoryRecord, SourceRecord, UseRecord};

/// Bits of an index key that are the memory's; above them stands the number of the passage.
const MEMORY_BITS: u32 = 48;

/// The index's key of a memory's passage.
pub(super) fn index_key(memory: u64, passage: usize) -> u64 {
    memory | (passage as u64) << MEMORY_BITS
}

/// The memory and the passage of an index's key.
pub(super) fn memory_of(index_key: u64) -> (u64, usize) {
    (index_key & ((1 << MEMORY_BITS) - 1), (index_key >> MEMORY_BITS) as usize)
}

/// What comes of embedding a text: one vector a passage, empty where the model knows nothing of it.
pub(super) fn embed(embedder: &dyn Embedder, text: &str, source: Option<&SourceRecord>) -> Vec<Vec<f32>> {
    let role = Role::Passage(passage_kind(source));
    passages(text)
        .into_iter()
        .map(|range| embedder.embed(role, &unpunctuated(&said(source, &text[range]))).unwrap_or_default())
        .collect()
}

/// What comes of embedding a question; nothing where the model knows none of its words, which would be near to something all the same.
pub(super) fn embed_query(embedder: &dyn Embedder, text: &str) -> Option<Vec<f32>> {
    let text = unpunctuated(text);
    let known = embedder.known(&text).chars().any(char::is_alphanumeric);
    known.then(|| embedder.embed(Role::Query, &text)).flatten()
}

/// The text without the marks that end and part sentences: to the table they are words like any other, and a single `？` takes a
/// third of a Chinese question's score.
fn unpunctuated(text: &str) -> String {
    text.chars().map(|c| if is_mark(c) { ' ' } else { c }).collect()
}

/// Marks that say how a sentence goes, not what it is about.
fn is_mark(c: char) -> bool {
    matches!(c, '?' | '!' | '？' | '！' | '。' | '，' | '、' | '；' | '：' | '…' | '“' | '”' | '「' | '」' | '『' | '』')
        || matches!(c, '《' | '》' | '（' | '）' | '～')
}

/// Roles that programs write where a name would stand: they say nothing about who spoke.
const ROLES: [&str; 8] = ["user", "assistant", "system", "tool", "human", "ai", "model", "bot"];

/// Names of roles that mean an assistant.
const ASSISTANTS: [&str; 4] = ["assistant", "ai", "model", "bot"];

fn is_among(roles: &[&str], speaker: &str) -> bool {
    roles.iter().any(|role| role.eq_ignore_ascii_case(speaker))
}

/// The text as it is searched: with the name of who said it in front, since questions name people.
pub(super) fn said<'a>(source: Option<&SourceRecord>, text: &'a str) -> Cow<'a, str> {
    match source.and_then(|s| s.speaker.as_deref()) {
        Some(speaker) if !is_among(&ROLES, speaker) => Cow::Owned(format!("{speaker}: {text}")),
        _ => Cow::Borrowed(text),
    }
}

/// What stands in a conversation is a turn; everything else is a fact.
fn passage_kind(source: Option<&SourceRecord>) -> PassageKind {
    match source {
        Some(s) if s.session.is_some() && (s.speaker.is_some() || s.position.is_some()) => PassageKind::Turn,
        _ => PassageKind::Fact,
    }
}

/// The documents of a memory that none took the place of, analysed.
pub(super) fn documents(record: &MemoryRecord, usage: &UseRecord, vectors: &[Vec<f32>]) -> Vec<Prepared> {
    document_set(record, usage, vectors, None)
}

/// The documents of a memory, analysed; `successor` is the one that took its place.
pub(super) fn document_set(
    record: &MemoryRecord,
    usage: &UseRecord,
    vectors: &[Vec<f32>],
    successor: Option<&MemoryRecord>,
) -> Vec<Prepared> {
    let told = told_by(record);
    let held = held_ms(record, &told, successor);
    let of = |passage: usize, text: &str| Document {
        held_ms: held,
        vector: vectors.get(passage).filter(|v| !v.is_empty()).cloned(),
        ..document(record, usage, passage, text, &told)
    };
    passages(&record.text).into_iter().enumerate().map(|(n, range)| prepare(of(n, &record.text[range]))).collect()
}

fn document(record: &MemoryRecord, usage: &UseRecord, passage: usize, text: &str, words: &Told) -> Document {
    let told = record.sources.iter().find(|s| s.session.is_some());
    let speaker = told.or(record.sources.first()).and_then(|s| s.speaker.as_deref());
    let mut speakers: Vec<String> = record.sources.iter().filter_map(|s| s.speaker.clone()).collect();
    speakers.sort_unstable();
    speakers.dedup();
    Document {
        key: index_key(record.key, passage),
        seq: record.seq,
        space: record.space,
        status: Status::from_code(record.status).unwrap_or(Status::Archived),
        kind: record.kind,
        category: record.category,
        pinned: record.pinned,
        importance: record.importance,
        created_at_ms: record.created_at_ms,
        occurred_at_ms: record.occurred_at_ms.or(words.occurred.map(|_| occurred(record, words).0)),
        told_ms: words.occurred.map(|span| (span.from_ms, span.to_ms)),
        valid_from_ms: record.valid_from_ms,
        valid_to_ms: record.valid_to_ms,
        last_used_at_ms: (usage.use_count > 0).then_some(usage.last_used_at_ms),
        use_count: u32::try_from(usage.use_count).unwrap_or(u32::MAX),
        tags: record.tags.clone(),
        entities: record.entities.clone(),
        speakers,
        session: told.and_then(|s| s.session.clone()),
        position: told.and_then(|s| s.position),
        voice: if speaker.is_some_and(|s| is_among(&ASSISTANTS, s)) { Voice::Assistant } else { Voice::Person },
        name: speaker.filter(|s| !is_among(&ROLES, s)).map(str::to_owned),
        text: said(record.sources.first(), text).into_owned(),
        ..Document::default()
    }
}

/// What the index has to do so that it holds this state of a memory and no other.
pub(super) fn changes(
    record: &MemoryRecord,
    usage: &UseRecord,
    vectors: &[Vec<f32>],
    successor: Option<&MemoryRecord>,
) -> Vec<Change> {
    let mut changes = Vec::new();
    if record.status != STATUS_FORGOTTEN {
        changes.extend(document_set(record, usage, vectors, successor).into_iter().map(Change::Upsert));
    }
    // Passages of an earlier, longer text, and everything of a forgotten one.
    if record.version > 1 {
        changes.extend((changes.len()..PASSAGES_MAX).map(|n| Change::Remove { key: index_key(record.key, n), seq: record.seq }));
    }
    changes
}

/// What the index has to do so that it holds nothing of a memory that the store has no more.
pub(super) fn removals(key: u64, seq: u64) -> impl Iterator<Item = Change> {
    (0..PASSAGES_MAX).map(move |n| Change::Remove { key: index_key(key, n), seq })
}

/// The same, with use statistics and vectors read from the store.
pub(super) fn changes_of(tx: &impl Reads, record: &MemoryRecord) -> Result<Vec<Change>, StoreError> {
    if record.status == STATUS_FORGOTTEN {
        return Ok(changes(record, &UseRecord::default(), &[], None));
    }
    let vectors = tx.vectors(record.key, record.vector_version)?;
    let successor = record.superseded_by.map(|by| tx.memory(by)).transpose()?.flatten();
    let successor = successor.filter(|next| next.status != STATUS_FORGOTTEN);
    let mut changes = changes(record, &tx.usage(record.key)?, &vectors, successor.as_ref());
    if let Some(model) = tx.embedder_in_use()? {
        let theirs = tx.model_vectors(model, record.key, record.vector_version)?;
        for (change, vector) in changes.iter_mut().zip(theirs) {
            if let Change::Upsert(document) = change {
                document.set_model_vector(vector);
            }
        }
    }
    Ok(changes)
}

/// Tells the index how often and when a memory was used.
pub(super) fn touch(index: &Index, record: &MemoryRecord, usage: &UseRecord) {
    let count = u32::try_from(usage.use_count).unwrap_or(u32::MAX);
    (0..passages(&record.text).len()).for_each(|n| index.touch(index_key(record.key, n), usage.last_used_at_ms, count));
}

impl Memory {
    /// Writes a new version of a memory that is there already, and tells the index of it once it is durable.
    pub(super) fn write_version(
        &self,
        tx: &mut WriteTx,
        record: &MemoryRecord,
        vectors: Option<&[Vec<f32>]>,
    ) -> Result<(), StoreError> {
        tx.put_memory(record, vectors)?;
        let changes = changes_of(tx, record)?;
        let (memory, key, change, recorded_at_ms) = (self.clone(), record.key, record.change, record.recorded_at_ms);
        let gone = (record.status != STATUS_ACTIVE).then(|| record.text.clone());
        tx.after_commit(Box::new(move || {
            // What is not current any more can be told anew.
            if let Some(text) = gone {
                memory.inner.gate.recalled().forget(&text);
            }
            memory.index().apply(changes);
            memory.inner.past.wrote(change, recorded_at_ms);
            memory.leg().iter().for_each(|leg| leg.changed(key));
        }));
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn keys_fold_back() {
        for (memory, passage) in [(1, 0), (7, 65), ((1 << MEMORY_BITS) - 1, 3)] {
            assert_eq!(memory_of(index_key(memory, passage)), (memory, passage));
        }
    }

    #[test]
    fn a_shorter_text_takes_its_old_passages_out() {
        let mut record = MemoryRecord { key: 9, version: 1, seq: 9, text: "short".into(), ..MemoryRecord::default() };
        assert_eq!(changes(&record, &UseRecord::default(), &[], None).len(), 1);
        record.version = 2;
        assert_eq!(changes(&record, &UseRecord::default(), &[], None).len(), PASSAGES_MAX);
        record.status = STATUS_FORGOTTEN;
        let all = changes(&record, &UseRecord::default(), &[], None);
        assert!(all.iter().all(|c| matches!(c, Change::Remove { .. })) && all.len() == PASSAGES_MAX);
    }
}
