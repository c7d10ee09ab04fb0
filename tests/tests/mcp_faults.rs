//! `tiro mcp serve` when things go wrong: the daemon dies, the host goes, lines are broken or huge, many ask at once.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tiro_tests::{Era, McpHost, Tiro};

const ERAS: [Era; 2] = [Era::Handshake, Era::Stateless];

/// A daemon that stands still until this is dropped: it answers nobody.
struct Still(nix::unistd::Pid);

impl Still {
    fn stand(tiro: &Tiro) -> Self {
        let daemon = nix::unistd::Pid::from_raw(tiro.daemon_pid().unwrap());
        nix::sys::signal::kill(daemon, nix::sys::signal::Signal::SIGSTOP).unwrap();
        Still(daemon)
    }
}

impl Drop for Still {
    fn drop(&mut self) {
        let _ = nix::sys::signal::kill(self.0, nix::sys::signal::Signal::SIGCONT);
    }
}

/// A server ends with its host within this.
const GONE_MAX: Duration = Duration::from_secs(1);

// MCP-5, A33
#[test]
fn a_daemon_that_is_killed_between_calls_is_started_again_and_nothing_is_lost() {
    let tiro = Tiro::new();
    for era in ERAS {
        let mut host = McpHost::open(&tiro, era, "test-host", &["--space", &format!("{era:?}").to_lowercase()]);
        for round in 0..3 {
            let kept =
                host.tool("memory_remember", json!({"text": format!("Round {round} was played in Lyon."), "category": "event"}));
            let first = tiro.daemon_pid().unwrap();
            tiro.kill_daemon();
            assert_eq!(host.tool("memory_get", json!({"id": kept["id"]}))["id"], kept["id"]);
            assert_ne!(tiro.daemon_pid().unwrap(), first);
        }
        tiro.ok(&["daemon", "stop"]);
        assert_eq!(host.tool("memory_list", json!({}))["items"].as_array().unwrap().len(), 3);
    }
}

// MCP-5, A33
#[test]
fn writes_under_way_while_the_daemon_is_killed_happen_once() {
    let tiro = Tiro::new();
    let mut host = McpHost::open(&tiro, Era::Handshake, "test-host", &[]);
    host.tool("memory_recall", json!({"query": "warm"}));
    let texts: Vec<String> = (0..40).map(|n| format!("Delivery number {n} went to house {}.", n * 7 + 1)).collect();
    let ask = |host: &mut McpHost, text: &String| {
        host.ask(
            "tools/call",
            json!({"name": "memory_remember", "arguments": {"text": text, "category": "event", "explicit": true}}),
        )
    };
    let mut ids: Vec<i64> = texts[..20].iter().map(|text| ask(&mut host, text)).collect();
    tiro.kill_daemon();
    ids.extend(texts[20..].iter().map(|text| ask(&mut host, text)));
    for id in ids {
        let result = host.answer(id).unwrap();
        assert_ne!(result["isError"], true, "{result}");
    }
    let items = tiro.json(&["list", "--all"])["items"].clone();
    let mut found: Vec<&str> = items.as_array().unwrap().iter().map(|item| item["text"].as_str().unwrap()).collect();
    found.sort_unstable();
    let mut wanted: Vec<&str> = texts.iter().map(String::as_str).collect();
    wanted.sort_unstable();
    assert_eq!(found, wanted);
    let seen: Vec<_> = items.as_array().unwrap().iter().map(|item| item["seenCount"].as_u64().unwrap()).collect();
    assert!(seen.iter().all(|seen| *seen == 1), "each was told once: {seen:?}");
}

// MCP-5
#[test]
fn a_server_ends_with_its_host_within_a_second_whatever_it_is_doing() {
    let tiro = Tiro::new();
    type Deed = fn(&mut McpHost);
    let deeds: [(&str, Deed); 5] = [
        ("before a word", |_| {}),
        ("after the handshake", |host| drop(host.begin(Era::Handshake, "test-host"))),
        ("in the middle of a line", |host| host.send_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"meth")),
        ("while it listens", |host| {
            host.begin(Era::Stateless, "test-host");
            host.ask("subscriptions/listen", json!({"notifications": {"resourceSubscriptions": ["memory://recall/x"]}}));
            host.message();
        }),
        ("with calls under way", |host| {
            host.begin(Era::Stateless, "test-host");
            for _ in 0..100 {
                host.ask("tools/call", json!({"name": "memory_recall", "arguments": {"query": "anything"}}));
            }
        }),
    ];
    for (when, deed) in deeds {
        let mut host = McpHost::start(&tiro, &[]);
        deed(&mut host);
        host.leave();
        let left = Instant::now();
        let status = host.wait_exit();
        assert!(status.success() && left.elapsed() < GONE_MAX, "{when}: {status} after {:?}", left.elapsed());
    }
}

