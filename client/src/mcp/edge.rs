//! The edge of the stdio transport: one message a line, each bounded, and every request answered.
//!
//! `rmcp` has a transport for this, which is left aside for four things it does at the edge: it drops a line that is too long and
//! one whose shape is wrong without telling whose request that was (a host then waits for ever), it ends the connection at a
//! notification that comes before the first request, it takes any number of requests at a time, and it does not tell when the
//! host is gone. Must not know: what is asked.

use crate::limits::{MCP_LINE_BYTES_MAX, MCP_LINE_ENDS_BYTES, MCP_OUTGOING_MAX, MCP_REQUESTS_MAX};
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode, ErrorData, GetMeta, RequestId, ServerJsonRpcMessage,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Some hosts' pipes begin with it.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Requests that are not answered yet.
#[derive(Default)]
struct Unanswered {
    ids: Mutex<HashSet<RequestId>>,
    fewer: Notify,
}

impl Unanswered {
    fn with<R>(&self, change: impl FnOnce(&mut HashSet<RequestId>) -> R) -> R {
        change(&mut self.ids.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    fn remove(&self, id: &RequestId) {
        if self.with(|ids| ids.remove(id)) {
            self.fewer.notify_one();
        }
    }

    /// Waits until there is room for one more. Cancelling it loses nothing.
    async fn room(&self) {
        while self.with(|ids| ids.len() >= MCP_REQUESTS_MAX) {
            self.fewer.notified().await;
        }
    }
}

/// One host at the other end of a pair of streams.
pub struct Edge<R> {
    lines: BufReader<R>,
    line: Vec<u8>,
    /// Both ends of a line that is too long, while it is skipped.
    skipped: Option<Ends>,
    /// An error that waits to be written.
    told: Option<Vec<u8>>,
    /// Whether a request has come that begins either era.
    begun: bool,
    unanswered: Arc<Unanswered>,
    outgoing: Option<mpsc::Sender<Vec<u8>>>,
    writer: Option<JoinHandle<()>>,
    gone: CancellationToken,
}

impl<R: AsyncRead + Unpin + Send> Edge<R> {
    /// Reads from one stream and writes to the other; `gone` is cancelled when the host closes either.
    pub fn new<W>(read: R, write: W, gone: CancellationToken) -> Self
    where
        W: AsyncWrite + Unpin + Send + 'static,
    {
        let (outgoing, frames) = mpsc::channel(MCP_OUTGOING_MAX);
        let writer = tokio::spawn(write_frames(write, frames, gone.clone()));
        Edge {
            lines: BufReader::with_capacity(64 << 10, read),
            line: Vec::new(),
            skipped: None,
            told: None,
            begun: false,
            unanswered: Arc::default(),
            outgoing: Some(outgoing),
            writer: Some(writer),
            gone,
        }
    }

    /// Reads to the end of a line; what was read stays in `self` when this is cancelled. None at the end of the stream.
    async fn read_line(&mut self) -> Option<Line> {
        loop {
            let available = self.lines.fill_buf().await.ok()?;
            if available.is_empty() {
                return None;
            }
            let newline = available.iter().position(|byte| *byte == b'\n');
            let taken = newline.map_or(available.len(), |at| at + 1);
            match &mut self.skipped {
                Some(ends) => ends.add(&available[..taken]),
                None if self.line.len() + taken > MCP_LINE_BYTES_MAX => {
                    let mut ends = Ends::default();
                    ends.add(&self.line);
                    ends.add(&available[..taken]);
                    self.line = Vec::new();
                    self.skipped = Some(ends);
                }
                None => self.line.extend_from_slice(&available[..taken]),
            }
            self.lines.consume(taken);
            if newline.is_some() {
                return Some(match self.skipped.take() {
                    Some(ends) => Line::TooLong(ends.id()),
                    None => Line::Whole,
                });
            }
        }
    }

    /// Makes a message of the line that was read; an error to tell where it is none.
    fn parse(&mut self) -> Result<Option<ClientJsonRpcMessage>, Wrong> {
        let line = self.line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&self.line).trim_ascii();
        if line.is_empty() {
            return Ok(None);
        }
        if let Ok(message) = serde_json::from_slice::<RxJsonRpcMessage<RoleServer>>(line) {
            return self.admit(message);
        }
        match serde_json::from_slice::<Value>(line) {
            Err(error) => {
                let message = format!("the line is not JSON: {error}; send one JSON object a line, in UTF-8");
                Err(Wrong { code: ErrorCode::PARSE_ERROR, message, id: None })
            }
            // Notifications that nobody knows are for somebody else.
            Ok(Value::Object(members)) if members.contains_key("method") && !members.contains_key("id") => Ok(None),
            Ok(value) => {
                let id = value.get("id").cloned().and_then(|id| serde_json::from_value(id).ok());
                let message =
                    "not a JSON-RPC 2.0 request: it has jsonrpc \"2.0\", an id that is a string or a number, a method and \
                               params as an object; batches are not taken"
                        .to_owned();
                Err(Wrong { code: ErrorCode::INVALID_REQUEST, message, id })
            }
        }
    }

    /// Lets a message through, keeping account of what is unanswered.
    fn admit(&mut self, message: ClientJsonRpcMessage) -> Result<Option<ClientJsonRpcMessage>, Wrong> {
        match &message {
            ClientJsonRpcMessage::Request(request) => {
                if !self.unanswered.with(|ids| ids.insert(request.id.clone())) {
                    let message = "a request with this id is not answered yet: use another id".to_owned();
                    // Without its id: that one belongs to the request before.
                    return Err(Wrong { code: ErrorCode::INVALID_REQUEST, message, id: None });
                }
                self.begun = self.begun || begins(&request.request);
            }
            _ if !self.begun => return Ok(None),
            ClientJsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.unanswered.remove(id);
                }
            }
            _ => {}
        }
        Ok(Some(message))
    }
}

