//! The vector leg of a model beside the built-in table: one that is remote or slow, so that no write and no recall ever waits for it long.
//!
//! A write commits with the table's vectors alone; the model's follow (`follow`), are kept in the store under the model's number, and serve
//! in the table's place wherever they are. A recall asks the model for its query's vector under a time limit (`query`); where it gets
//! none, words and the table serve, and the answer says so. Must not know: HTTP, how vectors are compared.

mod follow;
mod query;
mod vectors;

use super::Memory;
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
        match &self.inner.model {
            ModelChoice::Embedder(..) => {
                if let Some(leg) = &self.inner.leg {
                    runtime.spawn(follow::run(Arc::downgrade(&self.inner), Arc::clone(leg)));
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

    /// How far the vectors of the model beside the built-in table are; none where none was chosen.
    pub fn embedding_state(&self) -> Option<EmbeddingState> {
        let (leg, standing) = match (&self.inner.model, &self.inner.leg) {
            (ModelChoice::Embedder(..), Some(leg)) => (leg, leg.standing.lock().clone()),
            (ModelChoice::Broken(why), _) => {
                let trouble = Some(why.clone());
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
