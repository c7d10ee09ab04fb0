//! Turns over the socket with a scripted model: trajectories, budgets, lines of turns, interrupts, crashes.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tiro_schema::ErrorKind;
use tiro_tests::agent::{ask, ended, history, scripted, session, start, wait};
use tiro_tests::{DaemonSetup, TestDaemon, check, wait_for};

fn recall(id: &str, query: &str) -> Value {
    json!({"id": id, "name": "memory_recall", "arguments": {"query": query}})
}

// LOOP-6: with no model everything about memory works, and a prompt says how to set one up
#[test]
fn without_a_model_memory_works_and_a_prompt_says_what_to_do() {
    let daemon = DaemonSetup::new().config("[model]\nprovider = \"none\"\n").spawn();
    let mut rpc = daemon.rpc();
    check::remember(&mut rpc, "The deploy window of REQ-2041 is Friday.");
    check::recall_contains(&mut rpc, "REQ-2041", "The deploy window of REQ-2041 is Friday.");
    let status: Value = rpc.ask("daemon/status", json!({}));
    assert_eq!(status["model"]["configured"], false, "{status}");
    let session = session(&mut rpc);
    let error = rpc.refused("turn/start", json!({"sessionId": session, "input": "hello"}));
    check::is_error(&error, ErrorKind::ModelNotConfigured);
    let data = error.data.unwrap();
    assert!(data.hint.contains("TIRO_MODEL_BASE_URL"), "{}", data.hint);
    assert_eq!(serde_json::to_value(data.outcome).unwrap(), "notDone");
    assert!(history(&mut rpc, &session).is_empty());
}

// TOOL-3, SES-8, MEM-12: tools run over the real memory, and what they kept is there for everyone
#[test]
fn a_turn_remembers_and_recalls_through_its_tools() {
    let daemon = scripted(&json!([
        {"toolCalls": [{"id": "a", "name": "memory_remember",
            "arguments": {"text": "The user prefers oolong tea.", "category": "preference"}}], "usage": {"inputTokens": 10, "outputTokens": 3}},
        {"toolCalls": [recall("b", "which tea does the user prefer")]},
        {"chunks": ["Noted", "."], "usage": {"inputTokens": 20, "outputTokens": 2}},
    ]));
    let mut rpc = daemon.rpc();
    let session = session(&mut rpc);
    let turn = ask(&mut rpc, &session, "I prefer oolong tea, remember that");
    ended(&turn, "completed", "completed");
    assert_eq!((&turn["text"], &turn["steps"]), (&json!("Noted."), &json!(3)));
    assert_eq!(turn["usage"], json!({"inputTokens": 30, "outputTokens": 5, "modelCalls": 3, "toolCalls": 2}));
    assert_eq!(
        history(&mut rpc, &session),
        [
            "user: I prefer oolong tea, remember that",
            "assistant: call a memory_remember",
            "tool: result a",
            "assistant: call b memory_recall",
            "tool: result b",
            "assistant: Noted.",
        ]
    );
    check::recall_contains(&mut rpc, "oolong tea", "The user prefers oolong tea.");
    let page: Value = rpc.ask("session/messages", json!({"sessionId": session}));
    let result = page["items"][4]["content"][0]["text"].as_str().unwrap();
    assert!(
        result.contains("> The user prefers oolong tea.") && !result.contains("one passage") && result.contains("2"),
        "data with a date: {result}"
    );
    let kept: Value = rpc.ask("memory/list", json!({}));
    assert_eq!(kept["items"][0]["sources"][0]["session"], json!(session), "{kept}");
}

