//! Starting with many memories after a kill: right answers soon, and the same ones as before.

use serde_json::{Value, json};
use std::time::Instant;
use tiro_tests::{Rpc, TestDaemon, heavy};

fn text(i: usize) -> String {
    let words = [
        "harbour", "crane", "ledger", "violin", "orchard", "signal", "copper", "window", "meadow", "lantern", "anchor", "ribbon",
    ];
    let word = |k: usize| words[(i / k + i) % words.len()];
    format!(
        "item{i} concerns the {} and the {} beside the {} of the {} in bay {}",
        word(1),
        word(12),
        word(144),
        word(1728),
        i % 97
    )
}

fn answers(rpc: &mut Rpc, n: usize) -> Vec<Value> {
    let probes = [0, n / 3, n / 2, n - 1];
    probes
        .iter()
        .map(|i| {
            let result: Value = rpc
                .ask("memory/recall", json!({"query": format!("item{i} harbour"), "limit": 3, "decay": false, "threshold": 0}));
            assert_eq!(result["hits"][0]["text"], text(*i));
            json!(result["hits"].as_array().unwrap().iter().map(|h| h["id"].clone()).collect::<Vec<_>>())
        })
        .collect()
}

// M30, STORE-1
#[test]
fn many_memories_are_found_right_after_a_kill_and_a_start() {
    let n = if heavy() { 100_000 } else { 3_000 };
    let mut daemon = TestDaemon::spawn();
    let mut rpc = daemon.rpc();
    let began = Instant::now();
    for start in (0..n).step_by(1_000) {
        let items: Vec<Value> = (start..start + 1_000).map(|i| json!({"text": text(i), "verbatim": true})).collect();
        let _: Value = rpc.ask("memory/rememberMany", json!({"items": items}));
    }
    eprintln!("{n} memories written in {:?}", began.elapsed());
    let before = answers(&mut rpc, n);
    daemon.kill9();
    let began = Instant::now();
    daemon.start_only();
    let socket = daemon.socket();
    let mut rpc = tiro_tests::wait_for("the daemon to answer", tiro_tests::DEADLINE, || Rpc::connect(&socket).ok());
    rpc.initialize();
    let first: Value = rpc.ask("memory/recall", json!({"query": "item7 harbour", "limit": 1, "threshold": 0}));
    let elapsed = began.elapsed();
    assert_eq!(first["hits"][0]["text"], text(7));
    eprintln!("first right answer {elapsed:?} after the start, with {n} memories");
    assert_eq!(answers(&mut rpc, n), before);
    let stats: Value = rpc.ask("memory/stats", json!({}));
    assert_eq!(stats["index"]["documents"], n);
}
