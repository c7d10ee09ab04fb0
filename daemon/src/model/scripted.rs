//! A model that plays a script: for tests, replay and demonstrations. Deterministic; it must not know HTTP, and waits
//! for nothing but its reader.
//!
//! A script is JSON: `{"model"?: "name", "replies": [reply, …]}`. A reply is
//! `{"when"?: "part of the newest user text", "thinking"?: [..], "chunks"?: [..] or "text"?: "..", "toolCalls"?: [{"id"?,
//! "name", "arguments": object or raw text}], "opaque"?: [{kind, origin, body}], "usage"?: {..}, "finish"?: "stop",
//! "error"?: {"class", "message"?}, "hang"?: true, "repeat"?: true}`. The first unused reply that fits is played; `error` comes after the chunks,
//! `hang` never ends by itself, `repeat` may be played again. When none fits, the call fails.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::Value;

use super::assemble::{Assembler, CallDelta};
use super::error::{ErrorClass, ModelError};
use super::provider::{EventSink, ModelEvent, ModelStream, Provider};
use super::reply::{FinishReason, ModelReply, OpaqueBlock, Usage};
use super::request::{ChatMessage, ChatRequest};
use crate::limits;

/// A whole script.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// The name the model goes by.
    #[serde(default = "default_name")]
    pub model: String,
    /// Replies in the order they are tried.
    pub replies: Vec<ScriptedReply>,
}

/// One reply of a script.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ScriptedReply {
    /// Played only if the newest user text contains this.
    pub when: Option<String>,
    /// Reasoning, piece by piece.
    pub thinking: Vec<String>,
    /// Text, piece by piece.
    pub chunks: Vec<String>,
    /// Text in one piece.
    pub text: Option<String>,
    /// Calls.
    pub tool_calls: Vec<ScriptedCall>,
    /// Opaque blocks.
    pub opaque: Vec<OpaqueBlock>,
    /// Tokens.
    pub usage: Usage,
    /// The finish reason; by default what fits the content.
    pub finish: Option<FinishReason>,
    /// The call fails after what was said.
    pub error: Option<ScriptedError>,
    /// After what was said, nothing more ever comes.
    pub hang: bool,
    /// May be played any number of times.
    pub repeat: bool,
}

/// One call of a scripted reply.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedCall {
    /// Minted if absent.
    #[serde(default)]
    pub id: Option<String>,
    /// The tool.
    pub name: String,
    /// An object, or a string that is taken as the raw text.
    #[serde(default)]
    pub arguments: Value,
}

/// A scripted failure.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedError {
    /// Its class.
    pub class: ErrorClass,
    /// Its message.
    #[serde(default)]
    pub message: String,
}

/// A script that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// The file cannot be read.
    #[error("cannot read the script {path}: {source}")]
    Unreadable {
        /// The file.
        path: String,
        /// The cause.
        source: std::io::Error,
    },
    /// Longer than [`limits::MODEL_SCRIPT_BYTES_MAX`].
    #[error("the script {path} is longer than {} bytes", limits::MODEL_SCRIPT_BYTES_MAX)]
    TooLong {
        /// The file.
        path: String,
    },
    /// Not a script.
    #[error("not a script: {0}")]
    Malformed(#[from] serde_json::Error),
}

/// The provider.
#[derive(Debug)]
pub struct Scripted {
    script: Arc<Script>,
    used: Mutex<HashSet<usize>>,
}

impl Scripted {
    /// Plays `script`.
    pub fn new(script: Script) -> Scripted {
        Scripted { script: Arc::new(script), used: Mutex::default() }
    }

    /// Reads a script from JSON text.
    pub fn from_json(text: &str) -> Result<Scripted, ScriptError> {
        Ok(Scripted::new(serde_json::from_str(text)?))
    }

    /// Reads a script from a file. Blocks.
    pub fn from_file(path: &Path) -> Result<Scripted, ScriptError> {
        let shown = || path.display().to_string();
        let unreadable = |source| ScriptError::Unreadable { path: shown(), source };
        if std::fs::metadata(path).map_err(unreadable)?.len() > limits::MODEL_SCRIPT_BYTES_MAX {
            return Err(ScriptError::TooLong { path: shown() });
        }
        Scripted::from_json(&std::fs::read_to_string(path).map_err(unreadable)?)
    }

    fn pick(&self, request: &ChatRequest) -> Option<ScriptedReply> {
        let newest = request.messages.iter().rev().find_map(|m| match m {
            ChatMessage::User(text) => Some(text.as_str()),
            _ => None,
        });
        let fits = |reply: &ScriptedReply| match &reply.when {
            Some(part) => newest.unwrap_or_default().contains(part.as_str()),
            None => true,
        };
        let mut used = self.used.lock();
        let at = (0..self.script.replies.len()).find(|at| !used.contains(at) && fits(&self.script.replies[*at]))?;
        let reply = self.script.replies[at].clone();
        if !reply.repeat {
            used.insert(at);
        }
        Some(reply)
    }
}

