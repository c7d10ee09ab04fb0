//! All that is in memory, behind one lock: documents by space, where each key stands, and what the full-text index still has to
//! do. It must not know how candidates are found or scored.

pub(crate) mod slot;
pub(crate) mod space;
pub(crate) mod threads;
pub(crate) mod tokens;

use crate::document::{Change, Prepared};
use crate::hash::NumberMap;
use crate::lexical::Reader;
use crate::vector::Block;
use slot::{Lexical, Slot};
use space::Space;
use std::collections::HashSet;
use std::sync::Arc;

/// The state of the index.
#[derive(Default)]
pub(crate) struct State {
    /// Length of vectors.
    pub(crate) dim: usize,
    /// Length of the vectors of the model in use beside; 0 for none.
    pub(crate) model_dim: usize,
    /// Documents by space.
    pub(crate) spaces: NumberMap<u32, Space>,
    by_key: NumberMap<u64, (u32, u32)>,
    /// Keys the full-text index holds that are no longer documents.
    removed: HashSet<u64>,
    /// Store sequence up to which changes are in here.
    pub(crate) seq: u64,
    /// Whether everything up to `seq` is in here; false while documents are still being fed after opening.
    pub(crate) loaded: bool,
    /// Changes since the last snapshot.
    pub(crate) changes: usize,
    /// Sequence of the newest snapshot, 0 when there is none.
    pub(crate) snapshot_seq: u64,
    /// The full-text index as last committed; `None` until reconciled.
    pub(crate) reader: Option<Arc<Reader>>,
    /// What is wrong with the full-text index, if anything.
    pub(crate) trouble: Option<String>,
}

/// One document to be written to the full-text index.
pub(crate) struct Addition {
    pub(crate) key: u64,
    pub(crate) seq: u64,
    pub(crate) space: u32,
    pub(crate) tokens: tokens::Tokens,
    /// Whether an older state of the key is there.
    pub(crate) replaces: bool,
}

/// What is to be written to the full-text index next.
pub(crate) struct Batch {
    pub(crate) additions: Vec<Addition>,
    pub(crate) removals: Vec<u64>,
    /// Sequence that the full-text index has reached with this batch, if it then holds everything.
    pub(crate) complete_at: Option<u64>,
}

/// A key or a state that the full-text index holds twice.
#[derive(Debug)]
pub(crate) struct HeldTwice(pub(crate) u64);

impl State {
    /// An empty state for vectors of `dim`.
    pub(crate) fn new(dim: usize) -> Self {
        Self { dim, ..Self::default() }
    }

    /// Space and slot of a key.
    pub(crate) fn locate(&self, key: u64) -> Option<(u32, u32)> {
        self.by_key.get(&key).copied()
    }

    /// The document of a key.
    pub(crate) fn document(&self, key: u64) -> Option<&Slot> {
        let (space, slot) = self.locate(key)?;
        self.spaces.get(&space)?.slot(slot)
    }

    /// Documents held.
    pub(crate) fn len(&self) -> usize {
        self.by_key.len()
    }

    /// Documents and removals that the full-text index has yet to learn of.
    pub(crate) fn lag(&self) -> usize {
        self.removed.len() + self.spaces.values().map(|space| space.overlay().count()).sum::<usize>()
    }

    /// Applies a change and says whether anything changed: one that is not newer than what is held for its key does nothing.
    pub(crate) fn apply(&mut self, change: Change) -> bool {
        if self.loaded {
            self.seq = self.seq.max(change.seq());
        }
        let changed = match change {
            Change::Upsert(prepared) => self.upsert(prepared),
            Change::Remove { key, seq } => self.remove(key, seq),
        };
        self.changes += usize::from(changed);
        changed
    }

    fn remove(&mut self, key: u64, seq: u64) -> bool {
        if self.document(key).is_none_or(|old| old.seq > seq) {
            return false;
        }
        if self.take(key).is_some_and(|old| old.lexical != Lexical::Absent) {
            self.removed.insert(key);
        }
        true
    }

