//! `tiro pin`: keep memories from fading.
//!
//! Must not know: how they fade.

use super::shell::fresh_key;
use super::{Exit, Outcome, Shell, input};
use crate::render::size;
use clap::Args;
use tiro_schema::wire::memory::{IdsParams, SeqResult};

const EXAMPLES: &str = "\
Examples:
  tiro pin 3f2a9c1d
  tiro pin --off 3f2a9c1d";

/// Keep memories from fading
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct PinArgs {
    /// Ids; - reads them from standard input
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// Take the pin away
    #[arg(long)]
    off: bool,
}

/// Runs the command.
pub async fn run(shell: &Shell, args: PinArgs) -> Outcome {
    let ids = input::ids(&args.ids)?;
    let what = if args.off { "unpinned" } else { "pinned" };
    change(shell, "memory/pin", IdsParams { ids, pinned: args.off.then_some(false), key: fresh_key() }, what).await
}

/// Calls a method that takes ids and says what it did, on a terminal.
pub async fn change(shell: &Shell, method: &str, params: IdsParams, what: &str) -> Outcome {
    let result: SeqResult = shell.daemon().await?.call(method, &params).await?;
    let count = u64::try_from(params.ids.len()).unwrap_or(u64::MAX);
    shell.answer(&result, |_, style| {
        if style.terminal { format!("{what} {}\n", size::count(count, "memory", "memories")) } else { String::new() }
    })?;
    Ok(Exit::Done)
}
