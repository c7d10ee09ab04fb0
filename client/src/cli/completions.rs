//! `tiro completions`: the script that completes this command line in a shell.
//!
//! Must not know: any other command.

use super::{Exit, Outcome, Shell};
use clap::Args;

const EXAMPLES: &str = "\
Examples:
  tiro completions bash > ~/.local/share/bash-completion/completions/tiro
  tiro completions zsh > \"${fpath[1]}/_tiro\"
  tiro completions fish > ~/.config/fish/completions/tiro.fish";

/// Print the completion script of a shell
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct CompletionsArgs {
    /// The shell
    shell: clap_complete::Shell,
}

/// Runs the command.
pub fn run(shell: &Shell, args: CompletionsArgs, mut command: clap::Command) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "tiro", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    if shell.global.json {
        shell.print_json(&serde_json::json!({"shell": args.shell.to_string(), "script": script}))?;
    } else {
        shell.print(&script)?;
    }
    Ok(Exit::Done)
}
