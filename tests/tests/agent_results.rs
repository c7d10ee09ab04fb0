//! Long results of tools and long pasted input: what the model reads, what is kept, and how the whole is read again.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use tiro_schema::ErrorKind;
use tiro_tests::agent::{ask, call, ended, results, session, with_tools};
use tiro_tests::check;
use tiro_tests::client::Rpc;

/// Every part of a result, put together.
fn whole(rpc: &mut Rpc, reference: &str) -> String {
    let (mut text, mut from) = (String::new(), 0);
    loop {
        let part: Value = rpc.ask("result/get", json!({"ref": reference, "range": {"from": from}}));
        assert_eq!(part["from"], from);
        text.push_str(part["text"].as_str().unwrap());
        match part["nextFrom"].as_u64() {
            Some(next) => from = next,
            None => return text,
        }
    }
}

/// The reference in the message with the result of a call.
fn reference(rpc: &mut Rpc, session: &str, call_id: &str) -> String {
    let page: Value = rpc.ask("session/messages", json!({"sessionId": session, "limit": 500}));
    let blocks: Vec<&Value> = page["items"].as_array().unwrap().iter().flat_map(|m| m["content"].as_array().unwrap()).collect();
    let block = blocks.iter().find(|block| block["callId"] == call_id && block["type"] == "toolResult").unwrap();
    block["ref"].as_str().unwrap_or_else(|| panic!("no ref: {block}")).to_owned()
}

// A13, RES-1: a tool returned 12 million characters, and all of it went into the context
#[test]
fn twelve_million_characters_are_a_brief_and_a_reference() {
    let line = "row {n}: 记 the quick brown fox stands on line and looks about\n";
    let times = 12_000_000 / (line.chars().count() - 2) + 1;
    let daemon = with_tools(
        &json!([call("a", "dump", json!({})), call("b", "result_read", json!({"ref": "r1", "from": 11_999_000})), {"text": "long"}]),
        &json!([{"name": "dump", "timeoutMs": 60000, "results": [{"text": line, "times": times}]}]),
    );
    let mut rpc = daemon.rpc();
    let session = session(&mut rpc);
    let turn = ask(&mut rpc, &session, "dump it");
    ended(&turn, "completed", "completed");
    let read = results(&mut rpc, &session);
    assert!(read[0].len() < 2_000 && read[0].starts_with("[r1: ") && read[0].contains("row 0: 记"), "{}", read[0]);
    assert!(read[1].contains("looks about") && read[1].len() < 30_000, "the model's own tool reads it: {}", read[1].len());
    let reference = reference(&mut rpc, &session, "a");
    assert_eq!(reference, format!("{session}:r1"));
    let text = whole(&mut rpc, &reference);
    assert_eq!(text, line.replace("{n}", "0").repeat(times));
    let middle: Value = rpc.ask("result/get", json!({"ref": reference, "range": {"from": 6_000_000, "to": 6_000_010}}));
    assert_eq!(middle["text"].as_str().unwrap(), text.chars().skip(6_000_000).take(10).collect::<String>());
    let error = rpc.refused("result/get", json!({"ref": format!("{session}:r9")}));
    check::is_error(&error, ErrorKind::NotFound);
    check::refuses_path(&mut rpc, "result/get", json!({"ref": reference, "range": {"from": 99_000_000}}), "range");
    rpc.ask::<Value>("session/delete", json!({"sessionId": session}));
    check::is_error(&rpc.refused("result/get", json!({"ref": reference})), ErrorKind::NotFound);
}

fn orders() -> Value {
    let order =
        |n: usize| json!({"id": format!("OD{n:04}"), "total": 10 * n, "note": format!("as agreed with customer number {n}")});
    json!({"status": "partial", "orders": (0..60).map(order).collect::<Vec<_>>()})
}

