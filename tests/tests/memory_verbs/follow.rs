//! `memory/import` with `update` and `retire`: what an import brought follows its source, and what somebody else did to it stays.

use crate::rules::{client, ruled};
use crate::{found, got, kept};
use serde_json::{Value, json};
use tiro_schema::ErrorKind;
use tiro_tests::{InsideDaemon, Rpc, check};

const IDS: [&str; 6] = [
    "a0000000-0000-8000-8000-000000000001",
    "a0000000-0000-8000-8000-000000000002",
    "a0000000-0000-8000-8000-000000000003",
    "a0000000-0000-8000-8000-000000000004",
    "a0000000-0000-8000-8000-000000000005",
    "a0000000-0000-8000-8000-000000000006",
];

fn line(n: usize, text: &str) -> Value {
    json!({"id": IDS[n], "text": text, "space": "notes", "verbatim": true, "tags": ["t"], "source": {"session": "s", "program": "markdown"}})
}

fn words(n: usize) -> String {
    format!("section {n} says that the {} gate opens outward", ["north", "south", "east", "west", "river", "hill"][n])
}

fn lines(which: &[usize]) -> Vec<Value> {
    which.iter().map(|n| line(*n, &words(*n))).collect()
}

/// created, duplicate, updated, retired, kept, refused.
fn counts(result: &Value) -> [u64; 6] {
    let n = |name: &str| result[name].as_u64().unwrap();
    [n("created"), n("duplicate"), n("updated"), n("retired"), n("kept"), result["refused"].as_array().unwrap().len() as u64]
}

fn follow(rpc: &mut Rpc, lines: &[Value], retire: &[&str]) -> [u64; 6] {
    let params = json!({"lines": lines, "update": true, "retire": retire, "space": "notes"});
    let mut dry = params.clone();
    dry["dryRun"] = json!(true);
    let told: Value = rpc.ask("memory/import", dry);
    let result: Value = rpc.ask("memory/import", params);
    assert_eq!(counts(&told), counts(&result), "a dry run tells what is done: {told} {result}");
    counts(&result)
}

// MEM-9: a changed line is a new version, what is retired is archived, and both come back as the source has them
#[test]
fn what_an_import_brought_follows_its_source() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    assert_eq!(follow(&mut rpc, &lines(&[0, 1, 2]), &[]), [3, 0, 0, 0, 0, 0]);
    let mut changed = lines(&[0, 1]);
    changed[0]["text"] = json!("section 0 says that the north gate opens inward");
    changed[1]["tags"] = json!(["t", "more"]);
    assert_eq!(follow(&mut rpc, &changed, &[IDS[2], IDS[5]]), [0, 0, 2, 1, 0, 0]);
    assert_eq!(follow(&mut rpc, &changed, &[IDS[2]]), [0, 2, 0, 0, 0, 0], "once more changes nothing");
    let first = got(&mut rpc, IDS[0]);
    assert_eq!((first["version"].as_u64(), first["text"].as_str()), (Some(2), changed[0]["text"].as_str()));
    assert_eq!(got(&mut rpc, IDS[1])["tags"], json!(["t", "more"]));
    assert_eq!(got(&mut rpc, IDS[2])["status"], "archived");
    let hits = found(&mut rpc, "notes", "gate opens");
    assert!(
        hits.iter().any(|text| text.ends_with("inward")) && !hits.contains(&words(0)) && !hits.contains(&words(2)),
        "{hits:?}"
    );
    // Its earlier words are nobody's now: told again they are a memory of their own.
    kept(&mut rpc, "notes", &words(0));
    assert_eq!(follow(&mut rpc, &lines(&[2]), &[]), [0, 0, 1, 0, 0, 0]);
    let back = got(&mut rpc, IDS[2]);
    assert_eq!((back["status"].as_str(), back["version"].as_u64()), (Some("active"), Some(3)));
    let history: Value = rpc.ask("memory/history", json!({"id": IDS[2]}));
    let changes: Vec<&str> = history["items"].as_array().unwrap().iter().map(|v| v["change"].as_str().unwrap()).collect();
    assert_eq!(changes, ["imported", "imported", "created"]);
    // Without `update` other words are refused, as they always were.
    let refused: Value = rpc.ask("memory/import", json!({"lines": [line(2, "other words")]}));
    assert_eq!(counts(&refused), [0, 0, 0, 0, 0, 1]);
}

