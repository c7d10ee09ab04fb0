//! The tool `result_read`: a model reads on in what was set aside for it.
//!
//! Must not know: the loop; how results are kept.

use super::tools::ToolContext;
use crate::limits;
use crate::session::{Page, SessionError, parse_number, parse_reference, reference};
use crate::tool::{SideEffect, ToolResult, ToolSpec};
use serde_json::{Value, json};
use std::time::Duration;
use tiro_schema::wire::results::{ResultRange, ResultSearchParams};

/// What it is.
pub(super) fn spec() -> ToolSpec {
    ToolSpec {
        name: "result_read".into(),
        description: "Reads on in a long result or pasted text that was kept aside, by its reference: from a character on, the value at a JSON \
                      path, or the passages that fit words. At most 4,000 characters a call."
            .into(),
        parameters: json!({
            "type": "object", "additionalProperties": false, "required": ["ref"],
            "properties": {
                "ref": {"type": "string", "minLength": 2, "maxLength": 64, "description": "The reference as it was told, e.g. \"r3\"."},
                "from": {"type": "integer", "minimum": 0, "description": "First character; 0 if absent."},
                "path": {"type": "string", "maxLength": 500, "description": "Of JSON: where the value stands, e.g. \"/orders/0/total\"."},
                "query": {"type": "string", "minLength": 1, "maxLength": 500, "description": "Words to look for in it."}
            }
        }),
        side_effect: SideEffect::None,
        idempotent: true,
        polls: false,
        own_budget: true,
        key_fields: Vec::new(),
        timeout: Duration::from_millis(limits::TOOL_CALL_MS_MAX),
    }
}

/// Runs it.
pub(super) async fn read(context: &ToolContext, arguments: &Value) -> ToolResult {
    let (context, arguments) = (context.clone(), arguments.clone());
    let work = move || read_now(&context, &arguments);
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| ToolResult::error("The result could not be read."))
}

fn read_now(context: &ToolContext, arguments: &Value) -> ToolResult {
    let named = arguments["ref"].as_str().unwrap_or_default();
    // Of other sessions nothing is read.
    let own = parse_reference(named).filter(|(session, _)| *session == context.session_id).map(|(_, number)| number);
    let Some(number) = parse_number(named).or(own) else { return none(context, named) };
    if let Some(query) = arguments["query"].as_str() {
        return search(context, number, query);
    }
    let from = arguments["from"].as_f64().unwrap_or(0.0) as u64;
    let range = ResultRange { from, to: Some(from.saturating_add(limits::RESULT_READ_CHARS)) };
    match context.sessions.result_part(context.session, number, arguments["path"].as_str(), &range) {
        Ok(page) => ToolResult::ok(shown(&page)),
        Err(SessionError::NotFound { .. }) => none(context, named),
        Err(SessionError::Invalid { message, .. }) => ToolResult::error(format!("The call did not run: {message}.")),
        Err(error) => ToolResult::error(format!("The result cannot be read now: {error}.")),
    }
}

fn shown(page: &Page) -> String {
    match page.next_from() {
        Some(next) => format!("{}\n[characters {} to {next} of {}; read on from {next}]", page.text, page.from, page.chars),
        None => page.text.clone(),
    }
}

fn search(context: &ToolContext, number: u64, query: &str) -> ToolResult {
    let params = ResultSearchParams {
        reference: Some(reference(&context.session_id, number)),
        query: Some(query.to_owned()),
        limit: Some(limits::RESULT_READ_PASSAGES),
        ..ResultSearchParams::default()
    };
    match context.sessions.search_results(&params) {
        Ok(found) if found.items.is_empty() => ToolResult::ok(format!("Nothing in r{number} fits {query:?}.")),
        Ok(found) => {
            let passages = found.items.iter().map(|item| format!("[from character {}]\n{}", item.from, item.text.trim()));
            ToolResult::ok(passages.collect::<Vec<_>>().join("\n"))
        }
        Err(SessionError::NotFound { .. }) => none(context, &format!("r{number}")),
        Err(error) => ToolResult::error(format!("The result cannot be read now: {error}.")),
    }
}

/// There is no such result; which there are.
fn none(context: &ToolContext, named: &str) -> ToolResult {
    let named: String = named.chars().take(64).collect();
    let newest = context.sessions.newest_results(context.session, limits::RESULTS_TOLD_MAX).unwrap_or_default();
    let known: Vec<String> = newest.iter().map(|record| format!("r{}", record.number)).collect();
    let known = if known.is_empty() { "none was kept aside".to_owned() } else { format!("there are {}", known.join(", ")) };
    ToolResult::error(format!("There is no result {named}; {known}."))
}