impl Provider for Scripted {
    fn chat(&self, request: ChatRequest) -> ModelStream {
        let picked = self.pick(&request);
        ModelStream::spawn(move |sink| async move {
            let outcome = match picked {
                Some(reply) => play(reply, &request, &sink).await,
                None => Err(ModelError::new(ErrorClass::BadRequest, "the script has no reply left that fits")),
            };
            let event = match outcome {
                Ok(reply) => ModelEvent::Done(Box::new(reply)),
                Err(error) => ModelEvent::Failed(Box::new(error)),
            };
            sink.send(event).await;
        })
    }

    fn model(&self) -> &str {
        &self.script.model
    }

    fn kind(&self) -> &'static str {
        "scripted"
    }
}

async fn play(script: ScriptedReply, request: &ChatRequest, sink: &EventSink) -> Result<ModelReply, ModelError> {
    let mut reply = ModelReply { usage: script.usage, opaque: script.opaque, ..ModelReply::default() };
    for piece in script.thinking {
        reply.thinking.push_str(&piece);
        sink.send(ModelEvent::ThinkingDelta(piece)).await;
    }
    for piece in script.chunks.into_iter().chain(script.text) {
        reply.text.push_str(&piece);
        sink.send(ModelEvent::TextDelta(piece)).await;
    }
    let mut assembler = Assembler::default();
    for (position, call) in script.tool_calls.into_iter().enumerate() {
        let raw = match &call.arguments {
            Value::Null => String::new(),
            Value::String(raw) => raw.clone(),
            other => other.to_string(),
        };
        let delta =
            CallDelta { index: Some(position as u64), id: call.id.as_deref(), name: Some(&call.name), arguments: Some(&raw) };
        assembler.push(delta).map_err(|e| ModelError::new(ErrorClass::CutShort, e.to_string()))?;
        sink.send(ModelEvent::ToolCallStarted { position, name: call.name }).await;
    }
    if script.hang {
        std::future::pending::<()>().await;
    }
    if let Some(error) = script.error {
        let mut failed = ModelError::new(error.class, error.message);
        failed.partial_text = reply.text;
        return Err(failed);
    }
    let natural = if assembler.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
    reply.finish = script.finish.unwrap_or(natural);
    let taken = request.call_ids().map(str::to_owned).collect();
    reply.tool_calls = assembler.finish(reply.finish == FinishReason::Length, &taken);
    sink.send(ModelEvent::Usage(reply.usage)).await;
    Ok(reply)
}

fn default_name() -> String {
    "scripted".to_owned()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asks(text: &str) -> ChatRequest {
        ChatRequest { messages: vec![ChatMessage::User(text.to_owned())], ..ChatRequest::default() }
    }

    // LOOP-5
    #[tokio::test]
    async fn a_script_is_played_in_order_and_by_what_was_asked() {
        let script = json!({"replies": [
            {"when": "weather", "text": "sunny", "repeat": true},
            {"chunks": ["a", "b"], "thinking": ["hm"], "usage": {"inputTokens": 3, "outputTokens": 2}},
            {"toolCalls": [{"name": "f"}, {"id": "x", "name": "g", "arguments": "{oops"}]},
            {"chunks": ["half"], "error": {"class": "cutShort"}},
        ]});
        let model = Scripted::from_json(&script.to_string()).unwrap();
        let mut stream = model.chat(asks("hello"));
        let mut events = Vec::new();
        while let Some(event) = stream.next().await {
            events.push(event);
        }
        assert_eq!(events[0], ModelEvent::ThinkingDelta("hm".to_owned()));
        assert_eq!(events[1], ModelEvent::TextDelta("a".to_owned()));
        let Some(ModelEvent::Done(reply)) = events.pop() else { panic!("no reply") };
        assert_eq!((reply.text.as_str(), reply.usage.input_tokens), ("ab", 3));

        for _ in 0..2 {
            assert_eq!(model.chat(asks("the weather?")).finish().await.unwrap().text, "sunny");
        }
        let calls = model.chat(asks("go")).finish().await.unwrap().tool_calls;
        assert_eq!(calls[0].arguments, Ok(json!({})));
        assert!(calls[1].arguments.is_err() && calls[1].id == "x");
        let error = model.chat(asks("go")).finish().await.unwrap_err();
        assert_eq!((error.class, error.partial_text.as_str()), (ErrorClass::CutShort, "half"));
        assert_eq!(model.chat(asks("go")).finish().await.unwrap_err().class, ErrorClass::BadRequest);
    }

    #[test]
    fn a_script_with_an_unknown_field_is_refused() {
        let error = Scripted::from_json(r#"{"replies": [{"txet": "x"}]}"#).unwrap_err();
        assert!(error.to_string().contains("txet"), "{error}");
    }
}
