//! Start and stop of a daemon, in their order.
//!
//! Start: folders, the locks of socket and store, the socket, then the store behind it while the socket already answers. Stop: no
//! new connections, clients told, turns interrupted, requests in flight given their time, the index and the store
//! closed, the socket's file removed, the lock given up. Must not know: signals and the command line.

use crate::clock::{SharedClock, SystemClock};
use crate::config::Config;
use crate::paths::{self, EnvMap, PathError, Privacy};
use crate::rooms::{Rooms, RoomsError};
use crate::rpc::Front;
use crate::rpc::door::{Door, DoorError};
use crate::service::Reception;
use crate::service::reception::{Facts, Readiness};
use crate::store::{BackendFactory, FileFactory, OpenError, StoreLock};
use std::path::Path;
use std::sync::Arc;
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
    /// There is no socket to answer at.
    #[error(transparent)]
    Door(#[from] DoorError),
    /// The folder of the store is another daemon's.
    #[error(transparent)]
    Store(#[from] OpenError),
}

impl StartError {
    /// The exit code of `tirod`: 1 failed, 7 another daemon is there already.
    pub fn exit_code(&self) -> u8 {
        match self {
            StartError::Door(error) if error.is_taken() => 7,
            StartError::Store(OpenError::InUse { .. }) => 7,
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
    door: JoinHandle<Door>,
    opening: JoinHandle<Result<Rooms, RoomsError>>,
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
        // Both locks before the socket: a daemon that can serve nothing never stands in the way of one that does.
        let mut door = Door::lock(places)?;
        let mut lock = StoreLock::take(&places.data_dir)?;
        lock.note_socket(&places.socket);
        let listener = door.listen(&seams.env)?;
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
        let door = tokio::spawn(door.keep(front.clone(), listener, stop_accepting.clone()));
        tracing::info!(socket = %places.socket.display(), pid = std::process::id(), "listening");
        let opening = tokio::task::spawn_blocking({
            let reception = reception.clone();
            move || open_rooms(&config, &seams, lock, &reception)
        });
        Ok(Running { reception, front, stop, stop_accepting, door, opening })
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
        // Its task ends by that token; a panic in it has been reported.
        let door = self.door.await.ok();
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
        if let Some(door) = door {
            door.close();
        }
        tracing::info!("stopped");
    }
}

/// Opens the rooms and tells the reception how it goes.
fn open_rooms(config: &Config, seams: &Seams, lock: StoreLock, reception: &Arc<Reception>) -> Result<Rooms, RoomsError> {
    let progress = {
        let reception = reception.clone();
        Arc::new(move |stage: &str, done, total: u64| {
            let total = (total > 0).then_some(total);
            reception.set_progress(StartProgress { stage: stage.to_owned(), done, total });
        })
    };
    let opened = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| Rooms::open(config, seams, lock, progress)));
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
