//! The shell client: its arguments, and the way from them to an exit code. One file a verb.
//!
//! Must not know: how a verb does its work.

mod archive;
mod ask;
mod audit;
mod completions;
mod config;
mod conflicts;
mod context;
mod daemon;
mod demo;
mod doctor;
mod edit;
mod exit;
mod export;
mod feedback;
mod filter;
mod forget;
mod history;
mod hook;
mod import;
mod input;
mod list;
mod mcp;
mod merge;
mod model;
mod pin;
mod progress;
mod purge;
mod questions;
mod recall;
mod remember;
mod session;
mod session_copy;
mod shell;
mod show;
mod space;
mod store;
mod undo;

pub use exit::{Exit, Failure, Outcome};
pub use shell::Shell;

use clap::{Args, CommandFactory, Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// What every command takes.
#[derive(Debug, Clone, Default, Args)]
pub struct Global {
    /// Print one JSON value on standard output, and nothing else
    #[arg(long, global = true, help_heading = "Everywhere")]
    pub json: bool,
    /// Space to work in; when absent as the nearest .tiro.toml says, else `personal`. recall and context take several
    #[arg(long, global = true, value_name = "NAME", help_heading = "Everywhere")]
    pub space: Vec<String>,
    /// Socket of the daemon, in place of $TIRO_SOCKET and the usual places
    #[arg(long, global = true, value_name = "PATH", help_heading = "Everywhere")]
    pub socket: Option<PathBuf>,
    /// Say nothing but the answer
    #[arg(long, short, global = true, help_heading = "Everywhere")]
    pub quiet: bool,
}

/// The command line of `tiro`.
#[derive(Debug, Parser)]
#[command(
    name = "tiro",
    version,
    about = "A memory for you and your tools, on this machine",
    long_about = LONG_ABOUT,
    after_long_help = AFTER_HELP,
    max_term_width = 100
)]
pub struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Option<Command>,
}

const LONG_ABOUT: &str = "\
Tiro keeps what you tell it, finds it again in English and Chinese by words and by meaning, and answers prompts with it \
when a model is configured.

The work is done by tirod, a daemon of your own that every command starts when it is not running. It listens on a Unix \
socket that only you can reach; nothing leaves this machine unless you configure a model elsewhere.";

const AFTER_HELP: &str = "\
Exit codes:
  0 done   1 failed   2 usage   3 store damaged   4 daemon unreachable   5 nothing found   6 refused by policy

Environment:
  TIRO_HOME     one folder for configuration, data, state and socket (else the XDG folders)
  TIRO_SOCKET   the daemon's socket
  NO_COLOR      no colours
  EDITOR        editor of `tiro edit`

Examples:
  tiro remember \"the staging database moved to port 5433\"
  tiro recall \"which port does staging use?\"
  git log -1 --format=%B | tiro remember - --tag git
  tiro recall 数据库端口 --json | jq -r '.hits[].text'";

const WELCOME: &str = "\
tiro keeps what you tell it and finds it again.

  tiro remember \"the staging database moved to port 5433\"
  tiro recall \"which port does staging use?\"
  tiro ask \"what should I know before I deploy?\"     (needs a model)

  tiro demo        see it work, without keeping anything
  tiro doctor      check this machine
  tiro --help      every command
";

#[derive(Debug, Subcommand)]
enum Command {
    Remember(remember::RememberArgs),
    Recall(recall::RecallArgs),
    Context(context::ContextArgs),
    Ask(ask::AskArgs),
    Feedback(feedback::FeedbackArgs),
    List(list::ListArgs),
    Show(show::ShowArgs),
    Edit(edit::EditArgs),
    Forget(forget::ForgetArgs),
    Undo(undo::UndoArgs),
    History(history::HistoryArgs),
    Audit(audit::AuditArgs),
    Conflicts(conflicts::ConflictsArgs),
    Merge(merge::MergeArgs),
    Pin(pin::PinArgs),
    Archive(archive::ArchiveArgs),
    Import(import::ImportArgs),
    Export(export::ExportArgs),
    Questions(questions::QuestionsArgs),
    #[command(subcommand)]
    Session(session::SessionCommand),
    #[command(subcommand)]
    Space(space::SpaceCommand),
    #[command(subcommand)]
    Mcp(mcp::McpCommand),
    #[command(subcommand)]
    Model(model::ModelCommand),
    #[command(subcommand)]
    Store(store::StoreCommand),
    #[command(subcommand)]
    Daemon(daemon::DaemonCommand),
    Doctor(doctor::DoctorArgs),
    #[command(subcommand)]
    Config(config::ConfigCommand),
    Demo(demo::DemoArgs),
    Completions(completions::CompletionsArgs),
}

