//! The one loop: `agent::step` decides; here each effect is performed, its outcome stored, and the event fed back.
//!
//! Must not know: how a decision is made, who follows the session, which turn comes next.

use super::aside::{self, Origin, Read};
use super::clean::clean_text;
use super::steer::Gate;
use super::tools::{self, ToolContext};
use super::{Harness, Inner, prompt};
use crate::agent::{Cause, Effect, Event, PlannedCall, StepConfig, StepState, Synthetic, ToolInfo, ToolOutcome, step};
use crate::limits;
use crate::model::{ChatMessage, ErrorClass, Provider};
use crate::session::context::{Budget, HistoryTurn, Parts};
use crate::session::{DetailsChange, Entry, NewEvent, NewMessage, NewResult, SessionError, SessionState, reference};
use crate::tool::{Ends, SideEffect, ToolResult, ToolSpec};
use futures_util::FutureExt;
use std::collections::{HashMap, HashSet, VecDeque};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use tiro_schema::convert::{termination_code, turn_status_code};
use tiro_schema::record::{ResultRecord, TurnRecord};
use tiro_schema::wire::event::ItemKind;
use tiro_schema::wire::session::{ContentBlock, Role};
use tiro_schema::wire::turn::{ContextReport, TerminationReason, TurnStatus};
use tiro_schema::{ErrorKind, ErrorObject};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// A turn that runs.
pub(super) struct Run {
    pub inner: Arc<Inner>,
    pub provider: Arc<dyn Provider>,
    /// Model named by the session, if it names one.
    pub model: Option<String>,
    pub turn: TurnRecord,
    pub session_id: String,
    pub turn_id: String,
    pub specs: Arc<Vec<ToolSpec>>,
    pub tools: ToolContext,
    pub parts: Parts,
    pub budget: Budget,
    pub cancel: CancellationToken,
    /// What is said to the turn comes in here.
    pub gate: Arc<Gate>,
    pub deadline: Instant,
    /// What failed, for the turn's row.
    pub failure: Option<ErrorObject>,
    /// Tool of every call of this turn.
    pub names: HashMap<String, String>,
    pub items: u32,
    /// What the largest context so far was made of.
    pub report: Option<ContextReport>,
    /// Whether it was said that a context is over the budget.
    pub has_warned: bool,
    results: HashMap<String, String>,
    /// The number of the next text that is set aside.
    next_result: u64,
}

/// What a new run is made of.
pub(super) struct Setup {
    pub inner: Arc<Inner>,
    pub provider: Arc<dyn Provider>,
    pub model: Option<String>,
    pub turn: TurnRecord,
    pub session_id: String,
    pub turn_id: String,
    pub tools: ToolContext,
    pub state: SessionState,
    pub history: Vec<HistoryTurn>,
    /// The number of the next text that is set aside.
    pub next_result: u64,
    pub cancel: CancellationToken,
    /// What is said to the turn comes in here.
    pub gate: Arc<Gate>,
}

/// Calls that wait, and calls that run.
#[derive(Default)]
struct Running {
    waiting: VecDeque<PlannedCall>,
    in_order: bool,
    tasks: JoinSet<(String, ToolResult)>,
}

impl Run {
    /// A run of a turn that is still queued.
    pub fn new(setup: Setup) -> Run {
        let today = crate::clock::format(setup.inner.sessions.clock().now_ms(), None).0;
        let system = prompt::system(today.get(..10).unwrap_or_default());
        let time_ms = match setup.turn.time_ms_max {
            0 => limits::TURN_TIME_MS_MAX,
            ms => ms.min(limits::TURN_TIME_MS_MAX),
        };
        let budget = Budget { window: setup.inner.model.window_tokens() };
        Run {
            budget,
            parts: Parts { system, state: setup.state, history: setup.history, ..Parts::default() },
            report: None,
            has_warned: false,
            deadline: Instant::now() + std::time::Duration::from_millis(time_ms),
            specs: Arc::new(tools::tool_specs(&setup.tools.scripted)),
            inner: setup.inner,
            provider: setup.provider,
            model: setup.model,
            turn: setup.turn,
            session_id: setup.session_id,
            turn_id: setup.turn_id,
            tools: setup.tools,
            cancel: setup.cancel,
            gate: setup.gate,
            failure: None,
            names: HashMap::new(),
            items: 0,
            results: HashMap::new(),
            next_result: setup.next_result,
        }
    }

