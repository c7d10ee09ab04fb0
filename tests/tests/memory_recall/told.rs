//! When a memory's words say that it happened, beside when somebody said it did and when it was recorded.

use crate::{kept_as, recalled, texts};
use serde_json::{Value, json};
use tiro_tests::{InsideDaemon, Rpc};

fn got(rpc: &mut Rpc, params: Value) -> Value {
    let id = kept_as(rpc, params);
    rpc.ask("memory/get", json!({"id": id}))
}

// M10
#[test]
fn last_week_is_the_week_before_it_happened_and_the_words_stay() {
    let mut daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let week = json!({"occurredFrom": "2023-05-15T00:00:00.000Z", "occurredTo": "2023-05-22T00:00:00.000Z"});
    let given = got(&mut rpc, json!({"text": "Ann went to Paris last week", "occurredAt": "2023-05-24T10:00:00Z"}));
    assert_eq!((&given["text"], &given["occurredAtSource"]), (&json!("Ann went to Paris last week"), &json!("given")));
    assert_eq!((&given["occurredAt"], &given["told"]), (&json!("2023-05-24T10:00:00.000Z"), &week));
    let check = |rpc: &mut Rpc| {
        let hit = recalled(rpc, json!({"query": "when was Ann in Paris"}))["hits"][0].clone();
        assert_eq!((&hit["told"], &hit["occurredAtSource"]), (&week, &json!("given")), "{hit}");
        for filter in [
            json!({"after": "2023-05-15T00:00:00Z", "before": "2023-05-22T00:00:00Z"}),
            json!({"after": "2023-05-24T00:00:00Z", "before": "2023-05-25T00:00:00Z"}),
        ] {
            assert_eq!(texts(rpc, json!({"query": "Paris", "filter": filter})), ["Ann went to Paris last week"], "{filter}");
            let listed: Value = rpc.ask("memory/list", json!({"filter": filter}));
            assert_eq!(listed["items"][0]["told"], week, "{filter}");
        }
        let now = json!({"after": "2023-05-25T00:00:00Z"});
        assert!(texts(rpc, json!({"query": "Paris", "filter": now, "threshold": 0})).is_empty());
        let block: Value = rpc.ask("memory/context", json!({"query": "when was Ann in Paris"}));
        let line = "happened 2023-05-24, tells of 2023-05-15 to 2023-05-21";
        assert!(block["text"].as_str().unwrap().contains(line), "{block}");
    };
    check(&mut rpc);
    // From a snapshot of the index as well.
    daemon.stop();
    daemon.start_again();
    check(&mut daemon.rpc());
}

// M10, M12: the clock stands at 2026-03-05T12:00:00Z, a Thursday
#[test]
fn without_a_given_time_the_words_or_the_recording_date_it_and_it_is_marked() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    for (text, at, source) in [
        ("the boiler was repaired yesterday", "2026-03-04T00:00:00.000Z", "text"),
        ("上周五和小林吃了饭", "2026-02-27T00:00:00.000Z", "text"),
        ("合同于2024年3月5日签订", "2024-03-05T00:00:00.000Z", "text"),
        ("Ann keeps bees on the roof", "2026-03-05T12:00:00.000Z", "recorded"),
        ("You may ask the second one", "2026-03-05T12:00:00.000Z", "recorded"),
    ] {
        let memory = got(&mut rpc, json!({"text": text}));
        assert_eq!((memory["occurredAt"].as_str(), memory["occurredAtSource"].as_str()), (Some(at), Some(source)), "{text}");
        assert_eq!(memory["createdAt"], "2026-03-05T12:00:00.000Z");
        assert_eq!(memory.get("told").is_some(), source == "text", "{memory}");
    }
    let boiler = recalled(&mut rpc, json!({"query": "when was the boiler repaired"}))["hits"][0].clone();
    assert_eq!((&boiler["occurredAt"], &boiler["occurredAtSource"]), (&json!("2026-03-04T00:00:00.000Z"), &json!("text")));
}

// M11
#[test]
fn the_callers_offset_is_kept_and_days_are_his() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let memory = got(&mut rpc, json!({"text": "昨天去了西湖", "occurredAt": "2026-03-02T00:45:00+08:00"}));
    assert_eq!(memory["occurredAt"], "2026-03-02T00:45:00.000+08:00");
    assert_eq!(memory["told"]["occurredFrom"], "2026-03-01T00:00:00.000+08:00");
    let filter = json!({"after": "2026-03-01T16:45:00Z", "before": "2026-03-01T16:45:00.001Z"});
    assert_eq!(texts(&mut rpc, json!({"query": "西湖", "filter": filter})), ["昨天去了西湖"], "the instant is the same in UTC");
}

// MEM-6
#[test]
fn how_long_the_words_say_it_holds_is_shown_and_hides_nothing_unasked() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let memory = got(&mut rpc, json!({"text": "the east gate is closed from 2024-01 to 2024-06"}));
    let span = json!({"validFrom": "2024-01-01T00:00:00.000Z", "validTo": "2024-07-01T00:00:00.000Z"});
    assert_eq!((&memory["told"], memory.get("validTo")), (&span, None));
    let ask = |rpc: &mut Rpc, at: Option<&str>| texts(rpc, json!({"query": "is the east gate closed", "validAt": at}));
    assert_eq!(ask(&mut rpc, None).len(), 1);
    assert_eq!(ask(&mut rpc, Some("2024-06-30T00:00:00Z")).len(), 1);
    assert_eq!(ask(&mut rpc, Some("2024-07-01T00:00:00Z")).len(), 0);
    assert_eq!(ask(&mut rpc, Some("2023-12-31T00:00:00Z")).len(), 0);
}
