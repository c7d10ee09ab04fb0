//! The rooms behind the socket, opened in their order and closed in reverse.
//!
//! Opening blocks (a store may have to be checked, an index replayed), so it has a thread of its own and tells how far it is.
//! Must not know: sockets, requests.

use crate::config::Config;
use crate::embedders::{self, Choices};
use crate::harness::{AgentSettings, Discovery, Harness, ModelSlot};
use crate::limits::{AUDIT_ROWS_DEFAULT, AUDIT_ROWS_MIN};
use crate::memory::{DecaySettings, Memory, MemoryError, MemoryOptions, PurgeJob};
use crate::model::discover::{ModelConfig, usual_probes};
use crate::model::{ApiKey, Reranker, ScriptedReranker};
use crate::run::Seams;
use crate::service::{EmbedderChoice, Embedders, Service, StoreCare};
use crate::session::{SessionError, Sessions};
use crate::store::{
    AuditRetention, Checks, INDEX_FOLDER, OpenError, OpenOptions, Progress, Store, StoreLock, Upkeep, restore_folder,
};
use crate::tool::ScriptedTools;
use std::path::Path;
use std::sync::Arc;
use tiro_index::Settings;
use tiro_index::embed::{Embedder, StaticTable, TableError};
use tiro_schema::wire::store::RestoreResult;
use tiro_schema::{ErrorKind, ErrorObject};

