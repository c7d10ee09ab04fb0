//! One line of an import, read and judged.
//!
//! Members this build does not know are left out and named. Pure but for the embedding. Must not know: the store.

use super::draft::{Draft, Judged, instant, judge, secret_in, space_name};
use super::error::MemoryError;
use super::import::Seat;
use super::import_update::is_same;
use super::place::Ready;
use super::{Memory, resolve::whole_id};
use crate::limits::SOURCES_MAX;
use crate::params;
use crate::store::Reads;
use serde_json::{Map, Value};
use tiro_schema::convert::{source_record, status_code};
use tiro_schema::record::{MemoryRecord, UseRecord};
use tiro_schema::wire::Timestamp;
use tiro_schema::wire::memory::{RememberParams, Source, Status};

/// Members that are those of `memory/remember`.
const REMEMBER: &[&str] = &[
    "text",
    "space",
    "kind",
    "category",
    "tags",
    "entities",
    "importance",
    "pinned",
    "occurredAt",
    "validFrom",
    "validTo",
    "source",
    "explicit",
    "verbatim",
];
/// Members that an export adds. `version` and `key` are known and without effect.
const ADDED: &[&str] = &[
    "id",
    "createdAt",
    "status",
    "version",
    "seenCount",
    "supersededBy",
    "supersedes",
    "lastUsedAt",
    "useCount",
    "moreSources",
    "key",
];

/// What an export adds to the params of `memory/remember`.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Added {
    id: Option<String>,
    created_at: Option<Timestamp>,
    status: Option<Status>,
    seen_count: Option<u32>,
    superseded_by: Option<String>,
    supersedes: Option<String>,
    last_used_at: Option<Timestamp>,
    use_count: Option<u64>,
    more_sources: Option<Vec<Source>>,
}

/// A line fit to be taken.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub ready: Ready,
    /// Whether it names its id: then it is known by that alone.
    pub named: bool,
    pub superseded_by: Option<[u8; 16]>,
    pub supersedes: Option<[u8; 16]>,
}

/// For all lines of a call.
#[derive(Clone, Copy)]
pub(super) struct Reading<'a> {
    /// Space for lines that name none.
    pub space: Option<&'a str>,
    /// Whether a line changes the memory that has its id.
    pub update: bool,
    /// Now, Unix ms.
    pub now_ms: i64,
}

/// Reads and judges a line; none where its id is there and it would change nothing, which is seen before anything is embedded. Names
/// of members left out go to `unknown`. The error is the reason for the wire.
pub(super) fn read(
    memory: &Memory,
    value: &Value,
    reading: Reading<'_>,
    unknown: &mut dyn FnMut(&str),
) -> Result<Option<Line>, String> {
    let Value::Object(members) = value else { return Err("not a JSON object".to_owned()) };
    let (mut known, mut added) = (Map::new(), Map::new());
    for (name, value) in members {
        if REMEMBER.contains(&name.as_str()) {
            known.insert(name.clone(), value.clone());
        } else if ADDED.contains(&name.as_str()) {
            added.insert(name.clone(), value.clone());
        } else {
            unknown(name);
        }
    }
    let mut told: RememberParams = parse(Value::Object(known))?;
    let added: Added = parse(Value::Object(added))?;
    if told.space.is_none() {
        told.space = reading.space.map(str::to_owned);
    }
    assemble(memory, &told, &added, reading).map_err(|refusal| match refusal {
        Refusal::Reason(reason) => reason,
        Refusal::Error(error) => error.to_string(),
    })
}

enum Refusal {
    Reason(String),
    Error(MemoryError),
}

impl From<MemoryError> for Refusal {
    fn from(error: MemoryError) -> Self {
        Refusal::Error(error)
    }
}

fn parse<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, String> {
    params::read(value)
        .map_err(|misfit| if misfit.path.is_empty() { misfit.message } else { format!("{}: {}", misfit.path, misfit.message) })
}

fn assemble(memory: &Memory, params: &RememberParams, added: &Added, reading: Reading<'_>) -> Result<Option<Line>, Refusal> {
    let now_ms = reading.now_ms;
    let more = added.more_sources.clone().unwrap_or_default();
    let draft = match judge(params)? {
        Judged::Refused(reason) => return Err(Refusal::Reason(reason)),
        Judged::Draft(draft) => *draft,
    };
    if let Some((_, secret)) = more.iter().find_map(|s| secret_in("", &[], &[], Some(s))) {
        return Err(Refusal::Reason(format!("secret:{secret}")));
    }
    let id = uuid_member("id", added.id.as_deref())?;
    let created_ms = instant("createdAt", added.created_at.as_ref())?.map(|(ms, _)| ms);
    let last_used = instant("lastUsedAt", added.last_used_at.as_ref())?.map(|(ms, _)| ms);
    space_name("space", Some(&draft.space))?;
    let mut record = Ready::record_of(&draft, created_ms.unwrap_or(now_ms));
    record.recorded_at_ms = now_ms;
    record.id = id.unwrap_or(record.id);
    record.status = added.status.map_or(record.status, status_code);
    record.seen_count = added.seen_count.unwrap_or(1).max(1);
    record.sources.extend(more.iter().take(SOURCES_MAX - 1).map(|s| source_record(s, now_ms)));
    let usage = UseRecord { use_count: added.use_count.unwrap_or(0), last_used_at_ms: last_used.unwrap_or(record.created_at_ms) };
    let superseded_by = uuid_member("supersededBy", added.superseded_by.as_deref())?;
    let supersedes = uuid_member("supersedes", added.supersedes.as_deref())?;
    if id.is_some() && is_there(memory, &draft, &record, reading.update)? {
        return Ok(None);
    }
    Ok(Some(Line { named: id.is_some(), superseded_by, supersedes, ready: Ready::from_record(memory, draft, record, usage) }))
}

/// Whether the memory that a line names is there as the line has it.
fn is_there(memory: &Memory, draft: &Draft, wanted: &MemoryRecord, update: bool) -> Result<bool, MemoryError> {
    memory.store().read(|tx| {
        let space = tx.space_by_name(&draft.space)?.map(|space| space.id);
        let seat = Seat::of(tx, &draft.space, space, &wanted.id)?;
        Ok(seat.taken.is_some_and(|record| is_same(draft, wanted, &record, update)))
    })
}

fn uuid_member(name: &str, text: Option<&str>) -> Result<Option<[u8; 16]>, MemoryError> {
    text.map(|t| whole_id(t).ok_or_else(|| MemoryError::invalid(name, "a UUID"))).transpose()
}
