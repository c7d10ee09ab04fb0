//! When what a memory tells happened and holds: as somebody said, as its words tell, or as it was recorded.
//!
//! Derived from the record whenever it is read or fed to the index: nothing of it is stored. Must not know: verbs, the store.

use super::when::{Told, told};
use crate::clock;
use tiro_schema::record::MemoryRecord;
use tiro_schema::wire::Timestamp;
use tiro_schema::wire::memory::{OccurredAtSource, Told as WireTold};

/// What the words of a memory tell of time, counted from when it happened as given, else from when these words were recorded.
pub(super) fn told_by(record: &MemoryRecord) -> Told {
    told(&record.text, record.occurred_at_ms.or_else(|| words_recorded_ms(record)), record.occurred_offset_min)
}

/// When the words of a version were recorded, where its record says so: relative words of others tell nothing.
fn words_recorded_ms(record: &MemoryRecord) -> Option<i64> {
    match record.vector_version {
        0 | 1 => Some(record.created_at_ms),
        changed if changed == record.version => Some(record.recorded_at_ms),
        _ => None,
    }
}

/// When it occurred, Unix milliseconds, and how that is known: given, else told by its words, else the time of recording.
pub(super) fn occurred(record: &MemoryRecord, told: &Told) -> (i64, OccurredAtSource) {
    match (record.occurred_at_ms, told.occurred) {
        (Some(given), _) => (given, OccurredAtSource::Given),
        (None, Some(span)) => (span.from_ms, OccurredAtSource::Text),
        (None, None) => (record.created_at_ms, OccurredAtSource::Recorded),
    }
}

/// The same for the wire, at the caller's offset.
pub(super) fn occurred_at(record: &MemoryRecord, told: &Told) -> (Timestamp, OccurredAtSource) {
    let (at_ms, source) = occurred(record, told);
    (clock::format(at_ms, record.occurred_offset_min), source)
}

/// What the words tell for the wire; none when they tell nothing.
pub(super) fn wire_told(record: &MemoryRecord, told: &Told) -> Option<WireTold> {
    let at = |ms: i64| clock::format(ms, record.occurred_offset_min);
    (*told != Told::default()).then(|| WireTold {
        occurred_from: told.occurred.map(|span| at(span.from_ms)),
        occurred_to: told.occurred.map(|span| at(span.to_ms)),
        valid_from: told.valid_from_ms.map(at),
        valid_to: told.valid_to_ms.map(at),
    })
}

/// Whether it happened within these bounds (inclusive, exclusive): as it is dated, or in the stretch its words tell.
pub(super) fn happened_within(record: &MemoryRecord, after_ms: Option<i64>, before_ms: Option<i64>) -> bool {
    if after_ms.is_none() && before_ms.is_none() {
        return true;
    }
    let told = told_by(record);
    let (at_ms, _) = occurred(record, &told);
    let dated = after_ms.is_none_or(|after| after <= at_ms) && before_ms.is_none_or(|before| at_ms < before);
    let overlaps = |from_ms, to_ms| after_ms.is_none_or(|after| after < to_ms) && before_ms.is_none_or(|before| from_ms < before);
    dated || told.occurred.is_some_and(|span| overlaps(span.from_ms, span.to_ms))
}

/// From when (inclusive) until when (exclusive) it held by all that is known: as given, else as its words tell; one that took the
/// place of another from its own beginning on, and one that gave way until its successor began. None when nothing limits it.
pub(super) fn held_ms(record: &MemoryRecord, told: &Told, successor: Option<&MemoryRecord>) -> Option<(i64, i64)> {
    let from = record.valid_from_ms.or(told.valid_from_ms).or_else(|| record.supersedes.map(|_| begins_ms(record, told)));
    let ends = || successor.map(|next| begins_ms(next, &told_by(next)));
    let to = record.valid_to_ms.or(told.valid_to_ms).or_else(ends);
    (from.is_some() || to.is_some()).then(|| (from.unwrap_or(i64::MIN), to.unwrap_or(i64::MAX)))
}

