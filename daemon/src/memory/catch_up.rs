//! Bringing the index up to the store: replay of the outbox, or everything.
//!
//! A memory is always fed as it stands now, so a replay may repeat. Must not know: when it is needed.

use super::MemoryError;
use super::documents::{changes_of, removals, touch};
use crate::limits::{PREPARE_THREADS_MAX, REPLAY_ROWS};
use crate::store::{Reads, Store, StoreError};
use std::ops::ControlFlow;
use tiro_index::{Change, Index};
use tiro_schema::convert::STATUS_FORGOTTEN;
use tiro_schema::record::MemoryRecord;

/// Told how far the index has caught up: stage, done, total.
pub type IndexProgress<'a> = &'a dyn Fn(&str, u64, u64);

/// Brings an index just opened up to date and sets it going.
pub(super) fn catch_up(store: &Store, index: &Index, watermark: u64, progress: IndexProgress<'_>) -> Result<(), MemoryError> {
    let seq = store.seq();
    if watermark == 0 {
        feed_all(store, index, progress)?;
    } else {
        replay(store, index, watermark, progress)?;
    }
    for note in index.loaded(seq) {
        tracing::info!("{note}");
    }
    Ok(())
}

/// Applies everything the outbox has after a sequence, as the memories stand now.
pub(super) fn replay(store: &Store, index: &Index, after: u64, progress: IndexProgress<'_>) -> Result<(), StoreError> {
    let (mut place, end) = (after, store.seq());
    loop {
        let (changes, uses, last) = store.read(|tx| {
            let rows = tx.outbox_after(place, REPLAY_ROWS)?;
            let last = rows.last().map(|(seq, _)| *seq);
            let keys: std::collections::BTreeSet<u64> = rows.iter().map(|(_, row)| row.key).collect();
            let (mut changes, mut uses) = (Vec::new(), Vec::new());
            for key in keys {
                match tx.memory(key)? {
                    Some(record) => {
                        changes.extend(changes_of(tx, &record)?);
                        uses.push((tx.usage(key)?, record));
                    }
                    // Purged since.
                    None => changes.extend(removals(key, last.unwrap_or(place))),
                }
            }
            Ok::<_, StoreError>((changes, uses, last))
        })?;
        index.apply(changes);
        // A use makes no version, so the change above may be passed over as known.
        uses.iter().for_each(|(usage, record)| touch(index, record, usage));
        let Some(last) = last else { return Ok(()) };
        place = last;
        progress("replaying writes into the index", place.saturating_sub(after), end.saturating_sub(after));
    }
}

/// Feeds every memory that is not forgotten. Analysing is shared out over a few threads.
pub(super) fn feed_all(store: &Store, index: &Index, progress: IndexProgress<'_>) -> Result<u64, MemoryError> {
    let (mut from, mut fed) = (0, 0);
    loop {
        let mut batch: Vec<MemoryRecord> = Vec::with_capacity(REPLAY_ROWS);
        store.read(|tx| {
            tx.all_memories(from, &mut |record| {
                batch.push(record);
                Ok(if batch.len() < REPLAY_ROWS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
            })
        })?;
        let Some(last) = batch.last() else { return Ok(fed) };
        from = last.key + 1;
        for change in analyse(store, &batch)? {
            index.apply(change);
        }
        fed += batch.iter().filter(|r| r.status != STATUS_FORGOTTEN).count() as u64;
        progress("building the index", from, store.seq());
    }
}

fn analyse(store: &Store, batch: &[MemoryRecord]) -> Result<Vec<Vec<Change>>, MemoryError> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).clamp(1, PREPARE_THREADS_MAX);
    let share = batch.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let part = |records: &'_ [MemoryRecord]| {
            store.read(|tx| {
                let mut changes = Vec::new();
                for record in records.iter().filter(|r| r.status != STATUS_FORGOTTEN) {
                    changes.extend(changes_of(tx, record)?);
                }
                Ok::<_, StoreError>(changes)
            })
        };
        let parts: Vec<_> = batch.chunks(share).map(|records| scope.spawn(move || part(records))).collect();
        parts.into_iter().map(|p| p.join().map_err(|_| MemoryError::Lost)?.map_err(MemoryError::from)).collect()
    })
}
