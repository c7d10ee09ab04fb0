//! A purge that dies: whatever it was at, the store is whole, nothing else is lost, and the purge comes to its end.

use super::{files_with, keep, mark, text};
use serde_json::{Value, json};
use std::time::Duration;
use tiro_tests::wait::wait_for;
use tiro_tests::{TestDaemon, check};

/// The parts that a receipt says are done.
fn done(receipt: &Value) -> usize {
    receipt["purgedAt"].as_object().map_or(0, serde_json::Map::len)
}

// MEM-9, D3
#[test]
fn a_purge_killed_at_any_point_leaves_a_whole_store_and_is_taken_up_again() {
    let (kills, step) = if tiro_tests::heavy() { (60, 55) } else { (6, 130) };
    let mut daemon = TestDaemon::spawn();
    let mut all = keep(&mut daemon.rpc(), 0..2_000);
    let (mut purged, mut parts) = (0, Vec::new());
    for round in 0..kills {
        let mut rpc = daemon.rpc();
        let ids: Vec<String> = all[purged..purged + 20].to_vec();
        let asked = rpc.send("memory/forget", json!({"ids": ids, "purge": true})).unwrap();
        std::thread::sleep(Duration::from_millis(20 + step * round % 1_200));
        daemon.kill9();
        assert!(asked > 0);
        daemon.start();
        let mut rpc = daemon.rpc();
        let whole: Value = rpc.ask("store/verify", json!({}));
        assert_eq!(whole["ok"], true, "round {round}: {whole}");
        // Decided on, it comes to its end by itself; not decided on, it is asked for again.
        let found: Value = rpc.ask("memory/receipts", json!({}));
        let newest = found["items"].as_array().unwrap().first().cloned().unwrap_or_default();
        let is_ours = rpc.call("memory/receipts", json!({"id": ids[0]})).is_ok();
        parts.push(if is_ours { done(&newest) } else { 0 });
        if !is_ours {
            let answer: Value = rpc.ask("memory/forget", json!({"ids": ids, "purge": true}));
            assert_eq!(answer["receipt"]["done"], true, "{answer}");
        }
        wait_for("the purge to be over", Duration::from_secs(60), || {
            let found: Value = rpc.ask("memory/receipts", json!({"id": ids[0]}));
            (found["items"][0]["done"] == true).then_some(())
        });
        let marks: Vec<String> = (purged..purged + 20).map(mark).collect();
        assert_eq!(files_with(daemon.home(), &marks), Vec::<String>::new(), "round {round}");
        purged += 20;
        check::recall_contains(&mut rpc, &text(1_999), &text(1_999));
    }
    all.drain(..purged);
    let mut rpc = daemon.rpc();
    for page in all.chunks(200) {
        for id in page.iter().step_by(50) {
            rpc.ask::<Value>("memory/get", json!({"id": id}));
        }
    }
    let whole: Value = rpc.ask("store/verify", json!({}));
    assert_eq!(whole["memories"].as_u64(), Some(all.len() as u64), "nothing else is lost: {whole}");
    println!("parts done at {kills} kills: {parts:?}");
}
