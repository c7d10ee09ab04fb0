//! Limits of a connection: what is over one costs its own sender the connection, and nobody else anything.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tiro_daemon::limits::{CONNECTIONS_MAX, FIRST_FRAME_MS_MAX, FRAME_BYTES_MAX, FRAME_DEPTH_MAX, REQUEST_ID_BYTES_MAX};
use tiro_schema::ErrorKind;
use tiro_tests::{DaemonSetup, Gone, InsideDaemon, Rpc, TestDaemon, check};

/// Sends bytes, as far as the daemon takes them, and checks that one error of this kind is all that comes back.
#[track_caller]
fn one_error_then_closed(rpc: &mut Rpc, bytes: &[u8], kind: ErrorKind, limit: &str) {
    for chunk in bytes.chunks(1 << 20) {
        if rpc.write(chunk) == Err(Gone) {
            break;
        }
    }
    let lines = rpc.until_closed();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!(lines[0]["error"]["code"], kind.code(), "{lines:?}");
    assert_eq!(lines[0]["id"], Value::Null);
    assert_eq!(lines[0]["error"]["data"]["limit"], limit);
}

// API-3, A41, C3
#[test]
fn a_line_without_end_a_deep_one_and_a_wide_one_get_one_error_and_are_closed() {
    let daemon = TestDaemon::spawn();
    let mut control = daemon.rpc();
    let before = check::resident_bytes(daemon.pid());
    let endless = vec![b'x'; 3 * FRAME_BYTES_MAX];
    one_error_then_closed(&mut daemon.connect(), &endless, ErrorKind::TooLarge, "frameBytesMax");
    let deep = format!("{}\n", "[".repeat(10_000));
    one_error_then_closed(&mut daemon.connect(), deep.as_bytes(), ErrorKind::TooLarge, "frameDepthMax");
    let wide = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{{\"a\":[{}0]}}}}\n", "0,".repeat(1_000_000));
    one_error_then_closed(&mut daemon.connect(), wide.as_bytes(), ErrorKind::TooLarge, "frameElementsMax");
    let grown = check::resident_bytes(daemon.pid()).saturating_sub(before);
    assert!(grown < 48 << 20, "the daemon grew by {grown} bytes");
    assert!(control.call("daemon/status", json!({})).is_ok());
}

// API-3, C3: at the limit everything still works.
#[test]
fn a_line_at_the_limits_is_answered() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let deepest = format!("{}{}", "[".repeat(FRAME_DEPTH_MAX - 2), "]".repeat(FRAME_DEPTH_MAX - 2));
    let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"no/such\",\"params\":{{\"a\":{deepest}}}}}");
    rpc.write(format!("{line}\n").as_bytes()).unwrap();
    assert_eq!(rpc.line().unwrap().unwrap()["error"]["code"], -32601);
    let frame = "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"no/such\",\"params\":{\"a\":\"\"}}";
    let padded = frame.replace("\"\"", &format!("\"{}\"", "y".repeat(FRAME_BYTES_MAX - frame.len())));
    assert_eq!(padded.len(), FRAME_BYTES_MAX);
    rpc.write(format!("{padded}\n").as_bytes()).unwrap();
    assert_eq!(rpc.line().unwrap().unwrap()["id"], 2);
    let id = "i".repeat(REQUEST_ID_BYTES_MAX + 1);
    rpc.write(format!("{{\"jsonrpc\":\"2.0\",\"id\":\"{id}\",\"method\":\"daemon/status\"}}\n").as_bytes()).unwrap();
    assert_eq!(rpc.line().unwrap().unwrap()["error"]["code"], -32600);
}

// API-3, C4: 200 silent connections go by themselves, and nobody else notices.
#[test]
fn a_connection_that_says_nothing_is_closed_and_others_are_served_meanwhile() {
    let daemon = TestDaemon::spawn();
    let began = Instant::now();
    let mut silent: Vec<Rpc> = (0..200).map(|_| daemon.connect()).collect();
    for rpc in silent.iter_mut().skip(100) {
        rpc.write(b"{").unwrap();
    }
    let mut control = daemon.rpc();
    let mut slowest = Duration::ZERO;
    while began.elapsed() < Duration::from_millis(FIRST_FRAME_MS_MAX / 4) {
        let asked = Instant::now();
        control.call("daemon/status", json!({})).expect("the control client is served");
        slowest = slowest.max(asked.elapsed());
    }
    assert!(slowest < Duration::from_secs(2), "the control client waited {slowest:?}");
    for rpc in &mut silent {
        let lines = rpc.until_closed();
        assert_eq!(lines[0]["error"]["data"]["kind"], "timeout", "{lines:?}");
    }
    assert!(began.elapsed() >= Duration::from_millis(FIRST_FRAME_MS_MAX));
    drop(silent);
    tiro_tests::wait_for("the silent connections to be forgotten", tiro_tests::DEADLINE, || {
        let status: Value = control.ask("daemon/status", json!({}));
        (status["clients"] == 1).then_some(())
    });
}

