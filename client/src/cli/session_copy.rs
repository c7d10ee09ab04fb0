//! `tiro session rename|fork|search|export`: conversations named anew, gone on from an earlier turn, found by words, written as lines.
//!
//! Must not know: how a turn runs.

use super::shell::fresh_key;
use super::{Exit, Outcome, Shell};
use crate::limits::PAGE_ITEMS;
use crate::render::{Style, escape, id, time};
use clap::Args;
use tiro_schema::wire::session::{
    Session, SessionExportParams, SessionExportResult, SessionForkParams, SessionFound, SessionNewResult, SessionSearchParams,
    SessionSearchResult, SessionUpdateParams,
};

/// Give a conversation another title
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tiro session rename 5d0c91aa \"plans for spring\"")]
pub struct RenameArgs {
    /// The conversation, by id or its first 8 characters
    #[arg(value_name = "ID")]
    id: String,
    /// The title
    #[arg(value_name = "TITLE")]
    title: String,
}

/// Go on from an earlier turn in a conversation of its own
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tiro session fork 5d0c91aa --turn 7c11d3f0-…\n  tiro ask --session ID \"another way\"")]
pub struct ForkArgs {
    /// The conversation, by id or its first 8 characters
    #[arg(value_name = "ID")]
    id: String,
    /// The last turn that goes along, by its whole id; all when absent
    #[arg(long, value_name = "ID")]
    turn: Option<String>,
    /// Its title; the same when absent
    #[arg(long, value_name = "TITLE")]
    title: Option<String>,
}

/// Messages of conversations that fit words, best first
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tiro session search \"harbour code\"\n  tiro session search 预算 --space work --json")]
pub struct SearchArgs {
    /// The words
    #[arg(required = true, value_name = "WORDS")]
    words: Vec<String>,
    /// Messages at most
    #[arg(long, short = 'n', value_name = "N", default_value_t = 5)]
    limit: u32,
}

/// Write a conversation as JSON lines to standard output
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tiro session export 5d0c91aa > conversation.jsonl")]
pub struct ExportArgs {
    /// The conversation, by id or its first 8 characters
    #[arg(value_name = "ID")]
    id: String,
}

/// Runs `session rename`.
pub async fn rename(shell: &Shell, args: RenameArgs) -> Outcome {
    let mut daemon = shell.daemon().await?;
    let params =
        SessionUpdateParams { session_id: args.id, title: Some(args.title), key: fresh_key(), ..SessionUpdateParams::default() };
    let session: Session = daemon.call("session/update", &params).await?;
    shell.answer(&session, |session, style| format!("{} {}\n", id(&session.session_id, style), escape::field(&session.title)))?;
    Ok(Exit::Done)
}

/// Runs `session fork`.
pub async fn fork(shell: &Shell, args: ForkArgs) -> Outcome {
    let mut daemon = shell.daemon().await?;
    let params = SessionForkParams { session_id: args.id, turn_id: args.turn, title: args.title, key: fresh_key() };
    let forked: SessionNewResult = daemon.call("session/fork", &params).await?;
    shell.answer(&forked, |forked, _| format!("{}\n", forked.session_id))?;
    Ok(Exit::Done)
}

/// Runs `session search`.
pub async fn search(shell: &Shell, args: SearchArgs) -> Outcome {
    let mut daemon = shell.daemon().await?;
    let params = SessionSearchParams { query: args.words.join(" "), space: shell.space()?, limit: Some(args.limit) };
    let found: SessionSearchResult = daemon.call("session/search", &params).await?;
    shell.answer(&found, |found, style| found.items.iter().map(|item| line(item, style)).collect())?;
    if found.items.is_empty() {
        shell.note("nothing found");
        return Ok(Exit::NothingFound);
    }
    Ok(Exit::Done)
}

fn line(found: &SessionFound, style: &Style) -> String {
    let at = time::minute(&found.created_at, style);
    let text = escape::terminal_line(&found.text);
    format!("{}  {at}  {}  {text}\n", id(&found.session_id, style), found.role)
}

/// Runs `session export`.
pub async fn export(shell: &Shell, args: ExportArgs) -> Outcome {
    let mut daemon = shell.daemon().await?;
    let mut params = SessionExportParams { session_id: args.id, cursor: None, limit: Some(PAGE_ITEMS) };
    let mut all = Vec::new();
    loop {
        let page: SessionExportResult = daemon.call("session/export", &params).await?;
        if shell.global.json {
            all.extend(page.lines);
        } else {
            shell.print(&page.lines.iter().map(|line| format!("{line}\n")).collect::<String>())?;
        }
        params.cursor = page.next_cursor;
        if params.cursor.is_none() {
            break;
        }
    }
    if shell.global.json {
        shell.print_json(&SessionExportResult { lines: all, next_cursor: None })?;
    }
    Ok(Exit::Done)
}
