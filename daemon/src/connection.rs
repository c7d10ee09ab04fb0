//! One client's connection as the rest of the daemon sees it: who is there, and a bounded queue of lines to it.
//!
//! The queue never grows past [`OUTGOING_BYTES_MAX`], so a client that does not read costs no more than that: live
//! events that do not fit are dropped and their session is told by one `events/gap` as soon as there is room.
//! Must not know: sockets (the writer takes lines from here), methods, sessions.

use crate::limits::OUTGOING_BYTES_MAX;
use parking_lot::{Mutex, RwLock};
use serde::Serialize;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use tiro_schema::record::ActorRecord;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// What became of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// It will be written, unless the connection ends first.
    Queued,
    /// There was no room; it is gone.
    Full,
    /// The connection has ended.
    Closed,
}

/// A connection. Cheap to clone.
#[derive(Clone)]
pub struct ConnectionHandle {
    shared: Arc<Shared>,
}

struct Shared {
    id: u64,
    actor: RwLock<ActorRecord>,
    queue: Mutex<Queue>,
    filled: Notify,
    drained: Notify,
    closed: CancellationToken,
}

#[derive(Default)]
struct Queue {
    lines: VecDeque<Arc<[u8]>>,
    bytes: usize,
    gaps: BTreeSet<String>,
}

#[derive(Serialize)]
struct Line<'a, P: Serialize> {
    jsonrpc: &'a str,
    method: &'a str,
    params: &'a P,
}

impl ConnectionHandle {
    /// A connection with this number, unique in the life of the daemon.
    pub fn new(id: u64, actor: ActorRecord) -> Self {
        ConnectionHandle {
            shared: Arc::new(Shared {
                id,
                actor: RwLock::new(actor),
                queue: Mutex::default(),
                filled: Notify::new(),
                drained: Notify::new(),
                closed: CancellationToken::new(),
            }),
        }
    }

    /// Its number.
    pub fn id(&self) -> u64 {
        self.shared.id
    }

    /// Who is at the other end.
    pub fn actor(&self) -> ActorRecord {
        self.shared.actor.read().clone()
    }

    /// Takes down the name the client gave itself.
    pub fn name_client(&self, name: String) {
        self.shared.actor.write().client = name;
    }

    /// Queues a notification. Never waits.
    pub fn notify<P: Serialize>(&self, method: &str, params: &P) -> Delivery {
        match encode(&Line { jsonrpc: "2.0", method, params }) {
            Some(line) => self.offer(line),
            None => Delivery::Full,
        }
    }

    /// Queues a live event of a session. When there is no room, it and all later ones of that session are dropped
    /// until the client has read enough to take an `events/gap`; it then has to attach again. Never waits.
    pub fn notify_live<P: Serialize>(&self, session_id: &str, method: &str, params: &P) -> Delivery {
        if self.shared.queue.lock().gaps.contains(session_id) {
            return Delivery::Full;
        }
        let delivery = self.notify(method, params);
        if delivery == Delivery::Full {
            self.shared.queue.lock().gaps.insert(session_id.to_owned());
        }
        delivery
    }

    /// Queues a notification, waiting for room (replays, answers).
    pub async fn notify_wait<P: Serialize>(&self, method: &str, params: &P) -> Delivery {
        match encode(&Line { jsonrpc: "2.0", method, params }) {
            Some(line) => self.send(line).await,
            None => Delivery::Full,
        }
    }

    /// Ends when the connection does.
    pub async fn closed(&self) {
        self.shared.closed.cancelled().await;
    }

    /// Whether it has ended.
    pub fn is_closed(&self) -> bool {
        self.shared.closed.is_cancelled()
    }

    /// Ends it: nothing more is queued.
    pub fn close(&self) {
        self.shared.closed.cancel();
        self.shared.drained.notify_waiters();
    }

    /// Queues a whole line, if there is room.
    pub fn offer(&self, line: Arc<[u8]>) -> Delivery {
        self.offer_through(line, |_| 0, || ())
    }

    /// Queues a whole line; when nothing waits before it, `write` may first take bytes from its start directly. `taken` is
    /// called once there is room, before the client can see any of it.
    pub fn offer_through(&self, line: Arc<[u8]>, write: impl FnOnce(&[u8]) -> usize, taken: impl FnOnce()) -> Delivery {
        if self.is_closed() {
            return Delivery::Closed;
        }
        let mut queue = self.shared.queue.lock();
        if queue.lines.is_empty() {
            taken();
            let written = write(&line);
            if written >= line.len() {
                return Delivery::Queued;
            }
            let rest = if written == 0 { line } else { Arc::from(&line[written..]) };
            queue.bytes += rest.len();
            queue.lines.push_back(rest);
        } else if queue.bytes + line.len() > OUTGOING_BYTES_MAX {
            return Delivery::Full;
        } else {
            taken();
            queue.bytes += line.len();
            queue.lines.push_back(line);
        }
        drop(queue);
        self.shared.filled.notify_one();
        Delivery::Queued
    }

    /// Queues a whole line, waiting for room.
    pub async fn send(&self, line: Arc<[u8]>) -> Delivery {
        self.send_then(line, || ()).await
    }