    /// Runs to the end; everything is stored on the way.
    ///
    /// # Errors
    /// The store's: the turn is then over without its end being stored.
    pub async fn run(mut self) -> Result<(), SessionError> {
        self.begin().await?;
        let tools = self.specs.iter().map(|spec| ToolInfo {
            name: spec.name.to_string(),
            changes: spec.side_effect != SideEffect::None,
            polls: spec.polls,
        });
        let config = StepConfig { step_limit: self.turn.steps_max, tools: tools.collect() };
        let (mut state, effects) = step(StepState::new(config), Event::Started);
        let mut effects: VecDeque<Effect> = effects.into();
        let mut running = Running::default();
        loop {
            let event = match effects.pop_front() {
                Some(Effect::Finish { reason, cause }) => return self.finish(reason, cause).await,
                Some(Effect::Answer { call_id, answer }) => {
                    self.answer(call_id, answer).await?;
                    continue;
                }
                Some(Effect::RunTools { calls, in_order }) => {
                    running = Running { waiting: calls.into(), in_order, tasks: JoinSet::new() };
                    continue;
                }
                Some(Effect::CallModel { with_tools, note }) => {
                    if self.hear().await? {
                        state = step(state, Event::Steered).0;
                    }
                    let event = self.call_model(with_tools, note).await?;
                    self.with_what_came(event).await
                }
                None => self.next_result(&mut running).await,
            };
            if matches!(event, Event::Cancelled | Event::OutOfBudget) {
                running = Running::default();
            }
            let (next, more) = step(state, event);
            state = next;
            effects.extend(more);
        }
    }

    /// The input becomes a message, the turn runs, memory is recalled.
    async fn begin(&mut self) -> Result<(), SessionError> {
        let content: Vec<ContentBlock> = serde_json::from_str(&self.turn.input_json).unwrap_or_default();
        let (content, stored) = self.set_input_aside(content);
        let text = words_of(&content);
        self.turn.input_json.clear();
        self.turn.status = turn_status_code(TurnStatus::Running);
        let said = NewMessage { role: Role::User, content, partial: false };
        let state = self.take_up(&text)?;
        let (turn, events) = (self.turn.clone(), vec![NewEvent::TurnStarted]);
        let entry = Entry { turn, state, changes: Vec::new(), results: stored, messages: vec![said], events };
        self.inner.sessions.journal(entry).await?;
        self.parts.memory = self.recall(&text).await;
        self.parts.turn.push(ChatMessage::User(text));
        Ok(())
    }

    /// Reads what was said to the turn since its last call of the model. True when there was something.
    async fn hear(&mut self) -> Result<bool, SessionError> {
        let said = self.gate.take();
        if said.is_empty() {
            return Ok(false);
        }
        let (mut messages, mut stored, mut texts) = (Vec::new(), Vec::new(), Vec::new());
        for said in &said {
            let (content, aside) = self.set_input_aside(serde_json::from_str(said).unwrap_or_default());
            texts.push(words_of(&content));
            stored.extend(aside);
            messages.push(NewMessage { role: Role::User, content, partial: false });
        }
        let turn = self.turn.clone();
        let changes = vec![DetailsChange::TakeSaid(said.len())];
        self.inner.sessions.journal(Entry { turn, state: None, changes, results: stored, messages, events: Vec::new() }).await?;
        self.parts.turn.extend(texts.into_iter().map(ChatMessage::User));
        Ok(true)
    }

    /// A reply that would end the turn does not where something was said meanwhile; else nothing more can be said.
    async fn with_what_came(&self, event: Event) -> Event {
        match event {
            Event::ModelReplied { has_text: true, is_cut: false, calls, .. } if calls.is_empty() => {
                let has_more_input = !self.gate.close_if_read().await;
                Event::ModelReplied { has_text: true, is_cut: false, calls, has_more_input }
            }
            other => other,
        }
    }

