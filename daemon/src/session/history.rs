//! Stored messages as a model reads them, and back. Pure, but for one read.
//!
//! Whatever is stored, what comes out pairs: each call has exactly one result right after its message. Must not know: budgets, turns.

use super::context::HistoryTurn;
use super::rows::content;
use super::summary::Summary;
use super::{SessionError, Sessions};
use crate::limits;
use crate::model::{ChatMessage, MalformedArgs, ModelReply, OpaqueBlock, ToolCall};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use tiro_schema::convert::role_of;
use tiro_schema::record::MessageRecord;
use tiro_schema::wire::session::{ContentBlock, Role};

/// What a result says that was never stored.
pub const RESULT_UNKNOWN: &str =
    "The daemon stopped while this call ran: whether it took effect is unknown. Look before doing it again.";

/// An opaque block as it stands in a `Thinking` block of a stored message.
#[derive(Serialize, Deserialize)]
struct StoredOpaque {
    kind: String,
    origin: String,
    body: String,
    /// The call it belongs to, if it belongs to one.
    #[serde(skip_serializing_if = "Option::is_none")]
    call_id: Option<String>,
}

/// The blocks of a reply, to be stored.
pub fn assistant_blocks(reply: &ModelReply) -> Vec<ContentBlock> {
    let stored = |block: &OpaqueBlock, call_id: Option<&str>| {
        let whole = StoredOpaque {
            kind: block.kind.clone(),
            origin: block.origin.clone(),
            body: block.body.clone(),
            call_id: call_id.map(str::to_owned),
        };
        ContentBlock::Thinking { text: String::new(), opaque: serde_json::to_string(&whole).ok() }
    };
    let mut blocks = Vec::new();
    if !reply.thinking.is_empty() {
        blocks.push(ContentBlock::Thinking { text: reply.thinking.clone(), opaque: None });
    }
    blocks.extend(reply.opaque.iter().map(|block| stored(block, None)));
    if !reply.text.is_empty() {
        blocks.push(ContentBlock::Text { text: reply.text.clone() });
    }
    for call in &reply.tool_calls {
        blocks.extend(call.opaque.iter().map(|block| stored(block, Some(&call.id))));
        blocks.push(call_block(call));
    }
    blocks
}

/// The block of a call.
pub fn call_block(call: &ToolCall) -> ContentBlock {
    let arguments = match &call.arguments {
        Ok(arguments) => arguments.clone(),
        Err(malformed) => Value::String(malformed.raw.clone()),
    };
    ContentBlock::ToolCall { call_id: call.id.clone(), name: call.name.clone(), arguments }
}

/// Stored messages, oldest first, as a model reads them.
pub fn chat_messages(records: &[MessageRecord]) -> Vec<ChatMessage> {
    let mut messages: Vec<ChatMessage> = Vec::with_capacity(records.len());
    let mut last_turn = None;
    for record in records {
        match role_of(record.role) {
            Some(Role::Assistant) => messages.push(assistant(record)),
            Some(Role::Tool) => messages.extend(content(record).into_iter().filter_map(result)),
            // What was said to a turn that ran, one thing after the other, is one message.
            _ => match messages.last_mut() {
                Some(ChatMessage::User(text)) if last_turn == Some(record.turn) => {
                    text.push_str("\n\n");
                    text.push_str(&text_of(record));
                }
                _ => messages.push(ChatMessage::User(text_of(record))),
            },
        }
        last_turn = Some(record.turn);
    }
    with_every_call_answered(messages)
}

