//! `tiro import` of conversations: exports of ChatGPT and Claude, transcripts of Claude Code and Codex, each with the quirks such files have.
#![allow(clippy::unwrap_used)]

use serde_json::Value;
use tiro_tests::Tiro;

fn sample(name: &str) -> String {
    tiro_tests::workspace().join("tests/data/import").join(name).display().to_string()
}

/// A turn as it stands in memory.
#[derive(Debug, PartialEq)]
struct Turn {
    text: String,
    session: String,
    position: u64,
    speaker: String,
    at: String,
    is_given: bool,
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Every turn of a space, by session and position.
fn turns(tiro: &Tiro, space: &str) -> Vec<Turn> {
    let listed = tiro.json(&["list", "--all", "--space", space]);
    let mut turns: Vec<Turn> = listed["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| Turn {
            text: text_of(&item["text"]),
            session: text_of(&item["sources"][0]["session"]),
            position: item["sources"][0]["position"].as_u64().unwrap(),
            speaker: text_of(&item["sources"][0]["speaker"]),
            at: text_of(&item["occurredAt"]),
            is_given: item["occurredAtSource"] == "given",
        })
        .collect();
    turns.sort_by_key(|turn| (turn.session.clone(), turn.position));
    turns
}

/// Imports a sample that holds refused items; the report.
fn imported(tiro: &Tiro, name: &str, code: i32, more: &[&str]) -> Value {
    tiro.run(&[&["--json", "import", &sample(name)], more].concat()).exits(code).value()
}

fn counts(report: &Value) -> (u64, u64, u64, u64) {
    let n = |name: &str| report[name].as_u64().unwrap();
    (n("created"), n("duplicate"), n("updated"), n("refusedCount"))
}

fn skipped(report: &Value) -> Vec<(String, u64)> {
    report["skipped"].as_object().unwrap().iter().map(|(kind, n)| (kind.clone(), n.as_u64().unwrap())).collect()
}

fn kinds(list: &[(&str, u64)]) -> Vec<(String, u64)> {
    list.iter().map(|(kind, n)| ((*kind).to_owned(), *n)).collect()
}