    /// Queues a whole line, waiting for room; `taken` is called once there is some, before the client can see any of it.
    pub async fn send_then(&self, line: Arc<[u8]>, taken: impl Fn()) -> Delivery {
        loop {
            let drained = self.shared.drained.notified();
            tokio::pin!(drained);
            drained.as_mut().enable();
            match self.offer_through(line.clone(), |_| 0, &taken) {
                Delivery::Full => drained.await,
                other => return other,
            }
        }
    }

    /// Ends when less than [`OUTGOING_BYTES_MAX`] waits and `free` holds, which is asked again whenever something was
    /// written; or when the connection does.
    pub async fn room(&self, free: impl Fn() -> bool) {
        loop {
            let drained = self.shared.drained.notified();
            tokio::pin!(drained);
            drained.as_mut().enable();
            if self.is_closed() || (self.queued_bytes() < OUTGOING_BYTES_MAX && free()) {
                return;
            }
            drained.await;
        }
    }

    /// The bytes to write next.
    pub fn front(&self) -> Option<Arc<[u8]>> {
        self.shared.queue.lock().lines.front().cloned()
    }

    /// Takes note that `written` bytes of the front are on their way.
    pub fn advance(&self, written: usize) {
        let mut queue = self.shared.queue.lock();
        let Some(front) = queue.lines.pop_front() else { return };
        queue.bytes -= written.min(front.len());
        if written < front.len() {
            queue.lines.push_front(Arc::from(&front[written..]));
            return;
        }
        if queue.bytes <= OUTGOING_BYTES_MAX / 2 {
            queue_gaps(&mut queue);
        }
        drop(queue);
        self.shared.drained.notify_waiters();
    }

    /// Ends when there may be something to write.
    pub async fn filled(&self) {
        self.shared.filled.notified().await;
    }

    /// Bytes that wait.
    pub fn queued_bytes(&self) -> usize {
        self.shared.queue.lock().bytes
    }
}

/// Queues one `events/gap` for every session that lost events.
fn queue_gaps(queue: &mut Queue) {
    for session_id in std::mem::take(&mut queue.gaps) {
        let params = tiro_schema::wire::event::EventsGap { session_id, reason: "the client read too slowly".to_owned() };
        if let Some(line) = encode(&Line { jsonrpc: "2.0", method: "events/gap", params: &params }) {
            queue.bytes += line.len();
            queue.lines.push_back(line);
        }
    }
}

/// One line with its end; none when the value has no JSON form.
pub fn encode<T: Serialize>(value: &T) -> Option<Arc<[u8]>> {
    let mut line = serde_json::to_vec(value).ok()?;
    line.push(b'\n');
    Some(line.into())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    fn read_all(handle: &ConnectionHandle) -> String {
        let mut text = String::new();
        while let Some(front) = handle.front() {
            text.push_str(std::str::from_utf8(&front).unwrap());
            handle.advance(front.len());
        }
        text
    }

    #[test]
    fn a_reader_that_stops_loses_live_events_and_is_told_once() {
        // API-3, A24, C5
        let handle = ConnectionHandle::new(1, ActorRecord::default());
        let delta = json!({"sessionId": "s", "text": "x".repeat(30_000)});
        let mut dropped = 0;
        for _ in 0..2_000 {
            if handle.notify_live("s", "item/delta", &delta) == Delivery::Full {
                dropped += 1;
            }
        }
        assert!(dropped > 1_900, "{dropped} dropped");
        assert!(handle.queued_bytes() <= OUTGOING_BYTES_MAX);
        let text = read_all(&handle);
        assert_eq!(text.matches("events/gap").count(), 1);
        assert_eq!(handle.notify_live("s", "item/delta", &delta), Delivery::Queued);
    }

    #[test]
    fn a_line_is_written_directly_only_when_nothing_waits() {
        let handle = ConnectionHandle::new(1, ActorRecord::default());
        assert_eq!(handle.offer_through(Arc::from(&b"abc\n"[..]), |bytes| bytes.len(), || ()), Delivery::Queued);
        assert!(handle.front().is_none());
        handle.offer_through(Arc::from(&b"defg\n"[..]), |_| 2, || ());
        let mut tried = false;
        let write = |_: &[u8]| {
            tried = true;
            0
        };
        handle.offer_through(Arc::from(&b"h\n"[..]), write, || ());
        assert!(!tried);
        assert_eq!(read_all(&handle), "fg\nh\n");
    }

    #[tokio::test]
    async fn waiting_for_room_ends_when_there_is_some_or_the_connection_ends() {
        let handle = ConnectionHandle::new(1, ActorRecord::default());
        handle.offer(vec![b'x'; OUTGOING_BYTES_MAX].into());
        let waiting = tokio::spawn({
            let handle = handle.clone();
            async move { handle.send(Arc::from(&b"late\n"[..])).await }
        });
        tokio::task::yield_now().await;
        handle.advance(OUTGOING_BYTES_MAX);
        assert_eq!(waiting.await.unwrap(), Delivery::Queued);
        handle.close();
        assert_eq!(handle.send(Arc::from(&b"gone\n"[..])).await, Delivery::Closed);
    }
}
