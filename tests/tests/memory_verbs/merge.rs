//! Merging: several memories become one, and are apart again by undo.

use crate::{found, got, kept};
use serde_json::{Value, json};
use tiro_schema::ErrorKind;
use tiro_tests::{InsideDaemon, check};

// MEM-8, M4
#[test]
fn only_what_was_merged_into_is_found_with_all_sources() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let told = |rpc: &mut tiro_tests::Rpc, text: &str, session: &str| -> String {
        let params = json!({"text": text, "verbatim": true, "tags": [session], "source": {"session": session}});
        rpc.ask::<Value>("memory/remember", params)["id"].as_str().unwrap().to_owned()
    };
    let one = told(&mut rpc, "Ann works at Acme", "a");
    let two = told(&mut rpc, "Ann is CTO of Acme", "b");
    let three = told(&mut rpc, "Ann lives in Leipzig", "c");
    let before = got(&mut rpc, &one);
    let text = "Ann works at Acme in Leipzig as CTO";
    let merged: Value = rpc.ask("memory/merge", json!({"ids": [one, two, three], "text": text}));
    assert_eq!((merged["id"].as_str(), merged["version"].as_u64()), (Some(one.as_str()), Some(2)));
    assert_eq!(found(&mut rpc, "personal", "Ann Acme CTO Leipzig"), [text]);
    let memory = got(&mut rpc, &one);
    assert_eq!(memory["sources"], json!([{"session": "a"}, {"session": "b"}, {"session": "c"}]));
    assert_eq!((memory["seenCount"].as_u64(), memory["tags"].clone()), (Some(3), json!(["a", "b", "c"])));
    assert_eq!(got(&mut rpc, &two)["supersededBy"], json!(one));
    let history: Value = rpc.ask("memory/history", json!({"id": one}));
    assert_eq!(history["items"][0]["change"], "merged");
    assert_eq!(history["merged"].as_array().unwrap().len(), 2);
    // Taken back by any of them, once.
    let undone: Value = rpc.ask("memory/undo", json!({"id": three}));
    assert_eq!(undone["id"], json!(three));
    for (id, words) in [(&one, "Ann works at Acme"), (&two, "Ann is CTO of Acme"), (&three, "Ann lives in Leipzig")] {
        let memory = got(&mut rpc, id);
        assert_eq!((memory["status"].as_str(), memory["text"].as_str()), (Some("active"), Some(words)));
    }
    let mut after = got(&mut rpc, &one);
    (after["version"], after["updatedAt"]) = (before["version"].clone(), before["updatedAt"].clone());
    assert_eq!(after, before);
}

// MEM-8
#[test]
fn a_merge_that_was_built_upon_is_not_taken_back_by_a_part() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let (one, two) = (kept(&mut rpc, "personal", "the red boat leaks"), kept(&mut rpc, "personal", "the red boat needs paint"));
    let _: Value = rpc.ask("memory/merge", json!({"ids": [one, two]}));
    assert_eq!(got(&mut rpc, &one)["text"], "the red boat leaks");
    let _: Value = rpc.ask("memory/pin", json!({"ids": [one]}));
    let error = rpc.refused("memory/undo", json!({"id": two}));
    check::is_error(&error, ErrorKind::InvalidParams);
    let _: Value = rpc.ask("memory/undo", json!({"id": one}));
    let _: Value = rpc.ask("memory/undo", json!({"id": one}));
    assert_eq!(got(&mut rpc, &two)["status"], "active");
}

// MEM-8, MEM-10, API-1
#[test]
fn what_cannot_be_merged_is_refused_whole() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let (one, two) = (kept(&mut rpc, "personal", "first of two"), kept(&mut rpc, "work", "second of two"));
    check::refuses_path(&mut rpc, "memory/merge", json!({"ids": [one]}), "ids");
    check::refuses_path(&mut rpc, "memory/merge", json!({"ids": [one, one]}), "ids");
    check::refuses_path(&mut rpc, "memory/merge", json!({"ids": [one, two]}), "ids[1]");
    let three = kept(&mut rpc, "personal", "third of two");
    let secret = format!("the key is sk-{}", "aB3dE5fG7hJ9kL1mN3pQ5");
    check::is_error(&rpc.refused("memory/merge", json!({"ids": [one, three], "text": secret})), ErrorKind::SecretRefused);
    let _: Value = rpc.ask("memory/archive", json!({"ids": [three]}));
    check::refuses_path(&mut rpc, "memory/merge", json!({"ids": [one, three]}), "ids[1]");
    assert_eq!(got(&mut rpc, &one)["version"], 1);
}
