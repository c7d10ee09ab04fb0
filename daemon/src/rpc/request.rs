//! One request from its params to its answer line: cancellation, progress, and a fault that stays its own.
//!
//! Must not know: which methods there are.

use super::Front;
use super::budget::Share;
use super::inflight::InFlight;
use super::message::Request;
use crate::caller::{Caller, ProgressSink};
use crate::connection::{ConnectionHandle, Delivery, encode};
use crate::limits::ANSWERS_BYTES_MAX;
use crate::service::error::with_write_outcome;
use futures_util::FutureExt;
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::{Map, Value};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tiro_schema::wire::{JSONRPC, Progress, RequestId};
use tiro_schema::{ErrorKind, ErrorObject};
use tokio::net::UnixStream;
use tokio_util::sync::CancellationToken;

/// Least time between two `progress` notifications of one stage.
const PROGRESS_EVERY: Duration = Duration::from_millis(50);

#[derive(Serialize)]
struct Answer<'a> {
    jsonrpc: &'a str,
    id: Option<&'a RequestId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a ErrorObject>,
}

/// The line of an answer; an id of none is written as null.
pub fn answer_line(id: Option<&RequestId>, outcome: Result<&Value, &ErrorObject>) -> Option<Arc<[u8]>> {
    encode(&Answer { jsonrpc: JSONRPC, id, result: outcome.ok(), error: outcome.err() })
}

/// Where requests of a connection come from and answers go to.
pub struct Desk {
    /// What all connections share.
    pub front: Arc<Front>,
    /// The connection.
    pub handle: ConnectionHandle,
    /// Its socket.
    pub stream: Arc<UnixStream>,
    /// Its requests in flight.
    pub inflight: InFlight,
    /// Bytes of its finished answers that wait for room in its queue.
    pub waiting: AtomicUsize,
}

impl Desk {
    /// Queues an answer, waiting for room.
    pub async fn answer(&self, id: Option<&RequestId>, outcome: Result<&Value, &ErrorObject>) {
        let Some(line) = answer_line(id, outcome) else { return };
        let write = |bytes: &[u8]| self.stream.try_write(bytes).unwrap_or(0);
        if self.handle.offer_through(line.clone(), write, || ()) == Delivery::Full {
            self.handle.send(line).await;
        }
    }

    /// Queues the answer to a request in flight, which it is until there is room. An answer that would have to wait while
    /// too much does already is dropped for a refusal, but for that of a write, which has been done.
    pub async fn finish(&self, id: &RequestId, is_write: bool, outcome: Result<Value, ErrorObject>) {
        let line = answer_line(Some(id), outcome.as_ref());
        drop(outcome);
        let Some(mut line) = line else { return self.inflight.end(id) };
        let write = |bytes: &[u8]| self.stream.try_write(bytes).unwrap_or(0);
        if self.handle.offer_through(line.clone(), write, || self.inflight.end(id)) != Delivery::Full {
            return self.inflight.end(id);
        }
        let mut share = Share::of(&self.front.answers);
        let others = self.waiting.fetch_add(line.len(), Ordering::Relaxed);
        if !is_write && (others + line.len() > ANSWERS_BYTES_MAX || !share.resize(line.len())) {
            let error = ErrorObject::new(ErrorKind::Overloaded, "too many bytes of answers wait to be read");
            let dropped = line.len();
            let Some(refusal) = answer_line(Some(id), Err(&error)) else { return self.inflight.end(id) };
            line = refusal;
            self.waiting.fetch_add(line.len(), Ordering::Relaxed);
            self.waiting.fetch_sub(dropped, Ordering::Relaxed);
        }
        let length = line.len();
        let taken = || {
            self.waiting.fetch_sub(length, Ordering::Relaxed);
            self.inflight.end(id);
        };
        if self.handle.send_then(line, taken).await == Delivery::Closed {
            taken();
        }
    }

    /// Ends when the client has read enough to be owed another answer, or the connection ends.
    pub async fn room(&self) {
        self.handle.room(|| self.waiting.load(Ordering::Relaxed) == 0).await;
    }

    /// Calls the method and gives its outcome.
    pub async fn call(
        &self,
        request: Request,
        cancel: &CancellationToken,
        answered: &CancellationToken,
    ) -> Result<Value, ErrorObject> {
        let alive = Arc::new(AtomicBool::new(true));
        let caller = Caller {
            actor: self.handle.actor(),
            progress: progress_sink(&request.meta, &self.handle, &alive),
            cancel: cancel.clone(),
            answered: answered.clone(),
        };
        let is_write = self.front.is_write(&request.method);
        let answer = self.front.reception.answer(&request.method, Value::Object(request.params), caller, &self.handle);
        let outcome = tokio::select! {
            biased;
            outcome = AssertUnwindSafe(answer).catch_unwind() => outcome.unwrap_or_else(|_| {
                tracing::error!(method = request.method, "a verb panicked");
                Err(ErrorObject::new(ErrorKind::Internal, format!("{} failed by a fault of the daemon", request.method)))
            }),
            () = cancel.cancelled() => Err(ErrorObject::new(ErrorKind::Cancelled, "the request was cancelled")),
        };
        alive.store(false, Ordering::Relaxed);
        if is_write { outcome.map_err(with_write_outcome) } else { outcome }
    }
}

/// Sends `progress` to a client that gave a token, not more often than it can be of use.
fn progress_sink(meta: &Map<String, Value>, handle: &ConnectionHandle, alive: &Arc<AtomicBool>) -> Option<ProgressSink> {
    let token = meta.get("progressToken").filter(|token| token.is_string() || token.is_i64())?.clone();
    let (handle, alive) = (handle.clone(), alive.clone());
    let last: Mutex<Option<(String, Instant)>> = Mutex::new(None);
    Some(Arc::new(move |stage, done, total| {
        if !alive.load(Ordering::Relaxed) {
            return;
        }
        let mut last = last.lock();
        let is_news = last.as_ref().is_none_or(|(said, at)| said != stage || at.elapsed() >= PROGRESS_EVERY);
        if is_news || total == Some(done) {
            *last = Some((stage.to_owned(), Instant::now()));
            handle.notify("progress", &Progress { progress_token: token.clone(), stage: stage.to_owned(), done, total });
        }
    }))
}
