//! What is known of a session's task beside its messages: fields, summary, what is being done, the scratchpad. Kept as JSON, so that it can grow.
//!
//! Must not know: how a context is put together.

use super::context::HistoryTurn;
use super::summary::{FieldValue, Item, Summary, note_fields};
use super::{SessionError, Sessions};
use crate::store::{SessionReads, StoreError, WriteTx};
use crate::tokens;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tiro_schema::record::SessionStateRecord;
use tiro_schema::wire::session::{SessionField, SessionFieldsResult};

/// The state of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SessionState {
    /// The model's notes, gone with the task.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub scratchpad: BTreeMap<String, String>,
    /// What a person stated, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, FieldValue>,
    /// What is kept of turns that are no longer in the context.
    pub summary: Summary,
    /// What is being done.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub doing: String,
    /// What is missing for it; empty for nothing.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub awaiting: String,
}

impl SessionState {
    /// Folds a turn into the summary.
    pub fn fold(&mut self, turn: &HistoryTurn) {
        let said = turn.said();
        self.summary.fold(turn.number, &said, turn.until);
        note_fields(&mut self.fields, turn.number, &said);
    }

    /// Notes the fields of what was said in a turn that stays in the context.
    pub fn note(&mut self, number: u64, said: &str) {
        note_fields(&mut self.fields, number, said);
    }

    /// `working`, `awaiting` or `done`; empty before the first turn.
    pub fn task(&self) -> &'static str {
        match (self.doing.is_empty(), self.awaiting.is_empty()) {
            (_, false) => "awaiting",
            (false, _) => "working",
            (true, true) => "done",
        }
    }

    /// What a context says of it, within a number of tokens: fields and the task always, then what was stated, newest first where not all of
    /// it fits. `results` are lines about results kept aside.
    pub fn told(&self, results: &[String], tokens_max: u32) -> String {
        let mut out = String::new();
        if !self.fields.is_empty() {
            let fields: Vec<String> = self.fields.iter().map(|(name, field)| format!("{name}: {}", field.value)).collect();
            out.push_str(&format!("Fields: {}\n", fields.join("; ")));
        }
        if !self.doing.is_empty() {
            out.push_str(&format!("Task: {:?}\n", self.doing));
        }
        if !self.awaiting.is_empty() {
            out.push_str(&format!("Still missing: {}\n", self.awaiting));
        }
        let mut left = tokens_max.saturating_sub(tokens::estimate(&out));
        let sections = [
            ("Open to-dos", &self.summary.todos),
            ("Confirmed parameters", &self.summary.parameters),
            ("Decisions", &self.summary.decisions),
        ];
        let told: Vec<(usize, String)> =
            sections.iter().enumerate().map(|(at, (name, items))| (at, section(name, items, &mut left))).collect();
        // As they are always laid out, whichever was given room first.
        for at in [1, 2, 0] {
            out.push_str(&told[at].1);
        }
        if !results.is_empty() {
            out.push_str(&format!("Results kept aside (result_read reads them):\n{}\n", results.join("\n")));
        }
        if out.is_empty() {
            out
        } else {
            format!("[Of this conversation so far; what the user said stands word for word]\n{}", out.trim_end())
        }
    }
}

/// A section with as many of its items as fit, oldest first.
fn section(name: &str, items: &[Item], left: &mut u32) -> String {
    let mut lines = Vec::new();
    for item in items.iter().rev() {
        let line = format!("- (turn {}) {}", item.turn, item.text);
        match left.checked_sub(tokens::estimate(&line)) {
            Some(rest) => *left = rest,
            None => break,
        }
        lines.push(line);
    }
    lines.reverse();
    match (lines.is_empty(), items.len() - lines.len()) {
        (true, 0) => String::new(),
        (_, 0) => format!("{name}:\n{}\n", lines.join("\n")),
        (_, more) => format!("{name} ({more} older ones are left out):\n{}\n", lines.join("\n")),
    }
}

impl Sessions {
    /// The state of a session; empty before there is one.
    ///
    /// # Errors
    /// The store's.
    pub fn state(&self, session: u64) -> Result<SessionState, SessionError> {
        Ok(self.store.read(|tx| state(tx, session))?)
    }

    /// `session/fields`.
    ///
    /// # Errors
    /// `NotFound`; the store's.
    pub fn fields(&self, session_id: &str) -> Result<SessionFieldsResult, SessionError> {
        let state = self.state(self.find(session_id)?.key)?;
        let task = state.task().to_owned();
        let field = |(name, field): (String, FieldValue)| SessionField { name, value: field.value, turn: field.turn };
        Ok(SessionFieldsResult {
            task,
            doing: Some(state.doing).filter(|doing| !doing.is_empty()),
            awaiting: Some(state.awaiting).filter(|awaiting| !awaiting.is_empty()),
            items: state.fields.into_iter().map(field).collect(),
        })
    }

    /// Changes the state of a session. `change` may run more than once, and says no by an error.
    ///
    /// # Errors
    /// What `change` says; `NotFound` when the session is gone; the store's.
    pub async fn change_state<R: Send + 'static>(
        &self,
        session: u64,
        change: impl Fn(&mut SessionState) -> Result<R, SessionError> + Send + 'static,
    ) -> Result<R, SessionError> {
        let write = self.store.write("session/state", move |tx| -> Result<R, SessionError> {
            super::journal::session_of(tx, session)?;
            let mut now = state(tx, session)?;
            let answer = change(&mut now)?;
            put_state(tx, session, &now)?;
            Ok(answer)
        });
        Ok(write.await?)
    }
}

/// The state of a session.
pub(super) fn state(tx: &impl SessionReads, session: u64) -> Result<SessionState, StoreError> {
    let stored = tx.session_state(session)?;
    Ok(stored.and_then(|stored| serde_json::from_str(&stored.state_json).ok()).unwrap_or_default())
}

/// Writes the state of a session.
pub(super) fn put_state(tx: &mut WriteTx, session: u64, state: &SessionState) -> Result<(), SessionError> {
    let record = SessionStateRecord { state_json: super::journal::json_text(state)? };
    Ok(tx.put_session_state(session, &record)?)
}