// A3, A5, A10, A12, A16, LOOP-7, MEM-10
#[test]
fn mistakes_of_a_model_end_with_their_reason() {
    let cut =
        json!({"toolCalls": [{"id": "w", "name": "memory_remember", "arguments": "{\"text\": \"half"}], "finish": "length"});
    let secret = json!({"id": "s", "name": "memory_remember", "arguments": {"text": "my key is AKIAIOSFODNN7EXAMPLE"}});
    let table = [
        (
            json!([{"toolCalls": [{"id": "a", "name": "memory_recal", "arguments": {}}]}, {"text": "ok"}]),
            "completed",
            "Did you mean memory_recall",
        ),
        (
            json!([{"toolCalls": [{"id": "a", "name": "memory_recall", "arguments": "let me look"}]}, {"text": "ok"}]),
            "completed",
            "not valid JSON",
        ),
        (json!([{"toolCalls": [{"id": "a", "name": "memory_recall"}]}, {"text": "ok"}]), "completed", "query is missing"),
        (json!([{"toolCalls": [secret]}, {"text": "ok"}]), "completed", "not kept"),
        (json!([cut, {"text": "shorter"}]), "completed", "truncated"),
        (json!([cut, cut]), "outputLimit", "truncated"),
        (json!([{}, {"text": "ok"}]), "completed", ""),
        (json!([{}, {}, {}]), "modelError", ""),
        (
            json!([{"toolCalls": [recall("a", "x")]}, {"toolCalls": [recall("b", "x")]}, {"toolCalls": [recall("c", "x")]},
            {"toolCalls": [recall("d", "x")]}]),
            "duplicateCall",
            "not run again",
        ),
    ];
    for (number, (replies, reason, said)) in table.iter().enumerate() {
        let daemon = scripted(replies);
        let mut rpc = daemon.rpc();
        let session = session(&mut rpc);
        let turn = ask(&mut rpc, &session, "find out which tea I like");
        assert_eq!(turn["terminationReason"], **reason, "row {number}: {turn}");
        let page: Value = rpc.ask("session/messages", json!({"sessionId": session}));
        let text = page["items"].to_string();
        assert!(text.contains(said), "row {number}: {text}");
        assert_eq!(
            text.matches("\"type\":\"toolCall\"").count(),
            text.matches("\"type\":\"toolResult\"").count(),
            "row {number}"
        );
        let kept: Value = rpc.ask("memory/list", json!({}));
        assert_eq!(kept["items"], json!([]), "row {number}: nothing was to be kept");
    }
}

// A19, SES-9: of two clients one runs, the other waits or is told; history never interleaves
#[test]
fn two_clients_prompt_one_session() {
    let daemon = scripted(&json!([
        {"when": "first", "chunks": ["half"], "hang": true},
        {"when": "second", "text": "two"},
        {"when": "third", "text": "three"},
    ]));
    let (mut one, mut two) = (daemon.rpc(), daemon.rpc());
    let session = session(&mut one);
    let first = start(&mut one, &session, "first");
    let second = start(&mut two, &session, "second");
    let busy = two.refused("turn/start", json!({"sessionId": session, "input": "no", "ifBusy": "reject"}));
    check::is_error(&busy, ErrorKind::SessionBusy);
    let third = start(&mut one, &session, "third");
    let state: Value = two.ask("turn/get", json!({"turnId": second}));
    assert_eq!(state["status"], "queued");
    wait_for("the first turn to run", Duration::from_secs(20), || (history(&mut one, &session) == ["user: first"]).then_some(()));
    one.ask::<Value>("turn/interrupt", json!({"turnId": first}));
    ended(&wait(&mut one, &third), "completed", "completed");
    let shape = history(&mut two, &session);
    let rest: Vec<&String> = shape.iter().filter(|m| !m.starts_with("assistant?")).collect();
    assert_eq!(rest, ["user: first", "user: second", "assistant: two", "user: third", "assistant: three"]);
}

// SES-9, A18: an interrupt ends within 2 s, keeps what was shown, and is no error; a waiting turn is taken out of its line
#[test]
fn a_turn_is_interrupted() {
    let daemon = scripted(&json!([{"chunks": ["half an answer"], "hang": true}, {"text": "after"}]));
    let mut rpc = daemon.rpc();
    let session = session(&mut rpc);
    rpc.ask::<Value>("session/attach", json!({"sessionId": session, "fromEvent": 0}));
    let turn = start(&mut rpc, &session, "go");
    let waiting = start(&mut rpc, &session, "never");
    rpc.notification("item/delta");
    let gone: Value = rpc.ask("turn/interrupt", json!({"turnId": waiting}));
    ended(&gone, "cancelled", "cancelled");
    let begun = Instant::now();
    let interrupted: Value = rpc.ask("turn/interrupt", json!({"turnId": turn}));
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    ended(&interrupted, "cancelled", "cancelled");
    assert_eq!(interrupted["error"], Value::Null);
    let error = rpc.refused("turn/interrupt", json!({"turnId": turn}));
    check::is_error(&error, ErrorKind::TurnNotActive);
    assert_eq!(history(&mut rpc, &session), ["user: go", "assistant?: half an answer"]);
    ended(&ask(&mut rpc, &session, "go on"), "completed", "completed");
}

