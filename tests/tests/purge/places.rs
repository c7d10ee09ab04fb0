//! Each place that a purge takes something out of: found there before, not found after.

use super::{files_with, keep, mark, text};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tiro_index::embed::{Embedder, PassageKind, Role, StaticTable};
use tiro_index::vector::Block;
use tiro_tests::wait::wait_for;
use tiro_tests::{Rpc, TestDaemon, check};

/// Files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found
}

/// Files below a folder that hold these bytes.
fn with_bytes(folder: &Path, bytes: &[u8]) -> Vec<PathBuf> {
    let holds = |path: &PathBuf| std::fs::read(path).unwrap_or_default().windows(bytes.len()).any(|window| window == bytes);
    files(folder).into_iter().filter(holds).collect()
}

/// The codes of a text's vector, as snapshots hold them.
fn codes(text: &str) -> Vec<u8> {
    let vector = StaticTable::new().unwrap().embed(Role::Passage(PassageKind::Fact), text).unwrap();
    let mut block = Block::new(vector.len());
    block.put(0, &vector).unwrap();
    block.get(0).unwrap().0[..vector.len()].iter().map(|&code| code as u8).collect()
}

/// Files of a folder of the index by the end of their names.
fn ending(home: &Path, end: &str) -> usize {
    files(home).iter().filter(|path| path.to_string_lossy().ends_with(end)).count()
}

// MEM-9, D15
#[test]
fn each_step_takes_what_is_purged_out_of_its_place() {
    let mut daemon = TestDaemon::spawn();
    // Enough that the pages that are freed are not all written over by what the purge itself notes.
    let ids = keep(&mut daemon.rpc(), 0..800);
    let gone: Vec<usize> = (3..800).step_by(20).collect();
    let named: Vec<&String> = gone.iter().map(|n| &ids[*n]).collect();
    // A stop writes the snapshot of the index.
    daemon.restart();
    let mut rpc = daemon.rpc();
    let home = daemon.home().to_owned();
    let made: Value = rpc.ask("store/backup", json!({}));
    rpc.ask::<Value>("memory/forget", json!({"ids": named}));
    let words: Vec<String> = gone.iter().map(|n| mark(*n)).collect();
    let store = files_with(&home, &words);
    assert!(store.iter().any(|file| file.ends_with("store.redb")), "words in the store: {store:?}");
    assert!(store.iter().any(|file| file == made["path"].as_str().unwrap()), "words in the backup: {store:?}");
    assert_eq!(with_bytes(&home.join("data/index"), &codes(&text(3))).len(), 1, "the vector in the snapshot");
    // Deletions stand beside a segment of the full-text index, which holds what they are about.
    wait_for("the full-text index to delete", Duration::from_secs(30), || (ending(&home, ".del") > 0).then_some(()));

    let answer: Value = rpc.ask("memory/forget", json!({"ids": named, "purge": true}));
    assert_eq!((answer["count"].as_u64(), answer["receipt"]["done"].as_bool()), (Some(40), Some(true)), "{answer}");
    assert_eq!(files_with(&home, &words), Vec::<String>::new(), "words");
    assert_eq!(with_bytes(&home, &codes(&text(3))), Vec::<PathBuf>::new(), "vectors");
    assert_eq!(with_bytes(&home.join("data/index"), &codes(&text(7))).len(), 1, "what is kept has its vector in the snapshot");
    assert_eq!(ending(&home, ".del"), 0, "segments with deletions");
    let left = files_with(&home, &[mark(7)]);
    assert_eq!(left.len(), 2, "what is kept stands in the store and in the new backup: {left:?}");
}

/// Puts a backup in the place of the store; the file that is set aside.
fn restore(rpc: &mut Rpc, home: &Path) -> PathBuf {
    rpc.ask::<Value>("store/restore", json!({}));
    files(home).into_iter().find(|path| path.to_string_lossy().ends_with(".replaced")).unwrap()
}

// MEM-9, STORE-2: a store set aside by a restore goes when what was purged stands in it, in whatever page, and stays otherwise
#[test]
fn a_store_set_aside_goes_when_it_holds_what_was_purged() {
    let daemon = TestDaemon::spawn();
    let mut rpc = daemon.rpc();
    let old = keep(&mut rpc, 0..5);
    rpc.ask::<Value>("store/backup", json!({}));
    let aside = restore(&mut rpc, daemon.home());
    let new = keep(&mut rpc, 5..10);
    let answer: Value = rpc.ask("memory/forget", json!({"ids": [new[0]], "purge": true}));
    assert_eq!(answer["receipt"]["setAsideRemoved"], 0, "{answer}");
    assert!(aside.exists(), "it holds nothing of what was purged");
    assert_eq!(files_with(aside.parent().unwrap(), &[mark(0)]).iter().filter(|file| Path::new(file) == aside).count(), 1);
    let answer: Value = rpc.ask("memory/forget", json!({"ids": [old[0]], "purge": true}));
    assert_eq!(answer["receipt"]["setAsideRemoved"], 1, "{answer}");
    assert!(!aside.exists());
    assert_eq!(files_with(daemon.home(), &[mark(0), mark(5)]), Vec::<String>::new());
}

