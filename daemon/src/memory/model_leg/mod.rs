//! The vector leg of a model beside the built-in table: one that is remote or slow, so that no write and no recall ever waits for it long.
//!
//! A write commits with the table's vectors alone; the model's follow (`follow`), are kept in the store under the model's number, and serve
//! in the table's place wherever they are. A recall asks the model for its query's vector under a time limit (`query`); where it gets
//! none, words and the table serve, and the answer says so. Must not know: HTTP, how vectors are compared.

mod follow;
mod query;
mod vectors;

use super::{Memory, MemoryError};
use crate::limits::EMBED_CHANGED_MAX;
use crate::model::TextEmbedder;
use parking_lot::{Mutex, RwLock};
use query::Queries;
use std::collections::BTreeSet;
use std::sync::Arc;
use tiro_schema::wire::daemon::EmbeddingState;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

pub(super) use query::Asked;

/// Which model makes vectors beside the built-in table.
#[derive(Clone, Default)]
pub enum ModelChoice {
    /// None; vectors of earlier ones are removed.
    #[default]
    None,
    /// One that a person chose and that cannot be used: why. Nothing of earlier ones is touched.
    Broken(String),
    /// This one, with the share of the lexical leg where it serves.
    Embedder(Arc<dyn TextEmbedder>, f32),
}

/// What was chosen, and the leg of it.
#[derive(Clone)]
pub(super) struct Chosen {
    choice: ModelChoice,
    pub leg: Option<Arc<ModelLeg>>,
}

impl Chosen {
    pub fn new(choice: ModelChoice) -> Self {
        let leg = match &choice {
            ModelChoice::Embedder(embedder, lexical_weight) => Some(ModelLeg::new(Arc::clone(embedder), *lexical_weight)),
            ModelChoice::None | ModelChoice::Broken(_) => None,
        };
        Chosen { choice, leg }
    }
}

/// The leg of one model.
pub(super) struct ModelLeg {
    embedder: Arc<dyn TextEmbedder>,
    lexical_weight: f32,
    /// What the index is told of the model once its background is known.
    known: RwLock<Option<tiro_index::ModelLeg>>,
    standing: Mutex<Standing>,
    work: Mutex<Work>,
    woken: Notify,
    queries: Mutex<Queries>,
    stop: CancellationToken,
    /// What runs behind.
    follower: Mutex<Option<tokio::task::JoinHandle<()>>>,
}

/// How far the leg is.
#[derive(Debug, Clone, Default)]
struct Standing {
    /// Every memory was looked at since the beginning: what lacks a vector was written since.
    caught_up: bool,
    /// Memories whose vectors were refused.
    refused: u64,
    /// Why it does not go on, or goes on more slowly.
    trouble: Option<String>,
    /// It does not go on until the next start.
    given_up: bool,
}

/// What there is to do besides what is new.
#[derive(Debug, Default)]
struct Work {
    /// Memories that changed.
    changed: BTreeSet<u64>,
    /// All are to be looked at again.
    all: bool,
    /// The store is another one: the model is new to it.
    anew: bool,
}

impl ModelLeg {
    pub fn new(embedder: Arc<dyn TextEmbedder>, lexical_weight: f32) -> Arc<Self> {
        Arc::new(Self {
            embedder,
            lexical_weight,
            known: RwLock::new(None),
            standing: Mutex::default(),
            work: Mutex::default(),
            woken: Notify::new(),
            queries: Mutex::default(),
            stop: CancellationToken::new(),
            follower: Mutex::default(),
        })
    }

    /// What an index has to know of it, once it is known.
    pub fn known(&self) -> Option<tiro_index::ModelLeg> {
        self.known.read().clone()
    }

    /// A memory was made: its key is higher than any before.
    pub fn made(&self) {
        self.woken.notify_one();
    }

    /// A memory was changed.
    pub fn changed(&self, key: u64) {
        {
            let mut work = self.work.lock();
            if work.changed.len() < EMBED_CHANGED_MAX {
                work.changed.insert(key);
            } else {
                work.all = true;
                work.changed.clear();
            }
        }
        self.woken.notify_one();
    }

