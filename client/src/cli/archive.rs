//! `tiro archive`: put memories away, and bring them back.
//!
//! Must not know: what an archive is made of.

use super::pin::change;
use super::shell::fresh_key;
use super::{Outcome, Shell, input};
use clap::Args;
use tiro_schema::wire::memory::IdsParams;

const EXAMPLES: &str = "\
Examples:
  tiro archive 3f2a9c1d
  tiro list --status archived
  tiro archive --undo 3f2a9c1d";

/// Put memories away, or bring them back
///
/// Archived memories are kept, but found only when asked for (--status archived).
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ArchiveArgs {
    /// Ids; - reads them from standard input
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// Bring them back
    #[arg(long, alias = "restore")]
    undo: bool,
}

/// Runs the command.
pub async fn run(shell: &Shell, args: ArchiveArgs) -> Outcome {
    let params = IdsParams { ids: input::ids(&args.ids)?, pinned: None, key: fresh_key() };
    if args.undo {
        change(shell, "memory/restore", params, "brought back").await
    } else {
        change(shell, "memory/archive", params, "archived").await
    }
}
