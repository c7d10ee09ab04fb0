//! What a model reads and writes, made fit: what was forgotten since is not sent again, and no secret it writes is kept.
//!
//! Ids, order and pairing of calls and results stay as they are. Blocks that only the provider can read stay as they came. Must not
//! know: the loop.

use super::memories::Memories;
use super::tools::kept_id;
use crate::memory::secrets::{redact, redact_json};
use crate::model::{ChatMessage, ModelReply, ToolCall};
use crate::session::context::Parts;
use serde_json::json;
use std::collections::HashSet;

/// The tool whose results hold memories.
const RECALL: &str = "memory_recall";
/// The tool whose calls hold them.
const REMEMBER: &str = "memory_remember";
/// What stands in the place of what was forgotten.
const FORGOTTEN: &str = "[forgotten]";
/// What stands in the place of a result of which it cannot be found out whether something in it was forgotten.
const UNSURE: &str = "[what was found then is left out: it cannot be read now whether it was forgotten since]";

/// Takes what was forgotten since out of everything a model would read again: the recalled block, the results of recalls, and the
/// words of calls that kept it.
pub(super) fn hide_forgotten(memories: &dyn Memories, parts: &mut Parts) {
    let clean = |text: &mut String| match memories.without_forgotten(text) {
        Ok(None) => {}
        Ok(Some(kept)) => *text = kept,
        Err(error) => {
            tracing::warn!(error = %error.message, "recalled memories were left out of a context");
            UNSURE.clone_into(text);
        }
    };
    if !parts.memory.is_empty() {
        clean(&mut parts.memory);
    }
    for message in messages(parts) {
        if let ChatMessage::ToolResult { name, text, .. } = message
            && name == RECALL
        {
            clean(text);
        }
    }
    hide_kept(memories, parts);
}

/// Every message that a model would read again.
fn messages(parts: &mut Parts) -> impl Iterator<Item = &mut ChatMessage> {
    parts.history.iter_mut().flat_map(|turn| &mut turn.messages).chain(&mut parts.turn)
}

/// Takes the words out of calls of `memory_remember` whose memory is forgotten now.
fn hide_kept(memories: &dyn Memories, parts: &mut Parts) {
    let all = || parts.history.iter().flat_map(|turn| &turn.messages).chain(&parts.turn);
    let forgotten: HashSet<String> = all()
        .filter_map(|message| match message {
            ChatMessage::ToolResult { call_id, name, text } if name == REMEMBER => Some((call_id, kept_id(text)?)),
            _ => None,
        })
        .filter(|(_, id)| memories.is_forgotten(id).unwrap_or(true))
        .map(|(call_id, _)| call_id.clone())
        .collect();
    if forgotten.is_empty() {
        return;
    }
    for message in messages(parts) {
        let ChatMessage::Assistant { tool_calls, .. } = message else { continue };
        for call in tool_calls.iter_mut().filter(|call| call.name == REMEMBER && forgotten.contains(&call.id)) {
            call.arguments = Ok(json!({ "text": FORGOTTEN }));
        }
    }
}

/// The text without secrets.
pub(super) fn clean_text(text: String) -> String {
    redact(&text).unwrap_or(text)
}

/// The reply as it is kept and read again: without secrets.
pub(super) fn clean_reply(mut reply: ModelReply) -> ModelReply {
    reply.text = clean_text(reply.text);
    reply.thinking = clean_text(reply.thinking);
    reply.tool_calls.iter_mut().for_each(clean_call);
    reply
}

fn clean_call(call: &mut ToolCall) {
    call.name = clean_text(std::mem::take(&mut call.name));
    match &mut call.arguments {
        Ok(arguments) => drop(redact_json(arguments)),
        Err(malformed) => malformed.raw = clean_text(std::mem::take(&mut malformed.raw)),
    }
}
