//! The tools of a turn: `memory_recall` and `memory_remember`, adapters over the memory verbs.
//!
//! Must not know: the loop; how memories are kept.

use super::memories::Memories;
use super::{Inner, pad, questions, results};
use crate::caller::Caller;
use crate::limits;
use crate::session::Sessions;
use crate::tool::{ScriptedTools, SideEffect, ToolResult, ToolSpec, schema};
use serde_json::{Value, json};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tiro_schema::DEFAULT_SPACE;
use tiro_schema::wire::Open;
use tiro_schema::wire::memory::{Category, Filter, RecallParams, RememberOutcome, RememberParams, RememberResult, Source};

const CATEGORIES: [&str; 8] = ["identity", "preference", "constraint", "goal", "fact", "event", "conclusion", "other"];

/// The tools on offer, in a stable order: the built-in ones, then those of a script.
pub(super) fn tool_specs(scripted: &ScriptedTools) -> Vec<ToolSpec> {
    let mut specs = built_in();
    specs.extend(pad::specs());
    specs.extend(questions::specs());
    specs.extend(scripted.specs());
    specs
}

fn built_in() -> Vec<ToolSpec> {
    let timeout = Duration::from_millis(limits::TOOL_CALL_MS_MAX);
    vec![
        ToolSpec {
            name: "memory_recall".into(),
            description: "Finds what was remembered earlier, by meaning and by words; names, dates and codes are found exactly. \
                          Returns at most `limit` memories with source and date."
                .into(),
            parameters: json!({
                "type": "object", "additionalProperties": false, "required": ["query"],
                "properties": {
                    "query": {"type": "string", "minLength": 1, "maxLength": 2000,
                        "description": "What to look for, in the user's words, e.g. \"favourite tea\" or \"REQ-2041\"."},
                    "limit": {"type": "integer", "minimum": 1, "maximum": 10, "description": "Most memories; 5 if absent."},
                    "categories": {"type": "array", "maxItems": 8, "items": {"type": "string", "enum": CATEGORIES},
                        "description": "Only these, where the task makes it plain."}
                }
            }),
            side_effect: SideEffect::None,
            idempotent: true,
            polls: false,
            own_budget: true,
            key_fields: Vec::new(),
            timeout,
        },
        ToolSpec {
            name: "memory_remember".into(),
            description: "Keeps one lasting fact, preference, decision or constraint of the user across sessions. \
                          One self-contained sentence a call; no secrets, no small talk."
                .into(),
            parameters: json!({
                "type": "object", "additionalProperties": false, "required": ["text"],
                "properties": {
                    "text": {"type": "string", "minLength": 1, "maxLength": 4000,
                        "description": "The sentence, understandable alone, e.g. \"The user prefers oolong tea.\""},
                    "category": {"type": "string", "enum": CATEGORIES, "description": "What it is about; other if absent."},
                    "tags": {"type": "array", "maxItems": 8, "items": {"type": "string", "minLength": 1, "maxLength": 64}}
                }
            }),
            side_effect: SideEffect::Write,
            idempotent: true,
            polls: false,
            own_budget: true,
            key_fields: Vec::new(),
            timeout,
        },
        results::spec(),
    ]
}

/// What tools of a turn are given.
#[derive(Clone)]
pub(super) struct ToolContext {
    pub memories: Arc<dyn Memories>,
    pub scripted: Arc<ScriptedTools>,
    pub sessions: Sessions,
    /// The session's key.
    pub session: u64,
    /// Who asks questions.
    pub harness: Weak<Inner>,
    pub caller: Caller,
    pub session_id: String,
    pub turn_id: String,
    /// The session's own space.
    pub space: String,
    /// Every space it reads.
    pub reads: Vec<String>,
}

/// Runs one call: arguments checked first, time bounded, failure in plain words.
pub(super) async fn run(
    context: ToolContext,
    specs: Arc<Vec<ToolSpec>>,
    name: String,
    call_id: String,
    arguments: Value,
) -> ToolResult {
    let Some(spec) = specs.iter().find(|spec| spec.name == name) else {
        return ToolResult::error(format!("There is no tool {name:?}."));
    };
    if let Err(wrong) = schema::check(&spec.parameters, &arguments) {
        return ToolResult::error(format!("The call did not run: {wrong}. Correct it and call again."));
    }
    let work = async {
        match name.as_str() {
            "memory_recall" => recall(&context, &arguments).await,
            "memory_remember" => remember(&context, &call_id, &arguments).await,
            "scratchpad_set" => pad::set(&context, &arguments).await,
            "scratchpad_get" => pad::get(&context, &arguments),
            "ask_user" => questions::ask(&context, &call_id, &arguments).await,
            "give_up" => questions::give_up(&arguments),
            "result_read" => results::read(&context, &arguments).await,
            other => context.scripted.run(other, &arguments).await.unwrap_or_else(|| ToolResult::error("No such tool.")),
        }
    };
    match tokio::time::timeout(spec.timeout, work).await {
        Ok(result) => result,
        Err(_) => ToolResult::error(format!(
            "No answer within {} s. Tell the user to try again later; do not guess the result.",
            spec.timeout.as_secs()
        )),
    }
}

