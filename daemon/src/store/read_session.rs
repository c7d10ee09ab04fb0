//! Reads of sessions, messages, turns and events.
//!
//! Must not know: how a turn runs.

use super::error::StoreError;
use super::keys;
use super::read::{ids_by_prefix, lost, part};
use super::rows::{Direction, Rows};
use super::tables;
use std::ops::{Bound, RangeInclusive};
use tiro_schema::record::{
    EventRecord, MessageRecord, QuestionRecord, ResultPartRecord, ResultRecord, SessionRecord, SessionStateRecord,
    TurnDetailsRecord, TurnRecord,
};

/// Reads of sessions. Every error is the disk's or `Damaged`.
#[allow(clippy::missing_errors_doc)]
pub trait SessionReads: Rows + Sized {
    /// Metadata of a session; reads no message.
    fn session(&self, key: u64) -> Result<Option<SessionRecord>, StoreError> {
        self.record(tables::SESSIONS, &keys::u64(key))
    }

    /// Metadata of the session with this id.
    fn session_by_id(&self, id: &[u8; 16]) -> Result<Option<SessionRecord>, StoreError> {
        let key: Option<u64> = self.record(tables::SESSION_IDS, id)?;
        let Some(key) = key else { return Ok(None) };
        self.session(key)?.map(Some).ok_or_else(|| lost(self, tables::SESSIONS, &keys::u64(key)))
    }

    /// Ids and keys of at most `max` sessions whose id starts with these hexadecimal digits (hyphens are skipped).
    fn sessions_by_id_prefix(&self, prefix: &str, max: usize) -> Result<Vec<([u8; 16], u64)>, StoreError> {
        ids_by_prefix(self, tables::SESSION_IDS, prefix, max)
    }

    /// At most `max` sessions of a space with keys in the range, in the order asked for.
    fn sessions_of_space(
        &self,
        space: u32,
        keys: RangeInclusive<u64>,
        direction: Direction,
        max: usize,
    ) -> Result<Vec<SessionRecord>, StoreError> {
        let (from, to) = (keys::u32_u64(space, *keys.start()), keys::u32_u64(space, *keys.end()));
        let bounds = (Bound::Included(&from[..]), Bound::Included(&to[..]));
        let rows = self.rows(tables::SESSION_SPACES, bounds, direction, max)?;
        rows.iter()
            .map(|(key, value)| {
                self.unseal::<()>(tables::SESSION_SPACES, key, value)?;
                let session = part(self, keys::u64_at(key, 4), tables::SESSION_SPACES, key)?;
                self.session(session)?.ok_or_else(|| lost(self, tables::SESSIONS, &keys::u64(session)))
            })
            .collect()
    }

    /// Messages of a session with positions in the range, at most `max`, in the order asked for.
    fn messages(
        &self,
        session: u64,
        positions: RangeInclusive<u64>,
        direction: Direction,
        max: usize,
    ) -> Result<Vec<MessageRecord>, StoreError> {
        let (from, to) = (keys::u64_u64(session, *positions.start()), keys::u64_u64(session, *positions.end()));
        let bounds = (Bound::Included(&from[..]), Bound::Included(&to[..]));
        let rows = self.rows(tables::MESSAGES, bounds, direction, max)?;
        rows.iter().map(|(key, value)| self.unseal(tables::MESSAGES, key, value)).collect()
    }

    /// The turn with this id.
    fn turn(&self, id: &[u8; 16]) -> Result<Option<TurnRecord>, StoreError> {
        self.record(tables::TURNS, id)
    }

    /// At most `max` results of a session with numbers in the range, in the order asked for.
    fn results(
        &self,
        session: u64,
        numbers: RangeInclusive<u64>,
        direction: Direction,
        max: usize,
    ) -> Result<Vec<ResultRecord>, StoreError> {
        let (from, to) = (keys::u64_u64(session, *numbers.start()), keys::u64_u64(session, *numbers.end()));
        let bounds = (Bound::Included(&from[..]), Bound::Included(&to[..]));
        let rows = self.rows(tables::RESULTS, bounds, direction, max)?;
        rows.iter().map(|(key, value)| self.unseal(tables::RESULTS, key, value)).collect()
    }

    /// One result of a session, without its text.
    fn result(&self, session: u64, number: u64) -> Result<Option<ResultRecord>, StoreError> {
        self.record(tables::RESULTS, &keys::u64_u64(session, number))
    }

    /// A part of a result's text.
    fn result_part(&self, session: u64, number: u64, part: u32) -> Result<ResultPartRecord, StoreError> {
        let key = keys::u64_u64_u32(session, number, part);
        self.record(tables::RESULT_PARTS, &key)?.ok_or_else(|| lost(self, tables::RESULT_PARTS, &key))
    }