/// Why the rooms did not open.
#[derive(Debug, thiserror::Error)]
pub enum RoomsError {
    /// The store was refused, and is as it was.
    #[error(transparent)]
    Store(#[from] OpenError),
    /// The embedder that is compiled in cannot be read.
    #[error("the built-in embedding table cannot be read: {0}")]
    Embedder(#[from] TableError),
    /// The index could not be opened or brought up to date.
    #[error("the index cannot be opened: {0}; it can be removed, it is made again from the store")]
    Memory(#[from] MemoryError),
    /// A thread could not be started.
    #[error("cannot start the upkeep of the store: {0}")]
    Upkeep(std::io::Error),
    /// What the last stop left of turns cannot be taken up.
    #[error("turns of the last run cannot be taken up: {0}")]
    Session(#[from] SessionError),
    /// A fault of the daemon.
    #[error("opening the store failed by a fault of the daemon; its log says more")]
    Panicked,
}

impl RoomsError {
    /// The exit code of `tirod`.
    pub fn exit_code(&self) -> u8 {
        match self {
            RoomsError::Store(OpenError::InUse { .. }) => 7,
            RoomsError::Store(OpenError::Foreign { .. } | OpenError::Newer { .. } | OpenError::Damaged { .. }) => 3,
            _ => 1,
        }
    }

    /// What clients that wait for the store are told.
    pub fn to_object(&self) -> ErrorObject {
        let kind = match self.exit_code() {
            3 => ErrorKind::StoreDamaged,
            _ => ErrorKind::Internal,
        };
        let object = ErrorObject::new(kind, self.to_string());
        match self {
            RoomsError::Store(OpenError::Newer { .. }) => object.with_hint("update tirod: the store was left as it is"),
            RoomsError::Store(OpenError::Foreign { .. }) => {
                object.with_hint("the file was left as it is: move it away, or use another TIRO_HOME")
            }
            RoomsError::Store(OpenError::Damaged { backup: None, .. }) => object.with_hint(
                "no backup was found: tiro store restore PATH takes one from elsewhere; to begin anew, move the store's folder away",
            ),
            _ => object,
        }
    }
}

/// The rooms.
pub struct Rooms {
    /// What answers requests.
    pub service: Arc<Service>,
    store: Store,
    memory: Memory,
    upkeep: Upkeep,
    purge: PurgeJob,
}

impl Rooms {
    /// Opens them all, in the folder that was locked. Blocks.
    ///
    /// # Errors
    /// Why the store was refused.
    pub fn open(config: &Config, seams: &Seams, lock: StoreLock, progress: Progress) -> Result<Rooms, RoomsError> {
        let runtime = tokio::runtime::Handle::current();
        let model = runtime.spawn(ModelSlot::find(discovery(config, seams)));
        let embedder: Arc<dyn Embedder> = Arc::new(StaticTable::new()?);
        let options = store_options(config, seams, embedder.as_ref(), progress.clone());
        let store = Store::open_locked(&config.places.data_dir, lock, options)?;
        let shelf = embedders::shelf(config, &seams.env);
        let choices = Choices::new(config, &seams.env, shelf.clone());
        let options = MemoryOptions {
            index_dir: config.places.data_dir.join(INDEX_FOLDER),
            embedder: embedder.clone(),
            model: choices.of(&config.file.embedding),
            reranker: reranker(config),
            clock: seams.clock.clone(),
            decay: DecaySettings::default(),
            index: index_settings(config),
        };
        let memory = Memory::open(store.clone(), options, &|stage, done, total| progress(stage, done, total))?;
        memory.follow(&runtime);
        memory.keep_retention(&runtime);
        let upkeep = Upkeep::start(store.clone()).map_err(RoomsError::Upkeep)?;
        let model = runtime.block_on(model).map_err(|_| RoomsError::Panicked)?;
        let sessions = Sessions::new(store.clone(), seams.clock.clone());
        let settings = AgentSettings { steps: config.file.agent.steps, scripted_tools: scripted_tools(config) };
        let harness = Harness::new(sessions, Arc::new(memory.clone()), model, settings);
        runtime.block_on(harness.resume())?;
        let section = &config.file.embedding;
        let chosen = EmbedderChoice {
            provider: section.provider.clone(),
            base_url: section.base_url.clone(),
            model: section.model.clone(),
        };
        let table = (embedder.model_id().to_owned(), u32::try_from(embedder.dimension()).unwrap_or(u32::MAX));
        let folders = vec![config.places.data_dir.clone(), config.places.state_dir.clone()];
        let purge = PurgeJob::start(memory.clone(), runtime.clone()).map_err(RoomsError::Upkeep)?;
        let service = Arc::new(Service {
            store: store.clone(),
            memory: memory.clone(),
            harness,
            care: StoreCare::new(store.clone(), memory.clone(), folders),
            embedders: Embedders::new((memory.clone(), store.clone()), shelf, Arc::new(choices), chosen, table),
            embedder: embedder.model_id().to_owned(),
        });
        Ok(Rooms { service, store, memory, upkeep, purge })
    }

    /// Closes them all: what is derived first, the store last. Blocks.
    pub fn close(self) {
        drop(self.purge);
        drop(self.upkeep);
        self.memory.close();
        if let Err(error) = self.store.close() {
            tracing::warn!(%error, "the store was not closed in order");
        }
    }
}

/// How the store is opened.
fn store_options(config: &Config, seams: &Seams, embedder: &dyn Embedder, progress: Progress) -> OpenOptions {
    let mut options = OpenOptions {
        clock: seams.clock.clone(),
        backend: seams.backend.clone(),
        embedder: (embedder.model_id().to_owned(), u32::try_from(embedder.dimension()).unwrap_or(u32::MAX)),
        progress,
        checks: Checks::On,
        audit: AuditRetention {
            rows: config.file.audit.rows.unwrap_or(AUDIT_ROWS_DEFAULT).max(AUDIT_ROWS_MIN),
            days: config.file.audit.days,
        },
        ..OpenOptions::default()
    };
    if let Some(mib) = config.file.limits.store_cache_mib {
        options.cache_bytes = mib << 20;
    }
    options
}

/// Puts a backup in the place of a store that is refused, with no daemon on it: the one asked for, or the newest good one. Blocks.
///
/// # Errors
/// Why not; the store is then as it was.
pub fn restore(config: &Config, seams: &Seams, asked: Option<&Path>) -> Result<RestoreResult, RoomsError> {
    let embedder = StaticTable::new()?;
    let options = store_options(config, seams, &embedder, Arc::new(|_, _, _| {}));
    let report = restore_folder(&config.places.data_dir, asked, &options)?;
    Ok(RestoreResult {
        from: report.from.display().to_string(),
        set_aside: report.set_aside.map(|path| path.display().to_string()).unwrap_or_default(),
        memories: report.memories,
        epoch: report.epoch,
    })
}

/// Where a model is looked for: the `[model]` section, then the environment, then loopback.
fn discovery(config: &Config, seams: &Seams) -> Discovery {
    let section = &config.file.model;
    let config = ModelConfig {
        provider: section.provider.clone(),
        base_url: section.base_url.clone(),
        name: section.name.clone(),
        api_key_env: section.api_key_env.clone(),
        api_key: section.api_key.as_deref().map(ApiKey::new),
        script: section.script.as_ref().map(|script| config.places.config_dir.join(script)),
        context_tokens: section.context_tokens,
        max_output_tokens: section.max_output_tokens,
    };
    // Retries of daemons that started together do not fall together.
    let seed = seams.clock.now_ms().cast_unsigned() ^ (u64::from(std::process::id()) << 32);
    let env = seams.env.iter().filter_map(|(name, value)| Some((name.clone(), value.to_str()?.to_owned()))).collect();
    Discovery { config, env, probes: usual_probes(), seed }
}

/// What orders the best hits anew, as `[reranker]` says: nothing, unless a script is named.
fn reranker(config: &Config) -> Option<Arc<dyn Reranker>> {
    let section = &config.file.reranker;
    match (section.provider.as_deref()?, &section.script) {
        ("scripted", Some(script)) => match ScriptedReranker::from_file(&config.places.config_dir.join(script)) {
            Ok(reranker) => return Some(Arc::new(reranker)),
            Err(error) => tracing::warn!(%error, "no re-ranker"),
        },
        ("scripted", None) => tracing::warn!("no re-ranker: provider `scripted` needs `script`"),
        (other, _) => tracing::warn!("no re-ranker: provider `{other}` is unknown; known: scripted"),
    }
    None
}

/// Tools that play a script, where `[agent] toolScript` names one.
fn scripted_tools(config: &Config) -> Arc<ScriptedTools> {
    let Some(script) = &config.file.agent.tool_script else { return Arc::default() };
    match ScriptedTools::from_file(&config.places.config_dir.join(script)) {
        Ok(tools) => return Arc::new(tools),
        Err(error) => tracing::warn!(%error, "no scripted tools"),
    }
    Arc::default()
}

fn index_settings(config: &Config) -> Settings {
    let told = &config.file.memory;
    let usual = Settings::default();
    Settings {
        lexical_weight: told.lexical_weight.unwrap_or(usual.lexical_weight).clamp(0.0, 1.0),
        graph_vectors_min: told.hnsw_from.unwrap_or(usual.graph_vectors_min),
        ..usual
    }
}
