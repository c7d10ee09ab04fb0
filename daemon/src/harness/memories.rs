//! The seam between the harness and the memory room: what a turn needs of memories, and no more.
//!
//! Must not know: how memories are kept or found.

use crate::caller::Caller;
use crate::memory::{Memory, MemoryError, Right};
use std::pin::Pin;
use tiro_schema::wire::memory::Strength;
use tiro_schema::wire::memory::{ContextResult, RecallParams, RememberParams, RememberResult};
use tiro_schema::{DEFAULT_SPACE, ErrorObject};

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

/// What a recall of no space gives.
fn nothing() -> ContextResult {
    ContextResult {
        text: String::new(),
        tokens: 0,
        ids: Vec::new(),
        standing: Vec::new(),
        recall_id: uuid::Uuid::new_v4().to_string(),
        strength: Strength::None.into(),
        below_threshold: 0,
        over_budget: 0,
    }
}

impl Memories for Memory {
    fn context(&self, caller: Caller, params: RecallParams) -> MemoryFuture<ContextResult> {
        let memory = self.clone();
        // A session may read more than who speaks in it now.
        let mut params = params;
        let may = |name: &String| memory.may_named(&caller.actor, name, Right::Read);
        if let Some(spaces) = &mut params.spaces {
            spaces.retain(may);
        }
        Box::pin(async move {
            if params.spaces.as_ref().is_some_and(Vec::is_empty) {
                return Ok(nothing());
            }
            memory.context(&caller, params).await.map_err(ErrorObject::from)
        })
    }

    fn remember(&self, caller: Caller, params: RememberParams) -> MemoryFuture<RememberResult> {
        let memory = self.clone();
        Box::pin(async move {
            let space = params.space.clone().unwrap_or_else(|| DEFAULT_SPACE.to_owned());
            if !memory.may_named(&caller.actor, &space, Right::Write) {
                memory.note_denial(&caller, "memory/remember", true, Some(&space), Right::Write.name());
                return Err(MemoryError::Denied { space, right: Right::Write.name() }.into());
            }
            memory.remember(&caller, params).await.map_err(ErrorObject::from)
        })
    }

    fn without_forgotten(&self, text: &str) -> Result<Option<String>, ErrorObject> {
        Memory::without_forgotten(self, text).map_err(ErrorObject::from)
    }

    fn is_forgotten(&self, id: &str) -> Result<bool, ErrorObject> {
        Memory::is_forgotten(self, id).map_err(ErrorObject::from)
    }
}