// MEM-9: what was said on the branch that is shown, with its place, speaker and time; a second run adds nothing
#[test]
fn a_chatgpt_export_is_its_current_branch() {
    let tiro = Tiro::new();
    let report = imported(&tiro, "chatgpt.json", 1, &["--space", "chats"]);
    assert_eq!(report["formats"], serde_json::json!(["chatgpt"]));
    assert_eq!(counts(&report), (4, 0, 0, 1), "{report}");
    assert_eq!(
        skipped(&report),
        kinds(&[
            ("empty conversations", 1),
            ("empty turns", 1),
            ("system messages", 2),
            ("thoughts", 1),
            ("tool messages", 2),
            ("turns of other branches", 2)
        ])
    );
    assert_eq!(report["refused"][0]["place"], "conversation 2");
    assert!(text_of(&report["refused"][0]["reason"]).contains("not a conversation"), "{report}");
    let turns = turns(&tiro, "chats");
    let told: Vec<(&str, u64, &str, &str)> =
        turns.iter().map(|turn| (turn.text.as_str(), turn.position, turn.speaker.as_str(), turn.at.as_str())).collect();
    assert_eq!(
        told[..3],
        [
            ("Which channel should the greenhouse humidity sensor use?", 0, "user", "2025-10-09T08:53:30.500Z"),
            // It has no time of its own: that of the turn before it.
            ("Use channel 15: it is the quietest one there.", 1, "assistant", "2025-10-09T08:53:30.500Z"),
            ("Here is the mounting place, half a character was cut: \u{fffd}", 2, "user", "2025-10-09T08:55:00.000Z"),
        ]
    );
    // Nothing tells when this was said: the time of recording, and it says so.
    assert_eq!((told[3].0, turns[3].is_given), ("暖房的备用钥匙在工具棚的蓝色盒子里", false));
    let again = imported(&tiro, "chatgpt.json", 1, &["--space", "chats"]);
    assert_eq!(counts(&again), (0, 4, 0, 1), "{again}");
    assert_eq!(
        tiro.json(&["list", "--all", "--space", "chats", "-t", "Moving the greenhouse sensors"])["items"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
}

#[test]
fn other_branches_come_as_conversations_of_their_own_when_they_are_asked_for() {
    let tiro = Tiro::new();
    let report = imported(&tiro, "chatgpt.json", 1, &["--all-branches"]);
    assert_eq!(counts(&report).0, 6, "{report}");
    let beside: Vec<Turn> = turns(&tiro, "personal").into_iter().filter(|turn| turn.session.ends_with("/a-0")).collect();
    assert_eq!(beside.iter().map(|turn| turn.position).collect::<Vec<_>>(), [0, 1]);
    assert!(beside[1].text.contains("doorbell"), "{beside:?}");
}

// MEM-5: an answer is found by the question before it
#[test]
fn what_was_said_around_an_imported_turn_counts() {
    let tiro = Tiro::new();
    imported(&tiro, "claude.json", 6, &[]);
    let recall = tiro.json(&["recall", "when to feed the rye starter before Saturday's bake", "--explain", "-n", "3"]);
    let hits = recall["hits"].as_array().unwrap();
    let answer = hits.iter().find(|hit| text_of(&hit["text"]).contains("Friday at six")).unwrap_or_else(|| panic!("{recall}"));
    assert_eq!(answer["sources"][0]["session"], "5e550000-0000-4000-8000-000000000001");
    let explain = answer["explain"].to_string();
    assert!(explain.contains("answers") || explain.contains("near"), "{explain}");
}

#[test]
fn a_claude_export_is_the_branch_of_its_last_message() {
    let tiro = Tiro::new();
    let report = imported(&tiro, "claude.json", 6, &[]);
    assert_eq!(counts(&report), (4, 0, 0, 1), "{report}");
    // A secret is refused alone and never told.
    assert_eq!(
        (report["refused"][0]["reason"].as_str(), report["refused"][0]["place"].as_str()),
        (Some("secret:apiKey"), Some("conversation 3, message o2"))
    );
    assert!(!report.to_string().contains("sk-abcd"));
    assert_eq!(
        skipped(&report),
        kinds(&[("attachments", 1), ("empty conversations", 1), ("empty turns", 1), ("turns of other branches", 1)])
    );
    let turns = turns(&tiro, "personal");
    let told: Vec<(&str, &str, u64)> =
        turns.iter().map(|turn| (turn.text.as_str(), turn.speaker.as_str(), turn.position)).collect();
    assert_eq!(
        told,
        [
            ("When do I feed the rye starter before Saturday's bake?", "user", 0),
            ("Feed it on Friday at six in the evening, and once more before you sleep.", "assistant", 1),
            ("Only the old text field here", "assistant", 2),
            ("The oven runs twenty degrees too hot.", "user", 0),
        ]
    );
    let again = imported(&tiro, "claude.json", 6, &[]);
    assert_eq!(counts(&again), (0, 4, 0, 1), "{again}");
}

#[test]
fn a_transcript_of_claude_code_is_what_was_typed_and_answered() {
    let tiro = Tiro::new();
    let report = imported(&tiro, "claude-code.jsonl", 1, &[]);
    assert_eq!(counts(&report), (4, 0, 0, 1), "{report}");
    assert_eq!(report["refused"][0]["line"], 12);
    assert_eq!(
        skipped(&report),
        kinds(&[("summaries", 1), ("system messages", 4), ("thoughts", 1), ("tool messages", 2), ("turns of other agents", 1)])
    );
    let turns = turns(&tiro, "personal");
    assert_eq!(turns[0].text, "Rename the postings table to entries, but keep the old view until March.");
    assert_eq!(turns[3].text, "The diagram still says postings, fix that too.");
    assert_eq!((turns[3].position, turns[3].at.as_str()), (3, "2026-01-05T09:03:00.000Z"));
    assert!(turns.iter().all(|turn| turn.session == "cc-session-1"));
    let tagged = tiro.json(&["list", "--all", "-t", "ledger"]);
    assert_eq!(tagged["items"].as_array().unwrap().len(), 4);
}

// A session that is resumed repeats in its new file what was said before, and a transcript grows: neither is kept twice.
#[test]
fn a_transcript_that_grew_and_one_that_repeats_it_add_what_is_new() {
    let tiro = Tiro::new();
    let whole = std::fs::read_to_string(sample("claude-code.jsonl")).unwrap();
    let begin: String = whole.lines().take(8).map(|line| format!("{line}\n")).collect();
    let first = tiro.run_with(&begin, &["--json", "import", "-"]).exits(0).value();
    assert_eq!((counts(&first), &first["formats"][0]), ((2, 0, 0, 0), &Value::from("claude-code")));
    let second = tiro.run_with(&whole, &["--json", "import", "-"]).exits(1).value();
    assert_eq!(counts(&second), (2, 2, 0, 1), "{second}");
    let resumed = whole.replace("cc-session-1", "cc-session-2");
    let third = tiro.run_with(&resumed, &["--json", "import", "-"]).exits(1).value();
    assert_eq!(counts(&third).0, 0, "{third}");
}

#[test]
fn a_session_of_codex_is_its_messages_once() {
    let tiro = Tiro::new();
    let report = imported(&tiro, "codex.jsonl", 0, &[]);
    // The message that a forked file repeats has another number there: it is told again.
    assert_eq!(counts(&report), (4, 0, 0, 0), "{report}");
    assert_eq!(skipped(&report), kinds(&[("system messages", 2), ("thoughts", 1), ("tool messages", 2)]));
    let turns = turns(&tiro, "personal");
    assert_eq!(
        turns.iter().map(|turn| (turn.text.as_str(), turn.speaker.as_str())).take(3).collect::<Vec<_>>(),
        [
            ("Why do the map tiles come from the Oslo bucket?", "user"),
            ("Because tiles.toml pins it: the Frankfurt bucket had no versioning when the tiles were cut.", "assistant"),
            ("Move them to Frankfurt then.", "user"),
        ]
    );
    assert!(turns.iter().all(|turn| turn.session == "0199aaaa-0000-7000-8000-000000000001"));
    let older = imported(&tiro, "codex-older.jsonl", 0, &["--space", "older"]);
    assert_eq!((counts(&older), &older["formats"][0]), ((2, 0, 0, 0), &Value::from("codex")));
    let again = imported(&tiro, "codex.jsonl", 0, &[]);
    assert_eq!(counts(&again), (0, 4, 0, 0));
}

// What a person changed, put away or forgot since stays as it is, however often the source comes.
#[test]
fn what_was_changed_since_stays_and_is_counted() {
    let tiro = Tiro::new();
    imported(&tiro, "claude-code.jsonl", 1, &[]);
    let ids: Vec<String> = {
        let listed = tiro.json(&["list", "--all", "--oldest"]);
        listed["items"].as_array().unwrap().iter().map(|item| text_of(&item["id"])).collect()
    };
    tiro.ok(&["edit", &ids[0], "--text", "my own words"]);
    tiro.ok(&["archive", &ids[1]]);
    tiro.ok(&["forget", &ids[2]]);
    tiro.ok(&["pin", &ids[3]]);
    let again = imported(&tiro, "claude-code.jsonl", 1, &[]);
    assert_eq!((counts(&again), again["kept"].as_u64()), ((0, 1, 0, 1), Some(3)), "{again}");
    assert_eq!(tiro.json(&["show", &ids[0]])["text"], "my own words");
    assert_eq!(tiro.json(&["list", "--all"])["items"].as_array().unwrap().len(), 2);
}

#[test]
fn folders_of_transcripts_are_taken_file_by_file_and_one_of_no_known_form_is_told() {
    let tiro = Tiro::new();
    let folder = tiro.home().join("sessions/2026/01");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::copy(sample("codex.jsonl"), folder.join("rollout-a.jsonl")).unwrap();
    std::fs::copy(sample("claude-code.jsonl"), folder.join("b.jsonl")).unwrap();
    std::fs::write(folder.join("c.json"), "[1, 2]").unwrap();
    let path = tiro.home().join("sessions");
    let report = tiro.run(&["--json", "import", path.to_str().unwrap()]).exits(1).value();
    assert_eq!((counts(&report).0, counts(&report).3), (8, 2), "{report}");
    assert_eq!(report["formats"], serde_json::json!(["claude-code", "codex"]));
    let files: Vec<bool> = report["refused"].as_array().unwrap().iter().map(|r| r.to_string().contains("c.json")).collect();
    assert!(files.contains(&true) && files.contains(&false), "{report}");
}

#[test]
fn a_file_that_ends_in_the_middle_gives_what_it_holds() {
    let tiro = Tiro::new();
    let whole = std::fs::read_to_string(sample("chatgpt.json")).unwrap();
    let cut = tiro.home().join("cut.json");
    std::fs::write(&cut, &whole[..whole.find("also-not-there").unwrap()]).unwrap();
    let run = tiro.run(&["import", cut.to_str().unwrap()]).exits(1);
    assert!(run.stdout.starts_with("5 turns: 3 new"), "{}", run.stdout);
    assert!(run.stderr.contains("conversation 3: the file ends in the middle of it"), "{}", run.stderr);
}

#[test]
fn a_dry_run_keeps_nothing_and_tells_the_same() {
    let tiro = Tiro::new();
    let dry = imported(&tiro, "chatgpt.json", 1, &["--dry-run"]);
    tiro.run(&["list"]).exits(5);
    let real = imported(&tiro, "chatgpt.json", 1, &[]);
    assert_eq!((counts(&dry), &dry["skipped"]), (counts(&real), &real["skipped"]));
    let after = imported(&tiro, "chatgpt.json", 1, &["--dry-run"]);
    assert_eq!(counts(&after), (0, 4, 0, 1));
}
