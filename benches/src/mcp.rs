//! A host of the Model Context Protocol: `tiro mcp serve` at the end of two pipes, blocking.
//!
//! Must not know: what is measured.

use crate::process::Daemon;
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// One server and its host; dropped, the host leaves.
pub struct Host {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    next_id: u64,
    line: String,
}

impl Host {
    /// Starts a server for this daemon and begins.
    ///
    /// # Errors
    /// When it cannot be run, or does not begin.
    pub fn start(daemon: &Daemon) -> Result<Host> {
        let mut child = daemon
            .command("tiro")
            .args(["mcp", "serve", "--space", "personal"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().context("invariant: standard output is piped")?);
        let mut host = Host { child, stdin, stdout, next_id: 0, line: String::new() };
        let client = json!({"name": "bench", "version": "0"});
        host.call("initialize", json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}))?;
        Ok(host)
    }

    /// Calls a tool; its structured content.
    ///
    /// # Errors
    /// When it fails.
    pub fn tool(&mut self, name: &str, arguments: Value) -> Result<Value> {
        let mut result = self.call("tools/call", json!({"name": name, "arguments": arguments}))?;
        if result["isError"] == true {
            bail!("{name}: {result}");
        }
        Ok(result["structuredContent"].take())
    }

    fn call(&mut self, method: &str, params: Value) -> Result<Value> {
        self.next_id += 1;
        let mut request = serde_json::to_vec(&json!({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params}))?;
        request.push(b'\n');
        let stdin = self.stdin.as_mut().context("invariant: the host has not left")?;
        stdin.write_all(&request)?;
        self.line.clear();
        self.stdout.read_line(&mut self.line)?;
        let mut answer: Value = serde_json::from_str(&self.line).with_context(|| format!("{method}: {:?}", self.line))?;
        if answer["id"] != self.next_id || answer.get("error").is_some() {
            bail!("{method}: {answer}");
        }
        Ok(answer["result"].take())
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.stdin = None;
        let _ = self.child.wait();
    }
}
