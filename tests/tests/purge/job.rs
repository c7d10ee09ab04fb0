//! The daemon's own purge, by its clock.

use super::{files_with, keep, mark};
use serde_json::{Value, json};
use std::time::Duration;
use tiro_tests::wait::wait_for;
use tiro_tests::{DaemonSetup, check};

fn at(home: &std::path::Path, now: &str) -> tiro_tests::TestDaemon {
    DaemonSetup::new().home(home).env("TIRO_TEST_NOW", now).spawn()
}

// MEM-9
#[test]
fn what_was_forgotten_eight_days_ago_is_purged_and_what_was_forgotten_two_days_ago_is_not() {
    let home = tempfile::tempdir().unwrap();
    let mut daemon = at(home.path(), "2026-03-01T12:00:00Z");
    let ids = keep(&mut daemon.rpc(), 0..10);
    daemon.rpc().ask::<Value>("memory/forget", json!({"ids": &ids[..3]}));
    daemon.terminate();
    let mut daemon = at(home.path(), "2026-03-07T12:00:00Z");
    daemon.rpc().ask::<Value>("memory/forget", json!({"ids": &ids[3..5]}));
    daemon.terminate();
    let mut daemon = at(home.path(), "2026-03-09T12:00:00Z");
    let mut rpc = daemon.rpc();
    let receipt = wait_for("the daemon to purge", Duration::from_secs(60), || {
        let listed: Value = rpc.ask("memory/receipts", json!({}));
        listed["items"].as_array().unwrap().first().filter(|receipt| receipt["done"] == true).cloned()
    });
    assert_eq!((receipt["count"].as_u64(), receipt["method"].as_str()), (Some(3), Some("purge")), "{receipt}");
    assert_eq!(files_with(home.path(), &[mark(0), mark(1), mark(2)]), Vec::<String>::new());
    assert!(rpc.refused("memory/undo", json!({"id": ids[0]})).message.contains("purged"));
    rpc.ask::<Value>("memory/undo", json!({"id": ids[3]}));
    check::recall_contains(&mut rpc, &super::text(3), &super::text(3));
    daemon.terminate();
}
