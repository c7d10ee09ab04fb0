//! `tiro forget`: hide memories everywhere at once.
//!
//! Must not know: what hiding takes.

use super::filter::FilterArgs;
use super::shell::{Daemon, fresh_key};
use super::{Exit, Failure, Outcome, Shell, input, progress, purge};
use crate::limits::FORGET_PAGES_MAX;
use crate::render::{Style, size, time};
use clap::Args;
use serde::Serialize;
use tiro_schema::wire::memory::{ForgetParams, ForgetResult};

const EXAMPLES: &str = "\
Examples:
  tiro forget 3f2a9c1d
  tiro forget --from-session chat-17 --dry-run
  tiro forget -t scratch --space work --yes
  tiro forget 3f2a9c1d --purge
  tiro forget -t scratch --yes --json | jq -r '.ids[]' | tiro undo -      (takes it back)";

/// Hide memories everywhere at once
///
/// By ids, or by filter flags in one space. What a filter fits is counted and confirmed first; --yes goes ahead, and is
/// needed where nobody can be asked (a pipe, a script, --json). What is forgotten is found by nothing any more; until the time shown `tiro undo ID` brings it back.
/// Seven days later, or at once with --purge, it is taken out of every file.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ForgetArgs {
    /// Ids; - reads them from standard input
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    #[command(flatten)]
    filter: FilterArgs,
    /// Only count
    #[arg(long)]
    dry_run: bool,
    /// Take them out of every file too, now: nothing brings them back. IDs may then be of forgotten memories
    #[arg(long)]
    purge: bool,
    /// Go ahead without asking
    #[arg(long, short)]
    yes: bool,
}

/// Runs the command.
pub async fn run(shell: &Shell, args: ForgetArgs) -> Outcome {
    let filter = args.filter.to_filter();
    let mut params = ForgetParams {
        dry_run: args.dry_run.then_some(true),
        purge: args.purge.then_some(true),
        key: fresh_key(),
        ..ForgetParams::default()
    };
    match (args.ids.is_empty(), filter) {
        (false, None) => params.ids = Some(input::ids(&args.ids)?),
        (true, Some(filter)) => {
            params.filter = Some(filter);
            params.space = Some(shell.space_name()?);
        }
        (false, Some(_)) => return Err(Failure::usage("give ids or filter flags, not both")),
        (true, None) => {
            return Err(Failure::usage("nothing was named").hint("give ids, or filter flags such as --tag or --from-session"));
        }
    }
    let mut daemon = shell.daemon().await?;
    if params.filter.is_some() && !args.dry_run && !args.yes && !args.purge {
        let space = params.space.clone().unwrap_or_default();
        let count = count(&mut daemon, &params).await?;
        if count > 0 && !input::agreed(shell, false, &format!("forget {} of {space}?", memories(count)))? {
            return Ok(Exit::Failed);
        }
    }
    if args.purge && !args.dry_run {
        return for_good(shell, &mut daemon, &params, args.yes).await;
    }
    if params.filter.is_none() || args.dry_run {
        let result: ForgetResult = daemon.call("memory/forget", &params).await?;
        return tell(shell, &result, args.dry_run);
    }
    let counting = ForgetParams { dry_run: Some(true), key: None, ..params.clone() };
    let result = in_pages(&mut daemon, "memory/forget", &counting, &params).await?;
    tell(shell, &result, false)
}

/// Forgets and purges, in one call: there is nothing to bring back by its id.
async fn for_good(shell: &Shell, daemon: &mut Daemon, params: &ForgetParams, yes: bool) -> Outcome {
    let count = count(daemon, params).await?;
    if count > 0 && !input::agreed(shell, yes, &format!("forget {} for good? nothing brings them back", memories(count)))? {
        return Ok(Exit::Failed);
    }
    let result: ForgetResult = progress::call(shell, daemon, "memory/forget", params, "purging").await?;
    shell.answer(&result, |result, style| {
        result.receipt.as_ref().map_or_else(String::new, |receipt| purge::told(receipt, style))
    })?;
    if result.count == 0 {
        shell.note("nothing found");
        return Ok(Exit::NothingFound);
    }
    Ok(purge::exit(result.receipt.as_ref()))
}

/// Forgets all that a call fits, so that every id is known and can be brought back: one answer lists only its first ids. While more
/// fit than a dry run lists, those it lists are forgotten by id; the call itself forgets the rest.
///
/// # Errors
/// As the daemon answers; what was forgotten before is then told on standard error.
pub async fn in_pages<P: Serialize>(daemon: &mut Daemon, method: &str, counting: &P, whole: &P) -> Result<ForgetResult, Failure> {
    let mut all: Option<ForgetResult> = None;
    for _ in 0..FORGET_PAGES_MAX {
        match page(daemon, method, counting, whole).await {
            Ok((page, is_last)) => {
                let joined = join(all.take(), page);
                if is_last {
                    return Ok(joined);
                }
                all = Some(joined);
            }
            Err(failure) => {
                tell_before(all.as_ref());
                return Err(failure);
            }
        }
    }
    tell_before(all.as_ref());
    Err(Failure::failed("more fits than one command forgets").hint("repeat the command: it goes on with the rest"))
}