    fn upsert(&mut self, mut prepared: Prepared) -> bool {
        let (key, seq, space) = (prepared.key(), prepared.seq(), prepared.document.space);
        let model_vector = prepared.document.model_vector.take();
        if self.document(key).is_some_and(|old| old.seq >= seq) {
            return model_vector.is_some_and(|vector| self.put_model_vector(key, seq, &vector));
        }
        let there = self.take(key).is_some_and(|old| old.lexical != Lexical::Absent) | self.removed.remove(&key);
        let (mut slot, vector) = Slot::of(prepared);
        slot.lexical = if there { Lexical::Outdated } else { Lexical::Absent };
        self.insert(space, slot, vector.as_deref());
        if let Some(vector) = model_vector {
            self.put_model_vector(key, seq, &vector);
        }
        true
    }

    /// Begins with vectors of another model beside the built-in one: those of the one before are gone. 0 is no model.
    pub(crate) fn use_model(&mut self, dim: usize) {
        self.model_dim = dim;
        for space in self.spaces.values_mut() {
            space.model_vectors = Block::new(dim);
        }
    }

    /// Sets the model's vector of a document, unless the document is at another state by now. A vector that is not sound counts as none.
    pub(crate) fn put_model_vector(&mut self, key: u64, seq: u64, vector: &[f32]) -> bool {
        let Some((number, at)) = self.locate(key).filter(|_| self.model_dim > 0) else { return false };
        let dim = self.model_dim;
        let Some(space) = self.spaces.get_mut(&number).filter(|space| space.slot(at).is_some_and(|slot| slot.seq == seq)) else {
            return false;
        };
        if space.model_vectors.dimension() != dim {
            space.model_vectors = Block::new(dim);
        }
        space.model_vectors.put(at, vector).is_ok()
    }

    /// Puts a document in that is known to be absent.
    pub(crate) fn insert(&mut self, space: u32, slot: Slot, vector: Option<&[f32]>) {
        let (key, dim) = (slot.key, self.dim);
        let at = self.spaces.entry(space).or_insert_with(|| Space::new(dim)).insert(slot, vector);
        self.by_key.insert(key, (space, at));
    }

    fn take(&mut self, key: u64) -> Option<Slot> {
        let (number, at) = self.by_key.remove(&key)?;
        let space = self.spaces.get_mut(&number)?;
        let slot = space.remove(at);
        if space.len() == 0 {
            self.spaces.remove(&number);
        }
        slot
    }

    /// Takes over a whole space from a snapshot.
    pub(crate) fn adopt(&mut self, number: u32, space: Space) {
        for (at, slot) in space.iter() {
            self.by_key.insert(slot.key, (number, at));
        }
        self.spaces.insert(number, space);
    }

    /// Notes a use.
    pub(crate) fn touch(&mut self, key: u64, last_used_at_ms: i64, use_count: u32) {
        if let Some((space, at)) = self.locate(key)
            && let Some(slot) = self.spaces.get_mut(&space).and_then(|space| space.slot_mut(at))
        {
            slot.last_used_at_ms = last_used_at_ms;
            slot.use_count = use_count;
        }
    }

    /// What the full-text index has to do next, at most `max` additions and as many removals.
    pub(crate) fn batch(&self, max: usize) -> Batch {
        let overlay = self.spaces.iter().flat_map(|(&space, held)| held.overlay().map(move |(_, slot)| (space, slot)));
        let additions: Vec<Addition> = overlay
            .take(max + 1)
            .map(|(space, slot)| Addition {
                key: slot.key,
                seq: slot.seq,
                space,
                tokens: slot.tokens.clone(),
                replaces: slot.lexical == Lexical::Outdated,
            })
            .collect();
        let removals: Vec<u64> = self.removed.iter().copied().take(max + 1).collect();
        let mut batch = Batch { additions, removals, complete_at: None };
        if batch.additions.len() <= max && batch.removals.len() <= max && self.loaded {
            batch.complete_at = Some(self.seq);
        }
        batch.additions.truncate(max);
        batch.removals.truncate(max);
        batch
    }

    /// Takes over a committed batch and the reader that sees it.
    pub(crate) fn settle(&mut self, batch: &Batch, reader: Arc<Reader>) {
        for key in &batch.removals {
            self.removed.remove(key);
            self.set_lexical(*key, |slot| if slot.lexical == Lexical::Outdated { Lexical::Absent } else { slot.lexical });
        }
        for added in &batch.additions {
            if self.by_key.contains_key(&added.key) {
                self.set_lexical(added.key, |slot| if slot.seq == added.seq { Lexical::Current } else { Lexical::Outdated });
            } else {
                self.removed.insert(added.key);
            }
        }
        for space in self.spaces.values_mut() {
            space.settle_overlay();
        }
        self.reader = Some(reader);
    }

