//! `tiro mcp serve --http`: who may ask at all, both eras over one address, and every bound.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use tiro_tests::{DEADLINE, Ran, Tiro, wait_for};

const TOKEN: &str = "0123456789abcdef-a-token";

/// `tiro mcp serve --http` at a port of its own.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start(tiro: &Tiro, arguments: &[&str]) -> (Self, Value) {
        let mut command = tiro.command(&[&["--json", "mcp", "serve", "--http", "0"], arguments].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap();
        let port = said["url"].as_str().unwrap().trim_end_matches("/mcp").rsplit(':').next().unwrap().parse().unwrap();
        (Server { child, port }, said)
    }

    fn with_token(tiro: &Tiro) -> Self {
        let path = tiro.home().join("token");
        std::fs::write(&path, format!("{TOKEN}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        let (server, said) = Self::start(tiro, &["--token-file", path.to_str().unwrap()]);
        assert!(said.get("token").is_none(), "a token that was given is not printed");
        server
    }

    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        let mut head = format!("{method} {path} HTTP/1.1\r\nContent-Length: {}\r\n", body.len());
        let given = |name: &str| headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name));
        for (name, value) in [
            ("Host", format!("127.0.0.1:{}", self.port)),
            ("Content-Type", "application/json".to_owned()),
            ("Accept", "application/json, text/event-stream".to_owned()),
            ("Authorization", format!("Bearer {TOKEN}")),
        ] {
            if !given(name) {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
        }
        headers
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .for_each(|(name, value)| head.push_str(&format!("{name}: {value}\r\n")));
        // A refused body is not read to its end.
        let _ = stream.write_all(format!("{head}\r\n").as_bytes()).and_then(|()| stream.write_all(body));
        Reply::read(stream)
    }

    fn post(&self, headers: &[(&str, &str)], message: &Value) -> Reply {
        self.send("POST", "/mcp", headers, message.to_string().as_bytes())
    }

    /// A request of the stateless era.
    fn stateless(&self, name: &str, method: &str, params: Value) -> Reply {
        let mut params = params;
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": name, "version": "1.0"},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let about = params["name"].as_str().or(params["uri"].as_str()).unwrap_or_default().to_owned();
        let headers = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method), ("Mcp-Name", about.as_str())];
        self.post(&headers, &json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
    }

    /// Begins a session; its id.
    fn session(&self, name: &str) -> Reply {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": name, "version": "1.0"}});
        self.post(&[], &json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}))
    }

    fn ends(&mut self) -> Duration {
        let pid = nix::unistd::Pid::from_raw(i32::try_from(self.child.id()).unwrap());
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
        let asked = Instant::now();
        let status = wait_for("the server to end", DEADLINE, || self.child.try_wait().unwrap());
        assert!(status.success(), "{status}");
        asked.elapsed()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An answer, as far as it was read.
struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: BufReader<TcpStream>,
}

impl Reply {
    fn read(stream: TcpStream) -> Self {
        let mut body = BufReader::new(stream);
        let mut line = String::new();
        body.read_line(&mut line).unwrap();
        let status = line.split(' ').nth(1).unwrap_or_else(|| panic!("no status in {line:?}")).parse().unwrap();
        let mut headers = Vec::new();
        loop {
            line.clear();
            body.read_line(&mut line).unwrap();
            match line.trim_end().split_once(": ") {
                Some((name, value)) => headers.push((name.to_lowercase(), value.to_owned())),
                None => return Reply { status, headers, body },
            }
        }
    }

    fn header(&self, name: &str) -> Option<String> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.clone())
    }

    /// The next message of a stream.
    fn message(&mut self) -> Value {
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.body.read_line(&mut line).unwrap() > 0, "the stream ended");
            if let Some(data) = line.strip_prefix("data: ").map(str::trim).filter(|data| !data.is_empty()) {
                return serde_json::from_str(data).unwrap();
            }
        }
    }

    /// The result of the one answer.
    fn result(&mut self) -> Value {
        assert_eq!(self.status, 200);
        let message = self.message();
        assert!(message.get("error").is_none(), "{message}");
        message["result"].clone()
    }

    fn text(mut self) -> String {
        let length = self.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        let mut text = vec![0; length];
        self.body.read_exact(&mut text).unwrap();
        String::from_utf8(text).unwrap()
    }
}

