//! `tiro store` and `tiro doctor`: verify, back up, restore, rebuild, and the way out of a damaged store.
#![allow(clippy::unwrap_used)]

use tiro_tests::Tiro;

#[test]
fn doctor_says_what_it_found_and_what_to_do() {
    let tiro = Tiro::new();
    let report = tiro.json(&["doctor"]);
    assert_eq!(report["ok"], true, "{report}");
    let names: Vec<&str> = report["checks"].as_array().unwrap().iter().map(|check| check["name"].as_str().unwrap()).collect();
    for name in ["folders", "socket", "tirod", "disk", "daemon", "versions", "store", "index", "embedder", "model"] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
    let text = tiro.ok(&["doctor"]);
    assert!(text.contains("ok    daemon") && !text.contains('\u{1b}'), "{text}");
}

#[test]
fn doctor_warns_of_a_home_in_which_others_may_put_another_store() {
    use std::os::unix::fs::PermissionsExt;
    let tiro = Tiro::new();
    tiro.ok(&["remember", "kept in a folder that all may write to"]);
    let folders = |report: &serde_json::Value| {
        let checks = report["checks"].as_array().unwrap().clone();
        checks.into_iter().find(|check| check["name"] == "folders").unwrap()
    };
    std::fs::set_permissions(tiro.home(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let found = folders(&tiro.json(&["doctor"]));
    assert!(found["found"].as_str().unwrap().contains("may write to") && found.to_string().contains("chmod go-w"), "{found}");
    std::fs::set_permissions(tiro.home(), std::fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(folders(&tiro.json(&["doctor"]))["verdict"], "ok");
}

// STORE-2
#[test]
fn the_store_is_verified_backed_up_rebuilt_and_restored() {
    let tiro = Tiro::new();
    tiro.ok(&["remember", "in the backup"]);
    assert_eq!(tiro.json(&["store", "verify"])["ok"], true);
    let path = tiro.home().join("copy.backup");
    let backup = tiro.json(&["store", "backup", path.to_str().unwrap()]);
    assert!(backup["bytes"].as_u64().unwrap() > 0 && path.exists());
    tiro.ok(&["remember", "after the backup, gone with it"]);
    assert_eq!(tiro.json(&["store", "rebuild"])["documents"], 2);
    let unasked = tiro.run(&["store", "restore", path.to_str().unwrap()]).exits(2);
    assert!(unasked.stderr.contains("--yes"), "{}", unasked.stderr);
    assert_eq!(tiro.json(&["list", "--all"])["items"].as_array().unwrap().len(), 2);
    let restored = tiro.json(&["store", "restore", path.to_str().unwrap(), "--yes"]);
    assert_eq!(restored["memories"], 1);
    assert_eq!(tiro.json(&["list", "--all"])["items"].as_array().unwrap().len(), 1);
    tiro.run(&["store", "restore", "/nonexistent.backup", "--yes"]).exits(5);
}

// STORE-2
#[test]
fn a_damaged_store_is_exit_code_3_and_names_the_way_out() {
    let tiro = Tiro::new();
    tiro.ok(&["remember", "before the damage"]);
    tiro.ok(&["store", "backup"]);
    tiro.ok(&["daemon", "stop"]);
    let store = tiro.home().join("data").join(tiro_daemon::store::STORE_FILE);
    // The head still says that it is a store; nothing behind it is right.
    let mut bytes = std::fs::read(&store).unwrap();
    bytes[4096..].fill(0xa5);
    std::fs::write(&store, &bytes).unwrap();
    let refused = tiro.run(&["list"]).exits(3);
    assert!(refused.stderr.contains("damaged") && refused.stderr.contains("tiro store restore"), "{}", refused.stderr);
    assert!(std::fs::read(&store).unwrap() == bytes, "never overwritten");
    tiro.run(&["doctor"]).exits(3);
    let restored = tiro.json(&["store", "restore", "--yes"]);
    assert!(std::fs::read(restored["setAside"].as_str().unwrap()).unwrap() == bytes, "set aside, not deleted");
    assert_eq!(tiro.json(&["recall", "before the damage"])["hits"][0]["text"], "before the damage");
}

// STORE-2: what was a store is not begun anew unasked, backup or none
#[test]
fn a_store_that_is_gone_without_a_backup_is_refused_and_says_how_to_begin_anew() {
    let tiro = Tiro::new();
    tiro.ok(&["remember", "kept before the file went"]);
    tiro.ok(&["daemon", "stop"]);
    let data = tiro.home().join("data");
    let store = data.join(tiro_daemon::store::STORE_FILE);
    let _ = std::fs::remove_dir_all(data.join("backups"));
    std::fs::remove_file(&store).unwrap();
    let refused = tiro.run(&["list"]).exits(3);
    assert!(
        refused.stderr.contains("the file is missing") && refused.stderr.contains("no backup was found"),
        "{}",
        refused.stderr
    );
    assert!(refused.stderr.contains(&format!("move the folder {} away", data.display())), "{}", refused.stderr);
    // The note in the lock file alone says it too.
    std::fs::remove_dir_all(data.join("index")).unwrap();
    tiro.run(&["list"]).exits(3);
    assert!(!store.exists(), "no store was made");
    std::fs::rename(&data, tiro.home().join("data.away")).unwrap();
    tiro.ok(&["remember", "begun anew"]);
}

// STORE-2: a path that does not do is about the path, not about the disk of the store or about nothing being found
#[test]
fn a_backup_that_cannot_be_written_or_is_none_says_so() {
    let tiro = Tiro::new();
    tiro.ok(&["remember", "one"]);
    let nowhere = tiro.run(&["store", "backup", "/nonexistent/x"]).exits(2);
    assert!(nowhere.stderr.contains("/nonexistent/x cannot be written"), "{}", nowhere.stderr);
    assert!(!nowhere.stderr.contains("disk failed") && !nowhere.stderr.contains("restart"), "{}", nowhere.stderr);
    let other = tiro.home().join("other.txt");
    std::fs::write(&other, "no store at all").unwrap();
    let other = other.to_str().unwrap();
    let there = tiro.run(&["store", "backup", other]).exits(2);
    assert!(there.stderr.contains("exists already"), "{}", there.stderr);
    let none = tiro.run(&["store", "restore", other, "--yes"]).exits(2);
    assert!(none.stderr.contains("is not a store of Tiro"), "{}", none.stderr);
    assert_eq!(std::fs::read_to_string(other).unwrap(), "no store at all");
    tiro.run(&["store", "restore", "--yes"]).exits(5);
    tiro.ok(&["remember", "writes go on"]);
}
