//! What a text is to the memories there are: the same, more of it, a later value, a contradiction, or something else.

use crate::{found, got};
use serde_json::{Value, json};
use tiro_tests::inside::NOON_MS;
use tiro_tests::{InsideDaemon, Rpc};

fn told(rpc: &mut Rpc, text: &str) -> Value {
    rpc.ask("memory/remember", json!({"text": text, "explicit": true}))
}

#[track_caller]
fn id(result: &Value) -> String {
    result["id"].as_str().unwrap_or_else(|| panic!("not kept: {result}")).to_owned()
}

#[track_caller]
fn related(result: &Value, id: &str, relation: &str) {
    let named = result["related"].as_array().unwrap().iter().any(|r| r["id"] == id && r["relation"] == relation);
    assert!(named, "{id} is not named as {relation}: {result}");
}

// MEM-8, M2
#[test]
fn the_same_fact_in_other_words_is_one_memory_with_both_sources() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let say = |rpc: &mut Rpc, text: &str, session: &str| -> Value {
        rpc.ask("memory/remember", json!({"text": text, "explicit": true, "source": {"session": session}}))
    };
    let first = say(&mut rpc, "I am allergic to peanuts", "a");
    daemon.clock.set(NOON_MS + 60_000);
    let again = say(&mut rpc, "I'm allergic to peanuts", "b");
    assert_eq!(again["outcome"], "duplicate", "{again}");
    related(&again, &id(&first), "duplicate");
    let memory = got(&mut rpc, &id(&first));
    assert_eq!((memory["seenCount"].as_u64(), memory["text"].as_str()), (Some(2), Some("I am allergic to peanuts")));
    assert_eq!(memory["sources"], json!([{"session": "a"}, {"session": "b"}]));
    assert_eq!(memory["createdAt"], "2026-03-05T12:00:00.000Z");
    // Turned round, or in another language: near, and never dropped.
    for text in ["I have a peanut allergy", "我对花生过敏"] {
        let turned = say(&mut rpc, text, "c");
        assert_eq!(turned["outcome"], "created", "{turned}");
        related(&turned, &id(&first), "near");
    }
}

// MEM-8, M5
#[test]
fn more_of_a_fact_is_a_new_version_and_an_exception_is_never_dropped() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    for (text, more) in [
        ("Use the bot account", "Use the bot account except for releases"),
        ("Ann works at Acme", "Ann works at Acme as CTO in Leipzig"),
        ("每周一开例会", "每周一上午十点开例会"),
    ] {
        let first = told(&mut rpc, text);
        let second = told(&mut rpc, more);
        assert_eq!(second["outcome"], "updated", "{second}");
        related(&second, &id(&first), "updated");
        let memory = got(&mut rpc, &id(&second));
        assert_eq!((memory["text"].as_str(), memory["version"].as_u64()), (Some(more), Some(2)));
        assert!(found(&mut rpc, "personal", more).contains(&more.to_owned()));
        let undone: Value = rpc.ask("memory/undo", json!({"id": id(&first)}));
        assert_eq!(undone["version"], 3);
        assert_eq!(got(&mut rpc, &id(&first))["text"], text);
    }
}

// MEM-8, M6, M8, M33
#[test]
fn a_later_value_takes_the_place_of_the_old_one_and_is_found_instead() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    for (old, new, query) in [
        ("The status of project Falcon is active", "The status of project Falcon is deprecated", "status of project Falcon"),
        ("SSH port is 22", "SSH port is 49222", "which port is SSH on, port 22?"),
        ("I live in Berlin", "I moved to Munich", "where do I live"),
        ("超时时间是30秒", "超时时间改为60秒", "超时时间"),
    ] {
        let first = told(&mut rpc, old);
        let second = told(&mut rpc, new);
        assert_eq!(second["outcome"], "superseded", "{second}");
        related(&second, &id(&first), "superseded");
        let texts = found(&mut rpc, "personal", query);
        assert!(texts.contains(&new.to_owned()) && !texts.contains(&old.to_owned()), "{texts:?}");
        let (was, is) = (got(&mut rpc, &id(&first)), got(&mut rpc, &id(&second)));
        assert_eq!((was["status"].as_str(), was["supersededBy"].as_str()), (Some("superseded"), second["id"].as_str()));
        assert_eq!(is["supersedes"], first["id"]);
        let asked: Value = rpc.ask(
            "memory/recall",
            json!({"query": old, "threshold": 0, "limit": 50, "filter": {"statuses": ["active", "superseded"]}}),
        );
        let hit = asked["hits"].as_array().unwrap().iter().find(|h| h["id"] == first["id"]).unwrap();
        assert_eq!(hit["status"], "superseded");
    }
}

