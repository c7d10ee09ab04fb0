//! Export and import: what goes out comes back in, equal; what does not fit is told line by line.

use crate::{all_pages, got, kept, texts};
use serde_json::{Value, json};
use tiro_tests::{InsideDaemon, Rpc, check};

/// Every memory of a space as `memory/get` shows it, without what an import makes anew.
fn all(rpc: &mut Rpc, space: &str) -> Vec<Value> {
    let statuses = json!({"statuses": ["active", "superseded", "archived"]});
    let mut items = all_pages(rpc, "memory/list", &json!({"space": space, "filter": statuses}));
    for item in &mut items {
        let members = item.as_object_mut().unwrap();
        members.shift_remove("version");
        members.shift_remove("updatedAt");
    }
    items.sort_by_key(|item| item["id"].as_str().unwrap().to_owned());
    items
}

fn fill(rpc: &mut Rpc) {
    let full = json!({
        "text": "用户 moved to Leipzig", "space": "work", "kind": "procedural", "category": "identity", "tags": ["a"], "entities": ["Leipzig"],
        "importance": 0.25, "pinned": true, "occurredAt": "2026-01-02T08:30:00+08:00", "validFrom": "2026-01-02T00:00:00Z",
        "source": {"session": "s1", "position": 3, "speaker": "Ann", "program": "mail", "uri": "file:///x"}, "explicit": true
    });
    let id = rpc.ask::<Value>("memory/remember", full.clone())["id"].clone();
    let mut again = full;
    again["source"] = json!({"session": "s2"});
    assert_eq!(rpc.ask::<Value>("memory/remember", again)["id"], id);
    let first = kept(rpc, "work", "ssh listens on port 22");
    let second: Value = rpc.ask("memory/supersede", json!({"id": first, "memory": {"text": "ssh listens on port 49222"}}));
    let _: Value = rpc.ask("memory/supersede", json!({"id": second["id"], "memory": {"text": "ssh listens on port 50022"}}));
    let away = kept(rpc, "work", "put away");
    let _: Value = rpc.ask("memory/archive", json!({"ids": [away]}));
    let gone = kept(rpc, "work", "forgotten");
    let _: Value = rpc.ask("memory/forget", json!({"ids": [gone]}));
    for _ in 0..2 {
        let _: Value = rpc.ask("memory/remember", json!({"text": "a copy", "space": "work", "verbatim": true}));
    }
    let _: Value =
        rpc.ask("memory/recall", json!({"query": "Leipzig", "space": "work", "use": true, "threshold": 0, "limit": 1}));
}

// MEM-9
#[test]
fn an_export_imported_into_a_fresh_home_is_equal_whichever_way_it_is_read() {
    let from = InsideDaemon::start();
    let mut rpc = from.rpc();
    fill(&mut rpc);
    let lines = all_pages(&mut rpc, "memory/export", &json!({"space": "work", "limit": 2}));
    assert_eq!(lines.len(), 7);
    let before = all(&mut rpc, "work");
    let reversed: Vec<Value> = lines.iter().rev().cloned().collect();
    for lines in [lines.clone(), reversed] {
        let to = InsideDaemon::start();
        to.clock.set(tiro_tests::inside::NOON_MS + 86_400_000);
        let mut rpc = to.rpc();
        let mut created = 0;
        for batch in lines.chunks(3) {
            let result: Value = rpc.ask("memory/import", json!({"lines": batch}));
            assert_eq!(
                (&result["refused"], &result["unknownFields"], result["duplicate"].as_u64()),
                (&json!([]), &json!({}), Some(0)),
                "{result}"
            );
            created += result["created"].as_u64().unwrap();
        }
        assert_eq!(created, 7);
        assert_eq!(all(&mut rpc, "work"), before);
        // Once more: all known.
        let result: Value = rpc.ask("memory/import", json!({"lines": lines}));
        assert_eq!((result["created"].as_u64(), result["duplicate"].as_u64()), (Some(0), Some(7)));
        let hit: Value = rpc.ask("memory/recall", json!({"query": "ssh port", "space": "work", "threshold": 0}));
        assert!(texts(&hit["hits"]).contains(&"ssh listens on port 50022".to_owned()));
        assert!(!texts(&hit["hits"]).contains(&"ssh listens on port 22".to_owned()));
    }
}

