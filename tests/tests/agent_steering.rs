//! What a person does while a turn runs: says more, answers what it asks, ends it; and what becomes of that when nobody is there.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tiro_schema::ErrorKind;
use tiro_tests::agent::{ask, call, ended, history, results, scripted, session, start, wait, with_tools};
use tiro_tests::client::Rpc;
use tiro_tests::{TestDaemon, check, wait_for};

/// A client that can put questions to a person.
fn person(daemon: &TestDaemon) -> Rpc {
    let mut rpc = Rpc::connect(&daemon.socket()).unwrap();
    let hello = json!({"protocol": {"min": 1, "max": 1}, "client": {"name": "person"}, "capabilities": {"questions": true}});
    rpc.call("initialize", hello).unwrap();
    rpc
}

fn question(rpc: &mut Rpc) -> Value {
    rpc.notification("question/pending")["question"].clone()
}

fn ask_user(id: &str) -> Value {
    call(id, "ask_user", json!({"question": "Which order?", "options": ["OD1", "OD2"]}))
}

// SES-9: what is said to a running turn is read before its next call; the same by turn/start, and by a repeated key once
#[test]
fn a_turn_is_steered_while_it_runs() {
    let daemon = with_tools(
        &json!([call("a", "slow", json!({})), {"when": "and Lyon too", "text": "both looked up"}]),
        &json!([{"name": "slow", "results": [{"text": "Paris: 21", "delayMs": 1500}]}]),
    );
    let (mut rpc, mut other) = (daemon.rpc(), daemon.rpc());
    let session = session(&mut rpc);
    let turn = start(&mut rpc, &session, "look up Paris");
    wait_for("the call to run", Duration::from_secs(20), || (history(&mut rpc, &session).len() > 1).then_some(()));
    let steer = json!({"turnId": turn, "input": "in Celsius", "key": "s1"});
    let said: Value = other.ask("turn/steer", steer.clone());
    assert_eq!(said["turnId"], json!(turn));
    let again: Value = other.ask("turn/steer", steer);
    assert_eq!(again, said);
    let said: Value = other.ask("turn/start", json!({"sessionId": session, "input": "and Lyon too", "ifBusy": "steer"}));
    assert_eq!(said["turnId"], json!(turn), "the running turn's");
    ended(&wait(&mut rpc, &turn), "completed", "completed");
    assert_eq!(
        history(&mut rpc, &session),
        [
            "user: look up Paris",
            "assistant: call a slow",
            "tool: result a",
            "user: in Celsius",
            "user: and Lyon too",
            "assistant: both looked up"
        ]
    );
    let over = rpc.refused("turn/steer", json!({"turnId": turn, "input": "too late"}));
    check::is_error(&over, ErrorKind::TurnNotActive);
}

// SES-9: something said in the moment in which the model finishes is answered too
#[test]
fn what_is_said_while_the_last_answer_comes_is_answered_too() {
    let server = tiro_tests::model_server::ModelServer::start();
    let daemon = tiro_tests::DaemonSetup::new().config(&server.config()).spawn();
    let mut rpc = daemon.rpc();
    let session = session(&mut rpc);
    let live = server.live();
    let turn = start(&mut rpc, &session, "hello");
    server.asked();
    live.say("Hi");
    rpc.ask::<Value>("turn/steer", json!({"turnId": turn, "input": "in French please"}));
    server.reply("Bonjour");
    live.finish();
    let ended_turn = wait(&mut rpc, &turn);
    ended(&ended_turn, "completed", "completed");
    assert_eq!(ended_turn["text"], "Bonjour");
    let body = server.asked().body;
    let said: Vec<&str> =
        body["messages"].as_array().unwrap().iter().rev().take(2).map(|m| m["content"].as_str().unwrap()).collect();
    assert_eq!(said, ["in French please", "Hi"]);
}

