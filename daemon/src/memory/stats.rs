//! `memory/stats`: what a space holds, and how far the index is with it; and what `daemon/status` says of the whole index.
//!
//! Must not know: sizes of anything but what the store and the index say.

use super::draft::space_name;
use super::{Memory, MemoryError};
use crate::caller::Caller;
use crate::store::{Direction, Reads, StoreError};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use tiro_schema::convert::{STATUS_FORGOTTEN, category_of, kind_of, status_of};
use tiro_schema::wire::Open;
use tiro_schema::wire::daemon::IndexState;
use tiro_schema::wire::memory::{Category, Kind, SpaceIndexState, StatsParams, StatsResult, Status};

/// Counts of the last space asked for: they are read from every record, and hold until the next write.
#[derive(Default)]
pub(super) struct Cache {
    last: Mutex<Option<(u32, String, Counts)>>,
}

#[derive(Default, Clone)]
struct Counts {
    by_status: BTreeMap<String, u64>,
    by_category: BTreeMap<String, u64>,
    by_kind: BTreeMap<String, u64>,
    text_bytes: u64,
}

impl Memory {
    /// How far the index is, over all spaces.
    pub fn index_state(&self) -> IndexState {
        let index = self.index().standing(None);
        IndexState {
            documents: index.documents as u64,
            overlay: index.overlay as u64,
            applied_seq: index.seq,
            tantivy_seq: index.lexical_seq,
            snapshot_seq: index.snapshot_seq,
            hnsw_spaces: index.graphs as u64,
            degraded: index.degraded,
        }
    }

    /// Bytes of the index on disk.
    pub fn index_bytes(&self) -> u64 {
        self.index().disk_bytes()
    }

    /// Counts of a space and the state of the index for it. A space that does not exist counts as empty.
    ///
    /// # Errors
    /// `Invalid` about params, and the store's.
    pub async fn stats(&self, caller: &Caller, params: StatsParams) -> Result<StatsResult, MemoryError> {
        let space = space_name("space", params.space.as_deref())?;
        let caller = caller.clone();
        self.blocking(move |memory| {
            let id = memory.store().read(|tx| Ok::<_, StoreError>(tx.space_by_name(&space)?.map(|s| s.id)))?;
            let counts = id.map(|id| memory.counts(id)).transpose()?.unwrap_or_default();
            memory.audit_read(&caller, "memory/stats", &id.map(|id| vec![(id, 0)]).unwrap_or_default());
            let index = id.map(|id| memory.index().standing(Some(id))).unwrap_or_default();
            Ok(StatsResult {
                refused: memory.inner.gate.refusals().of(&space),
                space,
                by_status: counts.by_status,
                by_category: counts.by_category,
                by_kind: counts.by_kind,
                text_bytes: counts.text_bytes,
                index: SpaceIndexState {
                    documents: index.documents as u64,
                    overlay: index.overlay as u64,
                    vectors: if index.graphs > 0 { "hnsw" } else { "exact" }.to_owned(),
                    vectors_why: index.vectors_why.to_owned(),
                    degraded: index.degraded,
                },
            })
        })
        .await
    }

    fn counts(&self, space: u32) -> Result<Counts, MemoryError> {
        let token = self.store().seq_token(self.store().seq());
        if let Some((of, at, counts)) = &*self.inner.stats.last.lock()
            && (*of, at.as_str()) == (space, token.as_str())
        {
            return Ok(counts.clone());
        }
        let mut counts = Counts::default();
        self.store().read(|tx| {
            tx.memories_of_space(space, 0..=u64::MAX, Direction::Ascending, &mut |record| {
                if record.status != STATUS_FORGOTTEN {
                    counts.text_bytes += record.text.len() as u64;
                    let status = Open::from(status_of(record.status).unwrap_or(Status::Archived)).to_string();
                    let category = Open::from(category_of(record.category).unwrap_or(Category::Other)).to_string();
                    let kind = Open::from(kind_of(record.kind).unwrap_or(Kind::Episodic)).to_string();
                    *counts.by_status.entry(status).or_default() += 1;
                    *counts.by_category.entry(category).or_default() += 1;
                    *counts.by_kind.entry(kind).or_default() += 1;
                }
                Ok(ControlFlow::Continue(()))
            })
        })?;
        *self.inner.stats.last.lock() = Some((space, token, counts.clone()));
        Ok(counts)
    }
}
