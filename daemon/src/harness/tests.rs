//! Turns over a real store with a scripted model and a memory of a few words.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::caller::Caller;
use crate::clock::{ManualClock, SharedClock};
use crate::model::discover::ModelConfig;
use crate::session::SessionError;
use crate::store::{OpenOptions, Store};
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::path::Path;
use tiro_schema::wire::Open;
use tiro_schema::wire::memory::{ContextResult, RecallParams, RememberOutcome, RememberParams, RememberResult, Strength};
use tiro_schema::wire::session::{ContentBlock, Message, SessionDeleteParams, SessionMessagesParams, SessionNewParams};
use tiro_schema::wire::turn::{Budget, IfBusy, TerminationReason, Turn, TurnInput, TurnStartParams, TurnStatus};
use tiro_schema::{ErrorKind, ErrorObject};

/// Keeps texts in a list; finds those that share a word with the question.
#[derive(Default)]
struct FewWords {
    kept: Mutex<Vec<RememberParams>>,
}

impl Memories for FewWords {
    fn context(&self, _: Caller, params: RecallParams) -> MemoryFuture<ContextResult> {
        let kept = self.kept.lock();
        let found = kept.iter().find(|m| m.text.split(' ').any(|word| params.query.contains(word)));
        let result = ContextResult {
            text: found.map(|m| format!("- {}", m.text)).unwrap_or_default(),
            tokens: 1,
            ids: found.map(|_| uuid::Uuid::nil().to_string()).into_iter().collect(),
            standing: Vec::new(),
            recall_id: String::new(),
            strength: Strength::Good.into(),
            below_threshold: 0,
            over_budget: 0,
        };
        Box::pin(async move { Ok(result) })
    }

    fn remember(&self, _: Caller, params: RememberParams) -> MemoryFuture<RememberResult> {
        self.kept.lock().push(params);
        let outcome = Open::Known(RememberOutcome::Created);
        Box::pin(async move { Ok(RememberResult { outcome, id: None, seq: None, related: vec![], reason: None, error: None }) })
    }

    fn without_forgotten(&self, _: &str) -> Result<Option<String>, ErrorObject> {
        Ok(None)
    }

    fn is_forgotten(&self, _: &str) -> Result<bool, ErrorObject> {
        Ok(false)
    }
}

struct Stage {
    harness: Harness,
    memories: Arc<FewWords>,
    session: String,
}

async fn open(dir: &Path, replies: Value) -> (Harness, Arc<FewWords>) {
    let script = dir.join("script.json");
    std::fs::write(&script, json!({ "replies": replies }).to_string()).unwrap();
    let config = ModelConfig { provider: Some("scripted".to_owned()), script: Some(script), ..ModelConfig::default() };
    open_with(dir, config).await
}

async fn open_with(dir: &Path, config: ModelConfig) -> (Harness, Arc<FewWords>) {
    let clock: SharedClock = Arc::new(ManualClock::new(1_700_000_000_000));
    let store = dir.join("store");
    std::fs::create_dir_all(&store).unwrap();
    let store = Store::open(&store, OpenOptions { clock: Arc::clone(&clock), ..OpenOptions::default() }).unwrap();
    let model = ModelSlot::find(Discovery { config, ..Discovery::default() }).await;
    let memories = Arc::new(FewWords::default());
    let harness =
        Harness::new(Sessions::new(store, clock), Arc::clone(&memories) as Arc<dyn Memories>, model, AgentSettings::default());
    (harness, memories)
}

async fn stage(dir: &Path, replies: Value) -> Stage {
    let (harness, memories) = open(dir, replies).await;
    let session = harness.sessions().create(SessionNewParams::default()).await.unwrap().session_id;
    Stage { harness, memories, session }
}

impl Stage {
    fn params(&self, text: &str) -> TurnStartParams {
        TurnStartParams {
            session_id: self.session.clone(),
            input: TurnInput::Text(text.to_owned()),
            ..TurnStartParams::default()
        }
    }

