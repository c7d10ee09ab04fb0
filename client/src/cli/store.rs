//! `tiro store`: verify, back up, restore and rebuild; `purge.rs` has the rest.
//!
//! Must not know: files or formats.

use super::purge::{self, PurgeArgs, ReceiptsArgs};
use super::{Exit, Failure, Outcome, Shell, input, progress};
use crate::launch;
use crate::limits::{PROBE_MAX, STOP_MAX};
use crate::render::{Style, escape, size, time};
use clap::{Args, Subcommand};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;
use tiro_schema::wire::store::{BackupResult, RebuildResult, RestoreResult, StoreParams, VerifyParams, VerifyResult};

/// What to do about an index that does not match its store.
pub const REBUILD: &str = "tiro store rebuild makes it anew";

/// Check, back up, restore, rebuild and purge the store
#[derive(Debug, Subcommand)]
pub enum StoreCommand {
    Verify(VerifyArgs),
    Backup(BackupArgs),
    Restore(RestoreArgs),
    Rebuild(RebuildArgs),
    Purge(PurgeArgs),
    Receipts(ReceiptsArgs),
}

/// Read every record and compare the indexes with them
///
/// Exit code 3 when the store is damaged; 1 when only the index does not match it, which `tiro store rebuild` mends. With --absent: 0
/// when the text stands in no file, 1 when it does, with where.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tiro store verify\n  tiro store verify --json | jq .problems\n  tiro store verify --absent \"the words that must be gone\""
)]
pub struct VerifyArgs {
    /// Look for a text instead, or for what the memory of an ID says and said, in every file; - reads it from standard input
    #[arg(long, value_name = "TEXT|ID")]
    absent: Option<String>,
}

/// Copy the store into one file
///
/// The daemon makes one every day and keeps seven; this one comes on top.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tiro store backup\n  tiro store backup /mnt/disk/tiro.backup")]
pub struct BackupArgs {
    /// File to write; in the backup folder when absent
    path: Option<PathBuf>,
}

/// Put a backup in the place of the store
///
/// The store there is now is set aside, not deleted. Without PATH the newest backup that is whole is taken. Asks first; --yes
/// goes ahead, and is needed where nobody can be asked (a pipe, a script, --json).
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tiro store restore\n  tiro store restore ~/.local/share/tiro/backups/2026-03-05.tiro --yes")]
pub struct RestoreArgs {
    /// The backup; the newest good one when absent
    path: Option<PathBuf>,
    /// Go ahead without asking
    #[arg(long, short)]
    yes: bool,
}

/// Make the indexes again from the store
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tiro store rebuild")]
pub struct RebuildArgs {}

/// Runs the command.
pub async fn run(shell: &Shell, command: StoreCommand) -> Outcome {
    match command {
        StoreCommand::Verify(VerifyArgs { absent: Some(asked) }) => purge::absent(shell, &asked).await,
        StoreCommand::Verify(_) => verify(shell).await,
        StoreCommand::Backup(args) => backup(shell, args).await,
        StoreCommand::Restore(args) => restore(shell, args).await,
        StoreCommand::Rebuild(_) => rebuild(shell).await,
        StoreCommand::Purge(args) => purge::purge(shell, args).await,
        StoreCommand::Receipts(args) => purge::receipts(shell, args).await,
    }
}

/// The daemon's current folder is not ours: paths go to it absolute. They go as text, so one that is no Unicode is refused and
/// never taken for another.
fn absolute(path: Option<&Path>) -> Result<Option<String>, Failure> {
    let Some(path) = path else { return Ok(None) };
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    match whole.into_os_string().into_string() {
        Ok(text) => Ok(Some(text)),
        Err(raw) => Err(Failure::usage(format!("{} is no Unicode path", Path::new(&raw).display()))
            .hint("give the file, or its folder, a name in Unicode")),
    }
}

async fn verify(shell: &Shell) -> Outcome {
    let mut daemon = shell.daemon().await?;
    let result: VerifyResult = progress::call(shell, &mut daemon, "store/verify", &VerifyParams::default(), "verifying").await?;
    shell.answer(&result, verified)?;
    Ok(match () {
        () if result.ok => Exit::Done,
        () if result.problems.is_empty() => Exit::Failed,
        () => Exit::Damaged,
    })
}

fn verified(result: &VerifyResult, style: &Style) -> String {
    let read = size::count(result.records, "record", "records");
    let memories = size::count(result.memories, "memory", "memories");
    let verdict = match result.problems.is_empty() {
        true if result.index_problems.is_empty() => style.green("ok"),
        true => style.yellow("the store is whole, its index does not match it"),
        false => style.red("damaged"),
    };
    let mut text = format!("{verdict}: {read}, {memories}, {}\n", time::milliseconds(result.elapsed_ms));
    for problem in result.problems.iter().chain(&result.index_problems) {
        text.push_str(&format!("  {}\n", escape::terminal_line(problem)));
    }
    if !result.problems.is_empty() {
        text.push_str("tiro store restore puts the last good backup in its place\n");
    } else if !result.index_problems.is_empty() {
        text.push_str(&format!("the index is derived from the store: {REBUILD}\n"));
    }
    text
}

