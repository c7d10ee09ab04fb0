//! A store's memories as they were known at an instant, made anew from their versions, and the few such views that are kept.
//!
//! A view holds no memory that is forgotten by now, and none of the writes that came later. It is in memory alone: one is made at
//! a time, at most [`AS_OF_VIEWS_MAX`] are kept, each until nobody asked for it for [`AS_OF_IDLE_MS`]. Must not know: verbs.

use super::documents::document_set;
use super::{Memory, MemoryError};
use crate::caller::Caller;
use crate::limits::{
    AS_OF_IDLE_MS, AS_OF_MEMORIES_MAX, AS_OF_VIEWS_MAX, CONFLICTS_PER_MEMORY_MAX, PREPARE_THREADS_MAX, REPLAY_ROWS,
};
use crate::store::{ConflictReads, Direction, Reads, StoreError};
use parking_lot::Mutex;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tiro_index::{Calibration, Frozen, Prepared};
use tiro_schema::convert::{CHANGE_FORGOTTEN, CHANGE_UNDONE, STATUS_ACTIVE, STATUS_FORGOTTEN};
use tiro_schema::record::{MemoryRecord, UseRecord};
use tokio::sync::Semaphore;
use tokio::time::Instant;

/// What the views of one space set at one instant are known by.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Name {
    epoch: u64,
    spaces: Vec<u32>,
    as_of_ms: i64,
}

struct Kept {
    name: Name,
    view: Arc<Frozen>,
    asked_at: Instant,
}

/// The views that are kept.
pub(super) struct Past {
    kept: Mutex<Vec<Kept>>,
    /// One recall of the past at a time: what they take is bounded.
    pub turn: Semaphore,
    /// Counts the writes that change the past: a view begun before one is not kept.
    changed: AtomicU64,
    sweeping: AtomicBool,
}

impl Default for Past {
    fn default() -> Self {
        Past { kept: Mutex::default(), turn: Semaphore::new(1), changed: AtomicU64::new(0), sweeping: AtomicBool::new(false) }
    }
}

