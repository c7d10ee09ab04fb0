//! The writes of a turn: its row, messages and events in one transaction, then the events to who follows.
//!
//! Must not know: why a turn does what it does.

use super::rows::{id_bytes, id_text, wire_turn};
use super::{DetailsChange, NewResult, SessionError, SessionState, Sessions, TurnDetails};
use crate::clock;
use crate::idempotency::{Key, idempotent};
use crate::store::{Direction, SessionReads, StoreError, WriteTx};
use serde_json::Value;
use std::collections::HashSet;
use tiro_schema::convert::role_code;
use tiro_schema::record::{EventRecord, MessageRecord, SessionRecord, TurnRecord};
use tiro_schema::wire::event::{ItemEvent, ItemKind, TurnEvent};
use tiro_schema::wire::session::{ContentBlock, Role};
use tiro_schema::wire::turn::Turn;

/// A message to append.
#[derive(Debug, Clone)]
pub struct NewMessage {
    /// Who it is from.
    pub role: Role,
    /// Its blocks.
    pub content: Vec<ContentBlock>,
    /// The stream ended before the message did.
    pub partial: bool,
}

/// An event to append.
#[derive(Debug, Clone)]
pub enum NewEvent {
    /// `turn/started`.
    TurnStarted,
    /// `turn/completed`.
    TurnCompleted,
    /// `item/started`.
    ItemStarted {
        /// The item.
        item_id: String,
        /// What it is.
        kind: ItemKind,
    },
    /// `item/completed`.
    ItemCompleted {
        /// The item.
        item_id: String,
        /// What it is.
        kind: ItemKind,
        /// Its whole content.
        content: ContentBlock,
    },
}

/// One step of a turn, all or nothing.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The turn's row after the step.
    pub turn: TurnRecord,
    /// The state of its session after the step, where it changed.
    pub state: Option<SessionState>,
    /// Changes of its details.
    pub changes: Vec<DetailsChange>,
    /// Texts kept whole beside them.
    pub results: Vec<NewResult>,
    /// Messages, in order.
    pub messages: Vec<NewMessage>,
    /// Events, in order.
    pub events: Vec<NewEvent>,
}

impl Sessions {
    /// Stores a step and tells who follows.
    ///
    /// # Errors
    /// `NotFound` when the session is gone; the store's.
    pub async fn journal(&self, entry: Entry) -> Result<(), SessionError> {
        let session = entry.turn.session;
        let write = self.store.write("turn", move |tx| append(tx, &entry));
        let events = write.await?;
        self.feeds.publish(session, events);
        Ok(())
    }

    /// Stores a turn that waits in line, or gives the one that its key already made. True when it is new.
    ///
    /// # Errors
    /// `NotFound` when the session is gone; the key's; the store's.
    pub async fn enqueue(
        &self,
        turn: TurnRecord,
        details: TurnDetails,
        key: Option<Key>,
    ) -> Result<([u8; 16], bool), SessionError> {
        let own = turn.id;
        let write = self.store.write("turn/start", move |tx| -> Result<String, SessionError> {
            idempotent(tx, key.as_ref(), |tx| {
                let mut session = session_of(tx, turn.session)?;
                session.turn_count += 1;
                session.updated_at_ms = tx.now_ms();
                tx.put_session(&session)?;
                tx.put_turn(&TurnRecord { created_at_ms: tx.now_ms(), ..turn.clone() })?;
                tx.put_turn_details(&turn.id, &details.record()?)?;
                Ok(id_text(&turn.id))
            })
        });
        let id = id_bytes(&write.await?).ok_or(SessionError::Lost)?;
        Ok((id, id == own))
    }

    /// Keeps what is said to a turn until the turn reads it. True when it is new: a key says it once.
    ///
    /// # Errors
    /// The key's; the store's.
    pub async fn add_said(&self, turn: [u8; 16], said: String, key: Option<Key>) -> Result<bool, SessionError> {
        let write = self.store.write("turn/steer", move |tx| -> Result<bool, SessionError> {
            let mut is_new = false;
            idempotent(tx, key.as_ref(), |tx| {
                is_new = true;
                let mut details = super::details::details(tx, &turn)?;
                details.said.push(said.clone());
                tx.put_turn_details(&turn, &details.record()?)?;
                Ok::<(), SessionError>(())
            })?;
            Ok(is_new)
        });
        Ok(write.await?)
    }

    /// What is told of a turn beside its row.
    ///
    /// # Errors
    /// The store's.
    pub fn turn_details(&self, turn: &[u8; 16]) -> Result<TurnDetails, SessionError> {
        Ok(self.store.read(|tx| super::details::details(tx, turn))?)
    }

    /// The row of a turn.
    ///
    /// # Errors
    /// `NotFound`; the store's.
    pub fn turn(&self, id: &str) -> Result<TurnRecord, SessionError> {
        let gone = || SessionError::NotFound { what: "turn", id: id.chars().take(64).collect() };
        let whole = id_bytes(id).ok_or_else(gone)?;
        self.store.read(|tx| tx.turn(&whole)?.ok_or_else(gone))
    }

    /// The session with this key.
    ///
    /// # Errors
    /// `NotFound`; the store's.
    pub fn by_key(&self, key: u64) -> Result<SessionRecord, SessionError> {
        self.store.read(|tx| session_of(tx, key))
    }

