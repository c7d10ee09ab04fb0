//! `tiro session`: list, show and delete conversations.
//!
//! Must not know: how a turn runs.

use super::session_copy::{self, ExportArgs, ForkArgs, RenameArgs, SearchArgs};
use super::shell::fresh_key;
use super::{Exit, Outcome, Shell, input};
use crate::limits::PAGE_ITEMS;
use crate::render::{Style, escape, id, size, time, wrap};
use clap::{Args, Subcommand};
use tiro_schema::wire::Open;
use tiro_schema::wire::results::{
    ResultGetParams, ResultPassage, ResultRange, ResultSearchParams, ResultSearchResult, StoredResult,
};
use tiro_schema::wire::session::{
    ContentBlock, Message, Role, Session, SessionDeleteParams, SessionDeleteResult, SessionIdParams, SessionListParams,
    SessionListResult, SessionMessagesParams, SessionMessagesResult,
};

/// List, show and delete conversations, and read what tools answered in them
#[derive(Debug, Subcommand)]
pub enum SessionCommand {
    List(ListArgs),
    Show(ShowArgs),
    Delete(DeleteArgs),
    Result(ResultArgs),
    Rename(RenameArgs),
    Fork(ForkArgs),
    Search(SearchArgs),
    Export(ExportArgs),
}

/// What a tool answered, or what was pasted, whole
///
/// Long results and long pasted text are kept apart from their message; session show tells their reference.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tiro session result 5d0c91aa-…:r3\n  tiro session result 5d0c91aa-…:r3 --path /orders/0\n  \
                        tiro session result 5d0c91aa-…:r3 --find \"timeout\""
)]
pub struct ResultArgs {
    /// The reference
    #[arg(value_name = "REF")]
    reference: String,
    /// Of JSON: the value at this place, a JSON Pointer
    #[arg(long, value_name = "PATH", conflicts_with = "find")]
    path: Option<String>,
    /// The passages that fit these words
    #[arg(long, value_name = "WORDS")]
    find: Option<String>,
}

/// Conversations of a space, newest first
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tiro session list\n  tiro session list --space work --json")]
pub struct ListArgs {
    /// Conversations at most
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
    limit: usize,
}

/// A conversation with its messages
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tiro session show 5d0c91aa")]
pub struct ShowArgs {
    /// The conversation, by id or its first 8 characters
    #[arg(value_name = "ID")]
    id: String,
}

