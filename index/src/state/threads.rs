//! The conversations of a space: which current document stands beside which. Assistants' replies take a place, so that distances are those
//! of the conversation, but are nobody's context. It must not know what context is worth.

use super::slot::Slot;
use crate::hash::NumberMap;

/// One document's place in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    position: u64,
    key: u64,
    slot: u32,
    /// Whether it is context of its neighbours.
    speaks: bool,
}

/// Places by conversation, in order of position.
#[derive(Debug, Clone, Default)]
pub(crate) struct Threads {
    places: NumberMap<u64, Vec<Place>>,
}

impl Threads {
    /// The conversations of these documents.
    pub(super) fn of<'a>(documents: impl Iterator<Item = (u32, &'a Slot)>) -> Self {
        let mut threads = Self::default();
        for (at, slot) in documents.filter(|(_, slot)| slot.has_place()) {
            threads.places.entry(slot.thread).or_default().push(place(at, slot));
        }
        threads.places.values_mut().for_each(|places| places.sort_unstable());
        threads
    }

    /// Gives a document its place, where it has one.
    pub(super) fn insert(&mut self, at: u32, slot: &Slot) {
        if slot.has_place() {
            let places = self.places.entry(slot.thread).or_default();
            let place = place(at, slot);
            let index = places.partition_point(|other| *other < place);
            places.insert(index, place);
        }
    }

    /// Takes a document's place away.
    pub(super) fn remove(&mut self, at: u32, slot: &Slot) {
        if !slot.has_place() {
            return;
        }
        if let Some(places) = self.places.get_mut(&slot.thread) {
            if let Ok(index) = places.binary_search(&place(at, slot)) {
                places.remove(index);
            }
            if places.is_empty() {
                self.places.remove(&slot.thread);
            }
        }
    }

    /// Whether there is no conversation.
    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The context said before a document, nearest first, each with its distance in positions taken, from 1. Documents of its own position
    /// (other passages of a long text) are not among them.
    pub(crate) fn before(&self, slot: &Slot) -> impl Iterator<Item = (u32, usize)> + '_ {
        let places = self.of_thread(slot);
        let end = places.partition_point(|place| place.position < slot.position);
        distances(places[..end].iter().rev())
    }

    /// The same for what was said after it.
    pub(crate) fn after(&self, slot: &Slot) -> impl Iterator<Item = (u32, usize)> + '_ {
        let places = self.of_thread(slot);
        let start = places.partition_point(|place| place.position <= slot.position);
        distances(places[start..].iter())
    }

    fn of_thread(&self, slot: &Slot) -> &[Place] {
        if slot.thread == 0 { &[] } else { self.places.get(&slot.thread).map_or(&[], Vec::as_slice) }
    }

    /// Heap bytes, about.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.places.values().map(|places| places.capacity() * size_of::<Place>() + 48).sum()
    }
}

fn place(at: u32, slot: &Slot) -> Place {
    Place { position: slot.position, key: slot.key, slot: at, speaks: slot.speaks() }
}

fn distances<'a>(places: impl Iterator<Item = &'a Place>) -> impl Iterator<Item = (u32, usize)> {
    let (mut last, mut distance) = (None, 0);
    places.filter_map(move |place| {
        if last.replace(place.position) != Some(place.position) {
            distance += 1;
        }
        place.speaks.then_some((place.slot, distance))
    })
}