// RES-1, TOOL-1: between 500 and 2,000 tokens about a fifth stands, with the members that the tool declares to be key
#[test]
fn a_middling_result_stands_in_short_with_its_key_members() {
    let daemon = with_tools(
        &json!([call("a", "orders", json!({})), call("b", "result_read", json!({"ref": "r1", "path": "/orders/57/note"})),
            call("c", "result_read", json!({"ref": "r1", "query": "customer number 41"})),
            call("d", "result_read", json!({"ref": "r7"})), call("e", "result_read", json!({"ref": "r1", "path": "/orders/57/colour"})),
            {"text": "done"}]),
        &json!([{"name": "orders", "keyFields": ["status", "id"], "results": [{"json": orders()}]}]),
    );
    let mut rpc = daemon.rpc();
    let session = session(&mut rpc);
    let params = json!({"sessionId": session, "input": "orders?", "taskKind": "multiHop"});
    let started: Value = rpc.ask("turn/start", params);
    ended(&tiro_tests::agent::wait(&mut rpc, started["turnId"].as_str().unwrap()), "completed", "completed");
    let read = results(&mut rpc, &session);
    let short = &read[0];
    assert!(short.contains("partial") && short.contains("OD0000") && short.len() < orders().to_string().len() / 3, "{short}");
    assert_eq!(read[1], "as agreed with customer number 57");
    assert!(read[2].contains("customer number 41"), "{}", read[2]);
    assert!(read[3].contains("There is no result r7") && read[3].contains("r1"), "{}", read[3]);
    assert!(read[4].contains("\"/orders/57\" has id, total, note"), "{}", read[4]);
    let reference = reference(&mut rpc, &session, "a");
    let got: Value = rpc.ask("result/get", json!({"ref": reference, "path": "/orders/3/total"}));
    assert_eq!((&got["text"], &got["format"], &got["tool"]), (&json!("30"), &json!("json"), &json!("orders")));
    assert_eq!(serde_json::from_str::<Value>(&whole(&mut rpc, &reference)).unwrap(), orders());
}

// RES-2: every result of a session is found by words and by time, short ones too, and no other session's
#[test]
fn results_are_found_by_words_and_by_time() {
    let shelf = |n: usize| format!("Shelf {n} holds books about {}.\n", ["bees", "ships", "glass", "clocks"][n % 4]);
    let long: String = (0..400).map(shelf).collect();
    let daemon = with_tools(
        &json!([call("a", "shelves", json!({})), call("b", "hours", json!({})), {"text": "done"}]),
        &json!([{"name": "shelves", "results": [{"text": long}]}, {"name": "hours", "results": [{"text": "图书馆周日闭馆 (closed on Sundays)"}]}]),
    );
    let mut rpc = daemon.rpc();
    let session = session(&mut rpc);
    ended(&ask(&mut rpc, &session, "look"), "completed", "completed");
    let found: Value = rpc.ask("result/search", json!({"sessionId": session, "query": "周日闭馆"}));
    assert_eq!((&found["items"][0]["tool"], &found["items"][0]["ref"]), (&json!("hours"), &Value::Null), "{found}");
    let found: Value = rpc.ask("result/search", json!({"sessionId": session, "query": "Shelf 399 clocks", "limit": 2}));
    let first = &found["items"][0];
    assert!(first["text"].as_str().unwrap().contains("Shelf 399 holds") && first["ref"].is_string(), "{found}");
    let from = first["from"].as_u64().unwrap();
    let again: Value = rpc.ask("result/get", json!({"ref": first["ref"], "range": {"from": from, "to": from + 8}}));
    assert_eq!(again["text"].as_str().unwrap(), first["text"].as_str().unwrap().chars().take(8).collect::<String>());
    let newest: Value = rpc.ask("result/search", json!({"sessionId": session}));
    assert_eq!(newest["items"][0]["tool"], "hours", "{newest}");
    let none: Value = rpc.ask("result/search", json!({"sessionId": session, "before": "2001-01-01T00:00:00Z"}));
    assert_eq!(none["items"], json!([]));
    let other = tiro_tests::agent::session(&mut rpc);
    let none: Value = rpc.ask("result/search", json!({"sessionId": other, "query": "Shelf"}));
    assert_eq!(none["items"], json!([]));
}

// RES-1: a log of 200 KB that a person pastes leaves room to answer, and is there whole
#[test]
fn large_pasted_input_is_set_aside() {
    let log: String = (0..6_000).map(|n| format!("test case_{n:05} ... ok\n")).collect();
    let pasted = format!("Which test fails here?\n{log}test case_99999 ... FAILED\n{log}\nOne word is enough.");
    let daemon = with_tools(
        &json!([call("a", "result_read", json!({"ref": "r1", "query": "FAILED"})), {"text": "case_99999"}]),
        &json!([]),
    );
    let mut rpc = daemon.rpc();
    let session = session(&mut rpc);
    let turn = ask(&mut rpc, &session, &pasted[..pasted.len().min(250_000)]);
    ended(&turn, "completed", "completed");
    let page: Value = rpc.ask("session/messages", json!({"sessionId": session}));
    let said = &page["items"][0]["content"][0];
    assert_eq!((&said["type"], &said["ref"]), (&json!("stored"), &json!(format!("{session}:r1"))), "{said}");
    let read = said["text"].as_str().unwrap();
    assert!(read.starts_with("Which test fails here?") && read.contains("FAILED") && read.len() < 8_000, "{}", read.len());
    assert_eq!(whole(&mut rpc, said["ref"].as_str().unwrap()), pasted[..pasted.len().min(250_000)]);
    assert!(results(&mut rpc, &session)[0].contains("case_99999 ... FAILED"));
}