    /// The session's state as the turn finds it: turns beyond those that stay whole are folded in, and what is asked for is the task. None
    /// where nothing changed.
    fn take_up(&mut self, said: &str) -> Result<Option<SessionState>, SessionError> {
        let before = self.parts.state.clone();
        let fold = match self.parts.history.len() {
            turns if turns > limits::CONTEXT_TURNS_MAX => turns - limits::CONTEXT_TURNS_WHOLE,
            _ => 0,
        };
        for turn in self.parts.history.drain(..fold) {
            self.parts.state.fold(&turn);
        }
        let state = &mut self.parts.state;
        if state.awaiting.is_empty() || state.doing.is_empty() {
            state.doing = said.trim().lines().next().unwrap_or_default().chars().take(limits::SESSION_TASK_CHARS_MAX).collect();
        }
        state.awaiting.clear();
        let shown: HashSet<[u8; 16]> = self.inner.sessions.turns_from(self.turn.session, self.parts.state.summary.until)?;
        let newest = self.inner.sessions.newest_results(self.turn.session, limits::SHORT_TERM_RESULTS)?;
        let line = |record: &ResultRecord| {
            let tool = if record.tool.is_empty() { "pasted text" } else { &record.tool };
            format!("- r{} {tool}, {} tokens: {}", record.number, record.tokens, record.brief)
        };
        self.parts.results = newest.iter().filter(|record| !shown.contains(&record.turn)).map(line).collect();
        Ok(Some(self.parts.state.clone()).filter(|state| *state != before))
    }

    /// The session's state as the turn leaves it: fields of what was said, where the task stands, and notes gone with a task that is done.
    fn leave(&mut self, reason: TerminationReason) -> Result<Option<SessionState>, SessionError> {
        let mut state = self.inner.sessions.state(self.turn.session)?;
        let before = state.clone();
        let number = self.parts.history.last().map_or(state.summary.turns, |turn| turn.number) + 1;
        for message in &self.parts.turn {
            if let ChatMessage::User(text) = message {
                state.note(number, text);
            }
        }
        match reason {
            TerminationReason::Completed | TerminationReason::GaveUp => {
                state.scratchpad.clear();
                state.doing.clear();
            }
            TerminationReason::NeedsInput => state.awaiting.clone_from(&self.turn.text),
            _ => {}
        }
        Ok(Some(state).filter(|state| *state != before))
    }

    /// Long blocks of what was said, set aside.
    fn set_input_aside(&mut self, content: Vec<ContentBlock>) -> (Vec<ContentBlock>, Vec<NewResult>) {
        let mut stored = Vec::new();
        let blocks = content.into_iter().map(|block| {
            let ContentBlock::Text { text } = &block else { return block };
            let Some(read) = aside::of_input(text, self.next_result) else { return block };
            let reference = reference(&self.session_id, self.next_result);
            self.next_result += 1;
            stored.extend(read.stored);
            ContentBlock::Stored { text: read.text, reference }
        });
        (blocks.collect(), stored)
    }

