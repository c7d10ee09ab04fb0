//! Undo: the last change of each kind is taken back, further with every call, as a version of its own.

use crate::{found, got, kept, texts};
use serde_json::{Value, json};
use tiro_schema::ErrorKind;
use tiro_tests::{InsideDaemon, Rpc, check};

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
    assert_eq!(
        rpc.ask::<Value>("memory/remember", json!({"text": "The boat is red!", "explicit": true}))["outcome"],
        "duplicate"
    );
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

fn superseded(rpc: &mut Rpc, old: &str, text: &str) -> String {
    let made: Value = rpc.ask("memory/supersede", json!({"id": old, "memory": {"text": text}}));
    made["id"].as_str().unwrap().to_owned()
}

#[track_caller]
fn in_the_way(rpc: &mut Rpc, id: &str, other: &str) {
    let error = rpc.refused("memory/undo", json!({"id": id}));
    check::is_error(&error, ErrorKind::InvalidParams);
    assert!(error.message.contains(other), "{} does not name {other}", error.message);
    assert!(!error.data.unwrap().hint.is_empty());
}

fn current(rpc: &mut Rpc) -> Vec<String> {
    let mut found = texts(&rpc.ask::<Value>("memory/list", json!({}))["items"]);
    found.sort();
    found
}

// MEM-8, MEM-9: undoing the first of two supersessions left both ends of the chain current
#[test]
fn undo_of_an_earlier_supersession_does_not_leave_two_current() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let a = kept(&mut rpc, "personal", "the port is one");
    let b = superseded(&mut rpc, &a, "the port is two");
    let c = superseded(&mut rpc, &b, "the port is three");
    in_the_way(&mut rpc, &a, &b);
    assert_eq!(current(&mut rpc), ["the port is three"]);
    let _: Value = rpc.ask("memory/undo", json!({"id": c}));
    assert_eq!(current(&mut rpc), ["the port is two"]);
    let _: Value = rpc.ask("memory/undo", json!({"id": b}));
    assert_eq!(current(&mut rpc), ["the port is one"]);
    // Once more would bring back what was hidden beside it.
    in_the_way(&mut rpc, &b, &a);
    assert_eq!(current(&mut rpc), ["the port is one"]);
}

// MEM-8, MEM-9: what another wrote into the successor was hidden with it
#[test]
fn undo_of_a_supersession_does_not_hide_what_was_written_since() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let a = kept(&mut rpc, "personal", "the port is one");
    let b = superseded(&mut rpc, &a, "the port is two");
    let _: Value = daemon.rpc().ask("memory/update", json!({"id": b, "ifVersion": 1, "text": "the port is two, says Ann"}));
    in_the_way(&mut rpc, &a, &b);
    assert_eq!(current(&mut rpc), ["the port is two, says Ann"]);
    // Taken back, the change is no longer in the way.
    let _: Value = rpc.ask("memory/undo", json!({"id": b}));
    let _: Value = rpc.ask("memory/archive", json!({"ids": [b]}));
    in_the_way(&mut rpc, &a, &b);
    let _: Value = rpc.ask("memory/undo", json!({"id": b}));
    let _: Value = rpc.ask("memory/undo", json!({"id": a}));
    assert_eq!(current(&mut rpc), ["the port is one"]);
}

// MEM-8, MEM-9: a supersession taken back, then each side brought back by itself, left both current
#[test]
fn the_sides_of_a_supersession_that_was_taken_back_do_not_both_come_back() {
    for put_away in ["memory/forget", "memory/archive"] {
        let daemon = InsideDaemon::start();
        let mut rpc = daemon.rpc();
        let a = kept(&mut rpc, "personal", "the port is one");
        let b = superseded(&mut rpc, &a, "the port is two");
        let _: Value = rpc.ask("memory/undo", json!({"id": a}));
        let _: Value = rpc.ask(put_away, json!({"ids": [a]}));
        let _: Value = rpc.ask("memory/undo", json!({"id": b}));
        assert_eq!(current(&mut rpc), ["the port is two"]);
        in_the_way(&mut rpc, &a, &b);
        if put_away == "memory/archive" {
            let error = rpc.refused("memory/restore", json!({"ids": [a]}));
            assert!(error.message.contains(&b), "{}", error.message);
        }
        assert_eq!(current(&mut rpc), ["the port is two"]);
        let _: Value = rpc.ask("memory/forget", json!({"ids": [b]}));
        let _: Value = rpc.ask("memory/undo", json!({"id": a}));
        assert_eq!(current(&mut rpc), ["the port is one"]);
    }
}

// MEM-8, MEM-9: the same over a line of three, where the one between them is gone
#[test]
fn the_ends_of_a_line_of_supersessions_do_not_both_come_back() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let a = kept(&mut rpc, "personal", "the port is one");
    let b = superseded(&mut rpc, &a, "the port is two");
    let c = superseded(&mut rpc, &b, "the port is three");
    let _: Value = rpc.ask("memory/undo", json!({"id": c}));
    let _: Value = rpc.ask("memory/undo", json!({"id": b}));
    assert_eq!(current(&mut rpc), ["the port is one"]);
    in_the_way(&mut rpc, &c, &a);
    let other = superseded(&mut rpc, &a, "the port is four");
    in_the_way(&mut rpc, &c, &other);
    in_the_way(&mut rpc, &b, &other);
    assert_eq!(current(&mut rpc), ["the port is four"]);
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
