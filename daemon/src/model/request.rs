//! What is asked of a model: messages, tools, sampling. It must not know any provider's spelling of these.

use serde_json::Value;

use super::reply::{OpaqueBlock, ToolCall};

/// What a model call is for; providers may sample differently by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Phase {
    /// Choosing what to do next: answer, or which tool.
    #[default]
    Choosing,
    /// Concluding from what is there, without tools.
    Concluding,
}

/// One message of the context, oldest first.
#[derive(Debug, Clone, PartialEq)]
pub enum ChatMessage {
    /// Instructions of the daemon.
    System(String),
    /// What the user, or the daemon on the user's side, said.
    User(String),
    /// What the model said earlier.
    Assistant {
        /// Its text; may be empty when it only called tools.
        text: String,
        /// Its calls, in order.
        tool_calls: Vec<ToolCall>,
        /// Provider-opaque blocks that go back as they came.
        opaque: Vec<OpaqueBlock>,
    },
    /// The result of one call.
    ToolResult {
        /// The id of the call it answers.
        call_id: String,
        /// The tool's name.
        name: String,
        /// What the model reads.
        text: String,
    },
}

/// A tool as it is offered to the model.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDefinition {
    /// `[A-Za-z0-9_-]{1,64}`.
    pub name: String,
    /// Action, object and limit in two lines at most.
    pub description: String,
    /// JSON Schema of the arguments object.
    pub parameters: Value,
}

/// One model call.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ChatRequest {
    /// The model's name; the configured one if `None`.
    pub model: Option<String>,
    /// The whole context, oldest first.
    pub messages: Vec<ChatMessage>,
    /// Tools on offer; empty means none may be called.
    pub tools: Vec<ToolDefinition>,
    /// Sampling temperature, sent where the provider takes it.
    pub temperature: Option<f32>,
    /// Most tokens of the reply; the provider's own limit if `None`.
    pub max_output_tokens: Option<u32>,
    /// What this call is for.
    pub phase: Phase,
}

impl ChatRequest {
    /// Ids of every call in the context: a new call must not take one of these.
    pub fn call_ids(&self) -> impl Iterator<Item = &str> {
        self.messages.iter().flat_map(|m| match m {
            ChatMessage::Assistant { tool_calls, .. } => tool_calls.iter().map(|c| c.id.as_str()).collect::<Vec<_>>(),
            _ => Vec::new(),
        })
    }
}
