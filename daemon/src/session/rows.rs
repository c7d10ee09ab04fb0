//! Passages between stored sessions, messages and turns and their wire forms.
//!
//! Must not know: transactions.

use crate::clock;
use crate::store::{Reads, SessionReads, StoreError};
use tiro_schema::convert::{STATUS_FORGOTTEN, role_of, termination_of, turn_status_of};
use tiro_schema::record::{MessageRecord, SessionRecord, TurnRecord};
use tiro_schema::wire::Open;
use tiro_schema::wire::session::{ContentBlock, Message, Role, Session};
use tiro_schema::wire::turn::{TerminationReason, Turn, TurnStatus, Usage};
use uuid::Uuid;

/// An id as text.
pub fn id_text(id: &[u8; 16]) -> String {
    Uuid::from_bytes(*id).hyphenated().to_string()
}

/// An id from text, if it is a whole one.
pub(super) fn id_bytes(text: &str) -> Option<[u8; 16]> {
    Uuid::parse_str(text).ok().map(Uuid::into_bytes)
}

/// A session's wire form.
pub(super) fn wire_session(record: &SessionRecord, space: String, is_running: bool) -> Session {
    Session {
        session_id: id_text(&record.id),
        space,
        title: record.title.clone(),
        state: if is_running { "running" } else { "idle" }.to_owned(),
        also_read: record.also_read.clone(),
        cwd: record.cwd.clone(),
        model: record.model.clone(),
        created_at: clock::format(record.created_at_ms, None),
        updated_at: clock::format(record.updated_at_ms, None),
        message_count: record.message_count,
        turn_count: record.turn_count,
        event_seq: record.event_seq,
    }
}

/// A message's wire form.
pub(super) fn wire_message(record: &MessageRecord) -> Message {
    Message {
        position: record.position,
        turn_id: id_text(&record.turn),
        role: role_of(record.role).unwrap_or(Role::User).into(),
        content: content(record),
        created_at: clock::format(record.created_at_ms, None),
        partial: record.partial,
    }
}

/// The blocks of a stored message. What a newer build wrote and this one cannot read is left out.
pub(super) fn content(record: &MessageRecord) -> Vec<ContentBlock> {
    let blocks: Vec<serde_json::Value> = serde_json::from_str(&record.content_json).unwrap_or_default();
    blocks.into_iter().filter_map(|block| serde_json::from_value(block).ok()).collect()
}

/// A turn's wire form.
///
/// # Errors
/// The store's.
pub fn wire_turn(tx: &(impl Reads + SessionReads), record: &TurnRecord, session_id: String) -> Result<Turn, StoreError> {
    let details = super::details::details(tx, &record.id)?;
    let mut recalled = Vec::with_capacity(record.recalled.len());
    for key in &record.recalled {
        let shown = tx.memory(*key)?.filter(|memory| memory.status != STATUS_FORGOTTEN);
        recalled.extend(shown.map(|memory| id_text(&memory.id)));
    }
    let known = turn_status_of(record.status);
    Ok(Turn {
        turn_id: id_text(&record.id),
        session_id,
        status: known.map_or_else(|| Open::Unknown(record.status.to_string()), Open::<TurnStatus>::Known),
        termination_reason: record.termination.map(|code| match termination_of(code) {
            Some(reason) => Open::<TerminationReason>::Known(reason),
            None => Open::Unknown(code.to_string()),
        }),
        text: record.text.clone(),
        usage: Usage {
            input_tokens: record.input_tokens,
            output_tokens: record.output_tokens,
            model_calls: record.model_calls,
            tool_calls: record.tool_calls,
        },
        steps: record.model_calls,
        steps_max: record.steps_max,
        task_kind: details.task_kind.map(Open::Known),
        task_kind_by: Some(details.task_kind_by).filter(|by| !by.is_empty()),
        context: details.context,
        error: record.error_json.as_deref().and_then(|json| serde_json::from_str(json).ok()),
        recalled,
        created_at: clock::format(record.created_at_ms, None),
        ended_at: record.ended_at_ms.map(|ms| clock::format(ms, None)),
    })
}

/// Whether a status is one of the ends.
pub(crate) fn is_ended(status: u8) -> bool {
    !matches!(turn_status_of(status), Some(TurnStatus::Queued | TurnStatus::Running))
}
