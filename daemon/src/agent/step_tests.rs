//! The decisions of a turn, one by one and at random.
#![allow(clippy::unwrap_used)]

use std::collections::HashMap;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::model::MalformedArgs;

fn config(step_limit: u32) -> StepConfig {
    let tool = |name: &str, changes, polls| ToolInfo { name: name.to_owned(), changes, polls };
    StepConfig { step_limit, tools: vec![tool("read", false, false), tool("write", true, false), tool("poll", false, true)] }
}

fn started(step_limit: u32) -> StepState {
    let (state, effects) = step(StepState::new(config(step_limit)), Event::Started);
    assert_eq!(effects, [Effect::CallModel { with_tools: true, note: None }]);
    state
}

fn call(id: &str, name: &str, arguments: Value) -> ToolCall {
    ToolCall { id: id.to_owned(), name: name.to_owned(), arguments: Ok(arguments), opaque: None }
}

fn broken(id: &str, truncated: bool) -> ToolCall {
    let malformed = MalformedArgs { reason: "why".to_owned(), raw: id.to_owned(), truncated };
    ToolCall { id: id.to_owned(), name: "read".to_owned(), arguments: Err(malformed), opaque: None }
}

fn replied(calls: Vec<ToolCall>) -> Event {
    Event::ModelReplied { has_text: calls.is_empty(), is_cut: false, calls, has_more_input: false }
}

fn done(id: &str) -> Event {
    answered(id, &format!("result {id}"), false)
}

fn answered(id: &str, text: &str, is_error: bool) -> Event {
    Event::ToolFinished { call_id: id.to_owned(), outcome: ToolOutcome { text: text.to_owned(), is_error, ends: None } }
}

fn synthetic(id: &str, synthetic: Synthetic) -> Effect {
    Effect::Answer { call_id: id.to_owned(), answer: Err(synthetic) }
}

fn end(reason: TerminationReason) -> Effect {
    Effect::Finish { reason, cause: Cause::None }
}

// LOOP-7
#[test]
fn an_answer_completes_the_turn() {
    let (state, effects) = step(started(3), replied(vec![]));
    assert_eq!(effects, [end(TerminationReason::Completed)]);
    assert_eq!(step(state, Event::Cancelled).1, []);
}

// TOOL-3
#[test]
fn calls_run_side_by_side_unless_one_changes_something() {
    let calls = |second| vec![call("1", "read", json!({})), call("2", second, json!({"x": 1}))];
    for (second, ordered) in [("read", false), ("write", true)] {
        let (state, effects) = step(started(3), replied(calls(second)));
        let [Effect::RunTools { calls, in_order }] = &effects[..] else { panic!("{effects:?}") };
        assert_eq!((calls.len(), *in_order), (2, ordered));
        let (state, effects) = step(state, done("2"));
        assert_eq!(effects.len(), 1, "the model waits for both: {effects:?}");
        let (_, effects) = step(state, done("1"));
        assert_eq!(effects[1], Effect::CallModel { with_tools: true, note: None });
    }
}

// LOOP-2, LOOP-7
#[test]
fn at_the_limit_the_model_concludes_without_tools() {
    let (state, _) = step(started(1), replied(vec![call("1", "read", json!({}))]));
    let (state, effects) = step(state, done("1"));
    assert_eq!(effects[1], Effect::CallModel { with_tools: false, note: Some(Note::Conclude) });
    let again = Effect::CallModel { with_tools: false, note: Some(Note::Conclude) };
    let (_, effects) = step(state.clone(), replied(vec![call("2", "read", json!({}))]));
    assert_eq!(effects, [synthetic("2", Synthetic::NoToolsNow), end(TerminationReason::StepLimit)]);
    let (state, effects) =
        step(state, Event::ModelReplied { has_text: false, is_cut: false, calls: vec![], has_more_input: false });
    assert_eq!(effects, [again]);
    assert_eq!(step(state, replied(vec![])).1, [end(TerminationReason::StepLimit)]);
}

// A3, A12
#[test]
fn what_cannot_run_gets_an_error_the_model_can_use() {
    let (_, effects) = step(started(3), replied(vec![call("1", "reed", json!({})), broken("2", false)]));
    let unknown = Synthetic::UnknownTool { name: "reed".to_owned(), near: vec!["read".to_owned()] };
    let malformed = Synthetic::MalformedArguments("why".to_owned());
    let again = Effect::CallModel { with_tools: true, note: None };
    assert_eq!(effects, [synthetic("1", unknown), synthetic("2", malformed), again]);
}

