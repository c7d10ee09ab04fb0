//! A client that speaks JSON lines over the socket: typed calls for most tests, raw bytes for the rest.
//!
//! Blocking, on one thread; what comes in between is kept. Must not know: any verb.

use crate::wait::DEADLINE;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};
use tiro_schema::ErrorObject;

/// The connection is no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gone;

/// A connection.
pub struct Rpc {
    stream: UnixStream,
    incoming: Vec<u8>,
    next_id: i64,
    notifications: VecDeque<(String, Value)>,
    answers: HashMap<i64, Result<Value, ErrorObject>>,
    /// Time every wait gets.
    pub deadline: Duration,
}

impl Rpc {
    /// Connects without a word.
    pub fn connect(socket: &Path) -> std::io::Result<Self> {
        let stream = UnixStream::connect(socket)?;
        Ok(Rpc {
            stream,
            incoming: Vec::new(),
            next_id: 0,
            notifications: VecDeque::new(),
            answers: HashMap::new(),
            deadline: DEADLINE,
        })
    }

    /// Connects and agrees on the protocol.
    pub fn open(socket: &Path) -> Self {
        let mut rpc = Self::connect(socket).unwrap_or_else(|error| panic!("cannot connect to {}: {error}", socket.display()));
        rpc.initialize();
        rpc
    }

    /// Agrees on the protocol; the result of `initialize`.
    pub fn initialize(&mut self) -> Value {
        let params = json!({"protocol": {"min": 1, "max": 1}, "client": {"name": "tests", "version": "0"}, "capabilities": {}});
        self.call("initialize", params).expect("initialize is answered")
    }

    /// Calls a method and waits for its answer. Panics when the connection ends.
    pub fn call(&mut self, method: &str, params: Value) -> Result<Value, ErrorObject> {
        self.try_call(method, params).unwrap_or_else(|Gone| panic!("the daemon closed the connection during {method}"))
    }

    /// Calls a method that has to succeed; its result as `R`.
    pub fn ask<R: DeserializeOwned>(&mut self, method: &str, params: Value) -> R {
        let result = self.call(method, params).unwrap_or_else(|error| panic!("{method} failed: {error:?}"));
        serde_json::from_value(result.clone()).unwrap_or_else(|error| panic!("{method} answered {result}: {error}"))
    }

    /// Calls a method that has to fail.
    pub fn refused(&mut self, method: &str, params: Value) -> ErrorObject {
        match self.call(method, params) {
            Err(error) => error,
            Ok(result) => panic!("{method} should have failed, but answered {result}"),
        }
    }

    /// Calls a method on a connection that may end.
    pub fn try_call(&mut self, method: &str, params: Value) -> Result<Result<Value, ErrorObject>, Gone> {
        let id = self.send(method, params)?;
        self.try_answer(id)
    }

    /// Sends a request; [`Rpc::answer`] waits for what comes back.
    pub fn send(&mut self, method: &str, params: Value) -> Result<i64, Gone> {
        self.next_id += 1;
        let line = json!({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params});
        self.write(format!("{line}\n").as_bytes())?;
        Ok(self.next_id)
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: Value) {
        let line = json!({"jsonrpc": "2.0", "method": method, "params": params});
        self.write(format!("{line}\n").as_bytes()).expect("the connection is open");
    }

    /// Waits for the answer to a request.
    pub fn answer(&mut self, id: i64) -> Result<Value, ErrorObject> {
        self.try_answer(id).unwrap_or_else(|Gone| panic!("the daemon closed the connection before its answer"))
    }

    /// Waits for the answer to a request, on a connection that may end.
    pub fn try_answer(&mut self, id: i64) -> Result<Result<Value, ErrorObject>, Gone> {
        loop {
            if let Some(answer) = self.answers.remove(&id) {
                return Ok(answer);
            }
            let line = self.line()?.unwrap_or_else(|| panic!("no answer to request {id} within {:?}", self.deadline));
            self.sort(line);
        }
    }

