//! The shapes of chat-completions chunks, read leniently: what is absent or null is nothing.
//! It must not know what is done with them.

use serde::Deserialize;
use serde_json::Value;

use crate::model::reply::{FinishReason, Usage};

/// One event of the stream, or the whole of an answer that was not streamed.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Chunk {
    pub choices: Option<Vec<Choice>>,
    pub usage: Option<WireUsage>,
    pub error: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Choice {
    pub index: Option<u64>,
    pub delta: Option<Delta>,
    pub message: Option<Delta>,
    pub finish_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Delta {
    pub content: Option<Value>,
    pub refusal: Option<String>,
    pub reasoning_content: Option<String>,
    pub reasoning: Option<String>,
    pub reasoning_details: Option<Vec<Value>>,
    pub tool_calls: Option<Vec<WireCall>>,
}

impl Delta {
    /// The visible text: a string, or the text parts of an array.
    pub fn text(&self) -> String {
        let text = match &self.content {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(parts)) => parts.iter().filter_map(|p| p.get("text")?.as_str()).collect(),
            _ => String::new(),
        };
        text + self.refusal.as_deref().unwrap_or_default()
    }

    /// The shown reasoning; servers that send it under both names send it twice.
    pub fn thinking(&self) -> &str {
        let first = self.reasoning_content.as_deref().filter(|t| !t.is_empty());
        first.or(self.reasoning.as_deref()).unwrap_or_default()
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireCall {
    pub index: Option<u64>,
    pub id: Option<String>,
    pub function: Option<WireFunction>,
    pub extra_content: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireFunction {
    pub name: Option<String>,
    pub arguments: Option<Value>,
}

impl WireFunction {
    /// The fragment of the arguments; some servers send the object itself.
    pub fn fragment(&self) -> Option<String> {
        match self.arguments.as_ref()? {
            Value::String(text) => Some(text.clone()),
            Value::Null => None,
            other => Some(other.to_string()),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireUsage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<PromptDetails>,
    completion_tokens_details: Option<CompletionDetails>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PromptDetails {
    cached_tokens: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CompletionDetails {
    reasoning_tokens: Option<u64>,
}

impl From<WireUsage> for Usage {
    fn from(wire: WireUsage) -> Usage {
        Usage {
            input_tokens: wire.prompt_tokens.unwrap_or(0),
            output_tokens: wire.completion_tokens.unwrap_or(0),
            cached_input_tokens: wire.prompt_tokens_details.and_then(|d| d.cached_tokens).unwrap_or(0),
            reasoning_tokens: wire.completion_tokens_details.and_then(|d| d.reasoning_tokens).unwrap_or(0),
        }
    }
}

/// Reads `finish_reason`; `None` while the reply goes on.
pub(super) fn finish_reason(text: &str) -> Option<FinishReason> {
    Some(match text {
        "" => return None,
        "stop" | "eos" | "end_turn" => FinishReason::Stop,
        "tool_calls" | "function_call" | "tool_use" => FinishReason::ToolCalls,
        "length" | "max_tokens" => FinishReason::Length,
        "content_filter" => FinishReason::ContentFilter,
        _ => FinishReason::Other,
    })
}
