//! What is said of a recall's hits: it moves scores by a bounded factor, is seen in `explain`, taken back when contradicted, and kept.

use crate::{kept, kept_as, recalled};
use serde_json::{Value, json};
use tiro_tests::inside::NOON_MS;
use tiro_tests::{InsideDaemon, Rpc};

const QUERY: &str = "where do the spare keys hang";

/// The answer to the query, with explanations.
fn asked(rpc: &mut Rpc) -> Value {
    recalled(rpc, json!({"query": QUERY, "explain": true, "threshold": 0}))
}

/// Ids in their order.
fn order(found: &Value) -> Vec<&str> {
    found["hits"].as_array().unwrap().iter().map(|hit| hit["id"].as_str().unwrap()).collect()
}

fn hit<'a>(found: &'a Value, id: &str) -> &'a Value {
    found["hits"].as_array().unwrap().iter().find(|hit| hit["id"] == id).unwrap()
}

fn say(rpc: &mut Rpc, found: &Value, what: &str, id: &str) {
    let told: Value = rpc.ask("memory/feedback", json!({"recallId": found["recallId"], what: [id]}));
    assert!(told["seq"].is_string(), "{told}");
}

/// Two memories with the same words.
fn twins(rpc: &mut Rpc) -> (String, String) {
    (kept(rpc, "The spare keys hang behind the kitchen door"), kept(rpc, "The spare keys hang behind the kitchen door"))
}

// MEM-4, MEM-5: the wrong one of two twins falls below the other, by a factor that explain shows, as often as it is told and no further
#[test]
fn a_wrong_hit_falls_below_its_twin_by_a_bounded_factor() {
    let mut daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    twins(&mut rpc);
    let before = asked(&mut rpc);
    let (first, second) = (order(&before)[0].to_owned(), order(&before)[1].to_owned());
    assert!(hit(&before, &first)["explain"].get("feedback").is_none(), "no feedback, no effect");
    say(&mut rpc, &before, "wrong", &first);
    say(&mut rpc, &before, "wrong", &first);
    let after = asked(&mut rpc);
    assert_eq!(order(&after)[..2], [second.as_str(), first.as_str()]);
    let told = &hit(&after, &first)["explain"]["feedback"];
    assert!((told["factor"].as_f64().unwrap() - 0.85).abs() < 1e-6, "said twice of one recall counts once: {told}");
    assert_eq!((told["features"][0]["name"].as_str(), told["features"][0]["value"].as_f64()), (Some("wrong"), Some(1.0)));
    let scores = (hit(&before, &first)["score"].as_f64().unwrap(), hit(&after, &first)["score"].as_f64().unwrap());
    assert!((scores.1 - scores.0 * 0.85).abs() < 1e-4, "{scores:?}");
    assert_eq!(hit(&after, &second)["score"], hit(&before, &second)["score"], "nobody else is touched");
    for _ in 0..8 {
        let found = asked(&mut rpc);
        say(&mut rpc, &found, "wrong", &first);
    }
    let worst = hit(&asked(&mut rpc), &first)["explain"]["feedback"]["factor"].as_f64().unwrap();
    assert!((worst - 0.55).abs() < 1e-6, "{worst}");
    // It is kept: by a restart, and by an index made anew.
    drop(rpc);
    daemon.stop();
    daemon.start_again();
    let mut rpc = daemon.rpc();
    let _: Value = rpc.ask("store/rebuild", json!({}));
    let again = asked(&mut rpc);
    assert_eq!(order(&again)[..2], [second.as_str(), first.as_str()]);
    assert_eq!(hit(&again, &first)["explain"]["feedback"]["factor"].as_f64(), Some(worst));
    // Only what a limit leaves is fetched: the one that falls makes room.
    let one = recalled(&mut rpc, json!({"query": QUERY, "limit": 1}));
    assert_eq!(order(&one), [second.as_str()]);
    let found: Value = rpc.ask("store/verify", json!({}));
    assert_eq!(found["problems"], json!([]));
}

