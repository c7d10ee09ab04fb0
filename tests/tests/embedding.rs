//! A model beside the built-in table: its vectors follow the write, are checked, serve, and are never waited for; changing it loses nothing.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tiro_daemon::clock::ManualClock;
use tiro_daemon::store::{ModelReads, OpenOptions, Store};
use tiro_tests::embedding_server::{EmbeddingServer, Mood};
use tiro_tests::store_writes::options;
use tiro_tests::{DEADLINE, DaemonSetup, Rpc, TestDaemon, check, wait_for};

fn embedding(rpc: &mut Rpc) -> Value {
    rpc.ask::<Value>("daemon/status", json!({}))["embedding"].take()
}

/// Waits until every document has the model's vector.
#[track_caller]
fn wait_whole(rpc: &mut Rpc) -> Value {
    wait_for("the model's vectors", DEADLINE, || {
        let state = embedding(rpc);
        (state["state"] == "ready" && state["done"] == state["total"]).then_some(state)
    })
}

fn recalled(rpc: &mut Rpc, query: &str) -> Value {
    rpc.ask("memory/recall", json!({"query": query, "threshold": 0, "explain": true}))
}

fn first_text(answer: &Value) -> &str {
    answer["hits"][0]["text"].as_str().unwrap_or_default()
}

fn served_by(answer: &Value) -> Vec<&str> {
    answer["servedBy"].as_array().unwrap().iter().filter_map(Value::as_str).collect()
}

fn started(server: &EmbeddingServer, more: &str) -> (TestDaemon, Rpc) {
    let daemon = DaemonSetup::new().config(&format!("{}{more}", server.config("test"))).spawn();
    let rpc = daemon.rpc();
    (daemon, rpc)
}

fn configure(daemon: &TestDaemon, config: &str) {
    std::fs::write(daemon.home().join("config.toml"), config).unwrap();
}

fn keep_many(rpc: &mut Rpc, from: usize, to: usize) {
    let items: Vec<Value> = (from..to).map(|n| json!({"text": format!("note {n} about subject{n}"), "verbatim": true})).collect();
    let _: Value = rpc.ask("memory/rememberMany", json!({"items": items}));
}

/// Ids of the models whose vectors a stopped daemon's store holds.
fn models_kept(daemon: &TestDaemon) -> Vec<String> {
    let open = OpenOptions { clock: Arc::new(ManualClock::new(0)), ..options() };
    let store = Store::open(&daemon.home().join("data"), open).unwrap();
    let models = store.read(|tx| tx.embedders()).unwrap();
    store.close().unwrap();
    models.into_iter().map(|(_, record)| record.id).collect()
}

// MEM-3, M22: the write does not wait, and what shares no word is found once the vector is there
#[test]
fn vectors_follow_the_write_and_find_what_words_do_not() {
    let server = EmbeddingServer::start(1_024);
    let (_daemon, mut rpc) = started(&server, "queryPrefix = \"query: \"\npassagePrefix = \"passage: \"\n");
    check::remember(&mut rpc, "the automobile stands behind the house");
    for n in 0..30 {
        check::remember(&mut rpc, &format!("the report number {n} is due in week {n}"));
    }
    let state = wait_whole(&mut rpc);
    assert_eq!((state["done"].as_u64(), state["refused"].as_u64()), (Some(31), Some(0)), "{state}");
    assert!(state["model"].as_str().unwrap().starts_with("openai/test#"), "{state}");
    let answer = recalled(&mut rpc, "car");
    assert_eq!(first_text(&answer), "the automobile stands behind the house", "{answer}");
    assert!(served_by(&answer).contains(&"model") && answer.get("degraded").is_none(), "{answer}");
    let cosine = answer["hits"][0]["explain"]["cosine"].as_f64().unwrap();
    assert!((0.2..=1.0).contains(&cosine), "its own cosine is shown: {answer}");
    let seen = server.seen();
    assert!(seen.texts.contains(&"query: car".to_owned()));
    assert!(seen.texts.contains(&"passage: the automobile stands behind the house".to_owned()));
    assert_eq!(seen.authorization, None);
    // The same question again costs no call.
    recalled(&mut rpc, "car");
    assert_eq!(server.seen().calls, seen.calls);
}

