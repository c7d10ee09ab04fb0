//! The seam between the harness and the memory room: what a turn needs of memories, and no more.
//!
//! Must not know: how memories are kept or found.

use crate::caller::Caller;
use crate::memory::Memory;
use std::pin::Pin;
use tiro_schema::ErrorObject;
use tiro_schema::wire::memory::{ContextResult, RecallParams, RememberParams, RememberResult};

/// What a verb of memory answers, when it does.
pub type MemoryFuture<R> = Pin<Box<dyn Future<Output = Result<R, ErrorObject>> + Send>>;

/// The memory verbs a turn uses.
pub trait Memories: Send + Sync {
    /// `memory/context`.
    fn context(&self, caller: Caller, params: RecallParams) -> MemoryFuture<ContextResult>;

    /// `memory/remember`.
    fn remember(&self, caller: Caller, params: RememberParams) -> MemoryFuture<RememberResult>;

    /// A text that holds what `memory/context` gave earlier, without what was forgotten since; none when nothing was.
    ///
    /// # Errors
    /// When it cannot be found out.
    fn without_forgotten(&self, text: &str) -> Result<Option<String>, ErrorObject>;

    /// Whether a memory whose id begins so is forgotten.
    ///
    /// # Errors
    /// When it cannot be found out.
    fn is_forgotten(&self, id: &str) -> Result<bool, ErrorObject>;
}

impl Memories for Memory {
    fn context(&self, caller: Caller, params: RecallParams) -> MemoryFuture<ContextResult> {
        let memory = self.clone();
        Box::pin(async move { memory.context(&caller, params).await.map_err(ErrorObject::from) })
    }

    fn remember(&self, caller: Caller, params: RememberParams) -> MemoryFuture<RememberResult> {
        let memory = self.clone();
        Box::pin(async move { memory.remember(&caller, params).await.map_err(ErrorObject::from) })
    }

    fn without_forgotten(&self, text: &str) -> Result<Option<String>, ErrorObject> {
        Memory::without_forgotten(self, text).map_err(ErrorObject::from)
    }

    fn is_forgotten(&self, id: &str) -> Result<bool, ErrorObject> {
        Memory::is_forgotten(self, id).map_err(ErrorObject::from)
    }
}