// MEM-9, MEM-10
#[test]
fn each_line_is_judged_alone_and_unknown_members_are_named() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let known = kept(&mut rpc, "personal", "known already");
    let gone = kept(&mut rpc, "personal", "gone");
    let _: Value = rpc.ask("memory/forget", json!({"ids": [gone]}));
    let secret = format!("sk-{}", "aB3dE5fG7hJ9kL1mN3pQ5");
    let lines = json!([
        {"text": "good", "colour": "red", "score": 1}, {"text": "Known already."}, {"text": "known already!", "id": known}, {"text": "y", "id": gone},
        {"text": format!("key {secret}")}, {"text": "z", "moreSources": [{"uri": secret}]}, {"text": ""}, {"text": "w", "createdAt": "soon"},
        {"text": "v", "id": "no-uuid"}, "no object", {"text": 5}, {"text": "elsewhere", "space": "work", "colour": 2}, {"space": "a/b", "text": "u"},
    ]);
    for (dry, key) in [(true, None), (false, Some("k")), (false, Some("k"))] {
        let result: Value = rpc.ask("memory/import", json!({"lines": lines, "dryRun": dry, "key": key, "space": "personal"}));
        assert_eq!((result["created"].as_u64(), result["duplicate"].as_u64()), (Some(2), Some(2)), "{result}");
        let refused: Vec<u64> = result["refused"].as_array().unwrap().iter().map(|r| r["line"].as_u64().unwrap()).collect();
        assert_eq!(refused, [3, 4, 5, 6, 7, 8, 9, 10, 12]);
        let reason = |n: usize| result["refused"][n]["reason"].as_str().unwrap().to_owned();
        assert!(reason(0).contains("forgotten"));
        assert_eq!(
            (reason(1).as_str(), reason(2).as_str(), reason(3).as_str()),
            ("secret:apiKey", "secret:apiKey", "gate:empty")
        );
        assert!(
            reason(4).contains("createdAt")
                && reason(5).contains("id")
                && reason(7).contains("text")
                && reason(8).contains("space")
        );
        assert_eq!(result["unknownFields"], json!({"colour": 2, "score": 1}));
        let listed = all_pages(&mut rpc, "memory/list", &json!({})).len();
        assert_eq!(listed, if dry { 1 } else { 2 });
    }
    assert_eq!(all_pages(&mut rpc, "memory/list", &json!({"space": "work"})).len(), 1);
}

// MEM-9
#[test]
fn imported_members_are_kept() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let id = "11111111-2222-4333-8444-555555555555";
    let line = json!({"text": "old", "id": id, "createdAt": "2020-01-01T00:00:00Z", "status": "archived", "pinned": true, "seenCount": 4, "useCount": 2, "lastUsedAt": "2021-01-01T00:00:00Z"});
    let _: Value = rpc.ask("memory/import", json!({"lines": [line], "space": "old-things"}));
    let memory = got(&mut rpc, id);
    assert_eq!(
        (memory["createdAt"].as_str(), memory["status"].as_str(), memory["space"].as_str()),
        (Some("2020-01-01T00:00:00.000Z"), Some("archived"), Some("old-things"))
    );
    assert_eq!(
        (memory["seenCount"].as_u64(), memory["useCount"].as_u64(), memory["pinned"].as_bool()),
        (Some(4), Some(2), Some(true))
    );
    assert_eq!(memory["lastUsedAt"], "2021-01-01T00:00:00.000Z");
    check::refuses_path(&mut rpc, "memory/import", json!({"lines": {}}), "lines");
}

// MEM-9: a line of a known id with other words was told to be a duplicate, and its words were lost
#[test]
fn a_line_of_a_known_id_with_other_words_is_refused_with_a_reason() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let id = kept(&mut rpc, "personal", "the boat is red");
    let fresh = "11111111-2222-4333-8444-555555555555";
    let lines = json!([
        {"text": "the boat is green", "id": id}, {"text": "the boat is red", "id": id}, {"text": "one", "id": fresh}, {"text": "two", "id": fresh},
    ]);
    for dry in [true, false] {
        let result: Value = rpc.ask("memory/import", json!({"lines": lines, "dryRun": dry}));
        assert_eq!((result["created"].as_u64(), result["duplicate"].as_u64()), (Some(1), Some(1)), "{result}");
        let reason = |id: &str| format!("id {id} is already there with other words");
        assert_eq!(result["refused"], json!([{"line": 0, "reason": reason(&id)}, {"line": 3, "reason": reason(fresh)}]));
    }
    assert_eq!(got(&mut rpc, &id)["text"], "the boat is red");
}

// MEM-9, M33: an import into a space tells nothing of what another space holds, and changes nothing there
#[test]
fn a_line_whose_id_another_space_has_becomes_a_memory_of_its_own() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    fill(&mut rpc);
    let gone = kept(&mut rpc, "work", "gone");
    let mut lines = all_pages(&mut rpc, "memory/export", &json!({"space": "work"}));
    let _: Value = rpc.ask("memory/forget", json!({"ids": [gone]}));
    let before = all(&mut rpc, "work");
    lines.iter_mut().for_each(|line| line["space"] = json!("copy"));
    for (dry, created) in [(true, 8), (false, 8), (false, 0)] {
        let result: Value = rpc.ask("memory/import", json!({"lines": lines, "dryRun": dry}));
        let counts = (result["created"].as_u64(), result["duplicate"].as_u64(), &result["refused"]);
        assert_eq!(counts, (Some(created), Some(8 - created), &json!([])));
    }
    assert_eq!(all(&mut rpc, "work"), before);
    let copies = all(&mut rpc, "copy");
    assert_eq!(copies.len(), 8);
    let of = |text: &str| copies.iter().find(|c| c["text"] == text).unwrap();
    let (first, second) = (of("ssh listens on port 22"), of("ssh listens on port 49222"));
    assert_eq!((&first["supersededBy"], &second["supersedes"]), (&second["id"], &first["id"]));
    assert!(before.iter().all(|m| m["id"] != first["id"]));
}
