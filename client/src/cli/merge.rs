//! `tiro merge`: several memories become one.
//!
//! Must not know: what merging takes.

use super::shell::fresh_key;
use super::{Exit, Failure, Outcome, Shell, input};
use crate::render::{Style, id};
use clap::Args;
use tiro_schema::wire::memory::{MergeParams, VersionResult};

const EXAMPLES: &str = "\
Examples:
  tiro merge 3f2a9c1d 8b1e04aa
  tiro merge 3f2a9c1d 8b1e04aa --text \"Ann works at Acme in Leipzig as CTO\"
  tiro undo 3f2a9c1d           (takes it back)";

/// Put memories into the first of them
///
/// It gets the sources and labels of all, and the words of --text where given; the others are superseded by it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct MergeArgs {
    /// Ids, the one that stays first; - reads them from standard input
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// The words of the one that stays
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
}

/// Runs the command.
pub async fn run(shell: &Shell, args: MergeArgs) -> Outcome {
    let ids = input::ids(&args.ids)?;
    if ids.len() < 2 {
        return Err(Failure::usage("one memory alone cannot be merged").hint("name the one that stays first, then the others"));
    }
    let others = ids.len() - 1;
    let params = MergeParams { ids, text: args.text, key: fresh_key() };
    let mut daemon = shell.daemon().await?;
    let result: VersionResult = daemon.call("memory/merge", &params).await?;
    shell.answer(&result, |result, style: &Style| {
        if style.terminal {
            format!("merged {others} into {}, now version {}\n", style.cyan(id(&result.id, style)), result.version)
        } else {
            format!("{}\n", result.id)
        }
    })?;
    Ok(Exit::Done)
}
