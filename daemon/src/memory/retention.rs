//! The job that keeps the retention of spaces: what is older than a space's rule says, and not pinned, is archived or forgotten.
//!
//! It looks once an hour, at the start, and when a rule changes; it takes bounded steps, and begins again where it left off because what is
//! done is not found again. Must not know: who made the rule.

use super::{Memory, MemoryError};
use crate::caller::Caller;
use crate::limits::{IDS_PER_CALL_MAX, RETENTION_LOOK_MS};
use crate::store::{Direction, Reads};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;
use tiro_schema::convert::{CHANGE_ARCHIVED, RETENTION_FORGET, STATUS_ACTIVE, STATUS_ARCHIVED, STATUS_FORGOTTEN};
use tiro_schema::record::MemoryRecord;
use tiro_schema::wire::memory::IdsParams;

const METHOD: &str = "space/retention";
const DAY_MS: i64 = 24 * 3_600 * 1_000;

impl Memory {
    /// Starts the job on a runtime. It ends with the memory.
    pub fn keep_retention(&self, runtime: &tokio::runtime::Handle) {
        let (weak, changed) = (Arc::downgrade(&self.inner), Arc::clone(&self.inner.retention));
        runtime.spawn(async move {
            loop {
                let Some(inner) = weak.upgrade() else { return };
                let memory = Memory { inner };
                if memory.inner.index.is_stopping() {
                    return;
                }
                match memory.retain().await {
                    Ok(0) => {}
                    Ok(count) => tracing::info!(count, "memories put away by the retention of their spaces"),
                    Err(error) => tracing::warn!(%error, "the retention of spaces was not kept; it is tried again"),
                }
                drop(memory);
                let _ = tokio::time::timeout(Duration::from_millis(RETENTION_LOOK_MS), changed.notified()).await;
            }
        });
    }

    /// Does what the rules say now. How many memories it touched.
    async fn retain(&self) -> Result<u64, MemoryError> {
        let mut count = 0;
        for (space, ruled) in self.inner.rules.all().iter() {
            let Some(days) = ruled.rules.retention_days else { continue };
            let before_ms = self.now_ms().saturating_sub(i64::from(days).saturating_mul(DAY_MS));
            let forgets = ruled.rules.retention_act == RETENTION_FORGET;
            loop {
                let (space, still) = (*space, Arc::clone(ruled));
                let old = self.blocking(move |memory| memory.outlived(space, before_ms, forgets)).await?;
                // The rule may be another by now.
                if old.is_empty() || self.inner.index.is_stopping() || self.inner.rules.of(space) != Some(still) {
                    break;
                }
                count += old.len() as u64;
                self.put_away(old, before_ms, forgets).await?;
            }
        }
        Ok(count)
    }

    /// Some memories of a space that were recorded before, with key and id. Archived ones are done with where the rule archives.
    fn outlived(&self, space: u32, before_ms: i64, forgets: bool) -> Result<Vec<(u64, [u8; 16])>, MemoryError> {
        let mut old = Vec::new();
        self.store().read(|tx| {
            tx.memories_of_space(space, 0..=u64::MAX, Direction::Ascending, &mut |record| {
                if is_outlived(&record, before_ms, forgets) {
                    old.push((record.key, record.id));
                }
                Ok(if old.len() < IDS_PER_CALL_MAX { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
            })
        })?;
        Ok(old)
    }

    async fn put_away(&self, old: Vec<(u64, [u8; 16])>, before_ms: i64, forgets: bool) -> Result<(), MemoryError> {
        let caller = Caller::daemon();
        if forgets {
            self.forget_records(&caller, METHOD, old, Vec::new(), None).await?;
            return Ok(());
        }
        let ids = old.iter().map(|(_, id)| super::resolve::id_text(id)).collect();
        let params = IdsParams { ids, pinned: None, key: None };
        self.change_all(&caller, METHOD, params, move |_, record| {
            let archived = || MemoryRecord { status: STATUS_ARCHIVED, change: CHANGE_ARCHIVED, ..record.clone() };
            Ok(is_outlived(record, before_ms, false).then(archived))
        })
        .await?;
        Ok(())
    }
}

fn is_outlived(record: &MemoryRecord, before_ms: i64, forgets: bool) -> bool {
    let stands = if forgets { record.status != STATUS_FORGOTTEN } else { record.status == STATUS_ACTIVE };
    stands && !record.pinned && record.created_at_ms < before_ms
}
