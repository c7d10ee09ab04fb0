//! The harness: it performs what the decision layer decides. Context, model calls, tools, time, and the line of turns of
//! every session.
//!
//! Must not know: sockets. What a turn does next is decided in `agent`; what is kept is written by `session`.

mod aside;
mod clean;
mod items;
mod lanes;
mod memories;
mod model;
mod pad;
mod prompt;
mod questions;
mod recover;
mod results;
mod steer;
mod tools;
mod turn;
mod verbs;

pub use memories::{Memories, MemoryFuture};
pub use model::{Discovery, ModelSlot};
pub use questions::MaySee;

use crate::session::Sessions;
use crate::tool::ScriptedTools;
use lanes::Lanes;
use questions::Questions;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The agent of this daemon. Cheap to clone.
#[derive(Clone)]
pub struct Harness {
    inner: Arc<Inner>,
}

/// What a person may set about turns.
#[derive(Debug, Clone, Default)]
pub struct AgentSettings {
    /// Model calls with tools of a turn whose budget does not say; by the kind of its task if `None`.
    pub steps: Option<u32>,
    /// Tools that play a script, beside the built-in ones.
    pub scripted_tools: Arc<ScriptedTools>,
}

struct Inner {
    settings: AgentSettings,
    sessions: Sessions,
    memories: Arc<dyn Memories>,
    model: ModelSlot,
    lanes: Lanes,
    questions: Questions,
    stopping: CancellationToken,
}

impl Harness {
    /// Over sessions, memories and the model. Needs a tokio runtime; [`Harness::resume`] takes up what a stop left.
    pub fn new(sessions: Sessions, memories: Arc<dyn Memories>, model: ModelSlot, settings: AgentSettings) -> Harness {
        let (lanes, questions, stopping) = (Lanes::default(), Questions::default(), CancellationToken::new());
        Harness { inner: Arc::new(Inner { settings, sessions, memories, model, lanes, questions, stopping }) }
    }

    /// The sessions.
    pub fn sessions(&self) -> &Sessions {
        &self.inner.sessions
    }

    /// The model.
    pub fn model(&self) -> &ModelSlot {
        &self.inner.model
    }

    /// Whether a session has a running turn.
    pub fn is_running(&self, session: u64) -> bool {
        self.inner.lanes.is_running(session)
    }
}

#[cfg(test)]
mod tests;
