//! Questions to a person: who can answer them, which calls wait for an answer, and the tools `ask_user` and `give_up`.
//!
//! A question is durable before anybody sees it, and outlives its call, its turn and the daemon. An answer goes to the call that waits, else to
//! a new turn of the session. Must not know: sockets beyond a connection's queue.

use super::lanes::TurnId;
use super::tools::ToolContext;
use super::verbs::active;
use super::{Harness, Inner};
use crate::caller::Caller;
use crate::connection::{ConnectionHandle, Delivery};
use crate::idempotency::Key;
use crate::limits;
use crate::memory::secrets;
use crate::session::{QUESTION_PENDING, SessionError, id_text};
use crate::tool::{Ends, SideEffect, ToolResult, ToolSpec};
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tiro_schema::convert::turn_status_code;
use tiro_schema::record::{QuestionRecord, SessionRecord, TurnRecord};
use tiro_schema::wire::question::{
    Question, QuestionEvent, QuestionListParams, QuestionListResult, QuestionRespondParams, QuestionRespondResult,
};
use tiro_schema::wire::session::ContentBlock;
use tiro_schema::wire::turn::{TaskKind, TurnStatus};
use tokio::sync::oneshot;
use uuid::Uuid;

/// Whether a client may see a session.
pub type MaySee = Arc<dyn Fn(&SessionRecord) -> bool + Send + Sync>;

/// A client that can put questions to a person.
struct Answerer {
    connection: ConnectionHandle,
    may_see: MaySee,
}

/// The questions of a daemon.
#[derive(Default)]
pub(super) struct Questions {
    waiting: Mutex<HashMap<[u8; 16], oneshot::Sender<String>>>,
    answerers: Mutex<HashMap<u64, Answerer>>,
}

impl Questions {
    /// Offers a question to every client that can put it to a person and does not follow its session anyway. How many there are, followers
    /// included.
    fn offer(&self, inner: &Inner, session: &SessionRecord, question: &Question) -> usize {
        let mut reached = 0;
        let mut answerers = self.answerers.lock();
        answerers.retain(|_, answerer| !answerer.connection.is_closed());
        for answerer in answerers.values().filter(|answerer| (answerer.may_see)(session)) {
            let follows = inner.sessions.feeds().is_followed_by(session.key, answerer.connection.id());
            reached += usize::from(follows || offer_to(&answerer.connection, question) != Delivery::Closed);
        }
        reached
    }
}

fn offer_to(connection: &ConnectionHandle, question: &Question) -> Delivery {
    let event = QuestionEvent {
        session_id: question.session_id.clone(),
        event_seq: 0,
        at: question.created_at.clone(),
        question: question.clone(),
    };
    connection.notify("question/pending", &event)
}

/// A place where an answer is waited for; given up when it is dropped.
struct Waiting {
    questions: Weak<Inner>,
    id: [u8; 16],
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(inner) = self.questions.upgrade() {
            inner.questions.waiting.lock().remove(&self.id);
        }
    }
}

/// What the tools are.
pub(super) fn specs() -> Vec<ToolSpec> {
    let spec = |name: &'static str, description: &'static str, parameters: Value, timeout_ms| ToolSpec {
        name: name.into(),
        description: description.into(),
        parameters,
        side_effect: SideEffect::None,
        idempotent: true,
        polls: false,
        own_budget: true,
        key_fields: Vec::new(),
        timeout: Duration::from_millis(timeout_ms),
    };
    vec![
        spec(
            "ask_user",
            "Asks the user one short question when something is missing that no tool can find, and waits for the answer.",
            json!({"type": "object", "additionalProperties": false, "required": ["question"], "properties": {
                "question": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "The question, e.g. \"Which order?\"."},
                "options": {"type": "array", "maxItems": 8, "items": {"type": "string", "minLength": 1, "maxLength": 200},
                    "description": "Answers that suggest themselves."}}}),
            limits::QUESTION_WAIT_MS_MAX + limits::TOOL_CALL_MS_MAX,
        ),
        spec(
            "give_up",
            "Ends the turn when it cannot be done: no tool can do it, or what is needed cannot be had. Say why in one sentence.",
            json!({"type": "object", "additionalProperties": false, "required": ["reason"], "properties": {
                "reason": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "What is in the way, for the user."}}}),
            limits::TOOL_CALL_MS_MAX,
        ),
    ]
}

