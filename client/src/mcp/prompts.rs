//! The prompts: one to begin a conversation from memory, one to end it by saving.
//!
//! Must not know: tools' schemas.

use super::handler::Memory;
use super::link::Link;
use super::results;
use rmcp::model::{ErrorData, GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::{Map, Value, json};

const BEGIN: &str = "begin_from_memory";
const SAVE: &str = "save_to_memory";
/// Asked when the user names no topic.
const ANY_TOPIC: &str = "what we are working on, open tasks and recent decisions";

const SAVING: &str = "\
Before we end, look back over this conversation and keep what will matter in later ones.

1. Pick at most ten things that stay true: who somebody is, how I like things done, decisions with their reason, constraints, \
names, dates, conclusions that were hard to reach. Nothing that only mattered today, no small talk, no output of programs, no secrets.
2. Look with memory_recall whether each is known. What is known and unchanged needs nothing; what became different is said again \
in its new form.
3. Keep each with one call of memory_remember: one sentence that stands by itself, with names and dates instead of \"it\" and \
\"today\", and the fitting category.
4. Tell me in a short list what you kept, what was refused and why.";

/// Both, in one order.
pub fn list() -> Vec<Prompt> {
    vec![
        Prompt::new(
            BEGIN,
            Some("Begin with what is remembered: standing instructions, preferences, and what fits the topic."),
            Some(vec![PromptArgument::new("topic").with_description("What the conversation is about").with_required(false)]),
        )
        .with_title("Begin from memory"),
        Prompt::new(SAVE, Some("End by keeping what will matter in later conversations."), None::<Vec<PromptArgument>>)
            .with_title("Save to memory"),
    ]
}

/// One of them, filled in.
///
/// # Errors
/// Invalid params for another name; as the daemon answers.
pub async fn get(memory: &Memory, link: &Link, name: &str, arguments: Option<JsonObject>) -> Result<GetPromptResult, ErrorData> {
    match name {
        BEGIN => begin(memory, link, arguments.unwrap_or_default()).await,
        SAVE => Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, SAVING)])),
        other => Err(ErrorData::invalid_params(format!("no prompt {other:?}: there are {BEGIN} and {SAVE}"), None)),
    }
}

async fn begin(memory: &Memory, link: &Link, arguments: JsonObject) -> Result<GetPromptResult, ErrorData> {
    let topic = arguments.get("topic").and_then(Value::as_str).map(str::trim).filter(|topic| !topic.is_empty());
    let mut params = Map::from_iter([("query".to_owned(), json!(topic.unwrap_or(ANY_TOPIC)))]);
    memory.read_in(&mut params);
    let found = link.call("memory/context", Value::Object(params)).await.map_err(|error| results::protocol_error(&error))?;
    let block = found.get("text").and_then(Value::as_str).unwrap_or_default();
    let about = topic.map(|topic| format!(" about {topic}")).unwrap_or_default();
    let text = if block.is_empty() {
        format!("Let us talk{about}. Nothing is remembered for it yet.")
    } else {
        format!("Let us talk{about}. This is what is remembered:\n\n{block}")
    };
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]))
}
