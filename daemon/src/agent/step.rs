//! One step of a turn: `(state, event) -> (state, effects)`. Pure.
//!
//! What holds on every path: each call of an accepted reply gets exactly one [`Effect::Answer`], before the next
//! [`Effect::CallModel`] and before [`Effect::Finish`]; nothing follows `Finish`; a turn makes a bounded number of
//! model calls.

use serde_json::Value;
use tiro_schema::wire::turn::TerminationReason;

use super::guard::{CallGuard, Verdict};
use super::near::near_names;
use super::progress::{Progress, ProgressGuard};
use crate::limits;
use crate::model::{ErrorClass, ToolCall};

/// A tool, as far as deciding needs to know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolInfo {
    /// Its name.
    pub name: String,
    /// Whether it changes anything.
    pub changes: bool,
    /// Whether it is there to be asked again until something changes: its calls are not counted as repeated.
    pub polls: bool,
}

/// What a turn is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepConfig {
    /// Model calls with tools.
    pub step_limit: u32,
    /// Tools on offer.
    pub tools: Vec<ToolInfo>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Idle,
    Model,
    Tools,
    Ended,
}

#[derive(Debug, Clone, PartialEq)]
struct OpenCall {
    id: String,
    name: String,
    changes: bool,
    polls: bool,
}

/// The turn's last call of the model, and what the turn ends with after it.
#[derive(Debug, Clone, PartialEq)]
struct Conclusion {
    reason: TerminationReason,
    cause: Cause,
}

/// The state of a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct StepState {
    config: StepConfig,
    phase: Phase,
    conclusion: Option<Conclusion>,
    steps: u32,
    empties: u32,
    cuts: u32,
    guard: CallGuard,
    progress: ProgressGuard,
    /// What a tool ended the turn with.
    ends: Option<TerminationReason>,
    open: Vec<OpenCall>,
}

impl StepState {
    /// A turn that has not begun.
    pub fn new(config: StepConfig) -> StepState {
        StepState {
            config,
            phase: Phase::Idle,
            conclusion: None,
            steps: 0,
            empties: 0,
            cuts: 0,
            guard: CallGuard::default(),
            progress: ProgressGuard::default(),
            ends: None,
            open: Vec::new(),
        }
    }

    /// Model calls with tools so far.
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// Whether the turn ended.
    pub fn is_ended(&self) -> bool {
        self.phase == Phase::Ended
    }

    /// Calls that run now.
    pub fn open_calls(&self) -> impl Iterator<Item = &str> {
        self.open.iter().map(|c| c.id.as_str())
    }
}

/// What a tool gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolOutcome {
    /// What the model reads.
    pub text: String,
    /// Whether it is an error.
    pub is_error: bool,
    /// What the turn ends with after it, if it does.
    pub ends: Option<TerminationReason>,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The turn begins.
    Started,
    /// The model answered.
    ModelReplied {
        /// Whether it said anything visible.
        has_text: bool,
        /// Whether the output limit cut it.
        is_cut: bool,
        /// Its calls; their ids are unique in the turn.
        calls: Vec<ToolCall>,
        /// Whether something was said to the turn meanwhile.
        has_more_input: bool,
    },
    /// The model reads in its next call what was said to the turn.
    Steered,
    /// The model failed, after its own retries.
    ModelFailed(ErrorClass),
    /// A call that ran is done.
    ToolFinished {
        /// Its id.
        call_id: String,
        /// What came out.
        outcome: ToolOutcome,
    },
    /// Somebody cancelled the turn.
    Cancelled,
    /// Tokens or time ran out.
    OutOfBudget,
}

/// A call to run.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedCall {
    /// Its id.
    pub id: String,
    /// The tool, one of those on offer.
    pub name: String,
    /// The arguments object, not yet checked against the tool's schema.
    pub arguments: Value,
}

