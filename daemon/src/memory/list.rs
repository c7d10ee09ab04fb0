//! `memory/list`: the memories of a space, page by page, and the walk over a space that other verbs share.
//!
//! Must not know: what is done with a page.

use super::cursor::{Binding, page_limit};
use super::draft::space_name;
use super::filter::{Sieve, Unnamed};
use super::show::show;
use super::{Memory, MemoryError, ledger};
use crate::caller::Caller;
use crate::limits::{PAGE_BYTES_MAX, PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX, PAGE_SCAN_MAX, QUERY_BYTES_MAX};
use crate::store::{Direction, Reads, StoreError};
use std::ops::ControlFlow;
use tiro_schema::record::MemoryRecord;
use tiro_schema::wire::memory::{ListOrder, ListParams, ListResult};

/// What a walk over a space looks for.
pub(super) struct Walk<'a> {
    pub space: u32,
    pub sieve: &'a Sieve,
    /// Folded text the memory must contain.
    pub text: Option<&'a str>,
    pub direction: Direction,
    /// Key the page before ended at.
    pub after: Option<u64>,
    pub limit: usize,
}

/// A page of a walk.
pub(super) struct Walked {
    pub records: Vec<MemoryRecord>,
    /// Key to go on after; none at the end.
    pub next: Option<u64>,
}

/// One page: the records that pass, until the limit, the bound of bytes or that of records read is reached.
pub(super) fn walk(tx: &impl Reads, walk: &Walk<'_>) -> Result<Walked, StoreError> {
    let mut page = Walked { records: Vec::new(), next: None };
    let keys = match (walk.after, walk.direction) {
        (None, _) => 0..=u64::MAX,
        (Some(after), Direction::Ascending) => after.saturating_add(1)..=u64::MAX,
        (Some(0), Direction::Descending) => return Ok(page),
        (Some(after), Direction::Descending) => 0..=after - 1,
    };
    let (mut scanned, mut bytes, mut last) = (0usize, 0usize, None);
    tx.keys_of_space(walk.space, keys, walk.direction, &mut |key, status| {
        // The page is known to go on only once there is something after it.
        if page.records.len() == walk.limit || bytes >= PAGE_BYTES_MAX || scanned >= PAGE_SCAN_MAX {
            page.next = last;
            return Ok(ControlFlow::Break(()));
        }
        scanned += 1;
        last = Some(key);
        if walk.sieve.passes_status(status)
            && let Some(record) = tx.memory(key)?
            && walk.sieve.passes(&record)
            && walk.text.is_none_or(|text| record.text.to_lowercase().contains(text))
        {
            bytes += record.text.len();
            page.records.push(record);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(page)
}

impl Memory {
    /// A page of a space's memories. It may be short, even empty, and still have a cursor: the work of one page is bounded.
    ///
    /// # Errors
    /// `Invalid` and `TooLarge` about params, a cursor of another call included, and the store's.
    pub async fn list(&self, caller: &Caller, params: ListParams) -> Result<ListResult, MemoryError> {
        let space = space_name("space", params.space.as_deref())?;
        let sieve = Sieve::new(params.filter.as_ref(), Unnamed::Active)?;
        let limit = page_limit(params.limit, PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX)?;
        if params.text.as_ref().is_some_and(|t| t.len() > QUERY_BYTES_MAX) {
            return Err(MemoryError::too_large("text", "queryBytesMax", QUERY_BYTES_MAX));
        }
        let order = params.order.unwrap_or_default();
        let binding = Binding::of("memory/list", &(&space, &params.filter, &params.text, order));
        let after = binding.place(params.cursor.as_deref())?;
        let text = params.text.as_deref().map(str::trim).filter(|t| !t.is_empty()).map(str::to_lowercase);
        let caller = caller.clone();
        self.blocking(move |memory| {
            let (page, touched) = memory.store().read(|tx| {
                let Some(space) = tx.space_by_name(&space)? else {
                    return Ok((ListResult { items: Vec::new(), next_cursor: None }, Vec::new()));
                };
                let direction = match order {
                    ListOrder::Newest => Direction::Descending,
                    ListOrder::Oldest => Direction::Ascending,
                };
                let found = walk(tx, &Walk { space: space.id, sieve: &sieve, text: text.as_deref(), direction, after, limit })?;
                let items = found.records.iter().map(|r| show(tx, r, &space.name)).collect::<Result<Vec<_>, _>>()?;
                let mut touched = ledger::touched(&found.records);
                touched.push((space.id, 0));
                Ok::<_, StoreError>((ListResult { items, next_cursor: found.next.map(|key| binding.cursor(key)) }, touched))
            })?;
            memory.audit_read(&caller, "memory/list", &touched);
            Ok(page)
        })
        .await
    }
}
