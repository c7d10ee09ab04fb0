//! `tiro remember`: keep a text.
//!
//! Must not know: what the daemon makes of it.

use super::input::{self, CATEGORIES, KINDS};
use super::shell::fresh_key;
use super::{Exit, Outcome, Shell};
use crate::render::{Style, escape, id};
use clap::Args;
use tiro_schema::wire::memory::{Category, Kind, RememberOutcome, RememberParams, RememberResult, Source};
use tiro_schema::wire::{Open, Timestamp};

const EXAMPLES: &str = "\
Examples:
  tiro remember \"we chose redb over SQLite for the store\" -c fact -t storage
  tiro remember 我对花生过敏 --category constraint --pinned
  tiro remember \"dinner with Lin\" --occurred-at yesterday
  git log -1 --format=%B | tiro remember - --tag git --key \"$(git rev-parse HEAD)\"";

/// Keep a text
///
/// What is told by a person is kept as it is. The same words again add to the memory there is instead of making a
/// second one. Passwords, keys, card and identity numbers are refused with exit code 6, and not written anywhere.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct RememberArgs {
    /// The text; - reads standard input
    #[arg(required = true, value_name = "TEXT")]
    text: Vec<String>,
    /// What it is about; decides how slowly it fades
    #[arg(long, short, value_parser = input::one_of::<Category>(&CATEGORIES))]
    category: Option<Category>,
    /// What sort of knowledge it is; follows from the category when absent
    #[arg(long, value_parser = input::one_of::<Kind>(&KINDS))]
    kind: Option<Kind>,
    /// A label; may be repeated
    #[arg(long, short, value_name = "TAG")]
    tag: Vec<String>,
    /// A name it mentions; may be repeated
    #[arg(long, value_name = "NAME")]
    entity: Vec<String>,
    /// How much it matters, 0 to 1
    #[arg(long, value_name = "0..1", value_parser = input::unit)]
    importance: Option<f32>,
    /// Never let it fade
    #[arg(long)]
    pinned: bool,
    /// When it happened (2026-03-05, "2026-03-05 14:00", yesterday, "3 days ago", RFC 3339)
    #[arg(long, value_name = "TIME", value_parser = input::instant)]
    occurred_at: Option<Timestamp>,
    /// True from then
    #[arg(long, value_name = "TIME", value_parser = input::instant)]
    valid_from: Option<Timestamp>,
    /// True until then
    #[arg(long, value_name = "TIME", value_parser = input::instant)]
    valid_to: Option<Timestamp>,
    /// Who said it
    #[arg(long, value_name = "NAME")]
    speaker: Option<String>,
    /// Conversation or document it comes from
    #[arg(long = "from-session", value_name = "NAME")]
    from_session: Option<String>,
    /// Where it can be read
    #[arg(long, value_name = "URI")]
    uri: Option<String>,
    /// Repeating the command with the same key does it once
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
}

/// Runs the command.
pub async fn run(shell: &Shell, args: RememberArgs) -> Outcome {
    let params = RememberParams {
        text: input::text(&args.text)?,
        space: shell.space()?,
        kind: args.kind,
        category: args.category,
        tags: input::given(&args.tag),
        entities: input::given(&args.entity),
        importance: args.importance,
        pinned: args.pinned.then_some(true),
        occurred_at: args.occurred_at,
        valid_from: args.valid_from,
        valid_to: args.valid_to,
        source: Some(Source {
            session: args.from_session,
            speaker: args.speaker,
            program: Some(super::shell::CLIENT.to_owned()),
            uri: args.uri,
            position: None,
        }),
        explicit: Some(true),
        verbatim: None,
        key: args.key.or_else(fresh_key),
    };
    let result: RememberResult = shell.daemon().await?.call("memory/remember", &params).await?;
    shell.answer(&result, said)?;
    if result.outcome != Open::Known(RememberOutcome::Refused) {
        return Ok(Exit::Done);
    }
    let reason = result.reason.as_deref().unwrap_or("");
    if !shell.global.json {
        let (why, hint) = refusal(reason);
        let text = crate::render::problem::problem("not remembered", &[why], &hint, &shell.err);
        eprint!("{text}");
    }
    Ok(if reason == "gate:empty" { Exit::Usage } else { Exit::Refused })
}

/// One line: what became of it, and its id.
fn said(result: &RememberResult, style: &Style) -> String {
    let Some(found) = &result.id else { return String::new() };
    if !style.terminal {
        return format!("{found}\n");
    }
    let what = match &result.outcome {
        Open::Known(RememberOutcome::Created) => "remembered",
        Open::Known(RememberOutcome::Duplicate) => "known already",
        Open::Known(RememberOutcome::Updated) => "updated",
        Open::Known(RememberOutcome::Superseded) => "remembered in the place of an older one",
        Open::Known(RememberOutcome::Conflict) => "remembered; it conflicts with another",
        _ => "done",
    };
    let mut line = format!("{what} {}", style.cyan(id(found, style)));
    for related in result.related.iter().filter(|related| &related.id != found) {
        line.push_str(&style.dim(&format!("  {} {}", escape::terminal_line(&related.relation), id(&related.id, style))));
    }
    line + "\n"
}

/// Why a text was refused, and what to do.
fn refusal(reason: &str) -> (String, String) {
    match reason.strip_prefix("secret:") {
        Some(kind) => (
            format!("it holds a secret ({kind})"),
            "secrets are never kept: take it out of the text and say it again, or keep it in a password store".to_owned(),
        ),
        None if reason.is_empty() => ("a rule refused it".to_owned(), String::new()),
        None if reason == "gate:empty" => ("there is nothing to read in it".to_owned(), String::new()),
        None => (reason.to_owned(), String::new()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn result(json: serde_json::Value) -> RememberResult {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn a_pipe_gets_the_id_alone() {
        let created = result(serde_json::json!({"outcome": "created", "id": "3f2a9c1d-0000"}));
        assert_eq!(said(&created, &Style::PLAIN), "3f2a9c1d-0000\n");
        assert_eq!(said(&created, &Style { terminal: true, colour: false, width: 80 }), "remembered 3f2a9c1d\n");
        assert_eq!(said(&result(serde_json::json!({"outcome": "refused", "reason": "secret:jwt"})), &Style::PLAIN), "");
    }

    #[test]
    fn a_refused_secret_is_named_by_its_kind() {
        assert!(refusal("secret:privateKey").0.contains("privateKey"));
    }
}
