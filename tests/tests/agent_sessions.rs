//! Sessions and their events over the socket: made, listed, changed, removed; followed early, late and twice.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use tiro_schema::ErrorKind;
use tiro_tests::agent::{ask, ended, history, scripted, session, start, wait};
use tiro_tests::{Rpc, TestDaemon, check};

// SES-1, SES-2, SES-9
#[test]
fn sessions_are_made_listed_changed_and_removed() {
    let mut daemon = scripted(&json!([{"text": "hi", "repeat": true}]));
    let mut rpc = daemon.rpc();
    let params = json!({"space": "work", "title": "one", "cwd": "/tmp", "key": "k"});
    let one: Value = rpc.ask("session/new", params.clone());
    let again: Value = rpc.ask("session/new", params);
    assert_eq!(one, again, "a key makes one session");
    let one = one["sessionId"].as_str().unwrap().to_owned();
    assert!(uuid::Uuid::parse_str(&one).unwrap().get_version_num() == 4, "random, never a counter");
    let mut all = vec![one.clone()];
    for _ in 0..4 {
        let made: Value = rpc.ask("session/new", json!({"space": "work"}));
        all.push(made["sessionId"].as_str().unwrap().to_owned());
    }
    session(&mut rpc);

    let (mut listed, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let mut params = json!({"space": "work", "limit": 2});
        if !cursor.is_null() {
            params["cursor"] = cursor;
        }
        let page: Value = rpc.ask("session/list", params);
        listed.extend(page["items"].as_array().unwrap().iter().map(|s| s["sessionId"].as_str().unwrap().to_owned()));
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
        check::refuses_path(&mut rpc, "session/list", json!({"space": "personal", "cursor": cursor}), "cursor");
    }
    all.reverse();
    assert_eq!(listed, all, "newest first, of the space that was named and no other");

    let changed: Value = rpc.ask("session/update", json!({"sessionId": one[..8], "title": "two", "alsoRead": ["work", "home"]}));
    assert_eq!(
        (&changed["title"], &changed["alsoRead"], &changed["state"]),
        (&json!("two"), &json!(["work", "home"]), &json!("idle"))
    );
    ended(&ask(&mut rpc, &one, "hello"), "completed", "completed");
    daemon.restart();
    let mut rpc = daemon.rpc();
    let seen: Value = rpc.ask("session/get", json!({"sessionId": one}));
    assert_eq!((&seen["title"], &seen["messageCount"], &seen["turnCount"]), (&json!("two"), &json!(2), &json!(1)));
    let deleted: Value = rpc.ask("session/delete", json!({"sessionId": one, "key": "d"}));
    assert_eq!(deleted["messages"], 2);
    let again: Value = rpc.ask("session/delete", json!({"sessionId": one, "key": "d"}));
    assert_eq!(again, deleted);
    for method in ["session/get", "session/messages", "session/attach"] {
        check::is_error(&rpc.refused(method, json!({"sessionId": one})), ErrorKind::NotFound);
    }
}

/// Reads until a turn has ended; every event and delta of its session, as (method, params).
fn follow(rpc: &mut Rpc, turn: &str) -> Vec<(String, Value)> {
    let end = rpc.notification_where("turn/completed", |params| params["turn"]["turnId"] == *turn);
    let mut seen = rpc.take_notifications();
    seen.push(("turn/completed".to_owned(), end));
    seen
}

/// Numbers of the durable events, in the order they came.
fn numbers(seen: &[(String, Value)]) -> Vec<u64> {
    seen.iter().filter_map(|(_, params)| params["eventSeq"].as_u64()).collect()
}

/// The shape of a turn's events without its deltas.
fn shape(seen: &[(String, Value)]) -> Vec<String> {
    let durable = seen.iter().filter(|(method, _)| method != "item/delta");
    durable.map(|(method, params)| format!("{method} {}", params["kind"].as_str().unwrap_or("-"))).collect()
}

/// Puts the deltas of an item together by their offsets and checks that none is missing or comes twice.
fn text_of(seen: &[(String, Value)]) -> String {
    let mut text = String::new();
    for (_, params) in seen.iter().filter(|(method, _)| method == "item/delta") {
        assert_eq!(params["offset"].as_u64().unwrap() as usize, text.chars().count());
        text.push_str(params["text"].as_str().unwrap());
    }
    text
}