// M28: writes and recall go on, the answer says so, and the leg catches up
#[test]
fn an_embedder_that_is_out_of_order_stops_nothing() {
    for mood in [Mood::Hang, Mood::Status500, Mood::Cut] {
        let server = EmbeddingServer::start(48);
        let (_daemon, mut rpc) = started(&server, "");
        check::remember(&mut rpc, "the ladder is in the shed");
        wait_whole(&mut rpc);
        server.mood(mood);
        let began = Instant::now();
        check::remember(&mut rpc, "the automobile needs new tyres");
        assert!(began.elapsed() < Duration::from_secs(5), "{mood:?}: a write waited");
        for query in ["tyres", "the automobile"] {
            let began = Instant::now();
            let answer = recalled(&mut rpc, query);
            assert!(began.elapsed() < Duration::from_secs(5), "{mood:?}: a recall waited");
            assert_eq!(first_text(&answer), "the automobile needs new tyres", "{mood:?}: {answer}");
            assert!(!served_by(&answer).contains(&"model"), "{mood:?}: {answer}");
            let said = answer["degraded"].as_str().unwrap_or_default();
            assert!(said.contains("openai/test") && said.contains("does not answer"), "{mood:?}: {answer}");
        }
        server.mood(Mood::Well);
        wait_whole(&mut rpc);
        wait_for("the model to serve again", DEADLINE, || {
            let answer = recalled(&mut rpc, "a car");
            let cosine = answer["hits"][0]["explain"]["cosine"].as_f64()?;
            (served_by(&answer).contains(&"model") && answer.get("degraded").is_none() && cosine > 0.2).then_some(())
        });
    }
}

// M27: what is no sound vector does not enter, and is asked for again; what is not normalised is
#[test]
fn vectors_are_checked_at_the_door() {
    for mood in [Mood::NotANumber, Mood::Infinite, Mood::Zero, Mood::TooLong, Mood::TooFew] {
        let server = EmbeddingServer::start(48);
        let (_daemon, mut rpc) = started(&server, "");
        check::remember(&mut rpc, "the ladder is in the shed");
        wait_whole(&mut rpc);
        server.mood(mood);
        keep_many(&mut rpc, 0, 12);
        let state = wait_for("trouble to be told", DEADLINE, || Some(embedding(&mut rpc)).filter(|s| s["trouble"].is_string()));
        assert_eq!((state["state"].as_str(), state["done"].as_u64()), (Some("waiting"), Some(1)), "{mood:?}: {state}");
        let answer = recalled(&mut rpc, "note about subject7");
        assert_eq!(first_text(&answer), "note 7 about subject7", "{mood:?}: {answer}");
        assert!(answer["degraded"].is_string(), "{mood:?}: {answer}");
        server.mood(Mood::Well);
        wait_whole(&mut rpc);
    }
    let server = EmbeddingServer::start(48);
    server.mood(Mood::Unnormalised);
    let (_daemon, mut rpc) = started(&server, "");
    check::remember(&mut rpc, "the automobile needs new tyres");
    wait_whole(&mut rpc);
    let answer = recalled(&mut rpc, "my car");
    let cosine = answer["hits"][0]["explain"]["cosine"].as_f64().unwrap();
    assert!((0.0..=1.001).contains(&cosine), "{answer}");
}

// M27
#[test]
fn one_text_that_is_refused_keeps_no_other_back() {
    let server = EmbeddingServer::start(48);
    server.poison("subject3");
    let (_daemon, mut rpc) = started(&server, "");
    keep_many(&mut rpc, 0, 10);
    let state = wait_for("all but one", DEADLINE, || Some(embedding(&mut rpc)).filter(|s| s["done"] == 9 && s["refused"] == 1));
    assert_eq!(state["total"], 10, "{state}");
    let answer = recalled(&mut rpc, "subject3");
    assert_eq!(first_text(&answer), "note 3 about subject3", "{answer}");
    // It is asked for again, and enters when it is sound.
    server.poison("nothing of the sort");
    let state = wait_whole(&mut rpc);
    assert_eq!(state["refused"], 0, "{state}");
}