// MEM-8
#[test]
fn an_older_value_that_comes_late_retires_nothing() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let at = |text: &str, at: &str| json!({"text": text, "explicit": true, "occurredAt": at});
    let now: Value = rpc.ask("memory/remember", at("SSH port is 49222", "2026-02-01T00:00:00Z"));
    let late: Value = rpc.ask("memory/remember", at("SSH port is 22", "2025-02-01T00:00:00Z"));
    assert_eq!(late["outcome"], "conflict", "{late}");
    related(&late, &id(&now), "conflict");
    assert_eq!(got(&mut rpc, &id(&now))["status"], "active");
    let open: Value = rpc.ask("memory/conflicts", json!({}));
    assert_eq!(open["items"][0]["reason"], "order");
}

// MEM-8, M7, M9
#[test]
fn what_is_only_near_stays_beside_and_is_named() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    for (a, b) in [
        ("Ann works at Acme as CTO", "Ann administers Acme's repository"),
        ("The staging port is 5432", "The production port is 5433"),
        ("I like tea", "I like coffee"),
        ("小王住在杭州", "小李住在杭州"),
    ] {
        let (first, second) = (told(&mut rpc, a), told(&mut rpc, b));
        assert_eq!((first["outcome"].as_str(), second["outcome"].as_str()), (Some("created"), Some("created")), "{second}");
        related(&second, &id(&first), "near");
    }
    for text in ["The lift does not stop on floor two", "Grandpa does not hear well"] {
        assert_eq!(told(&mut rpc, text)["outcome"], "created");
    }
    let open: Value = rpc.ask("memory/conflicts", json!({}));
    assert_eq!(open["items"], json!([]));
}

// MEM-8
#[test]
fn two_people_may_say_the_same_of_themselves() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let by = |speaker: &str, text: &str| json!({"text": text, "explicit": true, "source": {"session": "s", "speaker": speaker}});
    let first: Value = rpc.ask("memory/remember", by("Ann", "I live in Berlin"));
    let other: Value = rpc.ask("memory/remember", by("Ben", "I live in Munich"));
    let same: Value = rpc.ask("memory/remember", by("Ben", "I live in Berlin"));
    assert_eq!(first["outcome"], "created");
    assert_eq!(other["outcome"], "created", "{other}");
    assert_eq!(same["outcome"], "superseded", "of what Ben said: {same}");
    assert_eq!(got(&mut rpc, &id(&first))["status"], "active");
    let third: Value = rpc.ask("memory/remember", by("Ann", "I live in Munich"));
    assert_eq!(third["outcome"], "superseded", "{third}");
    related(&third, &id(&first), "superseded");
}

// MEM-8
#[test]
fn eight_clients_that_say_the_same_at_once_make_one_memory() {
    let daemon = InsideDaemon::start();
    let facts = [
        "The backup runs at 02:00 every night",
        "I am scared of spiders",
        "数据库使用 PostgreSQL",
        "Deploys on Friday are forbidden",
    ];
    let others = [
        "The backup runs at 2am each night",
        "I am afraid of spiders",
        "数据库用 PostgreSQL",
        "Deploys on Fridays are not allowed",
    ];
    for (fact, other) in facts.iter().zip(others) {
        let outcomes: Vec<Value> = std::thread::scope(|scope| {
            let clients: Vec<_> = (0..8)
                .map(|n| {
                    let daemon = &daemon;
                    let text = if n % 2 == 0 { *fact } else { other };
                    scope.spawn(move || told(&mut daemon.rpc(), text))
                })
                .collect();
            clients.into_iter().map(|client| client.join().unwrap()).collect()
        });
        let created = outcomes.iter().filter(|o| o["outcome"] == "created").count();
        let same = outcomes.iter().filter(|o| o["id"] == outcomes[0]["id"]).count();
        assert_eq!((created, same), (1, 8), "{outcomes:?}");
        assert_eq!(got(&mut daemon.rpc(), &id(&outcomes[0]))["seenCount"], 8);
    }
}

// MEM-8: items of one call are compared with each other
#[test]
fn a_batch_is_compared_within_itself() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let items = json!([
        {"text": "SSH port is 22", "explicit": true}, {"text": "I am allergic to peanuts", "explicit": true},
        {"text": "SSH port is 49222", "explicit": true}, {"text": "I'm allergic to peanuts", "explicit": true},
    ]);
    let result: Value = rpc.ask("memory/rememberMany", json!({"items": items}));
    let outcomes: Vec<&str> = result["results"].as_array().unwrap().iter().map(|r| r["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["created", "created", "superseded", "duplicate"]);
}

// MEM-8: an edit by a person is taken as it is
#[test]
fn an_edit_is_not_compared_but_points_at_the_same_words() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let first = id(&told(&mut rpc, "The deadline is Friday"));
    let second = id(&told(&mut rpc, "The plants need water"));
    let edited: Value = rpc.ask("memory/update", json!({"id": second, "ifVersion": 1, "text": "The deadline is Friday."}));
    assert_eq!(edited["related"], json!([{"id": first, "relation": "duplicate"}]));
    assert_eq!(got(&mut rpc, &first)["status"], "active");
}
