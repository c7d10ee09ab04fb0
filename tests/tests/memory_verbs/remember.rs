//! Remembering: every member comes back, duplicates are recognised, nothing else is.

use crate::{found, got, kept};
use serde_json::{Value, json};
use tiro_schema::ErrorKind;
use tiro_tests::inside::NOON_MS;
use tiro_tests::{InsideDaemon, check};

// MEM-2, M11, M12
#[test]
fn every_member_of_a_memory_comes_back() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let source = json!({"session": "s-1", "position": 7, "speaker": "Ann", "program": "mail", "uri": "https://example.org/1"});
    let params = json!({
        "text": "Ann moved to Leipzig", "space": "work", "kind": "semantic", "category": "identity", "tags": ["people", "home"],
        "entities": ["Ann", "Leipzig"], "importance": 0.75, "pinned": true, "occurredAt": "2026-01-02T08:30:00+08:00",
        "validFrom": "2026-01-02T00:00:00Z", "validTo": "2027-01-02T00:00:00Z", "source": source, "explicit": true
    });
    let result: Value = rpc.ask("memory/remember", params);
    assert_eq!(result["outcome"], "created");
    let memory = got(&mut rpc, result["id"].as_str().unwrap());
    let expected = json!({
        "id": result["id"], "version": 1, "space": "work", "kind": "semantic", "category": "identity", "text": "Ann moved to Leipzig",
        "tags": ["people", "home"], "entities": ["Ann", "Leipzig"], "sources": [source], "seenCount": 1, "importance": 0.75,
        "status": "active", "pinned": true, "createdAt": "2026-03-05T12:00:00.000Z", "updatedAt": "2026-03-05T12:00:00.000Z",
        "occurredAt": "2026-01-02T08:30:00.000+08:00", "occurredAtSource": "given", "validFrom": "2026-01-02T00:00:00.000Z",
        "validTo": "2027-01-02T00:00:00.000Z", "useCount": 0, "conflicts": []
    });
    assert_eq!(memory, expected);
    // Nothing said of the time: that of recording, and marked as such.
    let plain = kept(&mut rpc, "work", "no time given");
    let plain = got(&mut rpc, &plain);
    assert_eq!(
        (plain["occurredAt"].as_str(), plain["occurredAtSource"].as_str()),
        (Some("2026-03-05T12:00:00.000Z"), Some("recorded"))
    );
    let hit: Value = rpc.ask("memory/recall", json!({"query": "no time given", "space": "work"}));
    assert_eq!(hit["hits"][0]["occurredAtSource"], "recorded");
}

// MEM-8, M2
#[test]
fn the_same_words_again_grow_one_memory() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let first: Value =
        rpc.ask("memory/remember", json!({"text": "The user likes green tea.", "source": {"session": "a"}, "tags": ["x"]}));
    daemon.clock.set(NOON_MS + 60_000);
    let again: Value =
        rpc.ask("memory/remember", json!({"text": "the user  likes green tea", "source": {"session": "b"}, "tags": ["y"]}));
    assert_eq!(again["outcome"], "duplicate");
    assert_eq!(again["related"], json!([{"id": first["id"], "relation": "duplicate"}]));
    let memory = got(&mut rpc, first["id"].as_str().unwrap());
    assert_eq!(memory["seenCount"], 2);
    assert_eq!(memory["sources"], json!([{"session": "a"}, {"session": "b"}]));
    assert_eq!(memory["tags"], json!(["x", "y"]));
    assert_eq!(memory["text"], "The user likes green tea.");
    assert_eq!(memory["createdAt"], "2026-03-05T12:00:00.000Z");
    assert_eq!(memory["updatedAt"], "2026-03-05T12:01:00.000Z");
    assert_eq!(found(&mut rpc, "personal", "green tea").len(), 1);
}

// MEM-8, M5, M6
#[test]
fn a_change_that_means_something_makes_a_memory_of_its_own() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let texts = [
        "Deploys on Friday are allowed",
        "Deploys on Friday are not allowed",
        "Use the bot account",
        "Use the bot account except for releases",
        "the limit is 5",
        "the limit is -5",
        "C is preferred",
        "C++ is preferred",
        "due 2024-05-01",
        "due 2024-05-10",
        "周五可以部署",
        "周五不可以部署",
    ];
    for text in texts {
        // What is said in two languages is the same: each has its space.
        let space = if text.is_ascii() { "english" } else { "chinese" };
        let result: Value = rpc.ask("memory/remember", json!({"text": text, "explicit": true, "space": space}));
        assert_ne!(result["outcome"], "duplicate", "{text}");
        assert_eq!(got(&mut rpc, result["id"].as_str().unwrap())["text"], text);
    }
}

// MEM-8
#[test]
fn only_what_is_current_counts_as_known_and_verbatim_skips_the_comparison() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let first = kept(&mut rpc, "personal", "a fact");
    let _: Value = rpc.ask("memory/archive", json!({"ids": [first]}));
    let second = kept(&mut rpc, "personal", "a fact");
    let _: Value = rpc.ask("memory/forget", json!({"ids": [second]}));
    let third = kept(&mut rpc, "personal", "a fact");
    let copy: Value = rpc.ask("memory/remember", json!({"text": "a fact", "verbatim": true}));
    assert_eq!(copy["outcome"], "created");
    // The archived one comes back beside the one that is known now.
    let _: Value = rpc.ask("memory/restore", json!({"ids": [first]}));
    let again: Value = rpc.ask("memory/remember", json!({"text": "A fact.", "explicit": true}));
    assert_eq!((again["outcome"].as_str(), again["id"].as_str()), (Some("duplicate"), Some(third.as_str())));
}

