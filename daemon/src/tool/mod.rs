//! What a tool is: its name, what the model is told of it, and the check of its arguments before anything runs.
//!
//! Must not know: what any tool does, sessions, memories, models.

mod digest;
pub mod schema;
mod scripted;

pub use digest::{Digest, Format, digest};
pub use scripted::{ScriptedTools, ToolScriptError};

use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;
use std::time::Duration;

/// Whether a tool changes anything.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SideEffect {
    /// It only looks.
    #[default]
    None,
    /// It changes what Tiro keeps.
    Write,
    /// It changes something outside.
    External,
}

/// A tool on offer.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// `[A-Za-z0-9_-]{1,64}`.
    pub name: Cow<'static, str>,
    /// Action, object and limit, two lines at most.
    pub description: Cow<'static, str>,
    /// JSON Schema of its arguments, within what [`schema::check`] knows.
    pub parameters: Value,
    /// Whether it changes anything.
    pub side_effect: SideEffect,
    /// Whether the same call twice does no more than once.
    pub idempotent: bool,
    /// Whether it is there to be asked again until something changes.
    pub polls: bool,
    /// Whether its results keep to a budget of their own, and are read whole.
    pub own_budget: bool,
    /// Members of a JSON result that are kept whatever is left out of it.
    pub key_fields: Vec<String>,
    /// How long a call may take.
    pub timeout: Duration,
}

/// What a call gave the model to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// The text.
    pub text: String,
    /// Whether it is an error.
    pub is_error: bool,
    /// What it ends the turn with, if it does.
    pub ends: Option<Ends>,
}

/// How a tool ends a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ends {
    /// It cannot be done.
    GaveUp,
    /// A person has to answer this first.
    NeedsInput(String),
}

impl ToolResult {
    /// A result.
    pub fn ok(text: impl Into<String>) -> ToolResult {
        ToolResult { text: text.into(), is_error: false, ends: None }
    }

    /// An error in plain words.
    pub fn error(text: impl Into<String>) -> ToolResult {
        ToolResult { text: text.into(), is_error: true, ends: None }
    }
}
