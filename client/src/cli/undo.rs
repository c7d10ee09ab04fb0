//! `tiro undo`: take back the last change of memories.
//!
//! Must not know: what the change was.

use super::shell::fresh_key;
use super::{Exit, Outcome, Shell, input};
use crate::render::id;
use clap::Args;
use tiro_schema::wire::memory::{UndoParams, VersionResult};

const EXAMPLES: &str = "\
Examples:
  tiro undo 3f2a9c1d-5b7e-4c11-9d0a-0f6f0b9a7c55";

/// Take back the last change of memories
///
/// An edit, a pin, an archiving, a supersession, a merge, a forgetting, the settling of a conflict. A forgotten memory and a settled
/// conflict are named by their whole id, as `tiro forget` and `tiro history` show them.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct UndoArgs {
    /// Ids; - reads them from standard input
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
}

/// Runs the command.
pub async fn run(shell: &Shell, args: UndoArgs) -> Outcome {
    let mut daemon = shell.daemon().await?;
    let mut done: Vec<VersionResult> = Vec::new();
    for id in input::ids(&args.ids)? {
        done.push(daemon.call("memory/undo", &UndoParams { id, key: fresh_key() }).await?);
    }
    let text = |result: &VersionResult, style: &crate::render::Style| {
        if style.terminal {
            format!("took the last change of {} back, now version {}\n", style.cyan(id(&result.id, style)), result.version)
        } else {
            format!("{}\n", result.id)
        }
    };
    match done.as_slice() {
        [one] => shell.answer(one, text)?,
        all => shell.answer(&all, |all, style| all.iter().map(|one| text(one, style)).collect())?,
    }
    Ok(Exit::Done)
}
