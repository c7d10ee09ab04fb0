//! Real models run in the daemon by the real library, when they are there.
//!
//! Runs where `TIRO_REAL_ONNX_LIBRARY` is ONNX Runtime's file, and `TIRO_REAL_ONNX_E5` and `TIRO_REAL_ONNX_MINILM` are folders of models.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use std::time::Duration;
use tiro_tests::{DaemonSetup, Rpc, skipped, wait_for};

/// The full sample and some texts, on a machine that has other work.
const EMBEDDED_WITHIN: Duration = Duration::from_secs(300);
/// Memories of which the re-embedding is killed in the middle.
const NOTES: usize = 1_500;

const TEXTS: [&str; 6] = [
    "The physician prescribed two weeks of rest after the operation.",
    "The printer on the second floor is out of toner again.",
    "Our flight to Lisbon leaves at seven in the morning.",
    "那只猫整天躺在窗台上晒太阳。",
    "这家餐馆的招牌菜是麻婆豆腐。",
    "The budget for the new office was approved on Friday.",
];

fn embedding(rpc: &mut Rpc) -> Value {
    rpc.ask::<Value>("daemon/status", json!({}))["embedding"].take()
}

fn whole(rpc: &mut Rpc) -> Value {
    wait_for("the model's vectors", EMBEDDED_WITHIN, || {
        let state = embedding(rpc);
        (state["state"] == "ready" && state["done"] == state["total"]).then_some(state)
    })
}

fn first(rpc: &mut Rpc, query: &str) -> String {
    let answer: Value = rpc.ask("memory/recall", json!({"query": query, "threshold": 0}));
    let by_model = answer["servedBy"].as_array().unwrap().iter().any(|by| by == "model");
    assert!(by_model && answer.get("degraded").is_none(), "{answer}");
    answer["hits"][0]["text"].as_str().unwrap_or_default().to_owned()
}

// MEM-3, M22, M29: added, chosen, finds across languages, killed in the middle of another's vectors, goes on, and back to the table
#[test]
fn a_real_model_is_added_chosen_and_changed() {
    let set = |name: &str| std::env::var(name).ok();
    let (Some(library), Some(e5), Some(minilm)) =
        (set("TIRO_REAL_ONNX_LIBRARY"), set("TIRO_REAL_ONNX_E5"), set("TIRO_REAL_ONNX_MINILM"))
    else {
        return skipped("models that run in the daemon", "TIRO_REAL_ONNX_LIBRARY, _E5 and _MINILM are not set");
    };
    let config = format!("[model]\nprovider = \"none\"\n[embedding]\nlibrary = {library:?}\n");
    let mut daemon = DaemonSetup::new().config(&config).spawn();
    let mut rpc = daemon.rpc();
    for (name, folder) in [("e5", &e5), ("minilm", &minilm)] {
        let report: Value = rpc.ask("embedder/add", json!({"path": folder, "name": name}));
        assert_eq!((report["item"]["dimension"].as_u64(), report["item"]["kind"].as_str()), (Some(384), Some(name)), "{report}");
        println!("{name}: {} sentences/s, {} ms a query", report["sentencesPerS"], report["queryMs"]);
    }
    let items: Vec<Value> = TEXTS.iter().map(|text| json!({"text": text, "verbatim": true})).collect();
    let _: Value = rpc.ask("memory/rememberMany", json!({"items": items}));
    let _: Value = rpc.ask("embedder/use", json!({"name": "e5"}));
    whole(&mut rpc);
    assert_eq!(first(&mut rpc, "What did the doctor say about recovering?"), TEXTS[0]);
    assert_eq!(first(&mut rpc, "宠物在哪里睡觉？"), TEXTS[3]);
    assert_eq!(first(&mut rpc, "where does the cat sleep all day?"), TEXTS[3]);
    assert_eq!(first(&mut rpc, "办公室的预算什么时候批准的？"), TEXTS[5]);
    let notes: Vec<Value> = (0..NOTES).map(|n| json!({"text": format!("note {n} about subject{n}"), "verbatim": true})).collect();
    for part in notes.chunks(500) {
        let _: Value = rpc.ask("memory/rememberMany", json!({"items": part}));
    }
    whole(&mut rpc);
    let _: Value = rpc.ask("embedder/use", json!({"name": "minilm"}));
    let half = wait_for("minilm to be half way", EMBEDDED_WITHIN, || {
        let state = embedding(&mut rpc);
        state["done"].as_u64().filter(|done| *done > 50).map(|_| state)
    });
    daemon.kill9();
    assert!(
        half["done"].as_u64() < half["total"].as_u64() && half["model"].as_str().unwrap().starts_with("onnx/minilm#"),
        "{half}"
    );
    daemon.start();
    rpc = daemon.rpc();
    let after = whole(&mut rpc);
    assert_eq!(after["model"], half["model"]);
    assert_eq!(first(&mut rpc, "What did the doctor say about recovering?"), TEXTS[0]);
    wait_for("the vectors of e5 to go", EMBEDDED_WITHIN, || {
        daemon.log().contains("removing the vectors of a model that is not used any more model=\"onnx/e5#").then_some(())
    });
    // A file that changed since is found out.
    let tokenizer = daemon.home().join("data/models/e5/tokenizer.json");
    std::fs::write(&tokenizer, "{}").unwrap();
    let refused = rpc.refused("embedder/check", json!({"name": "e5"}));
    assert!(refused.message.contains("changed since it was added"), "{refused:?}");
    let _: Value = rpc.ask("embedder/use", json!({"name": "static"}));
    for name in ["e5", "minilm"] {
        let _: Value = rpc.ask("embedder/remove", json!({"name": name}));
    }
    assert!(embedding(&mut rpc).is_null());
    let verified: Value = rpc.ask("store/verify", json!({}));
    assert_eq!(verified["ok"], true, "{verified}");
}
