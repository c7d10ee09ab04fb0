//! What a model call is given, in order and within its budget: instructions, recalled memory, history, the turn. Pure.
//!
//! Must not know: where the parts come from. Tools travel beside the messages.

use crate::limits;
use crate::model::ChatMessage;
use crate::tokens;

/// The parts of a context.
#[derive(Debug, Clone, Default)]
pub struct Parts {
    /// Instructions of the daemon.
    pub system: String,
    /// Recalled memory, marked as data; empty for none.
    pub memory: String,
    /// What was said before this turn, oldest first, every call answered.
    pub history: Vec<ChatMessage>,
    /// This turn: what the user said, and what came of it so far.
    pub turn: Vec<ChatMessage>,
    /// What the daemon tells the model beside the history; empty for nothing.
    pub note: String,
}

/// Tokens by part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// The whole window.
    pub window: u32,
}

impl Budget {
    /// Tokens for recalled memory.
    pub fn memory(self) -> u32 {
        self.share(limits::CONTEXT_SHARE_MEMORY_PERCENT)
    }

    /// Tokens for history, tool results included.
    pub fn history(self) -> u32 {
        self.share(limits::CONTEXT_SHARE_HISTORY_PERCENT)
    }

    fn share(self, percent: u32) -> u32 {
        u32::try_from(u64::from(self.window) * u64::from(percent) / 100).unwrap_or(u32::MAX)
    }
}

/// The context, in SES-7's order: system, recalled memory, history, the newest user input and what followed it. History
/// over its budget is left out from its oldest end, never between a call and its results.
pub fn assemble(parts: &Parts, budget: Budget) -> Vec<ChatMessage> {
    let mut messages = vec![ChatMessage::System(parts.system.clone())];
    if !parts.memory.is_empty() {
        messages.push(ChatMessage::User(parts.memory.clone()));
    }
    messages.extend_from_slice(newest_within(&parts.history, budget.history()));
    messages.extend_from_slice(&parts.turn);
    if !parts.note.is_empty() {
        messages.push(ChatMessage::User(parts.note.clone()));
    }
    messages
}

/// The newest part of a history that fits, beginning with something a user said.
pub fn newest_within(history: &[ChatMessage], tokens_max: u32) -> &[ChatMessage] {
    let mut used = 0u32;
    let mut begin = history.len();
    for (at, message) in history.iter().enumerate().rev() {
        used = used.saturating_add(weight(message));
        if used > tokens_max {
            break;
        }
        if matches!(message, ChatMessage::User(_)) {
            begin = at;
        }
    }
    &history[begin..]
}

/// Tokens of a message, estimated.
pub fn weight(message: &ChatMessage) -> u32 {
    let frame = limits::CONTEXT_MESSAGE_FRAME_TOKENS;
    let text = match message {
        ChatMessage::System(text) | ChatMessage::User(text) | ChatMessage::ToolResult { text, .. } => tokens::estimate(text),
        ChatMessage::Assistant { text, tool_calls, .. } => {
            let calls = tool_calls.iter().map(|call| {
                let arguments = call.arguments.as_ref().map_or_else(|m| m.raw.clone(), ToString::to_string);
                tokens::estimate(&call.name) + tokens::estimate(&arguments) + frame
            });
            tokens::estimate(text).saturating_add(calls.fold(0, u32::saturating_add))
        }
    };
    text.saturating_add(frame)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::model::ToolCall;
    use proptest::prelude::*;
    use serde_json::json;

    fn user(text: &str) -> ChatMessage {
        ChatMessage::User(text.to_owned())
    }

    fn said(text: &str) -> ChatMessage {
        ChatMessage::Assistant { text: text.to_owned(), tool_calls: vec![], opaque: vec![] }
    }

    fn batch(ids: &[String]) -> Vec<ChatMessage> {
        let call =
            |id: &String| ToolCall { id: id.clone(), name: "f".to_owned(), arguments: Ok(json!({"q": "x"})), opaque: None };
        let mut out =
            vec![ChatMessage::Assistant { text: String::new(), tool_calls: ids.iter().map(call).collect(), opaque: vec![] }];
        out.extend(ids.iter().map(|id| ChatMessage::ToolResult {
            call_id: id.clone(),
            name: "f".to_owned(),
            text: "r".repeat(40),
        }));
        out
    }

    // SES-7, MEM-13
    #[test]
    fn the_parts_stand_in_order_and_the_newest_input_last() {
        let parts = Parts {
            system: "system".to_owned(),
            memory: "memory".to_owned(),
            history: vec![user("before"), said("answer")],
            turn: vec![user("now")],
            note: String::new(),
        };
        let expected = [ChatMessage::System("system".to_owned()), user("memory"), user("before"), said("answer"), user("now")];
        assert_eq!(assemble(&parts, Budget { window: 8_000 }), expected);
    }

    // SES-6: CJK counts a token a character, so that a window is not overrun
    #[test]
    fn history_is_dropped_by_what_it_weighs() {
        let history = [user(&"记".repeat(100)), said("ok"), user("short"), said("ok")];
        assert_eq!(newest_within(&history, 60).len(), 2);
        assert_eq!(newest_within(&history, 1_000).len(), 4);
        assert!(newest_within(&history, 3).is_empty());
    }

    proptest! {
        // A17, SES-6: wherever the budget cuts, every call keeps its results and every result its call
        #[test]
        fn calls_and_results_are_never_parted(turns in prop::collection::vec(prop::collection::vec(0..4usize, 0..4), 0..6), budget in 0..600u32) {
            let mut history = Vec::new();
            let mut minted = 0;
            for (turn, batches) in turns.iter().enumerate() {
                history.push(user(&format!("question {turn}")));
                for calls in batches {
                    let ids: Vec<String> = (0..*calls).map(|n| format!("c{}", minted + n)).collect();
                    minted += calls;
                    if !ids.is_empty() {
                        history.extend(batch(&ids));
                    }
                }
                history.push(said("done"));
            }
            let kept = newest_within(&history, budget);
            prop_assert!(kept.iter().map(weight).sum::<u32>() <= budget);
            let repaired = crate::session::with_every_call_answered(kept.to_vec());
            prop_assert_eq!(kept, &repaired[..]);
            prop_assert!(kept.first().is_none_or(|first| matches!(first, ChatMessage::User(_))));
        }
    }
}
