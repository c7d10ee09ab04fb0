//! Writes of sessions, messages, turns and events.
//!
//! Must not know: how a turn runs.

use super::error::StoreError;
use super::read_session::{SessionReads, session_questions, session_turns};
use super::rows::{Direction, Rows};
use super::write_tx::WriteTx;
use super::{keys, read::part, tables};
use std::ops::Bound;
use tiro_schema::record::{
    EventRecord, MessageRecord, QuestionRecord, ResultPartRecord, ResultRecord, SessionRecord, SessionStateRecord,
    TurnDetailsRecord, TurnRecord,
};

impl WriteTx {
    /// Writes a session's metadata.
    ///
    /// # Errors
    /// The disk's.
    pub fn put_session(&mut self, session: &SessionRecord) -> Result<(), StoreError> {
        match self.session(session.key)? {
            Some(before) if before.space != session.space => {
                self.take_out(tables::SESSION_SPACES, &keys::u32_u64(before.space, session.key))?;
                self.put(tables::SESSION_SPACES, &keys::u32_u64(session.space, session.key), &())?;
            }
            Some(_) => {}
            None => {
                self.put(tables::SESSION_IDS, &session.id, &session.key)?;
                self.put(tables::SESSION_SPACES, &keys::u32_u64(session.space, session.key), &())?;
            }
        }
        self.put(tables::SESSIONS, &keys::u64(session.key), session)
    }

    /// Writes a message under its position. The session's counters are the caller's.
    ///
    /// # Errors
    /// The disk's.
    pub fn put_message(&mut self, session: u64, message: &MessageRecord) -> Result<(), StoreError> {
        self.put(tables::MESSAGES, &keys::u64_u64(session, message.position), message)
    }

    /// Writes a turn.
    ///
    /// # Errors
    /// The disk's.
    pub fn put_turn(&mut self, turn: &TurnRecord) -> Result<(), StoreError> {
        let place = keys::session_turn(turn.session, turn.created_at_ms, &turn.id);
        if self.row(tables::SESSION_TURNS, &place)?.is_none() {
            self.put(tables::SESSION_TURNS, &place, &())?;
        }
        self.put(tables::TURNS, &turn.id, turn)
    }

    /// Writes what is told of a turn beside its row.
    ///
    /// # Errors
    /// The disk's.
    pub fn put_turn_details(&mut self, turn: &[u8; 16], details: &TurnDetailsRecord) -> Result<(), StoreError> {
        self.put(tables::TURN_DETAILS, turn, details)
    }

    /// Writes a result under its number.
    ///
    /// # Errors
    /// The disk's.
    pub fn put_result(&mut self, session: u64, result: &ResultRecord) -> Result<(), StoreError> {
        self.put(tables::RESULTS, &keys::u64_u64(session, result.number), result)
    }

    /// Writes a part of a result.
    ///
    /// # Errors
    /// The disk's.
    pub fn put_result_part(&mut self, session: u64, number: u64, part: u32, text: &ResultPartRecord) -> Result<(), StoreError> {
        self.put(tables::RESULT_PARTS, &keys::u64_u64_u32(session, number, part), text)
    }

    /// Writes a question.
    ///
    /// # Errors
    /// The disk's.
    pub fn put_question(&mut self, question: &QuestionRecord) -> Result<(), StoreError> {
        self.put(tables::SESSION_QUESTIONS, &keys::u64_16(question.session, &question.id), &question.state)?;
        self.put(tables::QUESTIONS, &question.id, question)
    }

    /// Writes what is known of a session's task.
    ///
    /// # Errors
    /// The disk's.
    pub fn put_session_state(&mut self, session: u64, state: &SessionStateRecord) -> Result<(), StoreError> {
        self.put(tables::SESSION_STATES, &keys::u64(session), state)
    }

    /// Writes an event under its number.
    ///
    /// # Errors
    /// The disk's.
    pub fn put_event(&mut self, session: u64, event: &EventRecord) -> Result<(), StoreError> {
        self.put(tables::EVENTS, &keys::u64_u64(session, event.event_seq), event)
    }

    /// Takes a session out with its messages, turns and events. False when there is none.
    ///
    /// # Errors
    /// The disk's.
    pub fn delete_session(&mut self, key: u64) -> Result<bool, StoreError> {
        let Some(session) = self.session(key)? else { return Ok(false) };
        let (from, to) = session_turns(key);
        let turns = (Bound::Included(&from[..]), Bound::Included(&to[..]));
        for (place, _) in self.rows(tables::SESSION_TURNS, turns, Direction::Ascending, usize::MAX)? {
            let id: [u8; 16] = part(self, keys::bytes_at(&place, 16), tables::SESSION_TURNS, &place)?;
            self.take_out(tables::TURNS, &id)?;
            self.take_out(tables::TURN_DETAILS, &id)?;
            self.take_out(tables::SESSION_TURNS, &place)?;
        }
        let (from, to) = (keys::u64_u64(key, 0), keys::u64_u64(key, u64::MAX));
        for table in [tables::MESSAGES, tables::EVENTS, tables::RESULTS] {
            self.take_out_range(table, (Bound::Included(&from[..]), Bound::Included(&to[..])), usize::MAX)?;
        }
        let (from, to) = (keys::u64_u64_u32(key, 0, 0), keys::u64_u64_u32(key, u64::MAX, u32::MAX));
        self.take_out_range(tables::RESULT_PARTS, (Bound::Included(&from[..]), Bound::Included(&to[..])), usize::MAX)?;
        let (from, to) = session_questions(key);
        let asked = (Bound::Included(&from[..]), Bound::Included(&to[..]));
        for (place, _) in self.rows(tables::SESSION_QUESTIONS, asked, Direction::Ascending, usize::MAX)? {
            let id: [u8; 16] = part(self, keys::bytes_at(&place, 8), tables::SESSION_QUESTIONS, &place)?;
            self.take_out(tables::QUESTIONS, &id)?;
            self.take_out(tables::SESSION_QUESTIONS, &place)?;
        }
        self.take_out(tables::SESSION_STATES, &keys::u64(key))?;
        self.take_out(tables::SESSION_SPACES, &keys::u32_u64(session.space, key))?;
        self.take_out(tables::SESSION_IDS, &session.id)?;
        self.take_out(tables::SESSIONS, &keys::u64(key))
    }
}
