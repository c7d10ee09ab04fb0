//! `tiro context`: what fits a question, as one block for a prompt.
//!
//! Must not know: how the block is laid out.

use super::recall::{SearchArgs, nothing_found};
use super::{Exit, Outcome, Shell};
use crate::render::escape;
use clap::Args;
use tiro_schema::wire::memory::ContextResult;

const EXAMPLES: &str = "\
Examples:
  tiro context \"deploying the billing service\" --token-budget 800
  echo \"$PROMPT\" | tiro context - --space work --quiet";

/// What fits a question, as one block ready for a prompt
///
/// For hooks of editors and agents: the block marks memories as data, each with its source and date. It is empty, and the
/// exit code 5, when nothing fits.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ContextArgs {
    #[command(flatten)]
    search: SearchArgs,
}

/// Runs the command.
pub async fn run(shell: &Shell, args: ContextArgs) -> Outcome {
    let params = args.search.params(shell)?;
    let result: ContextResult = shell.daemon().await?.call("memory/context", &params).await?;
    shell.answer(&result, |result, style| match (result.text.trim_end(), style.terminal) {
        ("", _) => String::new(),
        (text, true) => format!("{}\n", escape::terminal(text)),
        (text, false) => format!("{text}\n"),
    })?;
    if result.ids.is_empty() {
        nothing_found(shell, result.over_budget, result.below_threshold);
        return Ok(Exit::NothingFound);
    }
    Ok(Exit::Done)
}
