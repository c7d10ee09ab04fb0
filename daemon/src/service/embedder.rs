//! `embedder/…`: models that make vectors, listed, added, checked, chosen and removed.
//!
//! What loads a model has a thread of its own, one at a time. Must not know: the configuration's file, how a model runs.

use super::call::{read_params, write_result};
use super::error::{invalid_params, method_not_found};
use crate::caller::Caller;
use crate::memory::{Memory, ModelChoice};
use crate::model::onnx::{Checked, ModelFolder, Shelf, ShelfError};
use crate::store::Store;
use parking_lot::Mutex;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use tiro_schema::record::AuditRecord;
use tiro_schema::wire::embedder::{
    EmbedderAddParams, EmbedderItem, EmbedderListResult, EmbedderNameParams, EmbedderRemoveResult, EmbedderReport,
    EmbedderUseParams, EmbedderUseResult,
};
use tiro_schema::{ErrorKind, ErrorObject};

/// What a person chose, in the configuration's words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EmbedderChoice {
    /// `static`, `onnx` or `openai`.
    pub provider: String,
    /// The server's address.
    pub base_url: Option<String>,
    /// The model's name.
    pub model: Option<String>,
}

/// What writes a choice where the next start finds it, and makes the model of it.
pub trait Chooser: Send + Sync {
    /// Blocks.
    ///
    /// # Errors
    /// Why it cannot be: nothing is then changed.
    fn choose(&self, choice: &EmbedderChoice) -> Result<ModelChoice, String>;
}

/// Everything the verbs work with. Cheap to clone.
#[derive(Clone)]
pub struct Embedders {
    memory: Memory,
    store: Store,
    shelf: Arc<Shelf>,
    chooser: Arc<dyn Chooser>,
    chosen: Arc<Mutex<EmbedderChoice>>,
    /// Model id and dimension of the table that is compiled in.
    table: (String, u32),
    busy: Arc<tokio::sync::Mutex<()>>,
}

impl Embedders {
    /// Of this memory; `chosen` is what the configuration said at the start.
    pub fn new(
        (memory, store): (Memory, Store),
        shelf: Arc<Shelf>,
        chooser: Arc<dyn Chooser>,
        chosen: EmbedderChoice,
        table: (String, u32),
    ) -> Self {
        Embedders { memory, store, shelf, chooser, chosen: Arc::new(Mutex::new(chosen)), table, busy: Arc::default() }
    }

    /// Answers a method of the group `embedder`.
    ///
    /// # Errors
    /// `overloaded` while another one loads a model; what the models say; `methodNotFound` for a name that is not built.
    pub async fn dispatch(&self, method: &str, params: Value, caller: Caller) -> Result<Value, ErrorObject> {
        if method == "embedder/list" {
            let _: tiro_schema::wire::daemon::NoParams = read_params(params)?;
            let this = self.clone();
            return write_result(off_thread(move || Ok(this.list())).await?);
        }
        let known = ["embedder/add", "embedder/check", "embedder/use", "embedder/remove"].contains(&method);
        if !known {
            return Err(method_not_found(method));
        }
        let Ok(_busy) = self.busy.clone().try_lock_owned() else {
            return Err(ErrorObject::new(ErrorKind::Overloaded, "a model is being added, checked, chosen or removed just now"));
        };
        let answer = match method {
            "embedder/add" => write_result(self.add(read_params(params)?).await?),
            "embedder/check" => write_result(self.check(read_params(params)?).await?),
            "embedder/use" => write_result(self.choose(read_params(params)?).await?),
            _ => write_result(self.remove(read_params(params)?).await?),
        };
        if answer.is_ok() {
            let (at_ms, actor) = (self.store.now_ms(), caller.actor.clone());
            self.store.audit_read(AuditRecord { at_ms, method: method.to_owned(), actor, ..AuditRecord::default() });
        }
        answer
    }

    fn list(&self) -> EmbedderListResult {
        let embedding = self.memory.embedding_state();
        let chosen = self.chosen.lock().clone();
        let table = EmbedderItem {
            name: "static".to_owned(),
            provider: "static".to_owned(),
            in_use: chosen.provider == "static",
            dimension: Some(self.table.1),
            location: Some(format!("compiled in ({})", self.table.0)),
            ..EmbedderItem::default()
        };
        let added = self.shelf.all().into_iter().map(|(name, folder)| self.added(&name, folder));
        let server = (chosen.provider == "openai").then(|| EmbedderItem {
            name: "openai".to_owned(),
            provider: "openai".to_owned(),
            in_use: true,
            location: embedding.as_ref().map(|state| state.location.clone()).or(chosen.base_url.clone()),
            trouble: embedding.as_ref().and_then(|state| state.trouble.clone()),
            ..EmbedderItem::default()
        });
        EmbedderListResult { items: std::iter::once(table).chain(added).chain(server).collect(), embedding }
    }

