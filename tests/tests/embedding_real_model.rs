//! Vectors of a real model from a real OpenAI-compatible server, when there is one.
//!
//! Runs where `TIRO_REAL_EMBEDDER_BASE_URL` names a server of an E5 model that takes `input_type`.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use std::time::Duration;
use tiro_tests::{DaemonSetup, Rpc, skipped, wait_for};

/// The full sample and some texts, on a machine that has other work.
const EMBEDDED_WITHIN: Duration = Duration::from_secs(300);

fn first(rpc: &mut Rpc, query: &str) -> String {
    wait_for("the model to serve", EMBEDDED_WITHIN, || {
        let answer: Value = rpc.ask("memory/recall", json!({"query": query, "threshold": 0}));
        let served = answer["servedBy"].as_array()?.iter().any(|by| by == "model");
        served.then(|| answer["hits"][0]["text"].as_str().unwrap_or_default().to_owned())
    })
}

// MEM-3, M22
#[test]
fn a_real_model_finds_what_shares_no_word() {
    let Ok(url) = std::env::var("TIRO_REAL_EMBEDDER_BASE_URL") else {
        return skipped("vectors of a real model", "TIRO_REAL_EMBEDDER_BASE_URL is not set");
    };
    let config = format!(
        "[model]\nprovider = \"none\"\n[embedding]\nprovider = \"openai\"\nbaseUrl = \"{url}\"\nmodel = \"e5\"\ninputType = true\n"
    );
    let daemon = DaemonSetup::new().config(&config).spawn();
    let mut rpc = daemon.rpc();
    let texts = [
        "The physician prescribed two weeks of rest after the operation.",
        "The printer on the second floor is out of toner again.",
        "Our flight to Lisbon leaves at seven in the morning.",
        "那只猫整天躺在窗台上晒太阳。",
        "这家餐馆的招牌菜是麻婆豆腐。",
        "The budget for the new office was approved on Friday.",
    ];
    let items: Vec<Value> = texts.iter().map(|text| json!({"text": text, "verbatim": true})).collect();
    let _: Value = rpc.ask("memory/rememberMany", json!({"items": items}));
    wait_for("the model's vectors", EMBEDDED_WITHIN, || {
        let status: Value = rpc.ask("daemon/status", json!({}));
        let state = &status["embedding"];
        (state["state"] == "ready" && state["done"] == texts.len()).then_some(())
    });
    assert_eq!(first(&mut rpc, "What did the doctor say about recovering?"), texts[0]);
    assert_eq!(first(&mut rpc, "宠物在哪里睡觉？"), texts[3]);
    assert_eq!(first(&mut rpc, "哪里可以吃到好吃的川菜？"), texts[4]);
}
