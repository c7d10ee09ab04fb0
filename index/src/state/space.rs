//! The documents of one space, their vectors, and the statistics that BM25 needs. Statistics count active documents only, so
//! that what was forgotten, replaced or put away moves no score. It must not know other spaces.

use super::slot::{Lexical, Slot};
use super::threads::Threads;
use crate::document::Status;
use crate::graph::Graph;
use crate::hash::NumberMap;
use crate::vector::Block;
use std::sync::Arc;

/// One space.
#[derive(Debug, Clone)]
pub(crate) struct Space {
    /// Documents by slot; a freed slot is `None` and is used again.
    pub(super) slots: Vec<Option<Slot>>,
    pub(super) free: Vec<u32>,
    /// Slots whose state the full-text index does not hold; may name slots that have moved on since.
    overlay: Vec<u32>,
    /// By slot: whether it is in `overlay`, so that none is there twice.
    queued: Vec<bool>,
    /// Vectors by slot.
    pub(crate) vectors: Block,
    /// The same of the model in use beside the built-in one; not in snapshots.
    pub(crate) model_vectors: Block,
    pub(crate) statistics: Statistics,
    /// Who stands beside whom in a conversation.
    pub(crate) threads: Threads,
    /// What there is of an approximate graph.
    pub(crate) approximate: Approximate,
}

/// The approximate graph of a space, where it is large enough for one, and what the graph has yet to learn.
#[derive(Debug, Clone, Default)]
pub(crate) struct Approximate {
    /// The graph in use.
    pub(crate) graph: Option<Arc<Graph>>,
    /// Slots whose vectors are not in it yet: they are compared exactly.
    pub(crate) waiting: Vec<u32>,
    /// A build under way, by its number.
    pub(crate) build: Option<u64>,
    /// Slots that got a vector since it began.
    pub(crate) added: Vec<u32>,
    /// Slots that lost theirs since it began.
    pub(crate) removed: Vec<u32>,
}

impl Approximate {
    /// Forgets the graph in use and a build under way, whose outcome is then passed over.
    pub(crate) fn give_up(&mut self) -> Option<Arc<Graph>> {
        self.waiting.clear();
        self.added.clear();
        self.removed.clear();
        self.build = None;
        self.graph.take()
    }

    fn add(&mut self, at: u32) {
        if self.graph.is_some() {
            self.waiting.push(at);
        }
        if self.build.is_some() {
            self.added.push(at);
        }
    }

    fn remove(&mut self, at: u32) {
        if let Some(graph) = &self.graph {
            graph.remove(at);
        }
        if self.build.is_some() {
            self.removed.push(at);
        }
    }

    /// Goes on without the graph in use.
    pub(crate) fn drop_graph(&mut self) {
        self.graph = None;
        self.waiting.clear();
    }

    /// Takes the graph of the build under way into use; gives the old one, to be dropped where that may take long.
    pub(crate) fn adopt(&mut self, graph: Arc<Graph>) -> Option<Arc<Graph>> {
        for at in self.removed.drain(..) {
            graph.remove(at);
        }
        self.waiting = std::mem::take(&mut self.added);
        self.build = None;
        self.graph.replace(graph)
    }
}

/// What BM25 needs to know of a space.
#[derive(Debug, Clone, Default)]
pub(crate) struct Statistics {
    /// Active documents.
    pub(crate) documents: u64,
    /// Tokens of active documents.
    pub(crate) tokens: u64,
    /// Tokens of those that are context of their neighbours.
    pub(crate) spoken_tokens: u64,
    /// Active documents that hold a token.
    pub(crate) frequencies: NumberMap<u32, u32>,
}

impl Statistics {
    /// Active documents that hold a token.
    pub(crate) fn frequency(&self, token: u32) -> u32 {
        self.frequencies.get(&token).copied().unwrap_or(0)
    }

    /// Mean length of active documents in tokens, at least 1.
    pub(crate) fn mean_length(&self) -> f32 {
        if self.documents == 0 { 1.0 } else { (self.tokens as f32 / self.documents as f32).max(1.0) }
    }

    /// Mean tokens, over all active documents, of one neighbour that is context.
    pub(crate) fn mean_spoken(&self) -> f32 {
        if self.documents == 0 { 0.0 } else { self.spoken_tokens as f32 / self.documents as f32 }
    }

    fn count(&mut self, slot: &Slot) {
        self.documents += 1;
        self.tokens += u64::from(slot.tokens.length());
        if slot.speaks() {
            self.spoken_tokens += u64::from(slot.tokens.length());
        }
    }

    fn add(&mut self, slot: &Slot) {
        if slot.facets.status == Status::Active {
            self.count(slot);
            for &id in slot.tokens.ids() {
                *self.frequencies.entry(id).or_insert(0) += 1;
            }
        }
    }

    fn subtract(&mut self, slot: &Slot) {
        if slot.facets.status == Status::Active {
            self.documents -= 1;
            self.tokens -= u64::from(slot.tokens.length());
            if slot.speaks() {
                self.spoken_tokens -= u64::from(slot.tokens.length());
            }
            for &id in slot.tokens.ids() {
                if let std::collections::hash_map::Entry::Occupied(mut entry) = self.frequencies.entry(id) {
                    *entry.get_mut() -= 1;
                    if *entry.get() == 0 {
                        entry.remove();
                    }
                }
            }
        }
    }
}

