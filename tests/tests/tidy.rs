//! Rules of the source that no compiler keeps: who may know whom, how large a file may be, which words are not used, and
//! which requirements no test names.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Longest file, in lines.
const FILE_LINES_MAX: usize = 700;

/// A source file of the workspace.
struct Source {
    /// Path from the workspace's root.
    path: String,
    text: String,
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            if !path.ends_with("target") {
                walk(&path, found);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn sources() -> Vec<Source> {
    let root = tiro_tests::workspace();
    let mut found = Vec::new();
    for member in ["schema", "index", "daemon", "client", "benches", "tests"] {
        walk(&root.join(member), &mut found);
    }
    found
        .into_iter()
        .map(|path| Source {
            text: std::fs::read_to_string(&path).expect("a source file is readable"),
            path: path.strip_prefix(&root).expect("invariant: found below the root").display().to_string(),
        })
        .collect()
}

/// The code of a file: no comments, and nothing from its `#[cfg(test)]` on.
fn code_of(source: &Source) -> String {
    let until_tests = source.text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let is_comment = |line: &&str| !line.trim_start().starts_with("//");
    until_tests.lines().filter(is_comment).collect::<Vec<_>>().join("\n")
}

/// Whether `word` stands in the code as a path's beginning: `redb::` or `use redb`.
fn names_crate(code: &str, word: &str) -> bool {
    code.match_indices(word).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        let is_whole = !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':' || c == '.' || c == '"' || c == '/');
        is_whole && code[at + word.len()..].starts_with("::")
    })
}

/// The crates of the workspace and what each may stand on, outside tests.
const CRATE_ARROWS: &[(&str, &[&str])] =
    &[("schema", &[]), ("index", &["tiro-schema"]), ("daemon", &["tiro-schema", "tiro-index"]), ("client", &["tiro-schema"])];

// STORE-1: the index knows no store.
#[test]
fn crates_stand_only_on_those_below() {
    for (member, allowed) in CRATE_ARROWS {
        let path = tiro_tests::workspace().join(member).join("Cargo.toml");
        let manifest: toml::Table = toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
            for name in manifest.get(section).and_then(|table| table.as_table()).into_iter().flat_map(|table| table.keys()) {
                let is_allowed = !name.starts_with("tiro-") || allowed.contains(&name.as_str());
                assert!(is_allowed, "{member} must not stand on {name} ({section})");
            }
        }
    }
}

/// Which crates may be named where.
const CRATE_PLACES: &[(&str, &[&str])] = &[
    ("redb", &["daemon/src/store/", "tests/src/storage", "tests/src/", "tests/tests/", "daemon/tests/"]),
    ("bincode", &["daemon/src/store/codec.rs", "daemon/src/store/codec/"]),
    ("tantivy", &["index/"]),
    ("hnsw_rs", &["index/"]),
    ("reqwest", &["daemon/src/model/"]),
    ("ort", &["daemon/src/model/embed/onnx/"]),
    ("libloading", &["daemon/src/model/embed/onnx/library.rs"]),
    ("tokenizers", &["daemon/src/model/embed/onnx/"]),
    ("toml_edit", &["daemon/src/embedders.rs"]),
    ("rmcp", &["client/src/mcp/", "tests/src/mcp_fixtures.rs"]),
    ("hyper", &["client/src/mcp/"]),
    ("notify", &["client/src/cli/import/watch.rs"]),
    ("tokio", &["daemon/", "client/", "tests/", "benches/"]),
];

#[test]
fn a_crate_is_named_in_its_room_only() {
    for source in sources() {
        let code = code_of(&source);
        for (name, places) in CRATE_PLACES {
            let is_allowed = places.iter().any(|place| source.path.starts_with(place));
            assert!(is_allowed || !names_crate(&code, name), "{} names {name}, which belongs to {places:?}", source.path);
        }
        if source.path.starts_with("schema/") {
            for name in ["std::fs", "std::net", "std::time::SystemTime", "std::env", "std::process"] {
                assert!(!code.contains(name), "{} names {name}: the schema knows no files, clocks or processes", source.path);
            }
        }
    }
}

/// The rooms of the daemon and which of the others each may name. A file in no room is checked by the rooms that name it.
const ROOM_ARROWS: &[(&str, &[&str])] = &[
    ("rpc", &["service"]),
    ("service", &["session", "memory", "harness", "store", "model", "tool"]),
    ("harness", &["session", "memory", "agent", "model", "tool", "store"]),
    ("session", &["store", "model"]),
    ("memory", &["store", "model"]),
    ("agent", &["model"]),
    ("tool", &[]),
    ("model", &[]),
    ("store", &[]),
    ("config", &[]),
];

/// Files beside the rooms that any of them may name: they name no room themselves.
const NEUTRAL: &[&str] = &["caller", "clock", "connection", "idempotency", "limits", "paths", "tokens", "canonical"];

