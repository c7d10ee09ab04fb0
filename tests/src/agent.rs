//! What tests of the agent do often: a daemon with a scripted model, a session, a turn to its end, history in short.
//!
//! Must not know: one test's story.

use crate::client::Rpc;
use crate::daemon::{DaemonSetup, TestDaemon};
use serde_json::{Value, json};

/// A daemon whose model plays these replies.
pub fn scripted(replies: &Value) -> TestDaemon {
    let mut daemon = DaemonSetup::new().config("[model]\nprovider = \"scripted\"\nscript = \"script.json\"\n").prepare();
    std::fs::write(daemon.home().join("script.json"), json!({ "replies": replies }).to_string()).expect("the script");
    daemon.start();
    daemon
}

/// A new session; its id.
#[track_caller]
pub fn session(rpc: &mut Rpc) -> String {
    let made: Value = rpc.ask("session/new", json!({}));
    made["sessionId"].as_str().expect("a session has an id").to_owned()
}

/// Starts a turn; its id.
#[track_caller]
pub fn start(rpc: &mut Rpc, session: &str, input: &str) -> String {
    let started: Value = rpc.ask("turn/start", json!({"sessionId": session, "input": input}));
    started["turnId"].as_str().expect("a turn has an id").to_owned()
}

/// Waits for the end of a turn.
#[track_caller]
pub fn wait(rpc: &mut Rpc, turn: &str) -> Value {
    let turn: Value = rpc.ask("turn/wait", json!({"turnId": turn, "timeoutMs": 25_000}));
    assert!(turn["terminationReason"].is_string(), "the turn goes on: {turn}");
    turn
}

/// A whole turn.
#[track_caller]
pub fn ask(rpc: &mut Rpc, session: &str, input: &str) -> Value {
    let turn = start(rpc, session, input);
    wait(rpc, &turn)
}

/// Checks status and reason of a turn that has ended.
#[track_caller]
pub fn ended(turn: &Value, status: &str, reason: &str) {
    assert_eq!((&turn["status"], &turn["terminationReason"]), (&json!(status), &json!(reason)), "{turn}");
}

/// The messages of a session in short: `user: hello`, `assistant: call a memory_recall`, `tool: result a`; `?` marks partial ones.
#[track_caller]
pub fn history(rpc: &mut Rpc, session: &str) -> Vec<String> {
    let (mut told, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let mut params = json!({"sessionId": session, "limit": 500});
        if let Some(cursor) = &cursor {
            params["cursor"] = json!(cursor);
        }
        let page: Value = rpc.ask("session/messages", params);
        told.extend(page["items"].as_array().expect("items").iter().map(in_short));
        cursor = page["nextCursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            return told;
        }
    }
}

fn in_short(message: &Value) -> String {
    let block = |block: &Value| match block["type"].as_str() {
        Some("text") => block["text"].as_str().unwrap_or_default().to_owned(),
        Some("toolCall") => {
            format!("call {} {}", block["callId"].as_str().unwrap_or_default(), block["name"].as_str().unwrap_or_default())
        }
        Some("toolResult") => {
            let error = if block["isError"] == true { " error" } else { "" };
            format!("result {}{error}", block["callId"].as_str().unwrap_or_default())
        }
        other => other.unwrap_or("?").to_owned(),
    };
    let content: Vec<String> = message["content"].as_array().into_iter().flatten().map(block).collect();
    let partial = if message["partial"] == true { "?" } else { "" };
    format!("{}{partial}: {}", message["role"].as_str().unwrap_or_default(), content.join(" | "))
}

/// Checks that a request to a model pairs: every call is followed by exactly its results, and no result stands alone.
#[track_caller]
pub fn pairs(body: &Value) {
    let mut open: Vec<String> = Vec::new();
    for message in body["messages"].as_array().expect("messages") {
        match message["role"].as_str() {
            Some("tool") => {
                let id = message["tool_call_id"].as_str().expect("a result names its call");
                let at = open.iter().position(|call| call == id).unwrap_or_else(|| panic!("a result for no call {id}: {body}"));
                open.remove(at);
            }
            _ => {
                assert!(open.is_empty(), "calls {open:?} have no result: {body}");
                let calls = message["tool_calls"].as_array().into_iter().flatten();
                open.extend(calls.filter_map(|call| call["id"].as_str().map(str::to_owned)));
            }
        }
    }
    assert!(open.is_empty(), "calls {open:?} have no result: {body}");
}

/// A daemon whose model plays these replies and that has these scripted tools beside its own.
pub fn with_tools(replies: &Value, tools: &Value) -> TestDaemon {
    let config = "[model]\nprovider = \"scripted\"\nscript = \"script.json\"\n[agent]\ntoolScript = \"tools.json\"\n";
    let mut daemon = DaemonSetup::new().config(config).prepare();
    std::fs::write(daemon.home().join("script.json"), json!({ "replies": replies }).to_string()).expect("the script");
    std::fs::write(daemon.home().join("tools.json"), json!({ "tools": tools }).to_string()).expect("the tools");
    daemon.start();
    daemon
}

/// A scripted reply of one call.
pub fn call(id: &str, name: &str, arguments: Value) -> Value {
    json!({"toolCalls": [{"id": id, "name": name, "arguments": arguments}]})
}

/// What the results in a session say, oldest first.
#[track_caller]
pub fn results(rpc: &mut Rpc, session: &str) -> Vec<String> {
    let page: Value = rpc.ask("session/messages", json!({"sessionId": session, "limit": 500}));
    let blocks =
        page["items"].as_array().into_iter().flatten().flat_map(|message| message["content"].as_array().into_iter().flatten());
    let results = blocks.filter(|block| block["type"] == "toolResult");
    results.map(|block| block["text"].as_str().unwrap_or_default().to_owned()).collect()
}
