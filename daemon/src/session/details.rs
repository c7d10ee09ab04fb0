//! What is told of a turn beside its row: kept as JSON, so that it can grow.
//!
//! Must not know: how a turn runs.

use super::SessionError;
use crate::store::{SessionReads, StoreError};
use serde::{Deserialize, Serialize};
use tiro_schema::record::TurnDetailsRecord;
use tiro_schema::wire::turn::{ContextReport, TaskKind};

/// The details of a turn. A member that a build does not know is left out when that build writes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TurnDetails {
    /// What kind of task it is taken for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_kind: Option<TaskKind>,
    /// Who said so: `caller`, or the rule.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub task_kind_by: String,
    /// What its largest context was made of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<ContextReport>,
    /// What was said to the turn and is not read yet: JSON arrays of content blocks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub said: Vec<String>,
}

/// A change of the details, made in the transaction of a step.
#[derive(Debug, Clone)]
pub enum DetailsChange {
    /// So many of what was said are read, or go on in another turn.
    TakeSaid(usize),
    /// What its largest context was made of.
    Context(ContextReport),
}

impl TurnDetails {
    /// Makes a change.
    pub(super) fn apply(&mut self, change: &DetailsChange) {
        match change {
            DetailsChange::Context(report) => self.context = Some(report.clone()),
            DetailsChange::TakeSaid(count) => drop(self.said.drain(..(*count).min(self.said.len()))),
        }
    }

    /// As it is stored.
    pub(super) fn record(&self) -> Result<TurnDetailsRecord, SessionError> {
        Ok(TurnDetailsRecord { details_json: super::journal::json_text(self)? })
    }
}

/// The details of a turn; none of one that an earlier build made.
///
/// # Errors
/// The store's.
pub(super) fn details(tx: &impl SessionReads, turn: &[u8; 16]) -> Result<TurnDetails, StoreError> {
    let stored = tx.turn_details(turn)?;
    Ok(stored.and_then(|stored| serde_json::from_str(&stored.details_json).ok()).unwrap_or_default())
}