    async fn start(&self, params: TurnStartParams) -> Result<String, SessionError> {
        self.harness.start(Caller::daemon(), params).await.map(|started| started.turn_id)
    }

    async fn ask(&self, text: &str) -> Turn {
        let turn_id = self.start(self.params(text)).await.unwrap();
        self.harness.wait(&turn_id, None).await.unwrap()
    }

    fn messages(&self) -> Vec<Message> {
        let params = SessionMessagesParams { session_id: self.session.clone(), ..SessionMessagesParams::default() };
        self.harness.sessions().messages(&params).unwrap().items
    }

    /// Messages in short: role and what they hold.
    fn shape(&self) -> Vec<String> {
        let block = |block: &ContentBlock| match block {
            ContentBlock::Text { text } => text.clone(),
            ContentBlock::Stored { .. } => "stored".to_owned(),
            ContentBlock::Thinking { .. } => "thinking".to_owned(),
            ContentBlock::ToolCall { call_id, name, .. } => format!("call {call_id} {name}"),
            ContentBlock::ToolResult { call_id, is_error, .. } => {
                format!("result {call_id}{}", if *is_error { " error" } else { "" })
            }
        };
        let shape = |m: &Message| {
            let content: Vec<String> = m.content.iter().map(block).collect();
            format!("{}{}: {}", m.role, if m.partial { "?" } else { "" }, content.join(" | "))
        };
        self.messages().iter().map(shape).collect()
    }
}

fn ended(turn: &Turn) -> (Open<TurnStatus>, Option<Open<TerminationReason>>) {
    (turn.status.clone(), turn.termination_reason.clone())
}

fn as_ended(status: TurnStatus, reason: TerminationReason) -> (Open<TurnStatus>, Option<Open<TerminationReason>>) {
    (Open::Known(status), Some(Open::Known(reason)))
}

// LOOP-4, SES-8, TOOL-3: a trajectory of two steps, all of it stored
#[tokio::test]
async fn a_turn_with_a_tool_is_stored_step_by_step() {
    let dir = tempfile::tempdir().unwrap();
    let stage = stage(dir.path(), json!([
        {"thinking": ["hm"], "toolCalls": [
            {"id": "a", "name": "memory_remember", "arguments": {"text": "likes oolong", "category": "preference"}},
            {"id": "b", "name": "memory_recall", "arguments": {"query": "oolong"}}], "usage": {"inputTokens": 10, "outputTokens": 3}},
        {"chunks": ["No", "ted."], "usage": {"inputTokens": 20, "outputTokens": 2}},
    ])).await;
    let turn = stage.ask("I like oolong").await;
    assert_eq!(ended(&turn), as_ended(TurnStatus::Completed, TerminationReason::Completed));
    assert_eq!((turn.text.as_str(), turn.usage.input_tokens, turn.usage.output_tokens), ("Noted.", 30, 5));
    assert_eq!((turn.usage.model_calls, turn.usage.tool_calls), (2, 2));
    assert_eq!(
        stage.shape(),
        [
            "user: I like oolong",
            "assistant: thinking | call a memory_remember | call b memory_recall",
            "tool: result a",
            "tool: result b",
            "assistant: Noted.",
        ]
    );
    let kept = stage.memories.kept.lock();
    let key = kept[0].key.clone().unwrap();
    assert_eq!((kept[0].space.as_deref(), key.ends_with("/a")), (Some("personal"), true));
}

// LOOP-6
#[tokio::test]
async fn without_a_model_a_prompt_says_how_to_set_one_up() {
    let dir = tempfile::tempdir().unwrap();
    let config = ModelConfig { provider: Some("none".to_owned()), ..ModelConfig::default() };
    let (harness, memories) = open_with(dir.path(), config).await;
    let session = harness.sessions().create(SessionNewParams::default()).await.unwrap().session_id;
    let stage = Stage { harness, memories, session };
    let error: tiro_schema::ErrorObject = stage.start(stage.params("hello")).await.unwrap_err().into();
    assert_eq!(error.kind(), Some(ErrorKind::ModelNotConfigured));
    assert!(error.data.unwrap().hint.contains("TIRO_MODEL_BASE_URL"));
    assert!(stage.messages().is_empty(), "nothing is kept of a turn that cannot run");
}

