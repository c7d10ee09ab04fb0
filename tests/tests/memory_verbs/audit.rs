//! The audit: every read and write with who did it, and which ids.

use crate::{all_pages, kept};
use serde_json::{Value, json};
use tiro_tests::{DEADLINE, InsideDaemon, Rpc, wait_for};

/// Rows of a space once there are `n` of them: reads are written within a second.
fn rows(rpc: &mut Rpc, params: &Value, n: usize) -> Vec<Value> {
    wait_for("the audit of reads", DEADLINE, || {
        let rows: Vec<Value> =
            all_pages(rpc, "memory/audit", params).into_iter().filter(|r| r["method"] != "memory/audit").collect();
        (rows.len() >= n).then_some(rows)
    })
}

// MEM-11
#[test]
fn every_verb_leaves_a_row_with_who_and_which_ids() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let id = kept(&mut rpc, "work", "the audit sees this");
    let calls = [
        ("memory/recall", json!({"query": "audit", "space": "work", "threshold": 0}), "read"),
        ("memory/context", json!({"query": "audit", "space": "work", "threshold": 0}), "read"),
        ("memory/get", json!({"id": id}), "read"),
        ("memory/list", json!({"space": "work"}), "read"),
        ("memory/export", json!({"space": "work"}), "read"),
        ("memory/update", json!({"id": id, "importance": 0.2}), "write"),
        ("memory/pin", json!({"ids": [id]}), "write"),
        ("memory/archive", json!({"ids": [id]}), "write"),
        ("memory/restore", json!({"ids": [id]}), "write"),
        ("memory/undo", json!({"id": id}), "write"),
        ("memory/forget", json!({"ids": [id]}), "write"),
    ];
    for (method, params, _) in &calls {
        let _: Value = rpc.ask(method, params.clone());
    }
    let rows = rows(&mut rpc, &json!({"space": "work", "limit": 3}), calls.len() + 1);
    let mut seen: Vec<(&str, &str)> =
        rows.iter().map(|r| (r["method"].as_str().unwrap(), r["access"].as_str().unwrap())).collect();
    let mut expected: Vec<(&str, &str)> = calls.iter().map(|(method, _, access)| (*method, *access)).collect();
    expected.push(("memory/remember", "write"));
    seen.sort_unstable();
    expected.sort_unstable();
    assert_eq!(seen, expected);
    for row in &rows {
        assert_eq!(row["ids"], json!([id]), "{row}");
        assert_eq!(row["space"], "work");
        let actor = &row["actor"];
        assert_eq!(
            (actor["uid"].as_u64(), actor["pid"].as_u64()),
            (Some(u64::from(nix::unistd::getuid().as_raw())), Some(u64::from(std::process::id())))
        );
        assert_eq!(actor["client"], "tests/0");
        assert!(actor["executable"].as_str().unwrap().contains("memory_verbs"), "{actor}");
    }
    let about = rows_about(&mut rpc, &id);
    assert_eq!(about.len(), rows.len());
}

fn rows_about(rpc: &mut Rpc, id: &str) -> Vec<Value> {
    all_pages(rpc, "memory/audit", &json!({"id": id})).into_iter().filter(|r| r["method"] != "memory/audit").collect()
}

// MEM-11, M25
#[test]
fn a_call_over_two_spaces_leaves_a_row_in_each_with_its_own_ids() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let (a, b) = (kept(&mut rpc, "a", "shared words here"), kept(&mut rpc, "b", "shared words there"));
    let _: Value = rpc.ask("memory/recall", json!({"query": "shared words", "spaces": ["a", "b"], "threshold": 0}));
    for (space, id) in [("a", &a), ("b", &b)] {
        let rows = rows(&mut rpc, &json!({"space": space}), 2);
        let read: Vec<&Value> = rows.iter().filter(|r| r["access"] == "read").collect();
        assert_eq!(read.len(), 1);
        assert_eq!(read[0]["ids"], json!([id]));
    }
    // A read that found nothing is seen too.
    let _: Value = rpc.ask("memory/recall", json!({"query": "QQQQ zxcv", "space": "a", "mode": "lexical"}));
    let rows = rows(&mut rpc, &json!({"space": "a"}), 3);
    assert!(rows.iter().any(|r| r["ids"] == json!([])));
}

