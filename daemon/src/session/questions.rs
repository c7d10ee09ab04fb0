//! Questions of turns to a person: kept until they are settled, settled once.
//!
//! Must not know: who waits for an answer, who can give one.

use super::journal::{Published, json};
use super::rows::{id_bytes, id_text};
use super::{SessionError, Sessions, TurnDetails};
use crate::clock;
use crate::idempotency::{Key, idempotent};
use crate::store::{SessionReads, WriteTx};
use tiro_schema::record::{QuestionRecord, SessionRecord, TurnRecord};
use tiro_schema::wire::Open;
use tiro_schema::wire::question::{Question, QuestionEvent, QuestionKind, QuestionState};

/// A question waits for its answer.
pub const QUESTION_PENDING: u8 = 0;
/// It has one.
pub const QUESTION_ANSWERED: u8 = 1;
/// Its turn was cancelled.
pub const QUESTION_WITHDRAWN: u8 = 2;

/// A settled question's session and turn, as they are told.
#[derive(Debug, Clone)]
pub struct Settled {
    /// The session's key.
    pub session: u64,
    /// The turn that goes on with the answer.
    pub turn: [u8; 16],
    /// Whether that is a turn that was begun for it.
    pub is_new: bool,
}

impl Sessions {
    /// Keeps a question and tells who follows.
    ///
    /// # Errors
    /// `NotFound` when the session is gone; the store's.
    pub async fn ask(&self, record: QuestionRecord) -> Result<Question, SessionError> {
        let session = record.session;
        let write = self.store.write("question", move |tx| -> Result<(Question, Vec<Published>), SessionError> {
            let record = QuestionRecord { created_at_ms: tx.now_ms(), ..record.clone() };
            tx.put_question(&record)?;
            let mut session = super::journal::session_of(tx, record.session)?;
            let (question, event) = told(tx, &mut session, &record, "question/pending")?;
            Ok((question, vec![event]))
        });
        let (question, events) = write.await?;
        self.feeds.publish(session, events);
        Ok(question)
    }

    /// The row of a question.
    ///
    /// # Errors
    /// `NotFound`; the store's.
    pub fn question(&self, id: &str) -> Result<QuestionRecord, SessionError> {
        let gone = || SessionError::NotFound { what: "question", id: id.chars().take(64).collect() };
        let whole = id_bytes(id).ok_or_else(gone)?;
        self.store.read(|tx| tx.question(&whole)?.ok_or_else(gone))
    }

    /// Questions of a session, oldest first.
    ///
    /// # Errors
    /// The store's.
    pub fn questions_of(&self, session: u64) -> Result<Vec<QuestionRecord>, SessionError> {
        let mut found = self.store.read(|tx| tx.questions_of_session(session))?;
        found.sort_by_key(|record: &QuestionRecord| (record.created_at_ms, record.id));
        Ok(found)
    }

    /// Every question that waits for an answer. Looks through all of them: for the start only.
    ///
    /// # Errors
    /// The store's.
    pub fn pending_questions(&self) -> Result<Vec<QuestionRecord>, SessionError> {
        let mut found = self.store.read(|tx| tx.questions_in_state(QUESTION_PENDING))?;
        found.sort_by_key(|record: &QuestionRecord| (record.created_at_ms, record.id));
        Ok(found)
    }

    /// The wire form of a question.
    ///
    /// # Errors
    /// The store's.
    pub fn describe_question(&self, record: &QuestionRecord) -> Result<Question, SessionError> {
        let session = self.by_key(record.session)?;
        Ok(wire(record, &id_text(&session.id)))
    }

    /// Takes an answer, once. `follow_up` is the turn that is begun with it where nothing waits for it any more.
    ///
    /// # Errors
    /// `QuestionGone` when it was settled before; `NotFound`; the store's.
    pub async fn settle(
        &self,
        id: [u8; 16],
        answer: Option<String>,
        follow_up: Option<TurnRecord>,
        key: Option<Key>,
    ) -> Result<Settled, SessionError> {
        let write = self.store.write("question/respond", move |tx| -> Result<(Settled, Vec<Published>), SessionError> {
            let mut events = Vec::new();
            let turn = idempotent(tx, key.as_ref(), |tx| {
                let (turn, event) = settle(tx, &id, answer.as_ref(), follow_up.as_ref())?;
                events.push(event);
                Ok::<String, SessionError>(id_text(&turn))
            })?;
            let record = tx.question(&id)?.ok_or(SessionError::Lost)?;
            let turn = id_bytes(&turn).ok_or(SessionError::Lost)?;
            let is_new = follow_up.as_ref().is_some_and(|follow_up| follow_up.id == turn) && !events.is_empty();
            Ok((Settled { session: record.session, turn, is_new }, events))
        });
        let (settled, events) = write.await?;
        self.feeds.publish(settled.session, events);
        Ok(settled)
    }

