//! `tiro space`: list spaces, and forget everything one holds.
//!
//! Must not know: what hiding takes.

use super::shell::fresh_key;
use super::{Exit, Outcome, Shell, forget, input};
use crate::limits::PAGE_ITEMS;
use crate::render::{Style, escape, size, time, wrap};
use clap::{Args, Subcommand};
use tiro_schema::wire::memory::ForgetResult;
use tiro_schema::wire::space::{SpaceDeleteParams, SpaceItem, SpaceListParams, SpaceListResult};

/// List spaces, and forget everything one holds
#[derive(Debug, Subcommand)]
pub enum SpaceCommand {
    List(ListArgs),
    Delete(DeleteArgs),
}

/// Spaces that hold memories, oldest first
///
/// In a pipe each is one line of tab-separated fields: name, memories, made.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tiro space list\n  tiro space list --json | jq -r '.items[].name'")]
pub struct ListArgs {}

/// Forget every memory of a space
///
/// As `tiro forget` does: hidden everywhere at once, and until the time shown `tiro undo ID` brings each back. Asks first; --yes
/// goes ahead, and is needed where nobody can be asked (a pipe, a script, --json). Conversations of the space stay.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tiro space delete scratch --dry-run\n  tiro space delete scratch --yes")]
pub struct DeleteArgs {
    /// The space
    #[arg(value_name = "NAME")]
    name: String,
    /// Only count
    #[arg(long)]
    dry_run: bool,
    /// Go ahead without asking
    #[arg(long, short)]
    yes: bool,
}

/// Runs the command.
pub async fn run(shell: &Shell, command: SpaceCommand) -> Outcome {
    match command {
        SpaceCommand::List(_) => list(shell).await,
        SpaceCommand::Delete(args) => delete(shell, args).await,
    }
}

async fn list(shell: &Shell) -> Outcome {
    let mut daemon = shell.daemon().await?;
    let mut params = SpaceListParams { cursor: None, limit: Some(PAGE_ITEMS) };
    let mut items: Vec<SpaceItem> = Vec::new();
    loop {
        let page: SpaceListResult = daemon.call("space/list", &params).await?;
        items.extend(page.items);
        params.cursor = page.next_cursor;
        if params.cursor.is_none() {
            break;
        }
    }
    let result = SpaceListResult { items, next_cursor: None };
    shell.answer(&result, |result, style| result.items.iter().map(|space| line(space, style)).collect())?;
    if result.items.is_empty() {
        shell.note("nothing found: no space holds a memory");
        return Ok(Exit::NothingFound);
    }
    Ok(Exit::Done)
}

fn line(space: &SpaceItem, style: &Style) -> String {
    if !style.terminal {
        return format!("{}\t{}\t{}\n", escape::field(&space.name), space.memories, time::day(&space.created_at, style));
    }
    let made = style.dim(&format!("made {}", time::day(&space.created_at, style)));
    let memories = size::count(space.memories, "memory", "memories");
    format!("{}  {:>14}  {made}\n", style.cyan(&wrap::pad(&escape::terminal_line(&space.name), 24)), memories)
}

async fn delete(shell: &Shell, args: DeleteArgs) -> Outcome {
    let mut daemon = shell.daemon().await?;
    let counting = SpaceDeleteParams { space: args.name, dry_run: Some(true), key: None };
    if args.dry_run {
        let result: ForgetResult = daemon.call("space/delete", &counting).await?;
        return forget::tell(shell, &result, true);
    }
    if !args.yes {
        let count = daemon.call::<_, ForgetResult>("space/delete", &counting).await?.count;
        let name = escape::terminal_line(&counting.space);
        let question = format!("forget the {} of the space {name}?", size::count(count, "memory", "memories"));
        if count > 0 && !input::agreed(shell, false, &question)? {
            return Ok(Exit::Failed);
        }
    }
    let whole = SpaceDeleteParams { dry_run: None, key: fresh_key(), ..counting.clone() };
    let result = forget::in_pages(&mut daemon, "space/delete", &counting, &whole).await?;
    forget::tell(shell, &result, false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiro_schema::wire::Timestamp;

    #[test]
    fn a_pipe_gets_one_line_a_space() {
        let made = Timestamp("2026-03-12T12:00:00.000Z".into());
        let space = SpaceItem { name: "work".into(), memories: 3, created_at: made };
        assert!(line(&space, &Style::PLAIN).starts_with("work\t3\t2026-03-12"), "{}", line(&space, &Style::PLAIN));
        assert!(line(&space, &Style { terminal: true, colour: false, width: 80 }).contains("3 memories"));
    }
}