async fn backup(shell: &Shell, args: BackupArgs) -> Outcome {
    let params = StoreParams { path: absolute(args.path.as_deref())? };
    let mut daemon = shell.daemon().await?;
    let result: BackupResult = progress::call(shell, &mut daemon, "store/backup", &params, "backing up").await?;
    shell.answer(&result, |result, style| {
        if !style.terminal {
            return format!("{}\n", result.path);
        }
        let kept = size::count(result.kept.len() as u64, "backup is", "backups are");
        format!("wrote {} ({}); {kept} kept\n", escape::terminal(&result.path), size::bytes(result.bytes))
    })?;
    Ok(Exit::Done)
}

async fn restore(shell: &Shell, args: RestoreArgs) -> Outcome {
    let which = args.path.as_ref().map_or_else(|| "the newest good backup".to_owned(), |path| path.display().to_string());
    if !input::agreed(shell, args.yes, &format!("put {which} in the place of the store?"))? {
        return Ok(Exit::Failed);
    }
    let params = StoreParams { path: absolute(args.path.as_deref())? };
    let result: RestoreResult = match shell.daemon().await {
        Ok(mut daemon) => progress::call(shell, &mut daemon, "store/restore", &params, "restoring").await?,
        Err(failure) if failure.exit == Exit::Damaged => offline(shell, params.path.as_deref()).await?,
        Err(failure) => return Err(failure),
    };
    shell.answer(&result, |result, _| {
        let memories = size::count(result.memories, "memory", "memories");
        let (from, aside) = (escape::terminal(&result.from), escape::terminal(&result.set_aside));
        let aside = if aside.is_empty() { String::new() } else { format!("the store it replaced: {aside}\n") };
        format!("restored {memories} from {from}\n{aside}")
    })?;
    Ok(Exit::Done)
}

/// A store that the daemon refuses to open is restored by `tirod` itself, without serving anybody. The daemon that just
/// refused it may still be on its way out, with its lock.
async fn offline(shell: &Shell, backup: Option<&str>) -> Result<RestoreResult, Failure> {
    let program = launch::program()?;
    let mut command = launch::foreground(&program, &shell.places()?);
    command.arg("--restore").args(backup).stdin(Stdio::null());
    let deadline = Instant::now() + STOP_MAX;
    let output = loop {
        let output = command.output()?;
        if output.status.code() != Some(launch::ANOTHER_THERE) || Instant::now() > deadline {
            break output;
        }
        tokio::time::sleep(PROBE_MAX).await;
    };
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(Failure::new(Exit::Damaged, "the store could not be restored")
            .because(said)
            .hint("name a backup: tiro store restore PATH"));
    }
    serde_json::from_slice(&output.stdout)
        .map_err(|error| Failure::failed(format!("the answer of tirod cannot be read: {error}")))
}

async fn rebuild(shell: &Shell) -> Outcome {
    let mut daemon = shell.daemon().await?;
    let result: RebuildResult =
        progress::call(shell, &mut daemon, "store/rebuild", &StoreParams::default(), "rebuilding").await?;
    shell.answer(&result, |result, _| {
        format!("indexed {} in {}\n", size::count(result.documents, "memory", "memories"), time::milliseconds(result.elapsed_ms))
    })?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found() -> VerifyResult {
        VerifyResult {
            ok: false,
            records: 10,
            memories: 2,
            problems: Vec::new(),
            index_problems: vec!["the full-text index holds document 7 twice".into()],
            absent: None,
            elapsed_ms: 5,
        }
    }

    // STORE-2: what is derived is made anew, and the store is not put back for it
    #[test]
    fn an_index_that_does_not_match_is_not_told_as_a_damaged_store() {
        let text = verified(&found(), &Style::PLAIN);
        assert!(text.contains("the store is whole") && text.contains("document 7 twice"), "{text}");
        assert!(text.contains("tiro store rebuild") && !text.contains("restore") && !text.contains("damaged"), "{text}");
    }

    #[test]
    fn a_damaged_store_is_told_with_its_problems_and_the_way_out() {
        let result = VerifyResult { problems: vec!["memory 7: checksum".into()], index_problems: Vec::new(), ..found() };
        let text = verified(&result, &Style::PLAIN);
        assert!(text.contains("damaged: 10 records, 2 memories, 5 ms") && text.contains("  memory 7: checksum"), "{text}");
        assert!(text.contains("tiro store restore"));
    }

    #[test]
    fn paths_go_to_the_daemon_absolute() {
        use std::os::unix::ffi::OsStrExt;
        let path = absolute(Some(Path::new("x.backup"))).ok().flatten();
        assert!(path.is_some_and(|path| path.starts_with('/') && path.ends_with("/x.backup")));
        assert!(absolute(None).is_ok_and(|path| path.is_none()));
        let raw = std::ffi::OsStr::from_bytes(b"/b/\xff.redb");
        assert!(absolute(Some(Path::new(raw))).is_err_and(|failure| failure.exit == Exit::Usage));
    }
}
