//! What a model answered, assembled. It must not know how it came over the wire.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Why the provider says the reply ended. Advice only: what counts is whether calls are whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FinishReason {
    /// The model was done.
    #[default]
    Stop,
    /// It wants its calls run.
    ToolCalls,
    /// The output limit was hit.
    Length,
    /// The provider withheld the rest.
    ContentFilter,
    /// A reason this daemon does not know.
    Other,
}

/// Tokens as the provider counted them; zero where it did not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// Tokens of the prompt.
    pub input_tokens: u64,
    /// Tokens of the reply, reasoning included.
    pub output_tokens: u64,
    /// Those of the prompt that came from the provider's cache.
    pub cached_input_tokens: u64,
    /// Those of the reply that were reasoning.
    pub reasoning_tokens: u64,
}

impl Usage {
    /// Adds another call's tokens.
    pub fn add(&mut self, other: Usage) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cached_input_tokens = self.cached_input_tokens.saturating_add(other.cached_input_tokens);
        self.reasoning_tokens = self.reasoning_tokens.saturating_add(other.reasoning_tokens);
    }
}

/// A block only its provider can read (signed thinking, reasoning items): kept and sent back as it came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpaqueBlock {
    /// The provider's own name of the block, the field it goes back under.
    pub kind: String,
    /// Which model made it; it goes back to no other.
    pub origin: String,
    /// The block's JSON text.
    pub body: String,
}

/// Arguments that are no JSON object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{reason}")]
pub struct MalformedArgs {
    /// What is wrong, in words the model can act on.
    pub reason: String,
    /// The text as it came.
    pub raw: String,
    /// True if the text merely ends too early: the output limit, not a mistake.
    pub truncated: bool,
}

/// One call the model asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// Never empty, unique in the context the call was made in.
    pub id: String,
    /// The tool's name as the model wrote it.
    pub name: String,
    /// The arguments object, or why there is none.
    pub arguments: Result<Value, MalformedArgs>,
    /// Provider-opaque companion of this very call (such as a thought signature), JSON text: kept or dropped with it.
    pub opaque: Option<OpaqueBlock>,
}

/// A whole reply.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelReply {
    /// Visible text.
    pub text: String,
    /// Reasoning the provider showed; never sent back as text.
    pub thinking: String,
    /// Blocks to keep byte for byte.
    pub opaque: Vec<OpaqueBlock>,
    /// Calls in the order they were opened.
    pub tool_calls: Vec<ToolCall>,
    /// Tokens.
    pub usage: Usage,
    /// The provider's reason.
    pub finish: FinishReason,
}

impl ModelReply {
    /// True if the output limit cut this reply: said by the provider, or seen on a call that is not whole.
    pub fn is_cut(&self) -> bool {
        self.finish == FinishReason::Length || self.tool_calls.iter().any(|c| matches!(&c.arguments, Err(m) if m.truncated))
    }

    /// True if it holds neither text nor a call.
    pub fn is_empty(&self) -> bool {
        self.text.trim().is_empty() && self.tool_calls.is_empty()
    }
}
