//! History: every version with what changed and who wrote it, and the chain it stands in.

use crate::got;
use serde_json::{Value, json};
use tiro_schema::ErrorKind;
use tiro_tests::inside::NOON_MS;
use tiro_tests::{InsideDaemon, check};

// MEM-8
#[test]
fn versions_say_what_changed_when_and_by_whom() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let kept: Value = rpc.ask("memory/remember", json!({"text": "The deadline is Friday", "explicit": true}));
    let id = kept["id"].as_str().unwrap();
    daemon.clock.set(NOON_MS + 1_000);
    let _: Value =
        rpc.ask("memory/update", json!({"id": id, "ifVersion": 1, "text": "The deadline is Monday", "tags": ["work"]}));
    daemon.clock.set(NOON_MS + 2_000);
    let _: Value = rpc.ask("memory/pin", json!({"ids": [id]}));
    let history: Value = rpc.ask("memory/history", json!({"id": &id[..8]}));
    let items = history["items"].as_array().unwrap();
    let shape: Vec<_> = items
        .iter()
        .map(|v| (v["version"].as_u64().unwrap(), v["change"].as_str().unwrap(), v["method"].as_str().unwrap()))
        .collect();
    assert_eq!(shape, [(3, "pinned", "memory/pin"), (2, "updated", "memory/update"), (1, "created", "memory/remember")]);
    assert_eq!((items[0]["changed"].clone(), items[1]["changed"].clone()), (json!(["pinned"]), json!(["text", "tags"])));
    assert_eq!((items[2]["text"].as_str(), items[2]["by"]["client"].as_str()), (Some("The deadline is Friday"), Some("tests/0")));
    assert_eq!(items[1]["at"], "2026-03-05T12:00:01.000Z");
    let page: Value = rpc.ask("memory/history", json!({"id": id, "limit": 2}));
    let rest: Value = rpc.ask("memory/history", json!({"id": id, "limit": 2, "cursor": page["nextCursor"]}));
    assert_eq!((page["items"].as_array().unwrap().len(), rest["items"][0]["version"].as_u64()), (2, Some(1)));
    assert!(rest.get("nextCursor").is_none());
    check::is_error(&rpc.refused("memory/history", json!({"id": "00000000"})), ErrorKind::NotFound);
}

// MEM-8
#[test]
fn a_chain_is_told_from_either_end_and_goes_through_export_and_import() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let ports = ["SSH port is 22", "SSH port is 2222", "SSH port is 49222"];
    let ids: Vec<String> = ports
        .iter()
        .map(|text| {
            let told: Value = rpc.ask("memory/remember", json!({"text": text, "explicit": true}));
            told["id"].as_str().unwrap().to_owned()
        })
        .collect();
    let check = |rpc: &mut tiro_tests::Rpc| {
        let history: Value = rpc.ask("memory/history", json!({"id": ids[0]}));
        let after: Vec<&str> = history["after"].as_array().unwrap().iter().map(|link| link["text"].as_str().unwrap()).collect();
        assert_eq!(after, ports[1..]);
        let history: Value = rpc.ask("memory/history", json!({"id": ids[2]}));
        let before: Vec<&str> = history["before"].as_array().unwrap().iter().map(|link| link["text"].as_str().unwrap()).collect();
        assert_eq!(before, [ports[1], ports[0]]);
        assert_eq!(got(rpc, &ids[1])["supersedes"], json!(ids[0]));
    };
    check(&mut rpc);
    let exported: Value = rpc.ask("memory/export", json!({}));
    let other = InsideDaemon::start();
    let mut rpc = other.rpc();
    let taken: Value = rpc.ask("memory/import", json!({"lines": exported["items"]}));
    assert_eq!(taken["created"], 3, "{taken}");
    check(&mut rpc);
}
