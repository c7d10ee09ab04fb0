//! What all connections share: the reception, the limits they count against together, and the list of who is there.
//!
//! Must not know: lines.

use super::budget::Budget;
use super::serve;
use crate::connection::ConnectionHandle;
use crate::limits::{
    ANSWERS_BYTES_TOTAL_MAX, CONNECTIONS_MAX, DRAIN_CANCELLED_MS_MAX, DRAIN_MS_MAX, FRAMES_BYTES_TOTAL_MAX, REQUESTS_MAX,
};
use crate::service::Reception;
use parking_lot::Mutex;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tiro_schema::record::ActorRecord;
use tiro_schema::wire::event::Draining;
use tokio::net::UnixStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Shared by all connections.
pub struct Front {
    /// Where requests go.
    pub reception: Arc<Reception>,
    /// Bytes of lines held for all connections.
    pub budget: Arc<Budget>,
    /// Bytes of finished answers that wait for room in the queue of their connection.
    pub answers: Arc<Budget>,
    /// Cancelled when requests in flight get no more time.
    pub abort: CancellationToken,
    /// Cancelled when connections have to end.
    pub closing: CancellationToken,
    writes: HashSet<String>,
    requests: Arc<Semaphore>,
    connections: Mutex<HashMap<u64, ConnectionHandle>>,
    next_id: AtomicU64,
    tasks: TaskTracker,
}

impl Front {
    /// Without connections yet.
    pub fn new(reception: Arc<Reception>) -> Arc<Self> {
        let methods = tiro_schema::method::methods();
        Arc::new(Front {
            reception,
            budget: Budget::of(FRAMES_BYTES_TOTAL_MAX),
            answers: Budget::of(ANSWERS_BYTES_TOTAL_MAX),
            abort: CancellationToken::new(),
            closing: CancellationToken::new(),
            writes: methods.into_iter().filter(|method| method.write).map(|method| method.name).collect(),
            requests: Arc::new(Semaphore::new(REQUESTS_MAX)),
            connections: Mutex::default(),
            next_id: AtomicU64::new(1),
            tasks: TaskTracker::new(),
        })
    }

    /// Whether a method changes something.
    pub fn is_write(&self, method: &str) -> bool {
        self.writes.contains(method)
    }

    /// Room for one more request; none when [`REQUESTS_MAX`] are in flight.
    pub fn admit_request(&self) -> Option<OwnedSemaphorePermit> {
        self.requests.clone().try_acquire_owned().ok()
    }

    /// Serves a connection in a task of its own. False when there are [`CONNECTIONS_MAX`] already.
    pub fn admit(self: &Arc<Self>, stream: UnixStream, actor: ActorRecord) -> Result<(), UnixStream> {
        if self.reception.client_came() > CONNECTIONS_MAX as u64 {
            self.reception.client_went();
            return Err(stream);
        }
        let handle = ConnectionHandle::new(self.next_id.fetch_add(1, Ordering::Relaxed), actor);
        self.connections.lock().insert(handle.id(), handle.clone());
        let front = self.clone();
        self.tasks.spawn(async move {
            serve::serve(&front, stream, handle.clone()).await;
            front.connections.lock().remove(&handle.id());
            front.reception.client_went();
        });
        Ok(())
    }

    /// Sends a notification to everybody who has room for it.
    pub fn broadcast<P: serde::Serialize>(&self, method: &str, params: &P) {
        let everybody: Vec<_> = self.connections.lock().values().cloned().collect();
        for connection in everybody {
            connection.notify(method, params);
        }
    }

    /// Tells everybody that the daemon stops; new requests are refused from now on.
    pub fn begin_draining(&self, reason: &str) {
        self.reception.begin_draining();
        self.broadcast("daemon/draining", &Draining { reason: reason.to_owned() });
    }

    /// Gives requests in flight their time, then ends them and every connection.
    pub async fn finish(&self) {
        let all = u32::try_from(REQUESTS_MAX).unwrap_or(u32::MAX);
        let ended = tokio::time::timeout(Duration::from_millis(DRAIN_MS_MAX), self.requests.acquire_many(all)).await;
        if ended.is_err() {
            tracing::warn!("requests in flight took too long: they are cancelled");
        }
        self.abort.cancel();
        self.closing.cancel();
        self.tasks.close();
        if tokio::time::timeout(Duration::from_millis(DRAIN_CANCELLED_MS_MAX), self.tasks.wait()).await.is_err() {
            tracing::warn!("{} connections did not end in time", self.tasks.len());
        }
    }
}
