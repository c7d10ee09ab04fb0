//! Undo: the last change of each kind is taken back, further with every call, as a version of its own.

use crate::{found, got, kept};
use serde_json::{Value, json};
use tiro_schema::ErrorKind;
use tiro_tests::{InsideDaemon, check};

// MEM-9
#[test]
fn each_change_is_taken_back_in_turn() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let id = kept(&mut rpc, "personal", "the boat is red");
    let first = got(&mut rpc, &id);
    let _: Value = rpc.ask("memory/update", json!({"id": id, "ifVersion": 1, "text": "the boat is green"}));
    let _: Value = rpc.ask("memory/pin", json!({"ids": [id]}));
    let _: Value = rpc.ask("memory/remember", json!({"text": "The boat is green.", "source": {"session": "s"}}));
    let _: Value = rpc.ask("memory/archive", json!({"ids": [id]}));
    let states =
        [("active", 2, true, "green"), ("active", 1, true, "green"), ("active", 1, false, "green"), ("active", 1, false, "red")];
    for (n, (status, seen, pinned, colour)) in states.into_iter().enumerate() {
        let undone: Value = rpc.ask("memory/undo", json!({"id": id}));
        assert_eq!(undone["version"], 6 + n);
        let memory = got(&mut rpc, &id);
        assert_eq!(
            (memory["status"].as_str(), memory["seenCount"].as_u64(), memory["pinned"].as_bool()),
            (Some(status), Some(seen), Some(pinned))
        );
        assert_eq!(memory["text"], format!("the boat is {colour}"));
    }
    let mut last = got(&mut rpc, &id);
    last["version"] = json!(1);
    assert_eq!(last, first);
    assert_eq!(found(&mut rpc, "personal", "red boat"), ["the boat is red"]);
    let lexical: Value = rpc.ask("memory/recall", json!({"query": "green", "mode": "lexical", "threshold": 0}));
    assert_eq!(lexical["hits"], json!([]));
    let error = rpc.refused("memory/undo", json!({"id": id}));
    check::is_error(&error, ErrorKind::InvalidParams);
    assert!(error.data.unwrap().hint.contains("forget"));
    assert_eq!(rpc.ask::<Value>("memory/remember", json!({"text": "The boat is red!"}))["outcome"], "duplicate");
}

// MEM-8, MEM-9
#[test]
fn a_supersession_is_taken_back_on_both_sides_from_either() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    for named_is_new in [false, true] {
        let old = kept(&mut rpc, "personal", &format!("the door code word is apple {named_is_new}"));
        let made: Value = rpc
            .ask("memory/supersede", json!({"id": old, "memory": {"text": format!("the door word became pear {named_is_new}")}}));
        let new = made["id"].as_str().unwrap();
        let undone: Value = rpc.ask("memory/undo", json!({"id": if named_is_new { new } else { &old }}));
        assert_eq!(undone["id"], if named_is_new { json!(new) } else { json!(old) });
        let memory = got(&mut rpc, &old);
        assert_eq!((memory["status"].as_str(), memory.get("supersededBy")), (Some("active"), None));
        check::is_error(&rpc.refused("memory/get", json!({"id": new})), ErrorKind::NotFound);
        assert!(found(&mut rpc, "personal", "door word").iter().all(|t| !t.contains("pear")));
    }
}

// MEM-9
#[test]
fn a_new_memory_is_not_undone_but_forgotten() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let id = kept(&mut rpc, "personal", "fresh");
    check::refuses_path(&mut rpc, "memory/undo", json!({"id": id}), "id");
    let again: Value = rpc.ask("memory/update", json!({"id": id, "importance": 1}));
    assert_eq!(again["version"], 2);
    let params = json!({"id": id, "key": "u"});
    let undone: Value = rpc.ask("memory/undo", params.clone());
    assert_eq!(rpc.ask::<Value>("memory/undo", params), undone, "the key answers, nothing further goes back");
}