fn text_of(record: &MessageRecord) -> String {
    let texts = content(record).into_iter().filter_map(|block| match block {
        ContentBlock::Text { text } | ContentBlock::Stored { text, .. } => Some(text),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn assistant(record: &MessageRecord) -> ChatMessage {
    let (mut text, mut tool_calls, mut opaque) = (String::new(), Vec::new(), Vec::new());
    let mut companions: HashMap<String, OpaqueBlock> = HashMap::new();
    for block in content(record) {
        match block {
            ContentBlock::Text { text: more } => text.push_str(&more),
            ContentBlock::Thinking { opaque: Some(stored), .. } => {
                let Ok(stored) = serde_json::from_str::<StoredOpaque>(&stored) else { continue };
                let block = OpaqueBlock { kind: stored.kind, origin: stored.origin, body: stored.body };
                match stored.call_id {
                    Some(call_id) => drop(companions.insert(call_id, block)),
                    None => opaque.push(block),
                }
            }
            ContentBlock::ToolCall { call_id, name, arguments } => {
                let arguments = match arguments {
                    Value::String(raw) => {
                        Err(MalformedArgs { reason: "the arguments were no JSON object".to_owned(), raw, truncated: false })
                    }
                    object => Ok(object),
                };
                let companion = companions.remove(&call_id);
                tool_calls.push(ToolCall { id: call_id, name, arguments, opaque: companion });
            }
            ContentBlock::Thinking { .. } | ContentBlock::ToolResult { .. } | ContentBlock::Stored { .. } => {}
        }
    }
    if record.partial {
        text.push_str(" [this reply was cut off]");
    }
    ChatMessage::Assistant { text, tool_calls, opaque }
}

fn result(block: ContentBlock) -> Option<ChatMessage> {
    match block {
        ContentBlock::ToolResult { call_id, name, text, .. } => Some(ChatMessage::ToolResult { call_id, name, text }),
        _ => None,
    }
}

/// What stands in the place of an answer that never came.
const NO_ANSWER: &str = "[this turn ended without an answer]";

/// Puts a note behind every prompt whose turn ended without a word of the model, so that no prompt runs into the next one.
fn with_every_prompt_answered(messages: Vec<ChatMessage>) -> Vec<ChatMessage> {
    let mut out: Vec<ChatMessage> = Vec::with_capacity(messages.len());
    let none = || ChatMessage::Assistant { text: NO_ANSWER.to_owned(), tool_calls: Vec::new(), opaque: Vec::new() };
    for message in messages {
        if matches!((out.last(), &message), (Some(ChatMessage::User(_)), ChatMessage::User(_))) {
            out.push(none());
        }
        out.push(message);
    }
    if matches!(out.last(), Some(ChatMessage::User(_))) {
        out.push(none());
    }
    out
}

/// Gives every call that has no result a synthetic one, and leaves out results without a call, or a second one.
pub fn with_every_call_answered(messages: Vec<ChatMessage>) -> Vec<ChatMessage> {
    let mut out: Vec<ChatMessage> = Vec::with_capacity(messages.len());
    let mut open: Vec<(String, String)> = Vec::new();
    for message in messages {
        match &message {
            ChatMessage::ToolResult { call_id, .. } => {
                let Some(at) = open.iter().position(|(id, _)| id == call_id) else { continue };
                open.remove(at);
            }
            ChatMessage::Assistant { tool_calls, .. } => {
                answer(&mut open, &mut out);
                open.extend(tool_calls.iter().map(|call| (call.id.clone(), call.name.clone())));
            }
            ChatMessage::System(_) | ChatMessage::User(_) => answer(&mut open, &mut out),
        }
        out.push(message);
    }
    answer(&mut open, &mut out);
    out
}

fn answer(open: &mut Vec<(String, String)>, out: &mut Vec<ChatMessage>) {
    out.extend(open.drain(..).map(|(call_id, name)| ChatMessage::ToolResult { call_id, name, text: RESULT_UNKNOWN.to_owned() }));
}

/// Calls of stored messages, oldest first, that have no result: id and tool.
pub fn open_calls(records: &[MessageRecord]) -> Vec<(String, String)> {
    let blocks: Vec<ContentBlock> = records.iter().flat_map(content).collect();
    let answered: HashSet<&String> = blocks
        .iter()
        .filter_map(|block| match block {
            ContentBlock::ToolResult { call_id, .. } => Some(call_id),
            _ => None,
        })
        .collect();
    let open = blocks.iter().filter_map(|block| match block {
        ContentBlock::ToolCall { call_id, name, .. } if !answered.contains(call_id) => Some((call_id.clone(), name.clone())),
        _ => None,
    });
    open.collect()
}

/// The newest turns of a session that are not folded into its summary, oldest first, as a model reads them: each begins with something a user
/// said, and ends with what came of it.
///
/// # Errors
/// The store's.
pub fn load_history(sessions: &Sessions, session: u64, summary: &Summary) -> Result<Vec<HistoryTurn>, SessionError> {
    let mut records = sessions.newest_messages(session, limits::AGENT_HISTORY_MESSAGES_MAX)?;
    records.reverse();
    records.retain(|record| record.position >= summary.until);
    let mut turns: Vec<HistoryTurn> = Vec::new();
    for of_turn in records.chunk_by(|a, b| a.turn == b.turn) {
        let begin = of_turn.iter().position(|record| role_of(record.role) == Some(Role::User)).unwrap_or(of_turn.len());
        let Some(last) = of_turn[begin..].last() else { continue };
        let messages = with_every_prompt_answered(chat_messages(&of_turn[begin..]));
        turns.push(HistoryTurn { number: 0, until: last.position + 1, messages });
    }
    (summary.turns + 1..).zip(&mut turns).for_each(|(number, turn)| turn.number = number);
    Ok(turns)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde_json::json;
    use tiro_schema::convert::role_code;

    fn record(role: Role, content: &[ContentBlock]) -> MessageRecord {
        let content_json = serde_json::to_string(content).unwrap();
        MessageRecord { role: role_code(role), content_json, ..MessageRecord::default() }
    }

    fn call(id: &str, arguments: Result<Value, MalformedArgs>) -> ToolCall {
        let block = OpaqueBlock { kind: "extra_content".to_owned(), origin: "m".to_owned(), body: "{\"s\":\"+/=\"}".to_owned() };
        ToolCall { id: id.to_owned(), name: "f".to_owned(), arguments, opaque: Some(block) }
    }

    // A7: what only the provider can read comes back as it came, each block with its call
    #[test]
    fn a_reply_comes_back_as_it_was() {
        let malformed =
            MalformedArgs { reason: "the arguments were no JSON object".to_owned(), raw: "{oops".to_owned(), truncated: false };
        let reply = ModelReply {
            text: "hello".to_owned(),
            thinking: "hm".to_owned(),
            opaque: vec![OpaqueBlock { kind: "reasoning_details".to_owned(), origin: "m".to_owned(), body: "[1]".to_owned() }],
            tool_calls: vec![call("a", Ok(json!({"x": 1}))), call("b", Err(malformed))],
            ..ModelReply::default()
        };
        let read = chat_messages(&[record(Role::Assistant, &assistant_blocks(&reply))]);
        let expected = ChatMessage::Assistant { text: reply.text, tool_calls: reply.tool_calls, opaque: reply.opaque };
        assert_eq!(read[0], expected);
    }

    // A18: the prompt of a turn that failed was read as the beginning of the next one
    #[test]
    fn a_prompt_without_an_answer_does_not_run_into_the_next() {
        let user = |text: &str| ChatMessage::User(text.to_owned());
        let read = with_every_prompt_answered(vec![user("first"), user("second")]);
        let none = ChatMessage::Assistant { text: NO_ANSWER.to_owned(), tool_calls: vec![], opaque: vec![] };
        assert_eq!(read, [user("first"), none.clone(), user("second"), none]);
        assert!(with_every_prompt_answered(vec![]).is_empty());
    }

    // A18, SES-8: a history found broken is repaired
    #[test]
    fn a_call_without_result_gets_one_and_a_stray_result_goes() {
        let calls = ModelReply { tool_calls: vec![call("a", Ok(json!({}))), call("b", Ok(json!({})))], ..ModelReply::default() };
        let result = |id: &str| ContentBlock::ToolResult {
            call_id: id.to_owned(),
            name: "f".to_owned(),
            text: "r".to_owned(),
            is_error: false,
            reference: None,
        };
        let records = [
            record(Role::Tool, &[result("z")]),
            record(Role::Assistant, &assistant_blocks(&calls)),
            record(Role::Tool, &[result("b")]),
            record(Role::Tool, &[result("b")]),
            record(Role::User, &[ContentBlock::Text { text: "next".to_owned() }]),
        ];
        assert_eq!(open_calls(&records), [("a".to_owned(), "f".to_owned())]);
        let ids: Vec<String> = chat_messages(&records)
            .iter()
            .map(|message| match message {
                ChatMessage::ToolResult { call_id, .. } => call_id.clone(),
                ChatMessage::Assistant { .. } => "assistant".to_owned(),
                _ => "user".to_owned(),
            })
            .collect();
        assert_eq!(ids, ["assistant", "b", "a", "user"]);
    }
}
