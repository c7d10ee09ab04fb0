//! A blocking client of one connection: the least that can stand between a stopwatch and the daemon.
//!
//! Must not know: what is measured.

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// One connection.
pub struct Client {
    reader: BufReader<UnixStream>,
    writer: UnixStream,
    next_id: u64,
    line: String,
}

impl Client {
    /// Connects and says hello.
    ///
    /// # Errors
    /// When nobody answers.
    pub fn connect(socket: &Path) -> Result<Client> {
        let mut client = Client::connect_raw(socket)?;
        client.call(
            "initialize",
            json!({"protocol": {"min": 1, "max": 1}, "client": {"name": "bench", "version": "0"}, "capabilities": {}}),
        )?;
        Ok(client)
    }

    /// Connects without saying hello.
    ///
    /// # Errors
    /// When nobody listens.
    pub fn connect_raw(socket: &Path) -> Result<Client> {
        let writer = UnixStream::connect(socket)?;
        writer.set_read_timeout(Some(Duration::from_secs(120)))?;
        Ok(Client { reader: BufReader::with_capacity(1 << 20, writer.try_clone()?), writer, next_id: 0, line: String::new() })
    }

    /// Calls and waits for the answer; notifications are passed over.
    ///
    /// # Errors
    /// When the daemon answers with an error or goes away.
    pub fn call(&mut self, method: &str, params: Value) -> Result<Value> {
        self.next_id += 1;
        let id = self.next_id;
        let mut bytes = serde_json::to_vec(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        bytes.push(b'\n');
        self.writer.write_all(&bytes)?;
        loop {
            self.line.clear();
            if self.reader.read_line(&mut self.line)? == 0 {
                bail!("the daemon closed the connection during {method}");
            }
            let mut message: Value = serde_json::from_str(&self.line).context("the daemon's line")?;
            if message.get("id").and_then(Value::as_u64) != Some(id) {
                continue;
            }
            if let Some(error) = message.get("error") {
                bail!("{method}: {error}");
            }
            return Ok(message["result"].take());
        }
    }
}
