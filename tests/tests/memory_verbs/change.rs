//! Changing memories: update, supersede, pin, archive; and who loses when two change the same.

use crate::{found, got, kept};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use tiro_schema::ErrorKind;
use tiro_tests::{InsideDaemon, Rpc, check};

// MEM-9, MEM-12
#[test]
fn an_edited_text_is_found_by_its_new_words_only() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let id = kept(&mut rpc, "personal", "the build machine is called heron");
    let result: Value = rpc
        .ask("memory/update", json!({"id": id, "ifVersion": 1, "text": "the build machine is called osprey", "tags": ["infra"]}));
    assert_eq!(result["version"], 2);
    let memory = got(&mut rpc, &id);
    assert_eq!((memory["text"].as_str(), memory["version"].as_u64()), (Some("the build machine is called osprey"), Some(2)));
    assert_eq!(memory["tags"], json!(["infra"]));
    assert!(found(&mut rpc, "personal", "osprey").contains(&"the build machine is called osprey".to_owned()));
    let lexical: Value = rpc.ask("memory/recall", json!({"query": "heron", "mode": "lexical", "threshold": 0}));
    assert_eq!(lexical["hits"], json!([]));
    // The old words are free again, the new ones are known.
    kept(&mut rpc, "personal", "the build machine is called heron");
    let again: Value = rpc.ask("memory/remember", json!({"text": "The build machine is called osprey.", "explicit": true}));
    assert_eq!(again["outcome"], "duplicate");
}

// MEM-9, M24
#[test]
fn a_stale_edit_is_refused() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let id = kept(&mut rpc, "personal", "one");
    check::refuses_path(&mut rpc, "memory/update", json!({"id": id, "text": "two"}), "ifVersion");
    check::refuses_path(&mut rpc, "memory/update", json!({"id": id}), "");
    check::refuses_path(&mut rpc, "memory/update", json!({"id": id, "text": " ", "ifVersion": 1}), "text");
    let _: Value = rpc.ask("memory/update", json!({"id": id, "text": "two", "ifVersion": 1}));
    let error = rpc.refused("memory/update", json!({"id": id, "text": "three", "ifVersion": 1}));
    check::is_error(&error, ErrorKind::VersionMismatch);
    assert_eq!(error.data.unwrap().details["currentVersion"], 2);
    let _: Value = rpc.ask("memory/update", json!({"id": id, "importance": 0.9}));
    assert_eq!(got(&mut rpc, &id)["text"], "two");
}

// M24, MEM-12
#[test]
fn eight_clients_write_and_edit_the_same_memories_and_nothing_is_overwritten_silently() {
    const CLIENTS: usize = 8;
    const WRITES: usize = 200;
    let daemon = InsideDaemon::start();
    let shared: Vec<String> = (0..4).map(|i| kept(&mut daemon.rpc(), "personal", &format!("shared counter {i}: 0"))).collect();
    let (won, lost) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (daemon, shared, won, lost) = (&daemon, &shared, &won, &lost);
            scope.spawn(move || {
                let mut rpc = daemon.rpc();
                for n in 0..WRITES / 2 {
                    kept(&mut rpc, "personal", &format!("client {client} says {n} of its own"));
                    count_up(&mut rpc, &shared[n % shared.len()], won, lost);
                }
            });
        }
    });
    let mut rpc = daemon.rpc();
    let counted: usize = shared.iter().map(|id| number(&got(&mut rpc, id))).sum();
    let versions: usize = shared.iter().map(|id| got(&mut rpc, id)["version"].as_u64().unwrap() as usize - 1).sum();
    assert_eq!(counted, won.load(Ordering::Relaxed), "an edit was lost or done twice");
    assert_eq!(versions, counted);
    assert_eq!(counted + lost.load(Ordering::Relaxed), CLIENTS * WRITES / 2);
    let stats: Value = rpc.ask("memory/stats", json!({}));
    assert_eq!(stats["byStatus"]["active"], CLIENTS * WRITES / 2 + shared.len());
}

/// Reads a counter and writes it one higher, once; a stale try is counted as lost.
fn count_up(rpc: &mut Rpc, id: &str, won: &AtomicUsize, lost: &AtomicUsize) {
    let memory = got(rpc, id);
    let text = memory["text"].as_str().unwrap();
    let next = format!("{}: {}", text.split(':').next().unwrap(), number(&memory) + 1);
    match rpc.call("memory/update", json!({"id": id, "ifVersion": memory["version"], "text": next})) {
        Ok(_) => won.fetch_add(1, Ordering::Relaxed),
        Err(error) => {
            check::is_error(&error, ErrorKind::VersionMismatch);
            lost.fetch_add(1, Ordering::Relaxed)
        }
    };
}

