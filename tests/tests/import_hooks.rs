//! `tiro context --hook`, `tiro import --hook` and `.tiro.toml`: memory where nobody waits and nobody reads errors.
#![allow(clippy::unwrap_used)]

use serde_json::json;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use tiro_tests::{DEADLINE, Ran, Tiro, wait_for};

fn sample(name: &str) -> PathBuf {
    tiro_tests::workspace().join("tests/data/import").join(name)
}

/// A folder of work, with a file that names its space.
fn shop(tiro: &Tiro) -> PathBuf {
    let folder = tiro.home().join("shop/src/deep");
    fs::create_dir_all(&folder).unwrap();
    fs::write(tiro.home().join("shop/.tiro.toml"), "space = \"shop\"\n").unwrap();
    folder
}

/// Runs a command in a folder with words on its standard input.
fn run_in(tiro: &Tiro, folder: &Path, input: &str, arguments: &[&str]) -> Ran {
    let mut child = tiro.command(arguments).current_dir(folder).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Ran::of(arguments, output)
}

fn silent(ran: &Ran) {
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""), "{ran:?}");
}

#[test]
fn the_folder_names_the_space_of_every_command_and_the_command_line_goes_over_it() {
    let tiro = Tiro::new();
    let deep = shop(&tiro);
    run_in(&tiro, &deep, "", &["remember", "the till is counted at ten"]).exits(0);
    run_in(&tiro, &deep, "", &["remember", "my own note", "--space", "personal"]).exits(0);
    let texts = |space: &str| tiro.json(&["list", "--all", "--space", space])["items"].to_string();
    assert!(texts("shop").contains("till is counted") && texts("personal").contains("my own note"));
    run_in(&tiro, &deep, "", &["recall", "when is the till counted?"]).exits(0);
    tiro.run(&["recall", "when is the till counted?"]).exits(5);
    run_in(&tiro, &deep, "{\"text\":\"imported here\"}\n{\"text\":\"and there\",\"space\":\"other\"}\n", &["import", "-"])
        .exits(0);
    assert!(texts("shop").contains("imported here") && texts("other").contains("and there"));
    // One that cannot be followed is told: what is written must not land elsewhere.
    fs::write(deep.join(".tiro.toml"), "space = 3").unwrap();
    let run = run_in(&tiro, &deep, "", &["remember", "where does this go?"]).exits(2);
    assert!(run.stderr.contains(".tiro.toml") && run.stderr.contains("--space"), "{}", run.stderr);
    run_in(&tiro, &deep, "", &["remember", "this one is sure", "--space", "shop"]).exits(0);
}

#[test]
fn a_hook_gets_what_fits_the_prompt_in_the_space_of_the_work() {
    let tiro = Tiro::new();
    let deep = shop(&tiro);
    tiro.ok(&["remember", "Refunds over fifty euros need Mira's signature.", "--space", "shop"]);
    tiro.ok(&["remember", "Refunds go through the old terminal."]);
    let told = json!({"session_id": "s", "cwd": deep, "hook_event_name": "UserPromptSubmit", "prompt": "who signs refunds over fifty euros?"});
    let ran = run_in(&tiro, Path::new("/"), &told.to_string(), &["context", "--hook", "--within", "20000", "-"]).exits(0);
    assert!(ran.stdout.contains("Mira's signature") && !ran.stdout.contains("old terminal"), "{}", ran.stdout);
    // The words alone, on the command line or on standard input.
    for (input, words) in [("", "refunds over fifty euros"), ("refunds over fifty euros", "-")] {
        let ran = run_in(&tiro, &deep, input, &["context", "--hook", "--within", "20000", words]).exits(0);
        assert!(ran.stdout.contains("Mira"), "{words}: {ran:?}");
    }
    let ran =
        run_in(&tiro, &deep, &told.to_string(), &["context", "--hook", "--within", "20000", "-", "--space", "personal"]).exits(0);
    assert!(ran.stdout.contains("old terminal"), "{}", ran.stdout);
}

#[test]
fn a_hook_with_nothing_to_say_says_nothing() {
    let tiro = Tiro::new();
    let deep = shop(&tiro);
    // Nothing there, nothing near, nothing asked, nothing readable.
    for input in ["{\"prompt\":\"anything\"}", "", "{broken", "[]", "words"] {
        silent(&run_in(&tiro, &deep, input, &["context", "--hook", "--within", "20000", "-"]));
    }
    tiro.ok(&["remember", "the kiln cools for nine hours", "--space", "shop"]);
    silent(&run_in(&tiro, &deep, "QQQQ zxcv", &["context", "--hook", "--within", "20000", "-"]));
    silent(&run_in(&tiro, &deep, "the kiln", &["context", "--hook", "--within", "20000", "-", "--space", "no such name"]));
    fs::write(deep.join(".tiro.toml"), "space = 3").unwrap();
    silent(&run_in(&tiro, &deep, "how long does the kiln cool?", &["context", "--hook", "-"]));
    // Below a file no folder can be made, not even by root.
    let outside = Tiro::new().env("TIRO_SOCKET", "/dev/null/found.sock");
    silent(&outside.run(&["context", "--hook", "anything"]));
}

