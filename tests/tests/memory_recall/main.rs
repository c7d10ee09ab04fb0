//! Recall over the socket: what is found, what is not, and how a score came about.
#![allow(clippy::unwrap_used)]

mod context;
mod decay;
mod diversity;
mod feedback;
mod filter;
mod find;
mod later;
mod long;
mod past;
mod shape;
mod standing;
mod told;

use serde_json::{Value, json};
use tiro_tests::Rpc;

/// A text kept in `personal`; its id.
#[track_caller]
pub fn kept(rpc: &mut Rpc, text: &str) -> String {
    kept_as(rpc, json!({"text": text, "explicit": true}))
}

/// A memory kept; its id.
#[track_caller]
pub fn kept_as(rpc: &mut Rpc, params: Value) -> String {
    let mut params = params;
    params["verbatim"] = json!(true);
    let result: Value = rpc.ask("memory/remember", params);
    assert_eq!(result["outcome"], "created", "{result}");
    result["id"].as_str().unwrap().to_owned()
}

/// The whole answer of a recall.
#[track_caller]
pub fn recalled(rpc: &mut Rpc, params: Value) -> Value {
    rpc.ask("memory/recall", params)
}

/// The texts found by a recall.
#[track_caller]
pub fn texts(rpc: &mut Rpc, params: Value) -> Vec<String> {
    let result = recalled(rpc, params);
    result["hits"].as_array().unwrap().iter().map(|hit| hit["text"].as_str().unwrap().to_owned()).collect()
}

/// Checks that a query with default settings finds the text.
#[track_caller]
pub fn check_finds(rpc: &mut Rpc, query: &str, text: &str) {
    let found = texts(rpc, json!({"query": query, "limit": 10}));
    assert!(found.iter().any(|t| t == text), "{query:?} found {found:?}");
}

/// Some dozens of texts about other things.
pub fn fill(rpc: &mut Rpc) {
    let topics = [
        "the kitchen light",
        "the quarterly report",
        "a walk by the lake",
        "the printer on floor two",
        "the new chairs",
        "the garden fence",
        "a film about whales",
        "the bus timetable",
    ];
    let notes = [
        "needs another look",
        "was discussed on Monday",
        "is nearly finished",
        "costs more than planned",
        "has to wait until spring",
    ];
    let items: Vec<Value> =
        topics.iter().flat_map(|t| notes.iter().map(move |n| json!({"text": format!("{t} {n}"), "verbatim": true}))).collect();
    let _: Value = rpc.ask("memory/rememberMany", json!({"items": items}));
}