    /// A question.
    fn question(&self, id: &[u8; 16]) -> Result<Option<QuestionRecord>, StoreError> {
        self.record(tables::QUESTIONS, id)
    }

    /// Questions of a session, in no order that means something.
    fn questions_of_session(&self, session: u64) -> Result<Vec<QuestionRecord>, StoreError> {
        let (from, to) = session_questions(session);
        let bounds = (Bound::Included(&from[..]), Bound::Included(&to[..]));
        let rows = self.rows(tables::SESSION_QUESTIONS, bounds, Direction::Ascending, usize::MAX)?;
        rows.iter().map(|(key, _)| self.question_at(key)).collect()
    }

    /// Questions of any session in a state, in no order that means something. Looks through the states of all.
    fn questions_in_state(&self, state: u8) -> Result<Vec<QuestionRecord>, StoreError> {
        let mut found = Vec::new();
        self.scan(tables::SESSION_QUESTIONS, super::read::UNBOUNDED, Direction::Ascending, &mut |key, value| {
            if self.unseal::<u8>(tables::SESSION_QUESTIONS, key, value)? == state {
                found.push(key.to_vec());
            }
            Ok(true)
        })?;
        found.iter().map(|key| self.question_at(key)).collect()
    }

    /// The question that a row of [`tables::SESSION_QUESTIONS`] names.
    fn question_at(&self, key: &[u8]) -> Result<QuestionRecord, StoreError> {
        let id: [u8; 16] = part(self, keys::bytes_at(key, 8), tables::SESSION_QUESTIONS, key)?;
        self.question(&id)?.ok_or_else(|| lost(self, tables::QUESTIONS, &id))
    }

    /// What is known of a session's task.
    fn session_state(&self, session: u64) -> Result<Option<SessionStateRecord>, StoreError> {
        self.record(tables::SESSION_STATES, &keys::u64(session))
    }

    /// What is told of a turn beside its row.
    fn turn_details(&self, id: &[u8; 16]) -> Result<Option<TurnDetailsRecord>, StoreError> {
        self.record(tables::TURN_DETAILS, id)
    }

    /// At most `max` turns of a session, by the time they were started.
    fn turns_of_session(&self, session: u64, direction: Direction, max: usize) -> Result<Vec<TurnRecord>, StoreError> {
        let (from, to) = session_turns(session);
        let bounds = (Bound::Included(&from[..]), Bound::Included(&to[..]));
        let rows = self.rows(tables::SESSION_TURNS, bounds, direction, max)?;
        rows.iter()
            .map(|(key, value)| {
                self.unseal::<()>(tables::SESSION_TURNS, key, value)?;
                let id: [u8; 16] = part(self, keys::bytes_at(key, 16), tables::SESSION_TURNS, key)?;
                self.turn(&id)?.ok_or_else(|| lost(self, tables::TURNS, &id))
            })
            .collect()
    }

    /// At most `max` turns of any session whose status passes, in no order that means something. Reads every turn: for the start only.
    fn turns_with_status(&self, pass: &dyn Fn(u8) -> bool, max: usize) -> Result<Vec<TurnRecord>, StoreError> {
        let mut found = Vec::new();
        self.scan(tables::TURNS, super::read::UNBOUNDED, Direction::Ascending, &mut |key, value| {
            let turn: TurnRecord = self.unseal(tables::TURNS, key, value)?;
            if pass(turn.status) {
                found.push(turn);
            }
            Ok(found.len() < max)
        })?;
        Ok(found)
    }

    /// At most `max` events of a session after one, oldest first.
    fn events(&self, session: u64, after: u64, max: usize) -> Result<Vec<EventRecord>, StoreError> {
        let (from, to) = (keys::u64_u64(session, after), keys::u64_u64(session, u64::MAX));
        let bounds = (Bound::Excluded(&from[..]), Bound::Included(&to[..]));
        let rows = self.rows(tables::EVENTS, bounds, Direction::Ascending, max)?;
        rows.iter().map(|(key, value)| self.unseal(tables::EVENTS, key, value)).collect()
    }
}

impl<T: Rows> SessionReads for T {}

/// First and last key of a session's turns.
pub(super) fn session_turns(session: u64) -> ([u8; 32], [u8; 32]) {
    (keys::session_turn(session, i64::MIN, &[0; 16]), keys::session_turn(session, i64::MAX, &[255; 16]))
}

/// First and last key of a session's questions.
pub(super) fn session_questions(session: u64) -> ([u8; 24], [u8; 24]) {
    (keys::u64_16(session, &[0; 16]), keys::u64_16(session, &[255; 16]))
}
