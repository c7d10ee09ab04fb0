//! What a model call is given, in order and within its budget: instructions, recalled memory, what is known of the conversation, its newest
//! turns, this turn. Pure.
//!
//! The context is put together anew before every call, so it is made to fit between the steps of a turn too, and waits for no model. What gives
//! way, in this order: results of tools in earlier turns, results of earlier steps of this turn, whole earlier turns, which are folded into the
//! summary first. What a person stated stays. Must not know: where the parts come from. Tools travel beside the messages.

use super::state::SessionState;
use crate::limits;
use crate::model::ChatMessage;
use crate::tokens;
use tiro_schema::wire::turn::{ContextPart, ContextReport};

/// A turn of before, as a model reads it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HistoryTurn {
    /// Its number in the session, from 1.
    pub number: u64,
    /// The position after its last message.
    pub until: u64,
    /// Its messages, every call answered.
    pub messages: Vec<ChatMessage>,
}

impl HistoryTurn {
    /// What the person said in it.
    pub fn said(&self) -> String {
        let said = self.messages.iter().filter_map(|message| match message {
            ChatMessage::User(text) => Some(text.as_str()),
            _ => None,
        });
        said.collect::<Vec<_>>().join("\n")
    }
}

/// The parts of a context.
#[derive(Debug, Clone, Default)]
pub struct Parts {
    /// Instructions of the daemon.
    pub system: String,
    /// Recalled memory, marked as data; empty for none.
    pub memory: String,
    /// Summary, fields and task of the conversation.
    pub state: SessionState,
    /// Results kept aside that are not in the turns below, newest first, one line each.
    pub results: Vec<String>,
    /// Turns before this one that are not folded into the summary, oldest first.
    pub history: Vec<HistoryTurn>,
    /// This turn: what the user said, and what came of it so far.
    pub turn: Vec<ChatMessage>,
    /// What the daemon tells the model beside the history; empty for nothing.
    pub note: String,
}

/// Tokens by part, as shares of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// The whole window.
    pub window: u32,
}

impl Budget {
    /// Tokens for the daemon's instructions.
    pub fn system(self) -> u32 {
        self.share(limits::CONTEXT_SHARE_SYSTEM_PERCENT)
    }

    /// Tokens for the definitions of tools.
    pub fn tools(self) -> u32 {
        self.share(limits::CONTEXT_SHARE_TOOLS_PERCENT)
    }

    /// Tokens for recalled memory, summary and fields together.
    pub fn memory(self) -> u32 {
        self.share(limits::CONTEXT_SHARE_MEMORY_PERCENT)
    }

    /// Tokens for what was said, in earlier turns and in this one.
    pub fn history(self) -> u32 {
        self.share(limits::CONTEXT_SHARE_HISTORY_PERCENT)
    }

    /// Tokens for results of tools.
    pub fn results(self) -> u32 {
        self.share(limits::CONTEXT_SHARE_RESULTS_PERCENT)
    }

    /// Tokens for the reply.
    pub fn output(self) -> u32 {
        self.share(limits::CONTEXT_SHARE_OUTPUT_PERCENT)
    }

    /// Tokens that a context is kept under where its newest input alone does not pass them.
    pub fn aim(self) -> u32 {
        self.share(limits::CONTEXT_AIM_PERCENT)
    }

    fn share(self, percent: u32) -> u32 {
        u32::try_from(u64::from(self.window) * u64::from(percent) / 100).unwrap_or(u32::MAX)
    }
}

/// A context, and what was used for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Assembled {
    /// The messages, in SES-7's order.
    pub messages: Vec<ChatMessage>,
    /// Tokens by part, and what gave way.
    pub report: ContextReport,
    /// How many of the earlier turns are in it, from the newest.
    pub turns: usize,
}

