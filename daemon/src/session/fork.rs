//! `session/fork`, `session/export` and `session/search`: a session again from a turn on, as lines, and found by what was said.
//!
//! Must not know: turns' running, connections.

use super::results::cut;
use super::rows::{content, id_text, wire_message, wire_session};
use super::verbs::{Cursor, check_space, check_title, find, page_limit};
use super::{SessionError, SessionState, Sessions};
use crate::clock;
use crate::idempotency::{Key, idempotent};
use crate::limits;
use crate::store::{Direction, Reads, SessionReads, WriteTx};
use serde_json::{Value, json};
use std::collections::HashMap;
use tiro_index::tokenize::{analyse, query_tokens, token_id};
use tiro_schema::DEFAULT_SPACE;
use tiro_schema::convert::role_of;
use tiro_schema::record::{MessageRecord, ResultRecord, SessionRecord, TurnRecord};
use tiro_schema::wire::session::{
    ContentBlock, Role, SessionExportParams, SessionExportResult, SessionForkParams, SessionFound, SessionNewResult,
    SessionSearchParams, SessionSearchResult,
};
use uuid::Uuid;

impl Sessions {
    /// `session/fork`: a new session with the messages, turns and results of one up to the end of a turn.
    ///
    /// # Errors
    /// A param that does not fit; `NotFound`; the store's.
    pub async fn fork(&self, params: SessionForkParams) -> Result<SessionNewResult, SessionError> {
        check_title(params.title.as_deref().unwrap_or_default())?;
        let key = Key::of("session/fork", "", params.key.as_deref(), &params)?;
        let id = Uuid::new_v4().into_bytes();
        let made = self.store.write("session/fork", move |tx| -> Result<SessionNewResult, SessionError> {
            idempotent(tx, key.as_ref(), |tx| {
                let source = find(tx, &params.session_id)?;
                copy(tx, &source, &params, id)?;
                Ok(SessionNewResult { session_id: id_text(&id) })
            })
        });
        Ok(made.await?)
    }

    /// `session/export`, oldest first: a line about the session, then its turns' messages.
    ///
    /// # Errors
    /// A param that does not fit; `NotFound`; the store's.
    pub fn export(&self, params: &SessionExportParams) -> Result<SessionExportResult, SessionError> {
        let limit = page_limit(params.limit)?;
        self.store.read(|tx| {
            let session = find(tx, &params.session_id)?;
            let cursor = Cursor::of("session/export", &id_text(&session.id));
            let from = cursor.place(params.cursor.as_deref())?.unwrap_or(0);
            let mut lines: Vec<Value> = Vec::new();
            if from == 0 {
                let space = tx.space_by_id(session.space)?.map(|space| space.name).unwrap_or_default();
                let state = super::state::state(tx, session.key)?;
                let fields: HashMap<&String, &String> = state.fields.iter().map(|(name, field)| (name, &field.value)).collect();
                lines.push(json!({"type": "session", "session": wire_session(&session, space, false), "fields": fields}));
            }
            let records = tx.messages(session.key, from..=u64::MAX, Direction::Ascending, limit + 1)?;
            let mut bytes = 0;
            for record in records.iter().take(limit) {
                bytes += record.content_json.len();
                if bytes > limits::PAGE_BYTES_MAX && !lines.is_empty() {
                    break;
                }
                lines.push(json!({"type": "message", "message": wire_message(record)}));
            }
            let shown = lines.len() - usize::from(from == 0);
            let next_cursor = records.get(shown).map(|record| cursor.text(record.position));
            Ok(SessionExportResult { lines, next_cursor })
        })
    }

    /// `session/search`: messages of the sessions of a space that share most with the words, best first.
    ///
    /// # Errors
    /// A param that does not fit; the store's.
    pub fn search(
        &self,
        params: &SessionSearchParams,
        may_see: &dyn Fn(&SessionRecord) -> bool,
    ) -> Result<SessionSearchResult, SessionError> {
        let name = params.space.as_deref().unwrap_or(DEFAULT_SPACE);
        check_space("space", name)?;
        if params.query.len() > limits::QUERY_BYTES_MAX {
            return Err(SessionError::too_large("query", "queryBytesMax", limits::QUERY_BYTES_MAX));
        }
        let wanted = query_tokens(&params.query);
        if wanted.is_empty() {
            return Err(SessionError::invalid("query", "says nothing"));
        }
        let limit = match params.limit.unwrap_or(limits::RESULT_PASSAGES_DEFAULT) {
            n if (1..=limits::RESULT_PASSAGES_MAX).contains(&n) => n as usize,
            _ => return Err(SessionError::invalid("limit", format!("between 1 and {}", limits::RESULT_PASSAGES_MAX))),
        };
        self.store.read(|tx| {
            let Some(space) = tx.space_by_name(name)? else { return Ok(SessionSearchResult { items: Vec::new() }) };
            let sessions = tx.sessions_of_space(space.id, 0..=u64::MAX, Direction::Descending, limits::SESSIONS_SEARCHED_MAX)?;
            let mut found: Vec<SessionFound> = Vec::new();
            let mut left = limits::MESSAGES_SEARCHED_MAX;
            for session in sessions.iter().filter(|session| may_see(session)) {
                let messages = tx.messages(session.key, 0..=u64::MAX, Direction::Descending, left)?;
                left -= messages.len();
                found.extend(messages.iter().filter_map(|message| fits(session, message, &wanted)));
                if left == 0 {
                    break;
                }
            }
            // Of those that fit as well the newer one comes first.
            found.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| b.created_at.0.cmp(&a.created_at.0)));
            found.truncate(limit);
            Ok(SessionSearchResult { items: found })
        })
    }
}