// MCP-5
#[test]
fn who_has_not_the_token_gets_nothing_and_the_token_is_in_no_command_line() {
    let tiro = Tiro::new();
    let server = Server::with_token(&tiro);
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    for wrong in ["", "Bearer wrong-wrong-wrong-wrong", "Basic 0123456789abcdef-a-token", TOKEN] {
        let reply = server.post(&[("Authorization", wrong)], &ping);
        assert_eq!((reply.status, reply.header("www-authenticate").as_deref()), (401, Some("Bearer")), "{wrong:?}");
        assert!(reply.text().contains("Authorization: Bearer TOKEN"));
    }
    assert_eq!(server.session("test-host").status, 200);

    let (made, said) = Server::start(&tiro, &[]);
    let token = said["token"].as_str().unwrap().to_owned();
    assert_eq!(token.len(), 64);
    assert_eq!(
        made.post(&[("Authorization", &format!("Bearer {token}"))], &ping).status,
        400,
        "a session is needed, not a token"
    );
    let command_line = std::fs::read_to_string(format!("/proc/{}/cmdline", made.child.id())).unwrap();
    assert!(!command_line.contains(&token));

    let open = tiro.home().join("open");
    std::fs::write(&open, TOKEN).unwrap();
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o640)).unwrap();
    let ran = tiro.run(&["mcp", "serve", "--http", "0", "--token-file", open.to_str().unwrap()]).exits(2);
    assert!(ran.stderr.contains("you, alone can read") && !ran.stderr.contains(TOKEN), "{}", ran.stderr);
    // The daemon it starts is not told the token.
    let named = Tiro::new().env("TIRO_MCP_TOKEN", TOKEN);
    let (server, said) = Server::start(&named, &[]);
    assert!(said.get("token").is_none());
    server.stateless("test-host", "tools/call", json!({"name": "memory_list", "arguments": {}})).result();
    let environment = std::fs::read_to_string(format!("/proc/{}/environ", named.daemon_pid().unwrap())).unwrap();
    assert!(!environment.contains(TOKEN));
    let short = Tiro::at(tiro.home()).env("TIRO_MCP_TOKEN", "short");
    let ran = Ran::of(&["mcp"], short.command(&["mcp", "serve", "--http", "0"]).output().unwrap()).exits(2);
    assert!(ran.stderr.contains("16 to 512"), "{}", ran.stderr);
}

// MCP-5
#[test]
fn pages_of_other_places_and_other_addresses_are_refused() {
    let tiro = Tiro::new();
    let server = Server::with_token(&tiro);
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    for (name, value) in [
        ("Host", "evil.example"),
        ("Host", "127.0.0.1.evil.example"),
        ("Origin", "http://evil.example"),
        ("Origin", "https://127.0.0.1.evil.example"),
        ("Origin", "null"),
    ] {
        assert_eq!(server.post(&[(name, value)], &ping).status, 403, "{name}: {value}");
    }
    let origin = format!("http://localhost:{}", server.port);
    for (name, value) in [("Host", "localhost"), ("Origin", origin.as_str())] {
        assert_eq!(server.post(&[(name, value)], &ping).status, 400, "{name}: {value} passes; a session is needed");
    }
    assert_eq!(server.send("POST", "/", &[], b"{}").status, 404);
    for address in ["0.0.0.0:0", "192.0.2.1:80", "[::]:0", "localhost", "70000"] {
        let ran = tiro.run(&["mcp", "serve", "--http", address]).exits(2);
        assert!(ran.stderr.contains("loopback") || ran.stderr.contains("give a port"), "{address}: {}", ran.stderr);
    }
}

