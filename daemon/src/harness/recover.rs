//! After a stop or a crash: turns that ran are marked interrupted, calls they left open get synthetic results, and turns
//! that waited run.
//!
//! Must not know: how the daemon stopped. No tool is run again here.

use super::questions::answered;
use super::verbs::active;
use super::{Harness, Inner};
use crate::caller::Caller;
use crate::limits;
use crate::session::{NewMessage, SessionError, open_calls};
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
            self.follow_up(turn.id, turn.session).await?;
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
pub(super) fn missing_results(inner: &Inner, turn: &TurnRecord) -> Result<Vec<NewMessage>, SessionError> {
    let sessions = &inner.sessions;
    let mut records = sessions.newest_messages(turn.session, limits::AGENT_HISTORY_MESSAGES_MAX)?;
    records.retain(|record| record.turn == turn.id);
    records.reverse();
    let result = |(call_id, name): (String, String)| {
        // What was answered to a question is known, though its call did not come to its end.
        let answer = (name == "ask_user").then(|| answered(inner, turn.id, turn.session, &call_id)).flatten();
        let is_error = answer.is_none();
        let text = answer.unwrap_or_else(|| match name.as_str() {
            "ask_user" => "Nobody answered before the daemon stopped. The answer will come as a message of its own.".to_owned(),
            _ => crate::session::RESULT_UNKNOWN.to_owned(),
        });
        let block = ContentBlock::ToolResult { call_id, name, text, is_error, reference: None };
        NewMessage { role: Role::Tool, content: vec![block], partial: false }
    };
    Ok(open_calls(&records).into_iter().map(result).collect())
}
