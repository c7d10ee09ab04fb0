//! From a store to a memory that answers: the index is opened, catches up with the store, and is kept up with it.
//!
//! The store is the truth; the index is replayed from the outbox after its watermark, or fed every memory when it has none.
//! Must not know: verbs.

use super::catch_up::{IndexProgress, catch_up, feed_all, replay};
use super::model_leg::{Chosen, ModelChoice};
use super::past::Past;
use super::{DecaySettings, Inner, Memory, MemoryError, stats};
use crate::clock::SharedClock;
use crate::limits::{IN_PLACE_MAX, OUTBOX_TRIM_INTERVAL_MS};
use crate::store::{Reads, Store, StoreChange};
use parking_lot::{Condvar, Mutex, RwLock};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tiro_index::embed::Embedder;
use tiro_index::{Calibration, Identity, Index, IndexError, Settings};

/// Setting that holds the sequence up to which the outbox was trimmed: an index behind it is fed everything.
const SETTING_TRIMMED: &str = "outboxTrimmed";

/// What a memory is opened with.
pub struct MemoryOptions {
    /// Folder of the index.
    pub index_dir: PathBuf,
    /// The embedder.
    pub embedder: Arc<dyn Embedder>,
    /// The model beside it.
    pub model: ModelChoice,
    /// What orders the best hits anew, if anything.
    pub reranker: Option<Arc<dyn crate::model::Reranker>>,
    /// Source of time.
    pub clock: SharedClock,
    /// Settings of decay.
    pub decay: DecaySettings,
    /// Settings of the index.
    pub index: Settings,
}

/// The index in use; another takes its place when it is rebuilt.
pub(super) struct IndexSlot {
    current: RwLock<Arc<Index>>,
    dir: PathBuf,
    settings: Settings,
    stopping: Mutex<bool>,
    stop: Condvar,
    /// Counts what took the place of the store; an index built from the one before is not taken.
    replaced: AtomicU64,
    /// Held while one is rebuilt.
    rebuilding: Mutex<()>,
}

impl IndexSlot {
    /// The index in use.
    pub fn get(&self) -> Arc<Index> {
        Arc::clone(&self.current.read())
    }

    /// Whether the memory is being closed.
    pub fn is_stopping(&self) -> bool {
        *self.stopping.lock()
    }

    /// How it is set up.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Share of the lexical leg in a hybrid score.
    pub fn lexical_weight(&self) -> f32 {
        self.settings.lexical_weight
    }
}

impl Memory {
    /// Opens the index of a store and brings it up to date. Blocks: for a second at 100,000 memories, for some when it must be rebuilt.
    ///
    /// # Errors
    /// The store's, and `Index` when the index folder cannot be used at all.
    pub fn open(store: Store, options: MemoryOptions, progress: IndexProgress<'_>) -> Result<Memory, MemoryError> {
        let MemoryOptions { index_dir, embedder, model, reranker, clock, decay, index: settings } = options;
        let index = open_index(&store, &embedder, &index_dir, &settings)?;
        let watermark = trusted_watermark(&store, &index)?;
        catch_up(&store, &index.0, watermark, progress)?;
        let slot = Arc::new(IndexSlot {
            current: RwLock::new(index.0),
            dir: index_dir,
            settings,
            stopping: Mutex::new(false),
            stop: Condvar::new(),
            replaced: AtomicU64::new(0),
            rebuilding: Mutex::new(()),
        });
        let chosen = RwLock::new(Chosen::new(model));
        let (stats, past, in_place) = (stats::Cache::default(), Past::default(), tokio::sync::Semaphore::new(IN_PLACE_MAX));
        let gate = super::gate::Gate::default();
        let feedback = super::feedback::Feedback::default();
        store.read(|tx| feedback.load(tx))?;
        let (rules, retention) = (super::rules::Rules::default(), Arc::default());
        store.read(|tx| rules.load(tx))?;
        let inner = Inner {
            store,
            index: slot,
            embedder,
            chosen,
            reranker,
            clock,
            decay,
            stats,
            in_place,
            past,
            gate,
            feedback,
            rules,
            retention,
        };
        let memory = Memory { inner: Arc::new(inner) };
        memory.keep_up();
        Ok(memory)
    }

    /// Follows what happens to the store besides commits, and trims the outbox now and then.
    fn keep_up(&self) {
        let weak = Arc::downgrade(&self.inner);
        self.store().on_change(move |change| {
            let Some(inner) = weak.upgrade() else { return };
            let memory = Memory { inner };
            let loaded = memory.store().read(|tx| memory.inner.feedback.load(tx).and_then(|()| memory.inner.rules.load(tx)));
            if let Err(error) = loaded {
                tracing::error!(%error, "feedback and the rules of spaces were not read again");
            }
            let done = match change {
                StoreChange::Reopened => memory.catch_up_after_reopening(),
                StoreChange::Restored => memory.replace_index(&|_, _, _| {}),
            };
            if let Err(error) = done {
                tracing::error!(%error, "the index did not catch up with the store");
            }
        });
        let (weak, slot) = (Arc::downgrade(&self.inner), Arc::clone(&self.inner.index));
        let spawned = std::thread::Builder::new().name("outbox-trim".into()).spawn(move || trim_now_and_then(&weak, &slot));
        if let Err(error) = spawned {
            tracing::warn!(%error, "the outbox is not trimmed: no thread for it");
        }
    }