    fn set_lexical(&mut self, key: u64, lexical: impl FnOnce(&Slot) -> Lexical) {
        if let Some((space, at)) = self.locate(key)
            && let Some(slot) = self.spaces.get_mut(&space).and_then(|space| space.slot_mut(at))
        {
            slot.lexical = lexical(slot);
        }
    }

    /// Learns from the full-text index itself what it holds.
    pub(crate) fn reconcile(&mut self, reader: Arc<Reader>) -> Result<(), HeldTwice> {
        self.removed.clear();
        self.reader = None;
        for space in self.spaces.values_mut() {
            for at in 0..space.slots.len() as u32 {
                if let Some(slot) = space.slot_mut(at) {
                    slot.lexical = Lexical::Absent;
                }
            }
        }
        let found = reader.for_each_held(&mut |key, seq| {
            let Some((space, at)) = self.locate(key) else {
                return if self.removed.insert(key) { Ok(()) } else { Err(HeldTwice(key)) };
            };
            let Some(slot) = self.spaces.get_mut(&space).and_then(|space| space.slot_mut(at)) else {
                return Ok(());
            };
            if slot.lexical != Lexical::Absent {
                return Err(HeldTwice(key));
            }
            slot.lexical = if slot.seq == seq { Lexical::Current } else { Lexical::Outdated };
            Ok(())
        });
        for space in self.spaces.values_mut() {
            space.rebuild_overlay();
        }
        found?;
        self.reader = Some(reader);
        Ok(())
    }

    /// Up to `max` documents that the full-text index holds as they are, each with its rarest token: `(space, token, key)`.
    pub(crate) fn sample(&self, max: usize) -> Vec<(u32, u32, u64)> {
        let held: usize = self.spaces.values().map(Space::len).sum();
        let step = (held / max.max(1)).max(1);
        let documents = self.spaces.iter().flat_map(|(&number, space)| space.iter().map(move |(_, slot)| (number, space, slot)));
        documents
            .filter(|(_, _, slot)| slot.lexical == Lexical::Current)
            .step_by(step)
            .filter_map(|(number, space, slot)| {
                let token = slot.tokens.ids().iter().copied().min_by_key(|&id| (space.statistics.frequency(id), id))?;
                Some((number, token, slot.key))
            })
            .take(max)
            .collect()
    }

    /// What the full-text index and memory disagree about, in words.
    pub(crate) fn verify(&self) -> Vec<String> {
        let Some(reader) = &self.reader else {
            return Vec::new();
        };
        let mut problems = Vec::new();
        let mut seen: NumberMap<u64, u64> = NumberMap::default();
        let walk: Result<(), std::convert::Infallible> = reader.for_each_held(&mut |key, seq| {
            if seen.insert(key, seq).is_some() {
                problems.push(format!("the full-text index holds document {key} twice"));
            }
            Ok(())
        });
        walk.unwrap_or_else(|never| match never {});
        for space in self.spaces.values() {
            for (_, slot) in space.iter() {
                let expected = match (slot.lexical, seen.remove(&slot.key)) {
                    (Lexical::Current, Some(seq)) => seq == slot.seq,
                    (Lexical::Outdated, Some(seq)) => seq != slot.seq,
                    (Lexical::Absent, None) => true,
                    _ => false,
                };
                if !expected {
                    problems.push(format!("the full-text index does not hold document {} as it should", slot.key));
                }
            }
        }
        let gone = seen.into_keys().filter(|key| !self.removed.contains(key));
        problems.extend(gone.map(|key| format!("the full-text index holds document {key}, which is gone")));
        problems
    }

    /// Heap bytes, about.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.by_key.capacity() * 17 + self.spaces.values().map(Space::memory_bytes).sum::<usize>()
    }

    /// Gives the full-text index up: everything is served from memory until it is built anew.
    pub(crate) fn forget_lexical(&mut self) {
        self.removed.clear();
        self.reader = None;
        for space in self.spaces.values_mut() {
            for at in 0..space.slots.len() as u32 {
                if let Some(slot) = space.slot_mut(at) {
                    slot.lexical = Lexical::Absent;
                }
            }
            space.rebuild_overlay();
        }
    }
}
