//! `tiro import` of large exports: killed in the middle and going on, twice without a copy, in flat memory.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use tiro_tests::{DEADLINE, Tiro, wait_for};

/// Turns of one generated conversation.
const TURNS: usize = 20;
/// Time the largest of these imports gets.
const HOURGLASS: Duration = Duration::from_secs(900);

/// An export of this many turns; its words are different everywhere.
fn export(path: &Path, turns: usize) {
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
    file.write_all(b"[").unwrap();
    for conversation in 0..turns / TURNS {
        let mut mapping = serde_json::Map::new();
        mapping.insert("root".to_owned(), json!({"id": "root", "message": null, "parent": null, "children": ["n0"]}));
        for turn in 0..TURNS {
            let number = conversation * TURNS + turn;
            let role = if turn % 2 == 0 { "user" } else { "assistant" };
            let words = format!(
                "turn {number}: the pump of basin {} was set to {} litres an hour, see order {:x}",
                number % 97,
                number % 389,
                number * 7919
            );
            let parent = if turn == 0 { "root".to_owned() } else { format!("n{}", turn - 1) };
            let children: Vec<String> = (turn + 1 < TURNS).then(|| format!("n{}", turn + 1)).into_iter().collect();
            mapping.insert(
                format!("n{turn}"),
                json!({"id": format!("n{turn}"), "parent": parent, "children": children, "message": {
                    "id": format!("m{number}"), "author": {"role": role}, "create_time": 1_700_000_000 + number,
                    "content": {"content_type": "text", "parts": [words]}, "recipient": "all", "metadata": {}
                }}),
            );
        }
        let whole = json!({
            "title": format!("basin {conversation}"), "create_time": 1_700_000_000, "mapping": mapping,
            "current_node": format!("n{}", TURNS - 1), "conversation_id": format!("conversation-{conversation}")
        });
        if conversation > 0 {
            file.write_all(b",\n").unwrap();
        }
        serde_json::to_writer(&mut file, &whole).unwrap();
    }
    file.write_all(b"]").unwrap();
}

fn begin(tiro: &Tiro, file: &Path) -> Child {
    tiro.command(&["--json", "import", file.to_str().unwrap()]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// Where notes of imports under way stand.
fn notes(tiro: &Tiro) -> Vec<PathBuf> {
    std::fs::read_dir(tiro.home().join("state/imports")).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

fn count(report: &Value, name: &str) -> u64 {
    report[name].as_u64().unwrap_or_else(|| panic!("no {name} in {report}"))
}

fn memories(tiro: &Tiro) -> u64 {
    let mut rpc = tiro_tests::Rpc::open(&tiro.socket());
    let stats: Value = rpc.ask("memory/stats", json!({}));
    count(&stats["byStatus"], "active")
}

// A fault test: without the note of how far it is the second run begins anew, and nothing says that it went on.
#[test]
fn an_import_that_was_killed_goes_on_and_keeps_nothing_twice() {
    const ALL: u64 = 20_000;
    let tiro = Tiro::new();
    let file = tiro.home().join("conversations.json");
    export(&file, usize::try_from(ALL).unwrap());
    let mut first = begin(&tiro, &file);
    wait_for("a note of how far it is", DEADLINE, || (!notes(&tiro).is_empty()).then_some(()));
    first.kill().unwrap();
    assert!(first.wait().unwrap().code().is_none(), "it had ended before it was killed: give it more to do");
    let report = tiro.json(&["import", file.to_str().unwrap()]);
    let before = count(&report, "resumedAfter");
    assert!(before > 0 && before < ALL, "{report}");
    // What was taken after the last note is known by its id.
    assert_eq!((count(&report, "lines"), count(&report, "created") + count(&report, "duplicate")), (ALL, ALL), "{report}");
    assert_eq!(memories(&tiro), ALL);
    assert!(notes(&tiro).is_empty(), "a finished import leaves no note");
    let again = tiro.json(&["import", file.to_str().unwrap()]);
    assert_eq!((count(&again, "created"), count(&again, "duplicate"), &again["resumedAfter"]), (0, ALL, &Value::Null), "{again}");
}

// The note is of one file as it was: another file of the name, or the file changed, begins anew.
#[test]
fn a_file_that_changed_meanwhile_is_taken_from_its_beginning() {
    let tiro = Tiro::new();
    let file = tiro.home().join("conversations.json");
    export(&file, 20_000);
    let mut first = begin(&tiro, &file);
    wait_for("a note of how far it is", DEADLINE, || (!notes(&tiro).is_empty()).then_some(()));
    first.kill().unwrap();
    first.wait().unwrap();
    export(&file, 1_000);
    let report = tiro.json(&["import", file.to_str().unwrap()]);
    assert_eq!((count(&report, "lines"), &report["resumedAfter"]), (1_000, &Value::Null), "{report}");
}

#[test]
fn a_daemon_that_dies_in_the_middle_is_started_again_and_nothing_is_lost_or_doubled() {
    const ALL: u64 = 20_000;
    let tiro = Tiro::new();
    let file = tiro.home().join("conversations.json");
    export(&file, usize::try_from(ALL).unwrap());
    let import = begin(&tiro, &file);
    wait_for("a note of how far it is", DEADLINE, || (!notes(&tiro).is_empty()).then_some(()));
    tiro.kill_daemon();
    let output = import.wait_with_output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(output.status.success(), "{report}");
    assert_eq!(memories(&tiro), ALL, "{report}");
}

/// The most a process held resident, in KiB, as it runs to its end; and how long it took.
fn peak(mut child: Child) -> (u64, f64, Value) {
    let begun = Instant::now();
    let path = format!("/proc/{}/status", child.id());
    let mut most = 0;
    wait_for("the import to end", HOURGLASS, || {
        let status = std::fs::read_to_string(&path).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        most = most.max(line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0));
        child.try_wait().unwrap()
    });
    let seconds = begun.elapsed().as_secs_f64();
    let output = child.wait_with_output().unwrap();
    (most, seconds, serde_json::from_slice(&output.stdout).unwrap())
}

// With TIRO_HEAVY a hundred thousand turns against ten thousand; else a fifth of that.
#[test]
fn ten_times_the_turns_take_no_more_memory() {
    let tiro = Tiro::new();
    let mut peaks = Vec::new();
    let few = if std::env::var_os("TIRO_HEAVY").is_some() { 10_000 } else { 2_000 };
    for turns in [few, 10 * few] {
        let file = tiro.home().join(format!("{turns}.json"));
        export(&file, turns);
        let (most, seconds, report) = peak(begin(&tiro, &file));
        let bytes = std::fs::metadata(&file).unwrap().len();
        eprintln!("{turns} turns, {} MiB: {:.0}/s, the client held {} KiB", bytes >> 20, turns as f64 / seconds, most);
        assert_eq!(count(&report, "lines"), turns as u64, "{report}");
        peaks.push(most);
    }
    assert!(peaks[1] < peaks[0] + (8 << 10), "{peaks:?} KiB");
    assert!(peaks[1] < 64 << 10, "{peaks:?} KiB");
}
