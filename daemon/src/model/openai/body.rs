//! Writes a request in the chat-completions dialect. It must not send a field the dialect does not know, except
//! blocks the same model gave us.

use std::sync::atomic::Ordering;

use serde_json::{Map, Value, json};

use super::Quirks;
use crate::model::reply::{OpaqueBlock, ToolCall};
use crate::model::request::{ChatMessage, ChatRequest};

/// The request's body.
pub(super) fn build(model: &str, request: &ChatRequest, quirks: &Quirks) -> Value {
    let mut body = json!({"model": model, "stream": true, "messages": messages(model, &request.messages)});
    if !quirks.no_stream_options.load(Ordering::Relaxed) {
        body["stream_options"] = json!({"include_usage": true});
    }
    if !request.tools.is_empty() {
        let tool = |t: &crate::model::ToolDefinition| {
            json!({"type": "function", "function":
                {"name": t.name, "description": t.description, "parameters": t.parameters}})
        };
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    if let (Some(temperature), false) = (request.temperature, quirks.no_temperature.load(Ordering::Relaxed)) {
        // Through text, so that 0.1 is not sent as 0.10000000149.
        body["temperature"] = temperature.to_string().parse::<f64>().unwrap_or(0.0).into();
    }
    if let Some(most) = request.max_output_tokens {
        let newer = quirks.max_completion_tokens.load(Ordering::Relaxed);
        body[if newer { "max_completion_tokens" } else { "max_tokens" }] = most.into();
    }
    body
}

/// Neighbours of one role become one message: many chat templates want the roles to alternate.
fn messages(model: &str, messages: &[ChatMessage]) -> Vec<Value> {
    let mut out: Vec<Value> = Vec::with_capacity(messages.len());
    for message in messages {
        let next = match message {
            ChatMessage::System(text) => json!({"role": "system", "content": text}),
            ChatMessage::User(text) => json!({"role": "user", "content": text}),
            ChatMessage::Assistant { text, tool_calls, opaque } => match assistant(model, text, tool_calls, opaque) {
                Some(next) => next,
                None => continue,
            },
            ChatMessage::ToolResult { call_id, text, .. } => {
                json!({"role": "tool", "tool_call_id": call_id, "content": text})
            }
        };
        match out.last_mut() {
            Some(last) if next["role"] == last["role"] && is_plain(last) && is_plain(&next) => {
                let joined = format!("{}\n\n{}", text_of(last), text_of(&next));
                last["content"] = joined.into();
            }
            _ => out.push(next),
        }
    }
    out
}

fn is_plain(message: &Value) -> bool {
    message.as_object().is_some_and(|m| m.len() == 2)
}

fn text_of(message: &Value) -> &str {
    message["content"].as_str().unwrap_or_default()
}

fn assistant(model: &str, text: &str, calls: &[ToolCall], opaque: &[OpaqueBlock]) -> Option<Value> {
    if text.is_empty() && calls.is_empty() {
        return None;
    }
    let mut message = Map::new();
    message.insert("role".to_owned(), "assistant".into());
    message.insert("content".to_owned(), if text.is_empty() { Value::Null } else { text.into() });
    if !calls.is_empty() {
        message.insert("tool_calls".to_owned(), calls.iter().map(|c| call(model, c)).collect());
    }
    for block in opaque {
        give_back(model, block, &mut message);
    }
    Some(Value::Object(message))
}

fn call(model: &str, call: &ToolCall) -> Value {
    // Servers parse the arguments of the history and fail on what is no object, so broken text is shown inside one.
    let arguments = match &call.arguments {
        Ok(value) => value.to_string(),
        Err(malformed) => json!({"malformed_arguments": malformed.raw}).to_string(),
    };
    let mut out = Map::new();
    out.insert("id".to_owned(), call.id.as_str().into());
    out.insert("type".to_owned(), "function".into());
    out.insert("function".to_owned(), json!({"name": call.name, "arguments": arguments}));
    if let Some(block) = &call.opaque {
        give_back(model, block, &mut out);
    }
    Value::Object(out)
}

fn give_back(model: &str, block: &OpaqueBlock, into: &mut Map<String, Value>) {
    if block.origin != model {
        return;
    }
    if let Ok(body) = serde_json::from_str(&block.body) {
        into.insert(block.kind.clone(), body);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::model::reply::MalformedArgs;
    use crate::model::{Phase, ToolDefinition};

    fn a_call(origin: &str) -> ToolCall {
        let body = "{\"google\":{\"thought_signature\":\"AbC+/=\"}}".to_owned();
        let block = OpaqueBlock { kind: "extra_content".to_owned(), origin: origin.to_owned(), body };
        ToolCall { id: "c1".to_owned(), name: "f".to_owned(), arguments: Ok(json!({"b": 1, "a": 2})), opaque: Some(block) }
    }

    // A7, SES-7
    #[test]
    fn a_request_is_written_in_order_with_nothing_foreign() {
        let reasoning =
            OpaqueBlock { kind: "reasoning_details".to_owned(), origin: "m".to_owned(), body: "[{\"s\":\"x\"}]".to_owned() };
        let request = ChatRequest {
            model: None,
            messages: vec![
                ChatMessage::System("s".to_owned()),
                ChatMessage::User("one".to_owned()),
                ChatMessage::User("two".to_owned()),
                ChatMessage::Assistant { text: String::new(), tool_calls: vec![a_call("m")], opaque: vec![reasoning] },
                ChatMessage::ToolResult { call_id: "c1".to_owned(), name: "f".to_owned(), text: "r".to_owned() },
                ChatMessage::Assistant { text: String::new(), tool_calls: vec![], opaque: vec![] },
                ChatMessage::User("three".to_owned()),
            ],
            tools: vec![ToolDefinition {
                name: "f".to_owned(),
                description: "d".to_owned(),
                parameters: json!({"type": "object"}),
            }],
            temperature: Some(0.1),
            max_output_tokens: Some(9),
            phase: Phase::Choosing,
        };
        let body = build("m", &request, &Quirks::default());
        assert_eq!(
            body,
            json!({
                "model": "m", "stream": true, "stream_options": {"include_usage": true}, "temperature": 0.1, "max_tokens": 9,
                "messages": [
                    {"role": "system", "content": "s"},
                    {"role": "user", "content": "one\n\ntwo"},
                    {"role": "assistant", "content": null, "reasoning_details": [{"s": "x"}], "tool_calls": [
                        {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{\"b\":1,\"a\":2}"},
                         "extra_content": {"google": {"thought_signature": "AbC+/="}}}]},
                    {"role": "tool", "tool_call_id": "c1", "content": "r"},
                    {"role": "user", "content": "three"}],
                "tools": [{"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}],
            })
        );
    }

    // A7: blocks go back to no other model
    #[test]
    fn another_models_blocks_stay_home() {
        let message = assistant("m", "", &[a_call("other")], &[]).unwrap();
        assert!(message["tool_calls"][0].get("extra_content").is_none());
    }

    // A3
    #[test]
    fn broken_arguments_go_back_inside_an_object() {
        let malformed = MalformedArgs { reason: "r".to_owned(), raw: "{oops".to_owned(), truncated: false };
        let broken = ToolCall { arguments: Err(malformed), ..a_call("m") };
        let sent = call("m", &broken);
        let arguments: Value = serde_json::from_str(sent["function"]["arguments"].as_str().unwrap()).unwrap();
        assert_eq!(arguments, json!({"malformed_arguments": "{oops"}));
    }
}