    /// The index is another one: what the store has is to be put into it.
    pub fn look_again(&self) {
        self.work.lock().all = true;
        self.woken.notify_one();
    }

    /// The store is another one.
    pub fn begin_anew(&self) {
        *self.known.write() = None;
        self.standing.lock().caught_up = false;
        self.work.lock().anew = true;
        self.woken.notify_one();
    }

    /// Ends what runs behind.
    pub fn stop(&self) {
        self.stop.cancel();
    }
}

impl Memory {
    /// Sets going what runs behind: vectors of the model beside the built-in table, and the removal of those of models not used any more.
    pub fn follow(&self, runtime: &tokio::runtime::Handle) {
        let Chosen { choice, leg } = self.inner.chosen.read().clone();
        match choice {
            ModelChoice::Embedder(..) => {
                if let Some(leg) = leg {
                    let follower = runtime.spawn(follow::run(Arc::downgrade(&self.inner), Arc::clone(&leg)));
                    *leg.follower.lock() = Some(follower);
                }
            }
            ModelChoice::None => {
                let memory = self.clone();
                runtime.spawn(async move {
                    if let Err(error) = memory.use_no_model().await {
                        tracing::warn!(%error, "vectors of models that are not used any more were not removed; the next start tries again");
                    }
                });
            }
            ModelChoice::Broken(why) => tracing::warn!("no embedder beside the built-in table: {why}"),
        }
    }

    /// From now on another model makes vectors beside the built-in table, or none. What the one before left is removed behind the answers;
    /// the table serves until the new one's are there.
    ///
    /// # Errors
    /// The store takes no writes: the one before goes on.
    pub async fn change_model(&self, choice: ModelChoice) -> Result<(), MemoryError> {
        let before = self.inner.chosen.read().clone();
        if let Some(leg) = &before.leg {
            leg.stop();
            let follower = leg.follower.lock().take();
            if let Some(follower) = follower {
                let _ = follower.await;
            }
        }
        let (memory, chosen) = (self.clone(), Chosen::new(choice));
        // On the writer's thread, where no index is exchanged and no vector of the one before is kept meanwhile.
        let changed = self.store().write("change the model", move |_| {
            *memory.inner.chosen.write() = chosen.clone();
            memory.index().use_model(None);
            Ok::<_, MemoryError>(())
        });
        let changed = changed.await;
        if changed.is_err() {
            *self.inner.chosen.write() = Chosen::new(before.choice);
        }
        self.follow(&tokio::runtime::Handle::current());
        Ok(changed?)
    }

    /// How far the vectors of the model beside the built-in table are; none where none was chosen.
    pub fn embedding_state(&self) -> Option<EmbeddingState> {
        let Chosen { choice, leg } = self.inner.chosen.read().clone();
        let (leg, standing) = match (choice, leg) {
            (ModelChoice::Embedder(..), Some(leg)) => {
                let standing = leg.standing.lock().clone();
                (leg, standing)
            }
            (ModelChoice::Broken(why), _) => {
                let trouble = Some(why);
                return Some(EmbeddingState { state: "unusable".to_owned(), trouble, ..EmbeddingState::default() });
            }
            _ => return None,
        };
        let index = self.index();
        let known = leg.known.read().is_some();
        let state = match &standing {
            Standing { given_up: true, .. } => "givenUp",
            Standing { trouble: Some(_), .. } => "waiting",
            _ if !known => "preparing",
            Standing { caught_up: false, .. } => "embedding",
            _ => "ready",
        };
        Some(EmbeddingState {
            model: leg.embedder.id().to_owned(),
            location: leg.embedder.location().to_owned(),
            state: state.to_owned(),
            done: index.model_vectors() as u64,
            total: index.standing(None).documents as u64,
            refused: standing.refused,
            trouble: standing.trouble,
        })
    }
}
