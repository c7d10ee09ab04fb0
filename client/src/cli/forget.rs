//! `tiro forget`: hide memories everywhere at once.
//!
//! Must not know: what hiding takes.

use super::filter::FilterArgs;
use super::shell::{Daemon, fresh_key};
use super::{Exit, Failure, Outcome, Shell, input};
use crate::render::{Style, id, size, time};
use clap::Args;
use tiro_schema::wire::memory::{ForgetParams, ForgetResult};

const EXAMPLES: &str = "\
Examples:
  tiro forget 3f2a9c1d
  tiro forget --from-session chat-17 --dry-run
  tiro forget -t scratch --space work
  tiro forget -t scratch --json | jq -r '.ids[]' | tiro undo -      (takes it back)";

/// Hide memories everywhere at once
///
/// By ids, or by filter flags in one space. A filter on a terminal is counted and confirmed first; --yes goes ahead.
/// What is forgotten is found by nothing any more; until the time shown `tiro undo ID` brings it back.
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
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

/// Runs the command.
pub async fn run(shell: &Shell, args: ForgetArgs) -> Outcome {
    let filter = args.filter.to_filter();
    let mut params = ForgetParams { dry_run: args.dry_run.then_some(true), key: fresh_key(), ..ForgetParams::default() };
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
    if params.filter.is_some() && !args.dry_run && !args.yes && shell.can_ask() {
        let count = count(&mut daemon, &params).await?;
        if count == 0 {
            shell.note("nothing found");
            return Ok(Exit::NothingFound);
        }
        let space = params.space.as_deref().unwrap_or_default();
        let question = format!("forget {} of {space}?", size::count(count, "memory", "memories"));
        if !input::confirmed(shell, &question)? {
            return Ok(Exit::Failed);
        }
    }
    let result: ForgetResult = daemon.call("memory/forget", &params).await?;
    shell.answer(&result, |result, style| said(result, args.dry_run, style))?;
    if result.count == 0 {
        shell.note("nothing found");
        return Ok(Exit::NothingFound);
    }
    Ok(Exit::Done)
}

async fn count(daemon: &mut Daemon, params: &ForgetParams) -> Result<u64, Failure> {
    let params = ForgetParams { dry_run: Some(true), key: None, ..params.clone() };
    Ok(daemon.call::<_, ForgetResult>("memory/forget", &params).await?.count)
}

/// On a terminal a sentence; in a pipe the ids, one a line.
fn said(result: &ForgetResult, dry_run: bool, style: &Style) -> String {
    if !style.terminal {
        return result.ids.iter().map(|id| format!("{id}\n")).collect();
    }
    let memories = size::count(result.count, "memory", "memories");
    if dry_run {
        return format!("would forget {memories}\n");
    }
    if result.count == 0 {
        return String::new();
    }
    let until =
        result.undo_until.as_ref().map_or_else(String::new, |at| format!("; can be undone until {}", time::minute(at, style)));
    let mut text = format!("forgot {memories}{until}\n");
    match result.ids.as_slice() {
        [one] => text.push_str(&style.dim(&format!("tiro undo {one}\n"))),
        ids => ids.iter().take(5).for_each(|one| text.push_str(&style.dim(&format!("  {}\n", id(one, style))))),
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiro_schema::wire::Timestamp;

    #[test]
    fn the_answer_says_until_when_it_can_be_undone() {
        let at = Timestamp("2026-03-12T12:00:00.000Z".into());
        let result = ForgetResult { count: 1, ids: vec!["3f2a9c1d-1".into()], seq: "1-2".into(), undo_until: Some(at) };
        let shown = said(&result, false, &Style { terminal: true, colour: false, width: 80 });
        assert!(shown.contains("forgot 1 memory; can be undone until 2026-03-1"), "{shown}");
        assert!(shown.contains("tiro undo 3f2a9c1d-1"));
        assert_eq!(said(&result, false, &Style::PLAIN), "3f2a9c1d-1\n");
        assert!(said(&result, true, &Style { terminal: true, colour: false, width: 80 }).starts_with("would forget"));
    }
}
