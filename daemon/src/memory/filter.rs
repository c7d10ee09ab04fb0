//! A filter of the wire, checked, for records of the store and for the index.
//!
//! Must not know: what is done with what passes.

use super::error::MemoryError;
use super::times::happened_within;
use crate::clock;
use crate::limits::FILTER_VALUES_MAX;
use tiro_index as index;
use tiro_schema::convert::{STATUS_ACTIVE, STATUS_FORGOTTEN, STATUS_SUPERSEDED, category_code, kind_code, status_code};
use tiro_schema::record::MemoryRecord;
use tiro_schema::wire::Timestamp;
use tiro_schema::wire::memory::{Category, Filter};

/// Which statuses pass when the filter names none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unnamed {
    /// Current ones: what recall and list mean.
    Active,
    /// Current ones and those another took the place of: what held at some time.
    Held,
    /// All that are not forgotten: what export and forget mean.
    Every,
}

/// A checked filter.
#[derive(Debug, Clone, Default)]
pub(super) struct Sieve {
    index: index::Filter,
    statuses: Vec<u8>,
}

impl Sieve {
    /// Checks a filter of the wire.
    pub fn new(filter: Option<&Filter>, unnamed: Unnamed) -> Result<Sieve, MemoryError> {
        let empty = Filter::default();
        let f = filter.unwrap_or(&empty);
        let statuses: Vec<u8> = match &f.statuses {
            Some(list) if !list.is_empty() => list.iter().map(|s| status_code(*s)).collect(),
            _ if unnamed == Unnamed::Active => vec![STATUS_ACTIVE],
            _ if unnamed == Unnamed::Held => vec![STATUS_ACTIVE, STATUS_SUPERSEDED],
            _ => vec![0, 1, 2],
        };
        let index = index::Filter {
            kinds: f.kinds.iter().flatten().map(|k| kind_code(*k)).collect(),
            categories: f.categories.iter().flatten().map(|c| category_code(*c)).collect(),
            tags: values("filter.tags", f.tags.as_deref())?,
            entities: values("filter.entities", f.entities.as_deref())?,
            speakers: values("filter.speakers", f.speakers.as_deref())?,
            session: f.session.clone(),
            after_ms: time("filter.after", f.after.as_ref())?,
            before_ms: time("filter.before", f.before.as_ref())?,
            statuses: statuses.iter().filter_map(|s| index::Status::from_code(*s)).collect(),
            valid_at_ms: None,
            held_at_ms: None,
        };
        for (path, n) in [
            ("filter.kinds", index.kinds.len()),
            ("filter.categories", index.categories.len()),
            ("filter.statuses", statuses.len()),
        ] {
            if n > FILTER_VALUES_MAX {
                return Err(MemoryError::too_large(path, "filterValuesMax", FILTER_VALUES_MAX));
            }
        }
        Ok(Sieve { index, statuses })
    }

    /// The same for the index: what is asked for current memories alone gives what holds at `now_ms`. A filter that names other
    /// statuses asks for what was, and so for what held once or is yet to hold.
    pub fn for_index(&self, now_ms: i64) -> index::Filter {
        index::Filter { valid_at_ms: (self.statuses == [STATUS_ACTIVE]).then_some(now_ms), ..self.index.clone() }
    }

    /// The same within these categories; none when it leaves nothing of them.
    pub fn within(&self, categories: &[Category]) -> Option<Sieve> {
        let mut narrow = self.clone();
        let codes = categories.iter().map(|c| category_code(*c));
        narrow.index.categories =
            codes.filter(|c| self.index.categories.is_empty() || self.index.categories.contains(c)).collect();
        (!narrow.index.categories.is_empty()).then_some(narrow)
    }

    /// Whether a status passes.
    pub fn passes_status(&self, status: u8) -> bool {
        status != STATUS_FORGOTTEN && self.statuses.contains(&status)
    }

    /// Whether a record passes.
    pub fn passes(&self, record: &MemoryRecord) -> bool {
        let f = &self.index;
        let any = |wanted: &[String], have: &[String]| wanted.is_empty() || wanted.iter().any(|w| have.contains(w));
        let said_by = |s: &String| record.sources.iter().any(|source| source.speaker.as_ref() == Some(s));
        let said_in = |s: &String| record.sources.iter().any(|source| source.session.as_ref() == Some(s));
        self.passes_status(record.status)
            && (f.kinds.is_empty() || f.kinds.contains(&record.kind))
            && (f.categories.is_empty() || f.categories.contains(&record.category))
            && any(&f.tags, &record.tags)
            && any(&f.entities, &record.entities)
            && (f.speakers.is_empty() || f.speakers.iter().any(said_by))
            && f.session.as_ref().is_none_or(said_in)
            && happened_within(record, f.after_ms, f.before_ms)
    }
}

fn values(path: &'static str, list: Option<&[String]>) -> Result<Vec<String>, MemoryError> {
    let list = list.unwrap_or_default();
    if list.len() > FILTER_VALUES_MAX {
        return Err(MemoryError::too_large(path, "filterValuesMax", FILTER_VALUES_MAX));
    }
    Ok(list.iter().map(|v| v.trim().to_owned()).collect())
}

/// An instant of the wire.
pub(super) fn time(path: &str, text: Option<&Timestamp>) -> Result<Option<i64>, MemoryError> {
    text.map(|t| clock::parse(&t.0).map(|(ms, _)| ms).map_err(|message| MemoryError::invalid(path, message))).transpose()
}
