//! `tiro context`: what fits a question, as one block for a prompt.
//!
//! Must not know: how the block is laid out.

use super::recall::{SearchArgs, nothing_found};
use super::{Exit, Outcome, Shell, hook, input};
use crate::limits::HOOK_WAIT;
use crate::render::escape;
use clap::Args;
use std::time::Duration;
use tiro_schema::wire::memory::ContextResult;

const EXAMPLES: &str = "\
Examples:
  tiro context \"deploying the billing service\" --token-budget 800
  echo \"$PROMPT\" | tiro context - --space work --quiet
  tiro context --hook -                                   (a hook of an agent, which tells what it knows on standard input)
  tiro context --hook --within 50 \"${PWD##*/}\"             (a shell's prompt)";

/// What fits a question, as one block ready for a prompt
///
/// For hooks of editors and agents: the block marks memories as data, each with its source and date. It is empty, and the
/// exit code 5, when nothing fits. With --hook nothing is said and the exit code is 0 whenever there is nothing to give, and
/// a question of - is read as hosts tell it: JSON with `prompt` and `cwd`, or the words alone. docs/hooks.md has examples.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ContextArgs {
    #[command(flatten)]
    search: SearchArgs,
    /// Never fail and never keep anybody waiting: without an answer in time, or with nothing to say, say nothing
    #[arg(long)]
    hook: bool,
    /// How long a hook may wait, in milliseconds, the start of the daemon included [default: 500]
    #[arg(long, value_name = "MS", requires = "hook", value_parser = input::count)]
    within: Option<u32>,
}

/// Runs the command.
pub async fn run(shell: &Shell, args: ContextArgs) -> Outcome {
    if args.hook {
        let within = args.within.map_or(HOOK_WAIT, |ms| Duration::from_millis(u64::from(ms)));
        if let Ok(Some(result)) = tokio::time::timeout(within, hooked(shell, &args.search)).await {
            say(shell, &result)?;
        }
        return Ok(Exit::Done);
    }
    let params = args.search.params(shell)?;
    let result: ContextResult = shell.daemon().await?.call("memory/context", &params).await?;
    say(shell, &result)?;
    if result.ids.is_empty() {
        nothing_found(shell, result.over_budget, result.below_threshold);
        return Ok(Exit::NothingFound);
    }
    Ok(Exit::Done)
}

/// The block for a hook; none when there is nothing to give, for whatever reason.
async fn hooked(shell: &Shell, search: &SearchArgs) -> Option<ContextResult> {
    let told = match search.is_from_stdin() {
        // A host that leaves standard input open must not keep anybody waiting.
        true => tokio::task::spawn_blocking(hook::Told::read).await.ok()?,
        false => hook::Told { prompt: Some(search.words()), ..hook::Told::default() },
    };
    let question = told.question()?;
    let space = hook::folder_space(&told.folder()).ok()?;
    let params = search.params_of(question, space, shell);
    let result: ContextResult = shell.daemon().await.ok()?.call("memory/context", &params).await.ok()?;
    (!result.ids.is_empty()).then_some(result)
}

fn say(shell: &Shell, result: &ContextResult) -> Result<(), super::Failure> {
    shell.answer(result, |result, style| match (result.text.trim_end(), style.terminal) {
        ("", _) => String::new(),
        (text, true) => format!("{}\n", escape::terminal(text)),
        (text, false) => format!("{text}\n"),
    })
}
