//! The memory commands of `tiro` against a real daemon: their happy paths, `--json`, standard input, exit codes.
#![allow(clippy::unwrap_used)]

use serde_json::Value;
use tiro_tests::Tiro;

/// Remembers a text; its id.
fn remembered(tiro: &Tiro, arguments: &[&str]) -> String {
    let value = tiro.json(&[&["remember"], arguments].concat());
    value["id"].as_str().unwrap_or_else(|| panic!("no id in {value}")).to_owned()
}

// MEM-2, MEM-12
#[test]
fn what_is_remembered_is_recalled_listed_and_shown() {
    let tiro = Tiro::new();
    let flags =
        ["--category", "fact", "-t", "infra", "--importance", "0.8", "--occurred-at", "2026-03-05T14:00:00+08:00", "--pinned"];
    let id = remembered(&tiro, &[&["the", "staging", "database", "moved", "to", "port", "5433"][..], &flags].concat());
    let recall = tiro.json(&["recall", "which port does the staging database use?", "--explain"]);
    let hit = &recall["hits"][0];
    assert_eq!((hit["id"].as_str(), hit["text"].as_str()), (Some(id.as_str()), Some("the staging database moved to port 5433")));
    assert!(hit["explain"]["relevance"].as_f64().unwrap() > 0.0, "{hit}");
    let listed = tiro.json(&["list", "-t", "infra"]);
    assert_eq!(listed["items"][0]["id"], id.as_str());
    let shown = tiro.json(&["show", &id[..8]]);
    assert_eq!((shown["category"].as_str(), shown["pinned"].as_bool()), (Some("fact"), Some(true)));
    assert_eq!(shown["occurredAtSource"], "given");
    assert_eq!(shown["sources"][0]["program"], "tiro");
}

#[test]
fn a_pipe_gets_lines_of_fields_without_colours_or_tables() {
    let tiro = Tiro::new();
    let id = tiro.ok(&["remember", "first line\nsecond\tcolumn \u{1b}[31m"]);
    assert_eq!(id.lines().count(), 1);
    for arguments in [&["recall", "second column"][..], &["list"], &["recall", "second column", "--explain"]] {
        let text = tiro.ok(arguments);
        assert!(text.contains(id.trim()), "{text}");
        assert!(!text.contains('─') && !text.contains('│'), "{text}");
        assert!(text.contains("first line\\nsecond\\tcolumn"), "{text}");
    }
    let fields = tiro.ok(&["list"]);
    assert_eq!(fields.trim_end().split('\t').count(), 5);
}

#[test]
fn texts_and_ids_come_from_standard_input() {
    let tiro = Tiro::new();
    let id = tiro.run_with("来自标准输入的一段文字\n", &["remember", "-"]).exits(0).stdout;
    let hits = tiro.run_with("标准输入", &["recall", "-", "--json"]).exits(0).value();
    assert_eq!(hits["hits"][0]["text"], "来自标准输入的一段文字");
    let context = tiro.run_with("标准输入", &["context", "-"]).exits(0).stdout;
    assert!(context.contains("来自标准输入的一段文字"), "{context}");
    tiro.run_with("changed words", &["edit", id.trim(), "--text", "-"]).exits(0);
    assert_eq!(tiro.json(&["show", id.trim()])["text"], "changed words");
    tiro.run_with(&id, &["forget", "-"]).exits(0);
    tiro.run(&["show", id.trim()]).exits(5);
    tiro.run_with("", &["remember", "-"]).exits(2);
}