// A4, A5
#[test]
fn nothing_of_a_cut_message_runs() {
    let cut = |calls| Event::ModelReplied { has_text: true, is_cut: true, calls, has_more_input: false };
    let (state, effects) = step(started(5), cut(vec![call("1", "read", json!({})), broken("2", true)]));
    let told = Effect::CallModel { with_tools: true, note: Some(Note::OutputLimit) };
    assert_eq!(effects, [synthetic("1", Synthetic::Truncated), synthetic("2", Synthetic::Truncated), told]);
    let (_, effects) = step(state, cut(vec![broken("3", true)]));
    assert_eq!(effects, [synthetic("3", Synthetic::Truncated), end(TerminationReason::OutputLimit)]);
    assert_eq!(step(started(5), cut(vec![])).1, [end(TerminationReason::OutputLimit)]);
}

// A16
#[test]
fn an_empty_answer_is_asked_for_again_within_bounds() {
    let empty = || Event::ModelReplied { has_text: false, is_cut: false, calls: vec![], has_more_input: false };
    let mut state = started(8);
    for _ in 0..limits::AGENT_EMPTY_RETRIES_MAX {
        let (next, effects) = step(state, empty());
        assert_eq!(effects, [Effect::CallModel { with_tools: true, note: Some(Note::EmptyReply) }]);
        state = next;
    }
    let cause = Cause::Model(ErrorClass::Empty);
    assert_eq!(step(state, empty()).1, [Effect::Finish { reason: TerminationReason::ModelError, cause }]);
}

// A10, LOOP-3
#[test]
fn the_same_call_five_times_ends_the_turn() {
    let mut state = started(8);
    let mut answers = Vec::new();
    for id in ["1", "2", "3", "4"] {
        let arguments = if id == "2" { json!({"b": 2, "a": 1}) } else { json!({"a": 1, "b": 2}) };
        let (next, effects) = step(state, replied(vec![call(id, "read", arguments)]));
        state = next;
        answers.push(effects[0].clone());
        if id == "1" {
            state = step(state, done("1")).0;
        }
    }
    assert!(matches!(answers[0], Effect::RunTools { .. }));
    assert_eq!(answers[1], synthetic("2", Synthetic::Repeat { of: "1".to_owned() }));
    assert_eq!(answers[2], synthetic("3", Synthetic::Refused));
    assert_eq!(answers[3], synthetic("4", Synthetic::LeadsNowhere));
    let cause = Cause::SameCall("read".to_owned());
    assert_eq!(step(state, replied(vec![])).1, [Effect::Finish { reason: TerminationReason::DuplicateCall, cause }]);
}

/// Plays rounds of one call each: tool, what it answers, whether that is an error. Gives the last effects of each round.
fn play(rounds: &[(&str, &str, bool)]) -> (StepState, Vec<Effect>) {
    let (mut state, mut last) = (started(20), Vec::new());
    for (n, (tool, text, is_error)) in rounds.iter().enumerate() {
        let id = n.to_string();
        let (next, effects) = step(state, replied(vec![call(&id, tool, json!({ "n": n }))]));
        assert!(matches!(effects[0], Effect::RunTools { .. }), "round {n}: {effects:?}");
        (state, last) = step(next, answered(&id, text, *is_error));
    }
    (state, last)
}

// LOOP-3, LOOP-7, A11: other questions and the same answer, or the same failure; the model says what it has and the turn ends with why
#[test]
fn answers_that_are_alike_and_failures_that_repeat_end_the_turn() {
    let stuck = Effect::CallModel { with_tools: false, note: Some(Note::ConcludeStuck) };
    let told = |note| Effect::CallModel { with_tools: true, note: Some(note) };
    let same = ("read", "nothing was found", false);
    assert_eq!(play(&[same; 2]).1[1], told(Note::Stale));
    let (state, effects) = play(&[same; 3]);
    assert_eq!(effects[1], stuck);
    let ended = Effect::Finish { reason: TerminationReason::NoProgress, cause: Cause::Alike };
    assert_eq!(step(state.clone(), replied(vec![])).1, std::slice::from_ref(&ended));
    assert_eq!(step(state, Event::ModelFailed(ErrorClass::Network)).1, [ended], "why it was stuck says more");
    let fails = ("write", "the disk is full", true);
    assert_eq!(play(&[fails; 2]).1[1], told(Note::SameError));
    let (state, effects) = play(&[fails; 3]);
    assert_eq!(effects[1], stuck);
    let ended = Effect::Finish { reason: TerminationReason::RepeatedError, cause: Cause::SameError };
    assert_eq!(step(state, replied(vec![])).1, [ended]);
    for onward in [&[("poll", "still at it", false); 8][..], &[("write", "done", false); 8]] {
        assert_eq!(play(onward).1[1], Effect::CallModel { with_tools: true, note: None });
    }
}

