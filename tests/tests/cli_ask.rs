//! `tiro ask` and `tiro session` against a scripted model: text as it comes, conversations that go on, exit codes.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use std::io::Read;
use tiro_tests::{Ran, Tiro};

/// A home whose model plays these replies.
fn with_model(replies: &Value) -> Tiro {
    let tiro = Tiro::new();
    let script = tiro.home().join("script.json");
    std::fs::write(&script, json!({"model": "played", "replies": replies}).to_string()).unwrap();
    let config = format!("[model]\nprovider = \"scripted\"\nname = \"played\"\nscript = {:?}\n", script.display().to_string());
    std::fs::write(tiro.home().join("config.toml"), config).unwrap();
    tiro
}

#[test]
fn an_answer_is_printed_and_the_conversation_goes_on() {
    // SES-1
    let tiro = with_model(&json!([
        {"when": "first", "chunks": ["Guten ", "Tag, ", "世界"]},
        {"when": "second", "text": "again"},
        {"when": "third", "text": "anew"},
        {"when": "fourth", "text": "named"}
    ]));
    assert_eq!(tiro.ok(&["ask", "the first question"]), "Guten Tag, 世界\n");
    let second = tiro.json(&["ask", "the second question"]);
    assert_eq!((second["text"].as_str(), second["terminationReason"].as_str()), (Some("again"), Some("completed")));
    tiro.ok(&["ask", "--new", "the third question"]);
    let sessions = tiro.json(&["session", "list"]);
    let turns: Vec<u64> =
        sessions["items"].as_array().unwrap().iter().map(|session| session["turnCount"].as_u64().unwrap()).collect();
    assert_eq!(turns, [1, 2]);
    let id = second["sessionId"].as_str().unwrap();
    assert_eq!(tiro.ok(&["ask", "--session", &id[..8], "the fourth question"]), "named\n");
    let shown = tiro.ok(&["session", "show", id]);
    assert!(shown.contains("the first question") && shown.contains("世界") && shown.contains("named"), "{shown}");
    assert_eq!(tiro.json(&["session", "show", id])["messages"].as_array().unwrap().len(), 6);
    tiro.run(&["session", "delete", id]).exits(2);
    tiro.ok(&["session", "delete", id, "--yes"]);
    tiro.run(&["session", "show", id]).exits(5);
}

#[test]
fn calls_of_tools_are_told_beside_the_answer() {
    let tiro = with_model(&json!([
        {"when": "port", "toolCalls": [{"id": "c1", "name": "memory_recall", "arguments": {"query": "staging port"}}]},
        {"text": "It is 5433.", "repeat": true}
    ]));
    tiro.ok(&["remember", "the staging database listens on port 5433"]);
    let asked = tiro.run(&["ask", "which port?"]).exits(0);
    assert_eq!(asked.stdout, "It is 5433.\n");
    assert!(asked.stderr.contains("-> memory_recall {\"query\":\"staging port\"}"), "{}", asked.stderr);
    assert!(asked.stderr.contains("<- memory_recall"), "{}", asked.stderr);
    let quiet = tiro.run(&["ask", "-q", "which port, again?"]).exits(0);
    assert_eq!(quiet.stderr, "");
}

#[test]
fn a_failed_turn_is_exit_code_1_with_its_reason() {
    let tiro = with_model(
        &json!([{"chunks": ["half of "], "error": {"class": "badRequest", "message": "the server said no"}, "repeat": true}]),
    );
    let failed = tiro.run(&["ask", "anything"]).exits(1);
    assert!(failed.stderr.contains("error:") && failed.stderr.contains("the server said no"), "{}", failed.stderr);
    let value = tiro.run(&["--json", "ask", "anything"]).exits(1).value();
    assert_eq!(value["status"], "failed", "{value}");
}

// LOOP-6
#[test]
fn ctrl_c_ends_the_turn_and_the_daemon_goes_on() {
    let tiro = with_model(&json!([{"when": "long", "chunks": ["it begins"], "hang": true}, {"text": "back", "repeat": true}]));
    let mut child = tiro.command(&["ask", "a long story"]).spawn().unwrap();
    let mut begun = [0; 9];
    child.stdout.as_mut().unwrap().read_exact(&mut begun).unwrap();
    assert_eq!(&begun, b"it begins", "text is shown as it arrives");
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap()), nix::sys::signal::Signal::SIGINT)
        .unwrap();
    let ended = Ran::of(&["ask"], child.wait_with_output().unwrap()).exits(1);
    assert!(ended.stderr.contains("cancelled"), "{}", ended.stderr);
    assert_eq!(tiro.ok(&["ask", "are you there?"]), "back\n");
}

#[test]
fn without_a_model_it_says_how_to_set_one_up() {
    let tiro = Tiro::new();
    let refused = tiro.run(&["ask", "anyone?"]).exits(1);
    assert!(refused.stderr.contains("TIRO_MODEL_BASE_URL"), "{}", refused.stderr);
    tiro.run(&["ask", "--session", "00000000-0000-4000-8000-000000000000", "x"]).exits(5);
}

// LOOP-6: a question that no model can be asked leaves nothing, its title neither
#[test]
fn a_question_without_a_model_leaves_no_conversation() {
    let tiro = Tiro::new();
    std::fs::write(tiro.home().join("config.toml"), "[model]\nprovider = \"none\"\n").unwrap();
    let asked = tiro.run(&["ask", "what only I may know"]).exits(1);
    assert!(asked.stderr.contains("nothing was written"), "{}", asked.stderr);
    let mut rpc = tiro_tests::Rpc::connect(&tiro.socket()).unwrap();
    rpc.initialize();
    let listed: Value = rpc.ask("session/list", json!({}));
    assert_eq!(listed["items"], json!([]), "{listed}");
}
