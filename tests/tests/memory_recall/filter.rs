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
        (0..1_000).map(|i| json!({"text": format!("the boat trip number {i}"), "category": "event"})).collect();
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
