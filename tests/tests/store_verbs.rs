//! `store/verify|backup|restore|rebuild` over the socket, and the restore of a store that is refused.

#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use std::path::PathBuf;
use tiro_schema::ErrorKind;
use tiro_schema::wire::store::{BackupResult, RebuildResult, RestoreResult, VerifyResult};
use tiro_tests::check;
use tiro_tests::daemon::TestDaemon;

const MASTER: &str = "The harbour master keeps the tide tables in a green folder";
const KEEPER: &str = "The lighthouse keeper owns seventeen barometers";
const FERRY: &str = "The ferry leaves from pier nine";

fn store_file(daemon: &TestDaemon) -> PathBuf {
    daemon.home().join("data").join("store.redb")
}

// STORE-2
#[test]
fn a_store_is_checked_backed_up_restored_and_its_index_made_again() {
    let daemon = TestDaemon::spawn();
    let mut rpc = daemon.rpc();
    check::remember(&mut rpc, MASTER);
    let report: VerifyResult = rpc.ask("store/verify", json!({}));
    assert!(report.ok && report.memories == 1 && report.records > 5, "{report:?}");

    let backup: BackupResult = rpc.ask("store/backup", json!({}));
    assert_eq!((backup.seq.as_str(), backup.kept.len()), ("1-1", 1), "{backup:?}");
    assert_eq!(std::fs::metadata(&backup.path).unwrap().len(), backup.bytes);
    check::remember(&mut rpc, KEEPER);
    check::recall_contains(&mut rpc, "barometers of the lighthouse keeper", KEEPER);

    let restored: RestoreResult = rpc.ask("store/restore", json!({}));
    assert_eq!((restored.from, restored.memories, restored.epoch), (backup.path.clone(), 1, 2));
    assert!(std::path::Path::new(&restored.set_aside).exists());
    check::recall_lacks(&mut rpc, "barometers of the lighthouse keeper", KEEPER);
    check::recall_contains(&mut rpc, "tide tables of the harbour master", MASTER);
    let seq = rpc.ask::<Value>("memory/recall", json!({"query": "tide tables"}))["seq"].as_str().unwrap().to_owned();
    assert!(seq.starts_with("2-"), "{seq}");

    let rebuilt: RebuildResult = rpc.ask("store/rebuild", json!({}));
    assert_eq!(rebuilt.documents, 1);
    check::recall_contains(&mut rpc, "tide tables of the harbour master", MASTER);
    let report: VerifyResult = rpc.ask("store/verify", json!({}));
    assert!(report.ok, "{report:?}");

    let outside = daemon.home().join("elsewhere.redb");
    let named: BackupResult = rpc.ask("store/backup", json!({"path": outside}));
    assert_eq!((PathBuf::from(named.path), named.kept.len()), (outside.clone(), 1));
    check::is_error(&rpc.refused("store/backup", json!({"path": outside})), ErrorKind::InvalidParams);
    check::refuses_path(&mut rpc, "store/backup", json!({"path": "not/absolute"}), "path");
    check::refuses_path(&mut rpc, "store/verify", json!({"path": "/tmp/x"}), "path");
    let gone = rpc.refused("store/restore", json!({"path": "/nowhere/at/all.redb"}));
    assert!(gone.data.unwrap().outcome.is_some());
    check::recall_contains(&mut rpc, "tide tables of the harbour master", MASTER);
}

// STORE-2: refused with exit code 3, named with its last good backup, and restored by `tirod --restore`
#[test]
fn a_damaged_store_is_refused_and_restored_without_a_daemon() {
    let mut daemon = TestDaemon::spawn();
    let mut rpc = daemon.rpc();
    check::remember(&mut rpc, FERRY);
    let backup: BackupResult = rpc.ask("store/backup", json!({}));
    daemon.terminate();
    let file = store_file(&daemon);
    std::fs::OpenOptions::new().write(true).open(&file).unwrap().set_len(20_000).unwrap();
    let before = std::fs::read(&file).unwrap();
    let (status, said) = daemon.run_to_end();
    assert_eq!(status.code(), Some(3), "{said}");
    assert!(said.contains(file.to_str().unwrap()) && said.contains(&backup.path), "{said}");
    assert!(said.contains("tiro store restore"), "{said}");
    assert!(std::fs::read(&file).unwrap() == before, "the refused file was changed");

    let output = daemon.command().arg("--restore").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let restored: RestoreResult = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((restored.from, restored.memories), (backup.path, 1));
    assert!(std::fs::read(&restored.set_aside).unwrap() == before);
    daemon.start();
    check::recall_contains(&mut daemon.rpc(), "which pier does the ferry leave from", FERRY);
}

// STORE-2, MEM-4
#[test]
fn a_recall_that_counts_as_used_leaves_the_store_whole_and_its_backup_good() {
    let daemon = TestDaemon::spawn();
    let mut rpc = daemon.rpc();
    check::remember(&mut rpc, MASTER);
    rpc.ask::<Value>("memory/recall", json!({"query": "tide tables of the harbour master", "use": true}));
    let report: VerifyResult = rpc.ask("store/verify", json!({}));
    assert!(report.ok, "{report:?}");
    let backup: BackupResult = rpc.ask("store/backup", json!({}));
    let restored: RestoreResult = rpc.ask("store/restore", json!({}));
    assert_eq!(restored.from, backup.path);
}