// API-3, C1: more clients than the daemon takes.
#[test]
fn one_client_too_many_is_told_so_and_one_gone_makes_room() {
    let daemon = DaemonSetup::new().spawn();
    nix::sys::resource::setrlimit(nix::sys::resource::Resource::RLIMIT_NOFILE, 4_096, 4_096).expect("descriptors for the test");
    let mut clients: Vec<Rpc> = (0..CONNECTIONS_MAX).map(|_| daemon.connect()).collect();
    for client in &mut clients {
        client.send("daemon/status", json!({})).unwrap();
    }
    for client in &mut clients {
        assert!(client.answer(1).is_ok());
    }
    let lines = daemon.connect().until_closed();
    assert_eq!(lines[0]["error"]["data"]["kind"], "overloaded", "{lines:?}");
    clients.truncate(CONNECTIONS_MAX / 2);
    tiro_tests::wait_for("room for a new client", tiro_tests::DEADLINE, || {
        // Read as a line: one that is still too many is told so without having asked.
        let mut client = daemon.connect();
        client.send("daemon/status", json!({})).ok()?;
        client.line().ok()??.get("result").cloned()
    });
}

// API-3: a client that floods and does not read its answers stops itself only.
#[test]
fn a_client_that_does_not_read_costs_bounded_memory_and_harms_nobody() {
    let daemon = TestDaemon::spawn();
    let before = check::resident_bytes(daemon.pid());
    let deaf = daemon.rpc();
    let line = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}\n".repeat(4_096);
    deaf.stream().set_nonblocking(true).unwrap();
    let mut sent = 0_usize;
    let mut stuck_since: Option<Instant> = None;
    while sent < 256 << 20 {
        match std::io::Write::write(&mut deaf.stream(), &line) {
            Ok(n) => {
                sent += n;
                stuck_since = None;
            }
            Err(_) if stuck_since.is_some_and(|at| at.elapsed() > Duration::from_secs(1)) => break,
            Err(_) => {
                stuck_since.get_or_insert_with(Instant::now);
                std::thread::yield_now();
            }
        }
    }
    assert!(sent < 64 << 20, "the daemon took {sent} bytes from a client that reads nothing");
    let grown = check::resident_bytes(daemon.pid()).saturating_sub(before);
    assert!(grown < 24 << 20, "the daemon grew by {grown} bytes");
    check::serves_others(&daemon.socket());
}

/// Sends `memory/list` requests for `time`, as many at once as the daemon takes, reading nothing; gives how many were sent.
fn flood_with_lists(deaf: &Rpc, burst: usize, every: Duration, time: Duration) -> usize {
    deaf.stream().set_nonblocking(true).unwrap();
    let (began, mut sent) = (Instant::now(), 0);
    while began.elapsed() < time {
        for _ in 0..burst {
            let line = json!({"jsonrpc": "2.0", "id": 1_000 + sent, "method": "memory/list", "params": {"limit": 500}});
            if std::io::Write::write_all(&mut deaf.stream(), format!("{line}\n").as_bytes()).is_ok() {
                sent += 1;
            }
        }
        std::thread::sleep(every);
    }
    sent
}

// API-3, C7: large answers that nobody reads wait outside of the queue only up to a bound.
#[test]
fn large_answers_to_clients_that_do_not_read_cost_bounded_memory_and_harm_nobody() {
    let daemon = TestDaemon::spawn();
    let mut control = daemon.rpc();
    for call in 0..4 {
        let text = |n: usize| format!("Filler {call} {n} {}", "lorem ipsum dolor ".repeat(500));
        let items: Vec<Value> = (0..40).map(|n| json!({"text": text(n), "verbatim": true})).collect();
        control.call("memory/rememberMany", json!({"items": items})).expect("filler is stored");
    }
    let before = check::resident_bytes(daemon.pid());
    let steady = daemon.rpc();
    flood_with_lists(&steady, 1, Duration::from_millis(15), Duration::from_secs(4));
    let grown = check::resident_bytes(daemon.pid()).saturating_sub(before);
    assert!(grown < 64 << 20, "one request after the other: the daemon grew by {grown} bytes");
    let bursting: Vec<Rpc> = (0..4).map(|_| daemon.rpc()).collect();
    for deaf in &bursting {
        flood_with_lists(deaf, 64, Duration::from_millis(500), Duration::from_secs(1));
        assert!(control.call("memory/list", json!({"limit": 5})).is_ok());
    }
    let grown = check::resident_bytes(daemon.pid()).saturating_sub(before);
    assert!(grown < 384 << 20, "64 requests at once, four times: the daemon grew by {grown} bytes");
    check::serves_others(&daemon.socket());
}