    /// Waits for a notification of this name; its params. Others are kept.
    pub fn notification(&mut self, method: &str) -> Value {
        self.notification_where(method, |_| true)
    }

    /// Waits for a notification of this name that fits; its params. Others are kept.
    pub fn notification_where(&mut self, method: &str, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            if let Some(at) = self.notifications.iter().position(|(name, params)| name == method && fits(params)) {
                return self.notifications.remove(at).expect("invariant: the position was just found").1;
            }
            match self.line() {
                Ok(Some(line)) => self.sort(line),
                Ok(None) => panic!("no {method} within {:?}; there were {:?}", self.deadline, self.notification_names()),
                Err(Gone) => panic!("the connection ended before {method}; there were {:?}", self.notification_names()),
            }
        }
    }

    /// Every notification so far, oldest first, without waiting.
    pub fn take_notifications(&mut self) -> Vec<(String, Value)> {
        self.notifications.drain(..).collect()
    }

    fn notification_names(&self) -> Vec<&str> {
        self.notifications.iter().map(|(name, _)| name.as_str()).collect()
    }

    fn sort(&mut self, line: Value) {
        match (line.get("method").and_then(Value::as_str), line.get("id").and_then(Value::as_i64)) {
            (Some(method), _) => self.notifications.push_back((method.to_owned(), line["params"].clone())),
            (None, Some(id)) => {
                let answer = match line.get("error") {
                    Some(error) => {
                        Err(serde_json::from_value(error.clone()).unwrap_or_else(|e| panic!("{error} is no error object: {e}")))
                    }
                    None => Ok(line["result"].clone()),
                };
                self.answers.insert(id, answer);
            }
            (None, None) => panic!("an answer to nothing: {line}"),
        }
    }

    /// Writes bytes as they are.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Gone> {
        self.stream.set_write_timeout(Some(self.deadline)).expect("a time-out can be set");
        self.stream.write_all(bytes).map_err(|error| match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => panic!("the daemon did not read for {:?}", self.deadline),
            _ => Gone,
        })
    }

    /// Says that nothing more comes, and still reads.
    pub fn finish_writing(&mut self) {
        self.stream.shutdown(std::net::Shutdown::Write).expect("the connection is open");
    }

    /// The next line as JSON; none at the deadline.
    pub fn line(&mut self) -> Result<Option<Value>, Gone> {
        let Some(text) = self.line_text()? else { return Ok(None) };
        Ok(Some(serde_json::from_str(&text).unwrap_or_else(|error| panic!("the daemon wrote {text:?}: {error}"))))
    }

    /// The next line as text; none at the deadline.
    pub fn line_text(&mut self) -> Result<Option<String>, Gone> {
        let end = Instant::now() + self.deadline;
        loop {
            if let Some(at) = self.incoming.iter().position(|byte| *byte == b'\n') {
                let rest = self.incoming.split_off(at + 1);
                let line = std::mem::replace(&mut self.incoming, rest);
                return Ok(Some(String::from_utf8(line).expect("the daemon writes UTF-8").trim_end().to_owned()));
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            self.stream.set_read_timeout(Some(left)).expect("a time-out can be set");
            let mut chunk = [0_u8; 64 << 10];
            match self.stream.read(&mut chunk) {
                Ok(0) => return Err(Gone),
                Ok(read) => self.incoming.extend_from_slice(&chunk[..read]),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted) => {}
                Err(_) => return Err(Gone),
            }
        }
    }

    /// Waits until the daemon closes the connection; every line before that.
    pub fn until_closed(&mut self) -> Vec<Value> {
        let mut lines = Vec::new();
        loop {
            match self.line() {
                Ok(Some(line)) => lines.push(line),
                Ok(None) => panic!("the connection was not closed within {:?}; it said {lines:?}", self.deadline),
                Err(Gone) => return lines,
            }
        }
    }

    /// The socket itself.
    pub fn stream(&self) -> &UnixStream {
        &self.stream
    }
}