/// When what a memory says began to hold, as far as is known.
fn begins_ms(record: &MemoryRecord, told: &Told) -> i64 {
    record.valid_from_ms.or(told.valid_from_ms).unwrap_or_else(|| occurred(record, told).0)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const DAY_MS: i64 = 86_400_000;

    fn record(text: &str) -> MemoryRecord {
        let at = clock::parse("2023-05-24T10:00:00Z").unwrap().0;
        MemoryRecord {
            text: text.into(),
            version: 1,
            vector_version: 1,
            created_at_ms: at,
            recorded_at_ms: at,
            ..MemoryRecord::default()
        }
    }

    fn shown(record: &MemoryRecord) -> (String, OccurredAtSource, Option<WireTold>) {
        let told = told_by(record);
        let (at, source) = occurred_at(record, &told);
        (at.0, source, wire_told(record, &told))
    }

    // M10, M12
    #[test]
    fn a_given_time_stays_and_the_words_tell_beside_it() {
        let mut told = record("went to Paris last week");
        let (at, source, words) = shown(&told);
        assert_eq!((at.as_str(), source), ("2023-05-15T00:00:00.000Z", OccurredAtSource::Text));
        assert_eq!(words.unwrap().occurred_to.unwrap().0, "2023-05-22T00:00:00.000Z");
        told.occurred_at_ms = Some(clock::parse("2022-01-12T00:00:00Z").unwrap().0);
        let (at, source, words) = shown(&told);
        assert_eq!((at.as_str(), source), ("2022-01-12T00:00:00.000Z", OccurredAtSource::Given));
        assert_eq!(words.unwrap().occurred_from.unwrap().0, "2022-01-03T00:00:00.000Z");
        let (at, source, words) = shown(&record("likes Paris"));
        assert_eq!((at.as_str(), source, words), ("2023-05-24T10:00:00.000Z", OccurredAtSource::Recorded, None));
    }

    // M10
    #[test]
    fn relative_words_count_from_when_they_were_written() {
        let mut edited = record("we met yesterday");
        edited.recorded_at_ms += 10 * DAY_MS;
        (edited.version, edited.vector_version) = (2, 2);
        assert_eq!(shown(&edited).0, "2023-06-02T00:00:00.000Z");
        // Changed again since, without other words: when these were written is not at hand, and is not guessed.
        edited.version = 3;
        assert_eq!(shown(&edited).1, OccurredAtSource::Recorded);
        (edited.version, edited.vector_version) = (2, 1);
        assert_eq!(shown(&edited).0, "2023-05-23T00:00:00.000Z");
    }

    // MEM-6
    #[test]
    fn what_gave_way_held_until_its_successor_began() {
        let old = record("lives in Paris");
        let mut new = record("lives in Rome");
        new.supersedes = Some(1);
        new.valid_from_ms = Some(5 * DAY_MS);
        let told = Told::default();
        assert_eq!(held_ms(&old, &told, None), None);
        assert_eq!(held_ms(&old, &told, Some(&new)), Some((i64::MIN, 5 * DAY_MS)));
        assert_eq!(held_ms(&new, &told, None), Some((5 * DAY_MS, i64::MAX)));
        new.valid_from_ms = None;
        assert_eq!(held_ms(&new, &told, None), Some((new.created_at_ms, i64::MAX)));
    }

    // MEM-6
    #[test]
    fn bounds_of_time_fit_the_date_and_the_words() {
        let ms = |text: &str| Some(clock::parse(text).unwrap().0);
        let mut told = record("went to Paris last week");
        told.occurred_at_ms = ms("2023-05-24T10:00:00Z");
        assert!(happened_within(&told, ms("2023-05-24T00:00:00Z"), None));
        assert!(happened_within(&told, None, ms("2023-05-16T00:00:00Z")));
        assert!(!happened_within(&told, ms("2023-05-22T00:00:00Z"), ms("2023-05-24T00:00:00Z")));
    }
}
