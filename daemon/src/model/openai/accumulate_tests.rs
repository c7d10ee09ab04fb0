//! Transcripts of streams and what becomes of them, from bytes to a reply. Nothing here opens a socket.
#![allow(clippy::unwrap_used)]

use std::collections::HashSet;

use serde_json::{Value, json};

use super::Accumulator;
use crate::model::error::{ErrorClass, ModelError};
use crate::model::provider::ModelEvent;
use crate::model::reply::{FinishReason, ModelReply};
use crate::model::sse::{SseLimits, SseParser};

fn play(transcript: &str) -> (Vec<ModelEvent>, Result<ModelReply, ModelError>) {
    let mut parser = SseParser::new(SseLimits::default());
    let mut data = Vec::new();
    for piece in transcript.as_bytes().chunks(5) {
        parser.feed(piece, &mut data).unwrap();
    }
    parser.finish(&mut data).unwrap();
    let mut accumulator = Accumulator::new("m");
    let mut events = Vec::new();
    for data in data {
        match accumulator.take(&data) {
            Ok(more) => events.extend(more),
            Err(error) => return (events, Err(accumulator.fail(error))),
        }
    }
    (events, accumulator.finish(&HashSet::new()))
}

fn reply(transcript: &str) -> ModelReply {
    play(transcript).1.unwrap()
}

fn chunk(delta: Value, finish: Option<&str>) -> String {
    let chunk = json!({"id": "x", "object": "chat.completion.chunk", "choices":
        [{"index": 0, "delta": delta, "finish_reason": finish}]});
    format!("data: {chunk}\n\n")
}

fn call(index: Option<u64>, id: Option<&str>, name: Option<&str>, arguments: &str) -> Value {
    let mut call = json!({"type": "function", "function": {"arguments": arguments}});
    if let Some(index) = index {
        call["index"] = index.into();
    }
    if let Some(id) = id {
        call["id"] = id.into();
    }
    if let Some(name) = name {
        call["function"]["name"] = name.into();
    }
    json!({"tool_calls": [call]})
}

const DONE: &str = "data: [DONE]\n\n";

// LOOP-4
#[test]
fn text_thinking_and_usage_come_out() {
    let transcript = [
        ": keep-alive\r\n\r\n".to_owned(),
        chunk(json!({"role": "assistant", "content": ""}), None),
        chunk(json!({"reasoning_content": "hm", "reasoning": "hm"}), None),
        chunk(json!({"content": "你"}), None),
        chunk(json!({"content": [{"type": "text", "text": "好"}]}), None),
        chunk(json!({"content": null}), Some("stop")),
        "data: {\"choices\": [], \"usage\": {\"prompt_tokens\": 7, \"completion_tokens\": 2, \"prompt_tokens_details\": {\"cached_tokens\": 4}}}\n\n".to_owned(),
        DONE.to_owned(),
    ]
    .concat();
    let (events, reply) = play(&transcript);
    let reply = reply.unwrap();
    assert_eq!((reply.text.as_str(), reply.thinking.as_str(), reply.finish), ("你好", "hm", FinishReason::Stop));
    assert_eq!((reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.cached_input_tokens), (7, 2, 4));
    let text: Vec<_> = events.iter().filter(|e| matches!(e, ModelEvent::TextDelta(_))).collect();
    assert_eq!(text.len(), 2);
}

// A1
#[test]
fn two_whole_calls_under_index_0_are_two() {
    let transcript = chunk(call(Some(0), Some("a"), Some("f"), "{\"x\":1}"), None)
        + &chunk(call(Some(0), Some("b"), Some("f"), "{\"x\":2}"), Some("tool_calls"))
        + DONE;
    let (events, reply) = play(&transcript);
    let calls = reply.unwrap().tool_calls;
    let seen: Vec<_> = calls.iter().map(|c| (c.id.as_str(), c.arguments.clone().unwrap())).collect();
    assert_eq!(seen, [("a", json!({"x": 1})), ("b", json!({"x": 2}))]);
    let started = |position| ModelEvent::ToolCallStarted { position, name: "f".to_owned() };
    assert_eq!(events, [started(0), started(1)]);
}

// A2
#[test]
fn fragments_without_index_keep_their_call() {
    let transcript = chunk(call(None, Some("a"), Some("f"), "{\"x\""), None)
        + &chunk(call(Some(1), Some("b"), Some("g"), "{\"y\""), None)
        + &chunk(call(None, Some("a"), None, ":1}"), None)
        + &chunk(call(Some(1), None, None, ":2}"), Some("tool_calls"))
        + DONE;
    let calls = reply(&transcript).tool_calls;
    let seen: Vec<_> = calls.iter().map(|c| (c.name.as_str(), c.arguments.clone().unwrap())).collect();
    assert_eq!(seen, [("f", json!({"x": 1})), ("g", json!({"y": 2}))]);
}