#[test]
fn an_edit_is_made_on_the_version_it_was_begun_on() {
    let tiro = Tiro::new();
    let id = remembered(&tiro, &["staging uses port 5433"]);
    let changed = tiro.json(&["edit", &id, "--text", "staging uses port 5434", "-c", "fact"]);
    assert_eq!(changed["version"], 2);
    let late = tiro.run(&["edit", &id, "--text", "staging uses port 1", "--if-version", "1"]).exits(1);
    assert!(late.stderr.contains(&format!("tiro show {}", &id[..8])), "{}", late.stderr);
    assert!(!late.stderr.contains("kept in"), "the caller has the text already: {}", late.stderr);
    tiro.ok(&["undo", &id]);
    assert_eq!(tiro.json(&["show", &id])["text"], "staging uses port 5433");
    // An editor is for people.
    tiro.run(&["edit", &id]).exits(2);
}

// MEM-9
#[test]
fn forgetting_hides_at_once_and_undo_brings_back() {
    let tiro = Tiro::new();
    let id = remembered(&tiro, &["the spare key is with Mrs. Okafor", "-t", "home"]);
    let other = remembered(&tiro, &["the bicycle needs a new chain", "-t", "scratch"]);
    assert_eq!(tiro.json(&["forget", "-t", "scratch", "--dry-run"])["count"], 1);
    tiro.ok(&["show", &other]);
    let unasked = tiro.run(&["forget", "-t", "scratch"]).exits(2);
    assert!(unasked.stderr.contains("--yes") && unasked.stdout.is_empty(), "{unasked:?}");
    assert_eq!(tiro.run(&["--json", "forget", "-t", "scratch"]).exits(2).value()["error"]["data"]["kind"], "usage");
    let dry = tiro.run(&["forget", "-t", "scratch", "--dry-run"]).exits(0);
    assert!(dry.stderr.contains("would forget 1 memory"), "{}", dry.stderr);
    tiro.ok(&["show", &other]);
    let forgotten = tiro.json(&["forget", "-t", "scratch", "--yes"]);
    assert_eq!((forgotten["count"].as_u64(), forgotten["ids"][0].as_str()), (Some(1), Some(other.as_str())));
    assert!(forgotten["undoUntil"].is_string());
    tiro.run(&["recall", "bicycle chain"]).exits(5);
    tiro.run(&["show", &other]).exits(5);
    tiro.ok(&["undo", &other]);
    tiro.ok(&["show", &other]);
    let told = tiro.run(&["forget", &other]).exits(0);
    assert!(told.stderr.contains("forgot 1 memory; until ") && told.stderr.contains("tiro undo"), "{}", told.stderr);
    tiro.ok(&["undo", told.stdout.trim()]);
    tiro.run(&["forget"]).exits(2);
    tiro.run(&["forget", &id, "-t", "home"]).exits(2);
    tiro.run(&["forget", "-t", "nothing-has-this"]).exits(5);
}

#[test]
fn pins_and_the_archive_can_be_taken_back() {
    let tiro = Tiro::new();
    let id = remembered(&tiro, &["prefers window seats on trains"]);
    tiro.ok(&["pin", &id]);
    assert_eq!(tiro.json(&["show", &id])["pinned"], true);
    tiro.ok(&["pin", "--off", &id]);
    assert_eq!(tiro.json(&["show", &id])["pinned"], false);
    tiro.ok(&["archive", &id]);
    tiro.run(&["recall", "window seats"]).exits(5);
    assert_eq!(tiro.json(&["list", "--status", "archived"])["items"][0]["id"], id.as_str());
    tiro.ok(&["archive", "--undo", &id]);
    assert_eq!(tiro.json(&["recall", "window seats"])["hits"][0]["id"], id.as_str());
}

// MEM-10, M31
#[test]
fn a_secret_is_refused_with_exit_code_6_and_named_by_kind_only() {
    let tiro = Tiro::new();
    let key = "my key:\n-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW\n-----END OPENSSH PRIVATE KEY-----";
    let refused = tiro.run(&["remember", key]).exits(6);
    assert!(refused.stderr.contains("secret") && !refused.stderr.contains("b3BlbnNz"), "{}", refused.stderr);
    assert_eq!(refused.stdout, "");
    let value = tiro.run(&["--json", "remember", key]).exits(6).value();
    assert_eq!(value["outcome"], "refused");
}

