//! `memory/receipts`: what was purged, and when each place was without it. Ids and times, no words.
//!
//! Must not know: how a purge is carried out.

use super::super::cursor::{Binding, page_limit};
use super::super::resolve::{id_text, whole_id};
use super::super::{Memory, MemoryError};
use super::steps::is_over;
use crate::caller::Caller;
use crate::clock;
use crate::limits::{IDS_LISTED_MAX, PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX, PURGE_OPEN_MAX};
use crate::store::PurgeReads;
use tiro_schema::record::PurgeRecord;
use tiro_schema::wire::Page;
use tiro_schema::wire::memory::{PurgedAt, Receipt, ReceiptsParams, ReceiptsResult};

const METHOD: &str = "memory/receipts";

impl Memory {
    /// Receipts, newest first; or one, with its ids.
    ///
    /// # Errors
    /// `Invalid`, `NotFound`, and the store's.
    pub async fn receipts(&self, _caller: &Caller, params: ReceiptsParams) -> Result<ReceiptsResult, MemoryError> {
        let limit = page_limit(params.limit, PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX)?;
        if let Some(id) = params.id {
            return self.blocking(move |memory| memory.receipt_named(&id)).await;
        }
        let binding = Binding::of(METHOD, &());
        let before = binding.place(params.cursor.as_deref())?.unwrap_or(u64::MAX);
        self.blocking(move |memory| {
            let mut purges = memory.store().read(|tx| tx.purges_before(before, limit + 1))?;
            let more = purges.len() > limit;
            purges.truncate(limit);
            let next_cursor = purges.last().filter(|_| more).map(|last| binding.cursor(last.key));
            Ok(Page { items: purges.iter().map(|purge| wire(purge, Vec::new())).collect(), next_cursor })
        })
        .await
    }

    /// The receipt of a purge by its id, or of the purge a memory fell to.
    fn receipt_named(&self, id: &str) -> Result<ReceiptsResult, MemoryError> {
        let whole = whole_id(id).ok_or_else(|| MemoryError::invalid("id", "the whole id of a receipt or of a memory"))?;
        let key = self.store().read(|tx| {
            if let Some(purged) = tx.purged(&whole)? {
                return Ok::<_, MemoryError>(Some(purged.purge));
            }
            let (mut before, mut found) = (u64::MAX, None);
            while found.is_none() {
                let page = tx.purges_before(before, PURGE_OPEN_MAX)?;
                let Some(last) = page.last() else { break };
                before = last.key;
                found = page.iter().find(|purge| purge.id == whole).map(|purge| purge.key);
            }
            Ok(found)
        })?;
        let receipt = key.map(|key| self.receipt_of(key)).transpose()?.flatten();
        let receipt = receipt.ok_or_else(|| MemoryError::NoReceipt { id: id.chars().take(64).collect() })?;
        Ok(Page { items: vec![receipt], next_cursor: None })
    }

    /// The receipt of a purge with its ids.
    pub(super) fn receipt_of(&self, key: u64) -> Result<Option<Receipt>, MemoryError> {
        self.store().read(|tx| {
            let Some(purge) = tx.purge(key)? else { return Ok(None) };
            let ids = tx.purged_by(key, None, IDS_LISTED_MAX)?;
            Ok(Some(wire(&purge, ids.iter().map(id_text).collect())))
        })
    }
}

fn wire(purge: &PurgeRecord, ids: Vec<String>) -> Receipt {
    let at = |ms: Option<i64>| ms.map(|ms| clock::format(ms, None));
    Receipt {
        id: id_text(&purge.id),
        method: purge.method.clone(),
        requested_at: clock::format(purge.requested_at_ms, None),
        done: is_over(purge),
        count: purge.count,
        ids,
        hidden_from: clock::format(purge.hidden_from_ms, None),
        hidden_to: clock::format(purge.hidden_to_ms, None),
        purged_at: PurgedAt {
            rows: at(purge.rows_at_ms),
            sessions: at(purge.sessions_at_ms),
            store: at(purge.store_at_ms),
            index: at(purge.index_at_ms),
            vectors: at(purge.vectors_at_ms),
            backups: at(purge.backups_at_ms),
        },
        session_rows: purge.session_rows,
        backups_removed: purge.backups_removed,
        set_aside_removed: purge.set_aside_removed,
        put_off: Some(purge.put_off.clone()).filter(|why| !why.is_empty()),
    }
}
