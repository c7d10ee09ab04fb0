//! The verbs on turns: start, wait, get, interrupt; and what becomes of them when a session is deleted or the daemon stops.
//!
//! Must not know: connections. A turn belongs to its session: nothing here ends with the call that began it.

use super::lanes::{Active, Full, TurnId};
use super::steer::Shut;
use super::tools::ToolContext;
use super::turn::{Run, Setup};
use super::{Harness, Inner};
use crate::agent::kind;
use crate::caller::Caller;
use crate::idempotency::Key;
use crate::limits;
use crate::session::{Entry, NewEvent, SessionError, TurnDetails, id_text, load_history};
use futures_util::FutureExt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use tiro_schema::convert::{termination_code, turn_status_code, turn_status_of};
use tiro_schema::record::{SessionRecord, TurnRecord};
use tiro_schema::wire::session::{ContentBlock, SessionDeleteParams, SessionDeleteResult};
use tiro_schema::wire::turn::{
    IfBusy, TaskKind, TerminationReason, Turn, TurnInput, TurnStartParams, TurnStartResult, TurnStatus, TurnSteerParams,
};
use tiro_schema::{ErrorKind, ErrorObject};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

impl Harness {
    /// `turn/start`: the turn is durable when this answers.
    ///
    /// # Errors
    /// A param that does not fit; `ModelNotConfigured`, `Busy`, `Overloaded`, `Draining`; the store's.
    pub async fn start(&self, caller: Caller, params: TurnStartParams) -> Result<TurnStartResult, SessionError> {
        let harness = self.clone();
        // On a task of its own: a caller that goes away in the middle leaves no place held.
        tokio::spawn(async move { harness.admit(caller, params).await }).await.unwrap_or(Err(SessionError::Lost))
    }

    async fn admit(&self, caller: Caller, params: TurnStartParams) -> Result<TurnStartResult, SessionError> {
        let inner = &self.inner;
        if inner.stopping.is_cancelled() {
            return Err(SessionError::Draining);
        }
        let input_json = input_json(&params.input)?;
        let session = inner.sessions.find(&params.session_id)?;
        let key = Key::of("turn/start", &id_text(&session.id), params.key.as_deref(), &params)?;
        if let Some(turn_id) = self.known(key.as_ref())? {
            return Ok(TurnStartResult { turn_id });
        }
        let budget = params.budget.clone().unwrap_or_default();
        let details = task_kind(&params);
        let kind = details.task_kind.unwrap_or(TaskKind::MultiHop);
        let turn = TurnRecord {
            id: Uuid::new_v4().into_bytes(),
            session: session.key,
            status: turn_status_code(TurnStatus::Queued),
            steps_max: steps_max(budget.steps.or(inner.settings.steps), kind)?,
            tokens_max: limit("budget.tokens", budget.tokens)?,
            time_ms_max: limit("budget.ms", budget.ms)?,
            input_json,
            ..TurnRecord::default()
        };
        inner.model.provider().await.map_err(|reason| SessionError::ModelNotConfigured { reason })?;
        if params.if_busy == Some(IfBusy::Steer)
            && let Some(steered) = self.steer_session(session.key, &turn.input_json, params.key.as_deref()).await?
        {
            return Ok(steered);
        }
        let place = inner.lanes.reserve(session.key, params.if_busy.unwrap_or_default()).map_err(|full| match full {
            Full::Busy => SessionError::Busy { session: id_text(&session.id) },
            Full::TooMany => SessionError::Overloaded { what: "turns wait in this session" },
        })?;
        let (id, is_new) = inner.sessions.enqueue(turn, details, key).await?;
        if is_new {
            inner.lanes.enqueue(id, active(session.key, caller));
        }
        drop(place);
        self.pump();
        Ok(TurnStartResult { turn_id: id_text(&id) })
    }

    /// `turn/steer`: durable when this answers; the model reads it before its next call.
    ///
    /// # Errors
    /// A param that does not fit; `NotFound`, `TurnNotActive`, `Overloaded`; the store's.
    pub async fn steer(&self, params: TurnSteerParams) -> Result<TurnStartResult, SessionError> {
        let harness = self.clone();
        let work = async move {
            let said = input_json(&params.input)?;
            let id = harness.inner.sessions.turn(&params.turn_id)?.id;
            let key = Key::of("turn/steer", &id_text(&id), params.key.as_deref(), &params)?;
            let over = || SessionError::TurnNotActive { turn: params.turn_id.clone() };
            let active = harness.inner.lanes.active(id).ok_or_else(over)?;
            if harness.say(id, &active, said, key).await? {
                return Ok(TurnStartResult { turn_id: id_text(&id) });
            }
            Err(over())
        };
        // On a task of its own: a caller that goes away in the middle leaves nothing half said.
        tokio::spawn(work).await.unwrap_or(Err(SessionError::Lost))
    }

