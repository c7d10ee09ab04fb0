//! The wire, word for word: conversations held against snapshots. A change here is a change of the contract.
#![allow(clippy::unwrap_used)]

use serde_json::json;
use tiro_tests::{InsideDaemon, Rpc, Transcript};

// API-1, API-2
#[test]
fn handshake() {
    let daemon = InsideDaemon::start();
    let mut talk = Transcript::new(Rpc::connect(daemon.socket()).unwrap());
    talk.title("before initialize");
    talk.say("daemon/status", json!({}));
    talk.say("memory/list", json!({}));
    talk.say("no/such", json!({}));
    talk.title("no version in common, then one");
    talk.say("initialize", json!({"protocol": {"min": 2, "max": 3}, "client": {"name": "golden", "version": "1"}}));
    talk.say("initialize", json!({"protocol": {"min": 1, "max": 3}, "client": {"name": "golden", "version": "1"}}));
    talk.say("initialize", json!({"protocol": {"min": 1, "max": 1}, "client": {"name": "golden", "version": "1"}}));
    talk.title("after it");
    talk.say("no/such", json!({}));
    talk.say("memory/recall", json!({"query": "x", "asof": "2026-01-01T00:00:00Z"}));
    talk.say("memory/recall", json!({"limit": 1}));
    talk.title("the end");
    talk.say("daemon/shutdown", json!({}));
    insta::assert_snapshot!(talk.text());
}

// API-1, API-3
#[test]
fn lines_that_are_no_requests() {
    let daemon = InsideDaemon::start();
    let mut talk = Transcript::new(daemon.rpc());
    for line in [
        "nonsense",
        "[]",
        "7",
        "{}",
        r#"{"jsonrpc":"2.0","id":1}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"daemon/status"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"daemon/status","params":[]}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"daemon/status","params":{"a":1,"a":2}}"#,
        r#"[{"jsonrpc":"2.0","id":1,"method":"daemon/status"}]"#,
    ] {
        talk.raw(line.as_bytes());
    }
    talk.raw(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}");
    talk.raw("[".repeat(65).as_bytes());
    insta::assert_snapshot!(talk.text());
}

// API-1, MEM-2, MEM-10, MEM-12
#[test]
fn memories_kept_and_found() {
    let daemon = InsideDaemon::start();
    let mut talk = Transcript::new(daemon.rpc());
    talk.title("kept, told again, refused");
    let osmanthus =
        json!({"text": "我最喜欢的茶是桂花乌龙", "explicit": true, "category": "preference", "tags": ["tea"], "key": "k1"});
    let first = talk.say("memory/remember", osmanthus.clone());
    talk.say("memory/remember", osmanthus);
    talk.say("memory/remember", json!({"text": "another body", "explicit": true, "key": "k1"}));
    talk.say("memory/remember", json!({"text": "我最喜欢的茶是桂花乌龙", "explicit": true}));
    talk.say("memory/remember", json!({"text": "the deploy key is ghp_abcdefghijklmnopqrstuvwxyz0123456789", "explicit": true}));
    talk.say("memory/remember", json!({"text": " ", "explicit": true}));
    let many = json!({"items": [
        {"text": "REQ-2041 is about export of invoices", "explicit": true, "occurredAt": "2026-02-01T09:00:00+08:00"},
        {"text": "", "explicit": true},
    ]});
    talk.say("memory/rememberMany", many);
    talk.title("found");
    talk.say("memory/recall", json!({"query": "REQ-2041", "limit": 1}));
    talk.say("memory/recall", json!({"query": "tea", "space": "elsewhere"}));
    talk.say("memory/context", json!({"query": "桂花", "tokenBudget": 200}));
    talk.say("memory/get", json!({"id": first["id"]}));
    talk.say("memory/get", json!({"id": "00000000"}));
    talk.say("memory/get", json!({"id": "0"}));
    talk.say("memory/list", json!({"limit": 1}));
    talk.say("space/list", json!({}));
    insta::assert_snapshot!(talk.text());
}

// API-1, MEM-9, MEM-11
#[test]
fn memories_changed_and_forgotten() {
    let daemon = InsideDaemon::start();
    let mut talk = Transcript::new(daemon.rpc());
    let id = talk.say("memory/remember", json!({"text": "the meeting is on Friday", "explicit": true}))["id"].clone();
    talk.title("changed");
    talk.say("memory/update", json!({"id": id, "text": "the meeting is on Monday"}));
    talk.say("memory/update", json!({"id": id, "text": "the meeting is on Monday", "ifVersion": 9}));
    talk.say("memory/update", json!({"id": id, "text": "the meeting is on Monday", "ifVersion": 1}));
    talk.say("memory/pin", json!({"ids": [id]}));
    talk.say("memory/archive", json!({"ids": [id]}));
    talk.say("memory/restore", json!({"ids": [id]}));
    talk.say("memory/supersede", json!({"id": id, "memory": {"text": "the meeting is on Tuesday", "explicit": true}}));
    talk.title("forgotten and brought back");
    talk.say("memory/forget", json!({"ids": [id], "dryRun": true}));
    talk.say("memory/forget", json!({"ids": [id]}));
    talk.say("memory/get", json!({"id": id}));
    talk.say("memory/undo", json!({"id": id}));
    talk.say("memory/get", json!({"id": id}));
    talk.say("memory/export", json!({"limit": 1}));
    talk.say("memory/stats", json!({}));
    talk.say("memory/audit", json!({"id": id, "limit": 2}));
    talk.say("space/delete", json!({"space": "personal"}));
    insta::assert_snapshot!(talk.text());
}
// API-1, STORE-2
#[test]
fn the_store_looked_after() {
    let daemon = InsideDaemon::start();
    let mut talk = Transcript::new(daemon.rpc());
    talk.say("memory/remember", json!({"text": "one memory", "explicit": true}));
    talk.say("store/verify", json!({}));
    talk.say("store/backup", json!({"path": "not/absolute"}));
    talk.say("store/backup", json!({}));
    talk.say("store/rebuild", json!({}));
    talk.say("store/restore", json!({}));
    talk.say("memory/list", json!({}));
    insta::assert_snapshot!(talk.text());
}
// API-1, LOOP-6, SES-1
#[test]
fn a_session_without_a_model() {
    let daemon = InsideDaemon::start();
    let mut talk = Transcript::new(daemon.rpc());
    let session = talk.say("session/new", json!({"title": "golden"}))["sessionId"].clone();
    talk.say("session/get", json!({"sessionId": session}));
    talk.say("session/list", json!({}));
    talk.say("session/attach", json!({"sessionId": session}));
    talk.say("turn/start", json!({"sessionId": session, "input": "hello"}));
    talk.say("session/messages", json!({"sessionId": session}));
    talk.say("session/update", json!({"sessionId": session, "title": "renamed"}));
    talk.say("turn/get", json!({"turnId": "00000000-0000-0000-0000-000000000000"}));
    talk.say("session/delete", json!({"sessionId": session}));
    talk.say("session/get", json!({"sessionId": session}));
    insta::assert_snapshot!(talk.text());
}
