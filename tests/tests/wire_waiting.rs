//! Requests that take a while: a store that is still being opened, cancellation, requests in flight.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use tiro_daemon::limits::REQUESTS_PER_CONNECTION_MAX;
use tiro_schema::ErrorKind;
use tiro_tests::gate::Gate;
use tiro_tests::{InsideDaemon, Rpc, check, wait_for};

/// A daemon whose store opens when the gate does.
fn starting() -> (InsideDaemon, Gate) {
    let gate = Gate::default();
    let backend = gate.backend();
    (InsideDaemon::start_unready_with(|seams| seams.backend = backend), gate)
}

/// A connection on which `initialize` was sent and waits.
fn waiting_client(daemon: &InsideDaemon) -> (Rpc, i64) {
    let mut rpc = Rpc::connect(daemon.socket()).unwrap();
    let params = json!({"protocol": {"min": 1, "max": 1}, "client": {"name": "early"}});
    let id = rpc.send("initialize", params).unwrap();
    (rpc, id)
}

// API-2, STORE-2: the socket answers while the store is being opened, and what came early is answered when it is.
#[test]
fn a_daemon_that_is_starting_says_so_and_early_calls_wait() {
    let (daemon, gate) = starting();
    let (mut rpc, initialize) = waiting_client(&daemon);
    let list = rpc.send("memory/list", json!({})).unwrap();
    let status: Value = rpc.ask("daemon/status", json!({}));
    assert_eq!(status["state"], "starting", "{status}");
    assert!(status["starting"]["stage"].is_string(), "{status}");
    assert!(status.get("store").is_none(), "{status}");
    gate.open();
    assert_eq!(rpc.answer(initialize).unwrap()["protocol"], 1);
    assert_eq!(rpc.answer(list).unwrap()["items"], json!([]));
    check::serves_others(daemon.socket());
}

// API-1: any request can be cancelled; others go on.
#[test]
fn a_request_is_cancelled_and_only_that_one() {
    let (daemon, gate) = starting();
    let (mut rpc, initialize) = waiting_client(&daemon);
    let first = rpc.send("memory/list", json!({})).unwrap();
    let second = rpc.send("memory/list", json!({})).unwrap();
    let write = rpc.send("memory/remember", json!({"text": "x"})).unwrap();
    rpc.notify("$/cancel_request", json!({"requestId": first}));
    check::is_error(&rpc.answer(first).unwrap_err(), ErrorKind::Cancelled);
    rpc.notify("$/cancel_request", json!({"requestId": write}));
    let error = rpc.answer(write).unwrap_err();
    check::is_error(&error, ErrorKind::Cancelled);
    assert!(error.data.unwrap().outcome.is_some(), "a cancelled write says its outcome");
    gate.open();
    assert!(rpc.answer(initialize).is_ok());
    assert!(rpc.answer(second).is_ok());
    rpc.notify("$/cancel_request", json!({"requestId": second}));
    assert!(rpc.call("daemon/status", json!({})).is_ok(), "cancelling what was answered is nothing");
}

// API-3: requests in flight on one connection are bounded, and others are not touched by it.
#[test]
fn too_many_requests_in_flight_are_overloaded_and_an_id_in_flight_is_not_taken_twice() {
    let (daemon, gate) = starting();
    let (mut rpc, initialize) = waiting_client(&daemon);
    let waiting: Vec<i64> = (1..REQUESTS_PER_CONNECTION_MAX).map(|_| rpc.send("memory/list", json!({})).unwrap()).collect();
    let over = rpc.send("memory/list", json!({})).unwrap();
    let error = rpc.answer(over).unwrap_err();
    check::is_error(&error, ErrorKind::Overloaded);
    assert!(error.data.unwrap().retryable);
    rpc.notify("$/cancel_request", json!({"requestId": waiting[0]}));
    assert!(rpc.answer(waiting[0]).is_err());
    let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"memory/list\"}}\n", waiting[1]);
    rpc.write(line.as_bytes()).unwrap();
    assert_eq!(rpc.answer(waiting[1]).unwrap_err().code, -32600, "the second use of an id in flight is refused");
    assert!(Rpc::connect(daemon.socket()).unwrap().call("daemon/status", json!({})).is_ok());
    gate.open();
    assert!(rpc.answer(initialize).is_ok());
    for id in &waiting[2..] {
        assert!(rpc.answer(*id).is_ok());
    }
}

// API-3, C8: a client that goes away leaves none of its requests behind.
#[test]
fn requests_of_a_client_that_goes_away_are_let_go() {
    let (daemon, gate) = starting();
    for _ in 0..50 {
        let (mut rpc, _) = waiting_client(&daemon);
        for _ in 0..20 {
            rpc.send("memory/list", json!({})).unwrap();
        }
    }
    let mut control = Rpc::connect(daemon.socket()).unwrap();
    wait_for("the connections to be forgotten", tiro_tests::DEADLINE, || {
        let status: Value = control.ask("daemon/status", json!({}));
        (status["clients"] == 1).then_some(())
    });
    gate.open();
    check::ready(daemon.socket());
}

// API-1, STORE-2: who gives a token hears how far its call is, before the answer; who gives none hears nothing.
#[test]
fn progress_goes_to_the_caller_that_asked_for_it() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let mut other = daemon.rpc();
    check::remember(&mut rpc, "something to build an index from");
    let with_token = |token: Value| json!({"_meta": {"progressToken": token}});
    for token in [json!("a token"), json!(7)] {
        rpc.call("store/rebuild", with_token(token.clone())).expect("the index is rebuilt");
        let heard = rpc.take_notifications();
        assert!(!heard.is_empty(), "nothing was told for {token}");
        for (method, params) in heard {
            assert_eq!(method, "progress");
            assert_eq!(params["progressToken"], token);
            assert!(params["stage"].is_string() && params["done"].is_u64(), "{params}");
        }
    }
    for meta in [json!({}), with_token(json!(null)), with_token(json!({"not": "a token"}))] {
        rpc.call("store/rebuild", meta).expect("the index is rebuilt");
        assert_eq!(rpc.take_notifications(), vec![]);
    }
    other.call("daemon/status", json!({})).unwrap();
    assert_eq!(other.take_notifications(), vec![], "another connection heard of it");
}
