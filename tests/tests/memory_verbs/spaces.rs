//! Spaces: what one call names is all it sees.

use crate::{all_pages, found, got, kept, texts};
use serde_json::{Value, json};
use tiro_tests::{InsideDaemon, check};

// M25, SES-1
#[test]
fn no_verb_shows_a_space_that_its_call_did_not_name() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let text = "the launch is on the ninth";
    let (a, b) = (kept(&mut rpc, "alpha", text), kept(&mut rpc, "beta", text));
    assert_ne!(a, b);
    kept(&mut rpc, "beta", "only in beta");
    for method in ["memory/list", "memory/export"] {
        let items = all_pages(&mut rpc, method, &json!({"space": "alpha"}));
        assert_eq!(items.iter().map(|i| i["id"].as_str().unwrap()).collect::<Vec<_>>(), [a.as_str()], "{method}");
        assert!(all_pages(&mut rpc, method, &json!({})).is_empty(), "{method}");
    }
    assert_eq!(found(&mut rpc, "alpha", "launch beta"), [text]);
    assert!(found(&mut rpc, "personal", text).is_empty());
    assert!(found(&mut rpc, "nowhere", text).is_empty());
    let both: Value =
        rpc.ask("memory/recall", json!({"query": text, "spaces": ["alpha", "beta", "nowhere"], "threshold": 0, "limit": 10}));
    let mut spaces: Vec<&str> = both["hits"].as_array().unwrap().iter().map(|h| h["space"].as_str().unwrap()).collect();
    spaces.sort_unstable();
    assert_eq!(spaces, ["alpha", "beta", "beta"]);
    let context: Value = rpc.ask("memory/context", json!({"query": "only in beta launch", "space": "alpha", "threshold": 0}));
    assert!(!context["text"].as_str().unwrap().contains("only in beta"));
    let stats: Value = rpc.ask("memory/stats", json!({"space": "alpha"}));
    assert_eq!(stats["byStatus"], json!({"active": 1}));
    let rows = all_pages(&mut rpc, "memory/audit", &json!({"space": "alpha"}));
    assert!(rows.iter().all(|r| r["space"] == "alpha" && !r["ids"].as_array().unwrap().contains(&json!(b))));
    assert_eq!(got(&mut rpc, &b)["space"], "beta", "a method by id says the space");
    // An edit and a telling again in one space leave the other alone.
    let _: Value = rpc.ask("memory/remember", json!({"text": text, "space": "alpha", "explicit": true}));
    let _: Value = rpc.ask("memory/update", json!({"id": a, "ifVersion": 2, "text": "the launch is on the tenth"}));
    assert_eq!(got(&mut rpc, &b)["version"], 1);
}

// MEM-9, M25
#[test]
fn a_deleted_space_is_empty_and_its_memories_can_be_brought_back() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let id = kept(&mut rpc, "alpha", "one");
    kept(&mut rpc, "alpha", "two");
    kept(&mut rpc, "beta", "one");
    let names = |rpc: &mut tiro_tests::Rpc| {
        let items = all_pages(rpc, "space/list", &json!({"limit": 1}));
        items.iter().map(|s| (s["name"].as_str().unwrap().to_owned(), s["memories"].as_u64().unwrap())).collect::<Vec<_>>()
    };
    assert_eq!(names(&mut rpc), [("alpha".to_owned(), 2), ("beta".to_owned(), 1)]);
    let dry: Value = rpc.ask("space/delete", json!({"space": "alpha", "dryRun": true}));
    assert_eq!(dry["count"], 2);
    assert_eq!(found(&mut rpc, "alpha", "one two").len(), 2);
    let done: Value = rpc.ask("space/delete", json!({"space": "alpha"}));
    assert_eq!(done["count"], 2);
    assert!(done["undoUntil"].is_string());
    assert!(found(&mut rpc, "alpha", "one two").is_empty());
    assert_eq!(names(&mut rpc), [("beta".to_owned(), 1)]);
    assert_eq!(found(&mut rpc, "beta", "one"), ["one"]);
    let _: Value = rpc.ask("memory/undo", json!({"id": id}));
    assert_eq!(found(&mut rpc, "alpha", "one two"), ["one"]);
    assert_eq!(rpc.ask::<Value>("space/delete", json!({"space": "nowhere"}))["count"], 0);
    check::refuses_path(&mut rpc, "space/delete", json!({"space": "a b"}), "space");
}

// SES-1, M21
#[test]
fn a_space_of_any_script_is_named_as_it_is_written() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    kept(&mut rpc, "项目-甲", "用户喜欢绿茶");
    assert_eq!(texts(&rpc.ask::<Value>("memory/list", json!({"space": "项目-甲"}))["items"]), ["用户喜欢绿茶"]);
    for name in ["", "a/b", "a b", "..", "a\u{0}b"] {
        check::refuses_path(&mut rpc, "memory/list", json!({"space": name}), "space");
    }
}

// M25: the figures of the whole index told one space how much others hold
#[test]
fn the_figures_of_a_space_are_its_own() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let items: Vec<Value> =
        (0..20).map(|n| json!({"text": format!("note {n} of another"), "space": "other", "explicit": true})).collect();
    let before: Value = rpc.ask("memory/stats", json!({"space": "mine"}));
    let _: Value = rpc.ask("memory/rememberMany", json!({"items": items}));
    assert_eq!(rpc.ask::<Value>("memory/stats", json!({"space": "mine"})), before);
    let _: Value = rpc.ask("memory/remember", json!({"text": "mine alone", "space": "mine", "explicit": true}));
    let stats: Value = rpc.ask("memory/stats", json!({"space": "mine"}));
    assert_eq!((&stats["index"]["documents"], &stats["textBytes"]), (&json!(1), &json!("mine alone".len())), "{stats}");
    let status: Value = rpc.ask("daemon/status", json!({}));
    assert_eq!(status["index"]["documents"], 21, "{status}");
    assert!(status["storeBytes"].as_u64().unwrap() > 0 && status["indexBytes"].is_u64(), "{status}");
}
