//! `tiro import` of Markdown and plain text: passages with their headings and links, and a folder that is kept in step.
#![allow(clippy::unwrap_used)]

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use tiro_tests::{DEADLINE, Tiro, wait_for};

fn sample(name: &str) -> PathBuf {
    tiro_tests::workspace().join("tests/data/import").join(name)
}

/// A copy of the sample folder, to be changed.
fn notes(tiro: &Tiro) -> PathBuf {
    let to = tiro.home().join("notes");
    for path in ["index.md", "ops/rules.md", ".obsidian/hidden.md"] {
        fs::create_dir_all(to.join(path).parent().unwrap()).unwrap();
        fs::copy(sample("notes").join(path), to.join(path)).unwrap();
    }
    to
}

fn items(tiro: &Tiro) -> Vec<Value> {
    tiro.run(&["--json", "list", "--all", "--oldest"]).value()["items"].as_array().cloned().unwrap_or_default()
}

fn texts(tiro: &Tiro) -> Vec<String> {
    items(tiro).iter().map(|item| item["text"].as_str().unwrap().to_owned()).collect()
}

fn import(tiro: &Tiro, path: &Path, more: &[&str]) -> Value {
    tiro.json(&[&["import", path.to_str().unwrap()], more].concat())
}

/// created, known, changed, archived.
fn counts(report: &Value) -> (u64, u64, u64, u64) {
    let n = |name: &str| report[name].as_u64().unwrap();
    (n("created"), n("duplicate"), n("updated"), n("retired"))
}

#[test]
fn a_folder_of_markdown_becomes_a_memory_a_section() {
    let tiro = Tiro::new();
    let folder = notes(&tiro);
    let report = import(&tiro, &folder, &[]);
    assert_eq!((counts(&report), report["sources"].as_u64()), ((5, 0, 0, 0), Some(2)), "{report}");
    let all = texts(&tiro);
    assert!(all.contains(&"Workshop notes › Keys\n\nThe spare key hangs behind the drill press.".to_owned()), "{all:?}");
    assert!(all.contains(&"Rules › Waste\n\nOily rags go into the red bin.".to_owned()), "{all:?}");
    assert!(all.iter().any(|text| text.contains("# this is no heading")) && !all.iter().any(|text| text.contains("hidden")));
    let linked = tiro.json(&["list", "--all", "-t", "Lathe"]);
    let first = &linked["items"][0];
    assert_eq!(first["occurredAt"], "2026-03-05T00:00:00.000Z");
    let tags: Vec<&str> = first["tags"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(tags[0].starts_with("notes@") && tags[1..] == ["Lathe", "rules", "workshop", "shared"], "{tags:?}");
    assert!(first["sources"][0]["uri"].as_str().unwrap().ends_with("/notes/index.md"), "{first}");
    assert_eq!(counts(&import(&tiro, &folder, &[])), (0, 5, 0, 0));
    assert_eq!(tiro.json(&["recall", "where does the spare key hang?"])["hits"][0]["text"], all[2]);
}

#[test]
fn importing_again_changes_what_changed_and_archives_what_went_and_brings_back_what_came_back() {
    let tiro = Tiro::new();
    let folder = notes(&tiro);
    import(&tiro, &folder, &[]);
    let key = tiro.json(&["recall", "spare key"])["hits"][0]["id"].as_str().unwrap().to_owned();
    let index = fs::read_to_string(folder.join("index.md")).unwrap();
    fs::write(folder.join("index.md"), index.replace("behind the drill press", "in the paint cupboard")).unwrap();
    fs::rename(folder.join("ops/rules.md"), folder.join("away")).unwrap();
    let dry = import(&tiro, &folder, &["--dry-run"]);
    assert_eq!(counts(&dry), (0, 2, 1, 2), "{dry}");
    let report = import(&tiro, &folder, &[]);
    assert_eq!(counts(&report), (0, 2, 1, 2), "{report}");
    // The same memory, with its earlier words in its history.
    let shown = tiro.json(&["show", &key]);
    assert!(shown["text"].as_str().unwrap().ends_with("in the paint cupboard."), "{shown}");
    assert_eq!((items(&tiro).len(), tiro.run(&["recall", "oily rags in the red bin", "--json"]).code), (3, 5));
    fs::rename(folder.join("away"), folder.join("ops/rules.md")).unwrap();
    let report = import(&tiro, &folder, &[]);
    assert_eq!((counts(&report), items(&tiro).len()), ((0, 3, 2, 0), 5), "{report}");
    // One document alone is the same as within its folder, and what it lost goes.
    fs::write(folder.join("index.md"), "# Keys\n\nThe spare key hangs behind the drill press.\n").unwrap();
    let report = import(&tiro, &folder.join("index.md"), &[]);
    assert_eq!(counts(&report), (0, 0, 1, 2), "{report}");
}

#[test]
fn what_was_changed_by_hand_or_put_away_stays_so() {
    let tiro = Tiro::new();
    let folder = notes(&tiro);
    import(&tiro, &folder, &[]);
    let id = |query: &str| tiro.json(&["recall", query])["hits"][0]["id"].as_str().unwrap().to_owned();
    let (key, rags) = (id("spare key"), id("oily rags"));
    tiro.ok(&["edit", &key, "--text", "my own words about the key"]);
    tiro.ok(&["archive", &rags]);
    let report = import(&tiro, &folder, &[]);
    assert_eq!((counts(&report), report["kept"].as_u64()), ((0, 3, 0, 0), Some(2)), "{report}");
    fs::remove_file(folder.join("index.md")).unwrap();
    let report = import(&tiro, &folder, &[]);
    assert_eq!(
        (report["retired"].as_u64(), tiro.json(&["show", &key])["status"].as_str()),
        (Some(2), Some("active")),
        "{report}"
    );
}

// A folder that moves keeps its memories under the name it was given; two of one name do not touch each other without.
#[test]
fn a_folder_has_a_name_of_its_own() {
    let tiro = Tiro::new();
    let folder = notes(&tiro);
    import(&tiro, &folder, &["--source", "vault"]);
    let moved = tiro.home().join("moved");
    fs::rename(&folder, &moved).unwrap();
    assert_eq!(counts(&import(&tiro, &moved, &["--source", "vault"])), (0, 0, 5, 0), "only where they can be read changed");
    let other = import(&tiro, &moved, &[]);
    assert_eq!(counts(&other), (5, 0, 0, 0), "{other}");
    let elsewhere = import(&tiro, &moved, &["--source", "vault", "--space", "work"]);
    assert_eq!(counts(&elsewhere), (5, 0, 0, 0), "{elsewhere}");
}

#[test]
fn a_document_that_cannot_be_read_is_told_and_what_it_said_stays() {
    let tiro = Tiro::new();
    let folder = notes(&tiro);
    import(&tiro, &folder, &[]);
    fs::write(folder.join("ops/rules.md"), b"\xff\xfe not text").unwrap();
    let report = tiro.run(&["--json", "import", folder.to_str().unwrap()]).exits(1).value();
    assert_eq!((counts(&report), &report["refused"][0]["place"]), ((0, 3, 0, 0), &Value::from("ops/rules.md")), "{report}");
}

#[test]
fn plain_text_comes_from_a_file_and_from_standard_input() {
    let tiro = Tiro::new();
    let report = import(&tiro, &sample("plain.txt"), &[]);
    assert_eq!((counts(&report), &report["formats"][0]), ((1, 0, 0, 0), &Value::from("text")), "{report}");
    let typed = tiro.run_with("a thought\n\nand another\n", &["--json", "import", "-"]).exits(0).value();
    assert_eq!(counts(&typed), (1, 0, 0, 0), "{typed}");
    let folder = tiro.home().join("texts");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("a.txt"), "first paragraph").unwrap();
    assert_eq!(counts(&import(&tiro, &folder, &["--format", "text"])), (1, 0, 0, 0));
}

