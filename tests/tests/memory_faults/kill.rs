//! kill -9 under eight writing clients: no acknowledged write is lost, none is half applied, and every restart answers right.

use crate::ledger::{Ledger, State, shown};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use tiro_tests::rng::Rng;
use tiro_tests::{Rpc, TestDaemon, check, heavy, wait_for};

const CLIENTS: usize = 8;

// MEM-12, STORE-1
#[test]
fn no_acknowledged_write_is_lost_and_none_is_half_applied() {
    let points = if heavy() { 50 } else { 10 };
    let mut rng = Rng::new(0x7112_0501);
    let mut daemon = TestDaemon::spawn();
    let mut ledgers: Vec<Ledger> = (0..CLIENTS).map(|_| Ledger::default()).collect();
    for round in 0..points {
        let enough = 1 + rng.below(200);
        let acknowledged = AtomicUsize::new(0);
        // Every client draws from the same source at a place of its own.
        let sources: Vec<Rng> = (0..CLIENTS)
            .map(|_| {
                rng.next();
                rng.clone()
            })
            .collect();
        let clients: Vec<Rpc> = (0..CLIENTS).map(|_| daemon.rpc()).collect();
        std::thread::scope(|scope| {
            for (client, ((ledger, source), mut rpc)) in ledgers.iter_mut().zip(sources).zip(clients).enumerate() {
                let acknowledged = &acknowledged;
                scope.spawn(move || write_until_gone(&mut rpc, ledger, client, round, source, acknowledged));
            }
            wait_for("enough acknowledged writes", tiro_tests::DEADLINE, || {
                (acknowledged.load(Ordering::Relaxed) >= enough).then_some(())
            });
            daemon.kill9();
        });
        daemon.start();
        check_after_restart(&mut daemon.rpc(), &mut ledgers, &mut rng);
    }
}

/// Writes in all ways until the daemon is gone.
fn write_until_gone(rpc: &mut Rpc, ledger: &mut Ledger, client: usize, round: usize, mut rng: Rng, acknowledged: &AtomicUsize) {
    for n in 0.. {
        let shown: Vec<(String, String, u64)> = ledger
            .known
            .iter()
            .filter_map(|(id, state)| match state {
                State::Shown(text, version) => Some((id.clone(), text.clone(), *version)),
                State::Gone => None,
            })
            .collect();
        let fresh = format!("client{client} round{round} entry{n} keeps a note");
        let pick = (!shown.is_empty()).then(|| rng.pick(&shown).clone());
        let alive = match (rng.below(10), pick) {
            (0..=1, Some((id, text, version))) => {
                let next = format!("{} edited{n}", text.split(" edited").next().unwrap());
                let params = json!({"id": id, "ifVersion": version, "text": next});
                change(rpc, ledger, "memory/update", params, &id, State::Shown(next, version + 1))
            }
            (2, Some((id, text, version))) => {
                let params = json!({"ids": [id], "pinned": n % 2 == 0});
                // A pin that changes nothing makes no version, so ask which it is first.
                match rpc.try_call("memory/get", json!({"id": id})) {
                    Ok(memory) if memory.as_ref().unwrap()["pinned"] == (n % 2 == 0) => true,
                    Ok(_) => change(rpc, ledger, "memory/pin", params, &id, State::Shown(text, version + 1)),
                    Err(_) => false,
                }
            }
            (3, Some((id, _, _))) => change(rpc, ledger, "memory/forget", json!({"ids": [id]}), &id, State::Gone),
            _ => remember(rpc, ledger, fresh),
        };
        if !alive {
            return;
        }
        acknowledged.fetch_add(1, Ordering::Relaxed);
    }
}

fn remember(rpc: &mut Rpc, ledger: &mut Ledger, text: String) -> bool {
    match rpc.try_call("memory/remember", json!({"text": text, "explicit": true})) {
        Ok(result) => {
            let result = result.unwrap();
            ledger.known.insert(result["id"].as_str().unwrap().to_owned(), State::Shown(text, 1));
            true
        }
        Err(_) => {
            ledger.maybe_new.push(text);
            false
        }
    }
}

fn change(rpc: &mut Rpc, ledger: &mut Ledger, method: &str, params: Value, id: &str, then: State) -> bool {
    match rpc.try_call(method, params) {
        Ok(result) => {
            result.unwrap();
            ledger.known.insert(id.to_owned(), then);
            true
        }
        Err(_) => {
            ledger.maybe.insert(id.to_owned(), then);
            false
        }
    }
}