// MCP-5
#[test]
fn hosts_of_both_eras_are_served_at_one_address_and_told_apart() {
    let tiro = Tiro::new();
    let server = Server::with_token(&tiro);
    let mut begun = server.session("older");
    let session = begun.header("mcp-session-id").unwrap();
    assert_eq!(begun.result()["protocolVersion"], "2025-11-25");
    let of_session = [("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", "2025-11-25")];
    assert_eq!(server.post(&of_session, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).status, 202);
    let call = |name: &str, arguments: Value| json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": name, "arguments": arguments}});
    let kept = server
        .post(&of_session, &call("memory_remember", json!({"text": "The ferry leaves at seven.", "category": "fact"})))
        .result();
    let id = kept["structuredContent"]["id"].as_str().unwrap().to_owned();

    let discovered = server.stateless("newer", "server/discover", json!({})).result();
    assert!(discovered["supportedVersions"].to_string().contains("2026-07-28"), "{discovered}");
    let found = server.stateless(
        "newer",
        "tools/call",
        json!({"name": "memory_recall", "arguments": {"query": "when does the ferry leave?"}}),
    );
    assert!(found.header("mcp-session-id").is_none());
    let found = { found }.result();
    assert_eq!(found["structuredContent"]["hits"][0]["id"], id.as_str());
    assert_eq!(found["structuredContent"]["hits"][0]["sources"], json!([{"program": "older"}]));

    let audited = |method: &str, client: &str| {
        wait_for(&format!("{method} of {client} in the audit"), DEADLINE, || {
            let rows = tiro.json(&["audit", "--all"]);
            let is_it = |row: &Value| row["method"] == method && row["actor"]["client"] == client;
            rows["items"].as_array().unwrap().iter().any(is_it).then_some(())
        });
    };
    audited("memory/remember", "older/1.0");
    audited("memory/recall", "newer/1.0");

    // A stream of changes, and the daemon killed while it is open.
    let uri = format!("memory://item/{id}");
    let mut stream =
        server.stateless("newer", "subscriptions/listen", json!({"notifications": {"resourceSubscriptions": [uri]}}));
    assert_eq!(stream.message()["method"], "notifications/subscriptions/acknowledged");
    // The first look, against which later ones are held: it reads the memory.
    audited("memory/get", "newer/1.0");
    tiro.kill_daemon();
    server.post(&of_session, &call("memory_update", json!({"id": id, "importance": 0.9}))).result();
    let note = stream.message();
    assert_eq!((&note["method"], &note["params"]["uri"]), (&json!("notifications/resources/updated"), &json!(uri)));

    assert_eq!(server.send("DELETE", "/mcp", &of_session, b"").status / 100, 2);
    assert_eq!(server.post(&of_session, &call("memory_list", json!({}))).status, 404);
}

// MCP-5
#[test]
fn bodies_heads_sessions_and_the_end_are_bounded() {
    let tiro = Tiro::new();
    let mut server = Server::with_token(&tiro);
    let huge = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"t": "x".repeat(2 << 20)}});
    assert_eq!(server.post(&[], &huge).status, 413);
    let long = "x".repeat(64 << 10);
    assert_eq!(server.send("POST", "/mcp", &[("X-Long", long.as_str())], b"{}").status, 431);
    for _ in 0..32 {
        assert_eq!(server.session("test-host").status, 200);
    }
    let refused = server.session("test-host");
    assert_eq!(refused.status, 503);
    assert!(refused.text().contains("32 sessions"));
    let mut listed = server.stateless("test-host", "tools/list", json!({}));
    assert_eq!(listed.result()["tools"].as_array().unwrap().len(), 8, "who needs no session is served");

    let mut open = server.stateless(
        "test-host",
        "subscriptions/listen",
        json!({"notifications": {"resourceSubscriptions": ["memory://recall/x"]}}),
    );
    open.message();
    let took = server.ends();
    assert!(took < Duration::from_secs(1), "it took {took:?}");
}
