//! A host of the Model Context Protocol at the end of two pipes: starts `tiro mcp serve`, speaks lines, of either era.
//!
//! One thread reads what comes; every wait has a deadline. Must not know: any tool.

use crate::{DEADLINE, Tiro, wait_for};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};

/// Which of the two ways a host begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// 2025-11-25 and earlier: `initialize`.
    Handshake,
    /// 2026-07-28: every request says who asks.
    Stateless,
}

/// A host and the server it started. Dropped, it ends the server.
pub struct McpHost {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    next_id: i64,
    era: Option<Era>,
    name: String,
    kept: VecDeque<Value>,
}

impl McpHost {
    /// Starts `tiro mcp serve` with further arguments, and says nothing yet.
    pub fn start(tiro: &Tiro, arguments: &[&str]) -> Self {
        Self::start_command(tiro.command(&[&["mcp", "serve"], arguments].concat()))
    }

    /// Starts a command that serves.
    pub fn start_command(mut command: std::process::Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().expect("tiro runs");
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().expect("invariant: standard output is piped");
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        McpHost { child, stdin, lines, next_id: 0, era: None, name: "test-host".to_owned(), kept: VecDeque::new() }
    }

    /// Starts it and begins, in this era and by this name.
    pub fn open(tiro: &Tiro, era: Era, name: &str, arguments: &[&str]) -> Self {
        let mut host = Self::start(tiro, arguments);
        host.begin(era, name);
        host
    }

    /// Begins; what the server says of itself.
    pub fn begin(&mut self, era: Era, name: &str) -> Value {
        name.clone_into(&mut self.name);
        match era {
            Era::Handshake => {
                let params = json!({
                    "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": name, "version": "1.0"}
                });
                let said = self.request("initialize", params).expect("initialize is answered");
                self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
                self.era = Some(era);
                said
            }
            Era::Stateless => {
                self.era = Some(era);
                self.request("server/discover", json!({})).expect("server/discover is answered")
            }
        }
    }

    /// Writes one message.
    pub fn send(&mut self, message: &Value) {
        self.send_bytes(format!("{message}\n").as_bytes());
    }

    /// Writes these bytes.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("the host has not left");
        stdin.write_all(bytes).and_then(|()| stdin.flush()).expect("the server reads");
    }

    /// The next message.
    pub fn message(&mut self) -> Value {
        match self.kept.pop_front() {
            Some(message) => message,
            None => self.read().unwrap_or_else(|| panic!("the server ended")),
        }
    }

    fn read(&mut self) -> Option<Value> {
        match self.lines.recv_timeout(DEADLINE) {
            Ok(line) => Some(serde_json::from_str(&line).unwrap_or_else(|error| panic!("the server wrote {line:?}: {error}"))),
            Err(RecvTimeoutError::Timeout) => panic!("waited {DEADLINE:?} in vain for the server"),
            Err(RecvTimeoutError::Disconnected) => None,
        }
    }

    /// The params with what a host of this era says of itself.
    fn with_meta(&self, mut params: Value) -> Value {
        if self.era == Some(Era::Stateless) {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": self.name, "version": "1.0"},
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        params
    }

    /// Asks and does not wait; the id.
    pub fn ask(&mut self, method: &str, params: Value) -> i64 {
        self.next_id += 1;
        let message = json!({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": self.with_meta(params)});
        self.send(&message);
        self.next_id
    }

    /// The answer to this request; others, and notifications, are kept.
    pub fn answer(&mut self, id: i64) -> Result<Value, Value> {
        let mut kept = std::mem::take(&mut self.kept);
        let at = kept.iter().position(|message| message["id"] == id && message.get("method").is_none());
        let message = match at {
            Some(at) => kept.remove(at).expect("invariant: it was found"),
            None => loop {
                let message = self.read().unwrap_or_else(|| panic!("the server ended before it answered"));
                if message["id"] == id && message.get("method").is_none() {
                    break message;
                }
                kept.push_back(message);
            },
        };
        self.kept = kept;
        match message.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(message["result"].clone()),
        }
    }

    /// Asks and waits for the answer.
    pub fn request(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.ask(method, params);
        self.answer(id)
    }

    /// Calls a tool that has to work; its structured content, which has to be its text as well.
    pub fn tool(&mut self, name: &str, arguments: Value) -> Value {
        let result = self.tool_result(name, arguments);
        assert_ne!(result["isError"], true, "{name}: {result}");
        let text = result["content"][0]["text"].as_str().expect("a text");
        let value: Value = serde_json::from_str(text).expect("the text is JSON");
        assert_eq!(value, result["structuredContent"], "{name}");
        value
    }

    /// Calls a tool that has to fail; what it says.
    pub fn tool_error(&mut self, name: &str, arguments: Value) -> String {
        let result = self.tool_result(name, arguments);
        assert_eq!(result["isError"], true, "{name}: {result}");
        assert!(result.get("structuredContent").is_none(), "{result}");
        result["content"][0]["text"].as_str().expect("a text").to_owned()
    }

    /// Calls a tool; its whole result.
    pub fn tool_result(&mut self, name: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({"name": name, "arguments": arguments}))
            .unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Process id of the server.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Leaves: closes the server's standard input.
    pub fn leave(&mut self) {
        self.stdin = None;
    }

    /// Waits for the server's end.
    pub fn wait_exit(&mut self) -> ExitStatus {
        wait_for("the server to end", DEADLINE, || self.child.try_wait().expect("the child can be waited for"))
    }
}

impl Drop for McpHost {
    fn drop(&mut self) {
        self.stdin = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