/// How well a message fits, and the passage that fits best. Results of tools are for `result/search`.
fn fits(session: &SessionRecord, message: &MessageRecord, wanted: &[tiro_index::tokenize::QueryToken]) -> Option<SessionFound> {
    let role = role_of(message.role).filter(|role| *role != Role::Tool)?;
    let texts = content(message).into_iter().filter_map(|block| match block {
        ContentBlock::Text { text } | ContentBlock::Stored { text, .. } => Some(text),
        _ => None,
    });
    let text = texts.collect::<Vec<_>>().join("\n");
    let all: f32 = wanted.iter().map(|token| token.weight).sum();
    let score = |passage: &str| {
        let mut held = vec![false; wanted.len()];
        analyse(passage, &mut |token, _| {
            let id = token_id(token);
            wanted.iter().enumerate().filter(|(_, token)| token.id == id).for_each(|(at, _)| held[at] = true);
        });
        wanted.iter().zip(held).filter(|(_, held)| *held).map(|(token, _)| token.weight).sum::<f32>() / all
    };
    let best = cut(&text).into_iter().map(|(_, passage)| (score(passage), passage)).max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 >= limits::SESSION_SEARCH_SHARE_MIN).then(|| SessionFound {
        session_id: id_text(&session.id),
        title: session.title.clone(),
        position: message.position,
        turn_id: id_text(&message.turn),
        role: role.into(),
        created_at: clock::format(message.created_at_ms, None),
        text: best.1.trim().to_owned(),
        score: best.0,
    })
}

/// Copies a session up to the end of a turn, under new ids.
fn copy(tx: &mut WriteTx, source: &SessionRecord, params: &SessionForkParams, id: [u8; 16]) -> Result<(), SessionError> {
    let turns = turns_until(tx, source, params.turn_id.as_deref())?;
    let ids: HashMap<[u8; 16], [u8; 16]> = turns.iter().map(|turn| (turn.id, Uuid::new_v4().into_bytes())).collect();
    let messages = tx.messages(source.key, 0..=u64::MAX, Direction::Ascending, usize::MAX)?;
    let messages: Vec<&MessageRecord> = messages.iter().filter(|message| ids.contains_key(&message.turn)).collect();
    let now_ms = tx.now_ms();
    let key = tx.next_seq();
    let (old, new) = (id_text(&source.id), id_text(&id));
    for (position, message) in (0..).zip(&messages) {
        // References name their session.
        let content_json = message.content_json.replace(&format!("{old}:r"), &format!("{new}:r"));
        tx.put_message(key, &MessageRecord { position, turn: ids[&message.turn], content_json, ..(*message).clone() })?;
    }
    for turn in &turns {
        let details = tx.turn_details(&turn.id)?;
        tx.put_turn(&TurnRecord { id: ids[&turn.id], session: key, ..turn.clone() })?;
        if let Some(details) = details {
            tx.put_turn_details(&ids[&turn.id], &details)?;
        }
    }
    for result in tx.results(source.key, 0..=u64::MAX, Direction::Ascending, usize::MAX)? {
        let Some(turn) = ids.get(&result.turn) else { continue };
        for part in 0..result.parts {
            let text = tx.result_part(source.key, result.number, part)?;
            tx.put_result_part(key, result.number, part, &text)?;
        }
        tx.put_result(key, &ResultRecord { turn: *turn, ..result })?;
    }
    let mut state = super::state::state(tx, source.key)?;
    if state.summary.until > messages.len() as u64 {
        // It knows of turns that this session never had.
        state = SessionState::default();
    }
    state.fields.retain(|_, field| field.turn <= turns.len() as u64);
    super::state::put_state(tx, key, &state)?;
    let title = params.title.clone().unwrap_or_else(|| source.title.clone());
    let forked = SessionRecord {
        key,
        id,
        title,
        created_at_ms: now_ms,
        updated_at_ms: now_ms,
        message_count: messages.len() as u64,
        turn_count: turns.len() as u64,
        event_seq: 0,
        ..source.clone()
    };
    Ok(tx.put_session(&forked)?)
}

/// The turns of a session that have ended, up to and with the one named.
fn turns_until(tx: &impl SessionReads, source: &SessionRecord, last: Option<&str>) -> Result<Vec<TurnRecord>, SessionError> {
    let mut turns: Vec<TurnRecord> = tx.turns_of_session(source.key, Direction::Ascending, usize::MAX)?;
    turns.retain(|turn| super::rows::is_ended(turn.status));
    let Some(last) = last else { return Ok(turns) };
    let at = turns.iter().position(|turn| id_text(&turn.id) == last);
    let gone = || SessionError::NotFound { what: "ended turn of this session", id: last.chars().take(64).collect() };
    turns.truncate(at.ok_or_else(gone)? + 1);
    Ok(turns)
}
