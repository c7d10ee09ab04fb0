//! The agent's side of the wire, word for word: a session, a turn with a tool, its events live and replayed, refusals.
#![allow(clippy::unwrap_used)]

use serde_json::json;
use tiro_tests::model_server::ModelServer;
use tiro_tests::{InsideDaemon, Transcript};

// API-1, LOOP-4, LOOP-7, SES-2
#[test]
fn a_session_and_its_turns() {
    let server = ModelServer::start();
    let url = server.base_url.clone();
    let daemon = InsideDaemon::start_with(|seams| {
        seams.env.insert("TIRO_MODEL_BASE_URL".to_owned(), url.into());
        seams.env.insert("TIRO_MODEL_NAME".to_owned(), "golden".into());
    });
    let mut talk = Transcript::new(daemon.rpc());
    talk.title("a session");
    let made = talk.say("session/new", json!({"title": "tea", "cwd": "/tmp"}));
    let session = made["sessionId"].as_str().unwrap().to_owned();
    talk.say("session/attach", json!({"sessionId": session}));
    talk.title("a turn with a tool");
    server.reply_calls(&[("call_1", "memory_recall", json!({"query": "tea"}))]);
    server.reply("You like oolong.");
    // The answer may come before or after the first events, so it is not written down.
    let id = talk.rpc().send("turn/start", json!({"sessionId": session, "input": "Which tea do I like?"})).unwrap();
    let started = talk.rpc().answer(id).unwrap();
    for method in [
        "turn/started",
        "item/started",
        "item/completed",
        "item/started",
        "item/completed",
        "item/started",
        "item/delta",
        "item/completed",
        "turn/completed",
    ] {
        talk.hear(method);
    }
    let turn = json!({"turnId": started["turnId"]});
    talk.say("turn/wait", turn.clone());
    talk.title("what is kept of it");
    talk.say("session/messages", json!({"sessionId": session}));
    talk.say("session/get", json!({"sessionId": session}));
    talk.say("session/list", json!({}));
    talk.title("the end of it again");
    talk.say("session/attach", json!({"sessionId": session, "fromEvent": 7}));
    talk.hear("turn/completed");
    talk.say("session/detach", json!({"sessionId": session}));
    talk.title("long pasted text, whole");
    server.reply("Row 77.");
    let pasted: String = (0..900).map(|n| format!("row {n} is {}\n", if n == 77 { "green" } else { "grey" })).collect();
    let id = talk.rpc().send("turn/start", json!({"sessionId": session, "input": format!("Which is green?\n{pasted}")})).unwrap();
    let started = talk.rpc().answer(id).unwrap();
    let _ = talk.rpc().call("turn/wait", json!({"turnId": started["turnId"]})).unwrap();
    let reference = format!("{session}:r1");
    talk.say("result/get", json!({"ref": reference, "range": {"from": 16, "to": 46}}));
    talk.say("result/search", json!({"ref": reference, "query": "green", "limit": 1}));
    talk.say("result/get", json!({"ref": reference, "path": "/a"}));
    talk.say("result/get", json!({"ref": format!("{session}:r2")}));
    talk.title("a question that nobody is there to answer, and its answer");
    server.reply_calls(&[("call_9", "ask_user", json!({"question": "Which tea?", "options": ["green", "black"]}))]);
    let id = talk.rpc().send("turn/start", json!({"sessionId": session, "input": "Order tea."})).unwrap();
    let started = talk.rpc().answer(id).unwrap();
    let _ = talk.rpc().call("turn/wait", json!({"turnId": started["turnId"]})).unwrap();
    let asked = talk.say("question/list", json!({"sessionId": session}));
    server.reply("Green tea is ordered.");
    let answer = json!({"questionId": asked["items"][0]["questionId"], "answer": "green"});
    let went_on = talk.say("question/respond", answer.clone());
    let _ = talk.rpc().call("turn/wait", json!({"turnId": went_on["turnId"]})).unwrap();
    talk.say("question/respond", answer);
    talk.say("question/list", json!({}));
    talk.title("refusals");
    talk.say("turn/steer", json!({"turnId": started["turnId"], "input": "too late"}));
    talk.say("turn/interrupt", turn);
    talk.say("turn/start", json!({"sessionId": session, "input": ""}));
    talk.say("turn/start", json!({"sessionId": session, "input": "x", "ifBusy": "later"}));
    talk.say("session/get", json!({"sessionId": "00000000-0000-4000-8000-000000000000"}));
    talk.say("session/delete", json!({"sessionId": session}));
    insta::assert_snapshot!(talk.text());
}
