//! `tiro show`: memories, whole.
//!
//! Must not know: how ids are matched.

use super::{Exit, Outcome, Shell, input};
use crate::render::{Style, history, memory};
use clap::Args;
use tiro_schema::wire::memory::{GetParams, HistoryParams, HistoryResult, Memory};

/// Versions shown of each memory.
const VERSIONS_SHOWN: u32 = 10;

const EXAMPLES: &str = "\
Examples:
  tiro show 3f2a9c1d
  tiro show 3f2a9c1d 8b1e04aa --json";

/// Memories with everything known about them
///
/// Named by id, or by the first 8 characters or more of one. On a terminal its newest versions, with who wrote them, and its links follow.
///
///  With --json: the memory, or a list when several are named.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ShowArgs {
    /// Ids; - reads them from standard input
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
}

/// Runs the command.
pub async fn run(shell: &Shell, args: ShowArgs) -> Outcome {
    let mut daemon = shell.daemon().await?;
    let mut found: Vec<Memory> = Vec::new();
    for id in input::ids(&args.ids)? {
        found.push(daemon.call("memory/get", &GetParams { id }).await?);
    }
    // Versions and links are for people; a program asks memory/history itself.
    let mut stories: Vec<Option<HistoryResult>> = Vec::new();
    for memory in &found {
        let params = HistoryParams { id: memory.id.clone(), cursor: None, limit: Some(VERSIONS_SHOWN) };
        let asked = shell.out.terminal && !shell.global.json;
        stories.push(if asked { Some(daemon.call("memory/history", &params).await?) } else { None });
    }
    let whole = |n: usize, style: &Style| {
        let story = stories.get(n).and_then(Option::as_ref);
        let told = story.map_or_else(String::new, |story| {
            format!("\n{}{}", history::versions(&story.items, style), history::links(story, style))
        });
        found.get(n).map_or_else(String::new, |memory| memory::whole(memory, style) + &told)
    };
    match found.as_slice() {
        [one] => shell.answer(one, |_, style| whole(0, style))?,
        all => shell.answer(&all, |all, style| (0..all.len()).map(|n| whole(n, style)).collect::<Vec<_>>().join("\n"))?,
    }
    Ok(Exit::Done)
}