    /// Says something to a session's turn, if there is one to say it to.
    async fn steer_session(&self, session: u64, said: &str, key: Option<&str>) -> Result<Option<TurnStartResult>, SessionError> {
        let Some((id, active)) = self.inner.lanes.foremost(session) else { return Ok(None) };
        let key = Key::of("turn/start", &id_text(&id), key, &said)?;
        let is_said = self.say(id, &active, said.to_owned(), key).await?;
        Ok(is_said.then(|| TurnStartResult { turn_id: id_text(&id) }))
    }

    /// False when the turn takes nothing any more.
    async fn say(&self, id: TurnId, active: &Active, said: String, key: Option<Key>) -> Result<bool, SessionError> {
        let arrival = match active.gate.enter() {
            Ok(arrival) => arrival,
            Err(Shut::Closed) => return Ok(false),
            Err(Shut::Full) => return Err(SessionError::Overloaded { what: "things said to this turn wait to be read" }),
        };
        if self.inner.sessions.add_said(id, said.clone(), key).await? {
            arrival.say(said);
        }
        Ok(true)
    }

    /// What was said to a turn and not read goes on in a turn of its own.
    ///
    /// # Errors
    /// The store's.
    pub(super) async fn follow_up(&self, id: TurnId, session: u64) -> Result<(), SessionError> {
        let said = self.inner.sessions.turn_details(&id)?.said;
        if said.is_empty() {
            return Ok(());
        }
        let blocks: Vec<ContentBlock> = said.iter().flat_map(|said| serde_json::from_str(said).unwrap_or(Vec::new())).collect();
        let turn = TurnRecord {
            id: Uuid::new_v4().into_bytes(),
            session,
            status: turn_status_code(TurnStatus::Queued),
            steps_max: kind::step_limit(TaskKind::MultiHop),
            input_json: serde_json::to_string(&blocks).map_err(|error| SessionError::invalid("input", error.to_string()))?,
            ..TurnRecord::default()
        };
        let by = "said to a turn that had ended".to_owned();
        let details = TurnDetails { task_kind: Some(TaskKind::MultiHop), task_kind_by: by, ..TurnDetails::default() };
        // Said again after a crash in between, it begins no second turn.
        let key = Key::of("turn/steer/rest", &id_text(&id), Some("rest"), &said)?;
        let (new, is_new) = self.inner.sessions.enqueue(turn, details, key).await?;
        if is_new {
            self.inner.lanes.enqueue(new, active(session, Caller::daemon()));
        }
        Ok(())
    }

    /// The turn that this key began before.
    fn known(&self, key: Option<&Key>) -> Result<Option<String>, SessionError> {
        let Some(key) = key else { return Ok(None) };
        let now_ms = self.inner.sessions.clock().now_ms();
        self.inner.sessions.store().read(|tx| key.answered::<String, SessionError>(tx, now_ms))
    }

    /// Starts every turn that may run.
    pub(super) fn pump(&self) {
        if self.inner.stopping.is_cancelled() {
            return;
        }
        while let Some((id, active)) = self.inner.lanes.next() {
            let harness = self.clone();
            tokio::spawn(async move {
                let session = active.session;
                let run = AssertUnwindSafe(run(Arc::clone(&harness.inner), id, active)).catch_unwind().await;
                match run {
                    Ok(Ok(())) | Ok(Err(SessionError::NotFound { .. })) => {}
                    Ok(Err(error)) => {
                        tracing::error!(turn = id_text(&id), %error, "a turn ended, but its end could not be stored")
                    }
                    Err(_) => harness.fault(id).await,
                }
                harness.inner.sessions.feeds().close_items(session);
                harness.inner.lanes.ended(id);
                harness.pump();
            });
        }
    }

    /// Ends a turn whose run panicked.
    async fn fault(&self, id: TurnId) {
        tracing::error!(turn = id_text(&id), "a turn ended by a fault of the daemon");
        let error = ErrorObject::new(ErrorKind::Internal, "the turn ended by a fault of the daemon");
        if let Err(error) = self.end(id, TerminationReason::Interrupted, Some(error)).await {
            tracing::error!(turn = id_text(&id), %error, "its end could not be stored");
        }
    }