// LOOP-3, A11: two writes that undo each other
#[test]
fn calls_in_turn_for_ever_end_the_turn() {
    let mut state = started(20);
    for n in 0..6 {
        let id = n.to_string();
        let (next, effects) = step(state, replied(vec![call(&id, "write", json!({"on": n % 2 == 0}))]));
        if n == 5 {
            assert_eq!(effects[0], synthetic("5", Synthetic::LeadsNowhere));
            let ended = Effect::Finish { reason: TerminationReason::NoProgress, cause: Cause::Cycle(2) };
            assert_eq!(step(next, replied(vec![])).1, [ended]);
            return;
        }
        assert!(matches!(effects[0], Effect::RunTools { .. }), "call {n}: {effects:?}");
        state = step(next, done(&id)).0;
    }
}

// LOOP-3: a tool that is there to be asked again may be, with the same arguments
#[test]
fn polling_is_no_repetition() {
    let mut state = started(12);
    for n in 0..8 {
        let id = n.to_string();
        let (next, effects) = step(state, replied(vec![call(&id, "poll", json!({}))]));
        assert!(matches!(effects[0], Effect::RunTools { .. }), "call {n}: {effects:?}");
        state = step(next, answered(&id, "pending", false)).0;
    }
}

// LOOP-7, TOOL-9: a tool that ends the turn does so when those beside it are done
#[test]
fn a_tool_that_ends_the_turn_waits_for_those_beside_it() {
    let calls = vec![call("1", "read", json!({})), call("2", "read", json!({"x": 1}))];
    let (state, _) = step(started(3), replied(calls));
    let outcome = ToolOutcome { text: "no way".to_owned(), is_error: false, ends: Some(TerminationReason::GaveUp) };
    let (state, effects) = step(state, Event::ToolFinished { call_id: "1".to_owned(), outcome });
    assert_eq!(effects.len(), 1);
    assert_eq!(step(state, done("2")).1[1], end(TerminationReason::GaveUp));
}

// SES-9: what is said to a turn is read before the turn ends, and lets calls run again
#[test]
fn a_turn_goes_on_with_what_was_said_to_it() {
    let (state, _) = step(started(5), replied(vec![call("1", "read", json!({}))]));
    let (state, _) = step(state, done("1"));
    let said = Event::ModelReplied { has_text: true, is_cut: false, calls: vec![], has_more_input: true };
    let (state, effects) = step(state, said);
    assert_eq!(effects, [Effect::CallModel { with_tools: true, note: None }]);
    let (state, effects) = step(state, Event::Steered);
    assert_eq!(effects, []);
    let (_, effects) = step(state, replied(vec![call("2", "read", json!({}))]));
    assert!(matches!(effects[0], Effect::RunTools { .. }), "{effects:?}");
}

// A18
#[test]
fn cancelling_answers_what_is_open() {
    let calls = vec![call("1", "read", json!({})), call("2", "write", json!({}))];
    let (state, _) = step(started(3), replied(calls));
    let (state, _) = step(state, done("1"));
    let (state, effects) = step(state, Event::Cancelled);
    assert_eq!(effects, [synthetic("2", Synthetic::Unfinished), end(TerminationReason::Cancelled)]);
    assert_eq!(step(state, done("2")).1, [], "a late result changes nothing");
}

// LOOP-7
#[test]
fn a_failed_model_ends_the_turn_with_its_class() {
    for (class, reason) in
        [(ErrorClass::ContextOverflow, TerminationReason::ContextOverflow), (ErrorClass::Timeout, TerminationReason::ModelError)]
    {
        let expected = Effect::Finish { reason, cause: Cause::Model(class) };
        assert_eq!(step(started(3), Event::ModelFailed(class)).1, [expected]);
    }
}

