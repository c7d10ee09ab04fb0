//! `memory/audit`: who did what, newest first, of one space, one memory, or no space; of one client, method or recall where asked.
//!
//! Must not know: how rows are chained.

use super::cursor::{Binding, page_limit};
use super::draft::space_name;
use super::resolve::{id_text, resolve, whole_id};
use super::{Memory, MemoryError};
use crate::caller::Caller;
use crate::clock;
use crate::limits::{AUDIT_SCAN_MAX, PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX, REPLAY_ROWS};
use crate::store::{Reads, StoreError};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use tiro_schema::convert;
use tiro_schema::record::{ActorRecord, AuditRecord};
use tiro_schema::wire::memory::{AuditCut, AuditParams, AuditResult, AuditRow};

const METHOD: &str = "memory/audit";

/// Whose rows are asked for.
#[derive(Clone, Copy)]
enum About {
    Space(u32),
    /// A memory of a space: other ids of its rows are not shown.
    Memory(u32, u64),
    /// Calls that belong to no space.
    Outside,
}

/// Which of them.
#[derive(Clone)]
struct Wanted {
    about: About,
    client: Option<String>,
    method: Option<String>,
    recall: Option<[u8; 16]>,
}

impl Wanted {
    fn takes(&self, row: &AuditRecord) -> bool {
        let about = match self.about {
            About::Space(space) => row.space == space,
            About::Memory(_, key) => row.keys.contains(&key),
            About::Outside => row.space == 0,
        };
        about
            && self.method.as_ref().is_none_or(|method| *method == row.method)
            && self.client.as_ref().is_none_or(|client| is_client(client, &row.actor))
            && self.recall.is_none_or(|recall| row.recall == Some(recall))
    }
}

/// Whether a client is meant by its declared name, with or without version, or by path or file name of its executable.
fn is_client(asked: &str, actor: &ActorRecord) -> bool {
    let without_version = actor.client.rsplit_once('/').map_or("", |(name, _)| name);
    let file_name = actor.executable.rsplit_once('/').map_or("", |(_, name)| name);
    [actor.client.as_str(), without_version, &actor.executable, file_name].contains(&asked)
}

impl Memory {
    /// A page of the audit. It may be short, even empty, and still have a cursor: the work of one page is bounded. Rows about a
    /// memory (a forgotten one too, by its whole id) show that id only.
    ///
    /// # Errors
    /// `Invalid` about params, `NotFound`, `Ambiguous`, and the store's.
    pub async fn audit(&self, caller: &Caller, params: AuditParams) -> Result<AuditResult, MemoryError> {
        if params.id.is_some() && params.space.is_some() {
            return Err(MemoryError::invalid("space", "give id or space, not both"));
        }
        let outside = params.outside.unwrap_or(false);
        if outside && (params.id.is_some() || params.space.is_some()) {
            return Err(MemoryError::invalid("outside", "give it alone: its rows are of no space and about no memory"));
        }
        let recall =
            params.recall_id.as_deref().map(|id| whole_id(id).ok_or_else(|| MemoryError::invalid("recallId", "a whole id")));
        let recall = recall.transpose()?;
        let limit = page_limit(params.limit, PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX)?;
        let space = space_name("space", params.space.as_deref())?;
        let binding = Binding::of(METHOD, &(&params.id, &space, outside, &params.client, &params.method, &params.recall_id));
        let before = binding.place(params.cursor.as_deref())?.unwrap_or(u64::MAX);
        let caller = caller.clone();
        self.blocking(move |memory| {
            let about = if outside { Some(About::Outside) } else { memory.about(&params, &space)? };
            let Some(about) = about else {
                return Ok(AuditResult { items: Vec::new(), next_cursor: None });
            };
            let wanted = Wanted { about, client: params.client, method: params.method, recall };
            let (rows, next) = memory.store().read(|tx| scan(tx, &wanted, before, limit))?;
            let items = memory.store().read(|tx| wire_rows(tx, about, &rows))?;
            let of = match about {
                About::Space(space) => (space, 0),
                About::Memory(space, key) => (space, key),
                About::Outside => (0, 0),
            };
            memory.audit_read(&caller, METHOD, &[of]);
            Ok(AuditResult { items, next_cursor: next.map(|row| binding.cursor(row)) })
        })
        .await
    }

    fn about(&self, params: &AuditParams, space: &str) -> Result<Option<About>, MemoryError> {
        self.store().read(|tx| match &params.id {
            None => Ok(tx.space_by_name(space)?.map(|s| About::Space(s.id))),
            Some(id) => {
                let key = whole_id(id).map(|id| tx.key_of_id(&id)).transpose()?.flatten();
                let forgotten = key.map(|key| tx.memory(key)).transpose()?.flatten();
                let record = forgotten.map_or_else(|| resolve(tx, id, "id"), Ok)?;
                Ok(Some(About::Memory(record.space, record.key)))
            }
        })
    }
}

fn scan(tx: &impl Reads, wanted: &Wanted, before: u64, limit: usize) -> Result<(Vec<AuditRecord>, Option<u64>), StoreError> {
    let (mut rows, mut place, mut scanned) = (Vec::new(), before, 0);
    loop {
        let chunk = tx.audit(place, REPLAY_ROWS)?;
        let Some(last) = chunk.last().map(|r| r.row) else { return Ok((rows, None)) };
        for row in chunk {
            if rows.len() == limit || scanned == AUDIT_SCAN_MAX {
                return Ok((rows, Some(place)));
            }
            scanned += 1;
            place = row.row;
            if wanted.takes(&row) {
                rows.push(row);
            }
        }
        place = last;
    }
}

/// What became of a call, in words.
fn outcome(row: &AuditRecord) -> String {
    if row.outcome.is_empty() { "done".to_owned() } else { row.outcome.clone() }
}

fn wire_rows(tx: &impl Reads, about: About, rows: &[AuditRecord]) -> Result<Vec<AuditRow>, StoreError> {
    let mut ids: HashMap<u64, String> = HashMap::new();
    let mut names: HashMap<u32, String> = HashMap::new();
    let mut shown = Vec::with_capacity(rows.len());
    for row in rows {
        let mut row_ids = Vec::new();
        for key in row.keys.iter().filter(|key| !matches!(about, About::Memory(_, only) if only != **key)) {
            let id = match ids.entry(*key) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => place.insert(tx.memory(*key)?.map(|r| id_text(&r.id)).unwrap_or_default()),
            };
            row_ids.extend(Some(id.clone()).filter(|id| !id.is_empty()));
        }
        let space = match names.entry(row.space) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) if row.space == 0 => place.insert(String::new()),
            Entry::Vacant(place) => place.insert(super::show::space_name_of(tx, row.space)?),
        };
        shown.push(AuditRow {
            at: clock::format(row.at_ms, None),
            method: row.method.clone(),
            access: if row.write { "write" } else { "read" }.to_owned(),
            space: space.clone(),
            ids: row_ids,
            outcome: outcome(row),
            recall_id: row.recall.as_ref().map(id_text),
            cut: row.cut.map(|cut| AuditCut {
                first: cut.first,
                last: cut.last,
                count: cut.last.saturating_sub(cut.first).saturating_add(1),
                hash: cut.hash.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}")),
            }),
            actor: convert::actor(&row.actor),
        });
    }
    Ok(shown)
}