// A3, A5, A12, A16, LOOP-7: what a model gets wrong, and how the turn ends
#[tokio::test]
async fn mistakes_of_a_model_end_as_they_should() {
    let call = |id: &str, name: &str, arguments: Value| json!({"id": id, "name": name, "arguments": arguments});
    let recall = |id: &str| json!({"toolCalls": [call(id, "memory_recall", json!({"query": "tea"}))]});
    let cut = json!({"toolCalls": [call("w", "memory_remember", json!("{\"text\": \"li"))], "finish": "length"});
    let failed = |class: &str| json!({"chunks": ["par", "tial"], "error": {"class": class, "message": "no"}});
    use TerminationReason as R;
    let table = [
        (
            json!([{"toolCalls": [call("a", "memory_find", json!({})), call("b", "memory_recall", json!("prose"))]}, {"text": "ok"}]),
            R::Completed,
            5,
        ),
        (json!([{"toolCalls": [call("a", "memory_recall", json!({"query": ""}))]}, {"text": "ok"}]), R::Completed, 4),
        (json!([cut, {"text": "ok"}]), R::Completed, 4),
        (json!([cut, cut]), R::OutputLimit, 5),
        (json!([{}, {}, {"text": "ok"}]), R::Completed, 2),
        (json!([{}, {}, {}]), R::ModelError, 1),
        (json!([recall("a"), recall("b"), recall("c"), recall("d")]), R::DuplicateCall, 9),
        (json!([failed("network")]), R::ModelError, 2),
        (json!([{"error": {"class": "contextOverflow"}}]), R::ContextOverflow, 1),
    ];
    for (number, (replies, reason, messages)) in table.into_iter().enumerate() {
        let dir = tempfile::tempdir().unwrap();
        let stage = stage(dir.path(), replies).await;
        let turn = stage.ask("find out which tea I like").await;
        let shape = stage.shape();
        assert_eq!(turn.termination_reason, Some(Open::Known(reason)), "row {number}: {shape:?}");
        assert_eq!(shape.len(), messages, "row {number}: {shape:?}");
        let count = |word: &str| {
            stage.messages().iter().flat_map(|m| &m.content).filter(|b| serde_json::to_value(b).unwrap()["type"] == word).count()
        };
        assert_eq!(count("toolCall"), count("toolResult"), "row {number}");
        if reason == R::ModelError {
            assert!(turn.error.is_some(), "row {number}");
        }
        let first_again = shape.iter().any(|m| m.starts_with("assistant?: partial"));
        assert_eq!(first_again, number == 7, "row {number}: {shape:?}");
    }
}

// LOOP-2, LOOP-7
#[tokio::test]
async fn budgets_of_steps_and_tokens_end_a_turn() {
    let recall = |n: u32| json!({"toolCalls": [{"name": "memory_recall", "arguments": {"query": format!("q{n}")}}], "usage": {"inputTokens": 50, "outputTokens": 10}});
    let dir = tempfile::tempdir().unwrap();
    let stage1 = stage(dir.path(), json!([recall(1), recall(2), {"text": "enough"}])).await;
    let budget = |steps, tokens| Some(Budget { steps, tokens, ms: None });
    let turn = stage1.start(TurnStartParams { budget: budget(Some(2), None), ..stage1.params("go") }).await.unwrap();
    let turn = stage1.harness.wait(&turn, None).await.unwrap();
    assert_eq!(ended(&turn), as_ended(TurnStatus::Completed, TerminationReason::StepLimit));
    assert_eq!((turn.text.as_str(), turn.usage.model_calls), ("enough", 3));

    let dir = tempfile::tempdir().unwrap();
    let stage2 = stage(dir.path(), json!([recall(1), recall(2), {"text": "never"}])).await;
    let turn = stage2.start(TurnStartParams { budget: budget(None, Some(100)), ..stage2.params("go") }).await.unwrap();
    let turn = stage2.harness.wait(&turn, None).await.unwrap();
    assert_eq!(ended(&turn), as_ended(TurnStatus::Failed, TerminationReason::Budget));
    let refused = stage2.start(TurnStartParams { budget: budget(Some(0), None), ..stage2.params("go") }).await.unwrap_err();
    assert!(refused.to_string().contains("budget.steps"));
}