/// Runs `give_up`.
pub(super) fn give_up(arguments: &Value) -> ToolResult {
    let reason = arguments["reason"].as_str().unwrap_or_default();
    ToolResult { ends: Some(Ends::GaveUp), ..ToolResult::ok(reason) }
}

/// Runs `ask_user`.
pub(super) async fn ask(context: &ToolContext, call_id: &str, arguments: &Value) -> ToolResult {
    let prompt = arguments["question"].as_str().unwrap_or_default();
    let options: Vec<String> = serde_json::from_value(arguments["options"].clone()).unwrap_or_default();
    if secrets::find(prompt).is_some() {
        return ToolResult::error("It was not asked: it holds a secret.");
    }
    match wait_for_answer(context, call_id, prompt, options, arguments).await {
        Ok(Some(answer)) => ToolResult::ok(answer),
        Ok(None) => {
            let text = "Nobody answered yet. The answer will come as a message of its own.";
            ToolResult { ends: Some(Ends::NeedsInput(prompt.to_owned())), ..ToolResult::ok(text) }
        }
        Err(error) => ToolResult::error(format!("It could not be asked: {error}. Go on without the answer and say so.")),
    }
}

async fn wait_for_answer(
    context: &ToolContext,
    call_id: &str,
    prompt: &str,
    options: Vec<String>,
    arguments: &Value,
) -> Result<Option<String>, SessionError> {
    let Some(inner) = context.harness.upgrade() else { return Err(SessionError::Draining) };
    let turn = context.sessions.turn(&context.turn_id)?;
    let session = context.sessions.by_key(context.session)?;
    let record = QuestionRecord {
        id: Uuid::new_v4().into_bytes(),
        session: session.key,
        turn: turn.id,
        call_id: call_id.to_owned(),
        kind: 0,
        prompt: prompt.to_owned(),
        options,
        arguments_hash: crate::idempotency::hash_of(arguments),
        state: QUESTION_PENDING,
        ..QuestionRecord::default()
    };
    let (sender, receiver) = oneshot::channel();
    inner.questions.waiting.lock().insert(record.id, sender);
    let _waiting = Waiting { questions: context.harness.clone(), id: record.id };
    let question = context.sessions.ask(record).await?;
    let reached = inner.questions.offer(&inner, &session, &question);
    drop(inner);
    if reached == 0 {
        tracing::info!(turn = context.turn_id, question = question.question_id, "nobody is here to answer a question");
        return Ok(None);
    }
    let wait = Duration::from_millis(limits::QUESTION_WAIT_MS_MAX);
    Ok(tokio::time::timeout(wait, receiver).await.ok().and_then(Result::ok))
}

impl Harness {
    /// A client came that can put questions to a person: it is offered what waits.
    pub fn answerer_came(&self, connection: ConnectionHandle, may_see: MaySee) {
        for record in self.inner.sessions.pending_questions().unwrap_or_default() {
            let Ok(session) = self.inner.sessions.by_key(record.session) else { continue };
            if may_see(&session)
                && let Ok(question) = self.inner.sessions.describe_question(&record)
            {
                offer_to(&connection, &question);
            }
        }
        let mut answerers = self.inner.questions.answerers.lock();
        answerers.retain(|_, answerer| !answerer.connection.is_closed());
        answerers.insert(connection.id(), Answerer { connection, may_see });
    }