    fn added(&self, name: &str, folder: Result<ModelFolder, String>) -> EmbedderItem {
        let mut item = EmbedderItem {
            name: name.to_owned(),
            provider: "onnx".to_owned(),
            in_use: self.is_in_use(name),
            ..EmbedderItem::default()
        };
        match folder {
            Err(why) => item.trouble = Some(why),
            Ok(folder) => {
                let size = |(file, _): (String, u64)| std::fs::metadata(folder.path.join(file)).map_or(0, |file| file.len());
                item.dimension = Some(folder.manifest.dimension);
                item.kind = Some(folder.manifest.kind.clone());
                item.licence = Some(folder.manifest.licence.clone()).filter(|licence| !licence.is_empty());
                item.max_tokens = Some(folder.manifest.max_tokens);
                item.bytes = Some(folder.files().into_iter().map(size).sum());
                item.location = Some(folder.path.display().to_string());
            }
        }
        item
    }

    fn is_in_use(&self, name: &str) -> bool {
        let chosen = self.chosen.lock();
        chosen.provider == "onnx" && chosen.model.as_deref() == Some(name)
    }

    fn report(&self, (folder, checked): (ModelFolder, Checked)) -> EmbedderReport {
        let name = folder.manifest.name.clone();
        EmbedderReport {
            item: self.added(&name, Ok(folder)),
            sentences_per_s: (checked.sentences_per_s * 10.0).round() / 10.0,
            query_ms: (checked.query_ms * 10.0).round() / 10.0,
            library: checked.library.path.display().to_string(),
            library_version: checked.library.version,
        }
    }

    async fn add(&self, params: EmbedderAddParams) -> Result<EmbedderReport, ErrorObject> {
        if !Path::new(&params.path).is_absolute() {
            return Err(invalid_params("path", "not an absolute path: the daemon has another current folder than its caller"));
        }
        let this = self.clone();
        off_thread(move || {
            let EmbedderAddParams { path, name, kind } = params;
            Ok(this.report(this.shelf.add(Path::new(&path), name.as_deref(), kind.as_deref())?))
        })
        .await
    }

    async fn check(&self, params: EmbedderNameParams) -> Result<EmbedderReport, ErrorObject> {
        let this = self.clone();
        off_thread(move || Ok(this.report(this.shelf.check(&params.name)?))).await
    }

    async fn choose(&self, params: EmbedderUseParams) -> Result<EmbedderUseResult, ErrorObject> {
        let EmbedderUseParams { name, base_url, model } = params;
        let is_server = name == "openai";
        if !is_server && (base_url.is_some() || model.is_some()) {
            return Err(invalid_params(if base_url.is_some() { "baseUrl" } else { "model" }, "only openai takes it"));
        }
        let choice = match name.as_str() {
            "static" => EmbedderChoice { provider: name.clone(), ..EmbedderChoice::default() },
            "openai" => EmbedderChoice { provider: name.clone(), base_url, model },
            _ => EmbedderChoice { provider: "onnx".to_owned(), base_url: None, model: Some(name.clone()) },
        };
        let (this, asked) = (self.clone(), choice.clone());
        let model = off_thread(move || {
            // Nothing is chosen that does not run.
            if let Some(name) = asked.model.as_deref().filter(|_| asked.provider == "onnx") {
                this.shelf.check(name)?;
            }
            this.chooser.choose(&asked).map_err(|why| ErrorObject::new(ErrorKind::InvalidParams, why))
        })
        .await?;
        *self.chosen.lock() = choice;
        self.memory.change_model(model).await?;
        crate::heap::give_back();
        Ok(EmbedderUseResult { name, embedding: self.memory.embedding_state() })
    }

    async fn remove(&self, params: EmbedderNameParams) -> Result<EmbedderRemoveResult, ErrorObject> {
        let EmbedderNameParams { name } = params;
        if self.is_in_use(&name) {
            let error = ErrorObject::new(ErrorKind::PolicyDenied, format!("the model {name} is in use"));
            return Err(error.with_hint("choose another one first: tiro model use static"));
        }
        let (this, going) = (self.clone(), name.clone());
        off_thread(move || Ok(this.shelf.remove(&going)?)).await?;
        Ok(EmbedderRemoveResult { name })
    }
}

async fn off_thread<T: Send + 'static>(work: impl FnOnce() -> Result<T, ErrorObject> + Send + 'static) -> Result<T, ErrorObject> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err(ErrorObject::new(ErrorKind::Internal, "the model failed by a fault of the daemon")))
}

impl From<ShelfError> for ErrorObject {
    fn from(error: ShelfError) -> Self {
        let kind = match &error {
            ShelfError::NotFound { .. } => ErrorKind::NotFound,
            ShelfError::Refused(_) => ErrorKind::InvalidParams,
            ShelfError::Disk { source, .. } if source.kind() == std::io::ErrorKind::StorageFull => ErrorKind::StorageFull,
            ShelfError::Disk { .. } => ErrorKind::Internal,
        };
        let object = ErrorObject::new(kind, error.to_string());
        match kind {
            ErrorKind::NotFound => object.with_hint("tiro model list shows what there is; tiro model add FOLDER adds one"),
            ErrorKind::InvalidParams => object.with_hint("nothing was changed: see the message"),
            _ => object,
        }
    }
}