// A19, A18: one runs, others wait or are told; an interrupt keeps what was shown
#[tokio::test]
async fn turns_wait_in_line_are_refused_or_interrupted() {
    let dir = tempfile::tempdir().unwrap();
    let stage = stage(
        dir.path(),
        json!([
            {"when": "first", "chunks": ["half an answer"], "toolCalls": [], "hang": true},
            {"when": "second", "text": "two"},
            {"when": "third", "text": "three"},
        ]),
    )
    .await;
    let first = stage.start(stage.params("first")).await.unwrap();
    let second = stage.start(TurnStartParams { key: Some("k".to_owned()), ..stage.params("second") }).await.unwrap();
    let again = stage.start(TurnStartParams { key: Some("k".to_owned()), ..stage.params("second") }).await.unwrap();
    assert_eq!(second, again, "a repeated key begins no second turn");
    let third = stage.start(stage.params("third")).await.unwrap();
    let busy = stage.start(TurnStartParams { if_busy: Some(IfBusy::Reject), ..stage.params("no") }).await.unwrap_err();
    assert!(matches!(busy, SessionError::Busy { .. }));
    let waiting = stage.harness.wait(&third, Some(0)).await.unwrap();
    assert_eq!(waiting.status, Open::Known(TurnStatus::Queued));
    let cancelled = stage.harness.interrupt(&third).await.unwrap();
    assert_eq!(ended(&cancelled), as_ended(TurnStatus::Cancelled, TerminationReason::Cancelled));

    while !stage.harness.sessions().describe_turn(&first).unwrap().status.eq(&Open::Known(TurnStatus::Running)) {
        tokio::task::yield_now().await;
    }
    let interrupted = stage.harness.interrupt(&first).await.unwrap();
    assert_eq!(ended(&interrupted), as_ended(TurnStatus::Cancelled, TerminationReason::Cancelled));
    assert!(interrupted.error.is_none());
    assert!(matches!(stage.harness.interrupt(&first).await.unwrap_err(), SessionError::TurnNotActive { .. }));
    let second = stage.harness.wait(&second, None).await.unwrap();
    assert_eq!(second.text, "two");
    let shape = stage.shape();
    assert!(shape.ends_with(&["user: second".to_owned(), "assistant: two".to_owned()]), "{shape:?}");
    assert_eq!(shape[0], "user: first");
}

