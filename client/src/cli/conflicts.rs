//! `tiro conflicts`: memories that cannot both hold, and settling them.
//!
//! Must not know: how a contradiction is found.

use super::shell::fresh_key;
use super::{Exit, Failure, Outcome, Shell, input};
use crate::limits::PAGE_ITEMS;
use crate::render::{Style, history, id};
use clap::{Args, Subcommand};
use tiro_schema::wire::memory::{Conflict, ConflictsParams, ConflictsResult, Keep, ResolveParams, VersionResult};

/// What may be kept, as the wire names it.
const KEEP: [&str; 4] = ["first", "second", "both", "merge"];

const EXAMPLES: &str = "\
Examples:
  tiro conflicts
  tiro conflicts resolve 9b1c22d0 second
  tiro conflicts resolve 9b1c22d0 merge --text \"deploys on Friday are allowed before noon\"
  tiro undo 9b1c22d0-…           (the whole id: opens it again)";

/// Memories that cannot both hold: list them, or settle one
///
/// Both are current until somebody decides. In a pipe each conflict is one line of tab-separated fields: id, found, reason, first
/// id, first text, second id, second text.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ConflictsArgs {
    #[command(subcommand)]
    command: Option<ConflictsCommand>,
    /// Only conflicts that name this memory
    #[arg(long, value_name = "ID")]
    memory: Option<String>,
}

#[derive(Debug, Subcommand)]
enum ConflictsCommand {
    Resolve(ResolveArgs),
}

/// Settle a conflict
///
/// What is not kept is superseded by what is: out of recall, still in the history, and brought back by `tiro undo`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
struct ResolveArgs {
    /// The conflict, by id or its first 8 characters or more
    #[arg(value_name = "CONFLICT")]
    id: String,
    /// What is kept: first, second, both, or merge with --text
    #[arg(value_name = "KEEP", value_parser = input::one_of::<Keep>(&KEEP))]
    keep: Keep,
    /// The words of the merged memory; - reads them from standard input
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
}

/// Runs the command.
pub async fn run(shell: &Shell, args: ConflictsArgs) -> Outcome {
    match args.command {
        Some(ConflictsCommand::Resolve(resolve)) => settle(shell, resolve).await,
        None => list(shell, args.memory).await,
    }
}

async fn list(shell: &Shell, memory: Option<String>) -> Outcome {
    let space = if memory.is_some() { None } else { shell.space()? };
    let mut params = ConflictsParams { space, id: memory, cursor: None, limit: Some(PAGE_ITEMS) };
    let mut daemon = shell.daemon().await?;
    let mut items: Vec<Conflict> = Vec::new();
    loop {
        let page: ConflictsResult = daemon.call("memory/conflicts", &params).await?;
        items.extend(page.items);
        match page.next_cursor {
            Some(cursor) => params.cursor = Some(cursor),
            None => break,
        }
    }
    let result = ConflictsResult { items, next_cursor: None };
    shell.answer(&result, |result, style| history::conflicts(&result.items, style))?;
    if result.items.is_empty() {
        shell.note("no open conflicts");
        return Ok(Exit::NothingFound);
    }
    Ok(Exit::Done)
}

async fn settle(shell: &Shell, args: ResolveArgs) -> Outcome {
    if args.text.is_some() != (args.keep == Keep::Merge) {
        return Err(Failure::usage("--text goes with merge, and merge needs it"));
    }
    let text = args.text.map(|text| input::text(&[text])).transpose()?;
    let params = ResolveParams { id: args.id, keep: args.keep, text, key: fresh_key() };
    let mut daemon = shell.daemon().await?;
    let result: VersionResult = daemon.call("memory/resolve", &params).await?;
    shell.answer(&result, |result, style: &Style| {
        if style.terminal {
            let what = if args.keep == Keep::Both { "both stay" } else { "what stays" };
            format!("settled; {what}: {}\n", style.cyan(id(&result.id, style)))
        } else {
            format!("{}\n", result.id)
        }
    })?;
    Ok(Exit::Done)
}