// A18, SES-8: kill -9 in the middle; the turn shows its end, the session goes on, turns in line run, a key still counts
#[test]
fn a_crash_in_the_middle_of_a_turn() {
    let mut daemon = scripted(&json!([
        {"when": "first", "toolCalls": [recall("a", "x"), recall("b", "y")]},
        {"when": "first", "chunks": ["half"], "hang": true},
        {"when": "second", "text": "two"},
        {"when": "third", "text": "three"},
    ]));
    let mut rpc = daemon.rpc();
    let session = session(&mut rpc);
    rpc.ask::<Value>("session/attach", json!({"sessionId": session}));
    let params = json!({"sessionId": session, "input": "first", "key": "k1"});
    let first: Value = rpc.ask("turn/start", params.clone());
    let second = start(&mut rpc, &session, "second");
    rpc.notification("item/delta");
    daemon.kill9();
    daemon.start();
    let mut rpc = daemon.rpc();
    let first_id = first["turnId"].as_str().unwrap();
    ended(&wait(&mut rpc, first_id), "interrupted", "interrupted");
    assert_eq!(wait(&mut rpc, &second)["text"], "two");
    let again: Value = rpc.ask("turn/start", params);
    assert_eq!(again, first, "a prompt repeated after the crash begins nothing new");
    ended(&ask(&mut rpc, &session, "third"), "completed", "completed");
    let mut shape = history(&mut rpc, &session);
    // Two reads run side by side: their results stand in the order they came.
    shape[2..4].sort();
    assert_eq!(
        shape,
        [
            "user: first",
            "assistant: call a memory_recall | call b memory_recall",
            "tool: result a",
            "tool: result b",
            "user: second",
            "assistant: two",
            "user: third",
            "assistant: three",
        ]
    );
}

// SES-8: a daemon that is asked to stop ends its turns as interrupted
#[test]
fn a_stop_in_the_middle_of_a_turn() {
    let mut daemon = scripted(&json!([{"hang": true}]));
    let mut rpc = daemon.rpc();
    let session = session(&mut rpc);
    let turn = start(&mut rpc, &session, "go");
    wait_for("the turn to run", Duration::from_secs(20), || (!history(&mut rpc, &session).is_empty()).then_some(()));
    daemon.restart();
    ended(&wait(&mut daemon.rpc(), &turn), "interrupted", "interrupted");
}

// LOOP-2
#[test]
fn the_step_limit_asks_for_a_conclusion() {
    let daemon = scripted(&json!([
        {"toolCalls": [recall("a", "x")]}, {"toolCalls": [recall("b", "y")]}, {"text": "what I have"},
    ]));
    let mut rpc = daemon.rpc();
    let session = session(&mut rpc);
    let started: Value = rpc.ask("turn/start", json!({"sessionId": session, "input": "go", "budget": {"steps": 2}}));
    let turn = wait(&mut rpc, started["turnId"].as_str().unwrap());
    ended(&turn, "completed", "stepLimit");
    assert_eq!(turn["text"], "what I have");
}

// API-1: params that do not fit
#[test]
fn params_are_checked() {
    let daemon = TestDaemon::spawn();
    let mut rpc = daemon.rpc();
    let session = session(&mut rpc);
    for (method, params, path) in [
        ("turn/start", json!({"sessionId": session, "input": "  "}), "input"),
        ("turn/start", json!({"sessionId": session, "input": "x", "colour": 1}), "colour"),
        (
            "turn/start",
            json!({"sessionId": session, "input": [{"type": "toolResult", "callId": "a", "name": "f", "text": "", "isError": false}]}),
            "input",
        ),
        ("turn/start", json!({"sessionId": session, "input": "x", "budget": {"ms": 0}}), "budget.ms"),
        ("turn/start", json!({"sessionId": session, "input": "x", "budget": {"tokens": 0}}), "budget.tokens"),
        ("turn/start", json!({"sessionId": session, "input": "x", "budget": {"steps": 0}}), "budget.steps"),
        ("turn/wait", json!({"turnId": "x", "timeoutMs": 900_000}), "timeoutMs"),
        ("session/new", json!({"space": "a/b"}), "space"),
        ("session/new", json!({"cwd": "relative"}), "cwd"),
        ("session/list", json!({"limit": 0}), "limit"),
        ("session/list", json!({"cursor": "zzz"}), "cursor"),
    ] {
        check::refuses_path(&mut rpc, method, params, path);
    }
    for (method, params) in [
        ("session/get", json!({"sessionId": "00000000-0000-4000-8000-000000000000"})),
        ("session/get", json!({"sessionId": "x"})),
        ("turn/get", json!({"turnId": "00000000-0000-4000-8000-000000000000"})),
        ("turn/interrupt", json!({"turnId": "nonsense"})),
    ] {
        check::is_error(&rpc.refused(method, params), ErrorKind::NotFound);
    }
    let steer = rpc.refused("turn/rewind", json!({}));
    check::is_error(&steer, ErrorKind::MethodNotFound);
}

