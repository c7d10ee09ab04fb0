//! `tiro import`: what people already have, of every format that is known, into memory; in batches that can be repeated.
//!
//! Must not know: what stands in a format.

mod checkpoint;
mod documents;
mod input;
mod pump;
mod report;
mod watch;

use super::{Exit, Failure, Outcome, Shell, hook, progress};
use crate::import::{Branches, Format, Setting};
use crate::render::escape;
use clap::Args;
use input::Source;
use pump::Pump;
use report::Report;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  tiro import memories.jsonl
  tiro import ~/Downloads/conversations.json              (ChatGPT's or Claude's export)
  tiro import ~/.claude/projects ~/.codex/sessions        (transcripts)
  tiro import ~/notes --space notes --dry-run             (a folder of Markdown)
  tiro import --watch ~/notes --space notes               (and keep it in step)
  echo '{\"text\":\"the retro is on Fridays\",\"category\":\"fact\"}' | tiro import -";

/// What you already have, into memory
///
/// The format is known by what stands in a file: JSON Lines as `tiro export` writes them; `conversations.json` of ChatGPT and of
/// Claude; transcripts of Claude Code and Codex; dumps of mem0; `memory.jsonl` of the MCP memory server; Markdown and plain text.
/// Of conversations every turn is kept with its session, position, speaker and time, on the branch that is shown; what tools
/// wrote, thoughts and empty turns are skipped and counted. Of Markdown a memory is made of each section.
///
/// Repeating an import takes nothing twice: every memory has an id made of where it comes from. What changed in the source
/// changes, and what is gone from a document is archived; what you changed, put away or forgot since stays as you left it. An
/// import that was interrupted goes on where it was. What cannot be taken is reported with its place; the rest goes in.
///
/// A line of JSON Lines that names a space goes there, unless --space is given: that is where everything goes.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ImportArgs {
    /// Files and folders; - reads standard input
    #[arg(value_name = "PATH", required_unless_present = "hook")]
    paths: Vec<PathBuf>,
    /// What they hold, in place of what they look like
    #[arg(long, value_parser = format_of, value_name = "FORMAT")]
    format: Option<Format>,
    /// Also what stands beside the branch that a conversation shows, each as a conversation of its own
    #[arg(long)]
    all_branches: bool,
    /// What a folder of documents is called, in place of its name and path: keep it when the folder moves
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    /// Keep a folder of documents in step until Ctrl-C
    #[arg(long, conflicts_with_all = ["dry_run", "hook"])]
    watch: bool,
    /// Only judge
    #[arg(long)]
    dry_run: bool,
    /// For hooks at the end of a session: read what the host tells on standard input, import the transcript that it names, and
    /// neither say anything nor fail
    #[arg(long, conflicts_with = "paths")]
    hook: bool,
}

fn format_of(name: &str) -> Result<Format, String> {
    let names = || Format::ALL.map(Format::name).join(", ");
    Format::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| format!("one of {}", names()))
}

/// Runs the command.
pub async fn run(shell: &Shell, args: ImportArgs) -> Outcome {
    if args.hook {
        return hook::import(shell).await;
    }
    if args.watch {
        return watch::run(shell, &args).await;
    }
    let report = take(shell, &args).await?;
    shell.answer(&report, |report, style| report.said(style))?;
    if !shell.global.json {
        report.refused.iter().for_each(|refused| eprintln!("{}", escape::terminal_line(&refused.to_string())));
    }
    Ok(report.exit())
}

/// The transcript at a path, into a space, as a hook asks for it.
pub async fn transcript(shell: &Shell, path: PathBuf, space: Option<String>) -> Outcome {
    let args = ImportArgs {
        paths: vec![path],
        format: None,
        all_branches: false,
        source: None,
        watch: false,
        dry_run: false,
        hook: false,
    };
    let mut report = Report::new(false, space.clone());
    let mut pump = Pump::new(shell.daemon().await?, progress::bar(shell, "importing"), false);
    for source in input::sources(&args.paths[0], args.format)? {
        one(source, &args, space.as_deref(), None, &mut pump, &mut report).await?;
    }
    Ok(report.exit())
}

/// Takes everything; the report of it.
async fn take(shell: &Shell, args: &ImportArgs) -> Result<Report, Failure> {
    let (named, folder_space) = (shell.named_space()?, shell.folder_space()?);
    let space = named.clone().or(folder_space);
    let sources = args.paths.iter().map(|path| input::sources(path, args.format)).collect::<Result<Vec<_>, _>>()?;
    let mut report = Report::new(args.dry_run, named.clone());
    let bar = progress::bar(shell, "importing");
    let mut pump = Pump::new(shell.daemon().await?, bar, args.dry_run);
    for source in sources.into_iter().flatten() {
        one(source, args, space.as_deref(), named.as_deref(), &mut pump, &mut report).await?;
    }
    pump.finish();
    report.sort();
    Ok(report)
}

/// Takes one file, folder or stream.
async fn one(
    source: Source,
    args: &ImportArgs,
    space: Option<&str>,
    named: Option<&str>,
    pump: &mut Pump,
    report: &mut Report,
) -> Result<(), Failure> {
    let setting = Setting {
        space: space.unwrap_or(tiro_schema::DEFAULT_SPACE).to_owned(),
        branches: if args.all_branches { Branches::All } else { Branches::Current },
        name: source.name(),
    };
    match source {
        Source::Documents { folder, format, file } => {
            report.format(format);
            let folder = documents::folder(&folder, args.source.as_deref(), format, &setting.space)?;
            let files = file.map(|file| vec![file]);
            documents::keep_in_step(&folder, files, pump, report).await.map(drop)
        }
        Source::Stream(stream) => {
            report.format(stream.format);
            pump.stream(stream, setting, (space, named), report).await
        }
        Source::Unknown { path, reason } => {
            report.refuse(report::At::named(path), reason);
            Ok(())
        }
    }
}

/// Exit code of an import.
impl Report {
    fn exit(&self) -> Exit {
        match self.refused_count {
            0 => Exit::Done,
            n if n == self.refused.len() as u64 && self.refused.iter().all(|r| r.reason.starts_with("secret:")) => Exit::Refused,
            _ => Exit::Failed,
        }
    }
}
