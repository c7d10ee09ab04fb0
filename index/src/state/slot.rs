//! What is held of one document beside its vector. It must not know other documents.

use super::tokens::Tokens;
use crate::document::{Prepared, Status, Voice};
use std::sync::Arc;

/// Kinds of labels, part of their hash, so that a tag never matches a speaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LabelKind {
    /// A tag.
    Tag = 1,
    /// An entity.
    Entity = 2,
    /// A speaker.
    Speaker = 3,
    /// The conversation.
    Session = 4,
}

/// Hash of a label: labels are compared, never shown.
pub(crate) fn label_hash(kind: LabelKind, label: &str) -> u64 {
    xxhash_rust::xxh3::xxh3_64_with_seed(label.as_bytes(), kind as u64)
}

/// Where a document stands in the full-text index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Lexical {
    /// Nothing of this key is there: found through the overlay.
    #[default]
    Absent,
    /// An older state of this key is there, to be ignored and replaced: found through the overlay.
    Outdated,
    /// This very state is there.
    Current,
}

/// From when until when what a document tells holds: `i64::MIN` and `i64::MAX` where that is not limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Validity {
    pub(crate) from_ms: i64,
    pub(crate) to_ms: i64,
}

/// What is known of a document's time beside its own members: from inclusive, to exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Known {
    /// When what it tells happened, by its words; nothing where both are `i64::MIN`.
    pub(crate) told: (i64, i64),
    /// When it held, by all that is known; always where `i64::MIN` and `i64::MAX`.
    pub(crate) held: (i64, i64),
}

/// One document.
#[derive(Debug, Clone)]
pub(crate) struct Slot {
    pub(crate) key: u64,
    pub(crate) seq: u64,
    pub(crate) created_at_ms: i64,
    /// `i64::MIN` where unknown.
    pub(crate) occurred_at_ms: i64,
    /// `i64::MIN` where never.
    pub(crate) last_used_at_ms: i64,
    /// `u64::MAX` where none.
    pub(crate) position: u64,
    /// Hash of the conversation, 0 where it has no place in one.
    pub(crate) thread: u64,
    /// Token of the name of who said it, 0 for none.
    pub(crate) name: u32,
    pub(crate) tokens: Tokens,
    /// Hashes of tags, entities, speakers and session.
    pub(crate) labels: Option<Arc<[u64]>>,
    /// None where what it tells always holds, as most does.
    pub(crate) validity: Option<Arc<Validity>>,
    /// None where there is nothing, as of most.
    pub(crate) known: Option<Arc<Known>>,
    pub(crate) use_count: u32,
    pub(crate) importance: f32,
    pub(crate) facets: Facets,
    pub(crate) lexical: Lexical,
}

/// The small columns that most filters need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Facets {
    pub(crate) status: Status,
    pub(crate) kind: u8,
    pub(crate) category: u8,
    pub(crate) pinned: bool,
    /// An assistant said it.
    pub(crate) reply: bool,
    /// Its text holds a question mark.
    pub(crate) asks: bool,
    /// Its text has characters of a script written without spaces.
    pub(crate) unspaced: bool,
}

impl Slot {
    /// What is held of a document.
    pub(crate) fn of(prepared: Prepared) -> (Self, Option<Vec<f32>>) {
        let Prepared { mut document, tokens, asks, unspaced, name } = prepared;
        let vector = document.vector.take();
        let thread = document.session.as_deref().filter(|_| document.position.is_some());
        let labels: Vec<u64> =
            [(LabelKind::Tag, &document.tags), (LabelKind::Entity, &document.entities), (LabelKind::Speaker, &document.speakers)]
                .into_iter()
                .flat_map(|(kind, labels)| labels.iter().map(move |label| label_hash(kind, label)))
                .chain(document.session.iter().map(|session| label_hash(LabelKind::Session, session)))
                .collect();
        let limited = document.valid_from_ms.is_some() || document.valid_to_ms.is_some();
        let validity =
            Validity { from_ms: document.valid_from_ms.unwrap_or(i64::MIN), to_ms: document.valid_to_ms.unwrap_or(i64::MAX) };
        let slot = Self {
            key: document.key,
            seq: document.seq,
            created_at_ms: document.created_at_ms,
            occurred_at_ms: document.occurred_at_ms.unwrap_or(i64::MIN),
            last_used_at_ms: document.last_used_at_ms.unwrap_or(i64::MIN),
            position: document.position.unwrap_or(u64::MAX),
            thread: thread.map_or(0, |session| label_hash(LabelKind::Session, session)),
            name,
            tokens,
            labels: (!labels.is_empty()).then(|| labels.into()),
            validity: limited.then(|| Arc::new(validity)),
            known: (document.told_ms.is_some() || document.held_ms.is_some()).then(|| {
                Arc::new(Known {
                    told: document.told_ms.unwrap_or((i64::MIN, i64::MIN)),
                    held: document.held_ms.unwrap_or((i64::MIN, i64::MAX)),
                })
            }),
            use_count: document.use_count,
            importance: document.importance,
            facets: Facets {
                status: document.status,
                kind: document.kind,
                category: document.category,
                pinned: document.pinned,
                reply: document.voice == Voice::Assistant,
                asks,
                unspaced,
            },
            lexical: Lexical::Absent,
        };
        (slot, vector)
    }

    /// Whether it stands in a conversation: current, with a session and a position.
    pub(crate) fn has_place(&self) -> bool {
        self.thread != 0 && self.facets.status == Status::Active
    }

    /// Whether it counts as context of its neighbours: in a conversation, and no assistant's reply.
    pub(crate) fn speaks(&self) -> bool {
        self.has_place() && !self.facets.reply
    }

    /// When it occurred, else when it was recorded.
    pub(crate) fn happened_at_ms(&self) -> i64 {
        if self.occurred_at_ms == i64::MIN { self.created_at_ms } else { self.occurred_at_ms }
    }

    /// Whether what it tells holds at an instant.
    pub(crate) fn is_valid_at(&self, at_ms: i64) -> bool {
        self.validity.as_ref().is_none_or(|validity| validity.from_ms <= at_ms && at_ms < validity.to_ms)
    }

    /// The stretch in which what it tells happened, as its words have it.
    pub(crate) fn told_ms(&self) -> Option<(i64, i64)> {
        self.known.as_ref().map(|known| known.told).filter(|told| told.0 < told.1)
    }

    /// Whether it held at an instant, by all that is known.
    pub(crate) fn held_at(&self, at_ms: i64) -> bool {
        self.known.as_ref().is_none_or(|known| known.held.0 <= at_ms && at_ms < known.held.1)
    }

    /// Whether it happened within these bounds (inclusive, exclusive), as it was told or as its words have it.
    pub(crate) fn happened_within(&self, after_ms: Option<i64>, before_ms: Option<i64>) -> bool {
        let (after, before) = (after_ms.unwrap_or(i64::MIN), before_ms.unwrap_or(i64::MAX));
        let at = self.happened_at_ms();
        after <= at && (at < before || before_ms.is_none())
            || self.told_ms().is_some_and(|(from, to)| after < to && from < before)
    }

    /// Whether any of these labels is among its own.
    pub(crate) fn has_any_label(&self, wanted: &[u64]) -> bool {
        self.labels.as_ref().is_some_and(|labels| labels.iter().any(|label| wanted.contains(label)))
    }
}