    /// `question/list`.
    ///
    /// # Errors
    /// `NotFound`; the store's.
    pub fn questions(&self, params: &QuestionListParams) -> Result<QuestionListResult, SessionError> {
        let sessions = &self.inner.sessions;
        let records = match &params.session_id {
            Some(session) => sessions.questions_of(sessions.find(session)?.key)?,
            None => {
                let space = params.space.as_deref().unwrap_or(tiro_schema::DEFAULT_SPACE);
                let mut pending = sessions.pending_questions()?;
                pending.retain(|record| {
                    let session = sessions.by_key(record.session).and_then(|session| sessions.describe(&session, false));
                    session.is_ok_and(|session| session.space == space)
                });
                pending
            }
        };
        let items = records.iter().map(|record| sessions.describe_question(record)).collect::<Result<_, _>>()?;
        Ok(QuestionListResult { items })
    }

    /// `question/respond`: the first answer counts. It goes to the call that waits for it, else to a new turn.
    ///
    /// # Errors
    /// A param that does not fit; `QuestionGone`; `NotFound`; the store's.
    pub async fn respond(&self, caller: Caller, params: QuestionRespondParams) -> Result<QuestionRespondResult, SessionError> {
        let harness = self.clone();
        // On a task of its own: a caller that goes away in the middle leaves no answer half given.
        tokio::spawn(async move { harness.take_answer(caller, params).await }).await.unwrap_or(Err(SessionError::Lost))
    }

    async fn take_answer(&self, caller: Caller, params: QuestionRespondParams) -> Result<QuestionRespondResult, SessionError> {
        let inner = &self.inner;
        if inner.stopping.is_cancelled() {
            return Err(SessionError::Draining);
        }
        if params.answer.trim().is_empty() {
            return Err(SessionError::invalid("answer", "says nothing"));
        }
        if params.answer.len() > limits::TURN_INPUT_BYTES_MAX {
            return Err(SessionError::too_large("answer", "turnInputBytesMax", limits::TURN_INPUT_BYTES_MAX));
        }
        let record = inner.sessions.question(&params.question_id)?;
        let key = Key::of("question/respond", &params.question_id, params.key.as_deref(), &params)?;
        let waiting = inner.questions.waiting.lock().remove(&record.id);
        let follow_up = if waiting.is_some() { None } else { Some(follow_up(&record, &params.answer)?) };
        let settled = inner.sessions.settle(record.id, Some(params.answer.clone()), follow_up, key).await?;
        if let Some(waiting) = waiting {
            // The turn may have ended in this moment; the answer then stands in its result.
            let _ = waiting.send(params.answer);
        } else if settled.is_new {
            inner.lanes.enqueue(settled.turn, active(settled.session, caller));
            self.pump();
        }
        Ok(QuestionRespondResult { turn_id: id_text(&settled.turn) })
    }
}

/// The turn that goes on with an answer whose own turn has ended.
fn follow_up(record: &QuestionRecord, answer: &str) -> Result<TurnRecord, SessionError> {
    let text = format!("[Answer to your question {:?}]\n{answer}", record.prompt);
    let input_json = serde_json::to_string(&[ContentBlock::Text { text }])
        .map_err(|error| SessionError::invalid("answer", error.to_string()))?;
    Ok(TurnRecord {
        id: Uuid::new_v4().into_bytes(),
        session: record.session,
        status: turn_status_code(TurnStatus::Queued),
        steps_max: crate::agent::kind::step_limit(TaskKind::MultiHop),
        input_json,
        ..TurnRecord::default()
    })
}

/// What the call of a turn that ended is told of a question of it: the answer, if there was one.
pub(super) fn answered(inner: &Inner, turn: TurnId, session: u64, call_id: &str) -> Option<String> {
    let questions = inner.sessions.questions_of(session).ok()?;
    questions.into_iter().find(|record| record.turn == turn && record.call_id == call_id)?.answer
}
