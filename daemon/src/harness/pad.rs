//! The tools `scratchpad_set` and `scratchpad_get`: notes of a task, durable, gone with it.
//!
//! Must not know: the loop.

use super::tools::ToolContext;
use crate::limits;
use crate::memory::secrets;
use crate::session::SessionError;
use crate::tool::{SideEffect, ToolResult, ToolSpec};
use serde_json::{Value, json};
use std::time::Duration;

/// What they are.
pub(super) fn specs() -> Vec<ToolSpec> {
    let name = json!({"type": "string", "minLength": 1, "maxLength": 64, "description": "Name of the note, e.g. \"plan\"."});
    let spec = |name: &'static str, description: &'static str, parameters: Value, side_effect| ToolSpec {
        name: name.into(),
        description: description.into(),
        parameters,
        side_effect,
        idempotent: true,
        polls: false,
        own_budget: true,
        key_fields: Vec::new(),
        timeout: Duration::from_millis(limits::TOOL_CALL_MS_MAX),
    };
    vec![
        spec(
            "scratchpad_set",
            "Writes a note for this task (a plan, an intermediate value); it is gone when the task is done. An empty value removes it.",
            json!({"type": "object", "additionalProperties": false, "required": ["name", "value"], "properties": {
                "name": name.clone(), "value": {"type": "string", "maxLength": 4000, "description": "The note."}}}),
            SideEffect::Write,
        ),
        spec(
            "scratchpad_get",
            "Reads a note of this task, or all of them when no name is given.",
            json!({"type": "object", "additionalProperties": false, "properties": {"name": name}}),
            SideEffect::None,
        ),
    ]
}

/// Runs `scratchpad_set`.
pub(super) async fn set(context: &ToolContext, arguments: &Value) -> ToolResult {
    let text = |member: &str| arguments[member].as_str().unwrap_or_default().to_owned();
    let (name, value) = (text("name"), text("value"));
    if secrets::find(&value).or_else(|| secrets::find(&name)).is_some() {
        return ToolResult::error("It was not kept: it holds a secret.");
    }
    let noted = context.sessions.change_state(context.session, move |state| {
        if value.is_empty() {
            state.scratchpad.remove(&name);
            return Ok(state.scratchpad.len());
        }
        if state.scratchpad.len() >= limits::SCRATCHPAD_NOTES_MAX && !state.scratchpad.contains_key(&name) {
            let most = limits::SCRATCHPAD_NOTES_MAX;
            return Err(SessionError::invalid("name", format!("there are {most} notes already: remove one first")));
        }
        state.scratchpad.insert(name.clone(), value.clone());
        Ok(state.scratchpad.len())
    });
    match noted.await {
        Ok(notes) => ToolResult::ok(format!("Noted. Notes: {notes}.")),
        Err(SessionError::Invalid { message, .. }) => ToolResult::error(format!("It was not noted: {message}.")),
        Err(error) => ToolResult::error(format!("It was not noted: {error}.")),
    }
}

/// Runs `scratchpad_get`.
pub(super) fn get(context: &ToolContext, arguments: &Value) -> ToolResult {
    let state = match context.sessions.state(context.session) {
        Ok(state) => state,
        Err(error) => return ToolResult::error(format!("The notes cannot be read now: {error}.")),
    };
    let names = || state.scratchpad.keys().cloned().collect::<Vec<_>>().join(", ");
    match arguments["name"].as_str() {
        Some(name) => match state.scratchpad.get(name) {
            Some(value) => ToolResult::ok(value.clone()),
            None if state.scratchpad.is_empty() => ToolResult::ok("There are no notes."),
            None => ToolResult::ok(format!("There is no note {name:?}; there are {}.", names())),
        },
        None if state.scratchpad.is_empty() => ToolResult::ok("There are no notes."),
        None => {
            let notes = state.scratchpad.iter().map(|(name, value)| format!("{name}: {value}"));
            ToolResult::ok(notes.collect::<Vec<_>>().join("\n"))
        }
    }
}
