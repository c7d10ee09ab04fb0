//! `tiro feedback`: what became of the hits of a recall.
//!
//! Must not know: what that does to scores.

use super::shell::fresh_key;
use super::{Exit, Failure, Outcome, Shell};
use clap::Args;
use tiro_schema::wire::memory::{FeedbackParams, SeqResult};

const EXAMPLES: &str = "\
Examples:
  tiro recall \"which port does staging use?\" --json | jq -r .recallId
  tiro feedback 7f8e2b4a-4c11-4d0a-9f6f-0b9a7c553f2a --used 3f2a9c1d --wrong 8b1e04aa";

/// Say what became of the hits of a recall
///
/// What was used fades more slowly, as with `recall --use`. What was wrong, or ignored again and again, ranks lower by a bounded factor that
/// `recall --explain` shows; being used later, or another word on the same recall, takes it back.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct FeedbackArgs {
    /// The recall: `recallId` of `tiro recall --json`, or of `tiro audit --json`
    #[arg(value_name = "RECALL")]
    recall: String,
    /// A memory that was put to use
    #[arg(long, value_name = "ID")]
    used: Vec<String>,
    /// A memory that was of no use
    #[arg(long, value_name = "ID")]
    ignored: Vec<String>,
    /// A memory that was wrong
    #[arg(long, value_name = "ID")]
    wrong: Vec<String>,
}

/// Runs the command.
pub async fn run(shell: &Shell, args: FeedbackArgs) -> Outcome {
    let count = args.used.len() + args.ignored.len() + args.wrong.len();
    if count == 0 {
        return Err(Failure::usage("say what became of at least one memory: --used ID, --ignored ID or --wrong ID".to_owned()));
    }
    let mut daemon = shell.daemon().await?;
    let list = |ids: Vec<String>| (!ids.is_empty()).then_some(ids);
    let params = FeedbackParams {
        recall_id: args.recall,
        used: list(args.used),
        ignored: list(args.ignored),
        wrong: list(args.wrong),
        key: fresh_key(),
    };
    let result: SeqResult = daemon.call("memory/feedback", &params).await?;
    shell.answer(&result, |_, style| if style.terminal { format!("noted for {count} of its hits\n") } else { String::new() })?;
    Ok(Exit::Done)
}
