//! The same turns against a real OpenAI-compatible server, when there is one: streaming, usage, an over-long prompt, cancellation.
//!
//! Runs where `TIRO_REAL_MODEL_BASE_URL` names a server; what a small model says is not judged.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tiro_tests::agent::{ended, session, start, wait};
use tiro_tests::{DaemonSetup, TestDaemon, skipped};

fn daemon(extra: &str) -> Option<TestDaemon> {
    let Ok(url) = std::env::var("TIRO_REAL_MODEL_BASE_URL") else {
        skipped("turns with a real model", "TIRO_REAL_MODEL_BASE_URL is not set");
        return None;
    };
    let config = format!("[model]\nprovider = \"openai\"\nbaseUrl = \"{url}\"\nname = \"local\"\n{extra}");
    let mut daemon = DaemonSetup::new().config(&config).spawn();
    let mut rpc = daemon.rpc();
    let status: Value = rpc.ask("daemon/status", json!({}));
    assert_eq!(status["model"]["configured"], true);
    drop(rpc);
    assert!(daemon.exit_status().is_none());
    Some(daemon)
}

// LOOP-4, LOOP-5
#[test]
fn text_streams_and_tokens_are_counted() {
    let Some(daemon) = daemon("maxOutputTokens = 64\n") else { return };
    let mut rpc = daemon.rpc();
    rpc.deadline = Duration::from_secs(120);
    let session = session(&mut rpc);
    rpc.ask::<Value>("session/attach", json!({"sessionId": session}));
    let turn = start(&mut rpc, &session, "Say hello in one short sentence.");
    let first = rpc.notification("item/delta");
    assert!(!first["text"].as_str().unwrap().is_empty());
    let end = rpc.notification("turn/completed");
    let usage = &end["turn"]["usage"];
    assert!(usage["inputTokens"].as_u64().unwrap() > 50 && usage["outputTokens"].as_u64().unwrap() > 0, "{end}");
    let turn = wait(&mut rpc, &turn);
    assert!(["completed", "outputLimit"].contains(&turn["terminationReason"].as_str().unwrap()), "{turn}");
    assert!(!turn["text"].as_str().unwrap().is_empty());
}

// LOOP-5, LOOP-7
#[test]
fn a_prompt_that_is_too_long_says_so() {
    let Some(daemon) = daemon("contextTokens = 1000000\n") else { return };
    let mut rpc = daemon.rpc();
    rpc.deadline = Duration::from_secs(120);
    let session = session(&mut rpc);
    // A long text would be read in short: each of these is read whole, and together they are too many.
    let block = json!({"type": "text", "text": "all of these words are too many ".repeat(200)});
    let started: Value = rpc.ask("turn/start", json!({"sessionId": session, "input": vec![block; 5]}));
    let turn = wait(&mut rpc, started["turnId"].as_str().unwrap());
    ended(&turn, "failed", "contextOverflow");
    assert!(turn["error"]["message"].as_str().unwrap().contains("context"), "{turn}");
}

// SES-9
#[test]
fn a_turn_is_cancelled_while_the_model_speaks() {
    let Some(daemon) = daemon("") else { return };
    let mut rpc = daemon.rpc();
    rpc.deadline = Duration::from_secs(120);
    let session = session(&mut rpc);
    rpc.ask::<Value>("session/attach", json!({"sessionId": session}));
    let turn = start(&mut rpc, &session, "Count slowly from one to one thousand, in words.");
    rpc.notification("item/delta");
    let begun = Instant::now();
    let interrupted: Value = rpc.ask("turn/interrupt", json!({"turnId": turn}));
    assert!(begun.elapsed() < Duration::from_secs(2));
    // A model this small may have stopped by itself just before.
    assert!(["cancelled", "completed"].contains(&interrupted["status"].as_str().unwrap()), "{interrupted}");
}