// MEM-10
#[test]
fn secrets_and_blank_texts_are_refused_and_say_why() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let key = format!("sk-{}", "aB3dE5fG7hJ9kL1mN3pQ5");
    let reason = |rpc: &mut tiro_tests::Rpc, params: Value| {
        let result: Value = rpc.ask("memory/remember", params);
        assert_eq!(result["outcome"], "refused", "{result}");
        assert!(result.get("id").is_none());
        result["reason"].as_str().unwrap().to_owned()
    };
    assert_eq!(reason(&mut rpc, json!({"text": " \n"})), "gate:empty");
    assert_eq!(
        reason(&mut rpc, json!({"text": format!("my key is {key}"), "explicit": true, "verbatim": true})),
        "secret:apiKey"
    );
    assert_eq!(reason(&mut rpc, json!({"text": "a note", "tags": [key]})), "secret:apiKey");
    assert_eq!(reason(&mut rpc, json!({"text": "a note", "source": {"uri": key}})), "secret:apiKey");
    let id = kept(&mut rpc, "personal", "a note");
    let error = rpc.refused("memory/update", json!({"id": id, "ifVersion": 1, "text": format!("key {key}")}));
    check::is_error(&error, ErrorKind::SecretRefused);
    assert_eq!(error.data.unwrap().details["secret"], "apiKey");
    let error = rpc.refused("memory/supersede", json!({"id": id, "memory": {"text": format!("key {key}")}}));
    check::is_error(&error, ErrorKind::SecretRefused);
    assert_eq!(got(&mut rpc, &id)["version"], 1);
    let listed: Value = rpc.ask("memory/list", json!({}));
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
}

// API-1, API-3
#[test]
fn params_that_do_not_fit_name_their_path() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    check::refuses_path(&mut rpc, "memory/remember", json!({"text": "a", "importance": 2}), "importance");
    check::refuses_path(&mut rpc, "memory/remember", json!({"text": "a", "space": "a/b"}), "space");
    check::refuses_path(&mut rpc, "memory/remember", json!({"text": "a", "occurredAt": "soon"}), "occurredAt");
    check::refuses_path(&mut rpc, "memory/remember", json!({"text": "a", "tags": ["ok", ""]}), "tags[1]");
    check::refuses_path(&mut rpc, "memory/remember", json!({"text": "a", "source": {"page": 1}}), "source.page");
    check::refuses_path(&mut rpc, "memory/remember", json!({"text": "a", "category": "hobby"}), "category");
    check::refuses_path(&mut rpc, "memory/remember", json!({}), "text");
    check::refuses_path(&mut rpc, "memory/recall", json!({"query": "a", "asOfDay": "2024-01-01T00:00:00Z"}), "asOfDay");
    check::refuses_path(&mut rpc, "memory/recall", json!({"query": "a", "asOf": "last year"}), "asOf");
    check::refuses_path(&mut rpc, "memory/context", json!({"query": "a", "validAt": "then"}), "validAt");
    check::refuses_path(&mut rpc, "memory/recall", json!({"query": "a", "diversity": 1.5}), "diversity");
    check::refuses_path(&mut rpc, "memory/recall", json!({"query": "a", "filter": {"after": "soon"}}), "filter.after");
    check::refuses_path(&mut rpc, "memory/get", json!({"id": "abc"}), "id");
    check::refuses_path(&mut rpc, "memory/pin", json!({"ids": []}), "ids");
    check::refuses_path(&mut rpc, "memory/forget", json!({}), "ids");
    check::refuses_path(&mut rpc, "memory/forget", json!({"filter": {"tags": ["a"]}}), "space");
    check::refuses_path(&mut rpc, "memory/forget", json!({"filter": {}, "space": "personal"}), "filter");
    let error = rpc.refused("memory/remember", json!({"text": "a".repeat(70_000)}));
    check::is_error(&error, ErrorKind::TooLarge);
    assert_eq!(error.data.unwrap().details["path"], "text");
    for absent in ["memory/nothing", "store/nothing"] {
        check::is_error(&rpc.refused(absent, json!({})), ErrorKind::MethodNotFound);
    }
}

// API-1: `_meta` is allowed everywhere, and was refused inside a member
#[test]
fn meta_is_taken_no_notice_of_wherever_it_stands() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let params = json!({
        "text": "kept with notes of the caller", "explicit": true, "_meta": {"a": 1},
        "source": {"session": "s", "_meta": {"traceparent": "x"}}
    });
    let kept: Value = rpc.ask("memory/remember", params);
    assert_eq!(kept["outcome"], "created");
    let many = json!({"items": [{"text": "one of many", "explicit": true, "source": {"_meta": {}}, "_meta": {}}]});
    assert_eq!(rpc.ask::<Value>("memory/rememberMany", many)["results"][0]["outcome"], "created");
    let filter = json!({"query": "notes", "filter": {"session": "s", "_meta": null}, "threshold": 0});
    assert_eq!(rpc.ask::<Value>("memory/recall", filter)["hits"].as_array().unwrap().len(), 1);
    let whole: Value = rpc.ask("memory/get", json!({"id": kept["id"]}));
    assert!(!whole.to_string().contains("_meta"), "{whole}");
}