impl Past {
    /// Takes note of a version just written: what is hidden, comes back, or is recorded with a clock set back, changes the past.
    pub fn wrote(&self, change: u8, recorded_at_ms: i64) {
        let hides = matches!(change, CHANGE_FORGOTTEN | CHANGE_UNDONE);
        self.changed.fetch_add(u64::from(hides), Ordering::SeqCst);
        let mut kept = self.kept.lock();
        let before = kept.len();
        kept.retain(|one| !hides && one.name.as_of_ms < recorded_at_ms);
        if kept.len() < before {
            self.changed.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn get(&self, name: &Name) -> Option<Arc<Frozen>> {
        let mut kept = self.kept.lock();
        let one = kept.iter_mut().find(|one| one.name == *name)?;
        one.asked_at = Instant::now();
        Some(Arc::clone(&one.view))
    }

    fn keep(&self, name: Name, view: &Arc<Frozen>, begun: u64) {
        let mut kept = self.kept.lock();
        if self.changed.load(Ordering::SeqCst) != begun {
            return;
        }
        kept.sort_by_key(|one| one.asked_at);
        let room = |kept: &[Kept]| {
            let held: usize = kept.iter().map(|one| one.view.len()).sum();
            kept.len() < AS_OF_VIEWS_MAX && (kept.is_empty() || held + view.len() <= AS_OF_MEMORIES_MAX)
        };
        while !room(&kept) {
            kept.remove(0);
        }
        kept.push(Kept { name, view: Arc::clone(view), asked_at: Instant::now() });
    }

    /// Drops what nobody asked for; whether none is left.
    fn sweep(&self) -> bool {
        let mut kept = self.kept.lock();
        kept.retain(|one| one.asked_at.elapsed() < Duration::from_millis(AS_OF_IDLE_MS));
        kept.is_empty()
    }
}

/// The version of a memory that was known at an instant; none where it was not, was hidden then, or is hidden now.
pub(super) fn version_at(tx: &impl Reads, key: u64, as_of_ms: i64) -> Result<Option<MemoryRecord>, StoreError> {
    let Some(mut record) = tx.memory(key)?.filter(|now| now.status != STATUS_FORGOTTEN) else { return Ok(None) };
    while record.recorded_at_ms > as_of_ms {
        let before = record.version.saturating_sub(1);
        match tx.memory_version(key, before)? {
            Some(earlier) => record = earlier,
            None => return Ok(None),
        }
    }
    Ok(Some(record).filter(|then| then.status != STATUS_FORGOTTEN))
}

/// Whether a conflict that was open at an instant names a memory, both sides being current then.
pub(super) fn conflicts_at(tx: &impl Reads, record: &MemoryRecord, as_of_ms: i64) -> Result<bool, StoreError> {
    if record.status != STATUS_ACTIVE {
        return Ok(false);
    }
    for conflict in tx.conflicts_of_memory(record.key, CONFLICTS_PER_MEMORY_MAX)? {
        let open = conflict.opened_at_ms <= as_of_ms && conflict.resolved_at_ms.is_none_or(|at| at > as_of_ms);
        let other = if conflict.first == record.key { conflict.second } else { conflict.first };
        if open && version_at(tx, other, as_of_ms)?.is_some_and(|other| other.status == STATUS_ACTIVE) {
            return Ok(true);
        }
    }
    Ok(false)
}

impl Memory {
    /// The view of some spaces at an instant, kept or made. Blocks, where it is made, for as long as all its memories
    /// take to be analysed.
    ///
    /// # Errors
    /// `TooLarge` over [`AS_OF_MEMORIES_MAX`] memories, `Cancelled`, and the store's.
    pub(super) fn past(&self, caller: &Caller, mut spaces: Vec<u32>, as_of_ms: i64) -> Result<Arc<Frozen>, MemoryError> {
        spaces.sort_unstable();
        let past = &self.inner.past;
        let name = Name { epoch: self.store().identity().epoch, spaces, as_of_ms };
        if let Some(view) = past.get(&name) {
            return Ok(view);
        }
        let begun = past.changed.load(Ordering::SeqCst);
        let view = Arc::new(self.make_view(caller, &name)?);
        past.keep(name, &view, begun);
        Ok(view)
    }

    /// Has views dropped that nobody asks for any more. To be called within the runtime.
    pub(super) fn sweep_past(&self) {
        if self.inner.past.sweeping.swap(true, Ordering::SeqCst) {
            return;
        }
        let weak = Arc::downgrade(&self.inner);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(Duration::from_millis(AS_OF_IDLE_MS)).await;
                let Some(inner) = weak.upgrade() else { return };
                if inner.past.sweep() {
                    inner.past.sweeping.store(false, Ordering::SeqCst);
                    return;
                }
            }
        });
    }

    fn make_view(&self, caller: &Caller, name: &Name) -> Result<Frozen, MemoryError> {
        let total = self.store().read(|tx| {
            let counts = name.spaces.iter().map(|space| Ok(tx.counts(*space)?.shown()));
            Ok::<u64, StoreError>(counts.collect::<Result<Vec<u64>, StoreError>>()?.into_iter().sum())
        })?;
        if total > AS_OF_MEMORIES_MAX as u64 {
            return Err(MemoryError::too_large("asOf", "asOfMemoriesMax", AS_OF_MEMORIES_MAX));
        }
        let scale = Arc::clone(&self.inner.embedder);
        let calibration: Calibration = Arc::new(move |query| scale.background().z(query));
        let mut view = Frozen::new(self.embedder().dimension(), self.inner.index.settings().clone(), calibration);
        let mut done = 0;
        for space in &name.spaces {
            let mut from = 0;
            while let Some(keys) = self.keys_from(*space, from)? {
                if caller.cancel.is_cancelled() {
                    return Err(MemoryError::Cancelled);
                }
                from = keys.last().map_or(u64::MAX, |last| last + 1);
                done += keys.len() as u64;
                for documents in self.documents_at(&keys, name.as_of_ms)? {
                    view.put(documents);
                }
                caller.tell("laying out what was known then", done, Some(total));
            }
        }
        Ok(view)
    }

    /// The next keys of a space that are not forgotten; none at its end.
    fn keys_from(&self, space: u32, from: u64) -> Result<Option<Vec<u64>>, StoreError> {
        let mut keys = Vec::with_capacity(REPLAY_ROWS);
        self.store().read(|tx| {
            tx.keys_of_space(space, from..=u64::MAX, Direction::Ascending, &mut |key, status| {
                if status != STATUS_FORGOTTEN {
                    keys.push(key);
                }
                Ok(if keys.len() < REPLAY_ROWS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
            })
        })?;
        Ok((!keys.is_empty()).then_some(keys))
    }

    /// The documents of some memories as they were, analysed by a few threads.
    fn documents_at(&self, keys: &[u64], as_of_ms: i64) -> Result<Vec<Vec<Prepared>>, MemoryError> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).clamp(1, PREPARE_THREADS_MAX);
        let share = keys.len().div_ceil(threads).max(1);
        std::thread::scope(|scope| {
            let part = |keys: &'_ [u64]| {
                self.store().read(|tx| {
                    let mut documents = Vec::with_capacity(keys.len());
                    for key in keys {
                        documents.extend(document_at(tx, *key, as_of_ms)?);
                    }
                    Ok::<_, StoreError>(documents)
                })
            };
            let parts: Vec<_> = keys.chunks(share).map(|keys| scope.spawn(move || part(keys))).collect();
            let mut all = Vec::with_capacity(keys.len());
            for part in parts {
                all.extend(part.join().map_err(|_| MemoryError::Lost)??);
            }
            Ok(all)
        })
    }
}

/// The documents of a memory as it was. A use after the instant says nothing of the uses before it: it counts as unused then.
fn document_at(tx: &impl Reads, key: u64, as_of_ms: i64) -> Result<Option<Vec<Prepared>>, StoreError> {
    let Some(record) = version_at(tx, key, as_of_ms)? else { return Ok(None) };
    let usage = Some(tx.usage(key)?).filter(|usage| usage.last_used_at_ms <= as_of_ms).unwrap_or_else(UseRecord::default);
    let vectors = tx.vectors(key, record.vector_version)?;
    let successor = match record.superseded_by {
        Some(by) => version_at(tx, by, as_of_ms)?,
        None => None,
    };
    Ok(Some(document_set(&record, &usage, &vectors, successor.as_ref())))
}
