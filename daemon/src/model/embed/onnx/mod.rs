//! Embedding models that run within the daemon: an ONNX graph and its tokenizer from a folder, by ONNX Runtime's library.
//!
//! Library and model are opened by the first call, off the threads that answer, and one call of the graph runs at a time: a query waits for
//! one bounded call of what runs behind, never for a batch. Who stops waiting stops the work at the next call. Must not know: memories.

mod folder;
mod library;
mod loaded;
mod pool;
mod shelf;

use super::{Embedding, TextEmbedder, TextSide};
use crate::limits::ONNX_THREADS_MAX;
use crate::model::error::{ErrorClass, ModelError};
use loaded::{Loaded, Tokens, calls};
use std::sync::Arc;
use tokio::sync::{OnceCell, Semaphore};

pub use folder::{Manifest, ModelFolder};
pub use library::{LIBRARY_VARIABLE, Library, LibraryPlaces, open_library};
pub use shelf::{Checked, Shelf, ShelfError};

/// What every call of an embedder shares with the work it leaves behind.
struct Shared {
    folder: ModelFolder,
    library: LibraryPlaces,
    loaded: OnceCell<Arc<Loaded>>,
    /// The graph's one seat.
    seat: Arc<Semaphore>,
}

/// An embedder that runs a model of a folder.
pub struct OnnxEmbedder {
    shared: Arc<Shared>,
    id: String,
    location: String,
}

impl OnnxEmbedder {
    /// Of a folder that was added. Nothing is read yet; within a runtime it is read behind the caller.
    pub fn new(folder: ModelFolder, library: LibraryPlaces) -> Self {
        let (id, location) = (folder.id(), folder.path.display().to_string());
        let shared = Arc::new(Shared { folder, library, loaded: OnceCell::new(), seat: Arc::new(Semaphore::new(1)) });
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let early = Arc::clone(&shared);
            // Whoever calls next is told how it went.
            runtime.spawn(async move { early.loaded().await.map(|_| ()) });
        }
        OnnxEmbedder { shared, id, location }
    }

    async fn call(&self, side: TextSide, texts: &[String]) -> Result<Vec<Vec<f32>>, ModelError> {
        let loaded = Shared::load(&self.shared).await?;
        let manifest = &self.shared.folder.manifest;
        let prefix = if side == TextSide::Query { &manifest.query_prefix } else { &manifest.passage_prefix };
        let texts: Vec<String> = texts.iter().map(|text| format!("{prefix}{text}")).collect();
        let reader = Arc::clone(&loaded);
        let tokens: Vec<Arc<Tokens>> =
            off_thread(move || reader.tokens(&texts)).await.map_err(refused)?.into_iter().map(Arc::new).collect();
        let mut vectors = vec![Vec::new(); tokens.len()];
        for call in calls(&tokens) {
            let seat = Arc::clone(&self.shared.seat).acquire_owned().await.map_err(|_| out_of_order("it was ended"))?;
            let (runner, own): (_, Vec<Arc<Tokens>>) =
                (Arc::clone(&loaded), call.iter().map(|n| Arc::clone(&tokens[*n])).collect());
            let made = off_thread(move || {
                let _seat = seat;
                runner.vectors(&own.iter().map(Arc::as_ref).collect::<Vec<_>>())
            });
            call.into_iter().zip(made.await.map_err(refused)?).for_each(|(n, vector)| vectors[n] = vector);
        }
        Ok(vectors)
    }
}

impl Shared {
    /// The model, loaded once; loading goes on when nobody waits for it any more.
    async fn load(this: &Arc<Self>) -> Result<Arc<Loaded>, ModelError> {
        if let Some(loaded) = this.loaded.get() {
            return Ok(Arc::clone(loaded));
        }
        let shared = Arc::clone(this);
        let loading = tokio::spawn(async move { shared.loaded().await });
        loading
            .await
            .unwrap_or_else(|_| Err("loading it failed by a fault of the daemon".to_owned()))
            .map_err(|why| out_of_order(&why))
    }

    async fn loaded(&self) -> Result<Arc<Loaded>, String> {
        let (folder, library) = (self.folder.clone(), self.library.clone());
        let load = || {
            off_thread(move || {
                open_library(&library)?;
                let loaded = Loaded::read(&folder, threads()).map(Arc::new);
                crate::heap::give_back();
                loaded
            })
        };
        self.loaded.get_or_try_init(load).await.cloned()
    }
}

impl TextEmbedder for OnnxEmbedder {
    fn id(&self) -> &str {
        &self.id
    }

    fn location(&self) -> &str {
        &self.location
    }

    fn embed<'a>(&'a self, side: TextSide, texts: &'a [String]) -> Embedding<'a> {
        Box::pin(self.call(side, texts))
    }
}

/// Half of the cores, at least one: the other half answers.
pub fn threads() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    (cores / 2).clamp(1, ONNX_THREADS_MAX)
}

async fn off_thread<T: Send + 'static>(work: impl FnOnce() -> Result<T, String> + Send + 'static) -> Result<T, String> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err("the work failed by a fault of the daemon".to_owned()))
}

/// The model or its library: no text is at fault.
fn out_of_order(why: &str) -> ModelError {
    ModelError::new(ErrorClass::Overloaded, why).into_final()
}

/// Perhaps the text.
fn refused(why: String) -> ModelError {
    ModelError::new(ErrorClass::Malformed, why)
}