// M28, M30: down from the start, and nothing is embedded twice by a restart
#[test]
fn a_restart_embeds_nothing_again() {
    let server = EmbeddingServer::start(48);
    server.mood(Mood::Status500);
    let (mut daemon, mut rpc) = started(&server, "");
    keep_many(&mut rpc, 0, 20);
    let answer = recalled(&mut rpc, "subject7");
    assert!(first_text(&answer).contains("subject7") && answer["degraded"].is_string(), "{answer}");
    server.mood(Mood::Well);
    wait_whole(&mut rpc);
    let before = server.seen().texts.len();
    for stop in [TestDaemon::kill9, TestDaemon::terminate] {
        stop(&mut daemon);
        daemon.start();
        rpc = daemon.rpc();
        wait_whole(&mut rpc);
        let verified: Value = rpc.ask("store/verify", json!({}));
        assert_eq!(verified["ok"], true, "{verified}");
    }
    assert_eq!(server.seen().texts.len(), before);
}

// M29: both serve meanwhile, killed in the middle it goes on where it was, and the old vectors go
#[test]
fn another_model_takes_over_behind_the_answers() {
    let (old, new) = (EmbeddingServer::start(48), EmbeddingServer::start(64));
    let mut daemon = DaemonSetup::new().config(&old.config("old")).spawn();
    let mut rpc = daemon.rpc();
    keep_many(&mut rpc, 0, 300);
    wait_whole(&mut rpc);
    daemon.terminate();
    assert_eq!(models_kept(&daemon), ["openai/old"]);
    configure(&daemon, &new.config("new"));
    // Its background sample takes a dozen calls.
    new.hang_after(18);
    daemon.start();
    rpc = daemon.rpc();
    wait_for("the new model to be half way", DEADLINE, || new.hangs().then_some(()));
    let state = embedding(&mut rpc);
    let done = state["done"].as_u64().unwrap();
    assert!(done > 0 && done < 300 && state["state"] == "embedding", "{state}");
    for n in [0, 150, 299] {
        let answer = recalled(&mut rpc, &format!("subject{n}"));
        assert_eq!(first_text(&answer), format!("note {n} about subject{n}"), "{answer}");
        assert!(answer["degraded"].as_str().is_some_and(|said| said.contains("openai/new")), "{answer}");
    }
    daemon.kill9();
    let before = new.seen().texts.len();
    new.mood(Mood::Well);
    daemon.start();
    rpc = daemon.rpc();
    wait_whole(&mut rpc);
    let again = new.seen().texts.len() - before;
    assert!(again <= 300 - usize::try_from(done).unwrap(), "{again} texts after the kill, {done} were kept before it");
    let answer = recalled(&mut rpc, "subject77");
    assert!(first_text(&answer).contains("subject77") && served_by(&answer).contains(&"model"), "{answer}");
    assert!(answer.get("degraded").is_none(), "{answer}");
    daemon.terminate();
    assert_eq!(models_kept(&daemon), ["openai/new"]);
    configure(&daemon, "[model]\nprovider = \"none\"\n");
    daemon.start();
    rpc = daemon.rpc();
    assert!(embedding(&mut rpc).is_null());
    assert!(!served_by(&recalled(&mut rpc, "subject77")).contains(&"model"));
    wait_for("the vectors to go", DEADLINE, || daemon.log().contains("removing the vectors").then_some(()));
    daemon.terminate();
    assert_eq!(models_kept(&daemon), Vec::<String>::new());
}

// M29, STORE-1: what changes gets a new vector, what does not keeps its own, and a rebuilt index has all
#[test]
fn vectors_follow_changes_and_rebuilds() {
    let server = EmbeddingServer::start(48);
    let (_daemon, mut rpc) = started(&server, "");
    let id = check::remember(&mut rpc, "the bicycle is red");
    keep_many(&mut rpc, 0, 20);
    wait_whole(&mut rpc);
    let before = server.seen().texts.len();
    let _: Value = rpc.ask("memory/pin", json!({"ids": [id]}));
    let _: Value = rpc.ask("store/rebuild", json!({}));
    wait_whole(&mut rpc);
    assert_eq!(server.seen().texts.len(), before, "a pin and a rebuild embed nothing");
    let _: Value = rpc.ask("memory/update", json!({"id": id, "text": "the automobile is red", "ifVersion": 2}));
    wait_for("the new words' vector", DEADLINE, || {
        let answer = recalled(&mut rpc, "car");
        (first_text(&answer) == "the automobile is red" && answer["hits"][0]["explain"]["cosine"].as_f64()? > 0.3).then_some(())
    });
    assert!(server.seen().texts.contains(&"the automobile is red".to_owned()));
    let verified: Value = rpc.ask("store/verify", json!({}));
    assert_eq!(verified["ok"], true, "{verified}");
}