// MEM-10, MEM-11: a refused or failed call is in the audit by its outcome, without a word of its text
#[test]
fn what_was_refused_or_failed_is_told_by_its_outcome() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let id = kept(&mut rpc, "personal", "kept");
    let _: Value = rpc.ask("memory/remember", json!({"text": format!("password is {}", "hunter2")}));
    let _: Value = rpc.ask("memory/remember", json!({"text": "kept", "explicit": true}));
    rpc.refused("memory/update", json!({"id": id, "importance": 7.0, "space": "x/y"}));
    rpc.refused("memory/recall", json!({"query": "q", "limit": 0, "space": "personal"}));
    let rows = rows(&mut rpc, &json!({}), 4);
    let told: Vec<(&str, &str)> = rows.iter().map(|r| (r["method"].as_str().unwrap(), r["outcome"].as_str().unwrap())).collect();
    assert!(told.contains(&("memory/remember", "created")) && told.contains(&("memory/remember", "duplicate")), "{told:?}");
    assert!(told.contains(&("memory/remember", "refused: secret:password")), "{told:?}");
    assert!(told.contains(&("memory/recall", "failed: invalidParams")), "{told:?}");
    // What named no space there is, is outside of every one.
    let outside = wait_for("the failed update", DEADLINE, || {
        let rows = all_pages(&mut rpc, "memory/audit", &json!({"outside": true}));
        rows.into_iter().find(|r| r["method"] == "memory/update")
    });
    assert_eq!((outside["outcome"].as_str(), outside["space"].as_str()), (Some("failed: invalidParams"), Some("")));
    assert!(!serde_json::to_string(&rows).unwrap().contains("hunter2"));
    rpc.refused("memory/audit", json!({"outside": true, "space": "personal"}));
}

// MEM-11: the audit is asked by client, method and recall, page by page, newest first
#[test]
fn the_audit_is_asked_by_client_method_and_recall() {
    let daemon = InsideDaemon::start();
    let (mut ours, mut other) = (daemon.rpc(), Rpc::connect(daemon.socket()).unwrap());
    let hello = json!({"protocol": {"min": 1, "max": 1}, "client": {"name": "editor", "version": "3"}, "capabilities": {}});
    other.call("initialize", hello).unwrap();
    for n in 0..3 {
        kept(&mut ours, "work", &format!("ours number {n} is about ships"));
        kept(&mut other, "work", &format!("theirs number {n} is about planes"));
    }
    let found: Value = other.ask("memory/recall", json!({"query": "ships", "space": "work"}));
    let by_recall = json!({"space": "work", "recallId": found["recallId"]});
    let seen = rows(&mut ours, &by_recall, 1);
    assert_eq!((seen.len(), seen[0]["method"].as_str()), (1, Some("memory/recall")));
    assert_eq!(seen[0]["ids"].as_array().unwrap().len(), found["hits"].as_array().unwrap().len());
    let told = |rows: &[Value]| rows.iter().map(|r| r["method"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    for client in ["editor", "editor/3"] {
        let theirs = rows(&mut ours, &json!({"space": "work", "client": client, "limit": 1}), 4);
        assert_eq!(told(&theirs), ["memory/recall", "memory/remember", "memory/remember", "memory/remember"], "newest first");
    }
    let written = rows(&mut ours, &json!({"space": "work", "client": "editor", "method": "memory/remember", "limit": 2}), 3);
    assert_eq!(written.len(), 3);
    let program = rows(&mut ours, &json!({"space": "work", "client": written[0]["actor"]["executable"]}), 7);
    assert_eq!(program.len(), 7, "both are this program");
    assert_eq!(all_pages(&mut ours, "memory/audit", &json!({"space": "work", "client": "nobody"})), Vec::<Value>::new());
}
