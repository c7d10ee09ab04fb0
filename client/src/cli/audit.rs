//! `tiro audit`: who read and wrote what.
//!
//! Must not know: how rows are kept and chained.

use super::{Exit, Outcome, Shell};
use crate::limits::PAGE_ITEMS;
use crate::render::audit;
use clap::Args;
use tiro_schema::wire::memory::{AuditParams, AuditResult, AuditRow};

const EXAMPLES: &str = "\
Examples:
  tiro audit                            # the newest 50 calls on the space `personal`
  tiro audit 3f2a9c1d                   # everything about one memory
  tiro audit --space work --client nvim --method memory/remember
  tiro audit --outside                  # calls of no space: refused ones, store operations, what retention took out
  tiro audit --all --json | jq -r '.items[] | select(.outcome != \"done\")'";

/// Who read and wrote what: time, program, process, method, outcome, ids; newest first, never a text
///
/// The rows are chained by hashes: `tiro store verify` names one that was removed, changed or put elsewhere. In a pipe each row is one
/// line of tab-separated fields: time, access, method, outcome, client, pid, executable, space, ids.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct AuditArgs {
    /// Only calls about this memory, by id or its first 8 characters or more
    #[arg(value_name = "ID")]
    id: Option<String>,
    /// Only calls of this client: its declared name, or path or file name of its executable
    #[arg(long, value_name = "NAME")]
    client: Option<String>,
    /// Only calls of this method, as memory/recall
    #[arg(long, value_name = "METHOD")]
    method: Option<String>,
    /// Only the rows about this recall
    #[arg(long, value_name = "RECALL")]
    recall: Option<String>,
    /// Calls that belong to no space
    #[arg(long, conflicts_with = "id")]
    outside: bool,
    /// Rows at most
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50, conflicts_with = "all")]
    limit: usize,
    /// Every row there is
    #[arg(long)]
    all: bool,
}

/// Runs the command.
pub async fn run(shell: &Shell, args: AuditArgs) -> Outcome {
    let mut daemon = shell.daemon().await?;
    let wanted = if args.all { usize::MAX } else { args.limit };
    let space = if args.id.is_some() || args.outside { None } else { shell.space()? };
    let mut params = AuditParams {
        space,
        id: args.id,
        outside: args.outside.then_some(true),
        client: args.client,
        method: args.method,
        recall_id: args.recall,
        cursor: None,
        limit: None,
    };
    let mut items: Vec<AuditRow> = Vec::new();
    let next_cursor = loop {
        let room = u32::try_from(wanted - items.len()).unwrap_or(u32::MAX);
        params.limit = Some(room.clamp(1, PAGE_ITEMS));
        let page: AuditResult = daemon.call("memory/audit", &params).await?;
        items.extend(page.items);
        params.cursor = page.next_cursor;
        if params.cursor.is_none() || items.len() >= wanted {
            break params.cursor.take();
        }
    };
    let result = AuditResult { items, next_cursor };
    shell.answer(&result, |result, style| audit::rows(&result.items, style))?;
    if result.items.is_empty() {
        shell.note("nothing found: no such call is in the audit");
        return Ok(Exit::NothingFound);
    }
    if result.next_cursor.is_some() {
        shell.note("there are older rows: -n N or --all shows more");
    }
    Ok(Exit::Done)
}