// LOOP-1: what decides (agent) knows neither the harness nor what it performs.
#[test]
fn rooms_of_the_daemon_name_only_those_below() {
    let rooms: Vec<&str> = ROOM_ARROWS.iter().map(|(room, _)| *room).collect();
    for source in sources().iter().filter(|source| source.path.starts_with("daemon/src/")) {
        let place = source.path.trim_start_matches("daemon/src/").split(['/', '.']).next().unwrap_or_default().to_owned();
        let code = code_of(source);
        let allowed: &[&str] = match ROOM_ARROWS.iter().find(|(room, _)| *room == place) {
            Some((_, allowed)) => allowed,
            None if NEUTRAL.contains(&place.as_str()) => &["store", "paths"],
            // The programs and what puts the rooms together see all.
            None => continue,
        };
        for other in rooms.iter().filter(|other| **other != place && !allowed.contains(other)) {
            let named = code.contains(&format!("crate::{other}::")) || code.contains(&format!("crate::{{{other}"));
            assert!(!named, "{} names crate::{other}: {place} may name {allowed:?}", source.path);
        }
        for other in ["run", "rooms"] {
            assert!(
                !code.contains(&format!("crate::{other}::")),
                "{} names crate::{other}, which is above every room",
                source.path
            );
        }
    }
}

/// What the readers of imports must not name: they turn streams into lines, whoever takes those.
#[test]
fn readers_of_imports_know_neither_daemon_nor_terminal() {
    for source in sources().iter().filter(|source| source.path.starts_with("client/src/import/")) {
        let code = code_of(source);
        for room in ["cli", "connection", "handshake", "launch", "mcp", "place", "render", "workspace"] {
            assert!(!code.contains(&format!("crate::{room}")), "{} names crate::{room}", source.path);
        }
    }
}

#[test]
fn every_file_says_what_it_is_and_none_is_too_long() {
    let mut lengths = Vec::new();
    for source in sources() {
        assert!(source.text.starts_with("//!"), "{} does not open with //!", source.path);
        let lines = source.text.lines().count();
        assert!(lines <= FILE_LINES_MAX, "{} has {lines} lines", source.path);
        lengths.push(lines);
    }
    lengths.sort_unstable();
    let (median, nine_in_ten) = (lengths[lengths.len() / 2], lengths[lengths.len() * 9 / 10]);
    assert!(median < 200, "the median file has {median} lines");
    assert!(nine_in_ten < 450, "one file in ten has {nine_in_ten} lines or more");
}

/// Words that say nothing.
const BANNED: &[&str] = &["manager", "helper", "util", "utils", "common", "processor", "engine"];

#[test]
fn names_say_something() {
    for source in sources() {
        let stem = Path::new(&source.path).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
        let words: Vec<&str> = stem.split('_').collect();
        assert!(!words.iter().any(|word| BANNED.contains(word)), "{} has a name that says nothing", source.path);
        for line in code_of(&source).lines() {
            let mut tokens = line.split_whitespace().skip_while(|token| token.starts_with("pub"));
            if !matches!(tokens.next(), Some("struct" | "enum" | "trait" | "mod" | "type")) {
                continue;
            }
            let name = tokens.next().unwrap_or_default().to_lowercase();
            let name = name.trim_end_matches(|c: char| !c.is_alphanumeric());
            let says_nothing = BANNED.iter().any(|word| name.ends_with(word));
            assert!(!says_nothing, "{}: {line}", source.path);
        }
    }
}

/// The ids of `requirements.txt`, each with whether it is claimed as covered.
fn requirements() -> BTreeMap<String, bool> {
    let text = std::fs::read_to_string(tiro_tests::workspace().join("tests/requirements.txt")).expect("requirements.txt");
    let mut found = BTreeMap::new();
    for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        let id = words.next().unwrap_or_default().to_owned();
        let is_claimed = match words.next() {
            Some("claimed") => true,
            Some("later") => false,
            other => panic!("{line:?}: {other:?} is neither claimed nor later"),
        };
        assert!(found.insert(id.clone(), is_claimed).is_none(), "{id} stands twice");
    }
    found
}

/// Every requirement id that a comment of a test names.
fn named_in_tests() -> BTreeSet<String> {
    let mut named = BTreeSet::new();
    for source in sources() {
        let is_test_file = source.path.contains("/tests/") || source.path.contains("tests.rs");
        let tests = if is_test_file {
            source.text.as_str()
        } else {
            source.text.split_once("#[cfg(test)]").map_or("", |(_, tests)| tests)
        };
        for line in tests.lines() {
            let Some((_, comment)) = line.split_once("//") else { continue };
            for word in comment.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')) {
                if word.contains('-') && word.chars().next().is_some_and(|c| c.is_ascii_uppercase()) {
                    named.insert(word.to_owned());
                }
            }
        }
    }
    named
}

#[test]
fn requirements_that_are_claimed_are_named_by_a_test() {
    let named = named_in_tests();
    let all = requirements();
    let unnamed: Vec<&String> = all.keys().filter(|id| !named.contains(*id)).collect();
    eprintln!("{} of {} requirements are named by no test: {unnamed:?}", unnamed.len(), all.len());
    let broken: Vec<&&String> = unnamed.iter().filter(|id| all[**id]).collect();
    assert!(broken.is_empty(), "claimed, but no test names them: {broken:?}");
}