// SES-8, SES-9: what was acknowledged is not lost when the turn is killed before it read it
#[test]
fn what_was_said_to_a_turn_that_crashed_goes_on_in_another() {
    let mut daemon = with_tools(
        &json!([{"when": "first", "toolCalls": [{"id": "a", "name": "slow", "arguments": {}}]}, {"when": "and this", "text": "done after all"}]),
        &json!([{"name": "slow", "timeoutMs": 60000, "results": [{"hang": true}]}]),
    );
    let mut rpc = daemon.rpc();
    let session = session(&mut rpc);
    let turn = start(&mut rpc, &session, "first");
    wait_for("the call to run", Duration::from_secs(20), || (history(&mut rpc, &session).len() > 1).then_some(()));
    rpc.ask::<Value>("turn/steer", json!({"turnId": turn, "input": "and this"}));
    daemon.kill9();
    daemon.start();
    let mut rpc = daemon.rpc();
    ended(&wait(&mut rpc, &turn), "interrupted", "interrupted");
    wait_for("the rest to be answered", Duration::from_secs(20), || {
        (history(&mut rpc, &session).last().unwrap() == "assistant: done after all").then_some(())
    });
    daemon.kill9();
    daemon.start();
    assert_eq!(history(&mut daemon.rpc(), &session).iter().filter(|m| *m == "user: and this").count(), 1, "once");
}

// SES-9: ending a turn ends it within 2 s, also while it waits for an answer; the question is taken back
#[test]
fn an_interrupt_takes_the_question_back() {
    let daemon = scripted(&json!([ask_user("a"), {"text": "go on"}]));
    let (mut rpc, mut someone) = (daemon.rpc(), person(&daemon));
    let session = session(&mut rpc);
    let turn = start(&mut rpc, &session, "cancel an order");
    let asked = question(&mut someone);
    let begun = Instant::now();
    let turn: Value = rpc.ask("turn/interrupt", json!({"turnId": turn}));
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    ended(&turn, "cancelled", "cancelled");
    let late = someone.refused("question/respond", json!({"questionId": asked["questionId"], "answer": "OD1"}));
    check::is_error(&late, ErrorKind::QuestionGone);
    let all: Value = rpc.ask("question/list", json!({"sessionId": session}));
    assert_eq!(all["items"][0]["state"], "withdrawn");
    ended(&ask(&mut rpc, &session, "next"), "completed", "completed");
}

// DESIGN 12, TOOL-9: of two that can answer the first one counts, the other is told, and the turn goes on with it
#[test]
fn a_question_is_answered_once_by_any_client_that_can() {
    let daemon = scripted(&json!([ask_user("a"), {"text": "OD2 it is"}]));
    let mut rpc = daemon.rpc();
    let session = session(&mut rpc);
    rpc.ask::<Value>("session/attach", json!({"sessionId": session}));
    let (mut one, mut two) = (person(&daemon), person(&daemon));
    let turn = start(&mut rpc, &session, "cancel my order");
    let asked = question(&mut one);
    assert_eq!(
        (&asked["prompt"], &asked["options"], &asked["callId"]),
        (&json!("Which order?"), &json!(["OD1", "OD2"]), &json!("a"))
    );
    assert_eq!(question(&mut two), asked);
    assert_eq!(question(&mut rpc), asked, "who follows the session sees it in the session's events");
    let answer = json!({"questionId": asked["questionId"], "answer": "OD2", "key": "k"});
    let went_on: Value = one.ask("question/respond", answer.clone());
    assert_eq!(went_on["turnId"], json!(turn));
    let late = two.refused("question/respond", json!({"questionId": asked["questionId"], "answer": "OD1"}));
    check::is_error(&late, ErrorKind::QuestionGone);
    let again: Value = one.ask("question/respond", answer);
    assert_eq!(again, went_on, "a repeated key is no second answer");
    ended(&wait(&mut rpc, &turn), "completed", "completed");
    assert_eq!(results(&mut rpc, &session), ["OD2"]);
    assert_eq!(rpc.notification("question/resolved")["question"]["answer"], "OD2");
}

// LOOP-7, TOOL-9: nobody is there: the turn ends and says what it needs; the answer begins the next one
#[test]
fn a_question_that_nobody_can_answer_ends_the_turn_and_stays() {
    let daemon = scripted(&json!([ask_user("a"), {"when": "OD1", "text": "OD1 is cancelled"}]));
    let mut rpc = daemon.rpc();
    let session = session(&mut rpc);
    let turn = ask(&mut rpc, &session, "cancel my order");
    ended(&turn, "completed", "needsInput");
    assert_eq!(turn["text"], "Which order?");
    let list: Value = rpc.ask("question/list", json!({}));
    let id = list["items"][0]["questionId"].clone();
    check::refuses_path(&mut rpc, "question/respond", json!({"questionId": id, "answer": " "}), "answer");
    let went_on: Value = rpc.ask("question/respond", json!({"questionId": id, "answer": "OD1"}));
    let next = wait(&mut rpc, went_on["turnId"].as_str().unwrap());
    assert_eq!((&next["text"], next["turnId"] == turn["turnId"]), (&json!("OD1 is cancelled"), false));
    let list: Value = rpc.ask("question/list", json!({}));
    assert_eq!(list["items"], json!([]));
}