/// One page; whether it was the last.
async fn page<P: Serialize>(daemon: &mut Daemon, method: &str, counting: &P, whole: &P) -> Result<(ForgetResult, bool), Failure> {
    let found: ForgetResult = daemon.call(method, counting).await?;
    if found.count <= found.ids.len() as u64 {
        return Ok((daemon.call(method, whole).await?, true));
    }
    let listed = ForgetParams { ids: Some(found.ids), key: fresh_key(), ..ForgetParams::default() };
    Ok((daemon.call("memory/forget", &listed).await?, false))
}

/// Two pages as one answer: until the first of them can no longer be undone.
fn join(before: Option<ForgetResult>, page: ForgetResult) -> ForgetResult {
    let Some(mut all) = before else { return page };
    all.count += page.count;
    all.ids.extend(page.ids);
    all.derived.extend(page.derived);
    all.seq = page.seq;
    all
}

/// On standard error whatever was asked for: without these ids nothing of it can be brought back.
fn tell_before(all: Option<&ForgetResult>) {
    if let Some(all) = all {
        eprintln!("forgot {} before this error; take them back: tiro undo - with these ids:", memories(all.count));
        all.ids.iter().for_each(|id| eprintln!("{id}"));
    }
}

async fn count(daemon: &mut Daemon, params: &ForgetParams) -> Result<u64, Failure> {
    let params = ForgetParams { dry_run: Some(true), key: None, ..params.clone() };
    Ok(daemon.call::<_, ForgetResult>("memory/forget", &params).await?.count)
}

fn memories(count: u64) -> String {
    size::count(count, "memory", "memories")
}

/// Tells what was forgotten, or would be; with `--json` the result alone.
///
/// # Errors
/// As the stream says.
pub fn tell(shell: &Shell, result: &ForgetResult, dry_run: bool) -> Outcome {
    shell.answer(result, |result, style| said(result, dry_run, style))?;
    if result.count == 0 {
        shell.note("nothing found");
        return Ok(Exit::NothingFound);
    }
    if !shell.out.terminal && !shell.global.json {
        shell.note(sentence(result, dry_run, &shell.out).trim_end());
    }
    Ok(Exit::Done)
}

/// On a terminal what was done and how to take it back; in a pipe the ids, one a line.
fn said(result: &ForgetResult, dry_run: bool, style: &Style) -> String {
    if !style.terminal {
        return result.ids.iter().map(|id| format!("{id}\n")).collect();
    }
    if result.count == 0 {
        return String::new();
    }
    let mut text = sentence(result, dry_run, style);
    match result.ids.as_slice() {
        _ if dry_run => {}
        ids if ids.len() <= IDS_IN_COMMAND_MAX => {
            text.push_str(&style.dim(&format!("take it back: tiro undo {}\n", ids.join(" "))))
        }
        ids => {
            text.push_str(&style.dim("take it back: tiro undo ID..., or tiro undo - with ids on its standard input; the ids:\n"));
            ids.iter().for_each(|one| text.push_str(&style.dim(&format!("  {one}\n"))));
        }
    }
    text
}

/// What was done, and until when it can be undone.
fn sentence(result: &ForgetResult, dry_run: bool, style: &Style) -> String {
    let memories = memories(result.count);
    if dry_run {
        return format!("would forget {memories}; nothing was changed\n");
    }
    let until = result
        .undo_until
        .as_ref()
        .map_or_else(String::new, |at| format!("; until {} tiro undo brings them back", time::minute(at, style)));
    let derived = match result.derived.as_slice() {
        [] => String::new(),
        ids => format!("; what was merged from them and others stays: {}", ids.join(" ")),
    };
    format!("forgot {memories}{until}{derived}\n")
}

/// Ids that are shown as one command.
const IDS_IN_COMMAND_MAX: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;
    use tiro_schema::wire::Timestamp;

    // MEM-9
    #[test]
    fn pages_are_told_as_one_answer_with_every_id() {
        let page = |n: u32| ForgetResult {
            count: 2,
            ids: vec![format!("{n}-a"), format!("{n}-b")],
            seq: format!("1-{n}"),
            undo_until: Some(Timestamp(format!("2026-03-1{n}T12:00:00.000Z"))),
            receipt: None,
            derived: Vec::new(),
        };
        let all = join(Some(join(None, page(1))), page(2));
        assert_eq!((all.count, all.ids.len(), all.seq.as_str()), (4, 4, "1-2"));
        assert_eq!(all.undo_until, page(1).undo_until);
    }

    #[test]
    fn the_answer_says_until_when_and_how_it_can_be_undone() {
        let at = Timestamp("2026-03-12T12:00:00.000Z".into());
        let terminal = Style { terminal: true, colour: false, width: 80 };
        let mut result = ForgetResult {
            count: 1,
            ids: vec!["3f2a9c1d-1".into()],
            seq: "1-2".into(),
            undo_until: Some(at),
            receipt: None,
            derived: Vec::new(),
        };
        let shown = said(&result, false, &terminal);
        assert!(shown.contains("forgot 1 memory; until 2026-03-1"), "{shown}");
        assert!(shown.contains("tiro undo 3f2a9c1d-1"));
        assert_eq!(said(&result, false, &Style::PLAIN), "3f2a9c1d-1\n");
        assert_eq!(said(&result, true, &terminal), "would forget 1 memory; nothing was changed\n");
        result.ids = (0..9).map(|n| format!("id-{n}")).collect();
        result.count = 9;
        let shown = said(&result, false, &terminal);
        assert!(shown.contains("tiro undo -") && result.ids.iter().all(|id| shown.contains(id.as_str())), "{shown}");
    }
}
