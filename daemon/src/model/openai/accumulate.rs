//! Chunks in, events out, a whole reply at the end: pure. It must not know sockets or time.

use std::collections::HashSet;

use serde_json::Value;

use super::failure;
use super::wire::{self, Chunk, Delta, WireCall};
use crate::limits;
use crate::model::assemble::{AssembleError, Assembler, CallDelta};
use crate::model::error::{ErrorClass, ModelError};
use crate::model::provider::ModelEvent;
use crate::model::reply::{FinishReason, ModelReply, OpaqueBlock, Usage};

/// One reply while it comes in.
#[derive(Debug)]
pub(super) struct Accumulator {
    origin: String,
    text: String,
    thinking: String,
    reasoning_details: Vec<Value>,
    opaque_bytes: usize,
    assembler: Assembler,
    usage: Usage,
    finish: Option<FinishReason>,
    is_done: bool,
    /// True once something went out that a person may have seen.
    pub was_shown: bool,
}

impl Accumulator {
    /// `origin` is the model's name, put on opaque blocks.
    pub fn new(origin: &str) -> Accumulator {
        Accumulator {
            origin: origin.to_owned(),
            text: String::new(),
            thinking: String::new(),
            reasoning_details: Vec::new(),
            opaque_bytes: 0,
            assembler: Assembler::default(),
            usage: Usage::default(),
            finish: None,
            is_done: false,
            was_shown: false,
        }
    }

    /// Whether the end marker came; nothing after it counts.
    pub fn is_done(&self) -> bool {
        self.is_done
    }

    /// Whether the provider said why the reply ended.
    pub fn has_finish(&self) -> bool {
        self.finish.is_some()
    }

    /// Takes the data of one event.
    pub fn take(&mut self, data: &str) -> Result<Vec<ModelEvent>, ModelError> {
        let data = data.trim();
        if data.is_empty() || self.is_done {
            return Ok(Vec::new());
        }
        if data == "[DONE]" {
            self.is_done = true;
            return Ok(Vec::new());
        }
        let chunk: Chunk = serde_json::from_str(data)
            .map_err(|error| ModelError::new(ErrorClass::Malformed, format!("a stream event is not a chunk: {error}")))?;
        if let Some(error) = chunk.error {
            return Err(failure::from_body(None, &error));
        }
        let mut events = Vec::new();
        for choice in chunk.choices.unwrap_or_default() {
            if choice.index.unwrap_or(0) != 0 {
                continue;
            }
            if let Some(delta) = choice.delta.or(choice.message) {
                self.take_delta(delta, &mut events)?;
            }
            let finish = choice.finish_reason.as_deref().and_then(wire::finish_reason);
            self.finish = finish.or(self.finish);
        }
        if let Some(usage) = chunk.usage {
            self.usage = usage.into();
            events.push(ModelEvent::Usage(self.usage));
        }
        self.was_shown |= events.iter().any(ModelEvent::is_visible);
        Ok(events)
    }

    /// Ends the reply. Without an end marker or a finish reason it was cut.
    pub fn finish(self, taken: &HashSet<String>) -> Result<ModelReply, ModelError> {
        if !self.is_done && self.finish.is_none() {
            return Err(self.fail(ModelError::new(ErrorClass::CutShort, "the stream ended before its end marker")));
        }
        let finish = self.finish.unwrap_or_default();
        let mut opaque = Vec::new();
        if !self.reasoning_details.is_empty() {
            let body = Value::Array(self.reasoning_details).to_string();
            opaque.push(OpaqueBlock { kind: "reasoning_details".to_owned(), origin: self.origin, body });
        }
        Ok(ModelReply {
            text: self.text,
            thinking: self.thinking,
            opaque,
            tool_calls: self.assembler.finish(finish == FinishReason::Length, taken),
            usage: self.usage,
            finish,
        })
    }

    /// `error` with what was shown so far.
    pub fn fail(self, mut error: ModelError) -> ModelError {
        error.partial_text = self.text;
        error
    }

    fn take_delta(&mut self, delta: Delta, events: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        let thinking = delta.thinking();
        if !thinking.is_empty() {
            grow(&mut self.thinking, thinking)?;
            events.push(ModelEvent::ThinkingDelta(thinking.to_owned()));
        }
        let text = delta.text();
        if !text.is_empty() {
            grow(&mut self.text, &text)?;
            events.push(ModelEvent::TextDelta(text));
        }
        for block in delta.reasoning_details.unwrap_or_default() {
            let opaque = self.opaque_block("reasoning_details", &block)?;
            events.push(ModelEvent::Opaque(opaque));
            self.reasoning_details.push(block);
        }
        for call in delta.tool_calls.unwrap_or_default() {
            self.take_call(call, events)?;
        }
        Ok(())
    }

    fn take_call(&mut self, call: WireCall, events: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        let function = call.function.unwrap_or_default();
        let fragment = function.fragment();
        let delta = CallDelta {
            index: call.index,
            id: call.id.as_deref(),
            name: function.name.as_deref(),
            arguments: fragment.as_deref(),
        };
        let (position, is_named_now) = self.assembler.push(delta).map_err(too_much)?;
        if let Some(extra) = call.extra_content.filter(|e| !e.is_null()) {
            let block = self.opaque_block("extra_content", &extra)?;
            events.push(ModelEvent::Opaque(block.clone()));
            self.assembler.attach(position, block);
        }
        if is_named_now {
            let name = self.assembler.name(position).to_owned();
            events.push(ModelEvent::ToolCallStarted { position, name });
        }
        Ok(())
    }

    fn opaque_block(&mut self, kind: &str, body: &Value) -> Result<OpaqueBlock, ModelError> {
        let body = body.to_string();
        self.opaque_bytes += body.len();
        if self.opaque_bytes > limits::MODEL_OPAQUE_BYTES_MAX {
            return Err(over("opaque blocks"));
        }
        Ok(OpaqueBlock { kind: kind.to_owned(), origin: self.origin.clone(), body })
    }
}

fn grow(text: &mut String, more: &str) -> Result<(), ModelError> {
    if text.len() + more.len() > limits::MODEL_TEXT_BYTES_MAX {
        return Err(over("text"));
    }
    text.push_str(more);
    Ok(())
}

fn over(what: &str) -> ModelError {
    ModelError::new(ErrorClass::CutShort, format!("the reply's {what} passed its limit; it was cut")).into_final()
}

fn too_much(error: AssembleError) -> ModelError {
    ModelError::new(ErrorClass::CutShort, error.to_string()).into_final()
}

#[cfg(test)]
#[path = "accumulate_tests.rs"]
mod tests;
