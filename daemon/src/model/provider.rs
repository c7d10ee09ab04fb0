//! The seam between the loop and any model: a trait, its events, and the stream that carries them.
//! It must not know HTTP or scripts.

use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::error::{ErrorClass, ModelError};
use super::reply::{ModelReply, OpaqueBlock, Usage};
use super::request::ChatRequest;
use crate::limits;

/// What comes out of a model call, in order; the last one is `Done` or `Failed`.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelEvent {
    /// More visible text.
    TextDelta(String),
    /// More reasoning.
    ThinkingDelta(String),
    /// A call began; its name is known, its arguments are still coming.
    ToolCallStarted {
        /// Position among the calls of this reply.
        position: usize,
        /// The tool's name.
        name: String,
    },
    /// A block to keep byte for byte came in.
    Opaque(OpaqueBlock),
    /// Token counts.
    Usage(Usage),
    /// An attempt failed before anything was shown; another follows after `delay_ms`.
    Retrying {
        /// Why.
        class: ErrorClass,
        /// Wait before the next attempt, milliseconds.
        delay_ms: u64,
    },
    /// The whole reply.
    Done(Box<ModelReply>),
    /// The call failed.
    Failed(Box<ModelError>),
}

impl ModelEvent {
    /// True for the two that end a stream.
    pub fn is_end(&self) -> bool {
        matches!(self, ModelEvent::Done(_) | ModelEvent::Failed(_))
    }

    /// True if a person may have seen it: after this, no retry.
    pub fn is_visible(&self) -> bool {
        matches!(self, ModelEvent::TextDelta(_) | ModelEvent::ThinkingDelta(_) | ModelEvent::ToolCallStarted { .. })
    }
}

/// A model that answers requests with streams.
pub trait Provider: Send + Sync {
    /// Begins a call. Never fails at once: a failure is the stream's only event. Needs a tokio runtime.
    fn chat(&self, request: ChatRequest) -> ModelStream;

    /// The model's name, for status, usage and `OpaqueBlock::origin`.
    fn model(&self) -> &str;

    /// The provider's kind as in the configuration: `openai`, `scripted`.
    fn kind(&self) -> &'static str;
}

/// The events of one call, bounded: a slow reader slows the model down. Dropping it aborts the call.
#[derive(Debug)]
pub struct ModelStream {
    events: mpsc::Receiver<ModelEvent>,
    task: JoinHandle<()>,
    ended: bool,
}

/// Where a provider's task puts its events.
#[derive(Debug, Clone)]
pub struct EventSink {
    sender: mpsc::Sender<ModelEvent>,
}

impl EventSink {
    /// Hands an event over, waiting for room; `false` if nobody listens any more.
    pub async fn send(&self, event: ModelEvent) -> bool {
        self.sender.send(event).await.is_ok()
    }
}

impl ModelStream {
    /// Runs `work` as a task that feeds the stream.
    pub fn spawn<F, W>(work: F) -> ModelStream
    where
        F: FnOnce(EventSink) -> W,
        W: Future<Output = ()> + Send + 'static,
    {
        let (sender, events) = mpsc::channel(limits::MODEL_EVENTS_QUEUED_MAX);
        let task = tokio::spawn(work(EventSink { sender }));
        ModelStream { events, task, ended: false }
    }

    /// The next event; `None` after the end. Cancel-safe.
    pub async fn next(&mut self) -> Option<ModelEvent> {
        if self.ended {
            return None;
        }
        let event = self.events.recv().await.unwrap_or_else(|| {
            let lost = ModelError::new(ErrorClass::CutShort, "the model call ended without a result");
            ModelEvent::Failed(Box::new(lost.into_final()))
        });
        self.ended = event.is_end();
        Some(event)
    }

    /// Reads to the end and returns the outcome alone.
    pub async fn finish(mut self) -> Result<ModelReply, ModelError> {
        loop {
            match self.next().await {
                Some(ModelEvent::Done(reply)) => return Ok(*reply),
                Some(ModelEvent::Failed(error)) => return Err(*error),
                Some(_) => {}
                None => return Err(ModelError::new(ErrorClass::CutShort, "the stream was read past its end")),
            }
        }
    }
}

impl Drop for ModelStream {
    fn drop(&mut self) {
        self.task.abort();
    }
}
