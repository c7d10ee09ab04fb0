//! A write repeated with its key is done once, also after a restart; the same key for another call is refused.

use crate::{all_pages, kept};
use serde_json::{Value, json};
use tiro_schema::ErrorKind;
use tiro_tests::inside::NOON_MS;
use tiro_tests::{InsideDaemon, check};

// API-1, MEM-12
#[test]
fn the_same_key_twice_is_one_write() {
    let mut daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let params = json!({"text": "told once", "space": "a", "verbatim": true, "key": "k1"});
    let first: Value = rpc.ask("memory/remember", params.clone());
    assert_eq!(rpc.ask::<Value>("memory/remember", params.clone()), first);
    check::is_error(
        &rpc.refused("memory/remember", json!({"text": "told twice", "space": "a", "explicit": true, "key": "k1"})),
        ErrorKind::KeyReused,
    );
    // Space and method are part of the scope.
    let elsewhere: Value = rpc.ask("memory/remember", json!({"text": "told twice", "space": "b", "explicit": true, "key": "k1"}));
    assert_eq!(elsewhere["outcome"], "created");
    daemon.stop();
    daemon.start_again();
    let mut rpc = daemon.rpc();
    assert_eq!(rpc.ask::<Value>("memory/remember", params.clone()), first);
    assert_eq!(all_pages(&mut rpc, "memory/list", &json!({"space": "a"})).len(), 1);
    // Kept for seven days.
    daemon.clock.set(NOON_MS + 8 * 86_400_000);
    assert_ne!(rpc.ask::<Value>("memory/remember", params)["id"], first["id"]);
    check::refuses_path(&mut rpc, "memory/remember", json!({"text": "x", "key": ""}), "key");
}

// API-1
#[test]
fn twenty_clients_with_one_key_make_one_memory() {
    let daemon = InsideDaemon::start();
    std::thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| {
                let mut rpc = daemon.rpc();
                let result: Value = rpc.ask("memory/remember", json!({"text": "one of many", "verbatim": true, "key": "same"}));
                assert_eq!(result["outcome"], "created");
            });
        }
    });
    assert_eq!(all_pages(&mut daemon.rpc(), "memory/list", &json!({})).len(), 1);
}

// API-1
#[test]
fn every_write_takes_a_key() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let id = kept(&mut rpc, "a", "first words");
    let calls = [
        ("memory/update", json!({"id": id, "importance": 0.9, "key": "k"})),
        ("memory/pin", json!({"ids": [id], "key": "k"})),
        ("memory/archive", json!({"ids": [id], "key": "k"})),
        ("memory/restore", json!({"ids": [id], "key": "k"})),
        ("memory/supersede", json!({"id": id, "memory": {"text": "second words"}, "key": "k"})),
        ("memory/rememberMany", json!({"items": [{"text": "third words", "space": "a", "explicit": true}], "key": "k"})),
        ("memory/import", json!({"lines": [{"text": "fourth words", "space": "a"}], "key": "k"})),
        ("memory/undo", json!({"id": id, "key": "k"})),
        ("memory/forget", json!({"ids": [id], "key": "k"})),
        ("space/delete", json!({"space": "a", "key": "k"})),
    ];
    for (method, params) in calls {
        let first: Value = rpc.ask(method, params.clone());
        let mut again: Value = rpc.ask(method, params.clone());
        if method == "memory/rememberMany" {
            again["seq"] = first["seq"].clone();
        }
        assert_eq!(again, first, "{method}");
        let mut other = params.clone();
        match method {
            "memory/update" => other["importance"] = json!(0.1),
            "memory/rememberMany" => other["items"] = json!([]),
            "memory/import" => other["lines"] = json!([]),
            "memory/supersede" => other["memory"] = json!({"text": "other words"}),
            "memory/pin" => other["pinned"] = json!(false),
            "memory/forget" | "space/delete" => other["dryRun"] = json!(false),
            _ => continue,
        }
        check::is_error(&rpc.refused(method, other), ErrorKind::KeyReused);
    }
}