// MEM-4: what was used counts as used, and rises over an unused twin of the same age; being ignored counts a little
#[test]
fn a_used_hit_rises_and_an_ignored_one_falls_a_little() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    twins(&mut rpc);
    daemon.clock.set(NOON_MS + 300 * 86_400_000);
    let before = asked(&mut rpc);
    let (first, second) = (order(&before)[0].to_owned(), order(&before)[1].to_owned());
    say(&mut rpc, &before, "used", &second);
    let after = asked(&mut rpc);
    assert_eq!(order(&after)[0], second);
    let shown: Value = rpc.ask("memory/get", json!({"id": second}));
    assert_eq!(shown["useCount"], 1);
    // Another word on the same recall takes the first back, the use too.
    say(&mut rpc, &before, "ignored", &second);
    let shown: Value = rpc.ask("memory/get", json!({"id": second}));
    assert_eq!((shown["useCount"].as_u64(), shown.get("lastUsedAt")), (Some(0), None));
    let contradicted = asked(&mut rpc);
    assert_eq!(order(&contradicted)[0], first);
    let factor = hit(&contradicted, &second)["explain"]["feedback"]["factor"].as_f64().unwrap();
    assert!((factor - 0.98).abs() < 1e-6, "{factor}");
    // A use on a later recall takes back what stands against it.
    say(&mut rpc, &contradicted, "used", &second);
    assert!(hit(&asked(&mut rpc), &second)["explain"].get("feedback").is_none());
}

// MEM-5: the past is searched as it was, whatever was said since
#[test]
fn a_recall_of_the_past_knows_no_feedback() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    twins(&mut rpc);
    daemon.clock.set(NOON_MS + 1_000);
    let then = || json!({"query": QUERY, "asOf": "2026-03-05T12:00:00.500Z", "explain": true, "threshold": 0});
    let before = recalled(&mut rpc, then());
    let first = order(&before)[0].to_owned();
    let now = asked(&mut rpc);
    say(&mut rpc, &now, "wrong", &first);
    let after = recalled(&mut rpc, then());
    assert_eq!(order(&before), order(&after));
    assert_eq!(hit(&before, &first)["score"], hit(&after, &first)["score"]);
}

// MEM-11: only hits of a recall that is known can be spoken of; a recall of before a restart is known by the audit
#[test]
fn feedback_is_about_hits_of_a_known_recall() {
    let mut daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let id = kept(&mut rpc, "The spare keys hang behind the kitchen door");
    let other = kept_as(&mut rpc, json!({"text": "Another room altogether", "space": "work"}));
    let found = asked(&mut rpc);
    let recall = &found["recallId"];
    let refused = |rpc: &mut Rpc, params: Value| rpc.refused("memory/feedback", params);
    let unknown = refused(&mut rpc, json!({"recallId": "7f8e2b4a-4c11-4d0a-9f6f-0b9a7c553f2a", "used": [id]}));
    assert_eq!(unknown.data.unwrap().kind, "notFound");
    for params in [
        json!({"recallId": "short", "used": [id]}),
        json!({"recallId": recall}),
        json!({"recallId": recall, "used": [other]}),
        json!({"recallId": recall, "used": [id], "wrong": [id]}),
    ] {
        let error = refused(&mut rpc, params.clone());
        assert_eq!(error.code, -32602, "{params}: {error:?}");
    }
    tiro_tests::wait_for("the recall in the audit", tiro_tests::DEADLINE, || {
        let rows: Value = rpc.ask("memory/audit", json!({"recallId": recall}));
        (!rows["items"].as_array().unwrap().is_empty()).then_some(())
    });
    drop(rpc);
    daemon.stop();
    daemon.start_again();
    let mut rpc = daemon.rpc();
    say(&mut rpc, &found, "wrong", &id);
    assert!(hit(&asked(&mut rpc), &id)["explain"]["feedback"].is_object());
}