// MEM-9: a backup that does not open is kept unless its bytes hold what was purged: it may be all that is left of something
#[test]
fn a_damaged_backup_goes_only_when_it_holds_what_was_purged() {
    let daemon = TestDaemon::spawn();
    let mut rpc = daemon.rpc();
    keep(&mut rpc, 0..5);
    let backup = |rpc: &mut Rpc| PathBuf::from(rpc.ask::<Value>("store/backup", json!({}))["path"].as_str().unwrap());
    let before = backup(&mut rpc);
    let ids = keep(&mut rpc, 5..10);
    let with = backup(&mut rpc);
    for path in [&before, &with] {
        let mut bytes = std::fs::read(path).unwrap();
        bytes[..64].fill(0xA5);
        std::fs::write(path, bytes).unwrap();
    }
    let answer: Value = rpc.ask("memory/forget", json!({"ids": [ids[0]], "purge": true}));
    assert_eq!(answer["receipt"]["backupsRemoved"], 1, "{answer}");
    assert!(before.exists() && !with.exists());
}

// MEM-9: what stands beside a purged memory stays whole, and goes on as if that had never been
#[test]
fn neighbours_of_a_purged_memory_are_as_usable_as_before() {
    let mut daemon = TestDaemon::spawn();
    let mut rpc = daemon.rpc();
    let port = check::remember(&mut rpc, "The gateway listens on port 4100");
    let moved: Value = rpc.ask("memory/supersede", json!({"id": port, "memory": {"text": "The gateway listens on port 4200"}}));
    let last: Value =
        rpc.ask("memory/supersede", json!({"id": moved["id"], "memory": {"text": "The gateway listens on port 4300"}}));
    let lines: Value = rpc.ask("memory/export", json!({}));
    let purged = |rpc: &mut Rpc, id: &Value| {
        let answer: Value = rpc.ask("memory/forget", json!({"ids": [id], "purge": true}));
        assert_eq!(answer["receipt"]["done"], true, "{answer}");
    };
    purged(&mut rpc, &moved["id"]);
    let history: Value = rpc.ask("memory/history", json!({"id": last["id"]}));
    assert_eq!((history["before"].clone(), history["after"].clone()), (json!([]), json!([])), "{history}");
    let first: Value = rpc.ask("memory/get", json!({"id": port}));
    assert_eq!((first["status"].as_str(), first.get("supersededBy")), (Some("superseded"), None), "{first}");
    check::recall_contains(&mut rpc, "which port does the gateway listen on?", "The gateway listens on port 4300");
    rpc.ask::<Value>("memory/export", json!({}));
    let past: Value =
        rpc.ask("memory/recall", json!({"query": "gateway port 4200", "asOf": "2100-01-01T00:00:00Z", "threshold": 0}));
    assert!(!past.to_string().contains("4200"), "{past}");

    // Neither an undo of its neighbours nor an import of an old export brings it back.
    for id in [&json!(port), &last["id"]] {
        if let Ok(undone) = rpc.call("memory/undo", json!({"id": id})) {
            assert!(undone["version"].is_number(), "{undone}");
        }
    }
    let old: Vec<Value> = lines["items"].as_array().unwrap().iter().filter(|line| line["id"] == moved["id"]).cloned().collect();
    assert_eq!(old.len(), 1, "{lines}");
    for dry_run in [true, false] {
        let taken: Value = rpc.ask("memory/import", json!({"lines": old, "dryRun": dry_run}));
        assert_eq!(taken["created"], 0, "{taken}");
        assert!(taken["refused"][0]["reason"].as_str().unwrap().contains("purged"), "{taken}");
    }
    check::recall_lacks(&mut rpc, "gateway port 4200", "The gateway listens on port 4200");
    assert_eq!(rpc.ask::<Value>("store/verify", json!({}))["ok"], true);
    daemon.restart();
    let mut rpc = daemon.rpc();
    assert_eq!(rpc.ask::<Value>("store/verify", json!({}))["ok"], true);
    let told: Value = rpc.ask("store/verify", json!({"absent": "listens on port 4200"}));
    assert_eq!(told["absent"]["ok"], true, "{told}");
}