#[derive(Debug, Clone)]
enum Move {
    Reply { has_text: bool, is_cut: bool, calls: Vec<(u8, u8)> },
    Fail,
    Finish { which: u8, is_error: bool },
    Stray,
    Cancel,
    Budget,
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let calls = prop::collection::vec((0..4u8, 0..3u8), 0..4);
    let one = prop_oneof![
        8 => (any::<bool>(), prop::bool::weighted(0.1), calls)
            .prop_map(|(has_text, is_cut, calls)| Move::Reply { has_text, is_cut, calls }),
        8 => (any::<u8>(), any::<bool>()).prop_map(|(which, is_error)| Move::Finish { which, is_error }),
        1 => Just(Move::Stray),
        1 => Just(Move::Fail),
        1 => Just(Move::Cancel),
        1 => Just(Move::Budget),
    ];
    prop::collection::vec(one, 0..60)
}

/// Feeds random events, watches the promises, then drives the turn to its end as a willing world would.
struct Run {
    state: StepState,
    results: HashMap<String, u32>,
    finishes: u32,
    model_calls: u32,
    minted: u32,
}

impl Run {
    fn feed(&mut self, event: Event) {
        let accepted = self.state.phase == Phase::Model;
        if let (true, Event::ModelReplied { calls, .. }) = (accepted, &event) {
            for call in calls {
                self.results.insert(call.id.clone(), 0);
            }
        }
        let (state, effects) = step(self.state.clone(), event);
        self.state = state;
        for effect in effects {
            assert_eq!(self.finishes, 0, "nothing follows the end");
            match effect {
                Effect::Answer { call_id, .. } => *self.results.get_mut(&call_id).unwrap() += 1,
                Effect::CallModel { .. } => {
                    self.model_calls += 1;
                    assert!(self.results.values().all(|n| *n == 1), "paired before the model is called: {:?}", self.results);
                }
                Effect::Finish { .. } => {
                    self.finishes += 1;
                    assert!(self.results.values().all(|n| *n == 1), "paired at the end: {:?}", self.results);
                }
                Effect::RunTools { calls, .. } => assert!(!calls.is_empty()),
            }
        }
    }

    fn event(&mut self, step: &Move) -> Event {
        match step {
            Move::Reply { has_text, is_cut, calls } => {
                let calls = calls.iter().map(|(tool, arguments)| {
                    self.minted += 1;
                    let id = self.minted.to_string();
                    match tool {
                        0 => call(&id, "read", json!({"x": arguments})),
                        1 => call(&id, "write", json!({"x": arguments})),
                        2 => call(&id, "nonesuch", json!({"x": arguments})),
                        _ => broken(&id, false),
                    }
                });
                Event::ModelReplied { has_text: *has_text, is_cut: *is_cut, calls: calls.collect(), has_more_input: false }
            }
            Move::Fail => Event::ModelFailed(ErrorClass::Network),
            Move::Finish { which, is_error } => {
                let open: Vec<String> = self.state.open_calls().map(str::to_owned).collect();
                let call_id = open.get(*which as usize % open.len().max(1)).cloned().unwrap_or_default();
                Event::ToolFinished { call_id, outcome: ToolOutcome { text: String::new(), is_error: *is_error, ends: None } }
            }
            Move::Stray => done("never opened"),
            Move::Cancel => Event::Cancelled,
            Move::Budget => Event::OutOfBudget,
        }
    }
}

proptest! {
    // A18, LOOP-2, LOOP-7: whatever happens, every call is answered exactly once and the turn ends once
    #[test]
    fn every_call_is_answered_once_and_every_turn_ends(moves in moves(), limit in 0..5u32) {
        let state = StepState::new(config(limit));
        let mut run = Run { state, results: HashMap::new(), finishes: 0, model_calls: 0, minted: 0 };
        run.feed(Event::Started);
        for step in &moves {
            let event = run.event(step);
            run.feed(event);
        }
        let willing = Move::Reply { has_text: true, is_cut: false, calls: vec![(0, 0), (1, 1)] };
        for _ in 0..100 {
            let next = if run.state.phase == Phase::Tools { Move::Finish { which: 0, is_error: false } } else { willing.clone() };
            let event = run.event(&next);
            run.feed(event);
        }
        prop_assert_eq!(run.finishes, 1);
        prop_assert!(run.model_calls <= limit + 1 + limits::AGENT_EMPTY_RETRIES_MAX);
    }
}