fn check_after_restart(rpc: &mut Rpc, ledgers: &mut [Ledger], rng: &mut Rng) {
    let mut all = shown(rpc);
    let total = all.len();
    for ledger in ledgers.iter_mut() {
        ledger.settle(&mut all);
    }
    assert!(all.is_empty(), "memories that nobody wrote: {all:?}");
    let stats: Value = rpc.ask("memory/stats", json!({}));
    assert_eq!(stats["byStatus"]["active"].as_u64().unwrap_or(0), total as u64);
    assert_eq!(stats["index"]["documents"].as_u64().unwrap(), total as u64, "index and store differ");
    for ledger in ledgers.iter() {
        let newest = ledger.known.iter().skip(rng.below(ledger.known.len())).take(3);
        for (id, state) in newest {
            check_whole(rpc, id, state);
        }
    }
    let verified: Value = rpc.ask("store/verify", json!({}));
    assert_eq!(verified["ok"], true, "{verified}");
    check::remember(rpc, "the daemon goes on writing");
    let _: Value = rpc.ask(
        "memory/forget",
        json!({"filter": {"kinds": ["episodic"], "after": "2000-01-01T00:00:00Z", "tags": ["none"]}, "space": "personal"}),
    );
    let goes_on: Value = rpc.ask("memory/list", json!({"text": "the daemon goes on writing"}));
    let _: Value = rpc.ask("memory/forget", json!({"ids": [goes_on["items"][0]["id"]]}));
}

/// Checks that a memory is in the index, with one audit row for each of its versions.
fn check_whole(rpc: &mut Rpc, id: &str, state: &State) {
    let rows: Value = rpc.ask("memory/audit", json!({"id": id, "limit": 500}));
    let writes = rows["items"].as_array().unwrap().iter().filter(|r| r["access"] == "write").count() as u64;
    let State::Shown(text, version) = state else { return };
    assert_eq!(writes, *version, "{id}: a version without its audit row, or the reverse");
    let found: Value = rpc.ask("memory/recall", json!({"query": text, "limit": 5, "threshold": 0}));
    let ids: Vec<&str> = found["hits"].as_array().unwrap().iter().map(|h| h["id"].as_str().unwrap()).collect();
    assert!(ids.contains(&id), "{text:?} is not found");
}

// M15, MEM-12
#[test]
fn three_writes_survive_a_kill_and_are_found_by_meaning() {
    let mut daemon = TestDaemon::spawn();
    let mut rpc = daemon.rpc();
    let texts = ["the physician prescribed new medicine", "用户对花生过敏", "the puppy slept in the car"];
    for text in texts {
        check::remember(&mut rpc, text);
    }
    daemon.kill9();
    daemon.start();
    let mut rpc = daemon.rpc();
    for (query, text) in [("doctor", texts[0]), ("peanut allergy", texts[1]), ("dog in the vehicle", texts[2])] {
        let found: Value = rpc.ask("memory/recall", json!({"query": query, "mode": "vector", "limit": 3}));
        assert!(found["hits"].as_array().unwrap().iter().any(|h| h["text"] == text), "{query}: {found}");
    }
}

// API-1, MEM-12
#[test]
fn a_key_used_before_a_kill_answers_after_it() {
    let mut daemon = TestDaemon::spawn();
    let params = json!({"text": "told once", "verbatim": true, "key": "k"});
    let first: Value = daemon.rpc().ask("memory/remember", params.clone());
    daemon.kill9();
    daemon.start();
    let mut rpc = daemon.rpc();
    assert_eq!(rpc.ask::<Value>("memory/remember", params), first);
    assert_eq!(shown(&mut rpc).len(), 1);
}

// MEM-4
#[test]
fn a_use_counted_before_a_kill_counts_after_it() {
    let mut daemon = TestDaemon::spawn();
    let mut rpc = daemon.rpc();
    let id = check::remember(&mut rpc, "the heron stands by the pond");
    let explained = json!({"query": "heron", "threshold": 0, "explain": true});
    let _: Value = rpc.ask("memory/recall", json!({"query": "heron", "threshold": 0, "use": true}));
    let half_life =
        |rpc: &mut Rpc| rpc.ask::<Value>("memory/recall", explained.clone())["hits"][0]["explain"]["halfLifeDays"].clone();
    let before = half_life(&mut rpc);
    daemon.kill9();
    daemon.start();
    let mut rpc = daemon.rpc();
    assert_eq!(half_life(&mut rpc), before);
    assert_eq!(rpc.ask::<Value>("memory/get", json!({"id": id}))["useCount"], 1);
}