#[test]
fn spaces_are_apart_and_recall_takes_several() {
    let tiro = Tiro::new();
    tiro.ok(&["remember", "the retro is on Fridays", "--space", "work"]);
    tiro.ok(&["remember", "swimming on Fridays", "--space", "home"]);
    tiro.run(&["recall", "Fridays"]).exits(5);
    let both = tiro.json(&["recall", "what happens on Fridays?", "--space", "work", "--space", "home", "--threshold", "0"]);
    assert_eq!(both["hits"].as_array().unwrap().len(), 2);
    tiro.run(&["list", "--space", "work", "--space", "home"]).exits(2);
}

#[test]
fn the_same_key_does_it_once() {
    let tiro = Tiro::new();
    let first = tiro.json(&["remember", "told once", "--key", "k1"]);
    let again = tiro.json(&["remember", "told once", "--key", "k1"]);
    assert_eq!(first, again);
    tiro.run(&["remember", "something else", "--key", "k1"]).exits(1);
}

#[test]
fn a_list_is_read_page_by_page() {
    let tiro = Tiro::new();
    let lines: String = (0..30).map(|n| format!("{{\"text\":\"note number {n} about topic {}\"}}\n", n * 7)).collect();
    tiro.run_with(&lines, &["import", "-"]).exits(0);
    let page = tiro.json(&["list", "-n", "20"]);
    assert_eq!(page["items"].as_array().unwrap().len(), 20);
    let rest = tiro.json(&["list", "-n", "20", "--cursor", page["nextCursor"].as_str().unwrap()]);
    assert_eq!(rest["items"].as_array().unwrap().len(), 10);
    assert_eq!(tiro.json(&["list", "--all"])["items"].as_array().unwrap().len(), 30);
    let oldest: Value = tiro.json(&["list", "--oldest", "-n", "1"]);
    assert_eq!(oldest["items"][0]["text"], "note number 0 about topic 0");
    assert_eq!(tiro.json(&["list", "--text", "TOPIC 70"])["items"].as_array().unwrap().len(), 1);
}

// MEM-9: spaces could be listed and deleted over the socket only
#[test]
fn spaces_are_listed_and_forgotten_whole_when_that_is_said() {
    let tiro = Tiro::new();
    tiro.run(&["space", "list"]).exits(5);
    tiro.ok(&["remember", "the retro is on Fridays", "--space", "work"]);
    tiro.ok(&["remember", "swimming on Fridays", "--space", "home"]);
    let listed = tiro.ok(&["space", "list"]);
    assert!(listed.contains("work\t1\t") && listed.contains("home\t1\t"), "{listed}");
    let dry = tiro.run(&["space", "delete", "work", "--dry-run"]).exits(0);
    assert!(dry.stderr.contains("would forget 1 memory"), "{}", dry.stderr);
    let unasked = tiro.run(&["space", "delete", "work"]).exits(2);
    assert!(unasked.stderr.contains("--yes"), "{}", unasked.stderr);
    assert_eq!(tiro.json(&["list", "--space", "work"])["items"].as_array().unwrap().len(), 1);
    let gone = tiro.run(&["space", "delete", "work", "--yes"]).exits(0);
    tiro.run(&["list", "--space", "work"]).exits(5);
    assert_eq!(tiro.json(&["list", "--space", "home"])["items"].as_array().unwrap().len(), 1);
    tiro.ok(&["undo", gone.stdout.trim()]);
    tiro.ok(&["list", "--space", "work"]);
    tiro.run(&["space", "delete", "no-such-space", "--yes"]).exits(5);
}

// MEM-6: what lapsed is found no more, and still there to be looked at
#[test]
fn a_memory_that_lapsed_is_listed_and_not_recalled() {
    let tiro = Tiro::new();
    let id = remembered(&tiro, &["the visitor badge opens door nine", "--valid-to", "2 days ago"]);
    tiro.run(&["recall", "visitor badge door nine"]).exits(5);
    assert_eq!(tiro.json(&["list"])["items"][0]["id"], id.as_str());
    assert!(tiro.ok(&["show", &id]).contains("valid to"));
}