// MEM-11, SES-8: the rules of a space hold for sessions and for the agent's tools, as for whoever speaks in the session
#[test]
fn sessions_and_tools_obey_the_rules_of_spaces() {
    let daemon = scripted(&json!([
        {"toolCalls": [{"id": "a", "name": "memory_remember",
            "arguments": {"text": "The user prefers oolong tea.", "category": "preference"}}]},
        {"toolCalls": [recall("b", "where is the safe")]},
        {"text": "Done."},
    ]));
    let client = |name: &str| {
        let mut rpc = tiro_tests::Rpc::connect(&daemon.socket()).unwrap();
        let hello = json!({"protocol": {"min": 1, "max": 1}, "client": {"name": name, "version": "1"}, "capabilities": {}});
        rpc.call("initialize", hello).unwrap();
        rpc
    };
    let (mut insider, mut outsider) = (client("insider"), client("outsider"));
    let _: Value = insider.ask("memory/remember", json!({"text": "The safe is behind the painting", "explicit": true}));
    let ours: Value = insider.ask("session/new", json!({"space": "work"}));
    let only = json!([{"client": "insider"}]);
    let _: Value = insider.ask("space/update", json!({"space": "personal", "readers": only, "writers": only}));
    // A session that reads the space is not there for others, nor are its turns.
    check::is_error(&outsider.refused("session/messages", json!({"sessionId": ours["sessionId"]})), ErrorKind::NotFound);
    check::is_error(&outsider.refused("turn/start", json!({"sessionId": ours["sessionId"], "input": "x"})), ErrorKind::NotFound);
    let listed =
        |rpc: &mut tiro_tests::Rpc| rpc.ask::<Value>("session/list", json!({"space": "work"}))["items"].as_array().unwrap().len();
    assert_eq!((listed(&mut insider), listed(&mut outsider)), (1, 0), "nor does a list name it");
    let refused = outsider.refused("session/new", json!({"space": "work", "alsoRead": ["personal"]}));
    check::is_error(&refused, ErrorKind::PolicyDenied);
    // One of theirs reads its own space alone, and its tools neither write nor find what they may not.
    let theirs: Value = outsider.ask("session/new", json!({"space": "work"}));
    let session = theirs["sessionId"].as_str().unwrap();
    let turn = ask(&mut outsider, session, "where is the safe?");
    ended(&turn, "completed", "completed");
    let page: Value = outsider.ask("session/messages", json!({"sessionId": session}));
    let said = page["items"].to_string();
    assert!(said.contains("do not let this program write it") && !said.contains("painting"), "{said}");
    let kept: Value = insider.ask("memory/list", json!({}));
    assert_eq!(kept["items"].as_array().unwrap().len(), 1);
    let turn_id = json!({"turnId": turn["turnId"]});
    let _: Value = outsider.ask("turn/get", turn_id.clone());
    let _: Value = insider.ask("space/update", json!({"space": "work", "readers": only, "writers": only}));
    for method in ["turn/get", "turn/wait", "turn/interrupt"] {
        check::is_error(&outsider.refused(method, turn_id.clone()), ErrorKind::NotFound);
    }
    let steer = json!({"turnId": turn["turnId"], "input": "and the key?"});
    check::is_error(&outsider.refused("turn/steer", steer), ErrorKind::NotFound);
}