// A22: a question was open, its client went, the daemon was killed; it is offered to the next client, and a late answer is told so
#[test]
fn a_question_outlives_its_client_and_the_daemon() {
    let mut daemon = scripted(
        &json!([{"when": "cancel", "toolCalls": [{"id": "a", "name": "ask_user", "arguments": {"question": "Really?"}}]},
        {"when": "yes", "text": "cancelled"}]),
    );
    let mut rpc = daemon.rpc();
    let session = session(&mut rpc);
    let mut someone = person(&daemon);
    let turn = start(&mut rpc, &session, "cancel my order");
    let asked = question(&mut someone);
    drop(someone);
    daemon.kill9();
    daemon.start();
    let mut rpc = daemon.rpc();
    ended(&wait(&mut rpc, &turn), "interrupted", "interrupted");
    let mut next = person(&daemon);
    let again = question(&mut next);
    assert_eq!(again["questionId"], asked["questionId"]);
    let went_on: Value = next.ask("question/respond", json!({"questionId": asked["questionId"], "answer": "yes"}));
    assert_eq!(wait(&mut rpc, went_on["turnId"].as_str().unwrap())["text"], "cancelled");
    let late = next.refused("question/respond", json!({"questionId": asked["questionId"], "answer": "no"}));
    check::is_error(&late, ErrorKind::QuestionGone);
    let mut last = person(&daemon);
    assert_eq!(last.ask::<Value>("question/list", json!({}))["items"], json!([]));
    assert!(last.take_notifications().is_empty(), "what is settled is not offered again");
}

// TOOL-9, LOOP-7
#[test]
fn giving_up_ends_the_turn_with_the_reason_in_words() {
    let daemon = scripted(&json!([call("a", "give_up", json!({"reason": "No tool reaches the bank."}))]));
    let mut rpc = daemon.rpc();
    let session = session(&mut rpc);
    let turn = ask(&mut rpc, &session, "pay the bill");
    ended(&turn, "completed", "gaveUp");
    assert_eq!(turn["text"], "No tool reaches the bank.");
}

// MEM-1: notes of a task outlive a turn that was cut short and a restart, and are gone when the task is done
#[test]
fn the_scratchpad_is_gone_with_the_task() {
    let set = |id: &str, name: &str, value: &str| json!({"id": id, "name": "scratchpad_set", "arguments": {"name": name, "value": value}});
    let mut daemon = scripted(&json!([
        {"when": "one", "toolCalls": [set("a", "plan", "first a, then b"), set("b", "key", "AKIAIOSFODNN7EXAMPLE")]},
        {"when": "one", "hang": true},
        {"when": "two", "toolCalls": [{"id": "c", "name": "scratchpad_get", "arguments": {}}]},
        {"when": "two", "text": "done"},
        {"when": "three", "toolCalls": [{"id": "d", "name": "scratchpad_get", "arguments": {"name": "plan"}}]},
        {"when": "three", "text": "done"},
    ]));
    let mut rpc = daemon.rpc();
    let session = session(&mut rpc);
    let turn = start(&mut rpc, &session, "one");
    wait_for("both notes", Duration::from_secs(20), || (results(&mut rpc, &session).len() == 2).then_some(()));
    daemon.kill9();
    daemon.start();
    let mut rpc = daemon.rpc();
    wait(&mut rpc, &turn);
    ask(&mut rpc, &session, "two");
    ask(&mut rpc, &session, "three");
    let told = results(&mut rpc, &session);
    assert!(told[0].starts_with("Noted.") && told[1].contains("holds a secret"), "{told:?}");
    assert_eq!(told[2..], ["plan: first a, then b", "There are no notes."]);
}
