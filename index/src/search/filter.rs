//! A filter made ready to be asked of documents. It must not know scores.

use crate::document::Status;
use crate::query::Filter;
use crate::state::slot::{LabelKind, Slot, label_hash};

/// A filter with its labels hashed.
pub(crate) struct Eligible<'a> {
    filter: &'a Filter,
    /// By field: any of these must be among a document's labels.
    labels: Vec<Vec<u64>>,
}

impl<'a> Eligible<'a> {
    /// Makes a filter ready.
    pub(crate) fn new(filter: &'a Filter) -> Self {
        let hashes = |kind, labels: &[String]| labels.iter().map(|label| label_hash(kind, label)).collect::<Vec<_>>();
        let labels = [
            hashes(LabelKind::Tag, &filter.tags),
            hashes(LabelKind::Entity, &filter.entities),
            hashes(LabelKind::Speaker, &filter.speakers),
            hashes(LabelKind::Session, filter.session.as_slice()),
        ];
        Self { filter, labels: labels.into_iter().filter(|field| !field.is_empty()).collect() }
    }

    /// Whether it asks for nothing but active documents that hold now, which nearly all of a space are.
    pub(crate) fn is_plain(&self) -> bool {
        let Filter {
            kinds,
            categories,
            tags: _,
            entities: _,
            speakers: _,
            session: _,
            after_ms,
            before_ms,
            statuses,
            valid_at_ms: _,
            held_at_ms: _,
        } = self.filter;
        let only_active = statuses.is_empty() || statuses.as_slice() == [Status::Active];
        only_active
            && kinds.is_empty()
            && categories.is_empty()
            && after_ms.is_none()
            && before_ms.is_none()
            && self.labels.is_empty()
    }

    /// Whether a document fulfils it.
    pub(crate) fn admits(&self, slot: &Slot) -> bool {
        let (filter, facets) = (self.filter, slot.facets);
        let status =
            if filter.statuses.is_empty() { facets.status == Status::Active } else { filter.statuses.contains(&facets.status) };
        status
            && (filter.kinds.is_empty() || filter.kinds.contains(&facets.kind))
            && (filter.categories.is_empty() || filter.categories.contains(&facets.category))
            && slot.happened_within(filter.after_ms, filter.before_ms)
            && filter.valid_at_ms.is_none_or(|at| slot.is_valid_at(at))
            && filter.held_at_ms.is_none_or(|at| slot.held_at(at))
            && self.labels.iter().all(|wanted| slot.has_any_label(wanted))
    }
}