    /// Stores the end of a turn that does not run; calls it left open get their results.
    pub(super) async fn end(
        &self,
        id: TurnId,
        reason: TerminationReason,
        error: Option<ErrorObject>,
    ) -> Result<(), SessionError> {
        let turn = self.inner.sessions.turn(&id_text(&id))?;
        let messages = super::recover::missing_results(&self.inner, &turn)?;
        let turn = TurnRecord {
            status: turn_status_code(super::turn::status_of(reason)),
            termination: Some(termination_code(reason)),
            error_json: error.and_then(|error| serde_json::to_string(&error).ok()),
            input_json: String::new(),
            ..turn
        };
        self.inner
            .sessions
            .journal(Entry {
                turn,
                state: None,
                changes: Vec::new(),
                results: Vec::new(),
                messages,
                events: vec![NewEvent::TurnCompleted],
            })
            .await
    }

    /// `turn/wait`.
    ///
    /// # Errors
    /// `NotFound`; a param that does not fit; the store's.
    pub async fn wait(&self, turn_id: &str, timeout_ms: Option<u64>) -> Result<Turn, SessionError> {
        let timeout_ms = timeout_ms.unwrap_or(limits::TURN_WAIT_MS_DEFAULT);
        if timeout_ms > limits::TURN_WAIT_MS_MAX {
            return Err(SessionError::invalid("timeoutMs", format!("at most {}", limits::TURN_WAIT_MS_MAX)));
        }
        let id = self.inner.sessions.turn(turn_id)?.id;
        if let Some(active) = self.inner.lanes.active(id) {
            let mut done = active.done.subscribe();
            let ended = done.wait_for(|done| *done);
            if tokio::time::timeout(Duration::from_millis(timeout_ms), ended).await.is_ok() {
                return self.ended(turn_id);
            }
        }
        self.inner.sessions.describe_turn(turn_id)
    }

    /// A turn that is over: its row says so, unless its end could not be stored.
    fn ended(&self, turn_id: &str) -> Result<Turn, SessionError> {
        let status = self.inner.sessions.turn(turn_id)?.status;
        match turn_status_of(status) {
            Some(TurnStatus::Queued | TurnStatus::Running) => Err(SessionError::EndNotStored("see the daemon's log".to_owned())),
            _ => self.inner.sessions.describe_turn(turn_id),
        }
    }

    /// `turn/interrupt`.
    ///
    /// # Errors
    /// `NotFound`, `TurnNotActive`; the store's.
    pub async fn interrupt(&self, turn_id: &str) -> Result<Turn, SessionError> {
        let id = self.inner.sessions.turn(turn_id)?.id;
        let Some(active) = self.inner.lanes.active(id) else {
            return Err(SessionError::TurnNotActive { turn: turn_id.to_owned() });
        };
        self.cancel(id, &active).await?;
        self.wait(turn_id, Some(limits::TURN_INTERRUPT_MS_MAX)).await
    }

    /// Ends a turn that waits, or asks one that runs to end.
    async fn cancel(&self, id: TurnId, active: &Active) -> Result<(), SessionError> {
        active.cancel.cancel();
        if self.inner.lanes.take_out(id) {
            let stored = self.end(id, TerminationReason::Cancelled, None).await;
            self.inner.lanes.ended(id);
            self.pump();
            stored?;
        }
        Ok(())
    }

    /// `session/delete`: its turns end first.
    ///
    /// # Errors
    /// `NotFound`; the store's.
    pub async fn delete_session(&self, params: SessionDeleteParams) -> Result<SessionDeleteResult, SessionError> {
        let found = match self.inner.sessions.find(&params.session_id) {
            Ok(session) => Some(session.key),
            // Perhaps the key says that it was done.
            Err(SessionError::NotFound { .. }) if params.key.is_some() => None,
            Err(error) => return Err(error),
        };
        if let Some(session) = found {
            for (id, active) in self.inner.lanes.of_session(session) {
                self.cancel(id, &active).await?;
                let mut done = active.done.subscribe();
                let limit = Duration::from_millis(limits::TURN_INTERRUPT_MS_MAX);
                let _ = tokio::time::timeout(limit, done.wait_for(|done| *done)).await;
            }
        }
        self.inner.sessions.delete(params, found).await
    }

    /// The running turn of a session.
    pub fn running_turn(&self, session: u64) -> Option<String> {
        self.inner.lanes.running_turn(session).map(|id| id_text(&id))
    }

    /// Stops: running turns end as interrupted, waiting ones stay in line for the next start.
    pub async fn stop(&self) {
        self.inner.stopping.cancel();
        let running = self.inner.lanes.running();
        for active in &running {
            active.cancel.cancel();
        }
        for active in running {
            let mut done = active.done.subscribe();
            let limit = Duration::from_millis(limits::TURN_INTERRUPT_MS_MAX);
            let _ = tokio::time::timeout(limit, done.wait_for(|done| *done)).await;
        }
    }
}

/// A turn in the books.
pub(super) fn active(session: u64, caller: Caller) -> Active {
    let gate = Arc::default();
    Active { session, actor: caller.actor, cancel: CancellationToken::new(), gate, done: Arc::new(watch::Sender::new(false)) }
}