/// Reads the arguments, runs the command, tells what failed; the exit code says how it went.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let shell = Shell::new(cli.global);
    let outcome = match cli.command {
        None => shell.print(WELCOME).map(|()| Exit::Done),
        Some(command) => match tokio::runtime::Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => {
                let outcome = runtime.block_on(run(&shell, command));
                // A task that still reads standard input must not keep the process.
                runtime.shutdown_background();
                outcome
            }
            Err(error) => Err(error.into()),
        },
    };
    shell.end(outcome).into()
}

/// Help and version are done; anything else is a usage error, told on standard error and, with `--json`, as the value.
fn usage(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    if error.use_stderr() && std::env::args_os().any(|arg| arg == "--json") {
        println!("{}", usage_failure(&error.to_string()).to_json());
    }
    if error.use_stderr() { Exit::Usage.into() } else { Exit::Done.into() }
}

/// What the parser says as a failure: its first paragraph is what, the others what would be right.
fn usage_failure(said: &str) -> Failure {
    let mut parts = said.split("\n\n").map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "));
    let what = parts.next().unwrap_or_default();
    let hint: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
    Failure::usage(what.strip_prefix("error: ").unwrap_or(&what)).hint(hint.join("; "))
}

async fn run(shell: &Shell, command: Command) -> Outcome {
    match command {
        Command::Remember(args) => remember::run(shell, args).await,
        Command::Recall(args) => recall::run(shell, args).await,
        Command::Context(args) => context::run(shell, args).await,
        Command::Ask(args) => ask::run(shell, args).await,
        Command::Feedback(args) => feedback::run(shell, args).await,
        Command::List(args) => list::run(shell, args).await,
        Command::Show(args) => show::run(shell, args).await,
        Command::Edit(args) => edit::run(shell, args).await,
        Command::Forget(args) => forget::run(shell, args).await,
        Command::History(args) => history::run(shell, args).await,
        Command::Audit(args) => audit::run(shell, args).await,
        Command::Conflicts(args) => conflicts::run(shell, args).await,
        Command::Merge(args) => merge::run(shell, args).await,
        Command::Undo(args) => undo::run(shell, args).await,
        Command::Pin(args) => pin::run(shell, args).await,
        Command::Archive(args) => archive::run(shell, args).await,
        Command::Import(args) => import::run(shell, args).await,
        Command::Export(args) => export::run(shell, args).await,
        Command::Questions(args) => questions::run(shell, args).await,
        Command::Session(command) => session::run(shell, command).await,
        Command::Space(command) => space::run(shell, command).await,
        Command::Mcp(command) => mcp::run(shell, command).await,
        Command::Model(command) => model::run(shell, command).await,
        Command::Store(command) => store::run(shell, command).await,
        Command::Daemon(command) => daemon::run(shell, command).await,
        Command::Doctor(args) => doctor::run(shell, args).await,
        Command::Config(command) => config::run(shell, command),
        Command::Demo(args) => demo::run(shell, args).await,
        Command::Completions(args) => completions::run(shell, args, Cli::command()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_arguments_fit_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_wrong_command_line_as_json_says_what_was_wrong() {
        let error = Cli::try_parse_from(["tiro", "recall", "--bogus", "x"]).unwrap_err();
        let failure = usage_failure(&error.to_string());
        assert_eq!(failure.what, "unexpected argument '--bogus' found");
        assert!(failure.hint.starts_with("tip: ") && failure.hint.contains("Usage: tiro recall"), "{}", failure.hint);
        let error = Cli::try_parse_from(["tiro", "list", "-n", "0"]).unwrap_err();
        assert!(usage_failure(&error.to_string()).what.contains("give a number from 1"), "{error}");
    }

    #[test]
    fn every_command_has_a_summary_and_examples() {
        fn walk(command: &clap::Command, path: &str) {
            let path = format!("{path} {}", command.get_name());
            assert!(command.get_about().is_some(), "{path} has no summary");
            if command.get_subcommands().next().is_none() {
                assert!(command.get_after_help().or(command.get_after_long_help()).is_some(), "{path} has no examples");
            }
            command.get_subcommands().for_each(|sub| walk(sub, &path));
        }
        walk(&Cli::command(), "");
    }

    #[test]
    fn global_flags_go_anywhere() {
        let cli = Cli::try_parse_from(["tiro", "--json", "recall", "a b", "--space", "x", "--space", "y", "-q"]).unwrap();
        assert!(cli.global.json && cli.global.quiet);
        assert_eq!(cli.global.space, ["x", "y"]);
    }
}