// MCP-5
#[test]
fn a_server_whose_daemon_hangs_ends_with_its_host_all_the_same() {
    let tiro = Tiro::new();
    let mut host = McpHost::open(&tiro, Era::Handshake, "test-host", &[]);
    host.tool("memory_recall", json!({"query": "warm"}));
    let _still = Still::stand(&tiro);
    host.ask("tools/call", json!({"name": "memory_recall", "arguments": {"query": "anything"}}));
    host.leave();
    let left = Instant::now();
    let status = host.wait_exit();
    let took = left.elapsed();
    assert!(status.success() && took < GONE_MAX, "{status} after {took:?}");
}

// MCP-5
#[test]
fn answers_that_are_on_their_way_when_the_host_closes_its_end_are_written() {
    let tiro = Tiro::new();
    tiro.ok(&["remember", "The ferry leaves at seven."]);
    let mut host = McpHost::open(&tiro, Era::Handshake, "test-host", &[]);
    host.tool("memory_recall", json!({"query": "warm"}));
    let id = host.ask("tools/call", json!({"name": "memory_recall", "arguments": {"query": "when does the ferry leave?"}}));
    host.leave();
    assert_eq!(host.answer(id).unwrap()["structuredContent"]["hits"][0]["text"], "The ferry leaves at seven.");
}

// MCP-5, API-3
#[test]
fn broken_lines_are_told_and_the_next_one_is_answered() {
    let tiro = Tiro::new();
    let mut host = McpHost::start(&tiro, &[]);
    // A byte order mark, notifications and answers of nothing, before the first request.
    host.send_bytes(b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"ping\"}\n");
    assert_eq!(host.message(), json!({"jsonrpc": "2.0", "id": 8, "result": {}}));
    host.send_bytes(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":9}}\n");
    host.send_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}\n\n\r\n");
    host.begin(Era::Handshake, "test-host");
    let deep =
        format!("{{\"jsonrpc\":\"2.0\",\"id\":70,\"method\":\"ping\",\"params\":{}{}}}", "[".repeat(5_000), "]".repeat(5_000));
    for (line, code, id) in [
        ("{nonsense", -32700, Value::Null),
        ("\u{0}\u{1}", -32700, Value::Null),
        ("\"\\ud800\"", -32700, Value::Null),
        (deep.as_str(), -32700, Value::Null),
        ("[]", -32600, Value::Null),
        ("7", -32600, Value::Null),
        ("[{\"jsonrpc\":\"2.0\",\"id\":71,\"method\":\"ping\"}]", -32600, Value::Null),
        ("{\"jsonrpc\":\"2.0\",\"id\":72}", -32600, json!(72)),
        ("{\"jsonrpc\":\"1.0\",\"id\":\"a\",\"method\":\"ping\"}", -32600, json!("a")),
        ("{\"jsonrpc\":\"2.0\",\"id\":73,\"method\":\"tools/call\",\"params\":[1]}", -32600, json!(73)),
        ("{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", -32600, Value::Null),
    ] {
        host.send_bytes(format!("{line}\n").as_bytes());
        let told = host.message();
        let short: String = line.chars().take(80).collect();
        assert_eq!((&told["error"]["code"], &told["id"]), (&json!(code), &id), "{short}: {told}");
        assert!(told["error"]["message"].as_str().unwrap().len() > 20, "{told}");
    }
    host.send_bytes(b"\xff\xfe\n");
    assert_eq!(host.message()["error"]["code"], -32700);
    // Nobody's notifications are not told.
    host.send_bytes(b"{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/didOpen\",\"params\":{}}\n");
    assert_eq!(host.request("ping", json!({})).unwrap(), json!({}));
}

// MCP-5, API-3
#[test]
fn a_huge_line_is_skipped_in_bounded_memory_and_its_request_is_told() {
    let tiro = Tiro::new();
    let mut host = McpHost::open(&tiro, Era::Handshake, "test-host", &[]);
    let megabytes = if tiro_tests::heavy() { 1_024 } else { 64 };
    let chunk = "x".repeat(1 << 20);
    for (before, after, id) in [
        ("{\"jsonrpc\":\"2.0\",\"id\":900,\"method\":\"tools/call\",\"params\":{\"t\":\"", "\"}}", json!(900)),
        ("{\"method\":\"tools/call\",\"params\":{\"t\":\"", "\"},\"jsonrpc\":\"2.0\",\"id\":\"last\"}", json!("last")),
        ("", "", Value::Null),
    ] {
        host.send_bytes(before.as_bytes());
        (0..megabytes).for_each(|_| host.send_bytes(chunk.as_bytes()));
        host.send_bytes(format!("{after}\n").as_bytes());
        let told = host.message();
        assert_eq!((&told["error"]["code"], &told["id"]), (&json!(-32600), &id), "{told}");
        assert!(told["error"]["message"].as_str().unwrap().contains("1048576 bytes"), "{told}");
        assert_eq!(host.request("ping", json!({})).unwrap(), json!({}));
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", host.pid())).unwrap();
    let peak: u64 = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse().ok()).unwrap();
    assert!(peak < 48 << 10, "the server took {peak} KiB");
}

