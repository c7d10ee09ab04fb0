//! Get by prefix, and lists page by page.

use crate::{all_pages, got, kept, texts};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tiro_schema::ErrorKind;
use tiro_tests::{InsideDaemon, check};

// M17
#[test]
fn an_id_and_its_first_characters_find_the_memory_and_an_ambiguous_prefix_lists_the_candidates() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let id = kept(&mut rpc, "personal", "by its prefix");
    for asked in [id.clone(), id[..8].to_owned(), id[..13].to_owned(), id.to_uppercase(), id.replace('-', "")] {
        assert_eq!(got(&mut rpc, &asked)["id"], id.as_str(), "{asked}");
    }
    let lines: Vec<Value> =
        (0..3).map(|i| json!({"text": format!("twin {i}"), "id": format!("abcdef01-0000-4000-8000-00000000000{i}")})).collect();
    let _: Value = rpc.ask("memory/import", json!({"lines": lines}));
    let error = rpc.refused("memory/get", json!({"id": "abcdef01"}));
    check::is_error(&error, ErrorKind::Ambiguous);
    assert_eq!(error.data.unwrap().details["candidates"].as_array().unwrap().len(), 3);
    // A forgotten one no longer makes it ambiguous.
    let _: Value = rpc
        .ask("memory/forget", json!({"ids": ["abcdef01-0000-4000-8000-000000000000", "abcdef01-0000-4000-8000-000000000001"]}));
    assert_eq!(got(&mut rpc, "abcdef01")["text"], "twin 2");
    for unknown in ["00000000", "00000000-0000-4000-8000-000000000000"] {
        check::is_error(&rpc.refused("memory/get", json!({"id": unknown})), ErrorKind::NotFound);
    }
    for odd in ["", "1234567", "zzzzzzzz", "nonsense-id", "\u{1F600}\u{1F600}"] {
        check::refuses_path(&mut rpc, "memory/get", json!({"id": odd}), "id");
    }
}

// MEM-9, MEM-6
#[test]
fn lists_are_paged_filtered_and_ordered() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let items: Vec<Value> = (0..25)
        .map(|i| json!({"text": format!("Entry {i:02}"), "category": if i % 2 == 0 { "fact" } else { "event" }, "occurredAt": format!("2026-01-{:02}T00:00:00Z", i + 1), "entities": ["Ann"], "verbatim": true}))
        .collect();
    let _: Value = rpc.ask("memory/rememberMany", json!({"items": items}));
    let newest = all_pages(&mut rpc, "memory/list", &json!({"limit": 4}));
    let expected: Vec<String> = (0..25).rev().map(|i| format!("Entry {i:02}")).collect();
    assert_eq!(texts(&json!(newest)), expected);
    let oldest = all_pages(&mut rpc, "memory/list", &json!({"limit": 25, "order": "oldest"}));
    assert_eq!(oldest.len(), 25);
    assert_eq!(oldest[0]["text"], "Entry 00");
    let events = all_pages(
        &mut rpc,
        "memory/list",
        &json!({"limit": 3, "filter": {"categories": ["event"], "after": "2026-01-11T00:00:00Z", "before": "2026-01-21T00:00:00Z"}}),
    );
    assert_eq!(texts(&json!(events)), ["Entry 19", "Entry 17", "Entry 15", "Entry 13", "Entry 11"]);
    let with_text = all_pages(&mut rpc, "memory/list", &json!({"text": "ENTRY 2"}));
    assert_eq!(with_text.len(), 5);
    assert_eq!(all_pages(&mut rpc, "memory/list", &json!({"filter": {"entities": ["Ben"]}})).len(), 0);
}

// MEM-9, API-1
#[test]
fn a_cursor_serves_its_own_call_and_outlives_what_happens_between_pages() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    for i in 0..6 {
        kept(&mut rpc, "personal", &format!("line {i}"));
    }
    let first: Value = rpc.ask("memory/list", json!({"limit": 2}));
    let cursor = first["nextCursor"].as_str().unwrap();
    check::refuses_path(&mut rpc, "memory/list", json!({"cursor": cursor, "filter": {"tags": ["x"]}}), "cursor");
    check::refuses_path(&mut rpc, "memory/list", json!({"cursor": cursor, "space": "work"}), "cursor");
    check::refuses_path(&mut rpc, "memory/export", json!({"cursor": cursor}), "cursor");
    check::refuses_path(&mut rpc, "memory/list", json!({"cursor": "nonsense"}), "cursor");
    check::refuses_path(&mut rpc, "memory/list", json!({"limit": 0}), "limit");
    check::refuses_path(&mut rpc, "memory/list", json!({"limit": 100_000}), "limit");
    kept(&mut rpc, "personal", "line 6, later");
    let _: Value = rpc.ask("memory/forget", json!({"ids": [first["items"][1]["id"]]}));
    let second: Value = rpc.ask("memory/list", json!({"limit": 2, "cursor": cursor}));
    assert_eq!(texts(&second["items"]), ["line 3", "line 2"]);
}

// MEM-9
#[test]
fn a_page_full_of_long_texts_ends_early_and_goes_on() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    for part in 0..4 {
        let items: Vec<Value> =
            (0..25).map(|i| json!({"text": format!("{part}-{i} {}", "word ".repeat(12_000)), "verbatim": true})).collect();
        let _: Value = rpc.ask("memory/rememberMany", json!({"items": items}));
    }
    let page: Value = rpc.ask("memory/list", json!({"limit": 500}));
    let n = page["items"].as_array().unwrap().len();
    assert!(n < 100 && page["nextCursor"].is_string(), "{n}");
    let all = all_pages(&mut rpc, "memory/list", &json!({"limit": 500}));
    let ids: BTreeSet<&str> = all.iter().map(|m| m["id"].as_str().unwrap()).collect();
    assert_eq!((all.len(), ids.len()), (100, 100));
}
