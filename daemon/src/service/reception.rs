//! Answers what needs no store, and has everything else wait until there is one.
//!
//! The socket answers from the first moment: `daemon/status` says how far the opening of the store is, other calls
//! wait, bounded, and get the reason when there will be no store. Must not know: sockets, or how a store is opened.

use super::{Service, daemon};
use crate::caller::Caller;
use crate::clock::SharedClock;
use crate::connection::ConnectionHandle;
use crate::limits::READY_WAIT_MS_MAX;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tiro_schema::wire::daemon::{ModelState, StartProgress};
use tiro_schema::{ErrorKind, ErrorObject};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// What does not change in the life of a daemon.
#[derive(Debug, Clone)]
pub struct Facts {
    /// When it started, Unix ms.
    pub started_at_ms: i64,
    /// The socket it answers on.
    pub socket: PathBuf,
    /// The folder of its store.
    pub data_dir: PathBuf,
    /// The model, or how to set one up.
    pub model: ModelState,
}

/// How far the store is.
#[derive(Clone)]
pub enum Readiness {
    /// It is being opened.
    Starting(StartProgress),
    /// It is open.
    Ready(Arc<Service>),
    /// There will be none.
    Failed {
        /// What clients are told.
        error: ErrorObject,
        /// What the daemon exits with.
        exit_code: u8,
    },
}

/// The first stop of every request.
pub struct Reception {
    /// What does not change.
    pub facts: Facts,
    clock: SharedClock,
    readiness: watch::Sender<Readiness>,
    clients: AtomicU64,
    draining: AtomicBool,
    stop: CancellationToken,
}

impl Reception {
    /// A reception without a store yet. `stop` is cancelled when somebody asks the daemon to stop.
    pub fn new(facts: Facts, clock: SharedClock, stop: CancellationToken) -> Self {
        let progress = StartProgress { stage: "start".to_owned(), done: 0, total: None };
        Reception {
            facts,
            clock,
            readiness: watch::Sender::new(Readiness::Starting(progress)),
            clients: AtomicU64::new(0),
            draining: AtomicBool::new(false),
            stop,
        }
    }

    /// Answers one request.
    ///
    /// # Errors
    /// What the verb says; `overloaded` or the store's own error when there is no store to ask.
    pub async fn answer(
        &self,
        method: &str,
        params: Value,
        caller: Caller,
        connection: &ConnectionHandle,
    ) -> Result<Value, ErrorObject> {
        match method {
            "daemon/status" => daemon::status(self, params),
            "daemon/shutdown" => daemon::shutdown(params),
            "daemon/schema" => daemon::schema(params),
            _ => self.service().await?.dispatch(method, params, caller, connection).await,
        }
    }

    /// The service, once the store is open.
    ///
    /// # Errors
    /// Why there is none: the store's own error, or `overloaded` when opening it takes longer than a call may wait.
    pub async fn service(&self) -> Result<Arc<Service>, ErrorObject> {
        if let Readiness::Ready(service) = &*self.readiness.borrow() {
            return Ok(service.clone());
        }
        let mut watcher = self.readiness.subscribe();
        let settled =
            async { watcher.wait_for(|state| !matches!(state, Readiness::Starting(_))).await.map(|state| state.clone()) };
        match tokio::time::timeout(Duration::from_millis(READY_WAIT_MS_MAX), settled).await {
            Ok(Ok(Readiness::Ready(service))) => Ok(service),
            Ok(Ok(Readiness::Failed { error, .. })) => Err(error),
            Ok(_) => Err(ErrorObject::new(ErrorKind::Draining, "the daemon stops")),
            Err(_) => Err(ErrorObject::new(ErrorKind::Overloaded, "the store is still being opened")
                .with_hint("daemon/status says how far it is; repeat the call")),
        }
    }

    /// Ends when there will be no store, with the message for a person and the exit code.
    pub async fn refused(&self) -> (String, u8) {
        let mut watcher = self.readiness.subscribe();
        match watcher.wait_for(|state| matches!(state, Readiness::Failed { .. })).await.as_deref() {
            Ok(Readiness::Failed { error, exit_code }) => (error.message.clone(), *exit_code),
            // Cannot be: this object holds the sender.
            _ => std::future::pending().await,
        }
    }

    /// How far the store is, now.
    pub fn readiness(&self) -> Readiness {
        self.readiness.borrow().clone()
    }

    /// Tells how far the opening is. Of no effect once that is decided: the store tells of later work by the same way.
    pub fn set_progress(&self, progress: StartProgress) {
        self.readiness.send_if_modified(|state| {
            let is_starting = matches!(state, Readiness::Starting(_));
            if is_starting {
                *state = Readiness::Starting(progress);
            }
            is_starting
        });
    }

    /// Sets how far the store is.
    pub fn set_readiness(&self, readiness: Readiness) {
        self.readiness.send_replace(readiness);
    }

    /// Begins to stop: a reason for every later request to go elsewhere.
    pub fn begin_draining(&self) {
        self.draining.store(true, Ordering::SeqCst);
    }

    /// Whether the daemon is stopping.
    pub fn is_draining(&self) -> bool {
        self.draining.load(Ordering::SeqCst)
    }

    /// Told when the answer to a request is on its way; some requests take effect after it.
    pub fn answered(&self, method: &str) {
        if method == "daemon/shutdown" {
            self.stop.cancel();
        }
    }

    /// Counts a connection.
    pub fn client_came(&self) -> u64 {
        self.clients.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// Counts it no longer.
    pub fn client_went(&self) {
        self.clients.fetch_sub(1, Ordering::SeqCst);
    }

    /// Connections now.
    pub fn clients(&self) -> u64 {
        self.clients.load(Ordering::SeqCst)
    }

    /// The clock.
    pub fn clock(&self) -> &SharedClock {
        &self.clock
    }
}