/// A result that no tool made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Synthetic {
    /// There is no such tool.
    UnknownTool {
        /// What was asked for.
        name: String,
        /// Names that look like it.
        near: Vec<String>,
    },
    /// The arguments are no JSON object.
    MalformedArguments(String),
    /// The output limit cut the message.
    Truncated,
    /// The same call as an earlier one: its result again.
    Repeat {
        /// The earlier call.
        of: String,
    },
    /// The same call a third time.
    Refused,
    /// This call and those before it lead nowhere.
    LeadsNowhere,
    /// No tools in the concluding call.
    NoToolsNow,
    /// The turn ends before the call ran.
    TurnEnded,
    /// The turn ended while the call ran: its effect is unknown.
    Unfinished,
}

/// Something to tell the model in the next call, outside the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Note {
    /// The last reply held nothing.
    EmptyReply,
    /// The last reply was cut; nothing of it ran.
    OutputLimit,
    /// The last answers said what earlier ones said.
    Stale,
    /// The last call failed as an earlier one did.
    SameError,
    /// The steps are used up: conclude without tools.
    Conclude,
    /// The calls lead nowhere: conclude without tools.
    ConcludeStuck,
}

/// What is behind an end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// Nothing failed.
    None,
    /// The model call.
    Model(ErrorClass),
    /// This tool was called again and again with the same arguments.
    SameCall(String),
    /// So many calls took turns.
    Cycle(usize),
    /// Answers were alike.
    Alike,
    /// Calls failed the same way.
    SameError,
}

/// What to do, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Store the result of a call that a tool made.
    Answer {
        /// The call.
        call_id: String,
        /// Its result.
        answer: Result<ToolOutcome, Synthetic>,
    },
    /// Run these calls; in order if one of them changes something, else side by side.
    RunTools {
        /// The calls.
        calls: Vec<PlannedCall>,
        /// Whether the order matters.
        in_order: bool,
    },
    /// Call the model.
    CallModel {
        /// Whether tools are offered.
        with_tools: bool,
        /// What to tell it beside the history.
        note: Option<Note>,
    },
    /// The turn ends.
    Finish {
        /// Why.
        reason: TerminationReason,
        /// The failure behind it.
        cause: Cause,
    },
}

/// Takes one event. Events that do not fit the state change nothing.
pub fn step(mut state: StepState, event: Event) -> (StepState, Vec<Effect>) {
    let mut effects = Vec::new();
    match (state.phase, event) {
        (Phase::Ended, _) => {}
        (Phase::Idle, Event::Started) => call_model(&mut state, None, &mut effects),
        (Phase::Model, Event::ModelReplied { has_text: true, is_cut: false, calls, has_more_input: true })
            if calls.is_empty() && state.conclusion.is_none() =>
        {
            call_model(&mut state, None, &mut effects);
        }
        (Phase::Model, Event::ModelReplied { has_text, is_cut, calls, .. }) => {
            reply(&mut state, has_text, is_cut, calls, &mut effects);
        }
        (Phase::Model, Event::Steered) => {
            state.guard.new_input();
            state.progress.new_input();
        }
        (Phase::Model, Event::ModelFailed(class)) => model_failed(&mut state, class, &mut effects),
        (Phase::Tools, Event::ToolFinished { call_id, outcome }) => {
            tool_finished(&mut state, call_id, outcome, &mut effects);
        }
        (_, Event::Cancelled) => stop(&mut state, TerminationReason::Cancelled, &mut effects),
        (_, Event::OutOfBudget) => stop(&mut state, TerminationReason::Budget, &mut effects),
        _ => {}
    }
    (state, effects)
}