#[test]
fn what_the_token_budget_left_out_is_told() {
    let tiro = Tiro::new();
    tiro.ok(&["remember", "the staging database moved to port 5433"]);
    let none = tiro.run(&["context", "which port does staging use?", "--token-budget", "5"]).exits(5);
    assert!(none.stderr.contains("1 memory was found") && none.stderr.contains("--token-budget"), "{}", none.stderr);
    let none = tiro.run(&["recall", "which port does staging use?", "--token-budget", "2"]).exits(5);
    assert!(none.stderr.contains("--token-budget"), "{}", none.stderr);
    let weak = tiro.run(&["recall", "zebras in the tundra"]).exits(5);
    assert!(weak.stderr.contains("nothing found"), "{}", weak.stderr);
}

// MEM-9: whatever is forgotten can be brought back, so every id is told
#[test]
fn a_large_forgetting_tells_every_id_and_can_be_undone() {
    let tiro = Tiro::new();
    tiro.ok(&["remember", "of another place", "--space", "other"]);
    let mut rpc = tiro_tests::Rpc::connect(&tiro.socket()).unwrap();
    rpc.initialize();
    let items: Vec<Value> = (0..1_203)
        .map(|i| serde_json::json!({"text": format!("gadget{i} stands on shelf {}", i % 7), "tags": ["bulk"], "verbatim": true}))
        .collect();
    rpc.ask::<Value>("memory/rememberMany", serde_json::json!({"items": items}));
    let forgotten = tiro.json(&["forget", "-t", "bulk", "--yes"]);
    let ids: std::collections::BTreeSet<&str> =
        forgotten["ids"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    assert_eq!((forgotten["count"].as_u64(), ids.len()), (Some(1_203), 1_203));
    tiro.run(&["list", "-t", "bulk"]).exits(5);
    let last = forgotten["ids"][1_202].as_str().unwrap();
    tiro.run_with(last, &["undo", "-"]).exits(0);
    assert_eq!(tiro.json(&["list", "-t", "bulk"])["items"][0]["id"], last);
    let deleted = tiro.json(&["space", "delete", "other", "--yes"]);
    assert_eq!((deleted["count"].as_u64(), deleted["ids"].as_array().unwrap().len()), (Some(1), 1));
}

// MEM-11
#[test]
fn the_audit_is_asked_by_memory_client_and_method() {
    let tiro = Tiro::new();
    let id = remembered(&tiro, &["the", "audit", "sees", "this", "sentence"]);
    tiro.ok(&["show", &id]);
    let rows = tiro_tests::wait_for("the read in the audit", tiro_tests::DEADLINE, || {
        // What asks the audit stands in it too, newer than what is waited for.
        let rows = tiro.json(&["audit", &id[..8], "--limit", "200"])["items"].as_array().unwrap().clone();
        (rows.iter().any(|row| row["method"] == "memory/get")).then_some(rows)
    });
    let first = rows.last().unwrap();
    assert_eq!((first["method"].as_str(), first["outcome"].as_str()), (Some("memory/remember"), Some("created")));
    assert!(first["actor"]["executable"].as_str().unwrap().ends_with("/tiro"), "{first}");
    let text = tiro.ok(&["audit", "--client", "tiro", "--method", "memory/remember"]);
    let fields: Vec<&str> = text.trim_end().split('\t').collect();
    assert_eq!((fields.len(), fields[2], fields[3], fields[8]), (9, "memory/remember", "created", id.as_str()));
    assert!(!text.contains("sentence"));
    tiro.run(&["audit", "--client", "nobody"]).exits(5);
    tiro.run(&["audit", "--outside", &id]).exits(2);
}