/// Puts a context together: system, recalled memory, summary and fields, earlier turns, this turn with the newest input last. `tools` are the
/// tokens of the definitions of tools.
pub fn assemble(parts: &Parts, budget: Budget, tools: u32) -> Assembled {
    let mut turn = parts.turn.clone();
    let mut shown = match parts.history.len() {
        turns if turns > limits::CONTEXT_TURNS_MAX => limits::CONTEXT_TURNS_WHOLE,
        turns => turns,
    };
    let mut pruned = 0;
    loop {
        // What is not shown is folded in, so that no statement is in neither place.
        let (before, history) = parts.history.split_at(parts.history.len() - shown);
        let mut state = parts.state.clone();
        before.iter().for_each(|turn| state.fold(turn));
        let summary = state.told(&parts.results, budget.memory() / 2);
        let memory = within(&parts.memory, budget.memory().saturating_sub(tokens::estimate(&summary)));
        let fixed = [&parts.system, &memory, &summary, &parts.note].iter().map(|text| framed(text)).sum::<u32>() + tools;
        let room = budget.aim().saturating_sub(fixed);
        let mut history: Vec<ChatMessage> = history.iter().flat_map(|turn| turn.messages.iter().cloned()).collect();
        let results_room = budget.results().saturating_sub(results_of(&turn));
        pruned += prune(&mut history, results_room, 0);
        let mut needed = weigh(&history).saturating_add(weigh(&turn));
        if needed > room {
            pruned += prune(&mut history, 0, 0);
            needed = weigh(&history).saturating_add(weigh(&turn));
        }
        let history_room = budget.history() + budget.results();
        if (needed > room || weigh(&history) > history_room) && shown > 0 {
            shown -= 1;
            pruned = 0;
            continue;
        }
        if needed > room {
            let spare = room.saturating_sub(weigh(&turn).saturating_sub(results_of(&turn)));
            let newest = newest_batch(&turn);
            pruned += prune(&mut turn, spare, newest);
        }
        let used = [
            ("system", framed(&parts.system), budget.system()),
            ("tools", tools, budget.tools()),
            ("memory", framed(&memory), budget.memory()),
            ("summary", framed(&summary), budget.memory()),
            ("history", weigh(&history).saturating_sub(results_of(&history)), budget.history()),
            ("input", weigh(&turn).saturating_sub(results_of(&turn)) + framed(&parts.note), budget.history()),
            ("results", results_of(&history) + results_of(&turn), budget.results()),
            ("output", 0, budget.output()),
        ];
        let part = |(part, tokens, budget): &(&str, u32, u32)| ContextPart {
            part: (*part).to_owned(),
            tokens: *tokens,
            budget: *budget,
        };
        let tokens = used.iter().map(|(_, tokens, _)| *tokens).sum();
        let report = ContextReport {
            window: budget.window,
            tokens,
            is_over: tokens > budget.aim(),
            turns_shown: shown as u64,
            turns_folded: state.summary.turns,
            results_left_out: pruned,
            parts: used.iter().map(part).collect(),
        };
        return Assembled { messages: in_order(parts, &memory, &summary, history, turn), report, turns: shown };
    }
}

fn in_order(parts: &Parts, memory: &str, summary: &str, history: Vec<ChatMessage>, turn: Vec<ChatMessage>) -> Vec<ChatMessage> {
    let mut messages = vec![ChatMessage::System(parts.system.clone())];
    let told = [memory, summary].into_iter().filter(|text| !text.is_empty());
    messages.extend(told.map(|text| ChatMessage::User(text.to_owned())));
    messages.extend(history);
    messages.extend(turn);
    if !parts.note.is_empty() {
        messages.push(ChatMessage::User(parts.note.clone()));
    }
    messages
}

/// Whole lines of a text within a number of tokens, from its beginning.
fn within(text: &str, tokens_max: u32) -> String {
    if tokens::estimate(text) <= tokens_max {
        return text.to_owned();
    }
    let (mut out, mut left) = (String::new(), tokens_max);
    for line in text.split_inclusive('\n') {
        match left.checked_sub(tokens::estimate(line)) {
            Some(rest) => left = rest,
            None => break,
        }
        out.push_str(line);
    }
    out
}

/// Leaves results out from the oldest on until they take no more than `tokens_max`; those from `keep_from` on stay. How many.
fn prune(messages: &mut [ChatMessage], tokens_max: u32, keep_from: usize) -> u32 {
    let until = if keep_from == 0 { messages.len() } else { keep_from };
    let (mut now, mut count) = (results_of(messages), 0);
    for message in &mut messages[..until] {
        if now <= tokens_max {
            break;
        }
        let before = weight(message);
        if let ChatMessage::ToolResult { name, text, .. } = message
            && tokens::estimate(text) > limits::CONTEXT_PRUNED_TOKENS
        {
            *text = left_out(name, text);
            now = now.saturating_sub(before.saturating_sub(weight(message)));
            count += 1;
        }
    }
    count
}

/// What stands for a result that was left out: its reference, where it has one.
fn left_out(name: &str, text: &str) -> String {
    let reference = text.strip_prefix("[r").and_then(|rest| rest.split_once(':')).map(|(number, _)| number);
    match reference.filter(|number| number.bytes().all(|b| b.is_ascii_digit())) {
        Some(number) => format!("[an earlier result of {name}, left out to make room; result_read reads r{number}]"),
        None => format!("[an earlier result of {name}, left out to make room]"),
    }
}

/// Where the newest batch of results begins: what follows the last message of the model.
fn newest_batch(turn: &[ChatMessage]) -> usize {
    turn.iter().rposition(|message| matches!(message, ChatMessage::Assistant { .. })).unwrap_or(turn.len()).max(1)
}

fn results_of(messages: &[ChatMessage]) -> u32 {
    let results = messages.iter().filter(|message| matches!(message, ChatMessage::ToolResult { .. }));
    results.map(weight).fold(0, u32::saturating_add)
}

fn weigh(messages: &[ChatMessage]) -> u32 {
    messages.iter().map(weight).fold(0, u32::saturating_add)
}

fn framed(text: &str) -> u32 {
    if text.is_empty() { 0 } else { tokens::estimate(text).saturating_add(limits::CONTEXT_MESSAGE_FRAME_TOKENS) }
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
#[path = "context_tests.rs"]
mod tests;