    /// Ends what runs behind and writes the index's snapshot. The store is closed by its owner, after this.
    pub fn close(&self) {
        *self.inner.index.stopping.lock() = true;
        self.inner.index.stop.notify_all();
        self.leg().iter().for_each(|leg| leg.stop());
        if let Err(error) = self.index().close() {
            tracing::warn!(%error, "the index was not closed in order; the next start replays more");
        }
    }

    /// Builds the index anew from the store while the old one answers. Gives how many memories are in it. Blocks.
    ///
    /// # Errors
    /// The store's and the index's.
    pub fn rebuild(&self, progress: IndexProgress<'_>) -> Result<u64, MemoryError> {
        let slot = &self.inner.index;
        let Some(_one) = slot.rebuilding.try_lock() else {
            return Err(MemoryError::Index("the index is being rebuilt already".to_owned()));
        };
        let (seq, replaced) = (self.store().seq(), slot.replaced.load(Ordering::SeqCst));
        let fresh = self.fresh_index()?;
        let fed = feed_all(self.store(), &fresh, progress)?;
        // On the writer's thread nothing else is committed: what came since is replayed, and no change falls between the two.
        let memory = self.clone();
        let swapped = Arc::clone(&fresh);
        self.store().write_blocking("swap the index", move |_| {
            if memory.inner.index.replaced.load(Ordering::SeqCst) != replaced {
                return Err(MemoryError::Index("the store was replaced meanwhile; its index is new".to_owned()));
            }
            memory.swap_in(&swapped, seq)
        })?;
        Ok(fed)
    }

    /// The same on the writer's thread, where no write can come in between.
    fn replace_index(&self, progress: IndexProgress<'_>) -> Result<(), MemoryError> {
        self.inner.index.replaced.fetch_add(1, Ordering::SeqCst);
        self.leg().iter().for_each(|leg| leg.begin_anew());
        let fresh = self.fresh_index()?;
        feed_all(self.store(), &fresh, progress)?;
        self.swap_in(&fresh, self.store().seq())
    }

    fn fresh_index(&self) -> Result<Arc<Index>, MemoryError> {
        let slot = &self.inner.index;
        // The old one goes on answering from memory; its files are the new one's from now on.
        if let Err(error) = slot.get().close() {
            tracing::debug!(%error, "the index that is replaced was not closed in order");
        }
        let fresh = open_index(self.store(), &self.inner.embedder, &slot.dir, &slot.settings)?.0;
        fresh.clear()?;
        Ok(fresh)
    }

    fn swap_in(&self, fresh: &Arc<Index>, after: u64) -> Result<(), MemoryError> {
        replay(self.store(), fresh, after, &|_, _, _| {})?;
        for note in fresh.loaded(self.store().seq()) {
            tracing::info!("{note}");
        }
        // The model may have become another one since the fresh index was begun.
        fresh.use_model(self.leg().and_then(|leg| leg.known()));
        *self.inner.index.current.write() = Arc::clone(fresh);
        // Vectors kept since it was fed are not in the outbox.
        self.leg().iter().for_each(|leg| leg.look_again());
        Ok(())
    }

    /// A write whose outcome was unknown may stand in the reopened store.
    fn catch_up_after_reopening(&self) -> Result<(), MemoryError> {
        let index = self.index();
        Ok(replay(self.store(), &index, index.stats().seq, &|_, _, _| {})?)
    }
}

impl From<IndexError> for MemoryError {
    fn from(error: IndexError) -> Self {
        MemoryError::Index(error.to_string())
    }
}

fn open_index(
    store: &Store,
    embedder: &Arc<dyn Embedder>,
    dir: &std::path::Path,
    settings: &Settings,
) -> Result<(Arc<Index>, u64), MemoryError> {
    let record = store.identity();
    let identity = Identity {
        store_id: record.id,
        epoch: record.epoch,
        model_id: embedder.model_id().to_owned(),
        dim: embedder.dimension(),
    };
    let scale = Arc::clone(embedder);
    let calibration: Calibration = Arc::new(move |query| scale.background().z(query));
    let opened = Index::open(dir, identity, settings.clone(), store.seq(), calibration)?;
    for note in &opened.rebuilt {
        tracing::warn!("the index is rebuilt: {note}");
    }
    Ok((Arc::new(opened.index), opened.watermark))
}

/// The watermark to replay from; 0, after clearing, when outbox rows behind it are gone.
fn trusted_watermark(store: &Store, index: &(Arc<Index>, u64)) -> Result<u64, MemoryError> {
    let trimmed = store.read(|tx| tx.setting(SETTING_TRIMMED))?;
    let trimmed = trimmed.and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_be_bytes);
    if index.1 >= trimmed {
        return Ok(index.1);
    }
    index.0.clear()?;
    Ok(0)
}

/// Takes outbox rows away that the newest snapshot of the index has passed.
fn trim_now_and_then(weak: &Weak<Inner>, slot: &IndexSlot) {
    let mut trimmed = 0;
    loop {
        {
            let mut stopping = slot.stopping.lock();
            if !*stopping {
                slot.stop.wait_for(&mut stopping, Duration::from_millis(OUTBOX_TRIM_INTERVAL_MS));
            }
            if *stopping {
                return;
            }
        }
        let Some(inner) = weak.upgrade() else { return };
        let upto = slot.get().stats().snapshot_seq;
        if upto <= trimmed {
            continue;
        }
        let noted = inner.store.write_blocking("note the trim", move |tx| tx.put_setting(SETTING_TRIMMED, &upto.to_be_bytes()));
        match noted.and_then(|()| inner.store.trim_outbox(upto)) {
            Ok(()) => trimmed = upto,
            Err(error) => tracing::debug!(%error, "the outbox was not trimmed"),
        }
    }
}
