//! A conversation written down as it goes, without what differs from run to run.
//!
//! `->` is what the client says, `<-` what the daemon says. Must not know: any verb.

use crate::client::Rpc;
use crate::redact::Redaction;
use serde_json::{Value, json};
use std::fmt::Write;

/// The conversation so far.
pub struct Transcript {
    rpc: Rpc,
    redaction: Redaction,
    text: String,
}

impl Transcript {
    /// Over this connection.
    pub fn new(rpc: Rpc) -> Self {
        Transcript { rpc, redaction: Redaction::default(), text: String::new() }
    }

    /// A line of explanation.
    pub fn title(&mut self, text: &str) {
        let _ = writeln!(self.text, "{}# {text}", if self.text.is_empty() { "" } else { "\n" });
    }

    /// Calls a method; what it answered. Notifications that came before the answer are written down before it.
    pub fn say(&mut self, method: &str, params: Value) -> Value {
        let shown = self.redaction.of(&json!({"method": method, "params": params}));
        let _ = writeln!(self.text, "-> {} {}", method, shown["params"]);
        let answer = self.rpc.call(method, params);
        self.told();
        let line = match &answer {
            Ok(result) => json!({"result": result}),
            Err(error) => json!({"error": error}),
        };
        let _ = writeln!(self.text, "<- {}", self.redaction.of(&line));
        answer.unwrap_or(Value::Null)
    }

    /// Writes a line as it is and takes the one line that comes back.
    pub fn raw(&mut self, line: &[u8]) {
        let _ = writeln!(self.text, "-> {}", String::from_utf8_lossy(line));
        self.rpc.write(line).expect("the connection is open");
        self.rpc.write(b"\n").expect("the connection is open");
        let answer = self.rpc.line().expect("the connection is open").expect("an answer");
        let _ = writeln!(self.text, "<- {}", self.redaction.of(&answer));
    }

    /// Waits for a notification and writes it down.
    pub fn hear(&mut self, method: &str) -> Value {
        let params = self.rpc.notification(method);
        let _ = writeln!(self.text, "<- {method} {}", self.redaction.of(&params));
        params
    }

    /// Writes down the notifications that have come.
    fn told(&mut self) {
        for (method, params) in self.rpc.take_notifications() {
            let _ = writeln!(self.text, "<- {method} {}", self.redaction.of(&params));
        }
    }

    /// The connection.
    pub fn rpc(&mut self) -> &mut Rpc {
        &mut self.rpc
    }

    /// All of it.
    pub fn text(self) -> String {
        self.text
    }
}
