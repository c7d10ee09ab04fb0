//! Filters cost no recall and leave nothing through.

use crate::{kept_as, texts};
use serde_json::{Value, json};
use tiro_tests::InsideDaemon;

// MEM-6
#[test]
fn each_filter_finds_what_fits_however_rare_it_is() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let crowd: Vec<Value> =
        (0..1_000).map(|i| json!({"text": format!("the boat trip number {i}"), "category": "event", "verbatim": true})).collect();
    let _: Value = rpc.ask("memory/rememberMany", json!({"items": crowd}));
    kept_as(
        &mut rpc,
        json!({
            "text": "the boat trip of the choir", "kind": "semantic", "category": "preference", "tags": ["choir"], "entities": ["Elbe"],
            "occurredAt": "2020-05-01T00:00:00Z", "source": {"session": "s-9", "speaker": "Ann", "position": 3}
        }),
    );
    let filters = [
        json!({"kinds": ["semantic"]}),
        json!({"categories": ["preference"]}),
        json!({"tags": ["choir", "none"]}),
        json!({"entities": ["Elbe"]}),
        json!({"speakers": ["Ann"]}),
        json!({"session": "s-9"}),
        json!({"before": "2021-01-01T00:00:00Z"}),
        json!({"after": "2020-05-01T00:00:00Z", "before": "2020-05-01T00:00:00.001Z"}),
        json!({"statuses": ["active"], "tags": ["choir"]}),
    ];
    for filter in filters {
        for mode in ["hybrid", "lexical", "vector"] {
            let found = texts(&mut rpc, json!({"query": "boat trip", "filter": filter, "threshold": 0, "mode": mode}));
            assert_eq!(found, ["the boat trip of the choir"], "{filter} {mode}");
        }
    }
    for filter in
        [json!({"tags": ["choir"], "categories": ["event"]}), json!({"speakers": ["Ben"]}), json!({"statuses": ["archived"]})]
    {
        assert!(texts(&mut rpc, json!({"query": "boat trip", "filter": filter, "threshold": 0})).is_empty(), "{filter}");
    }
}

// M2, MEM-6
#[test]
fn a_memory_told_again_is_found_by_its_new_speaker() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    kept_as(&mut rpc, json!({"text": "the bridge is closed", "source": {"speaker": "Ann"}}));
    let _: Value = rpc.ask("memory/remember", json!({"text": "The bridge is closed.", "source": {"speaker": "Ben"}}));
    for speaker in ["Ann", "Ben"] {
        let found = texts(&mut rpc, json!({"query": "bridge", "filter": {"speakers": [speaker]}, "threshold": 0}));
        assert_eq!(found, ["the bridge is closed"], "{speaker}");
    }
}

// MEM-6, M8: what lapsed, or is yet to hold, was recalled as if it held
#[test]
fn what_does_not_hold_now_is_left_out_before_the_best_are_chosen() {
    let mut daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let times =
        [("lapsed", json!({"validTo": "2000-01-01T00:00:00Z"})), ("to come", json!({"validFrom": "2100-01-01T00:00:00Z"}))];
    for (word, span) in &times {
        let crowd: Vec<Value> = (0..150)
            .map(|n| {
                let mut item = json!({"text": format!("the tram ticket costs {n}, {word}")});
                item["verbatim"] = json!(true);
                item.as_object_mut().unwrap().extend(span.as_object().unwrap().clone());
                item
            })
            .collect();
        let _: Value = rpc.ask("memory/rememberMany", json!({"items": crowd}));
    }
    let holds = "the tram ticket costs three, says the sign";
    kept_as(&mut rpc, json!({"text": holds, "validFrom": "2000-01-01T00:00:00Z", "validTo": "2100-01-01T00:00:00Z"}));
    let check_all = |rpc: &mut tiro_tests::Rpc| {
        for mode in ["hybrid", "lexical", "vector"] {
            let found = texts(rpc, json!({"query": "what does the tram ticket cost", "threshold": 0, "mode": mode, "limit": 20}));
            assert_eq!(found, [holds], "{mode}");
        }
        let block: Value = rpc.ask("memory/context", json!({"query": "tram ticket", "threshold": 0}));
        assert!(!block["text"].as_str().unwrap().contains("lapsed"), "{block}");
        // Who asks for what was gets it.
        let params =
            json!({"query": "tram ticket", "threshold": 0, "limit": 200, "filter": {"statuses": ["active", "superseded"]}});
        assert_eq!(texts(rpc, params).len(), 200);
        let listed: Value = rpc.ask("memory/list", json!({"limit": 500}));
        assert_eq!(listed["items"].as_array().unwrap().len(), 301);
    };
    check_all(&mut rpc);
    // From a snapshot of the index as well.
    daemon.stop();
    daemon.start_again();
    let mut rpc = daemon.rpc();
    check_all(&mut rpc);
    let again: Value = rpc.ask("memory/remember", json!({"text": "the tram ticket costs 7, lapsed", "explicit": true}));
    assert_eq!(again["outcome"], "duplicate");
    let found = texts(&mut rpc, json!({"query": "tram ticket 7 lapsed", "threshold": 0, "limit": 20}));
    assert!(found.contains(&"the tram ticket costs 7, lapsed".to_owned()), "told again, it holds again: {found:?}");
}
