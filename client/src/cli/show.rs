//! `tiro show`: memories, whole.
//!
//! Must not know: how ids are matched.

use super::{Exit, Outcome, Shell, input};
use crate::render::memory;
use clap::Args;
use tiro_schema::wire::memory::{GetParams, Memory};

const EXAMPLES: &str = "\
Examples:
  tiro show 3f2a9c1d
  tiro show 3f2a9c1d 8b1e04aa --json";

/// Memories with everything known about them
///
/// Named by id, or by the first 8 characters or more of one. With --json: the memory, or a list when several are named.
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
    match found.as_slice() {
        [one] => shell.answer(one, memory::whole)?,
        all => shell.answer(&all, |all, style| all.iter().map(|one| memory::whole(one, style)).collect::<Vec<_>>().join("\n"))?,
    }
    Ok(Exit::Done)
}
