//! Talking to a language model: one trait, the OpenAI chat-completions dialect, a scripted double, and the choice between them.
//!
//! Must not know: sessions, memories, tools' meanings, the socket. It is given messages and returns a stream of events
//! that always ends with exactly one [`ModelEvent::Done`] or [`ModelEvent::Failed`].

mod assemble;
pub mod discover;
mod embed;
mod error;
mod openai;
mod provider;
mod reply;
mod request;
mod rerank;
mod retry;
pub mod scripted;
mod secret;
mod sse;

pub use assemble::{Assembler, CallDelta};
pub use embed::onnx;
pub use embed::{Embedding, OpenAiEmbedder, OpenAiEmbedderConfig, TextEmbedder, TextSide};
pub use error::{ErrorClass, ModelError};
pub use openai::{OpenAi, OpenAiConfig, Timeouts};
pub use provider::{ModelEvent, ModelStream, Provider};
pub use reply::{FinishReason, MalformedArgs, ModelReply, OpaqueBlock, ToolCall, Usage};
pub use request::{ChatMessage, ChatRequest, Phase, ToolDefinition};
pub use rerank::{Reranker, Scores, ScriptedReranker};
pub use retry::Backoff;
pub use scripted::Scripted;
pub use secret::{ApiKey, display_url};