// LOOP-4, A21: live, replayed, and replayed from the middle: the same events, each once
#[test]
fn events_are_followed_live_and_replayed() {
    let daemon = scripted(&json!([
        {"toolCalls": [{"id": "a", "name": "memory_recall", "arguments": {"query": "tea"}}]},
        {"chunks": ["桂花", " is ", "nice"]},
    ]));
    let mut live = daemon.rpc();
    let session = session(&mut live);
    let attached: Value = live.ask("session/attach", json!({"sessionId": session}));
    assert_eq!(attached, json!({"eventSeq": 0}));
    let turn = start(&mut live, &session, "tea?");
    let seen = follow(&mut live, &turn);
    assert_eq!(
        shape(&seen),
        [
            "turn/started -",
            "item/started toolCall",
            "item/completed toolCall",
            "item/started toolResult",
            "item/completed toolResult",
            "item/started text",
            "item/completed text",
            "turn/completed -",
        ]
    );
    assert_eq!(numbers(&seen), (1..=8).collect::<Vec<u64>>());
    assert_eq!(text_of(&seen), "桂花 is nice");

    let mut late = daemon.rpc();
    late.ask::<Value>("session/attach", json!({"sessionId": session, "fromEvent": 0}));
    let replayed = follow(&mut late, &turn);
    let durable: Vec<_> = seen.iter().filter(|(method, _)| method != "item/delta").cloned().collect();
    assert_eq!(replayed, durable, "a replay is what was seen live, deltas collapsed");
    late.ask::<Value>("session/attach", json!({"sessionId": session, "fromEvent": 5}));
    assert_eq!(numbers(&follow(&mut late, &turn)), [6, 7, 8]);
    late.ask::<Value>("session/detach", json!({"sessionId": session}));
}

// A21: the client vanishes in the middle; the turn goes on, and a later attach sees all of it
#[test]
fn a_turn_outlives_its_client() {
    let daemon = scripted(
        &json!([{"chunks": ["all ", "of ", "it"], "toolCalls": [{"name": "memory_recall", "arguments": {"query": "x"}}]}, {"text": "done"}]),
    );
    let mut gone = daemon.rpc();
    let session = session(&mut gone);
    gone.ask::<Value>("session/attach", json!({"sessionId": session}));
    let turn = start(&mut gone, &session, "go");
    drop(gone);
    let mut later = daemon.rpc();
    ended(&wait(&mut later, &turn), "completed", "completed");
    later.ask::<Value>("session/attach", json!({"sessionId": session, "fromEvent": 0}));
    let seen = follow(&mut later, &turn);
    assert_eq!(numbers(&seen), (1..=seen.len() as u64).collect::<Vec<u64>>());
    assert_eq!(seen.last().unwrap().1["turn"]["text"], "done");
}

// A24, API-3: a client that stops reading is no burden and loses no durable event; the others do not notice
#[test]
fn a_client_that_stops_reading_harms_nobody() {
    let piece = "x".repeat(4_000);
    let chunks: Vec<&str> = vec![&piece; 120];
    let daemon = scripted(&json!([{"chunks": chunks}, {"chunks": chunks}, {"chunks": chunks}, {"chunks": chunks}]));
    let (mut quick, mut slow) = (daemon.rpc(), daemon.rpc());
    let session = session(&mut quick);
    for rpc in [&mut quick, &mut slow] {
        rpc.ask::<Value>("session/attach", json!({"sessionId": session}));
    }
    let before = check::resident_bytes(daemon.pid());
    let mut last = String::new();
    for n in 0..4 {
        last = start(&mut quick, &session, &format!("go {n}"));
        let seen = follow(&mut quick, &last);
        assert_eq!(text_of(&seen).len(), 480_000);
    }
    let grown = check::resident_bytes(daemon.pid()).saturating_sub(before);
    assert!(grown < 64 << 20, "{} MiB more for a client that does not read", grown >> 20);
    let seen = follow(&mut slow, &last);
    assert_eq!(numbers(&seen), (1..=16).collect::<Vec<u64>>(), "every durable event, once, in order");
    assert_eq!(history(&mut quick, &session).len(), 8);
}

// SES-1: no method shows what belongs to a space that was not named
#[test]
fn a_session_without_a_turn_is_empty() {
    let daemon = TestDaemon::spawn();
    let mut rpc = daemon.rpc();
    let session = session(&mut rpc);
    assert!(history(&mut rpc, &session).is_empty());
    let page: Value = rpc.ask("session/list", json!({"space": "nobody"}));
    assert_eq!(page, json!({"items": []}));
}