// MEM-10: the key is sent as a header and is nowhere else
#[test]
fn the_key_comes_from_the_environment() {
    let server = EmbeddingServer::start(48);
    let config = format!("{}apiKeyEnv = \"TEST_EMBEDDING_KEY\"\ndimension = 48\n", server.config("test"));
    let mut daemon = DaemonSetup::new().config(&config).env("TEST_EMBEDDING_KEY", "key-of-the-test").spawn();
    let mut rpc = daemon.rpc();
    check::remember(&mut rpc, "the ladder is in the shed");
    wait_whole(&mut rpc);
    let seen = server.seen();
    assert_eq!(seen.authorization.as_deref(), Some("Bearer key-of-the-test"));
    assert_eq!(seen.body["dimensions"], 48);
    daemon.terminate();
    assert!(!daemon.log().contains("key-of-the-test"));
    let unset = DaemonSetup::new().config(&config).spawn();
    let state = embedding(&mut unset.rpc());
    assert_eq!(state["state"], "unusable");
    assert!(state["trouble"].as_str().unwrap().contains("TEST_EMBEDDING_KEY"), "{state}");
}

fn reranked(script: &str) -> (TestDaemon, Rpc) {
    let daemon =
        DaemonSetup::new().config("[model]\nprovider = \"none\"\n[reranker]\nprovider = \"scripted\"\nscript = \"r.json\"\n");
    let mut daemon = daemon.prepare();
    std::fs::write(daemon.home().join("r.json"), script).unwrap();
    daemon.start();
    let mut rpc = daemon.rpc();
    let text = |n| json!({"text": format!("the harbour ferry leaves from pier {n}"), "verbatim": true});
    let _: Value = rpc.ask("memory/rememberMany", json!({"items": (0..30).map(text).collect::<Vec<_>>()}));
    (daemon, rpc)
}

// MEM-3: a re-ranker orders the best twenty, says so, and is not waited for long. No weights of a real one are in the registries: a stand-in
#[test]
fn a_re_ranker_orders_the_best_hits_and_is_never_waited_for_long() {
    let (_daemon, mut rpc) = reranked(r#"{"ferry": 1, "pier 7": 5, "pier 3": 3}"#);
    let plain = recalled(&mut rpc, "pier 3 ferry");
    assert!(served_by(&plain).contains(&"reranker") && plain.get("degraded").is_none(), "{plain}");
    assert_eq!(plain["hits"].as_array().unwrap().len(), 5, "as many as asked for: {plain}");
    let twenty: Value = rpc.ask("memory/recall", json!({"query": "the ferry of pier 7", "limit": 30, "threshold": 0}));
    let texts: Vec<&str> = twenty["hits"].as_array().unwrap().iter().filter_map(|hit| hit["text"].as_str()).collect();
    assert_eq!(texts[0], "the harbour ferry leaves from pier 7", "{texts:?}");
    assert!(texts.len() == 30, "{texts:?}");
    let (_late, mut rpc) = reranked(r#"{"delayMs": 60000, "pier 7": 5}"#);
    let began = Instant::now();
    let answer = recalled(&mut rpc, "pier 3 ferry");
    assert!(began.elapsed() < Duration::from_secs(10), "a recall waited");
    assert_eq!(first_text(&answer), "the harbour ferry leaves from pier 3", "{answer}");
    assert!(!served_by(&answer).contains(&"reranker"), "{answer}");
    assert!(answer["degraded"].as_str().is_some_and(|said| said.contains("re-ranker")), "{answer}");
}
