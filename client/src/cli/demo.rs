//! `tiro demo`: see Tiro work in a throw-away home with a daemon of its own, and leave nothing behind.
//!
//! Must not know: how anything shown is done; it makes the same calls as every command.

mod data;
mod show;

use super::daemon::shut_down;
use super::shell::{Daemon, fresh_key};
use super::{Exit, Failure, Outcome, Shell, ask};
use crate::{handshake, launch, place};
use clap::Args;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Instant;
use tiro_schema::place::Places;
use tiro_schema::wire::daemon::StatusResult;
use tiro_schema::wire::memory::{ImportParams, ImportResult, RecallParams, RecallResult};
use tiro_schema::wire::turn::Budget;
use tokio::signal::unix::{SignalKind, signal};

/// Milliseconds the demo's one prompt may take.
const PROMPT_MS_MAX: u64 = 30_000;
/// Hits shown of each recall.
const HITS: u32 = 3;

/// See it work, without keeping anything
///
/// Starts a daemon of its own in a throw-away folder, imports about sixty English and Chinese memories, recalls across
/// the languages with the parts of every score, asks a model when one is there, stops the daemon and removes the folder.
/// Takes seconds. Your own memories are not touched.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tiro demo\n  tiro demo --json | jq '.recalls[].hits[0].text'")]
pub struct DemoArgs {}

/// What is asked, and what it shows.
const QUESTIONS: [(&str, &str); 5] = [
    ("An English question that a Chinese note answers", "why did we choose PostgreSQL over MongoDB for the payment ledger?"),
    ("A Chinese question that an English note answers", "谁对坚果过敏"),
    ("An identifier, exactly", "REQ-2041"),
    ("A question about a conversation", "what is the confirmation code of the hotel in Lisbon?"),
    ("A question that nothing answers", "how do you tune a harpsichord?"),
];

/// What the demo's prompt asks.
const PROMPT: &str = "When do we fly to Lisbon, and what does my mother need there? Answer in one sentence.";

/// Runs the command.
pub async fn run(shell: &Shell, _args: DemoArgs) -> Outcome {
    let home = tempfile::Builder::new().prefix("tiro-demo-").tempdir()?;
    let places = place::places_of_home(home.path()).map_err(|error| Failure::failed(error.to_string()))?;
    copy_model_setting(shell, &places);
    let mut terminated = signal(SignalKind::terminate())?;
    let outcome = tokio::select! {
        outcome = perform(shell, &places) => outcome,
        pressed = tokio::signal::ctrl_c() => pressed.map_err(Failure::from).and(Err(Failure::failed("interrupted"))),
        _ = terminated.recv() => Err(Failure::failed("terminated")),
    };
    // Whatever happened, nothing stays: the daemon first, then its folder.
    let stopped = shut_down(&places).await;
    let removed = remove(home, &places);
    let value = outcome?;
    if let Err(error) = stopped {
        return Err(Failure::failed("the demo's daemon did not stop").because(error.to_string()));
    }
    removed.map_err(|error| Failure::failed("the demo's folder could not be removed").because(error.to_string()))?;
    if shell.global.json {
        shell.print_json(&value)?;
    } else {
        shell.print(&show::end(&shell.out))?;
    }
    Ok(Exit::Done)
}

/// The person's own `[model]` section, so that the demo finds the model they use.
fn copy_model_setting(shell: &Shell, places: &Places) {
    let Ok(own) = shell.places() else { return };
    let table = std::fs::read_to_string(own.config_file()).ok().and_then(|text| text.parse::<toml::Table>().ok());
    let Some(model) = table.and_then(|mut table| table.remove("model")) else { return };
    let only = toml::Table::from_iter([("model".to_owned(), model)]);
    if let Ok(text) = toml::to_string(&only) {
        let _ = std::fs::write(places.config_file(), text);
    }
}

/// Removes the folder, and the socket's when that stands elsewhere.
fn remove(home: tempfile::TempDir, places: &Places) -> std::io::Result<()> {
    if places.socket_wanted.is_some() {
        for left in [places.socket.clone(), places.socket_lock(), launch::start_lock_path(places)] {
            let _ = std::fs::remove_file(left);
        }
    }
    home.close()
}

async fn perform(shell: &Shell, places: &Places) -> Result<Value, Failure> {
    let begun = Instant::now();
    say(shell, || show::begin(places.home.as_deref().unwrap_or(Path::new("")), &shell.out))?;
    let mut daemon = Daemon::reach(places.clone()).await?;
    let imported = import(&mut daemon).await?;
    say(shell, || show::imported(&imported, begun.elapsed(), &shell.out))?;
    let mut recalls = Vec::new();
    for (what, query) in QUESTIONS {
        let asked = Instant::now();
        let result = recall(&mut daemon, query).await?;
        let took = asked.elapsed();
        say(shell, || show::recalled(what, query, &result, took, &shell.out))?;
        if recalls.is_empty() {
            say(shell, || show::legend(&shell.out))?;
        }
        recalls.push(json!({"what": what, "query": query, "hits": result.hits, "belowThreshold": result.below_threshold}));
    }
    let status = handshake::status(daemon.connection()).await?;
    let answered = prompt(shell, &mut daemon, &status).await?;
    Ok(json!({"imported": imported.created, "recalls": recalls, "model": status.model, "turn": answered}))
}

fn say(shell: &Shell, text: impl FnOnce() -> String) -> Result<(), Failure> {
    if shell.global.json { Ok(()) } else { shell.print(&text()) }
}

async fn import(daemon: &mut Daemon) -> Result<ImportResult, Failure> {
    let lines = data::lines(jiff::Timestamp::now());
    let params = ImportParams { lines, key: fresh_key(), ..ImportParams::default() };
    let result: ImportResult = daemon.call("memory/import", &params).await?;
    match result.refused.first() {
        None => Ok(result),
        Some(refused) => Err(Failure::failed(format!("line {} of the demo was refused: {}", refused.line + 1, refused.reason))),
    }
}

async fn recall(daemon: &mut Daemon, query: &str) -> Result<RecallResult, Failure> {
    let params = RecallParams {
        query: query.to_owned(),
        space: Some(data::SPACE.to_owned()),
        limit: Some(HITS),
        explain: Some(true),
        ..RecallParams::default()
    };
    daemon.call("memory/recall", &params).await
}

/// Asks the model when there is one, else says how to set one up.
async fn prompt(shell: &Shell, daemon: &mut Daemon, status: &StatusResult) -> Result<Value, Failure> {
    if !status.model.configured {
        say(shell, || show::no_model(&status.model.reason, &shell.out))?;
        return Ok(Value::Null);
    }
    say(shell, || show::asking(PROMPT, status.model.name.as_deref().unwrap_or("the model"), &shell.out))?;
    let session_id = ask::begin(daemon, data::SPACE.to_owned(), PROMPT).await?;
    let budget = Some(Budget { steps: Some(4), tokens: None, ms: Some(PROMPT_MS_MAX) });
    match ask::ask(shell, daemon, &session_id, PROMPT.to_owned(), ask::Bounds { budget, ..ask::Bounds::default() }).await {
        Ok(turn) => {
            if let Some(error) = &turn.error {
                say(shell, || show::unanswered(&error.message, &shell.out))?;
            }
            Ok(serde_json::to_value(turn).unwrap_or_default())
        }
        // A model that cannot answer spoils nothing of the rest.
        Err(failure) if failure.error.is_some() => {
            say(shell, || show::unanswered(&failure.what, &shell.out))?;
            Ok(Value::Null)
        }
        Err(failure) => Err(failure),
    }
}