    /// The next result of a call, or what ends the waiting.
    async fn next_result(&mut self, running: &mut Running) -> Event {
        while !(running.waiting.is_empty() || running.in_order && !running.tasks.is_empty()) {
            let Some(call) = running.waiting.pop_front() else { break };
            let work = tools::run(self.tools.clone(), Arc::clone(&self.specs), call.name, call.id.clone(), call.arguments);
            running.tasks.spawn(async move {
                let outcome = AssertUnwindSafe(work).catch_unwind().await;
                (
                    call.id,
                    outcome.unwrap_or_else(|_| ToolResult::error("The tool failed by a fault of the daemon. Go on without it.")),
                )
            });
        }
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Event::Cancelled,
            () = tokio::time::sleep_until(self.deadline) => Event::OutOfBudget,
            done = running.tasks.join_next() => match done {
                Some(Ok((call_id, result))) => {
                    self.turn.tool_calls += 1;
                    tracing::info!(turn = self.turn_id, call = call_id, error = result.is_error, "tool call");
                    let ends = result.ends.map(|ends| self.ending(ends, &result.text));
                    Event::ToolFinished { call_id, outcome: ToolOutcome { text: result.text, is_error: result.is_error, ends } }
                }
                // Nothing runs any more though the step waits for a result: a fault, which ends the turn.
                Some(Err(_)) | None => Event::Cancelled,
            },
        }
    }

    /// Stores the result of a call.
    async fn answer(&mut self, call_id: String, answer: Result<ToolOutcome, Synthetic>) -> Result<(), SessionError> {
        let (text, is_error) = match answer {
            Ok(outcome) => (outcome.text, outcome.is_error),
            Err(synthetic) => {
                let first = match &synthetic {
                    Synthetic::Repeat { of } => self.results.get(of).map(String::as_str),
                    _ => None,
                };
                let known: Vec<&str> = self.specs.iter().map(|spec| spec.name.as_ref()).collect();
                let is_error = !matches!(synthetic, Synthetic::Repeat { .. });
                (prompt::synthetic(&synthetic, &known, first), is_error)
            }
        };
        let name = self.names.get(&call_id).cloned().unwrap_or_default();
        let read = self.read_of(text, &call_id, &name, is_error).await;
        let reference = read.stored.as_ref().map(|stored| reference(&self.session_id, stored.number));
        let text = read.text;
        let block =
            ContentBlock::ToolResult { call_id: call_id.clone(), name: name.clone(), text: text.clone(), is_error, reference };
        let item_id = self.next_item();
        let kind = ItemKind::ToolResult;
        let events = vec![
            NewEvent::ItemStarted { item_id: item_id.clone(), kind },
            NewEvent::ItemCompleted { item_id, kind, content: block.clone() },
        ];
        let message = NewMessage { role: Role::Tool, content: vec![block], partial: false };
        self.journal_with(read.stored.into_iter().collect(), vec![message], events).await?;
        self.results.insert(call_id.clone(), text.clone());
        self.parts.turn.push(ChatMessage::ToolResult { call_id, name, text });
        Ok(())
    }

    /// What the model reads of a result. Long ones are gone through on a thread for blocking work.
    async fn read_of(&mut self, text: String, call_id: &str, name: &str, is_error: bool) -> Read {
        let spec = self.specs.iter().find(|spec| spec.name == name);
        let keeps_budget = spec.is_none_or(|spec| spec.own_budget);
        let key_fields = spec.map(|spec| spec.key_fields.clone()).unwrap_or_default();
        let origin = Origin { call_id: call_id.to_owned(), tool: name.to_owned(), is_error, key_fields };
        let number = self.next_result;
        let work = move || {
            let text = clean_text(text);
            if keeps_budget { Read { text, stored: None } } else { aside::of_result(text, origin, number) }
        };
        let read = tokio::task::spawn_blocking(work).await;
        let read = read
            .unwrap_or_else(|_| Read { text: "The result could not be read by a fault of the daemon.".to_owned(), stored: None });
        self.next_result += u64::from(read.stored.is_some());
        read
    }

    /// What a tool ends the turn with; what it says stands where the model says nothing.
    fn ending(&mut self, ends: Ends, said: &str) -> TerminationReason {
        let (reason, said) = match ends {
            Ends::GaveUp => (TerminationReason::GaveUp, clean_text(said.to_owned())),
            Ends::NeedsInput(question) => (TerminationReason::NeedsInput, clean_text(question)),
        };
        if self.turn.text.is_empty() {
            self.turn.text = said;
        }
        reason
    }

    /// What is left at the end: what was not read goes on in another turn, what was asked in vain is taken back.
    async fn settle(&mut self, reason: TerminationReason) -> Result<Vec<NewMessage>, SessionError> {
        let left = self.gate.close().await;
        let mut messages = Vec::new();
        if reason == TerminationReason::Cancelled {
            // It is kept in the conversation; who ends a turn wants no other one.
            for said in &left {
                let content = serde_json::from_str(said).unwrap_or_default();
                messages.push(NewMessage { role: Role::User, content, partial: false });
            }
            self.inner.sessions.withdraw_questions(self.turn.session, self.turn.id).await?;
        } else if !left.is_empty() {
            let harness = Harness { inner: Arc::clone(&self.inner) };
            harness.follow_up(self.turn.id, self.turn.session).await?;
        }
        Ok(messages)
    }

    /// Stores the end.
    async fn finish(mut self, reason: TerminationReason, cause: Cause) -> Result<(), SessionError> {
        let reason = match reason {
            TerminationReason::Cancelled if self.inner.stopping.is_cancelled() => TerminationReason::Interrupted,
            other => other,
        };
        let messages = self.settle(reason).await?;
        self.turn.status = turn_status_code(status_of(reason));
        self.turn.termination = Some(termination_code(reason));
        let failure = self.failure.take().filter(|_| matches!(cause, Cause::Model(_))).or_else(|| failure_of(reason, &cause));
        self.turn.error_json = failure.and_then(|error| serde_json::to_string(&error).ok());
        let mut changes = vec![DetailsChange::TakeSaid(usize::MAX)];
        changes.extend(self.report.take().map(DetailsChange::Context));
        let state = self.leave(reason)?;
        let (turn, events) = (self.turn.clone(), vec![NewEvent::TurnCompleted]);
        self.inner.sessions.journal(Entry { turn, state, changes, results: Vec::new(), messages, events }).await?;
        tracing::info!(
            turn = self.turn_id,
            session = self.session_id,
            ?reason,
            input_tokens = self.turn.input_tokens,
            output_tokens = self.turn.output_tokens,
            model_calls = self.turn.model_calls,
            tool_calls = self.turn.tool_calls,
            "turn ended"
        );
        Ok(())
    }

    /// Stores messages and events with the turn's row as it is.
    pub async fn journal(&self, messages: Vec<NewMessage>, events: Vec<NewEvent>) -> Result<(), SessionError> {
        self.journal_with(Vec::new(), messages, events).await
    }

    /// The same with texts kept whole beside them.
    async fn journal_with(
        &self,
        results: Vec<NewResult>,
        messages: Vec<NewMessage>,
        events: Vec<NewEvent>,
    ) -> Result<(), SessionError> {
        self.inner
            .sessions
            .journal(Entry { turn: self.turn.clone(), state: None, changes: Vec::new(), results, messages, events })
            .await
    }

    /// An item id, unique in the session.
    pub fn next_item(&mut self) -> String {
        self.items += 1;
        format!("{}:{}", self.turn_id, self.items)
    }
}