async fn run(inner: Arc<Inner>, id: TurnId, active: Active) -> Result<(), SessionError> {
    let turn_id = id_text(&id);
    let turn = inner.sessions.turn(&turn_id)?;
    let session = session_of(&inner, turn.session)?;
    let provider = match inner.model.provider().await {
        Ok(provider) => provider,
        Err(reason) => {
            let error: ErrorObject = SessionError::ModelNotConfigured { reason }.into();
            let harness = Harness { inner };
            return harness.end(id, TerminationReason::ModelError, Some(error)).await;
        }
    };
    let space = inner.sessions.describe(&session, true)?.space;
    let mut reads = vec![space.clone()];
    reads.extend(session.also_read.iter().filter(|name| **name != space).cloned());
    let session_id = id_text(&session.id);
    let next_result = inner.sessions.next_result(session.key)?;
    let tools = ToolContext {
        sessions: inner.sessions.clone(),
        session: session.key,
        harness: Arc::downgrade(&inner),
        memories: Arc::clone(&inner.memories),
        scripted: Arc::clone(&inner.settings.scripted_tools),
        caller: Caller { actor: active.actor, progress: None, cancel: active.cancel.clone(), answered: CancellationToken::new() },
        session_id: session_id.clone(),
        turn_id: turn_id.clone(),
        space,
        reads,
    };
    let state = inner.sessions.state(session.key)?;
    let history = load_history(&inner.sessions, session.key, &state.summary)?;
    let (cancel, gate) = (active.cancel, active.gate);
    Run::new(Setup {
        inner,
        provider,
        model: session.model,
        turn,
        session_id,
        turn_id,
        tools,
        state,
        history,
        next_result,
        cancel,
        gate,
    })
    .run()
    .await
}

fn session_of(inner: &Inner, key: u64) -> Result<SessionRecord, SessionError> {
    use crate::store::SessionReads;
    let gone = || SessionError::NotFound { what: "session", id: key.to_string() };
    inner.sessions.store().read(|tx| tx.session(key)?.ok_or_else(gone))
}

/// What kind of task the caller says it is, or its words do.
fn task_kind(params: &TurnStartParams) -> TurnDetails {
    if let Some(kind) = params.task_kind {
        return TurnDetails { task_kind: Some(kind), task_kind_by: "caller".to_owned(), ..TurnDetails::default() };
    }
    let judged = match &params.input {
        TurnInput::Text(text) => kind::judge(text),
        TurnInput::Blocks(blocks) => {
            let texts = blocks.iter().filter_map(|block| match block {
                ContentBlock::Text { text } => Some(text.as_str()),
                _ => None,
            });
            kind::judge(&texts.collect::<Vec<_>>().join("\n"))
        }
    };
    TurnDetails { task_kind: Some(judged.kind), task_kind_by: judged.why.to_owned(), ..TurnDetails::default() }
}

fn steps_max(asked: Option<u32>, kind: TaskKind) -> Result<u32, SessionError> {
    match asked.unwrap_or_else(|| kind::step_limit(kind)) {
        steps if (1..=limits::AGENT_STEPS_MAX).contains(&steps) => Ok(steps),
        _ => Err(SessionError::invalid("budget.steps", format!("between 1 and {}", limits::AGENT_STEPS_MAX))),
    }
}

/// A limit as the turn's row holds it, where 0 is none; one of 0 would let nothing happen, and is a mistake.
fn limit(path: &'static str, asked: Option<u64>) -> Result<u64, SessionError> {
    match asked {
        Some(0) => Err(SessionError::invalid(path, "at least 1; leave it out for no limit")),
        other => Ok(other.unwrap_or(0)),
    }
}

/// What was said, as blocks.
fn input_json(input: &TurnInput) -> Result<String, SessionError> {
    let blocks = match input {
        TurnInput::Text(text) => vec![ContentBlock::Text { text: text.clone() }],
        TurnInput::Blocks(blocks) => blocks.clone(),
    };
    let mut bytes = 0;
    let mut has_words = false;
    for block in &blocks {
        let ContentBlock::Text { text } = block else {
            return Err(SessionError::invalid("input", "text blocks only"));
        };
        bytes += text.len();
        has_words |= !text.trim().is_empty();
    }
    if !has_words {
        return Err(SessionError::invalid("input", "says nothing"));
    }
    if bytes > limits::TURN_INPUT_BYTES_MAX {
        return Err(SessionError::too_large("input", "turnInputBytesMax", limits::TURN_INPUT_BYTES_MAX));
    }
    serde_json::to_string(&blocks).map_err(|error| SessionError::invalid("input", error.to_string()))
}
