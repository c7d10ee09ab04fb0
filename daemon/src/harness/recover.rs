//! After a stop or a crash: turns that ran are marked interrupted, calls they left open get synthetic results, and turns
//! that waited run.
//!
//! Must not know: how the daemon stopped. No tool is run again here.

use super::Harness;
use super::verbs::active;
use crate::caller::Caller;
use crate::limits;
use crate::session::{NewMessage, SessionError, Sessions, open_calls};
use tiro_schema::convert::turn_status_of;
use tiro_schema::record::TurnRecord;
use tiro_schema::wire::session::{ContentBlock, Role};
use tiro_schema::wire::turn::{TerminationReason, TurnStatus};

impl Harness {
    /// Takes up what the last stop left. Call once, before the first request.
    ///
    /// # Errors
    /// The store's.
    pub async fn resume(&self) -> Result<(), SessionError> {
        for turn in self.inner.sessions.unfinished_turns()? {
            if turn_status_of(turn.status) == Some(TurnStatus::Queued) {
                self.inner.lanes.enqueue(turn.id, active(turn.session, Caller::daemon()));
                continue;
            }
            match self.end(turn.id, TerminationReason::Interrupted, None).await {
                Ok(()) | Err(SessionError::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        self.pump();
        Ok(())
    }
}

/// Results for the calls of a turn that have none.
pub(super) fn missing_results(sessions: &Sessions, turn: &TurnRecord) -> Result<Vec<NewMessage>, SessionError> {
    let mut records = sessions.newest_messages(turn.session, limits::AGENT_HISTORY_MESSAGES_MAX)?;
    records.retain(|record| record.turn == turn.id);
    records.reverse();
    let result = |(call_id, name): (String, String)| {
        let text = crate::session::RESULT_UNKNOWN.to_owned();
        let block = ContentBlock::ToolResult { call_id, name, text, is_error: true, reference: None };
        NewMessage { role: Role::Tool, content: vec![block], partial: false }
    };
    Ok(open_calls(&records).into_iter().map(result).collect())
}
