//! `tiro history`: what became of a memory.
//!
//! Must not know: how versions are kept.

use super::{Exit, Outcome, Shell};
use crate::limits::PAGE_ITEMS;
use crate::render::history;
use clap::Args;
use tiro_schema::wire::memory::{HistoryParams, HistoryResult};

const EXAMPLES: &str = "\
Examples:
  tiro history 3f2a9c1d
  tiro history 3f2a9c1d --json | jq -r '.items[].text'";

/// Every version of a memory with who wrote it, what it replaced, what replaced it, merges and conflicts
///
/// In a pipe each version is one line of tab-separated fields: version, time, change, by, text.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct HistoryArgs {
    /// The memory, by id or its first 8 characters or more
    #[arg(value_name = "ID")]
    id: String,
}

/// Runs the command.
pub async fn run(shell: &Shell, args: HistoryArgs) -> Outcome {
    let mut daemon = shell.daemon().await?;
    let mut params = HistoryParams { id: args.id, cursor: None, limit: Some(PAGE_ITEMS) };
    let mut whole: HistoryResult = daemon.call("memory/history", &params).await?;
    while let Some(cursor) = whole.next_cursor.take() {
        params.cursor = Some(cursor);
        let page: HistoryResult = daemon.call("memory/history", &params).await?;
        whole.items.extend(page.items);
        whole.next_cursor = page.next_cursor;
    }
    shell.answer(&whole, history::whole)?;
    Ok(Exit::Done)
}