/// Whether the request is one with which a host of either era begins.
fn begins(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        other => {
            let meta = other.get_meta();
            meta.protocol_version().is_some_and(|version| rmcp::model::ProtocolVersion::KNOWN_VERSIONS.contains(&version))
                && meta.client_info().is_some()
                && meta.client_capabilities().is_some()
        }
    }
}

/// What is to be told of a line, and whose request it was, where that can be seen.
struct Wrong {
    code: ErrorCode,
    message: String,
    id: Option<RequestId>,
}

enum Line {
    Whole,
    TooLong(Option<RequestId>),
}

impl<R: AsyncRead + Unpin + Send> Transport<RoleServer> for Edge<R> {
    type Error = io::Error;

    fn send(&mut self, item: TxJsonRpcMessage<RoleServer>) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let outgoing = self.outgoing.clone();
        let unanswered = Arc::clone(&self.unanswered);
        async move {
            let answered = match &item {
                ServerJsonRpcMessage::Response(response) => Some(response.id.clone()),
                ServerJsonRpcMessage::Error(error) => error.id.clone(),
                _ => None,
            };
            let frame = frame(&item)?;
            let closed = || io::Error::new(io::ErrorKind::NotConnected, "the host is gone");
            let sent = outgoing.ok_or_else(closed)?.send(frame).await.map_err(|_| closed());
            if let Some(id) = answered {
                unanswered.remove(&id);
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if self.told.is_some() {
                let place = self.outgoing.as_ref()?.reserve().await.ok()?;
                if let Some(frame) = self.told.take() {
                    place.send(frame);
                }
            }
            self.unanswered.room().await;
            let Some(line) = self.read_line().await else {
                self.gone.cancel();
                return None;
            };
            let parsed = match line {
                Line::Whole => self.parse(),
                Line::TooLong(id) => {
                    let message = format!("the line is longer than {MCP_LINE_BYTES_MAX} bytes: send less at a time");
                    Err(Wrong { code: ErrorCode::INVALID_REQUEST, message, id })
                }
            };
            self.line.clear();
            match parsed {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(Wrong { code, message, id }) => {
                    self.told = frame(&ServerJsonRpcMessage::error(ErrorData::new(code, message, None), id)).ok();
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.outgoing = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.await;
        }
        Ok(())
    }
}

fn frame(message: &ServerJsonRpcMessage) -> Result<Vec<u8>, io::Error> {
    let mut frame = serde_json::to_vec(message)?;
    frame.push(b'\n');
    Ok(frame)
}

/// Writes frames in order until the stream or the queue ends.
async fn write_frames<W: AsyncWrite + Unpin>(mut write: W, mut frames: mpsc::Receiver<Vec<u8>>, gone: CancellationToken) {
    while let Some(frame) = frames.recv().await {
        if write.write_all(&frame).await.is_err() || write.flush().await.is_err() {
            gone.cancel();
            return;
        }
    }
    let _ = write.shutdown().await;
}

/// Both ends of a long line.
#[derive(Default)]
struct Ends {
    head: Vec<u8>,
    tail: Vec<u8>,
}

impl Ends {
    fn add(&mut self, bytes: &[u8]) {
        let room = MCP_LINE_ENDS_BYTES.saturating_sub(self.head.len());
        self.head.extend_from_slice(&bytes[..room.min(bytes.len())]);
        self.tail.extend_from_slice(&bytes[bytes.len().saturating_sub(MCP_LINE_ENDS_BYTES)..]);
        self.tail.drain(..self.tail.len().saturating_sub(MCP_LINE_ENDS_BYTES));
    }

    /// The id of the request, where it is the first or the last member of the object, apart from `jsonrpc`: so every known
    /// host writes it. A guess would be told to somebody else.
    fn id(&self) -> Option<RequestId> {
        let head: Vec<u8> = self.head.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
        let rest = head.strip_prefix(b"{").map(|rest| rest.strip_prefix(br#""jsonrpc":"2.0","#).unwrap_or(rest));
        if let Some(rest) = rest.and_then(|rest| rest.strip_prefix(br#""id":"#)) {
            return rest.split(|byte| *byte == b',').next().and_then(|id| serde_json::from_slice(id).ok());
        }
        let tail = self.tail.trim_ascii_end().strip_suffix(b"}")?.trim_ascii_end();
        let at = tail.windows(5).rposition(|window| window == br#""id":"#)?;
        serde_json::from_slice(tail[at + 5..].trim_ascii()).ok()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn id_of(line: &str) -> Option<RequestId> {
        let mut ends = Ends::default();
        line.as_bytes().chunks(100).for_each(|chunk| ends.add(chunk));
        ends.id()
    }

    #[test]
    fn the_id_of_a_line_that_is_too_long_is_found_at_either_end_and_never_guessed() {
        let long = "x".repeat(5_000);
        let number = Some(RequestId::Number(7));
        assert_eq!(id_of(&format!(r#"{{"jsonrpc":"2.0","id":7,"method":"m","params":{{"id":9,"t":"{long}"}}}}"#)), number);
        assert_eq!(id_of(&format!(r#"{{ "jsonrpc": "2.0", "id": 7, "method": "m", "params": {{"t":"{long}"}}}}"#)), number);
        assert_eq!(id_of(&format!(r#"{{"method":"m","params":{{"id":9,"t":"{long}"}},"jsonrpc":"2.0","id":7}}"#)), number);
        assert_eq!(
            id_of(&format!(r#"{{"method":"m","params":{{"t":"{long}"}},"id":"a-b"}}"#)),
            Some(RequestId::String("a-b".into()))
        );
        // The id of something inside.
        assert_eq!(id_of(&format!(r#"{{"method":"m","params":{{"t":"{long}","id":9}}}}"#)), None);
        assert_eq!(id_of(&format!(r#"{{"method":"m","params":{{"id":9,"t":"{long}"}}}}"#)), None);
        assert_eq!(id_of(&long), None);
    }
}