/// The words of blocks.
fn words_of(content: &[ContentBlock]) -> String {
    let texts = content.iter().filter_map(|block| match block {
        ContentBlock::Text { text } | ContentBlock::Stored { text, .. } => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// The status a reason stands for.
pub(super) fn status_of(reason: TerminationReason) -> TurnStatus {
    match reason {
        TerminationReason::Completed
        | TerminationReason::GaveUp
        | TerminationReason::NeedsInput
        | TerminationReason::StepLimit => TurnStatus::Completed,
        TerminationReason::Cancelled => TurnStatus::Cancelled,
        TerminationReason::Interrupted => TurnStatus::Interrupted,
        _ => TurnStatus::Failed,
    }
}

/// The error of an end that no failed model call explains.
fn failure_of(reason: TerminationReason, cause: &Cause) -> Option<ErrorObject> {
    let (message, hint) = match (reason, cause) {
        (TerminationReason::DuplicateCall, Cause::SameCall(tool)) => {
            (format!("the model called {tool} with the same arguments over and over"), "ask in other words")
        }
        (TerminationReason::NoProgress, Cause::Cycle(calls)) => {
            (format!("the model went round in a circle of {calls} calls"), "ask in other words, or for less at once")
        }
        (TerminationReason::NoProgress, _) => {
            ("what the tools answered said nothing new".to_owned(), "ask for something else, or say where to look")
        }
        (TerminationReason::RepeatedError, _) => {
            ("the same call failed the same way over and over".to_owned(), "see the tool's error in the conversation")
        }
        (TerminationReason::Budget, _) => {
            ("the turn's budget of tokens or time is used up".to_owned(), "give the turn a larger budget")
        }
        (TerminationReason::OutputLimit, _) => {
            ("the model's output limit cut its reply".to_owned(), "raise maxOutputTokens in [model], or ask for less")
        }
        (TerminationReason::ModelError, _) => {
            ("the model answered neither text nor call".to_owned(), "ask again, or use another model")
        }
        _ => return None,
    };
    Some(ErrorObject::new(ErrorKind::ModelError, message).with_hint(hint))
}

/// A failed model call as the turn's error.
pub(super) fn model_failure(error: &crate::model::ModelError) -> ErrorObject {
    let hint = match error.class {
        ErrorClass::Unauthorized => "check the key in the variable that [model] apiKeyEnv names",
        ErrorClass::ContextOverflow => "set contextTokens in [model] to the model's window, or begin a new session",
        ErrorClass::Network => "is the model server running? daemon/status says where it is expected",
        ErrorClass::RateLimited | ErrorClass::Overloaded => "wait a little and ask again",
        _ => "see the message of the model provider",
    };
    ErrorObject::new(ErrorKind::ModelError, error.message.clone())
        .with_hint(hint)
        .with("class", error.class.as_str())
        .with("attempts", error.attempts)
}
