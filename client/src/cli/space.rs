//! `tiro space`: list spaces, show and change the rules of one, and forget everything it holds.
//!
//! Must not know: what hiding takes.

use super::shell::fresh_key;
use super::{Exit, Failure, Outcome, Shell, forget, input};
use crate::limits::PAGE_ITEMS;
use crate::render::{Style, escape, size, time, wrap};
use clap::{Args, Subcommand};
use tiro_schema::wire::memory::ForgetResult;
use tiro_schema::wire::space::{
    Principal, Quota, Retention, RetentionAct, SpaceDeleteParams, SpaceItem, SpaceListParams, SpaceListResult, SpaceRule,
    SpaceRules, SpaceUpdateParams, SpaceUpdateResult,
};

/// List spaces, show and change their rules, and forget everything one holds
#[derive(Debug, Subcommand)]
pub enum SpaceCommand {
    List(ListArgs),
    Show(ShowArgs),
    Set(SetArgs),
    Delete(DeleteArgs),
}

/// Spaces that hold memories, oldest first
///
/// In a pipe each is one line of tab-separated fields: name, memories, made.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tiro space list\n  tiro space list --json | jq -r '.items[].name'")]
pub struct ListArgs {}

/// The rules of a space: who may read and write, gate, secrets, retention, quota
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tiro space show work\n  tiro space show work --json | jq .rules")]
pub struct ShowArgs {
    /// The space
    #[arg(value_name = "NAME")]
    name: String,
}

const SET_EXAMPLES: &str = "\
Examples:
  tiro space set work --reader client:nvim --reader exe:/usr/bin/claude --writer client:tiro
  tiro space set scratch --retention 30 --then forget --gate off
  tiro space set inbox --secrets redact --max-memories 10000
  tiro space set work --clear readers --clear writers";

/// Change the rules of a space; those not named stay
///
/// Who is named by program path or declared name; every program of yours can claim a name and be started from anywhere, so the rules stop
/// mistakes, not malice. This `tiro` may always change them.
#[derive(Debug, Args)]
#[command(after_help = SET_EXAMPLES)]
pub struct SetArgs {
    /// The space; it is made when there is none
    #[arg(value_name = "NAME")]
    name: String,
    /// Who may read: client:NAME, or exe:PATH; everybody when never given
    #[arg(long, value_name = "WHO", value_parser = principal)]
    reader: Vec<Principal>,
    /// Who may write
    #[arg(long, value_name = "WHO", value_parser = principal)]
    writer: Vec<Principal>,
    /// Days after which what is not pinned is put away
    #[arg(long, value_name = "DAYS")]
    retention: Option<u32>,
    /// What becomes of it then
    #[arg(long, value_name = "ACT", requires = "retention", value_parser = ["archive", "forget"])]
    then: Option<String>,
    /// How strict the write gate is
    #[arg(long, value_name = "GATE", value_parser = ["off", "normal", "strict"])]
    gate: Option<String>,
    /// What becomes of secrets in a text
    #[arg(long, value_name = "WHAT", value_parser = ["refuse", "redact"])]
    secrets: Option<String>,
    /// Memories at most
    #[arg(long, value_name = "N")]
    max_memories: Option<u64>,
    /// Bytes of their texts at most
    #[arg(long, value_name = "N")]
    max_bytes: Option<u64>,
    /// Take a rule away
    #[arg(long, value_name = "RULE", value_parser = ["retention", "gate", "secrets", "readers", "writers", "quota"])]
    clear: Vec<String>,
}

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
        SpaceCommand::Show(args) => show(shell, args).await,
        SpaceCommand::Set(args) => set(shell, args).await,
        SpaceCommand::Delete(args) => delete(shell, args).await,
    }
}

/// Reads `client:NAME` or `exe:PATH`.
fn principal(text: &str) -> Result<Principal, String> {
    match text.split_once(':') {
        Some(("client", name)) if !name.is_empty() => Ok(Principal { client: Some(name.to_owned()), executable: None }),
        Some(("exe", path)) if path.starts_with('/') => Ok(Principal { executable: Some(path.to_owned()), client: None }),
        _ => Err("client:NAME, or exe: and an absolute path".to_owned()),
    }
}

/// A word of a closed set as its wire type; the words were checked with the arguments.
fn word<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, Failure> {
    serde_json::from_value(serde_json::Value::String(text.to_owned())).map_err(|error| Failure::usage(error.to_string()))
}