fn reply(state: &mut StepState, has_text: bool, is_cut: bool, calls: Vec<ToolCall>, effects: &mut Vec<Effect>) {
    if let Some(Conclusion { reason, cause }) = state.conclusion.clone() {
        answer_all(&calls, &Synthetic::NoToolsNow, effects);
        state.empties += 1;
        if has_text || !calls.is_empty() || state.empties > limits::AGENT_EMPTY_RETRIES_MAX {
            finish(state, reason, cause, effects);
        } else {
            call_model(state, None, effects);
        }
    } else if is_cut {
        answer_all(&calls, &Synthetic::Truncated, effects);
        state.cuts += 1;
        if calls.is_empty() || state.cuts > limits::AGENT_CUT_RETRIES_MAX {
            finish(state, TerminationReason::OutputLimit, Cause::None, effects);
        } else {
            call_model(state, Some(Note::OutputLimit), effects);
        }
    } else if !calls.is_empty() {
        run_calls(state, calls, effects);
    } else if has_text {
        finish(state, TerminationReason::Completed, Cause::None, effects);
    } else {
        state.empties += 1;
        if state.empties > limits::AGENT_EMPTY_RETRIES_MAX {
            finish(state, TerminationReason::ModelError, Cause::Model(ErrorClass::Empty), effects);
        } else {
            call_model(state, Some(Note::EmptyReply), effects);
        }
    }
}

fn run_calls(state: &mut StepState, calls: Vec<ToolCall>, effects: &mut Vec<Effect>) {
    let verdicts: Vec<Verdict> = calls.iter().map(|call| judge(state, call)).collect();
    let stuck = verdicts.iter().zip(&calls).find_map(|(verdict, call)| match verdict {
        Verdict::End => Some((TerminationReason::DuplicateCall, Cause::SameCall(call.name.clone()))),
        Verdict::Cycle(period) => Some((TerminationReason::NoProgress, Cause::Cycle(*period))),
        _ => None,
    });
    if let Some((reason, cause)) = stuck {
        answer_all(&calls, &Synthetic::LeadsNowhere, effects);
        conclude(state, reason, cause, effects);
        return;
    }
    let mut planned = Vec::new();
    for (call, verdict) in calls.into_iter().zip(verdicts) {
        match plan(state, call, verdict) {
            Ok(call) => planned.push(call),
            Err((call_id, synthetic)) => effects.push(Effect::Answer { call_id, answer: Err(synthetic) }),
        }
    }
    if planned.is_empty() {
        step_over(state, effects);
        return;
    }
    state.phase = Phase::Tools;
    let in_order = state.open.iter().any(|c| c.changes);
    effects.push(Effect::RunTools { calls: planned, in_order });
}

/// The guard counts what could not run, too: a model that repeats an unknown tool or broken arguments goes nowhere.
fn judge(state: &mut StepState, call: &ToolCall) -> Verdict {
    let broken;
    let arguments = match &call.arguments {
        Ok(arguments) => arguments,
        Err(malformed) => {
            broken = Value::String(malformed.raw.clone());
            &broken
        }
    };
    if state.config.tools.iter().any(|tool| tool.name == call.name && tool.polls) {
        return Verdict::Run;
    }
    state.guard.judge(&call.id, &call.name, arguments)
}

fn plan(state: &mut StepState, call: ToolCall, verdict: Verdict) -> Result<PlannedCall, (String, Synthetic)> {
    match verdict {
        Verdict::Repeat(of) => return Err((call.id, Synthetic::Repeat { of })),
        Verdict::Refuse | Verdict::End | Verdict::Cycle(_) => return Err((call.id, Synthetic::Refused)),
        Verdict::Run => {}
    }
    let Some(tool) = state.config.tools.iter().find(|t| t.name == call.name) else {
        let known = state.config.tools.iter().map(|t| t.name.as_str());
        let near = near_names(&call.name, known).into_iter().map(str::to_owned).collect();
        state.progress.observe("", true, "unknown tool", true);
        return Err((call.id, Synthetic::UnknownTool { name: call.name, near }));
    };
    match call.arguments {
        Err(malformed) => {
            state.progress.observe(&call.name, true, "malformed arguments", true);
            Err((call.id, Synthetic::MalformedArguments(malformed.reason)))
        }
        Ok(arguments) => {
            let (id, name) = (call.id.clone(), call.name.clone());
            state.open.push(OpenCall { id, name, changes: tool.changes, polls: tool.polls });
            Ok(PlannedCall { id: call.id, name: call.name, arguments })
        }
    }
}

