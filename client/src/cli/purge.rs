//! `tiro store purge` and `tiro store receipts`, and how a receipt and a search for traces are told.
//!
//! Must not know: what a purge takes.

use super::shell::fresh_key;
use super::{Exit, Failure, Outcome, Shell, input, progress};
use crate::render::{Style, escape, size, time};
use clap::Args;
use tiro_schema::wire::Timestamp;
use tiro_schema::wire::memory::{PurgeParams, PurgeResult, Receipt, ReceiptsParams, ReceiptsResult};
use tiro_schema::wire::store::{AbsentResult, VerifyParams, VerifyResult};

/// Take forgotten memories out physically, now
///
/// The daemon does it by itself seven days after they were forgotten; this does it at once, for all that are forgotten, and cannot
/// be undone. Asks first; --yes goes ahead, and is needed where nobody can be asked (a pipe, a script, --json).
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tiro store purge --dry-run\n  tiro store purge --yes --json | jq .receipt.purgedAt")]
pub struct PurgeArgs {
    /// Only count
    #[arg(long)]
    dry_run: bool,
    /// Go ahead without asking
    #[arg(long, short)]
    yes: bool,
}

/// What was purged, and since when each place is without it
///
/// Receipts hold ids and times, no words. ID is that of a receipt or of a memory, whole.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tiro store receipts\n  tiro store receipts 3f2a9c1d-8a7e-4c1b-9d55-0f6b7f6f2a11")]
pub struct ReceiptsArgs {
    /// Of one purge, or of the purge a memory fell to
    id: Option<String>,
}

/// Runs `tiro store purge`.
///
/// # Errors
/// As the daemon answers.
pub async fn purge(shell: &Shell, args: PurgeArgs) -> Outcome {
    let mut daemon = shell.daemon().await?;
    let counting = PurgeParams { dry_run: Some(true), key: None };
    let found: PurgeResult = daemon.call("store/purge", &counting).await?;
    let memories = size::count(found.count, "forgotten memory", "forgotten memories");
    if args.dry_run || found.count == 0 {
        shell.answer(&found, |_, _| format!("would purge {memories}; nothing was changed\n"))?;
        return Ok(if found.count == 0 { Exit::NothingFound } else { Exit::Done });
    }
    if !input::agreed(shell, args.yes, &format!("purge {memories}? they cannot be brought back"))? {
        return Ok(Exit::Failed);
    }
    let params = PurgeParams { dry_run: None, key: fresh_key() };
    let result: PurgeResult = progress::call(shell, &mut daemon, "store/purge", &params, "purging").await?;
    shell.answer(&result, |result, style| result.receipt.as_ref().map_or_else(String::new, |receipt| told(receipt, style)))?;
    Ok(exit(result.receipt.as_ref()))
}

/// Runs `tiro store receipts`.
///
/// # Errors
/// As the daemon answers.
pub async fn receipts(shell: &Shell, args: ReceiptsArgs) -> Outcome {
    let mut daemon = shell.daemon().await?;
    let params = ReceiptsParams { id: args.id, ..ReceiptsParams::default() };
    let result: ReceiptsResult = daemon.call("memory/receipts", &params).await?;
    shell.answer(&result, |result, style| result.items.iter().map(|receipt| told(receipt, style)).collect())?;
    Ok(if result.items.is_empty() { Exit::NothingFound } else { Exit::Done })
}

/// Done, or not yet.
pub fn exit(receipt: Option<&Receipt>) -> Exit {
    if receipt.is_some_and(|receipt| !receipt.done) { Exit::Failed } else { Exit::Done }
}

/// A receipt, a line a place.
pub fn told(receipt: &Receipt, style: &Style) -> String {
    let memories = size::count(receipt.count, "memory", "memories");
    let verdict = if receipt.done { style.green("purged") } else { style.yellow("not yet purged everywhere:") };
    let mut text = format!("{verdict} {memories}, receipt {}\n", receipt.id);
    let at = &receipt.purged_at;
    let place = |name: &str, at: &Option<Timestamp>, more: String| {
        let when = at.as_ref().map_or_else(|| "not yet".to_owned(), |at| time::minute(at, style));
        format!("  {name:<24}{when}{more}\n")
    };
    let counted = |count: u64, one: &str, many: &str| match count {
        0 => String::new(),
        count => format!("  ({})", size::count(count, one, many)),
    };
    text.push_str(&place("hidden", &Some(receipt.hidden_to.clone()), String::new()));
    text.push_str(&place("rows", &at.rows, String::new()));
    let said = counted(receipt.session_rows, "place cleaned; own words stay", "places cleaned; own words stay");
    text.push_str(&place("recalls in sessions", &at.sessions, said));
    text.push_str(&place("store file", &at.store, String::new()));
    text.push_str(&place("full-text index", &at.index, String::new()));
    text.push_str(&place("vectors", &at.vectors, String::new()));
    let removed = u64::from(receipt.backups_removed) + u64::from(receipt.set_aside_removed);
    text.push_str(&place("backups", &at.backups, counted(removed, "older copy removed", "older copies removed")));
    if let Some(why) = &receipt.put_off {
        text.push_str(&format!("  put off: {}; the daemon takes it up again by itself\n", escape::terminal_line(why)));
    }
    text
}

/// Runs `tiro store verify --absent`.
///
/// # Errors
/// As the daemon answers.
pub async fn absent(shell: &Shell, asked: &str) -> Outcome {
    let asked = if asked == "-" { input::stdin()?.trim_end_matches('\n').to_owned() } else { asked.to_owned() };
    let mut daemon = shell.daemon().await?;
    let params = VerifyParams { absent: Some(asked) };
    let result: VerifyResult = progress::call(shell, &mut daemon, "store/verify", &params, "looking").await?;
    shell.answer(&result, |result, style| match &result.absent {
        Some(absent) => found(absent, result.elapsed_ms, style),
        None => String::new(),
    })?;
    match &result.absent {
        Some(_) => Ok(if result.ok { Exit::Done } else { Exit::Failed }),
        None => Err(Failure::failed("the daemon did not look for it").hint("it is of an earlier version: tiro daemon stop")),
    }
}

fn found(absent: &AbsentResult, elapsed_ms: u64, style: &Style) -> String {
    let files = size::count(absent.files, "file", "files");
    let read = format!("{files}, {} read in {}", size::bytes(absent.bytes), time::milliseconds(elapsed_ms));
    let mut text = match (absent.ok, absent.texts) {
        (true, 0) => format!("{}: no file holds this id but receipts ({read})\n", style.green("absent")),
        (true, _) => format!("{}: it stands nowhere ({read})\n", style.green("absent")),
        (false, _) => format!("{} ({read})\n", style.red("it still stands, or not all could be read")),
    };
    for place in &absent.places {
        let what = place.what.as_ref().map_or_else(String::new, |what| format!(", {}", escape::terminal_line(what)));
        let times = size::count(place.count, "time", "times");
        text.push_str(&format!("  {}{what}: {times} in {}\n", place.kind, escape::terminal_line(&place.file)));
        if let Some(hint) = &place.hint {
            text.push_str(&style.dim(&format!("    {hint}\n")));
        }
    }
    for unread in &absent.unread {
        text.push_str(&format!("  not read: {}\n", escape::terminal_line(unread)));
    }
    text
}
