//! Standing memories: what holds whatever is asked is in every context, within a third of its budget.

use crate::kept_as;
use serde_json::{Value, json};
use tiro_tests::InsideDaemon;

// MEM-14
#[test]
fn what_holds_whatever_is_asked_is_in_every_context() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    for text in ["Always answer in French.", "I'm vegetarian.", "我对花生过敏", "The tram to the harbour runs every ten minutes."]
    {
        let result: Value = rpc.ask("memory/remember", json!({"text": text}));
        assert_eq!(result["outcome"], "created", "{result}");
    }
    for query in ["how do I get to the harbour?", "write a poem about rain", "QQQQ zxcv"] {
        let context: Value = rpc.ask("memory/context", json!({"query": query}));
        let text = context["text"].as_str().unwrap();
        assert!(text.contains("> Always answer in French") && text.contains("> I'm vegetarian"), "{query}: {text}");
        assert!(text.contains("> 我对花生过敏") && text.contains(", standing"), "{text}");
        assert_eq!(context["standing"].as_array().unwrap().len(), 3, "{context}");
    }
    let context: Value = rpc.ask("memory/context", json!({"query": "how do I get to the harbour?"}));
    assert!(context["text"].as_str().unwrap().contains("> The tram to the harbour"), "{context}");
    // Another space's wishes are not told of.
    let other: Value = rpc.ask("memory/context", json!({"query": "write a poem", "space": "other"}));
    assert_eq!((other["text"].as_str(), other["ids"].as_array().unwrap().len()), (Some(""), 0));
}

// MEM-14
#[test]
fn what_stands_takes_a_third_of_the_budget_at_most_and_what_applies_comes_first() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let topics = ["bread", "trains", "garden tools", "violins", "tax forms", "old maps", "coffee", "chess", "sailing", "bees"];
    for (n, topic) in topics.iter().enumerate() {
        let text = format!("When I ask about {topic}, always mention rule number {n} of the {topic} handbook.");
        kept_as(&mut rpc, json!({"text": text, "category": "preference"}));
    }
    for topic in topics {
        let context: Value = rpc.ask("memory/context", json!({"query": format!("tell me about {topic}"), "tokenBudget": 400}));
        let text = context["text"].as_str().unwrap();
        let standing = text.matches(", standing").count();
        assert!((1..topics.len()).contains(&standing), "{text}");
        let first = text.lines().find(|line| line.starts_with("> ")).unwrap();
        assert!(first.contains(topic), "{topic}: {text}");
        assert!(context["tokens"].as_u64().unwrap() <= 400);
    }
}

// MEM-14
#[test]
fn the_newest_wording_of_a_wish_stands() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    for (text, at) in [
        ("Please always format Go code with tabs of width four.", "2026-01-01T00:00:00Z"),
        ("Please always format Go code with tabs of width eight.", "2026-02-01T00:00:00Z"),
    ] {
        kept_as(&mut rpc, json!({"text": text, "occurredAt": at, "verbatim": true, "category": "preference"}));
    }
    let context: Value = rpc.ask("memory/context", json!({"query": "a recipe for soup"}));
    let text = context["text"].as_str().unwrap();
    assert!(text.contains("width eight") && !text.contains("width four"), "{text}");
}
