//! What stands behind the socket: store, memory and agent, opened in this order and closed in the reverse one.
//!
//! Must not know: the socket. It runs beside a socket that answers already, so it says how far it is.

use crate::caller::ProgressSink;
use crate::clock::SharedClock;
use crate::config::Config;
use crate::harness::{Discovery, Harness, ModelSlot};
use crate::memory::{Memory, MemoryError, MemoryOptions};
use crate::model::ApiKey;
use crate::model::discover::{ModelConfig, usual_probes};
use crate::paths::EnvMap;
use crate::session::{SessionError, Sessions};
use crate::store::{OpenError, OpenOptions, Store};
use crate::store::upkeep::Upkeep;
use std::sync::Arc;
use tiro_index::Settings;
use tiro_index::embed::{Embedder, StaticTable, TableError};
use tiro_schema::{ErrorKind, ErrorObject};

/// Folder of the index, in that of the store.
const INDEX_DIR: &str = "index";

/// Everything that answers.
pub struct Rooms {
    /// The store.
    pub store: Store,
    /// The memory.
    pub memory: Memory,
    /// The agent.
    pub harness: Harness,
    upkeep: Option<Upkeep>,
}

/// Why it cannot answer.
#[derive(Debug, thiserror::Error)]
pub enum RoomsError {
    /// The store was refused.
    #[error(transparent)]
    Store(#[from] OpenError),
    /// The embedder's table is not whole.
    #[error("the embedder cannot be used: {0}")]
    Embedder(#[from] TableError),
    /// The index cannot be opened.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// What the last stop left cannot be taken up.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// A thread could not be started, or ended early.
    #[error("a thread of the daemon cannot run: {0}")]
    Thread(String),
}

impl From<RoomsError> for ErrorObject {
    fn from(error: RoomsError) -> Self {
        let message = error.to_string();
        match error {
            RoomsError::Store(OpenError::Store { source, .. }) => ErrorObject { message, ..source.into() },
            RoomsError::Store(OpenError::InUse { .. }) => ErrorObject::new(ErrorKind::StoreReadOnly, message),
            RoomsError::Store(_) => ErrorObject::new(ErrorKind::StoreDamaged, message),
            RoomsError::Memory(error) => ErrorObject { message, ..error.into() },
            RoomsError::Session(error) => ErrorObject { message, ..error.into() },
            RoomsError::Embedder(_) | RoomsError::Thread(_) => ErrorObject::new(ErrorKind::Internal, message),
        }
    }
}

/// Opens everything. `progress` is told stage, done and total.
///
/// # Errors
/// Says what cannot be opened; the store's file is then as it was.
pub async fn open(config: &Config, clock: SharedClock, env: EnvMap, progress: ProgressSink) -> Result<Rooms, RoomsError> {
    let (config, for_store) = (config.clone(), Arc::clone(&clock));
    let discovery = Discovery { config: model_config(&config), env: env.into_iter().collect(), probes: usual_probes(), seed: seed(&clock) };
    let model = tokio::spawn(ModelSlot::find(discovery));
    let opened = tokio::task::spawn_blocking(move || open_store(&config, for_store, &progress));
    let (store, memory, upkeep) = opened.await.map_err(|error| RoomsError::Thread(error.to_string()))??;
    let model = model.await.map_err(|error| RoomsError::Thread(error.to_string()))?;
    let harness = Harness::new(Sessions::new(store.clone(), clock), Arc::new(memory.clone()), model);
    harness.resume().await?;
    Ok(Rooms { store, memory, harness, upkeep: Some(upkeep) })
}

fn open_store(config: &Config, clock: SharedClock, progress: &ProgressSink) -> Result<(Store, Memory, Upkeep), RoomsError> {
    let embedder: Arc<dyn Embedder> = Arc::new(StaticTable::new()?);
    let for_store = Arc::clone(progress);
    let mut options = OpenOptions {
        clock: Arc::clone(&clock),
        embedder: (embedder.model_id().to_owned(), u32::try_from(embedder.dimension()).unwrap_or(u32::MAX)),
        progress: Arc::new(move |stage, done, total| for_store(stage, done, Some(total))),
        ..OpenOptions::default()
    };
    if let Some(mib) = config.file.limits.store_cache_mib {
        options.cache_bytes = mib << 20;
    }
    let dir = &config.places.data_dir;
    let store = Store::open(dir, options)?;
    let mut index = Settings::default();
    index.lexical_weight = config.file.memory.lexical_weight.unwrap_or(index.lexical_weight);
    index.graph_vectors_min = config.file.memory.hnsw_from.unwrap_or(index.graph_vectors_min);
    let options = MemoryOptions { index_dir: dir.join(INDEX_DIR), embedder, clock, decay: Default::default(), index };
    let memory = Memory::open(store.clone(), options, &|stage, done, total| progress(stage, done, Some(total)))?;
    let upkeep = Upkeep::start(store.clone()).map_err(|error| RoomsError::Thread(error.to_string()))?;
    Ok((store, memory, upkeep))
}

/// The `[model]` section as the model room reads it.
fn model_config(config: &Config) -> ModelConfig {
    let section = &config.file.model;
    ModelConfig {
        provider: section.provider.clone(),
        base_url: section.base_url.clone(),
        name: section.name.clone(),
        api_key_env: section.api_key_env.clone(),
        api_key: section.api_key.as_deref().map(ApiKey::new),
        script: section.script.as_ref().map(|script| config.places.config_dir.join(script)),
        context_tokens: section.context_tokens,
        max_output_tokens: section.max_output_tokens,
    }
}

/// Retries of daemons started at different times do not fall together.
fn seed(clock: &SharedClock) -> u64 {
    clock.now_ms().cast_unsigned() ^ (u64::from(std::process::id()) << 32)
}

impl Rooms {
    /// Ends turns and closes index and store in order.
    pub async fn close(&self) {
        self.harness.stop().await;
        let (store, memory) = (self.store.clone(), self.memory.clone());
        let closed = tokio::task::spawn_blocking(move || {
            memory.close();
            store.close()
        });
        match closed.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::error!(%error, "the store was not closed in order"),
            Err(error) => tracing::error!(%error, "closing the store failed"),
        }
    }
}
