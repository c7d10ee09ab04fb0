//! Age and use: bounded, by category, and unharmed by a clock that jumps.

use crate::{kept, kept_as, recalled, texts};
use serde_json::{Value, json};
use tiro_tests::inside::NOON_MS;
use tiro_tests::{InsideDaemon, Rpc};

const DAY_MS: i64 = 86_400_000;

fn decay_of(rpc: &mut Rpc, query: &str) -> f64 {
    let result = recalled(rpc, json!({"query": query, "threshold": 0, "explain": true, "limit": 1}));
    result["hits"][0]["explain"]["decay"].as_f64().unwrap()
}

// MEM-4
#[test]
fn half_lives_follow_the_category_and_a_pin_stops_the_clock() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    for (word, category) in [("quartz", "preference"), ("basalt", "fact"), ("granite", "event"), ("marble", "other")] {
        kept_as(&mut rpc, json!({"text": format!("{word} in the yard"), "category": category}));
    }
    let pinned = kept_as(&mut rpc, json!({"text": "pumice in the yard", "category": "other"}));
    let _: Value = rpc.ask("memory/pin", json!({"ids": [pinned]}));
    daemon.clock.set(NOON_MS + 90 * DAY_MS);
    let after = |half_life: f64| 0.8 + 0.2 * (-90.0 / half_life * std::f64::consts::LN_2).exp();
    for (word, half_life) in [("quartz", 730.0), ("basalt", 365.0), ("granite", 180.0), ("marble", 90.0)] {
        let decay = decay_of(&mut rpc, word);
        assert!((decay - after(half_life)).abs() < 1e-3, "{word}: {decay}");
    }
    assert!((decay_of(&mut rpc, "pumice") - 1.0).abs() < 1e-6);
    let off = recalled(&mut rpc, json!({"query": "marble", "decay": false, "threshold": 0, "explain": true, "limit": 1}));
    assert_eq!(off["hits"][0]["explain"]["decay"], 1.0);
    assert_eq!(off["hits"][0]["score"], off["hits"][0]["explain"]["relevance"]);
}

// MEM-4
#[test]
fn being_used_refreshes_and_being_looked_at_does_not() {
    let mut daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let id = kept(&mut rpc, "marble in the yard");
    daemon.clock.set(NOON_MS + 90 * DAY_MS);
    let _: Value = rpc.ask("memory/get", json!({"id": id}));
    let _: Value = rpc.ask("memory/list", json!({}));
    assert!(decay_of(&mut rpc, "marble") < 0.91);
    let used = recalled(&mut rpc, json!({"query": "marble", "threshold": 0, "use": true}));
    assert_eq!(used["hits"].as_array().unwrap().len(), 1);
    assert!((decay_of(&mut rpc, "marble") - 1.0).abs() < 1e-6, "used now");
    let memory: Value = rpc.ask("memory/get", json!({"id": id}));
    assert_eq!((memory["useCount"].as_u64(), memory["version"].as_u64()), (Some(1), Some(1)));
    assert_eq!(memory["lastUsedAt"], "2026-06-03T12:00:00.000Z");
    // A used memory also fades slower: its half-life is stretched by 1 + ln 2 / 2. And all of it survives a restart.
    daemon.clock.set(NOON_MS + 180 * DAY_MS);
    let expected = 0.8 + 0.2 * (-90.0 / (90.0 * (1.0 + 2f64.ln() / 2.0)) * std::f64::consts::LN_2).exp();
    assert!((decay_of(&mut rpc, "marble") - expected).abs() < 1e-3);
    daemon.stop();
    daemon.start_again();
    let mut rpc = daemon.rpc();
    assert!((decay_of(&mut rpc, "marble") - expected).abs() < 1e-3);
}

// M34, MEM-4
#[test]
fn a_clock_set_back_or_years_ahead_leaves_decay_in_its_bounds_and_ids_unique() {
    let mut daemon = InsideDaemon::start();
    let mut ids = std::collections::BTreeSet::new();
    let hundred_years = 36_500 * DAY_MS;
    for (n, now) in [NOON_MS, NOON_MS - 3_650 * DAY_MS, NOON_MS + hundred_years, 0, -DAY_MS, NOON_MS, i64::from(i32::MAX) * 1_000]
        .into_iter()
        .enumerate()
    {
        daemon.clock.set(now);
        let mut rpc = daemon.rpc();
        ids.insert(kept(&mut rpc, &format!("pebble number {n} lies on the sill")));
        kept_as(&mut rpc, json!({"text": format!("pebble future {n}"), "occurredAt": "9998-12-31T00:00:00Z"}));
        let result = recalled(&mut rpc, json!({"query": "pebble", "threshold": 0, "limit": 50, "explain": true, "use": true}));
        let hits = result["hits"].as_array().unwrap();
        assert_eq!(hits.len(), 2 * (n + 1));
        for hit in hits {
            let (decay, score) = (hit["explain"]["decay"].as_f64().unwrap(), hit["score"].as_f64().unwrap());
            assert!((0.8..=1.0).contains(&(decay as f32)) && (0.0..=1.0).contains(&score), "{decay} {score}");
            assert!(hit["explain"]["ageDays"].as_f64().unwrap() >= 0.0);
        }
        let _: Value = rpc.ask("memory/list", json!({}));
        if n == 3 {
            daemon.stop();
            daemon.start_again();
        }
    }
    assert_eq!(ids.len(), 7);
}

// MEM-4
#[test]
fn the_rank_without_decay_is_told() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    kept(&mut rpc, "the north gate opens at nine");
    daemon.clock.set(NOON_MS + 900 * DAY_MS);
    kept(&mut rpc, "the north gate opens at ten");
    let params = |decay: bool| json!({"query": "north gate opens", "threshold": 0, "explain": true, "decay": decay});
    let with = recalled(&mut rpc, params(true));
    assert_eq!(with["hits"][0]["text"], "the north gate opens at ten");
    let ranks: Vec<u64> =
        with["hits"].as_array().unwrap().iter().map(|h| h["explain"]["rankWithoutDecay"].as_u64().unwrap()).collect();
    let without = texts(&mut rpc, params(false));
    let reordered: Vec<String> = {
        let mut v: Vec<(u64, String)> = ranks.into_iter().zip(texts(&mut rpc, params(true))).collect();
        v.sort();
        v.into_iter().map(|(_, t)| t).collect()
    };
    assert_eq!(reordered, without);
}