async fn show(shell: &Shell, args: ShowArgs) -> Outcome {
    let found = all(shell).await?.into_iter().find(|space| space.name == args.name);
    let Some(space) = found else {
        shell.note("nothing found: no space of this name holds a memory or has rules, or you may not read it");
        return Ok(Exit::NothingFound);
    };
    shell.answer(&space, |space, style| line(space, style) + &rules(space.rules.as_ref()))?;
    Ok(Exit::Done)
}

/// Rules, a line each.
fn rules(rules: Option<&SpaceRules>) -> String {
    let who = |list: Option<&Vec<Principal>>| match list {
        None => "everybody".to_owned(),
        Some(list) => list.iter().map(one).collect::<Vec<_>>().join(", "),
    };
    let Some(rules) = rules else { return "no rules: everybody may read and write, and everything is kept\n".to_owned() };
    let retention = rules.retention.as_ref().map_or_else(
        || "for good".to_owned(),
        |retention| {
            let act = if retention.then == Some(RetentionAct::Forget) { "forgotten" } else { "archived" };
            format!("{act} after {}, unless pinned", size::count(u64::from(retention.days), "day", "days"))
        },
    );
    let quota = rules.quota.as_ref().map_or_else(
        || "none".to_owned(),
        |quota| {
            let parts = [(quota.memories, "memories"), (quota.bytes, "bytes")];
            let told: Vec<String> = parts.iter().filter_map(|(max, name)| Some(format!("{} {name}", (*max)?))).collect();
            told.join(", ")
        },
    );
    let lines = [
        ("readers", who(rules.readers.as_ref())),
        ("writers", who(rules.writers.as_ref())),
        ("gate", format!("{:?}", rules.gate).to_lowercase()),
        ("secrets", format!("{:?}", rules.secrets).to_lowercase()),
        ("kept", retention),
        ("quota", quota),
    ];
    lines.iter().map(|(name, text)| format!("{}\t{}\n", name, escape::terminal_line(text))).collect()
}

fn one(principal: &Principal) -> String {
    let parts = [("exe:", &principal.executable), ("client:", &principal.client)];
    let told: Vec<String> = parts.iter().filter_map(|(lead, text)| Some(format!("{lead}{}", text.as_ref()?))).collect();
    told.join(" and ")
}

async fn set(shell: &Shell, args: SetArgs) -> Outcome {
    let then = args.then.as_deref().map(word).transpose()?;
    let quota = Quota { memories: args.max_memories, bytes: args.max_bytes };
    let list = |list: Vec<Principal>| (!list.is_empty()).then_some(list);
    let clear = args.clear.iter().map(|rule| word(rule)).collect::<Result<Vec<SpaceRule>, Failure>>()?;
    let params = SpaceUpdateParams {
        space: args.name,
        retention: args.retention.map(|days| Retention { days, then }),
        gate: args.gate.as_deref().map(word).transpose()?,
        secrets: args.secrets.as_deref().map(word).transpose()?,
        readers: list(args.reader),
        writers: list(args.writer),
        quota: (quota != Quota::default()).then_some(quota),
        clear: (!clear.is_empty()).then_some(clear),
        key: fresh_key(),
    };
    let mut daemon = shell.daemon().await?;
    let result: SpaceUpdateResult = daemon.call("space/update", &params).await?;
    shell.answer(&result, |result, _| rules(Some(&result.rules)))?;
    Ok(Exit::Done)
}

async fn list(shell: &Shell) -> Outcome {
    let result = SpaceListResult { items: all(shell).await?, next_cursor: None };
    shell.answer(&result, |result, style| result.items.iter().map(|space| line(space, style)).collect())?;
    if result.items.is_empty() {
        shell.note("nothing found: no space holds a memory");
        return Ok(Exit::NothingFound);
    }
    Ok(Exit::Done)
}

/// Every space there is to see.
async fn all(shell: &Shell) -> Result<Vec<SpaceItem>, Failure> {
    let mut daemon = shell.daemon().await?;
    let mut params = SpaceListParams { cursor: None, limit: Some(PAGE_ITEMS) };
    let mut items: Vec<SpaceItem> = Vec::new();
    loop {
        let page: SpaceListResult = daemon.call("space/list", &params).await?;
        items.extend(page.items);
        params.cursor = page.next_cursor;
        if params.cursor.is_none() {
            return Ok(items);
        }
    }
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
        let space = SpaceItem { name: "work".into(), memories: 3, created_at: made, rules: None };
        assert!(line(&space, &Style::PLAIN).starts_with("work\t3\t2026-03-12"), "{}", line(&space, &Style::PLAIN));
        assert!(line(&space, &Style { terminal: true, colour: false, width: 80 }).contains("3 memories"));
    }
}
