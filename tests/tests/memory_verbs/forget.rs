//! Forgetting: hidden from every verb at once, also after a restart and a rebuild, and brought back within seven days.

use crate::{all_pages, found, got, kept, texts};
use serde_json::{Value, json};
use tiro_schema::ErrorKind;
use tiro_tests::inside::NOON_MS;
use tiro_tests::{InsideDaemon, Rpc, check};

const TEXT: &str = "the spare key hangs behind the blue clock";

/// Checks that no verb shows the memory.
#[track_caller]
fn check_hidden(rpc: &mut Rpc, id: &str) {
    for mode in ["hybrid", "lexical", "vector"] {
        let filter = json!({"statuses": ["active", "superseded", "archived"]});
        let result: Value =
            rpc.ask("memory/recall", json!({"query": TEXT, "mode": mode, "threshold": 0, "limit": 50, "filter": filter}));
        assert!(!texts(&result["hits"]).contains(&TEXT.to_owned()), "{mode}");
    }
    check::is_error(&rpc.refused("memory/get", json!({"id": id})), ErrorKind::NotFound);
    check::is_error(&rpc.refused("memory/get", json!({"id": &id[..8]})), ErrorKind::NotFound);
    check::is_error(&rpc.refused("memory/update", json!({"id": id, "importance": 1})), ErrorKind::NotFound);
    let listed = all_pages(rpc, "memory/list", &json!({"filter": {"statuses": ["active", "superseded", "archived"]}}));
    assert!(listed.iter().all(|item| item["id"] != id));
    let exported = all_pages(rpc, "memory/export", &json!({}));
    assert!(exported.iter().all(|item| item["id"] != id));
    let context: Value = rpc.ask("memory/context", json!({"query": TEXT, "threshold": 0}));
    assert!(!context["text"].as_str().unwrap().contains(TEXT));
}

// M14, MEM-9
#[test]
fn what_is_forgotten_is_never_found_again() {
    let mut daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let id = kept(&mut rpc, "personal", TEXT);
    kept(&mut rpc, "personal", "the spare wheel hangs in the garage");
    assert!(found(&mut rpc, "personal", TEXT).contains(&TEXT.to_owned()));
    let dry: Value = rpc.ask("memory/forget", json!({"ids": [id], "dryRun": true}));
    assert_eq!((dry["count"].as_u64(), dry["ids"][0].as_str(), dry.get("undoUntil")), (Some(1), Some(id.as_str()), None));
    got(&mut rpc, &id);
    let done: Value = rpc.ask("memory/forget", json!({"ids": [&id[..8]]}));
    assert_eq!((done["count"].as_u64(), done["undoUntil"].as_str()), (Some(1), Some("2026-03-12T12:00:00.000Z")));
    check_hidden(&mut rpc, &id);
    daemon.stop();
    daemon.start_again();
    let mut rpc = daemon.rpc();
    check_hidden(&mut rpc, &id);
    let _: Value = rpc.ask("store/rebuild", json!({}));
    check_hidden(&mut rpc, &id);
    assert_eq!(found(&mut rpc, "personal", "spare wheel garage").len(), 1);
}

// MEM-9
#[test]
fn forgetting_is_undone_within_seven_days_by_the_whole_id() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let (kept_in_time, too_late) = (kept(&mut rpc, "personal", TEXT), kept(&mut rpc, "personal", "another"));
    let _: Value = rpc.ask("memory/forget", json!({"ids": [kept_in_time, too_late]}));
    daemon.clock.set(NOON_MS + 6 * 86_400_000);
    check::is_error(&rpc.refused("memory/undo", json!({"id": &kept_in_time[..8]})), ErrorKind::NotFound);
    let undone: Value = rpc.ask("memory/undo", json!({"id": kept_in_time}));
    assert_eq!(undone["version"], 3);
    assert!(found(&mut rpc, "personal", TEXT).contains(&TEXT.to_owned()));
    let again: Value = rpc.ask("memory/remember", json!({"text": TEXT, "explicit": true}));
    assert_eq!(again["outcome"], "duplicate");
    daemon.clock.set(NOON_MS + 8 * 86_400_000);
    check::refuses_path(&mut rpc, "memory/undo", json!({"id": too_late}), "id");
}

// MEM-9, MEM-6
#[test]
fn a_filter_forgets_what_fits_in_its_space_only_and_in_steps() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let items: Vec<Value> = (0..1_300)
        .map(|i| json!({"text": format!("note {i}"), "space": "a", "verbatim": true, "tags": [if i % 13 == 0 { "keep" } else { "drop" }]}))
        .collect();
    let _: Value = rpc.ask("memory/rememberMany", json!({"items": items}));
    let old = kept(&mut rpc, "a", "an old note");
    let _: Value = rpc.ask("memory/update", json!({"id": old, "tags": ["drop"]}));
    let _: Value = rpc.ask("memory/archive", json!({"ids": [old]}));
    kept(&mut rpc, "b", "note 1");
    let params = json!({"space": "a", "filter": {"tags": ["drop"]}, "key": "k", "_meta": {"progressToken": "p"}});
    let done: Value = rpc.ask("memory/forget", params.clone());
    assert_eq!(done["count"], 1_201);
    assert_eq!(done["ids"].as_array().unwrap().len(), 1_000);
    let progress = rpc.take_notifications().into_iter().filter(|(name, _)| name == "progress").count();
    assert!(progress >= 2, "{progress}");
    let stats: Value = rpc.ask("memory/stats", json!({"space": "a"}));
    assert_eq!(stats["byStatus"], json!({"active": 100}));
    assert_eq!(found(&mut rpc, "b", "note 1"), ["note 1"]);
    // The same call with its key answers as it did; new memories stay.
    let again: Value =
        rpc.ask("memory/remember", json!({"text": "a new note", "space": "a", "tags": ["drop"], "explicit": true}));
    assert_eq!(again["outcome"], "created");
    let repeated: Value = rpc.ask("memory/forget", params);
    assert_eq!(repeated, done);
    assert!(found(&mut rpc, "a", "a new note").contains(&"a new note".to_owned()));
}
