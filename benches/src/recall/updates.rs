//! How often the current value of a fact that changed stands first, over the socket.
//!
//! Must not know: how the daemon finds it.

use super::facts::{Fact, Link, Statement};
use crate::rpc::Client;
use anyhow::{Context, Result};
use serde_json::{Value, json};

/// Notes of one `memory/rememberMany`.
const BATCH: usize = 200;
/// Hits a question.
const LIMIT: u32 = 5;

/// What stood first when the question was asked.
#[derive(Debug, Clone, PartialEq)]
pub enum First {
    /// The current value.
    Current,
    /// An older value of it.
    Older(String),
    /// Something else.
    Other(String),
    /// Nothing was found.
    Nothing,
}

/// One fact, asked for.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The fact.
    pub fact: Fact,
    /// What stood first.
    pub first: First,
}

fn params(space: &str, statement: &Statement) -> Value {
    json!({"space": space, "text": statement.text, "occurredAt": statement.occurred_at})
}

/// Keeps the notes about other things and the facts, each statement in its time.
///
/// # Errors
/// When the daemon refuses one.
pub fn keep(client: &mut Client, facts: &[Fact], noise: &[(&str, Statement)]) -> Result<()> {
    let verbatim = |space: &str, statement: &Statement| {
        let mut item = params(space, statement);
        item["verbatim"] = json!(true);
        item
    };
    let unlinked = facts.iter().filter(|fact| fact.link == Link::Unlinked);
    let mut items: Vec<Value> = unlinked.flat_map(|fact| fact.statements.iter().map(|s| verbatim(fact.language, s))).collect();
    items.extend(noise.iter().map(|(language, statement)| verbatim(language, statement)));
    for batch in items.chunks(BATCH) {
        client.call("memory/rememberMany", json!({"items": batch}))?;
    }
    for fact in facts.iter().filter(|fact| fact.link != Link::Unlinked) {
        let mut last: Option<String> = None;
        for statement in &fact.statements {
            let mut memory = params(fact.language, statement);
            let answer = match &last {
                Some(id) if fact.link == Link::Supersede => {
                    client.call("memory/supersede", json!({"id": id, "memory": memory}))?
                }
                _ => {
                    memory["explicit"] = json!(true);
                    client.call("memory/remember", memory)?
                }
            };
            last = Some(answer["id"].as_str().with_context(|| format!("not kept: {answer}"))?.to_owned());
        }
    }
    Ok(())
}

/// Asks for every fact.
///
/// # Errors
/// When the daemon refuses a question.
pub fn ask(client: &mut Client, facts: &[Fact], decay: bool) -> Result<Vec<Asked>> {
    let one = |fact: &Fact| {
        let answer = client
            .call("memory/recall", json!({"space": fact.language, "query": fact.question, "limit": LIMIT, "decay": decay}))?;
        let text = answer["hits"][0]["text"].as_str();
        let first = match (text, fact.statements.split_last()) {
            (None, _) => First::Nothing,
            (Some(text), Some((current, _))) if text == current.text => First::Current,
            (Some(text), Some((_, older))) if older.iter().any(|s| s.text == text) => First::Older(text.to_owned()),
            (Some(text), _) => First::Other(text.to_owned()),
        };
        Ok(Asked { fact: fact.clone(), first })
    };
    facts.iter().map(one).collect()
}

/// Share of the facts with such links whose current value stood first, and how many they are.
pub fn share(asked: &[Asked], of: impl Fn(&Fact) -> bool) -> (f64, usize) {
    let chosen: Vec<&Asked> = asked.iter().filter(|one| of(&one.fact)).collect();
    let current = chosen.iter().filter(|one| one.first == First::Current).count();
    (current as f64 / chosen.len().max(1) as f64, chosen.len())
}
