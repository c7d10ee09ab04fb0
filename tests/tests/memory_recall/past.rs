//! Recall as it was known at an instant, and of what held at one.

use crate::{kept, kept_as, recalled, texts};
use serde_json::{Value, json};
use tiro_daemon::clock::format;
use tiro_tests::inside::NOON_MS;
use tiro_tests::{InsideDaemon, Rpc};

const DAY_MS: i64 = 86_400_000;
const HOUR_MS: i64 = 3_600_000;

/// A write of the days below; memories are named by their words.
enum Write {
    Keep(&'static str),
    KeepWith(&'static str, Value),
    Supersede(&'static str, &'static str),
    Edit(&'static str, &'static str),
    Call(&'static str, &'static str),
    Crowd(usize),
}

use Write::{Call, Crowd, Edit, Keep, KeepWith, Supersede};

fn days() -> Vec<Vec<Write>> {
    let turn = |position: u64| json!({"source": {"session": "s-1", "position": position, "speaker": "Ann"}});
    vec![
        vec![
            Keep("the deploy window is Tuesday"),
            Keep("the staging port is 8080"),
            KeepWith("I like green tea with honey", turn(0)),
            KeepWith("我对花生过敏", turn(1)),
            Crowd(10),
        ],
        vec![Supersede("the staging port is 8080", "the staging port is 9090"), KeepWith("and I drink it at five", turn(2))],
        vec![
            Edit("I like green tea with honey", "I like black tea with milk"),
            Call("memory/archive", "the deploy window is Tuesday"),
        ],
        vec![Call("memory/restore", "the deploy window is Tuesday"), Keep("the production port is 443"), Crowd(30)],
        vec![
            Call("memory/pin", "the production port is 443"),
            Keep("the production port is 443"),
            Keep("tea is in the left cupboard"),
        ],
        vec![
            Supersede("the staging port is 9090", "the staging port is 49222"),
            KeepWith("the deploy window moved last week", json!({"validFrom": "2026-03-01T00:00:00Z"})),
        ],
    ]
}

fn id_of(rpc: &mut Rpc, text: &str) -> String {
    let filter = json!({"statuses": ["active", "superseded", "archived"]});
    let listed: Value = rpc.ask("memory/list", json!({"text": text, "filter": filter, "limit": 500}));
    let items = listed["items"].as_array().unwrap();
    items.iter().find(|item| item["text"] == text).unwrap()["id"].as_str().unwrap().to_owned()
}

fn write(rpc: &mut Rpc, day: usize, write: &Write) {
    let mut keep = |mut params: Value, text: &str| {
        params["text"] = json!(text);
        let _: Value = rpc.ask("memory/remember", params);
    };
    match write {
        Keep(text) => keep(json!({}), text),
        KeepWith(text, params) => keep(params.clone(), text),
        Crowd(n) => {
            (0..*n).for_each(|i| keep(json!({}), &format!("the port of device {i} of day {day} is closed, like the tea room")))
        }
        Supersede(old, new) => {
            let id = id_of(rpc, old);
            let _: Value = rpc.ask("memory/supersede", json!({"id": id, "memory": {"text": new}}));
        }
        Edit(old, new) => {
            let id = id_of(rpc, old);
            let memory: Value = rpc.ask("memory/get", json!({"id": id}));
            let _: Value = rpc.ask("memory/update", json!({"id": id, "text": new, "ifVersion": memory["version"]}));
        }
        Call(method, text) => {
            let id = id_of(rpc, text);
            let _: Value = rpc.ask(method, json!({"ids": [id]}));
        }
    }
}

/// A daemon with the writes of the first days, its clock an hour after the last of them.
fn with_days(days: &[Vec<Write>]) -> InsideDaemon {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    for (day, writes) in days.iter().enumerate() {
        daemon.clock.set(NOON_MS + day as i64 * DAY_MS);
        writes.iter().for_each(|one| write(&mut rpc, day, one));
    }
    daemon.clock.set(NOON_MS + (days.len() as i64 - 1) * DAY_MS + HOUR_MS);
    daemon
}

fn at(ms: i64) -> String {
    format(ms, None).0
}

/// What an answer says, without ids and tokens of its store.
fn said(mut answer: Value) -> Value {
    for name in ["recallId", "seq"] {
        answer.as_object_mut().unwrap().remove(name);
    }
    for hit in answer["hits"].as_array_mut().unwrap() {
        hit.as_object_mut().unwrap().remove("id");
    }
    answer
}

// MEM-11
#[test]
fn an_answer_as_of_a_day_is_that_of_a_store_with_the_writes_up_to_it() {
    let days = days();
    let whole = with_days(&days);
    whole.clock.set(NOON_MS + 40 * DAY_MS);
    let mut later = whole.rpc();
    let mut compared = 0;
    for day in 0..days.len() {
        let then = with_days(&days[..=day]);
        let mut rpc = then.rpc();
        let as_of = at(NOON_MS + day as i64 * DAY_MS + HOUR_MS);
        for query in ["which port does staging use", "tea", "when is the deploy window", "port", "花生", "quantum chromodynamics"]
        {
            for rest in [
                json!({}),
                json!({"threshold": 0, "limit": 60}),
                json!({"mode": "lexical"}),
                json!({"mode": "vector", "threshold": 0}),
                json!({"filter": {"statuses": ["active", "superseded", "archived"]}, "threshold": 0}),
                json!({"validAt": "2026-03-05T12:30:00Z", "threshold": 0}),
            ] {
                let mut params = json!({"query": query, "explain": true});
                params.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
                let expected = said(recalled(&mut rpc, params.clone()));
                params["asOf"] = json!(as_of);
                let found = said(recalled(&mut later, params.clone()));
                assert_eq!(found["hits"], expected["hits"], "day {day}: {params}");
                assert_eq!(found["belowThreshold"], expected["belowThreshold"], "day {day}: {params}");
                compared += found["hits"].as_array().unwrap().len();
            }
        }
    }
    assert!(compared > 500, "{compared} hits");
}

// MEM-9, MEM-11, M14
#[test]
fn what_is_forgotten_does_not_come_back_from_the_past() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let id = kept(&mut rpc, "the vault code is written under the lid");
    kept(&mut rpc, "the vault is in the cellar");
    daemon.clock.set(NOON_MS + DAY_MS);
    let ask = |rpc: &mut Rpc| texts(rpc, json!({"query": "vault code under the lid", "asOf": at(NOON_MS), "threshold": 0}));
    assert_eq!(ask(&mut rpc).len(), 2);
    let _: Value = rpc.ask("memory/forget", json!({"ids": [id]}));
    assert_eq!(ask(&mut rpc), ["the vault is in the cellar"]);
    let explained =
        recalled(&mut rpc, json!({"query": "lid", "asOf": at(NOON_MS), "threshold": 0, "explain": true, "mode": "lexical"}));
    assert_eq!(explained["hits"], json!([]), "nor does any statistic of it");
    let _: Value = rpc.ask("memory/undo", json!({"id": id}));
    assert_eq!(ask(&mut rpc).len(), 2, "brought back, it is known again as of then");
    // Kept as of an instant at which it was hidden, it is not there.
    let hidden = daemon.clock.as_ref();
    hidden.set(NOON_MS + 2 * DAY_MS);
    let _: Value = rpc.ask("memory/forget", json!({"ids": [id]}));
    hidden.set(NOON_MS + 3 * DAY_MS);
    let _: Value = rpc.ask("memory/undo", json!({"id": id}));
    hidden.set(NOON_MS + 4 * DAY_MS);
    let then = texts(&mut rpc, json!({"query": "vault", "asOf": at(NOON_MS + 2 * DAY_MS + HOUR_MS), "threshold": 0}));
    assert_eq!(then, ["the vault is in the cellar"]);
}

// MEM-11, M34
#[test]
fn the_past_has_its_edges() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    kept(&mut rpc, "the ferry leaves at nine");
    let ask = |rpc: &mut Rpc, as_of: &str| texts(rpc, json!({"query": "ferry", "asOf": as_of}));
    assert!(ask(&mut rpc, "2000-01-01T00:00:00Z").is_empty());
    assert!(ask(&mut rpc, "-009999-01-02T01:59:59Z").is_empty());
    assert_eq!(ask(&mut rpc, "9999-12-30T00:00:00Z").len(), 1, "a time to come is the present");
    let none = texts(&mut rpc, json!({"query": "ferry", "asOf": "2020-01-01T00:00:00Z", "space": "nowhere"}));
    assert!(none.is_empty());
    // A clock set back writes into a past that was looked at: the view is made anew.
    daemon.clock.set(NOON_MS + DAY_MS);
    assert_eq!(ask(&mut rpc, &at(NOON_MS + HOUR_MS)).len(), 1);
    daemon.clock.set(NOON_MS - DAY_MS);
    kept(&mut rpc, "the ferry leaves at ten on Sundays");
    daemon.clock.set(NOON_MS + DAY_MS);
    assert_eq!(ask(&mut rpc, &at(NOON_MS + HOUR_MS)).len(), 2);
    let block: Value = rpc.ask("memory/context", json!({"query": "ferry", "asOf": at(NOON_MS + HOUR_MS)}));
    assert_eq!(block["ids"].as_array().unwrap().len(), 2, "{block}");
}

// MEM-6, MEM-11, M8
#[test]
fn what_held_at_an_instant_is_found_superseded_or_not() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let old = kept(&mut rpc, "Ann lives in Paris");
    let _: Value = rpc.ask(
        "memory/supersede",
        json!({"id": old, "memory": {"text": "Ann lives in Rome", "validFrom": "2025-06-01T00:00:00Z"}}),
    );
    kept_as(
        &mut rpc,
        json!({"text": "Ann lives with a cat", "validFrom": "2025-01-01T00:00:00Z", "validTo": "2025-03-01T00:00:00Z"}),
    );
    let mut ask = |at: &str| {
        let mut found = texts(&mut rpc, json!({"query": "where does Ann live", "validAt": at, "threshold": 0}));
        found.sort();
        found
    };
    assert_eq!(ask("2024-05-01T00:00:00Z"), ["Ann lives in Paris"]);
    assert_eq!(ask("2025-02-01T00:00:00Z"), ["Ann lives in Paris", "Ann lives with a cat"]);
    assert_eq!(ask("2025-05-31T23:59:59Z"), ["Ann lives in Paris"]);
    assert_eq!(ask("2025-06-01T00:00:00Z"), ["Ann lives in Rome"]);
}