// A3
#[test]
fn no_arguments_are_an_empty_object_and_prose_is_an_error() {
    let transcript = chunk(call(Some(0), Some("a"), Some("f"), ""), None)
        + &chunk(json!({"tool_calls": [{"index": 1, "id": "b", "function": {"name": "f"}}]}), None)
        + &chunk(json!({"tool_calls": [{"index": 2, "id": "c", "function": {"name": "f", "arguments": {"x": 1}}}]}), None)
        + &chunk(call(Some(3), Some("d"), Some("f"), "I will look it up"), Some("tool_calls"))
        + DONE;
    let reply = reply(&transcript);
    assert_eq!(reply.tool_calls[0].arguments, Ok(json!({})));
    assert_eq!(reply.tool_calls[1].arguments, Ok(json!({})));
    assert_eq!(reply.tool_calls[2].arguments, Ok(json!({"x": 1})));
    assert!(!reply.tool_calls[3].arguments.clone().unwrap_err().truncated);
    assert!(!reply.is_cut());
}

// A4, A5
#[test]
fn a_reply_that_was_cut_says_so() {
    let long = format!("{{\"text\":\"{}", "x".repeat(60_000));
    let pieces: Vec<String> = long.as_bytes().chunks(997).map(|p| String::from_utf8_lossy(p).into_owned()).collect();
    for finish in ["stop", "tool_calls", "length"] {
        let mut transcript = chunk(call(Some(0), Some("w"), Some("write"), ""), None);
        for piece in &pieces {
            transcript += &chunk(call(Some(0), None, None, piece), None);
        }
        transcript += &(chunk(json!({}), Some(finish)) + DONE);
        let cut = reply(&transcript);
        assert!(cut.is_cut() && cut.tool_calls[0].arguments.clone().unwrap_err().truncated, "{finish}");
    }
    let whole = chunk(call(Some(0), Some("w"), Some("write"), "{\"a\":1}"), Some("length")) + DONE;
    assert!(reply(&whole).is_cut(), "length counts though the call looks whole");
    let empty = chunk(call(Some(0), Some("w"), Some("write"), ""), Some("length")) + DONE;
    assert!(reply(&empty).tool_calls[0].arguments.is_err(), "an empty cut call is never {{}}");
}

// A6
#[test]
fn a_whole_call_that_ends_with_stop_is_whole() {
    let transcript = chunk(call(Some(0), Some("a"), Some("f"), "{\"x\":1}"), Some("stop")) + DONE;
    let reply = reply(&transcript);
    assert!(!reply.is_cut() && reply.tool_calls[0].arguments.is_ok());
}

// A7
#[test]
fn opaque_blocks_are_kept_as_they_came() {
    let signed = json!({"type": "reasoning.encrypted", "data": "gAAAA+/=\\u00e9", "z": 1, "a": [2.50, null]});
    let mut with_signature = call(Some(0), Some("a"), Some("f"), "{}");
    with_signature["tool_calls"][0]["extra_content"] = json!({"google": {"thought_signature": "Q2c+/="}});
    let transcript = chunk(json!({"reasoning_details": [signed]}), None)
        + &chunk(json!({"reasoning_details": [{"type": "reasoning.text", "signature": "s"}]}), None)
        + &chunk(with_signature, Some("tool_calls"))
        + DONE;
    let reply = reply(&transcript);
    let expected = json!([signed, {"type": "reasoning.text", "signature": "s"}]).to_string();
    assert_eq!((reply.opaque[0].kind.as_str(), &reply.opaque[0].body), ("reasoning_details", &expected));
    let companion = reply.tool_calls[0].opaque.as_ref().unwrap();
    assert_eq!(companion.body, r#"{"google":{"thought_signature":"Q2c+/="}}"#);
    assert_eq!(companion.origin, "m");
}

// A8
#[test]
fn a_stream_without_an_end_is_cut_wherever_it_stops() {
    let events = [
        chunk(json!({"content": "one "}), None),
        chunk(json!({"content": "two"}), None),
        chunk(call(Some(0), Some("a"), Some("f"), "{}"), None),
    ];
    for cut in 0..=events.len() {
        let (_, outcome) = play(&events[..cut].concat());
        let error = outcome.unwrap_err();
        assert_eq!(error.class, ErrorClass::CutShort, "after {cut}");
        assert_eq!(error.partial_text, ["", "one ", "one two", "one two"][cut]);
    }
    assert!(play(&(events.concat() + &chunk(json!({}), Some("tool_calls")))).1.is_ok(), "a finish reason is an end");
    assert!(play(&(events.concat() + DONE)).1.is_ok(), "the end marker is an end");
}

// A8
#[test]
fn what_is_no_chunk_is_malformed_and_an_error_event_has_its_class() {
    let (_, outcome) = play(&(chunk(json!({"content": "x"}), None) + "data: {\"choices\": [{\"delta\": \n\n"));
    let error = outcome.unwrap_err();
    assert_eq!((error.class, error.partial_text.as_str()), (ErrorClass::Malformed, "x"));
    let (_, outcome) = play("data: {\"error\": {\"code\": 429, \"message\": \"slow\"}}\n\n");
    assert_eq!(outcome.unwrap_err().class, ErrorClass::RateLimited);
}

// A9
#[test]
fn a_call_without_id_gets_one() {
    let transcript = chunk(call(Some(0), None, Some("f"), "{}"), None)
        + &chunk(call(Some(1), Some(""), Some("f"), "{}"), Some("tool_calls"))
        + DONE;
    let calls = reply(&transcript).tool_calls;
    assert!(calls.len() == 2 && !calls[0].id.is_empty() && calls[0].id != calls[1].id);
}
