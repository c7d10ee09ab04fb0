//! The shape of an answer: limits, budgets, explanation, what served it.

use crate::{fill, kept, recalled, texts};
use serde_json::{Value, json};
use tiro_tests::InsideDaemon;

// MEM-3, MEM-5
#[test]
fn five_by_default_and_every_part_of_a_score_is_told() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    fill(&mut rpc);
    let id = kept(&mut rpc, "the harbour crane lifts forty tons");
    let result = recalled(&mut rpc, json!({"query": "harbour crane", "threshold": 0}));
    assert_eq!(result["hits"].as_array().unwrap().len(), 5);
    assert!(result["hits"][0].get("explain").is_none());
    assert!(result["recallId"].as_str().unwrap().len() == 36 && result["seq"].as_str().unwrap().contains('-'));
    let explained = recalled(&mut rpc, json!({"query": "harbour crane", "explain": true}));
    let hit = &explained["hits"][0];
    assert_eq!(hit["id"], id.as_str());
    let part = |name: &str| hit["explain"][name].as_f64().unwrap_or_else(|| panic!("{name} in {hit}"));
    assert!((part("lexical") - part("bm25") / part("bm25Ideal")).abs() < 1e-4);
    assert!((part("relevance") * part("decay") - hit["score"].as_f64().unwrap()).abs() < 1e-4);
    let features = hit["explain"]["features"].as_array().unwrap();
    let names: Vec<&str> = features.iter().map(|f| f["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["lexical", "near", "far", "answers", "dense", "beside", "speaker", "reply", "time", "later"]);
    let sum: f64 = features.iter().map(|f| f["value"].as_f64().unwrap() * f["weight"].as_f64().unwrap()).sum();
    assert!((sum - part("evidence")).abs() < 1e-4, "{sum} in {hit}");
    assert!((part("weightLexical") - 0.6).abs() < 1e-6 && (part("weightDense") - 0.4).abs() < 1e-6);
    assert!(
        part("cosine") > 0.3
            && part("z") > 1.0
            && part("lexicalRank") == 1.0
            && part("vectorRank") >= 1.0
            && part("rankWithoutDecay") == 1.0
    );
    assert_eq!(
        (hit["strength"].as_str(), explained["strength"].as_str()),
        (explained["strength"].as_str(), hit["strength"].as_str())
    );
    let served: Vec<&str> = explained["servedBy"].as_array().unwrap().iter().map(|s| s.as_str().unwrap()).collect();
    assert!(
        !served.is_empty() && served.iter().all(|s| ["tantivy", "overlay", "forward", "exact", "hnsw"].contains(s)),
        "{served:?}"
    );
    let scores: Vec<f64> = result["hits"].as_array().unwrap().iter().map(|h| h["score"].as_f64().unwrap()).collect();
    assert!(scores.windows(2).all(|w| w[0] >= w[1]));
}

// MEM-3
#[test]
fn each_leg_can_search_alone() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    fill(&mut rpc);
    kept(&mut rpc, "the physician prescribed new medicine");
    assert!(
        texts(&mut rpc, json!({"query": "doctor", "mode": "lexical", "threshold": 0})).iter().all(|t| !t.contains("physician"))
    );
    assert!(
        texts(&mut rpc, json!({"query": "doctor", "mode": "vector", "threshold": 0})).iter().any(|t| t.contains("physician"))
    );
}

// MEM-3
#[test]
fn a_token_budget_keeps_whole_texts_in_their_order() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let long = format!("the lighthouse keeper {}", "wrote many pages about storms ".repeat(40));
    for text in ["the lighthouse keeper sleeps", &long, "the lighthouse keeper has a dog", "灯塔 lighthouse keeper 的猫"] {
        kept(&mut rpc, text);
    }
    let all = texts(&mut rpc, json!({"query": "lighthouse keeper", "threshold": 0}));
    let cut = texts(&mut rpc, json!({"query": "lighthouse keeper", "threshold": 0, "tokenBudget": 40}));
    assert_eq!(cut, all.iter().filter(|t| **t != long).cloned().collect::<Vec<_>>());
    assert!(texts(&mut rpc, json!({"query": "lighthouse keeper", "threshold": 0, "tokenBudget": 0})).is_empty());
    assert_eq!(texts(&mut rpc, json!({"query": "lighthouse keeper", "threshold": 0, "tokenBudget": 5000})), all);
}

// MEM-5
#[test]
fn an_empty_store_answers_nothing() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let result = recalled(&mut rpc, json!({"query": "anything", "threshold": 0}));
    assert_eq!((&result["hits"], &result["strength"], &result["belowThreshold"]), (&json!([]), &json!("none"), &json!(0)));
    let context: Value = rpc.ask("memory/context", json!({"query": "anything"}));
    assert_eq!((context["text"].as_str(), context["ids"].as_array().unwrap().len()), (Some(""), 0));
}