#[test]
fn a_daemon_that_is_not_ready_in_time_is_not_waited_for_and_is_there_the_next_time() {
    let tiro = Tiro::new();
    tiro.ok(&["remember", "the ferry leaves at half past six"]);
    tiro.kill_daemon();
    silent(&tiro.run(&["context", "--hook", "--within", "1", "when does the ferry leave?"]));
    wait_for("the daemon that was begun, or the next call, to answer", DEADLINE, || {
        tiro.run(&["context", "--hook", "when does the ferry leave?"]).stdout.contains("half past six").then_some(())
    });
}

// A host that leaves standard input open must not keep its user waiting.
#[test]
fn a_host_that_says_nothing_is_not_waited_for() {
    let tiro = Tiro::new();
    let mut child = tiro.command(&["context", "--hook", "--within", "100", "-"]).stdin(Stdio::piped()).spawn().unwrap();
    let open = child.stdin.take();
    let status = wait_for("the hook to end", Duration::from_secs(10), || child.try_wait().unwrap());
    drop(open);
    assert!(status.success());
}

#[test]
fn the_end_of_a_session_imports_its_transcript_once_and_never_fails() {
    let tiro = Tiro::new();
    let deep = shop(&tiro);
    let transcript = tiro.home().join("transcript.jsonl");
    fs::copy(sample("claude-code.jsonl"), &transcript).unwrap();
    let told = json!({"session_id": "cc-session-1", "transcript_path": transcript, "cwd": deep, "hook_event_name": "SessionEnd", "reason": "exit"});
    for _ in 0..2 {
        silent(&run_in(&tiro, Path::new("/"), &told.to_string(), &["import", "--hook"]));
        let listed = tiro.json(&["list", "--all", "--space", "shop"]);
        assert_eq!(listed["items"].as_array().unwrap().len(), 4);
    }
    for input in ["", "{}", "{\"transcript_path\":\"/not/there\"}", "{\"transcript_path\":7}", "nothing"] {
        silent(&run_in(&tiro, &deep, input, &["import", "--hook"]));
    }
}

// The examples of docs/hooks.md run as they stand, in the shells that are here.
#[test]
fn the_examples_of_the_docs_run() {
    let docs = fs::read_to_string(tiro_tests::workspace().join("docs/hooks.md")).unwrap();
    let block = |language: &str| -> String {
        let open = format!("```{language}\n");
        docs.match_indices(&open)
            .map(|(at, _)| docs[at + open.len()..].split("\n```").next().unwrap().to_owned() + "\n")
            .collect()
    };
    let settings: serde_json::Value = serde_json::from_str(&block("json")).unwrap();
    for event in ["SessionStart", "UserPromptSubmit", "SessionEnd"] {
        let command = settings["hooks"][event][0]["hooks"][0]["command"].as_str().unwrap();
        assert!(command.starts_with("tiro ") && command.contains("--hook"), "{command}");
    }
    let tiro = Tiro::new();
    tiro.ok(&["remember", "The pantry door sticks: lift it while turning."]);
    let folder = tiro.home().join("pantry door");
    fs::create_dir(&folder).unwrap();
    let path = format!("{}:{}", tiro_tests::binary::folder().display(), std::env::var("PATH").unwrap());
    let mut ran = 0;
    for (shell, enter) in [("bash", "_tiro_prompt"), ("zsh", "cd .")] {
        if Command::new(shell).arg("-c").arg("true").output().is_err() {
            eprintln!("SKIPPED the example for {shell}: it is not here");
            continue;
        }
        // The docs' 50 ms are for a release build on a quiet machine.
        let script = format!("{}\n{enter}\n", block(shell).replace("--within 50", "--within 20000"));
        let mut command = tiro.command(&[]);
        let mut shelled = Command::new(shell);
        shelled.arg("-c").arg(&script).current_dir(&folder).env_clear();
        shelled.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?)))).env("PATH", &path);
        command.stdin(Stdio::null());
        let output = shelled.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains("lift it while turning"), "{shell}: {said} {}", String::from_utf8_lossy(&output.stderr));
        ran += 1;
    }
    assert!(ran > 0, "no shell is here");
}