async fn recall(context: &ToolContext, arguments: &Value) -> ToolResult {
    let categories: Option<Vec<Category>> = serde_json::from_value(arguments["categories"].clone()).ok();
    let params = RecallParams {
        query: arguments["query"].as_str().unwrap_or_default().to_owned(),
        spaces: Some(context.reads.clone()),
        limit: arguments["limit"].as_f64().map(|n| n as u32),
        filter: categories
            .filter(|c| !c.is_empty())
            .map(|categories| Filter { categories: Some(categories), ..Filter::default() }),
        token_budget: Some(limits::TOOL_RECALL_TOKENS_MAX),
        use_: Some(true),
        ..RecallParams::default()
    };
    match context.memories.context(context.caller.clone(), params).await {
        Ok(found) if found.ids.is_empty() => {
            ToolResult::ok("Nothing relevant is remembered. Do not invent it; ask the user if it matters.")
        }
        Ok(found) => ToolResult::ok(found.text),
        Err(error) => ToolResult::error(format!("Recall failed: {}. Go on without it and say so.", error.message)),
    }
}

async fn remember(context: &ToolContext, call_id: &str, arguments: &Value) -> ToolResult {
    let category: Option<Category> = serde_json::from_value(arguments["category"].clone()).ok();
    let params = RememberParams {
        text: arguments["text"].as_str().unwrap_or_default().to_owned(),
        space: Some(space_for(category, &context.space)),
        category,
        tags: serde_json::from_value(arguments["tags"].clone()).ok(),
        source: Some(Source {
            session: Some(context.session_id.clone()),
            speaker: Some("user".to_owned()),
            program: Some("tiro".to_owned()),
            ..Source::default()
        }),
        key: Some(format!("{}/{call_id}", context.turn_id)),
        ..RememberParams::default()
    };
    match context.memories.remember(context.caller.clone(), params).await {
        Ok(kept) => remembered(&kept),
        Err(error) => ToolResult::error(format!("It was not kept: {}. Tell the user.", error.message)),
    }
}

/// What concerns the person goes to `personal`, the rest to the session's own space.
fn space_for(category: Option<Category>, own: &str) -> String {
    match category {
        Some(Category::Identity | Category::Preference) => DEFAULT_SPACE.to_owned(),
        _ => own.to_owned(),
    }
}

/// What stands before the id of the memory in the result of `memory_remember`.
const KEPT_AS: &str = "id ";
/// Characters of an id that a result names.
const ID_CHARS: usize = 8;

fn remembered(kept: &RememberResult) -> ToolResult {
    let said = match &kept.outcome {
        Open::Known(RememberOutcome::Refused | RememberOutcome::Failed) => {
            let reason = kept.reason.as_deref().unwrap_or("refused");
            return ToolResult::error(format!("It was not kept ({reason}). Do not try again with the same text; tell the user."));
        }
        Open::Known(RememberOutcome::Duplicate) => "This was remembered already.",
        Open::Known(RememberOutcome::Conflict) => "Kept, beside a memory that says otherwise. Ask the user which is right.",
        _ => "Kept.",
    };
    match kept.id.as_ref().and_then(|id| id.get(..ID_CHARS)) {
        Some(id) => ToolResult::ok(format!("{said} {KEPT_AS}{id}")),
        None => ToolResult::ok(said),
    }
}

/// The first characters of the id in a result of `memory_remember`; none when nothing was kept.
pub(super) fn kept_id(result: &str) -> Option<&str> {
    let (_, id) = result.rsplit_once(KEPT_AS)?;
    (id.len() == ID_CHARS && id.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    // DESIGN 9: people's preferences go where every session reads them
    #[test]
    fn preferences_are_personal_and_facts_stay_in_the_space() {
        assert_eq!(space_for(Some(Category::Preference), "work"), "personal");
        assert_eq!(space_for(Some(Category::Fact), "work"), "work");
        assert_eq!(space_for(None, "work"), "work");
    }

    // MEM-9
    #[test]
    fn the_result_of_a_keeping_names_what_was_kept() {
        let kept = |outcome, id: Option<&str>| RememberResult {
            outcome: Open::Known(outcome),
            id: id.map(str::to_owned),
            seq: None,
            related: vec![],
            reason: None,
            error: None,
        };
        let whole = Some("01234567-89ab-4def-8123-456789abcdef");
        let told = remembered(&kept(RememberOutcome::Created, whole)).text;
        assert_eq!((told.as_str(), kept_id(&told)), ("Kept. id 01234567", Some("01234567")));
        assert_eq!(kept_id(&remembered(&kept(RememberOutcome::Refused, None)).text), None);
        assert_eq!(kept_id("Kept."), None);
    }

    // TOOL-1
    #[test]
    fn every_tool_is_described_within_two_lines_and_checks_itself() {
        for spec in built_in() {
            assert!(spec.description.len() < 240 && spec.name.len() <= 64, "{}", spec.name);
            assert!(schema::check(&spec.parameters, &json!({})).is_err());
            assert_eq!(spec.parameters["additionalProperties"], json!(false));
        }
    }
}
