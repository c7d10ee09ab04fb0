//! Start and stop of a daemon, in their order.
//!
//! Start: folders, the socket's lock, the socket, then the store behind it while the socket already answers. Stop: no
//! new connections, clients told, turns interrupted, requests in flight given their time, the index and the store
//! closed, the socket's file removed, the lock given up. Must not know: signals and the command line.

use crate::clock::{SharedClock, SystemClock};
use crate::config::Config;
use crate::paths::{self, EnvMap, PathError, Privacy};
use crate::rooms::{Rooms, RoomsError};
use crate::rpc::activation::{self, ActivationError};
use crate::rpc::lock::{LockError, SocketLock};
use crate::rpc::socket::{self, Listening, SocketError, SocketFile};
use crate::rpc::{Front, listener};
use crate::service::Reception;
use crate::service::reception::{Facts, Readiness};
use crate::store::{BackendFactory, FileFactory};
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
    /// Storage behind the store file.
    pub backend: Arc<dyn BackendFactory>,
}

impl Seams {
    /// The system's own.
    pub fn system(config: &Config, env: EnvMap) -> Self {
        let clock = config.start_clock_at_ms.map_or_else(SystemClock::new, SystemClock::starting_at);
        Seams { clock: Arc::new(clock), env, backend: Arc::new(FileFactory) }
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
    /// The exit code of `tirod`: 1 failed, 7 another daemon is there already.
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
    opening: JoinHandle<Result<Rooms, RoomsError>>,
    socket_file: Option<SocketFile>,
    _lock: SocketLock,
}

/// A daemon.
pub struct Daemon;

impl Daemon {
    /// Starts a daemon: it answers on its socket when this returns, and opens its store meanwhile.
    ///
    /// # Errors
    /// When there is no socket to answer on; what is wrong with the store is told by [`Running::refused`].
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
            model: no_model(),
        };
        let reception = Arc::new(Reception::new(facts, seams.clock.clone(), stop.clone()));
        let front = Front::new(reception.clone());
        let stop_accepting = CancellationToken::new();
        let accepting = tokio::spawn(listener::accept(front.clone(), listener, stop_accepting.clone()));
        tracing::info!(socket = %places.socket.display(), pid = std::process::id(), "listening");
        let opening = tokio::task::spawn_blocking({
            let reception = reception.clone();
            move || open_rooms(&config, &seams, &reception)
        });
        Ok(Running { reception, front, stop, stop_accepting, accepting, opening, socket_file: file, _lock: lock })
    }
}

impl Running {
    /// Ends when a client asks the daemon to stop.
    pub async fn stop_requested(&self) {
        self.stop.cancelled().await;
    }

    /// Ends when there will be no store, with the message for a person and the exit code; never when there is one.
    pub async fn refused(&self) -> (String, u8) {
        self.reception.refused().await
    }

    /// Stops in order.
    pub async fn stop(self, reason: &str) {
        tracing::info!(reason, "stopping");
        self.stop_accepting.cancel();
        // The listener's task ends by that token; a panic in it has been reported.
        let _ = self.accepting.await;
        self.front.begin_draining(reason);
        // A store that is still being opened is closed as soon as it is open.
        let rooms = self.opening.await.ok().and_then(Result::ok);
        if let Some(rooms) = &rooms {
            rooms.service.harness.stop().await;
        }
        self.front.finish().await;
        if let Some(rooms) = rooms
            && tokio::task::spawn_blocking(move || rooms.close()).await.is_err()
        {
            tracing::error!("closing the store failed by a fault of the daemon");
        }
        if let Some(file) = self.socket_file {
            file.remove();
        }
        tracing::info!("stopped");
    }
}

/// Opens the rooms and tells the reception how it goes.
fn open_rooms(config: &Config, seams: &Seams, reception: &Arc<Reception>) -> Result<Rooms, RoomsError> {
    let progress = {
        let reception = reception.clone();
        Arc::new(move |stage: &str, done, total: u64| {
            let total = (total > 0).then_some(total);
            reception.set_progress(StartProgress { stage: stage.to_owned(), done, total });
        })
    };
    let opened = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| Rooms::open(config, seams, progress)));
    let opened = opened.unwrap_or(Err(RoomsError::Panicked));
    match &opened {
        Ok(rooms) => {
            tracing::info!("ready");
            reception.set_readiness(Readiness::Ready(rooms.service.clone()));
        }
        Err(error) => {
            tracing::error!("{error}");
            reception.set_readiness(Readiness::Failed { error: error.to_object(), exit_code: error.exit_code() });
        }
    }
    opened
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