    /// The wire form of a turn as it stands.
    ///
    /// # Errors
    /// `NotFound`; the store's.
    pub fn describe_turn(&self, id: &str) -> Result<Turn, SessionError> {
        let record = self.turn(id)?;
        self.store.read(|tx| {
            let session = session_of(tx, record.session)?;
            Ok(wire_turn(tx, &record, id_text(&session.id))?)
        })
    }

    /// Turns that were queued or running when the daemon stopped, oldest first.
    ///
    /// # Errors
    /// The store's.
    pub fn unfinished_turns(&self) -> Result<Vec<TurnRecord>, SessionError> {
        let mut turns = self.store.read(|tx| tx.turns_with_status(&|status| !super::rows::is_ended(status), usize::MAX))?;
        turns.sort_by_key(|turn: &TurnRecord| (turn.created_at_ms, turn.id));
        Ok(turns)
    }

    /// The turns whose messages stand at a position or later.
    ///
    /// # Errors
    /// The store's.
    pub fn turns_from(&self, session: u64, position: u64) -> Result<HashSet<[u8; 16]>, SessionError> {
        let max = crate::limits::AGENT_HISTORY_MESSAGES_MAX;
        let records = self.store.read(|tx| tx.messages(session, position..=u64::MAX, Direction::Descending, max))?;
        Ok(records.iter().map(|record: &MessageRecord| record.turn).collect())
    }

    /// The messages of a session, newest first, at most `max`.
    ///
    /// # Errors
    /// The store's.
    pub fn newest_messages(&self, session: u64, max: usize) -> Result<Vec<MessageRecord>, SessionError> {
        Ok(self.store.read(|tx| tx.messages(session, 0..=u64::MAX, Direction::Descending, max))?)
    }
}

pub(super) fn session_of(tx: &impl SessionReads, key: u64) -> Result<SessionRecord, SessionError> {
    tx.session(key)?.ok_or_else(|| SessionError::NotFound { what: "session", id: key.to_string() })
}

/// Events as they go out: number, method, params.
pub(super) type Published = (u64, String, Value);

fn append(tx: &mut WriteTx, entry: &Entry) -> Result<Vec<Published>, SessionError> {
    let mut session = session_of(tx, entry.turn.session)?;
    let now_ms = tx.now_ms();
    session.updated_at_ms = now_ms;
    for message in &entry.messages {
        let record = MessageRecord {
            position: session.message_count,
            turn: entry.turn.id,
            role: role_code(message.role),
            content_json: json_text(&message.content)?,
            created_at_ms: now_ms,
            partial: message.partial,
        };
        tx.put_message(session.key, &record)?;
        session.message_count += 1;
    }
    if !entry.changes.is_empty() {
        let mut details = super::details::details(tx, &entry.turn.id)?;
        entry.changes.iter().for_each(|change| details.apply(change));
        tx.put_turn_details(&entry.turn.id, &details.record()?)?;
    }
    if let Some(state) = &entry.state {
        super::state::put_state(tx, session.key, state)?;
    }
    super::results::put(tx, session.key, entry.turn.id, &entry.results)?;
    let mut turn = entry.turn.clone();
    if super::rows::is_ended(turn.status) {
        turn.ended_at_ms.get_or_insert(now_ms);
    }
    tx.put_turn(&turn)?;
    let mut published = Vec::with_capacity(entry.events.len());
    for event in &entry.events {
        session.event_seq += 1;
        let (method, params) = event_params(tx, event, &session, &turn, now_ms)?;
        let record = EventRecord { event_seq: session.event_seq, method: method.to_owned(), params_json: params.to_string() };
        tx.put_event(session.key, &record)?;
        published.push((record.event_seq, record.method, params));
    }
    tx.put_session(&session)?;
    Ok(published)
}

fn event_params(
    tx: &WriteTx,
    event: &NewEvent,
    session: &SessionRecord,
    turn: &TurnRecord,
    now_ms: i64,
) -> Result<(&'static str, Value), SessionError> {
    let session_id = id_text(&session.id);
    let at = clock::format(now_ms, None);
    let item = |item_id: &str, kind: ItemKind, content| ItemEvent {
        session_id: session_id.clone(),
        event_seq: session.event_seq,
        at: at.clone(),
        turn_id: id_text(&turn.id),
        item_id: item_id.to_owned(),
        kind: kind.into(),
        content,
    };
    Ok(match event {
        NewEvent::TurnStarted | NewEvent::TurnCompleted => {
            let method = if matches!(event, NewEvent::TurnStarted) { "turn/started" } else { "turn/completed" };
            let turn = wire_turn(tx, turn, session_id.clone())?;
            let params = TurnEvent { session_id: session_id.clone(), event_seq: session.event_seq, at: at.clone(), turn };
            (method, json(&params)?)
        }
        NewEvent::ItemStarted { item_id, kind } => ("item/started", json(&item(item_id, *kind, None))?),
        NewEvent::ItemCompleted { item_id, kind, content } => {
            ("item/completed", json(&item(item_id, *kind, Some(content.clone())))?)
        }
    })
}

pub(super) fn json<T: serde::Serialize>(value: &T) -> Result<Value, SessionError> {
    serde_json::to_value(value).map_err(|error| StoreError::Invalid(format!("no JSON form: {error}")).into())
}

pub(super) fn json_text<T: serde::Serialize>(value: &T) -> Result<String, SessionError> {
    serde_json::to_string(value).map_err(|error| StoreError::Invalid(format!("no JSON form: {error}")).into())
}
