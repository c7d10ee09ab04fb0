//! The memory verbs over the socket: what each does, what it refuses, and that no verb shows what its call did not name.
#![allow(clippy::unwrap_used)]

mod audit;
mod change;
mod compare;
mod conflicts;
mod follow;
mod forget;
mod gate;
mod history;
mod idempotency;
mod many;
mod merge;
mod pages;
mod pairs;
mod proof;
mod remember;
mod rules;
mod spaces;
mod transfer;
mod undo;

use serde_json::{Value, json};
use tiro_tests::Rpc;

/// A text kept in a space as it is, beside whatever is there; its id.
#[track_caller]
pub fn kept(rpc: &mut Rpc, space: &str, text: &str) -> String {
    let result: Value = rpc.ask("memory/remember", json!({"text": text, "space": space, "explicit": true, "verbatim": true}));
    assert_eq!(result["outcome"], "created", "{result}");
    result["id"].as_str().unwrap().to_owned()
}

/// A memory, whole.
#[track_caller]
pub fn got(rpc: &mut Rpc, id: &str) -> Value {
    rpc.ask("memory/get", json!({"id": id}))
}

/// Texts that a lexical recall finds in a space, whatever their score.
#[track_caller]
pub fn found(rpc: &mut Rpc, space: &str, query: &str) -> Vec<String> {
    let result: Value = rpc.ask("memory/recall", json!({"query": query, "space": space, "limit": 50, "threshold": 0}));
    texts(&result["hits"])
}

/// The texts of a list of memories or hits.
pub fn texts(items: &Value) -> Vec<String> {
    items.as_array().unwrap().iter().map(|item| item["text"].as_str().unwrap().to_owned()).collect()
}

/// Every item of a paged verb.
#[track_caller]
pub fn all_pages(rpc: &mut Rpc, method: &str, params: &Value) -> Vec<Value> {
    let (mut items, mut params) = (Vec::new(), params.clone());
    for _ in 0..10_000 {
        let page: Value = rpc.ask(method, params.clone());
        items.extend(page["items"].as_array().unwrap().iter().cloned());
        match page.get("nextCursor") {
            Some(cursor) => params["cursor"] = cursor.clone(),
            None => return items,
        }
    }
    panic!("{method} never ends");
}
