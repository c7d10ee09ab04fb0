//! Clients and machines that misbehave: descriptors used up, broken lines by the thousand.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tiro_tests::rng::Rng;
use tiro_tests::{DEADLINE, DaemonSetup, Gone, Rpc, TestDaemon, check, heavy, wait_for};

// API-3, A42, C6
#[test]
fn with_no_descriptor_left_accepting_pauses_without_spinning_and_recovers() {
    let daemon = DaemonSetup::new().through(&["prlimit", "--nofile=64"]).spawn();
    let mut control = daemon.rpc();
    let mut crowd: Vec<Rpc> = (0..64).filter_map(|_| Rpc::connect(&daemon.socket()).ok()).collect();
    wait_for("the daemon to run out of descriptors", DEADLINE, || daemon.log().contains("no descriptor left").then_some(()));
    let (used, began) = (check::processor_ms(daemon.pid()), Instant::now());
    while began.elapsed() < Duration::from_secs(2) {
        assert!(control.call("daemon/status", json!({})).is_ok(), "who is in is served");
        std::thread::sleep(Duration::from_millis(50));
    }
    let share = (check::processor_ms(daemon.pid()) - used) as f64 / began.elapsed().as_millis() as f64;
    assert!(share < 0.20, "the daemon used {:.0} % of a core", share * 100.0);
    let told = crowd.iter_mut().rev().take(20).filter(|rpc| is_told_busy(rpc)).count();
    assert!(told > 0, "nobody was told that the daemon is busy");
    crowd.clear();
    wait_for("the daemon to recover", DEADLINE, || {
        let mut rpc = Rpc::connect(&daemon.socket()).ok()?;
        rpc.send("daemon/status", json!({})).ok()?;
        rpc.line().ok()??.get("result").cloned()
    });
}

/// Whether an `overloaded` already waits to be read.
fn is_told_busy(rpc: &Rpc) -> bool {
    let mut bytes = [0_u8; 512];
    rpc.stream().set_nonblocking(true).expect("the mode can be set");
    let read = std::io::Read::read(&mut rpc.stream(), &mut bytes).unwrap_or(0);
    String::from_utf8_lossy(&bytes[..read]).contains("overloaded")
}

/// Lines that are right, to be made wrong.
fn good_lines() -> Vec<String> {
    let mut lines: Vec<Value> = vec![
        json!({"jsonrpc": "2.0", "id": 1, "method": "daemon/status", "params": {}}),
        json!({"jsonrpc": "2.0", "id": "a", "method": "initialize", "params": {"protocol": {"min": 1, "max": 1}, "client": {"name": "fuzz"}}}),
        json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 1}}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "memory/recall", "params": {"query": "桂花 tea REQ-2041", "limit": 5, "filter": {"tags": ["a"]}}}),
        json!({"jsonrpc": "2.0", "id": 3, "method": "memory/list", "params": {"limit": 3, "_meta": {"progressToken": 1}}}),
    ];
    for method in tiro_schema::method::methods() {
        if !method.name.starts_with("store/") && method.name != "daemon/shutdown" {
            lines.push(
                json!({"jsonrpc": "2.0", "id": 9, "method": method.name, "params": {"id": "00000000", "text": "x", "ids": []}}),
            );
        }
    }
    lines.iter().map(Value::to_string).collect()
}

/// One wrong line made of a right one.
fn mutate(rng: &mut Rng, line: &str) -> Vec<u8> {
    let mut bytes = line.as_bytes().to_vec();
    for _ in 0..=rng.below(4) {
        let at = rng.below(bytes.len());
        match rng.below(7) {
            0 => bytes[at] ^= 1 << rng.below(8),
            1 => bytes.truncate(at),
            2 => bytes.insert(at, *rng.pick(b"{}[]\",:\\\0\xff\xe2\n\r0-e.")),
            3 => {
                bytes.remove(at);
            }
            4 => {
                let end = (at + rng.below(16)).min(bytes.len());
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            5 => bytes.splice(at..at, "[".repeat(rng.below(80)).into_bytes()).for_each(drop),
            _ => bytes
                .splice(at..at, rng.pick(&["null", "1e999", "\"\\ud800\"", "-0", "{\"a\":1,\"a\":2}", "\u{2028}"]).bytes())
                .for_each(drop),
        }
        if bytes.is_empty() {
            bytes.push(b'{');
        }
    }
    bytes.push(b'\n');
    bytes
}

// API-3, C2: no broken line ends the daemon or another client's connection, or makes that client wait.
#[test]
fn twenty_thousand_broken_lines_harm_nobody_else() {
    let mut daemon = TestDaemon::spawn();
    let mut rng = Rng::new(0x7161_7469);
    let good = good_lines();
    let mut control = daemon.rpc();
    control.deadline = Duration::from_secs(10);
    let mut attacker: Option<Rpc> = None;
    let total = if heavy() { 1_000_000 } else { 20_000 };
    let (mut reconnects, mut slowest) = (0, Duration::ZERO);
    for n in 0..total {
        let rpc = attacker.get_or_insert_with(|| {
            reconnects += 1;
            let mut rpc = daemon.connect();
            if n % 2 == 0 {
                let _ = rpc.send("initialize", json!({"protocol": {"min": 1, "max": 1}, "client": {"name": "fuzz"}}));
            }
            rpc
        });
        let base = &good[rng.below(good.len())];
        let line = mutate(&mut rng, base);
        // Shut the daemon down is something a mutation may not say.
        let said_shutdown = line.windows(8).any(|window| window == b"shutdown");
        let is_gone = !said_shutdown && rpc.stream().set_nonblocking(false).is_ok() && rpc.write(&line) == Err(Gone);
        if is_gone || (n % 64 == 63 && drain(rpc) == Err(Gone)) {
            attacker = None;
        }
        if n % 256 == 0 {
            let asked = Instant::now();
            control.call("daemon/status", json!({})).expect("the control client is served");
            slowest = slowest.max(asked.elapsed());
        }
    }
    assert!(daemon.exit_status().is_none(), "the daemon ended: {}", daemon.log());
    assert!(!daemon.log().contains("panicked"), "{}", daemon.log());
    assert!(slowest < Duration::from_secs(2), "the control client waited {slowest:?}");
    assert!(reconnects < total / 4, "{reconnects} connections were closed");
    check::serves_others(&daemon.socket());
}

/// Reads what there is; errors are as good as answers here.
fn drain(rpc: &mut Rpc) -> Result<(), Gone> {
    let patience = std::mem::replace(&mut rpc.deadline, Duration::from_millis(1));
    while rpc.line_text()?.is_some() {}
    rpc.deadline = patience;
    Ok(())
}

// API-3, C8: clients that leave in the middle of a call leave nothing behind.
#[test]
fn five_hundred_disconnects_in_mid_call_leave_nothing_behind() {
    let daemon = TestDaemon::spawn();
    let mut control = daemon.rpc();
    let descriptors = check::descriptors(daemon.pid());
    for n in 0..500 {
        let mut rpc = if n % 2 == 0 { daemon.connect() } else { daemon.rpc() };
        rpc.send("daemon/schema", json!({})).unwrap();
        if n % 3 == 0 {
            rpc.write(b"{\"jsonrpc\":").unwrap();
        }
    }
    wait_for("all connections to be gone", DEADLINE, || {
        let status: Value = control.ask("daemon/status", json!({}));
        (status["clients"] == 1 && check::descriptors(daemon.pid()) <= descriptors).then_some(())
    });
}
