//! `tiro list`: memories of a space, newest first.
//!
//! Must not know: how pages are cut.

use super::filter::FilterArgs;
use super::{Exit, Outcome, Shell, input};
use crate::limits::PAGE_ITEMS;
use crate::render::memory;
use clap::Args;
use tiro_schema::wire::memory::{ListOrder, ListParams, ListResult, Memory};

/// Memories listed when no limit is given.
const LIMIT_DEFAULT: usize = 50;

const EXAMPLES: &str = "\
Examples:
  tiro list
  tiro list -c preference -n 10
  tiro list --text staging --all
  tiro list --status archived --json | jq -r '.items[].id' | tiro archive --undo -";

/// Memories of a space, newest first
///
/// In a pipe each memory is one line of tab-separated fields: id, recorded, category, status, text. Looking at memories
/// does not count as using them.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ListArgs {
    #[command(flatten)]
    filter: FilterArgs,
    /// Only memories that contain this text
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
    /// Oldest first
    #[arg(long)]
    oldest: bool,
    /// Memories at most [default: 50]
    #[arg(long, short = 'n', value_name = "N", conflicts_with = "all", value_parser = input::count)]
    limit: Option<u32>,
    /// Every memory that fits
    #[arg(long)]
    all: bool,
    /// Go on behind the last page, by the nextCursor of --json
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
}

/// Runs the command.
pub async fn run(shell: &Shell, args: ListArgs) -> Outcome {
    let wanted = if args.all { usize::MAX } else { args.limit.map_or(LIMIT_DEFAULT, |limit| limit as usize) };
    let mut params = ListParams {
        space: shell.space()?,
        filter: args.filter.to_filter(),
        text: args.text,
        order: args.oldest.then_some(ListOrder::Oldest),
        cursor: args.cursor,
        limit: None,
    };
    let mut daemon = shell.daemon().await?;
    let mut items: Vec<Memory> = Vec::new();
    let next_cursor = loop {
        let room = wanted.saturating_sub(items.len());
        params.limit = Some(u32::try_from(room).unwrap_or(u32::MAX).clamp(1, PAGE_ITEMS));
        let page: ListResult = daemon.call("memory/list", &params).await?;
        items.extend(page.items);
        match page.next_cursor {
            Some(cursor) if items.len() < wanted => params.cursor = Some(cursor),
            last => break last,
        }
    };
    let result = ListResult { items, next_cursor };
    shell.answer(&result, |result, style| memory::list(&result.items, style))?;
    if result.items.is_empty() {
        shell.note("nothing found");
        return Ok(Exit::NothingFound);
    }
    if result.next_cursor.is_some() && shell.out.terminal {
        shell.note("there are more: --all, or a higher --limit");
    }
    Ok(Exit::Done)
}