// MCP-5
#[test]
fn a_thousand_calls_at_once_are_all_answered_and_an_id_in_use_is_refused() {
    let tiro = Tiro::new();
    tiro.ok(&["remember", "The ferry leaves at seven."]);
    for era in ERAS {
        let mut host = McpHost::open(&tiro, era, "test-host", &[]);
        let ids: Vec<i64> = (0..1_000)
            .map(|n| match n % 4 {
                0 => host.ask("tools/call", json!({"name": "memory_list", "arguments": {"limit": 1}})),
                1 => host.ask("tools/call", json!({"name": "memory_recall", "arguments": {"query": "ferry", "limit": "x"}})),
                2 => host.ask("tools/list", json!({})),
                _ => {
                    host.ask("tools/call", json!({"name": "memory_recall", "arguments": {"query": "when does the ferry leave?"}}))
                }
            })
            .collect();
        for (n, id) in ids.into_iter().enumerate() {
            let answer = host.answer(id).unwrap();
            match n % 4 {
                1 => assert_eq!(answer["isError"], true, "{answer}"),
                3 => assert_eq!(answer["structuredContent"]["hits"][0]["text"], "The ferry leaves at seven."),
                _ => {}
            }
        }
        let call =
            json!({"jsonrpc": "2.0", "id": "twice", "method": "tools/call", "params": {"name": "memory_list", "arguments": {}}});
        if era == Era::Handshake {
            host.send_bytes(format!("{call}\n{call}\n").as_bytes());
            let (told, answered) = (host.message(), host.message());
            assert!(told["id"].is_null() && told["error"]["message"].as_str().unwrap().contains("not answered yet"), "{told}");
            assert_eq!(answered["id"], "twice");
        }
    }
}

// MCP-5
#[test]
fn a_cancelled_call_gets_no_answer_and_holds_nobody_up() {
    let tiro = Tiro::new();
    let mut host = McpHost::open(&tiro, Era::Handshake, "test-host", &[]);
    host.tool("memory_recall", json!({"query": "warm"}));
    // The calls are under way when they are cancelled.
    let still = Still::stand(&tiro);
    for _ in 0..500 {
        let id = host.ask("tools/call", json!({"name": "memory_recall", "arguments": {"query": "slow"}}));
        host.send(
            &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id, "reason": "enough"}}),
        );
    }
    // More than may be unanswered at a time: what is cancelled does not count.
    let ping = host.ask("ping", json!({}));
    let first = host.message();
    assert_eq!((&first["id"], &first["result"]), (&json!(ping), &json!({})), "{first}");
    drop(still);
    let last = host.ask("tools/call", json!({"name": "memory_list", "arguments": {}}));
    let next = host.message();
    assert_eq!(next["id"], last, "{next}");
}

// MCP-5
#[test]
fn two_hosts_at_once_see_what_the_other_keeps_and_are_told_apart() {
    let tiro = Tiro::new();
    let mut first = McpHost::open(&tiro, Era::Handshake, "first", &[]);
    let mut second = McpHost::open(&tiro, Era::Stateless, "second", &[]);
    let from_first = first.tool("memory_remember", json!({"text": "The red bicycle belongs to Ann.", "category": "fact"}));
    let uri = format!("memory://item/{}", from_first["id"].as_str().unwrap());
    first.request("resources/subscribe", json!({"uri": uri})).unwrap();
    let found = second.tool("memory_recall", json!({"query": "whose is the red bicycle?"}));
    assert_eq!(found["hits"][0]["sources"], json!([{"program": "first"}]));
    second.tool("memory_update", json!({"id": from_first["id"], "ifVersion": 1, "text": "The red bicycle belongs to Bo."}));
    assert_eq!(first.message()["params"]["uri"], uri.as_str(), "what another host does is told");
    let audit = tiro.json(&["audit"]);
    let client = |method: &str| {
        let rows = audit["items"].as_array().unwrap();
        rows.iter().find(|row| row["method"] == method).map(|row| row["actor"]["client"].as_str().unwrap().to_owned())
    };
    assert_eq!(client("memory/remember").as_deref(), Some("first/1.0"));
    assert_eq!(client("memory/update").as_deref(), Some("second/1.0"));
    first.leave();
    assert!(first.wait_exit().success());
    second.tool("memory_list", json!({}));
}
