//! `rememberMany`: each item judged alone, in order, at speed.

use crate::{all_pages, found, got, texts};
use serde_json::{Value, json};
use tiro_schema::ErrorKind;
use tiro_tests::{InsideDaemon, check};

// MEM-7, API-1
#[test]
fn one_bad_item_fails_alone_and_says_where() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let key = format!("sk-{}", "aB3dE5fG7hJ9kL1mN3pQ5");
    let items = json!([
        {"text": "first", "explicit": true}, {"text": 3}, {"text": "First.", "explicit": true}, {"text": "with a secret ", "tags": [key]}, {"text": ""},
        {"text": "late", "space": "other", "explicit": true}, {"text": "odd", "colour": 1}, {"text": "odd", "importance": 9}, "no object",
    ]);
    let result: Value = rpc.ask("memory/rememberMany", json!({"items": items}));
    let results = result["results"].as_array().unwrap();
    let outcomes: Vec<&str> = results.iter().map(|r| r["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["created", "failed", "duplicate", "refused", "refused", "created", "failed", "failed", "failed"]);
    let undone = [1, 6, 7, 8].map(|n| results[n]["error"]["data"]["outcome"].clone());
    assert_eq!(undone, ["notDone"; 4].map(Value::from), "{results:?}");
    assert_eq!(results[2]["id"], results[0]["id"]);
    assert_eq!((results[3]["reason"].as_str(), results[4]["reason"].as_str()), (Some("secret:apiKey"), Some("gate:empty")));
    let path = |n: usize| results[n]["error"]["data"]["path"].as_str().unwrap().to_owned();
    assert_eq!(
        (path(1).as_str(), path(6).as_str(), path(7).as_str(), path(8).as_str()),
        ("items[1].text", "items[6].colour", "items[7].importance", "items[8]")
    );
    assert_eq!(got(&mut rpc, results[0]["id"].as_str().unwrap())["seenCount"], 2);
    assert_eq!(found(&mut rpc, "other", "late"), ["late"]);
}

// MEM-12, M16
#[test]
fn thousands_of_items_are_all_there_for_the_next_call_of_anyone() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let items: Vec<Value> =
        (0..2_000).map(|i| json!({"text": format!("gadget{i} stands on shelf {}", i % 7), "verbatim": true})).collect();
    let result: Value = rpc.ask("memory/rememberMany", json!({"items": items, "key": "k"}));
    assert!(result["results"].as_array().unwrap().iter().all(|r| r["outcome"] == "created"));
    let mut other = daemon.rpc();
    for i in [0, 511, 512, 1_999] {
        assert!(found(&mut other, "personal", &format!("gadget{i}")).contains(&format!("gadget{i} stands on shelf {}", i % 7)));
    }
    assert_eq!(all_pages(&mut other, "memory/list", &json!({"limit": 500})).len(), 2_000);
    let again: Value = rpc.ask("memory/rememberMany", json!({"items": items, "key": "k"}));
    assert_eq!(again["results"], result["results"]);
    check::is_error(&rpc.refused("memory/rememberMany", json!({"items": [{"text": "x"}], "key": "k"})), ErrorKind::KeyReused);
    let too_many: Vec<Value> = (0..5_001).map(|_| json!({"text": "x"})).collect();
    check::is_error(&rpc.refused("memory/rememberMany", json!({"items": too_many})), ErrorKind::TooLarge);
}

// M26
#[test]
fn after_500_copies_every_later_text_is_found_by_its_own_words() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let copies: Vec<Value> = (0..500).map(|_| json!({"text": "the same line again and again", "verbatim": true})).collect();
    let _: Value = rpc.ask("memory/rememberMany", json!({"items": copies}));
    let adjectives = ["amber", "brisk", "calm", "dusty", "eager", "faint", "grim", "hollow", "icy", "jolly"];
    let text =
        |i: usize| format!("the {} otter number {i} sleeps under a {} bridge", adjectives[i % 10], adjectives[(i / 10) % 10]);
    let others: Vec<Value> = (0..500).map(|i| json!({"text": text(i), "verbatim": true})).collect();
    let _: Value = rpc.ask("memory/rememberMany", json!({"items": others}));
    for i in 0..500 {
        let result: Value = rpc.ask("memory/recall", json!({"query": text(i), "limit": 1, "threshold": 0}));
        assert_eq!(texts(&result["hits"]), [text(i)]);
    }
    let listed = all_pages(&mut rpc, "memory/list", &json!({"limit": 500}));
    assert_eq!(listed.len(), 1_000);
}