// A fault test: an import that took no notice of who changed a memory last would write over all of these.
#[test]
fn what_somebody_else_did_stays() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    follow(&mut rpc, &lines(&[0, 1, 2, 3, 4, 5]), &[]);
    let _: Value = rpc.ask("memory/update", json!({"id": IDS[0], "text": "my own words", "ifVersion": 1}));
    let _: Value = rpc.ask("memory/archive", json!({"ids": [IDS[1]]}));
    let _: Value = rpc.ask("memory/forget", json!({"ids": [IDS[2]]}));
    let _: Value = rpc.ask("memory/supersede", json!({"id": IDS[3], "memory": {"text": "the west gate is walled up"}}));
    // A pin is no change of what it says.
    let _: Value = rpc.ask("memory/pin", json!({"ids": [IDS[4], IDS[0]]}));
    let changed: Vec<Value> = (0..6).map(|n| line(n, &format!("{} since Monday", words(n)))).collect();
    assert_eq!(follow(&mut rpc, &changed, &[]), [0, 0, 2, 0, 4, 0]);
    assert_eq!(got(&mut rpc, IDS[0])["text"], "my own words");
    assert_eq!(
        (got(&mut rpc, IDS[1])["status"].as_str(), got(&mut rpc, IDS[1])["version"].as_u64()),
        (Some("archived"), Some(2))
    );
    check::is_error(&rpc.refused("memory/get", json!({"id": IDS[2]})), ErrorKind::NotFound);
    assert_eq!(got(&mut rpc, IDS[3])["status"], "superseded");
    let pinned = got(&mut rpc, IDS[4]);
    assert_eq!((pinned["pinned"].as_bool(), pinned["text"].as_str()), (Some(true), changed[4]["text"].as_str()));
    // Gone from the source: what is untouched goes, the rest stays, and so does what is pinned.
    assert_eq!(follow(&mut rpc, &[], &IDS), [0, 0, 0, 1, 4, 0], "what is archived already is no matter");
    assert_eq!(got(&mut rpc, IDS[4])["status"], "active");
    assert_eq!(got(&mut rpc, IDS[0])["status"], "active");
    // An undo is somebody's will too.
    let _: Value = rpc.ask("memory/undo", json!({"id": IDS[5]}));
    assert_eq!(follow(&mut rpc, &[], &[IDS[5]]), [0, 0, 0, 0, 1, 0]);
}

// MEM-11, M25: an id leads into no space but the one that is named, and nobody retires what they may not write
#[test]
fn following_stays_within_its_space_and_its_rules() {
    let daemon = InsideDaemon::start();
    let mut rpc = client(&daemon, "writer");
    follow(&mut rpc, &lines(&[0, 1]), &[]);
    let elsewhere: Value = rpc.ask("memory/import", json!({"lines": [], "retire": [IDS[0]], "space": "other"}));
    assert_eq!(counts(&elsewhere), [0; 6]);
    let there: Value =
        rpc.ask("memory/import", json!({"lines": [{"id": IDS[0], "text": "another space", "space": "other"}], "update": true}));
    assert_eq!(counts(&there), [1, 0, 0, 0, 0, 0]);
    let of_other: Value = rpc.ask("memory/import", json!({"lines": [], "retire": [IDS[0]], "space": "other"}));
    assert_eq!(counts(&of_other), [0, 0, 0, 1, 0, 0], "there the same id is another memory");
    assert_eq!(got(&mut rpc, IDS[0])["status"], "active");
    ruled(&mut rpc, json!({"space": "notes", "writers": [{"client": "writer"}]}));
    let mut other = client(&daemon, "other");
    let denied = other.refused("memory/import", json!({"lines": [], "retire": [IDS[0]], "space": "notes"}));
    check::is_error(&denied, ErrorKind::PolicyDenied);
    check::is_error(&other.refused("memory/import", json!({"lines": lines(&[0]), "update": true})), ErrorKind::PolicyDenied);
    let personal: Value = other.ask("memory/import", json!({"lines": [], "retire": [IDS[0]]}));
    assert_eq!(counts(&personal), [0; 6]);
    assert_eq!(got(&mut rpc, IDS[0])["status"], "active");
    check::is_error(&rpc.refused("memory/import", json!({"lines": [], "retire": ["a0000000"]})), ErrorKind::InvalidParams);
}

// A call that is sent twice is done once
#[test]
fn following_with_a_key_is_done_once() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    follow(&mut rpc, &lines(&[0, 1]), &[]);
    let params = json!({"lines": [line(0, "new words")], "update": true, "retire": [IDS[1]], "space": "notes", "key": "k"});
    let first: Value = rpc.ask("memory/import", params.clone());
    let second: Value = rpc.ask("memory/import", params);
    assert_eq!((counts(&first), &first), ([0, 0, 1, 1, 0, 0], &second));
    assert_eq!(got(&mut rpc, IDS[0])["version"], 2);
}

// What was purged does not come back with its source, and is no fault of that either.
#[test]
fn what_was_purged_stays_gone() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    follow(&mut rpc, &lines(&[0, 1]), &[]);
    let _: Value = rpc.ask("memory/forget", json!({"ids": [IDS[0]], "purge": true}));
    assert_eq!(follow(&mut rpc, &lines(&[0, 1]), &[]), [0, 1, 0, 0, 1, 0]);
    assert_eq!(follow(&mut rpc, &[], &[IDS[0]]), [0; 6]);
}
