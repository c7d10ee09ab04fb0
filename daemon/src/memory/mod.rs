//! Memory: what is kept, found, changed and forgotten. One file a verb, each with one public method of [`Memory`].
//!
//! A verb takes wire params and gives wire results. It reads and writes through the store, and tells the index of every change
//! once it is durable, before the call is answered. Must not know: sockets, sessions, models.

mod archive;
mod audit;
mod block;
mod catch_up;
mod compare;
mod conflicts;
mod context;
mod cursor;
mod documents;
mod draft;
mod error;
mod export;
mod feedback;
mod filter;
mod fingerprint;
mod forget;
mod gate;
mod get;
mod history;
mod import;
mod import_line;
mod import_update;
mod ledger;
mod list;
mod merge;
mod merge_seen;
mod model_leg;
mod open;
mod passages;
mod past;
mod patterns;
mod pin;
mod place;
mod purge;
mod recall;
mod recall_plan;
mod remember;
mod remember_many;
mod rerank;
mod resolve;
mod resolve_conflict;
mod retention;
mod rules;
pub mod secrets;
mod show;
mod space;
mod space_update;
mod standing;
mod stats;
mod supersede;
mod times;
mod undo;
mod update;
mod verify;
mod when;

pub use catch_up::IndexProgress;
pub use error::MemoryError;
pub use model_leg::ModelChoice;
pub use open::MemoryOptions;
pub use purge::PurgeJob;
pub use rules::Right;
pub use secrets::find as find_secret;

use crate::clock::SharedClock;
use crate::store::Store;
use std::sync::Arc;
use tiro_index::Index;
use tiro_index::embed::Embedder;

/// Half-lives and floor of decay. Ages are counted by the index.
#[derive(Debug, Clone, PartialEq)]
pub struct DecaySettings {
    /// What is left of a score at any age, 0 to 1.
    pub floor: f32,
    /// Half-life in days of identity, preference and constraint.
    pub lasting_days: u32,
    /// Half-life in days of facts.
    pub fact_days: u32,
    /// Half-life in days of events.
    pub event_days: u32,
    /// Half-life in days of everything else.
    pub other_days: u32,
}

impl Default for DecaySettings {
    fn default() -> Self {
        DecaySettings { floor: 0.8, lasting_days: 730, fact_days: 365, event_days: 180, other_days: 90 }
    }
}

/// The memory of one store. Cheap to clone.
#[derive(Clone)]
pub struct Memory {
    inner: Arc<Inner>,
}

struct Inner {
    store: Store,
    index: Arc<open::IndexSlot>,
    embedder: Arc<dyn Embedder>,
    chosen: parking_lot::RwLock<model_leg::Chosen>,
    reranker: Option<Arc<dyn crate::model::Reranker>>,
    clock: SharedClock,
    decay: DecaySettings,
    stats: stats::Cache,
    /// Permits of [`Memory::in_place`].
    in_place: tokio::sync::Semaphore,
    past: past::Past,
    gate: gate::Gate,
    feedback: feedback::Feedback,
    rules: rules::Rules,
    /// Told when the retention of a space changes.
    retention: Arc<tokio::sync::Notify>,
}

impl Memory {
    fn store(&self) -> &Store {
        &self.inner.store
    }

    fn index(&self) -> Arc<Index> {
        self.inner.index.get()
    }

    fn embedder(&self) -> &dyn Embedder {
        &*self.inner.embedder
    }

    /// The leg of the model beside the built-in table, where there is one.
    fn leg(&self) -> Option<Arc<model_leg::ModelLeg>> {
        self.inner.chosen.read().leg.clone()
    }

    fn now_ms(&self) -> i64 {
        self.inner.clock.now_ms()
    }

    /// Runs work that reads much or computes long on a thread made for it.
    async fn blocking<R: Send + 'static>(
        &self,
        work: impl FnOnce(&Memory) -> Result<R, MemoryError> + Send + 'static,
    ) -> Result<R, MemoryError> {
        let memory = self.clone();
        tokio::task::spawn_blocking(move || work(&memory)).await.unwrap_or(Err(MemoryError::Lost))
    }

    /// The same for work of a few milliseconds: it runs where it is asked for, and the runtime gives this thread's other tasks to another one.
    /// Handing work over and its outcome back takes as long as a search of a small store. Only so many at once, so that threads for
    /// everything else are left when the store keeps them waiting; the others are handed over.
    async fn in_place<R: Send + 'static>(
        &self,
        work: impl FnOnce(&Memory) -> Result<R, MemoryError> + Send + 'static,
    ) -> Result<R, MemoryError> {
        match self.inner.in_place.try_acquire() {
            Ok(_permit) => tokio::task::block_in_place(|| work(self)),
            Err(_) => self.blocking(work).await,
        }
    }
}
