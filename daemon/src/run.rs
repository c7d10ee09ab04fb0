//! Start and stop of a daemon, in their order.
//!
//! Start: folders, the socket's lock, the socket, then the store behind it while the socket already answers. Stop: no
//! new connections, clients told, turns interrupted, requests in flight given their time, the index and the store
//! closed, the socket's file removed, the lock given up. Must not know: signals and the command line.

use crate::clock::{SharedClock, SystemClock};
use crate::caller::ProgressSink;
use crate::config::Config;
use crate::opening;
use crate::paths::{self, EnvMap, PathError, Privacy};
use crate::rpc::activation::{self, ActivationError};
use crate::rpc::lock::{LockError, SocketLock};
use crate::rpc::socket::{self, Listening, SocketError, SocketFile};
use crate::rpc::{Front, listener};
use crate::service::reception::{Facts, Readiness};
use crate::service::{Reception, Service};
use std::path::Path;
use std::sync::Arc;
use tiro_schema::place::SocketRule;
use tiro_schema::wire::daemon::{ModelState, StartProgress};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// What a daemon takes from outside, so that tests can own it.
pub struct Seams {
    /// The clock.
    pub clock: SharedClock,
    /// The environment.
    pub env: EnvMap,
}

impl Seams {
    /// The system's own.
    pub fn system(config: &Config, env: EnvMap) -> Self {
        let clock = config.start_clock_at_ms.map_or_else(SystemClock::new, SystemClock::starting_at);
        Seams { clock: Arc::new(clock), env }
    }
}

/// Why a daemon did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A folder cannot be used.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The lock was not taken.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// There is no socket.
    #[error(transparent)]
    Socket(#[from] SocketError),
    /// An inherited socket cannot be used.
    #[error(transparent)]
    Activation(#[from] ActivationError),
    /// The runtime refused.
    #[error("cannot listen: {0}")]
    Listen(#[from] std::io::Error),
}

impl StartError {
    /// The exit code of `tirod`: 1 failed, 3 store damaged, 7 another daemon is there already.
    pub fn exit_code(&self) -> u8 {
        match self {
            StartError::Lock(LockError::Held { .. }) | StartError::Socket(SocketError::Alive(_)) => 7,
            _ => 1,
        }
    }
}

/// A daemon that answers on its socket.
pub struct Running {
    /// Its reception.
    pub reception: Arc<Reception>,
    front: Arc<Front>,
    stop: CancellationToken,
    stop_accepting: CancellationToken,
    accepting: JoinHandle<()>,
    opening: JoinHandle<()>,
    socket_file: Option<SocketFile>,
    _lock: SocketLock,
}

/// A daemon.
pub struct Daemon;

impl Daemon {
    /// Starts a daemon: it answers on its socket when this returns, and opens its store meanwhile.
    ///
    /// # Errors
    /// When there is no socket to answer on; what is wrong with the store is told by [`Running::ready`].
    pub async fn start(config: Config, seams: Seams) -> Result<Running, StartError> {
        for warning in &config.warnings {
            tracing::warn!("{warning}");
        }
        let places = &config.places;
        make_data_folder(&places.data_dir)?;
        let privacy = if places.socket_rule == SocketRule::Named && places.socket_wanted.is_none() {
            Privacy::WriteProtected
        } else {
            Privacy::Closed
        };
        paths::make_folder(places.socket_dir(), privacy)?;
        let lock = SocketLock::take(&places.socket_lock())?;
        let Listening { listener, file } = match activation::inherited(&seams.env)? {
            Some(inherited) => inherited,
            None => socket::bind_private(&places.socket)?,
        };
        let listener = tokio::net::UnixListener::from_std(listener)?;
        if let Some(wanted) = &places.socket_wanted {
            tracing::warn!("{} is too long for a socket: using {}", wanted.display(), places.socket.display());
        }

        let stop = CancellationToken::new();
        let facts = Facts {
            started_at_ms: seams.clock.now_ms(),
            socket: places.socket.clone(),
            data_dir: places.data_dir.clone(),
            embedder: tiro_index::embed::STATIC_MODEL_ID.to_owned(),
            model: no_model(),
        };
        let reception = Arc::new(Reception::new(facts, seams.clock.clone(), stop.clone()));
        let front = Front::new(reception.clone());
        let stop_accepting = CancellationToken::new();
        let accepting = tokio::spawn(listener::accept(front.clone(), listener, stop_accepting.clone()));
        tracing::info!(socket = %places.socket.display(), pid = std::process::id(), "listening");
        let opening = tokio::spawn(open_rooms(reception.clone(), config, seams));
        Ok(Running { reception, front, stop, stop_accepting, accepting, opening, socket_file: file, _lock: lock })
    }
}

impl Running {
    /// Ends when a client asks the daemon to stop.
    pub async fn stop_requested(&self) {
        self.stop.cancelled().await;
    }

    /// Stops in order.
    pub async fn stop(self, reason: &str) {
        tracing::info!(reason, "stopping");
        self.stop_accepting.cancel();
        // The listener's task ends by that token; a panic in it has been reported.
        let _ = self.accepting.await;
        self.front.begin_draining(reason);
        // A store that is still being opened is waited for; a panic in it has been reported.
        let _ = self.opening.await;
        let readiness = self.reception.readiness();
        if let Readiness::Ready(service) = &readiness {
            service.rooms().harness.stop().await;
        }
        self.front.finish().await;
        if let Readiness::Ready(service) = &readiness {
            service.rooms().close().await;
        }
        if let Some(file) = self.socket_file {
            file.remove();
        }
        tracing::info!("stopped");
    }
}

/// Opens what stands behind the socket, and says how far that is and how it ended.
async fn open_rooms(reception: Arc<Reception>, config: Config, seams: Seams) {
    let told = reception.clone();
    let progress: ProgressSink = Arc::new(move |stage, done, total| {
        let stage = stage.to_owned();
        told.set_readiness(Readiness::Starting(StartProgress { stage, done, total }));
    });
    let opened = opening::open(&config, seams.clock, seams.env, progress).await;
    reception.set_readiness(match opened {
        Ok(rooms) => {
            tracing::info!("ready");
            Readiness::Ready(Arc::new(Service::new(rooms)))
        }
        Err(error) => {
            tracing::error!(%error, "the store cannot be opened");
            Readiness::Failed(error.into())
        }
    });
}

/// Makes the folder of the store, or closes one of our own that is open to others.
fn make_data_folder(path: &Path) -> Result<(), PathError> {
    match paths::make_folder(path, Privacy::Closed) {
        Err(PathError::Open { path, mode }) => {
            tracing::warn!("{} had mode {mode:04o}: closed to others", path.display());
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).map_err(|source| PathError::Io {
                action: "close",
                path: path.clone(),
                source,
            })
        }
        other => other,
    }
}

fn no_model() -> ModelState {
    ModelState { configured: false, provider: None, name: None, base_url: None, reason: String::new() }
}