impl Space {
    /// An empty space for vectors of `dim`.
    pub(crate) fn new(dim: usize) -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            overlay: Vec::new(),
            queued: Vec::new(),
            vectors: Block::new(dim),
            model_vectors: Block::new(0),
            statistics: Statistics::default(),
            threads: Threads::default(),
            approximate: Approximate::default(),
        }
    }

    /// A space out of a snapshot; every document is in the overlay until the full-text index was asked.
    pub(crate) fn from_parts(slots: Vec<Option<Slot>>, vectors: Block, frequencies: impl Iterator<Item = (u32, u32)>) -> Self {
        let mut statistics = Statistics { frequencies: frequencies.collect(), ..Statistics::default() };
        slots.iter().flatten().filter(|slot| slot.facets.status == Status::Active).for_each(|slot| statistics.count(slot));
        let threads = Threads::of(slots.iter().enumerate().filter_map(|(at, slot)| Some((at as u32, slot.as_ref()?))));
        let free = (0..slots.len() as u32).filter(|&at| slots[at as usize].is_none()).collect();
        let queued = vec![false; slots.len()];
        let approximate = Approximate::default();
        let mut space = Self {
            slots,
            free,
            overlay: Vec::new(),
            queued,
            vectors,
            model_vectors: Block::new(0),
            statistics,
            threads,
            approximate,
        };
        space.rebuild_overlay();
        space
    }

    /// The document in a slot.
    pub(crate) fn slot(&self, slot: u32) -> Option<&Slot> {
        self.slots.get(slot as usize)?.as_ref()
    }

    /// The document in a slot, to be changed in what neither the statistics nor the full-text index depend on.
    pub(super) fn slot_mut(&mut self, slot: u32) -> Option<&mut Slot> {
        self.slots.get_mut(slot as usize)?.as_mut()
    }

    /// Every document with its slot.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Slot)> {
        self.slots.iter().enumerate().filter_map(|(at, slot)| Some((at as u32, slot.as_ref()?)))
    }

    /// Documents held.
    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Slots whose state the full-text index does not hold.
    pub(crate) fn overlay(&self) -> impl Iterator<Item = (u32, &Slot)> {
        self.overlay.iter().filter_map(|&at| Some((at, self.slot(at)?))).filter(|(_, slot)| slot.lexical != Lexical::Current)
    }

    /// Puts a document in and gives its slot. A vector that is not sound counts as none.
    pub(super) fn insert(&mut self, document: Slot, vector: Option<&[f32]>) -> u32 {
        self.statistics.add(&document);
        let at = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.queued.push(false);
            (self.slots.len() - 1) as u32
        });
        self.threads.insert(at, &document);
        self.slots[at as usize] = Some(document);
        self.queue(at);
        if vector.is_some_and(|vector| self.vectors.put(at, vector).is_ok()) {
            self.approximate.add(at);
        }
        at
    }

    /// Takes a document out and gives it back.
    pub(super) fn remove(&mut self, at: u32) -> Option<Slot> {
        let slot = self.slots.get_mut(at as usize)?.take()?;
        self.statistics.subtract(&slot);
        self.threads.remove(at, &slot);
        self.free.push(at);
        if self.vectors.remove(at) {
            self.approximate.remove(at);
        }
        self.model_vectors.remove(at);
        Some(slot)
    }

    /// Puts a slot into the overlay.
    fn queue(&mut self, at: u32) {
        if !std::mem::replace(&mut self.queued[at as usize], true) {
            self.overlay.push(at);
        }
    }

    /// Forgets overlay entries whose state the full-text index now holds.
    pub(super) fn settle_overlay(&mut self) {
        let mut overlay = std::mem::take(&mut self.overlay);
        overlay.retain(|&at| {
            let kept = self.slot(at).is_some_and(|slot| slot.lexical != Lexical::Current);
            self.queued[at as usize] = kept;
            kept
        });
        self.overlay = overlay;
    }

    /// Makes the overlay anew from what each document says of itself.
    pub(super) fn rebuild_overlay(&mut self) {
        self.overlay.clear();
        self.queued.fill(false);
        for at in 0..self.slots.len() as u32 {
            if self.slot(at).is_some_and(|slot| slot.lexical != Lexical::Current) {
                self.queue(at);
            }
        }
    }

    /// Heap bytes, about.
    pub(crate) fn memory_bytes(&self) -> usize {
        let tokens: usize =
            self.iter().map(|(_, slot)| slot.tokens.memory_bytes() + slot.labels.as_ref().map_or(0, |l| l.len() * 8 + 32)).sum();
        tokens
            + self.slots.capacity() * size_of::<Option<Slot>>()
            + (self.free.capacity() + self.overlay.capacity()) * 4
            + self.vectors.memory_bytes()
            + self.threads.memory_bytes()
            + self.model_vectors.memory_bytes()
            + self.statistics.frequencies.capacity() * 9
            + self.approximate.graph.as_ref().map_or(0, |graph| graph.memory_bytes())
    }
}