fn tool_finished(state: &mut StepState, call_id: String, outcome: ToolOutcome, effects: &mut Vec<Effect>) {
    let Some(at) = state.open.iter().position(|c| c.id == call_id) else { return };
    let call = state.open.remove(at);
    if call.changes && !outcome.is_error {
        state.guard.changed_by(&call_id);
    }
    state.progress.observe(&call.name, !call.changes && !call.polls, &outcome.text, outcome.is_error);
    state.ends = state.ends.or(outcome.ends);
    effects.push(Effect::Answer { call_id, answer: Ok(outcome) });
    match state.ends {
        _ if !state.open.is_empty() => {}
        Some(reason) => finish(state, reason, Cause::None, effects),
        None => step_over(state, effects),
    }
}

/// Every call of a reply is answered: on with the model, unless that leads nowhere.
fn step_over(state: &mut StepState, effects: &mut Vec<Effect>) {
    match state.progress.end_step() {
        Progress::Onward => call_model(state, None, effects),
        Progress::Stale => call_model(state, Some(Note::Stale), effects),
        Progress::SameError => call_model(state, Some(Note::SameError), effects),
        Progress::NoProgress => conclude(state, TerminationReason::NoProgress, Cause::Alike, effects),
        Progress::RepeatedError => conclude(state, TerminationReason::RepeatedError, Cause::SameError, effects),
    }
}

/// The loop is over for this reason; the model is asked once more for what it can say.
fn conclude(state: &mut StepState, reason: TerminationReason, cause: Cause, effects: &mut Vec<Effect>) {
    state.conclusion.get_or_insert(Conclusion { reason, cause });
    call_model(state, None, effects);
}

fn model_failed(state: &mut StepState, class: ErrorClass, effects: &mut Vec<Effect>) {
    let (reason, cause) = match (state.conclusion.take(), class) {
        // Why the loop ended says more than that nothing could be said about it.
        (Some(Conclusion { reason, cause }), _) if cause != Cause::None => (reason, cause),
        (_, ErrorClass::ContextOverflow) => (TerminationReason::ContextOverflow, Cause::Model(class)),
        _ => (TerminationReason::ModelError, Cause::Model(class)),
    };
    finish(state, reason, cause, effects);
}

fn call_model(state: &mut StepState, note: Option<Note>, effects: &mut Vec<Effect>) {
    state.phase = Phase::Model;
    if state.steps >= state.config.step_limit && state.conclusion.is_none() {
        state.conclusion = Some(Conclusion { reason: TerminationReason::StepLimit, cause: Cause::None });
    }
    let note = match &state.conclusion {
        Some(Conclusion { cause: Cause::None, .. }) => Some(Note::Conclude),
        Some(_) => Some(Note::ConcludeStuck),
        None => note,
    };
    let with_tools = state.conclusion.is_none();
    state.steps += u32::from(with_tools);
    effects.push(Effect::CallModel { with_tools, note });
}

fn answer_all(calls: &[ToolCall], synthetic: &Synthetic, effects: &mut Vec<Effect>) {
    effects.extend(calls.iter().map(|c| Effect::Answer { call_id: c.id.clone(), answer: Err(synthetic.clone()) }));
}

fn stop(state: &mut StepState, reason: TerminationReason, effects: &mut Vec<Effect>) {
    let open = std::mem::take(&mut state.open);
    effects.extend(open.into_iter().map(|c| Effect::Answer { call_id: c.id, answer: Err(Synthetic::Unfinished) }));
    finish(state, reason, Cause::None, effects);
}

fn finish(state: &mut StepState, reason: TerminationReason, cause: Cause, effects: &mut Vec<Effect>) {
    state.phase = Phase::Ended;
    effects.push(Effect::Finish { reason, cause });
}

#[cfg(test)]
#[path = "step_tests.rs"]
mod tests;