    /// Takes back what a turn asked and nobody answered.
    ///
    /// # Errors
    /// The store's.
    pub async fn withdraw_questions(&self, session: u64, turn: [u8; 16]) -> Result<Vec<[u8; 16]>, SessionError> {
        let asked = self.questions_of(session)?;
        let mut withdrawn = Vec::new();
        for record in asked.iter().filter(|record| record.turn == turn && record.state == QUESTION_PENDING) {
            match self.settle(record.id, None, None, None).await {
                Ok(_) => withdrawn.push(record.id),
                Err(SessionError::QuestionGone { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(withdrawn)
    }
}

fn settle(
    tx: &mut WriteTx,
    id: &[u8; 16],
    answer: Option<&String>,
    follow_up: Option<&TurnRecord>,
) -> Result<([u8; 16], Published), SessionError> {
    let mut record = tx.question(id)?.ok_or_else(|| SessionError::NotFound { what: "question", id: id_text(id) })?;
    if record.state != QUESTION_PENDING {
        return Err(SessionError::QuestionGone { question: id_text(id) });
    }
    record.state = if answer.is_some() { QUESTION_ANSWERED } else { QUESTION_WITHDRAWN };
    record.answer.clone_from(&answer.cloned());
    record.settled_at_ms = Some(tx.now_ms());
    tx.put_question(&record)?;
    let mut session = super::journal::session_of(tx, record.session)?;
    let turn = match follow_up {
        Some(follow_up) => {
            session.turn_count += 1;
            tx.put_turn(&TurnRecord { created_at_ms: tx.now_ms(), ..follow_up.clone() })?;
            let details = TurnDetails { task_kind_by: "an answer".to_owned(), ..TurnDetails::default() };
            tx.put_turn_details(&follow_up.id, &details.record()?)?;
            follow_up.id
        }
        None => record.turn,
    };
    let (_, event) = told(tx, &mut session, &record, "question/resolved")?;
    Ok((turn, event))
}

/// Appends the event of a question to its session.
fn told(
    tx: &mut WriteTx,
    session: &mut SessionRecord,
    record: &QuestionRecord,
    method: &'static str,
) -> Result<(Question, Published), SessionError> {
    session.event_seq += 1;
    session.updated_at_ms = tx.now_ms();
    let session_id = id_text(&session.id);
    let question = wire(record, &session_id);
    let at = clock::format(tx.now_ms(), None);
    let event = QuestionEvent { session_id, event_seq: session.event_seq, at, question: question.clone() };
    let params = json(&event)?;
    let stored = tiro_schema::record::EventRecord {
        event_seq: session.event_seq,
        method: method.to_owned(),
        params_json: params.to_string(),
    };
    tx.put_event(session.key, &stored)?;
    tx.put_session(session)?;
    Ok((question, (session.event_seq, method.to_owned(), params)))
}

/// A question's wire form.
pub(super) fn wire(record: &QuestionRecord, session_id: &str) -> Question {
    Question {
        question_id: id_text(&record.id),
        session_id: session_id.to_owned(),
        turn_id: id_text(&record.turn),
        call_id: record.call_id.clone(),
        kind: Open::Known(if record.kind == 1 { QuestionKind::Approval } else { QuestionKind::AskUser }),
        prompt: record.prompt.clone(),
        options: record.options.clone(),
        state: Open::Known(match record.state {
            QUESTION_PENDING => QuestionState::Pending,
            QUESTION_ANSWERED => QuestionState::Answered,
            _ => QuestionState::Withdrawn,
        }),
        answer: record.answer.clone(),
        created_at: clock::format(record.created_at_ms, None),
        settled_at: record.settled_at_ms.map(|ms| clock::format(ms, None)),
    }
}