/// A watching client. Dropped, it is ended.
struct Watching {
    child: Child,
}

impl Watching {
    fn begin(tiro: &Tiro, folder: &Path) -> Watching {
        let mut command = tiro.command(&["import", "--watch", folder.to_str().unwrap()]);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        Watching { child }
    }

    fn end(mut self) -> i32 {
        let pid = nix::unistd::Pid::from_raw(i32::try_from(self.child.id()).unwrap());
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
        self.child.wait().unwrap().code().unwrap()
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn until(tiro: &Tiro, what: &str, fits: impl Fn(&[String]) -> bool) {
    wait_for(what, DEADLINE, || fits(&texts(tiro)).then_some(()));
}

#[test]
fn a_watched_folder_is_kept_in_step_and_a_daemon_that_dies_is_survived() {
    let tiro = Tiro::new();
    let folder = notes(&tiro);
    let watching = Watching::begin(&tiro, &folder);
    let holds = |all: &[String], words: &str| all.iter().any(|text| text.contains(words));
    until(&tiro, "the folder to be taken", |all| all.len() == 5);
    fs::write(folder.join("new.md"), "# Lamps\n\nThe lamps are on a timer.\n").unwrap();
    until(&tiro, "an added document", |all| holds(all, "on a timer"));
    fs::write(folder.join("new.md"), "# Lamps\n\nThe lamps are on a motion sensor.\n").unwrap();
    until(&tiro, "a changed one", |all| holds(all, "motion sensor") && !holds(all, "on a timer"));
    fs::rename(folder.join("new.md"), folder.join("ops/lamps.md")).unwrap();
    until(&tiro, "a renamed one", |all| all.iter().filter(|text| text.contains("motion sensor")).count() == 1);
    let uri = || items(&tiro).iter().map(|item| item["sources"][0]["uri"].to_string()).collect::<String>();
    wait_for("its new place", DEADLINE, || uri().contains("ops/lamps.md").then_some(()));
    fs::create_dir(folder.join("later")).unwrap();
    fs::write(folder.join("later/deep.md"), "In a folder that came later.").unwrap();
    until(&tiro, "one in a new folder", |all| holds(all, "came later"));
    tiro.kill_daemon();
    fs::write(folder.join("index.md"), "# Keys\n\nWritten while nobody listened.\n").unwrap();
    until(&tiro, "what changed while the daemon was gone", |all| {
        holds(all, "while nobody listened") && !holds(all, "drill press")
    });
    fs::remove_dir_all(folder.join("ops")).unwrap();
    until(&tiro, "a removed folder", |all| !holds(all, "Oily rags") && !holds(all, "motion sensor"));
    assert_eq!(watching.end(), 0);
}
