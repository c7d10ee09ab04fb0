//! Conflicts: opened by a contradiction, labelled on both sides, settled in one call, opened again by undo.

use crate::{got, kept};
use serde_json::{Value, json};
use tiro_schema::ErrorKind;
use tiro_tests::{InsideDaemon, Rpc, check};

/// Two texts that contradict, told one after the other: their ids, and that of their conflict.
#[track_caller]
fn contradiction(rpc: &mut Rpc, first: &str, second: &str) -> (String, String, String) {
    let told = |rpc: &mut Rpc, text: &str| -> Value { rpc.ask("memory/remember", json!({"text": text, "explicit": true})) };
    let (one, two) = (told(rpc, first), told(rpc, second));
    assert_eq!(two["outcome"], "conflict", "{two}");
    let text = |value: &Value| value["id"].as_str().unwrap().to_owned();
    let open: Value = rpc.ask("memory/conflicts", json!({"id": two["id"]}));
    (text(&one), text(&two), text(&open["items"][0]))
}

const ALLOWED: &str = "Deploys on Friday are allowed";
const NOT_ALLOWED: &str = "Deploys on Friday are not allowed";

// MEM-8, M6
#[test]
fn both_sides_are_current_labelled_and_listed_with_their_sources() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let (first, second, conflict) = contradiction(&mut rpc, ALLOWED, NOT_ALLOWED);
    let found: Value = rpc.ask("memory/recall", json!({"query": "deploys on Friday", "threshold": 0}));
    let labels: Vec<&Value> = found["hits"].as_array().unwrap().iter().map(|hit| &hit["conflict"]).collect();
    assert_eq!(labels, [&json!(true), &json!(true)]);
    let open: Value = rpc.ask("memory/conflicts", json!({}));
    let item = &open["items"][0];
    assert_eq!((item["reason"].as_str(), item["space"].as_str()), (Some("denied"), Some("personal")));
    assert_eq!((item["first"]["text"].as_str(), item["second"]["text"].as_str()), (Some(ALLOWED), Some(NOT_ALLOWED)));
    assert_eq!(got(&mut rpc, &first)["conflicts"], json!([conflict]));
    // It closes by itself while one side is away, and no other space shows it.
    let elsewhere: Value = rpc.ask("memory/conflicts", json!({"space": "work"}));
    assert_eq!(elsewhere["items"], json!([]));
    let _: Value = rpc.ask("memory/forget", json!({"ids": [second]}));
    assert_eq!(rpc.ask::<Value>("memory/conflicts", json!({}))["items"], json!([]));
    assert_eq!(got(&mut rpc, &first)["conflicts"], json!([]));
    let _: Value = rpc.ask("memory/undo", json!({"id": second}));
    assert_eq!(rpc.ask::<Value>("memory/conflicts", json!({}))["items"][0]["id"], json!(conflict));
}

// MEM-8
#[test]
fn a_conflict_is_settled_each_way_and_opened_again() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let (first, second, conflict) = contradiction(&mut rpc, ALLOWED, NOT_ALLOWED);
    let merged = "Deploys on Friday are allowed before noon";
    for (keep, active, gone) in [
        ("first", &first, Some(&second)),
        ("second", &second, Some(&first)),
        ("both", &first, None),
        ("merge", &first, Some(&second)),
    ] {
        let mut params = json!({"id": &conflict[..8], "keep": keep});
        if keep == "merge" {
            params["text"] = json!(merged);
        }
        let settled: Value = rpc.ask("memory/resolve", params);
        assert_eq!(settled["id"], json!(active), "{keep}");
        assert_eq!(rpc.ask::<Value>("memory/conflicts", json!({}))["items"], json!([]));
        assert_eq!(got(&mut rpc, active)["status"], "active");
        if let Some(gone) = gone {
            let memory = got(&mut rpc, gone);
            assert_eq!((memory["status"].as_str(), memory["supersededBy"].as_str()), (Some("superseded"), Some(active.as_str())));
        }
        let history: Value = rpc.ask("memory/history", json!({"id": second}));
        let state = match keep {
            "merge" => "merged".to_owned(),
            keep => format!("kept{}{}", keep[..1].to_uppercase(), &keep[1..]),
        };
        assert_eq!(history["conflicts"][0]["state"], json!(state));
        let again = rpc.refused("memory/resolve", json!({"id": conflict, "keep": "first"}));
        check::is_error(&again, ErrorKind::InvalidParams);
        // By the conflict, or by the memory that gave way.
        let named = if keep == "second" { &first } else { &conflict };
        let _: Value = rpc.ask("memory/undo", json!({"id": named}));
        assert_eq!(rpc.ask::<Value>("memory/conflicts", json!({}))["items"][0]["id"], json!(conflict), "{keep}");
        for (side, text) in [(&first, ALLOWED), (&second, NOT_ALLOWED)] {
            let memory = got(&mut rpc, side);
            assert_eq!((memory["status"].as_str(), memory["text"].as_str()), (Some("active"), Some(text)), "{keep}");
        }
    }
}

// MEM-8, API-1
#[test]
fn what_does_not_fit_is_refused_and_a_key_settles_once() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let (first, _, conflict) = contradiction(&mut rpc, "周五可以部署", "周五不可以部署");
    check::refuses_path(&mut rpc, "memory/resolve", json!({"id": conflict, "keep": "merge"}), "text");
    check::refuses_path(&mut rpc, "memory/resolve", json!({"id": conflict, "keep": "first", "text": "x"}), "text");
    check::refuses_path(&mut rpc, "memory/resolve", json!({"id": conflict, "keep": "none"}), "keep");
    check::refuses_path(&mut rpc, "memory/resolve", json!({"id": "abc", "keep": "first"}), "id");
    check::is_error(&rpc.refused("memory/resolve", json!({"id": first, "keep": "first"})), ErrorKind::NotFound);
    check::is_error(&rpc.refused("memory/undo", json!({"id": conflict})), ErrorKind::InvalidParams);
    let params = json!({"id": conflict, "keep": "first", "key": "k"});
    let once: Value = rpc.ask("memory/resolve", params.clone());
    assert_eq!(rpc.ask::<Value>("memory/resolve", params), once);
    let rows: Value = rpc.ask("memory/audit", json!({"id": first}));
    assert!(rows["items"].as_array().unwrap().iter().any(|row| row["method"] == "memory/resolve"), "{rows}");
}

// MEM-8
#[test]
fn conflicts_are_paged_and_stand_after_a_restart() {
    let mut daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    for (a, b) in [
        ("Alice manages Bob", "Bob manages Alice"),
        ("The gate is open to trucks", "The gate is closed to trucks"),
        ("我的血型是A型", "我的血型是O型"),
    ] {
        contradiction(&mut rpc, a, b);
    }
    kept(&mut rpc, "personal", "an ordinary note");
    let page: Value = rpc.ask("memory/conflicts", json!({"limit": 2}));
    assert_eq!(page["items"].as_array().unwrap().len(), 2);
    let rest: Value = rpc.ask("memory/conflicts", json!({"limit": 2, "cursor": page["nextCursor"]}));
    assert_eq!(rest["items"].as_array().unwrap().len(), 1);
    assert_eq!(page["items"][0]["reason"], "roles");
    daemon.stop();
    daemon.start_again();
    let mut rpc = daemon.rpc();
    let all: Value = rpc.ask("memory/conflicts", json!({}));
    assert_eq!(all["items"].as_array().unwrap().len(), 3);
    let verified: Value = rpc.ask("store/verify", json!({}));
    assert_eq!(verified["problems"], json!([]), "{verified}");
}
