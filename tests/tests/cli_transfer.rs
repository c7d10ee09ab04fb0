//! `tiro import` and `tiro export`: what goes out comes in again, once, and what cannot is told with its line.
#![allow(clippy::unwrap_used)]

use std::os::unix::fs::PermissionsExt;
use tiro_tests::Tiro;

const LINES: &str = "\
{\"text\":\"REQ-2041 limits exports to 30 seconds\",\"category\":\"constraint\",\"tags\":[\"billing\"],\"source\":{\"session\":\"design\",\"position\":3,\"speaker\":\"Ana\"}}

not json at all
{\"text\":\"客户数据只能存放在欧盟境内\",\"occurredAt\":\"2026-01-05T10:00:00Z\",\"mood\":\"calm\"}
{\"category\":\"fact\"}
{\"text\":\"the on-call phone is handed over on Mondays\"}
";

#[test]
fn good_lines_go_in_and_bad_ones_are_told_with_their_number() {
    let tiro = Tiro::new();
    let run = tiro.run_with(LINES, &["import", "-"]).exits(1);
    assert!(run.stderr.contains("line 3: not JSON"), "{}", run.stderr);
    assert!(run.stderr.contains("line 5: "), "{}", run.stderr);
    assert!(run.stdout.contains("5 lines: 3 new, 0 known already, 2 refused"), "{}", run.stdout);
    assert!(run.stdout.contains("mood (1)"), "{}", run.stdout);
    assert_eq!(tiro.json(&["recall", "REQ-2041"])["hits"][0]["sources"][0]["speaker"], "Ana");
}

#[test]
fn an_import_that_is_run_again_takes_nothing_twice() {
    let tiro = Tiro::new();
    let file = tiro.home().join("notes.jsonl");
    let lines: String =
        (0..1200).map(|n| format!("{{\"text\":\"entry {n}: value {} of series {}\"}}\n", n * 31, n % 7)).collect();
    std::fs::write(&file, lines).unwrap();
    let file = file.to_str().unwrap();
    let dry = tiro.json(&["import", file, "--dry-run"]);
    assert_eq!((dry["lines"].as_u64(), dry["created"].as_u64()), (Some(1200), Some(1200)));
    tiro.run(&["list"]).exits(5);
    assert_eq!(tiro.json(&["import", file])["created"], 1200);
    let again = tiro.json(&["import", file]);
    assert_eq!((again["created"].as_u64(), again["duplicate"].as_u64()), (Some(0), Some(1200)), "known ones are new again");
    assert_eq!(tiro.json(&["list", "--all"])["items"].as_array().unwrap().len(), 1200);
}

#[test]
fn what_is_exported_can_be_imported_elsewhere() {
    let (here, there) = (Tiro::new(), Tiro::new());
    here.run_with(LINES, &["import", "-"]).exits(1);
    let lines = here.ok(&["export"]);
    assert_eq!(lines.lines().count(), 3);
    there.run_with(&lines, &["import", "-"]).exits(0);
    let texts = |tiro: &Tiro| {
        let value = tiro.json(&["list", "--all", "--oldest"]);
        let items = value["items"].as_array().unwrap().clone();
        items.iter().map(|item| (item["text"].clone(), item["category"].clone(), item["occurredAt"].clone())).collect::<Vec<_>>()
    };
    assert_eq!(texts(&here).len(), 3);
    assert_eq!(texts(&here)[0].0, texts(&there)[0].0);
    let value = here.json(&["export"]);
    assert_eq!(value["items"].as_array().unwrap().len(), 3);
}

#[test]
fn an_export_to_a_file_is_whole_and_private() {
    let tiro = Tiro::new();
    tiro.ok(&["remember", "something to keep"]);
    let path = tiro.home().join("out.jsonl");
    tiro.ok(&["export", "--output", path.to_str().unwrap()]);
    assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 1);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let below_a_file = path.join("out.jsonl");
    tiro.run(&["export", "--output", below_a_file.to_str().unwrap()]).exits(1);
}

#[test]
fn refused_secrets_alone_are_exit_code_6_and_never_told() {
    // MEM-10
    let tiro = Tiro::new();
    let secret = "AKIAIOSFODNN7EXAMPL2";
    let line = format!(
        "{{\"text\":\"aws_access_key_id = {secret} and aws_secret_access_key = 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\"}}\n"
    );
    let run = tiro.run_with(&line, &["import", "-"]).exits(6);
    assert!(!run.stderr.contains(secret) && run.stderr.contains("line 1: secret:"), "{}", run.stderr);
}

// A line that is to be kept whatever is there has no words to be known by: its place in the file stands for it.
#[test]
fn verbatim_lines_are_taken_once_however_often_the_file_comes() {
    let tiro = Tiro::new();
    let lines = "{\"text\":\"said twice\",\"verbatim\":true}\n".repeat(2);
    for (created, duplicate) in [(2, 0), (0, 2)] {
        let file = tiro.home().join("twice.jsonl");
        std::fs::write(&file, &lines).unwrap();
        let report = tiro.json(&["import", file.to_str().unwrap()]);
        assert_eq!((report["created"].as_u64(), report["duplicate"].as_u64()), (Some(created), Some(duplicate)), "{report}");
    }
}

// What is typed goes over what stands in the file, and that is said.
#[test]
fn an_import_into_a_space_takes_every_line_there() {
    let tiro = Tiro::new();
    let lines = "{\"text\":\"first\",\"space\":\"old\"}\n{\"text\":\"second\"}\n";
    let run = tiro.run_with(lines, &["import", "-", "--space", "new"]).exits(0);
    assert!(run.stdout.contains("1 line named another space: put into new"), "{}", run.stdout);
    assert_eq!(tiro.json(&["list", "--space", "new"])["items"].as_array().unwrap().len(), 2);
    tiro.run(&["list", "--space", "old"]).exits(5);
    tiro.run_with(lines, &["import", "-"]).exits(0);
    assert_eq!(tiro.json(&["list", "--space", "old"])["items"].as_array().unwrap().len(), 1);
}

// API-3: of a member that stands twice one was taken and nobody told which
#[test]
fn a_line_with_a_member_that_stands_twice_is_refused_with_its_number() {
    let tiro = Tiro::new();
    let lines = "{\"text\":\"fine\"}\n{\"text\":\"one\",\"text\":\"two\"}\n";
    let run = tiro.run_with(lines, &["import", "-"]).exits(1);
    assert!(run.stderr.contains("line 2: the member \"text\" stands twice"), "{}", run.stderr);
    assert_eq!(tiro.json(&["list"])["items"].as_array().unwrap().len(), 1);
}
