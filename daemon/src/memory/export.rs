//! `memory/export`: a space as lines that an import takes back.
//!
//! Must not know: files.

use super::cursor::{Binding, page_limit};
use super::draft::space_name;
use super::filter::{Sieve, Unnamed};
use super::list::{Walk, walk};
use super::resolve::id_text;
use super::show::linked;
use super::{Memory, MemoryError, ledger};
use crate::caller::Caller;
use crate::clock;
use crate::limits::{EXPORT_LINES_DEFAULT, PAGE_ITEMS_MAX};
use crate::store::{Direction, Reads, StoreError};
use tiro_schema::convert::{category_of, kind_of, source, status_of};
use tiro_schema::record::MemoryRecord;
use tiro_schema::wire::memory::{ExportLine, ExportParams, ExportResult, RememberParams};

const METHOD: &str = "memory/export";

impl Memory {
    /// A page of a space's memories as lines, oldest first, of every status unless the filter names some. Forgotten ones are never in it.
    ///
    /// # Errors
    /// `Invalid` and `TooLarge` about params, and the store's.
    pub async fn export(&self, caller: &Caller, params: ExportParams) -> Result<ExportResult, MemoryError> {
        let space = space_name("space", params.space.as_deref())?;
        let sieve = Sieve::new(params.filter.as_ref(), Unnamed::Every)?;
        let limit = page_limit(params.limit, EXPORT_LINES_DEFAULT, PAGE_ITEMS_MAX)?;
        let binding = Binding::of(METHOD, &(&space, &params.filter));
        let after = binding.place(params.cursor.as_deref())?;
        let caller = caller.clone();
        self.blocking(move |memory| {
            let (page, touched) = memory.store().read(|tx| {
                let Some(space) = tx.space_by_name(&space)? else {
                    return Ok((ExportResult { items: Vec::new(), next_cursor: None }, Vec::new()));
                };
                let found = walk(
                    tx,
                    &Walk { space: space.id, sieve: &sieve, text: None, direction: Direction::Ascending, after, limit },
                )?;
                let items = found.records.iter().map(|r| line(tx, r, &space.name)).collect::<Result<Vec<_>, _>>()?;
                let mut touched = ledger::touched(&found.records);
                touched.push((space.id, 0));
                Ok::<_, StoreError>((ExportResult { items, next_cursor: found.next.map(|key| binding.cursor(key)) }, touched))
            })?;
            memory.audit_read(&caller, METHOD, &touched);
            Ok(page)
        })
        .await
    }
}

fn line(tx: &impl Reads, record: &MemoryRecord, space: &str) -> Result<ExportLine, StoreError> {
    let usage = tx.usage(record.key)?;
    let used = usage.use_count > 0;
    let time = |ms| clock::format(ms, None);
    let some = |list: &[String]| (!list.is_empty()).then(|| list.to_vec());
    let mut sources = record.sources.iter().map(source);
    Ok(ExportLine {
        memory: RememberParams {
            text: record.text.clone(),
            space: Some(space.to_owned()),
            kind: kind_of(record.kind),
            category: category_of(record.category),
            tags: some(&record.tags),
            entities: some(&record.entities),
            importance: Some(record.importance),
            pinned: record.pinned.then_some(true),
            occurred_at: record.occurred_at_ms.map(|ms| clock::format(ms, record.occurred_offset_min)),
            valid_from: record.valid_from_ms.map(time),
            valid_to: record.valid_to_ms.map(time),
            source: sources.next(),
            explicit: record.explicit.then_some(true),
            verbatim: record.verbatim.then_some(true),
            key: None,
        },
        id: Some(id_text(&record.id)),
        created_at: Some(time(record.created_at_ms)),
        status: status_of(record.status),
        version: Some(record.version),
        seen_count: Some(record.seen_count),
        superseded_by: linked(tx, record.superseded_by)?,
        supersedes: linked(tx, record.supersedes)?,
        last_used_at: used.then(|| time(usage.last_used_at_ms)),
        use_count: used.then_some(usage.use_count),
        more_sources: Some(sources.collect::<Vec<_>>()).filter(|more| !more.is_empty()),
    })
}
