//! Telling a memory again: its seen count, sources and labels grow; words, times and the rest stay, or the words too are new.
//!
//! Pure. Must not know: the store.

use super::draft::Draft;
use crate::limits::{ENTITIES_MAX, SOURCES_MAX, TAGS_MAX};
use tiro_schema::convert::{CHANGE_SEEN, CHANGE_UPDATED, source, source_record};
use tiro_schema::record::MemoryRecord;

/// The next version of `known`, told again by `draft` at `now_ms`.
pub(super) fn told_again(known: &MemoryRecord, draft: &Draft, seq: u64, now_ms: i64) -> MemoryRecord {
    let mut next = known.clone();
    next.version += 1;
    next.seq = seq;
    next.change = CHANGE_SEEN;
    next.recorded_at_ms = now_ms;
    next.seen_count = next.seen_count.saturating_add(1);
    if let Some(told) = &draft.source
        && !next.sources.iter().any(|s| source(s) == *told)
    {
        next.sources.push(source_record(told, now_ms));
        bound(&mut next);
    }
    union(&mut next.tags, &draft.tags, TAGS_MAX);
    union(&mut next.entities, &draft.entities, ENTITIES_MAX);
    next.pinned |= draft.pinned;
    next.explicit |= draft.explicit;
    // What had lapsed, or is yet to hold, holds from now on as it is told now.
    if !holds_at(known, now_ms) {
        (next.valid_from_ms, next.valid_to_ms) = (draft.valid_from_ms, draft.valid_to_ms);
    }
    next
}

/// Whether what a memory tells holds at an instant.
fn holds_at(record: &MemoryRecord, at_ms: i64) -> bool {
    record.valid_from_ms.is_none_or(|from| from <= at_ms) && record.valid_to_ms.is_none_or(|to| at_ms < to)
}

/// The next version of `known`, told by `draft` with more to it: its words, with all that is known of the memory besides.
pub(super) fn told_more(known: &MemoryRecord, draft: &Draft, seq: u64, now_ms: i64) -> MemoryRecord {
    let mut next = told_again(known, draft, seq, now_ms);
    next.change = CHANGE_UPDATED;
    next.text.clone_from(&draft.text);
    next.vector_version = next.version;
    next.importance = next.importance.max(draft.importance);
    if let (None, Some((ms, offset))) = (next.occurred_at_ms, draft.occurred) {
        (next.occurred_at_ms, next.occurred_offset_min) = (Some(ms), offset);
    }
    next.valid_from_ms = next.valid_from_ms.or(draft.valid_from_ms);
    next.valid_to_ms = next.valid_to_ms.or(draft.valid_to_ms);
    next
}

/// Adds what another memory brings: sources, labels, how often it was told.
pub(super) fn taken_in(into: &mut MemoryRecord, other: &MemoryRecord) {
    for told in &other.sources {
        if !into.sources.iter().any(|s| source(s) == source(told)) {
            into.sources.push(told.clone());
        }
    }
    into.sources.sort_by_key(|s| s.recorded_at_ms);
    bound(into);
    union(&mut into.tags, &other.tags, TAGS_MAX);
    union(&mut into.entities, &other.entities, ENTITIES_MAX);
    into.seen_count = into.seen_count.saturating_add(other.seen_count);
    into.pinned |= other.pinned;
    into.explicit |= other.explicit;
    into.importance = into.importance.max(other.importance);
}

/// Keeps the first source and the newest ones.
fn bound(record: &mut MemoryRecord) {
    let over = record.sources.len().saturating_sub(SOURCES_MAX);
    if over > 0 {
        record.sources.drain(1..=over);
    }
}

fn union(have: &mut Vec<String>, more: &[String], most: usize) {
    for label in more {
        if have.len() < most && !have.contains(label) {
            have.push(label.clone());
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::draft::{Judged, judge};
    use super::*;
    use tiro_schema::wire::memory::{RememberParams, Source};

    fn draft(session: &str) -> Draft {
        let params = RememberParams {
            text: "a fact".into(),
            tags: Some(vec!["a".into(), session.into()]),
            source: Some(Source { session: Some(session.into()), ..Source::default() }),
            ..RememberParams::default()
        };
        match judge(&params).unwrap() {
            Judged::Draft(draft) => *draft,
            Judged::Refused(reason) => panic!("{reason}"),
        }
    }

    // MEM-8: found by nobody, it was still taken for known
    #[test]
    fn what_had_lapsed_holds_again_when_it_is_told_again() {
        let lapsed = MemoryRecord { valid_to_ms: Some(50), ..MemoryRecord::default() };
        assert_eq!(told_again(&lapsed, &draft("s"), 2, 40).valid_to_ms, Some(50));
        assert_eq!(told_again(&lapsed, &draft("s"), 2, 50).valid_to_ms, None);
    }

    // M2
    #[test]
    fn sources_are_merged_and_bounded_and_the_first_stays() {
        let mut record = MemoryRecord { version: 1, seen_count: 1, created_at_ms: 5, ..MemoryRecord::default() };
        for i in 0..SOURCES_MAX + 10 {
            record = told_again(&record, &draft(&format!("s{i}")), i as u64 + 2, 100 + i as i64);
        }
        record = told_again(&record, &draft("s0"), 999, 999);
        assert_eq!(record.sources.len(), SOURCES_MAX);
        assert_eq!(record.sources[0].session.as_deref(), Some("s0"));
        assert_eq!(record.sources.last().unwrap().session.as_deref(), Some(format!("s{}", SOURCES_MAX + 9).as_str()));
        assert_eq!(record.seen_count, 1 + SOURCES_MAX as u32 + 11);
        assert_eq!((record.created_at_ms, record.version), (5, SOURCES_MAX as u32 + 12));
        assert_eq!(record.tags.len(), TAGS_MAX);
    }
}