// A18, SES-8: after a stop in the middle, history pairs, the turn says so, and waiting turns run
#[tokio::test]
async fn a_stop_in_the_middle_is_repaired_at_the_next_start() {
    let dir = tempfile::tempdir().unwrap();
    let replies = json!([{"when": "first", "hang": true}, {"when": "second", "text": "two"}]);
    let (session, first, second);
    {
        let stage = stage(dir.path(), replies.clone()).await;
        session = stage.session.clone();
        first = stage.start(stage.params("first")).await.unwrap();
        second = stage.start(stage.params("second")).await.unwrap();
        stage.harness.stop().await;
        assert!(matches!(stage.start(stage.params("x")).await.unwrap_err(), SessionError::Draining));
        let store = stage.harness.sessions().store().clone();
        drop(stage);
        tokio::task::spawn_blocking(move || store.close()).await.unwrap().unwrap();
    }
    let (harness, memories) = open(dir.path(), replies).await;
    let stage = Stage { harness, memories, session };
    stage.harness.resume().await.unwrap();
    let first = stage.harness.wait(&first, None).await.unwrap();
    assert_eq!(ended(&first), as_ended(TurnStatus::Interrupted, TerminationReason::Interrupted));
    let second = stage.harness.wait(&second, None).await.unwrap();
    assert_eq!(second.text, "two");
    let deleted = SessionDeleteParams { session_id: stage.session.clone(), key: None };
    assert_eq!(stage.harness.delete_session(deleted).await.unwrap().messages, 3);
    assert!(matches!(stage.harness.wait(&second.turn_id, None).await.unwrap_err(), SessionError::NotFound { .. }));
}

// SES-9
#[tokio::test]
async fn a_session_with_a_running_turn_can_be_deleted() {
    let dir = tempfile::tempdir().unwrap();
    let stage = stage(dir.path(), json!([{"hang": true}])).await;
    stage.start(stage.params("one")).await.unwrap();
    stage.start(stage.params("two")).await.unwrap();
    let params = SessionDeleteParams { session_id: stage.session.clone(), key: Some("k".to_owned()) };
    stage.harness.delete_session(params.clone()).await.unwrap();
    stage.harness.delete_session(params).await.unwrap();
    assert!(matches!(stage.harness.sessions().find(&stage.session).unwrap_err(), SessionError::NotFound { .. }));
}

// A18, A23, SES-8: a crash with four calls open: each gets one result that says its effect is unknown, and none runs again
#[tokio::test]
async fn calls_left_open_by_a_crash_get_results_and_do_not_run_again() {
    use tiro_schema::record::TurnRecord;
    use tiro_schema::wire::session::Role;
    let dir = tempfile::tempdir().unwrap();
    let stage = stage(dir.path(), json!([{"text": "on we go"}])).await;
    let sessions = stage.harness.sessions().clone();
    let session = sessions.find(&stage.session).unwrap().key;
    let text = |text: &str| ContentBlock::Text { text: text.to_owned() };
    let call = |id: &str| ContentBlock::ToolCall {
        call_id: id.to_owned(),
        name: "memory_remember".to_owned(),
        arguments: json!({"text": id}),
    };
    let answered = ContentBlock::ToolResult {
        call_id: "b".to_owned(),
        name: "memory_remember".to_owned(),
        text: "Kept.".to_owned(),
        is_error: false,
        reference: None,
    };
    let message = |role, content| crate::session::NewMessage { role, content, partial: false };
    let turn = TurnRecord {
        id: [9; 16],
        session,
        status: tiro_schema::convert::turn_status_code(TurnStatus::Running),
        ..TurnRecord::default()
    };
    let messages = vec![
        message(Role::User, vec![text("go")]),
        message(Role::Assistant, ["a", "b", "c", "d", "e"].map(call).to_vec()),
        message(Role::Tool, vec![answered]),
    ];
    sessions
        .journal(crate::session::Entry { turn, state: None, changes: vec![], results: vec![], messages, events: vec![] })
        .await
        .unwrap();
    stage.harness.resume().await.unwrap();
    let ended_turn = stage.harness.wait(&crate::session::id_text(&[9; 16]), None).await.unwrap();
    assert_eq!(ended(&ended_turn), as_ended(TurnStatus::Interrupted, TerminationReason::Interrupted));
    assert_eq!(
        stage.shape()[3..],
        ["tool: result a error", "tool: result c error", "tool: result d error", "tool: result e error"]
    );
    assert!(stage.memories.kept.lock().is_empty(), "nothing runs again");
    assert_eq!(stage.ask("and now?").await.text, "on we go");
    stage.harness.resume().await.unwrap();
    assert_eq!(stage.shape().len(), 9, "taking up twice changes nothing");
}