/// Remove a conversation with its messages
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tiro session delete 5d0c91aa --yes")]
pub struct DeleteArgs {
    /// The conversation, by id or its first 8 characters
    #[arg(value_name = "ID")]
    id: String,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

/// Runs the command.
pub async fn run(shell: &Shell, command: SessionCommand) -> Outcome {
    match command {
        SessionCommand::List(args) => list(shell, args).await,
        SessionCommand::Show(args) => show(shell, args).await,
        SessionCommand::Delete(args) => delete(shell, args).await,
        SessionCommand::Result(args) => result(shell, args).await,
        SessionCommand::Rename(args) => session_copy::rename(shell, args).await,
        SessionCommand::Fork(args) => session_copy::fork(shell, args).await,
        SessionCommand::Search(args) => session_copy::search(shell, args).await,
        SessionCommand::Export(args) => session_copy::export(shell, args).await,
    }
}

async fn list(shell: &Shell, args: ListArgs) -> Outcome {
    let mut params = SessionListParams { space: shell.space()?, cursor: None, limit: None };
    let mut daemon = shell.daemon().await?;
    let mut items: Vec<Session> = Vec::new();
    let next_cursor = loop {
        let room = args.limit.saturating_sub(items.len());
        params.limit = Some(u32::try_from(room).unwrap_or(u32::MAX).clamp(1, PAGE_ITEMS));
        let page: SessionListResult = daemon.call("session/list", &params).await?;
        items.extend(page.items);
        match page.next_cursor {
            Some(cursor) if items.len() < args.limit => params.cursor = Some(cursor),
            last => break last,
        }
    };
    let result = SessionListResult { items, next_cursor };
    shell.answer(&result, |result, style| result.items.iter().map(|session| line(session, style)).collect())?;
    if result.items.is_empty() {
        shell.note("nothing found");
        return Ok(Exit::NothingFound);
    }
    Ok(Exit::Done)
}

fn line(session: &Session, style: &Style) -> String {
    let at = time::minute(&session.updated_at, style);
    if !style.terminal {
        let title = escape::field(&session.title);
        return format!("{}\t{at}\t{}\t{}\t{title}\n", session.session_id, session.state, session.message_count);
    }
    let lead = format!("{}  {at}  {:>8}  ", id(&session.session_id, style), size::count(session.turn_count, "turn", "turns"));
    let title = if session.title.is_empty() { "(no title)" } else { &session.title };
    let running = if session.state == "running" { "  running" } else { "" };
    let room = style.width.saturating_sub(48).max(10);
    format!("{}{}{}\n", style.dim(&lead), wrap::cut(&escape::terminal_line(title), room), style.green(running))
}

async fn show(shell: &Shell, args: ShowArgs) -> Outcome {
    let mut daemon = shell.daemon().await?;
    let session: Session = daemon.call("session/get", &SessionIdParams { session_id: args.id }).await?;
    let mut params = SessionMessagesParams { session_id: session.session_id.clone(), cursor: None, limit: Some(PAGE_ITEMS) };
    let mut messages: Vec<Message> = Vec::new();
    loop {
        let page: SessionMessagesResult = daemon.call("session/messages", &params).await?;
        messages.extend(page.items);
        params.cursor = page.next_cursor;
        if params.cursor.is_none() {
            break;
        }
    }
    if shell.global.json {
        shell.print_json(&serde_json::json!({"session": session, "messages": messages}))?;
    } else {
        let style = &shell.out;
        let mut text = line(&session, style);
        messages.iter().for_each(|message| text.push_str(&said(message, style)));
        shell.print(&text)?;
    }
    Ok(Exit::Done)
}

/// A message: who, when, and its blocks.
fn said(message: &Message, style: &Style) -> String {
    let who = match &message.role {
        Open::Known(Role::User) => style.cyan("you"),
        Open::Known(Role::Assistant) => style.green("tiro"),
        other => style.dim(&other.to_string()),
    };
    let partial = if message.partial { " (cut off)" } else { "" };
    let mut text = format!("\n{who} {}\n", style.dim(&format!("{}{partial}", time::minute(&message.created_at, style))));
    for block in &message.content {
        let shown = match block {
            ContentBlock::Text { text } => text.clone(),
            ContentBlock::Stored { text, reference } => format!("{text}\n{}", style.dim(&format!("(whole: {reference})"))),
            ContentBlock::Thinking { text, .. } if text.is_empty() => continue,
            ContentBlock::Thinking { text, .. } => style.dim(&escape::terminal(text)),
            ContentBlock::ToolCall { name, arguments, .. } => style.dim(&escape::terminal(&format!("-> {name} {arguments}"))),
            ContentBlock::ToolResult { name, text, is_error, reference, .. } => {
                let mark = if *is_error { "failed: " } else { "" };
                let whole = reference.as_ref().map(|reference| format!("\n(whole: {reference})")).unwrap_or_default();
                style.dim(&escape::terminal(&format!("<- {name} {mark}{text}{whole}")))
            }
        };
        let shown = if let (ContentBlock::Text { .. }, true) = (block, style.terminal) {
            escape::terminal(&shown).into_owned()
        } else {
            shown
        };
        text.push_str(shown.trim_end());
        text.push('\n');
    }
    text
}

async fn result(shell: &Shell, args: ResultArgs) -> Outcome {
    let mut daemon = shell.daemon().await?;
    if let Some(words) = args.find {
        let params = ResultSearchParams { reference: Some(args.reference), query: Some(words), ..ResultSearchParams::default() };
        let found: ResultSearchResult = daemon.call("result/search", &params).await?;
        let passage =
            |item: &ResultPassage| format!("[from character {}]\n{}\n", item.from, escape::terminal(item.text.trim_end()));
        shell.answer(&found, |found, _| found.items.iter().map(passage).collect())?;
        return Ok(if found.items.is_empty() { Exit::NothingFound } else { Exit::Done });
    }
    let mut params = ResultGetParams { reference: args.reference, range: None, path: args.path };
    let mut whole: Option<StoredResult> = None;
    loop {
        let part: StoredResult = daemon.call("result/get", &params).await?;
        params.range = part.next_from.map(|from| ResultRange { from, to: None });
        match &mut whole {
            Some(whole) => whole.text.push_str(&part.text),
            None => whole = Some(part),
        }
        if params.range.is_none() {
            break;
        }
    }
    if let Some(mut whole) = whole {
        whole.next_from = None;
        let shown = |whole: &StoredResult, style: &Style| {
            let text = if style.terminal { escape::terminal(&whole.text).into_owned() } else { whole.text.clone() };
            format!("{}\n", text.trim_end_matches('\n'))
        };
        shell.answer(&whole, shown)?;
    }
    Ok(Exit::Done)
}

async fn delete(shell: &Shell, args: DeleteArgs) -> Outcome {
    let mut daemon = shell.daemon().await?;
    let session: Session = daemon.call("session/get", &SessionIdParams { session_id: args.id }).await?;
    let short = id(&session.session_id, &shell.err);
    let question = format!("delete the conversation {short} with {}?", size::count(session.message_count, "message", "messages"));
    if !input::agreed(shell, args.yes, &question)? {
        return Ok(Exit::Failed);
    }
    let params = SessionDeleteParams { session_id: session.session_id, key: fresh_key() };
    let result: SessionDeleteResult = daemon.call("session/delete", &params).await?;
    shell.answer(&result, |result, _| format!("deleted {}\n", size::count(result.messages, "message", "messages")))?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_message_shows_its_text_and_its_calls() {
        let message: Message = serde_json::from_value(serde_json::json!({
            "position": 1, "turnId": "t", "role": "assistant", "createdAt": "2026-03-05T12:00:00.000Z", "partial": true,
            "content": [{"type": "text", "text": "looking"}, {"type": "toolCall", "callId": "c", "name": "memory_recall", "arguments": {"query": "x"}}]
        }))
        .unwrap();
        let text = said(&message, &Style::PLAIN);
        assert!(text.contains("tiro") && text.contains("(cut off)") && text.contains("looking"), "{text}");
        assert!(text.contains("-> memory_recall {\"query\":\"x\"}"));
    }
}