fn number(memory: &Value) -> usize {
    memory["text"].as_str().unwrap().rsplit(' ').next().unwrap().parse().unwrap()
}

// MEM-8, M8, M33
#[test]
fn a_superseded_memory_gives_way_and_both_are_linked() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let old = kept(&mut rpc, "work", "ssh listens on port 22");
    let result: Value = rpc.ask("memory/supersede", json!({"id": old, "memory": {"text": "ssh listens on port 49222"}}));
    let new = result["id"].as_str().unwrap().to_owned();
    let (before, after) = (got(&mut rpc, &old), got(&mut rpc, &new));
    assert_eq!((before["status"].as_str(), before["supersededBy"].as_str()), (Some("superseded"), Some(new.as_str())));
    assert_eq!((after["space"].as_str(), after["supersedes"].as_str()), (Some("work"), Some(old.as_str())));
    assert_eq!(found(&mut rpc, "work", "port 22"), ["ssh listens on port 49222"]);
    let asked: Value = rpc.ask(
        "memory/recall",
        json!({"query": "port 22", "space": "work", "threshold": 0, "filter": {"statuses": ["superseded"]}}),
    );
    assert_eq!(asked["hits"][0]["status"], "superseded");
    check::refuses_path(&mut rpc, "memory/supersede", json!({"id": old, "memory": {"text": "again"}}), "id");
    check::refuses_path(
        &mut rpc,
        "memory/supersede",
        json!({"id": new, "memory": {"text": "x", "importance": 7}}),
        "memory.importance",
    );
}

// MEM-10: a secret outside the text was told without its kind
#[test]
fn a_supersession_with_a_secret_tag_names_the_kind_of_the_secret() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let old = kept(&mut rpc, "work", "the key is in the safe");
    let secret = format!("sk-{}", "aB3dE5fG7hJ9kL1mN3pQ5");
    for member in [json!({"tags": [secret]}), json!({"entities": [secret]}), json!({"source": {"uri": secret}})] {
        let mut memory = member;
        memory["text"] = json!("the key is in the drawer");
        let error = rpc.refused("memory/supersede", json!({"id": old, "memory": memory}));
        check::is_error(&error, ErrorKind::SecretRefused);
        assert_eq!(serde_json::to_value(error.data.unwrap()).unwrap()["secret"], "apiKey");
    }
}

// MEM-9
#[test]
fn archived_memories_are_found_only_when_asked_for() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let id = kept(&mut rpc, "personal", "the old office was in Halle");
    let _: Value = rpc.ask("memory/archive", json!({"ids": [&id[..8]]}));
    assert!(found(&mut rpc, "personal", "office Halle").is_empty());
    let listed: Value = rpc.ask("memory/list", json!({"filter": {"statuses": ["archived"]}}));
    assert_eq!(listed["items"][0]["id"], id.as_str());
    let _: Value = rpc.ask("memory/restore", json!({"ids": [id]}));
    assert_eq!(found(&mut rpc, "personal", "office Halle").len(), 1);
    assert_eq!(got(&mut rpc, &id)["version"], 3);
    let _: Value = rpc.ask("memory/restore", json!({"ids": [id]}));
    assert_eq!(got(&mut rpc, &id)["version"], 3, "nothing changed, no version");
    check::refuses_path(&mut rpc, "memory/archive", json!({"ids": [id], "pinned": true}), "pinned");
}

// MEM-4, MEM-9
#[test]
fn pins_go_on_and_off_and_one_unknown_id_refuses_the_call() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let id = kept(&mut rpc, "personal", "remember me");
    let _: Value = rpc.ask("memory/pin", json!({"ids": [id]}));
    assert_eq!(got(&mut rpc, &id)["pinned"], true);
    let error = rpc.refused("memory/pin", json!({"ids": [id, "00000000-0000-4000-8000-000000000000"], "pinned": false}));
    check::is_error(&error, ErrorKind::NotFound);
    assert_eq!(got(&mut rpc, &id)["pinned"], true);
    let _: Value = rpc.ask("memory/pin", json!({"ids": [id], "pinned": false}));
    assert_eq!(got(&mut rpc, &id)["pinned"], false);
}
