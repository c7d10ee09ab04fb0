//! The door of the daemon: the socket, its file and its lock, kept so that clients find them.
//!
//! A cleaner of temporary folders, or a hand, may remove the socket's file under a running daemon, which nobody could
//! reach then. So the door looks every [`SOCKET_LOOK_MS`] whether the names still lead here, and if not takes the lock
//! and binds again. An inherited socket is its maker's to look after. Must not know: what is said on connections.

use super::activation::{self, ActivationError};
use super::lock::{LockError, SocketLock};
use super::socket::{self, Listening, SocketError, SocketFile};
use super::{Front, listener};
use crate::limits::SOCKET_LOOK_MS;
use crate::paths::{self, EnvMap, PathError, Privacy};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tiro_schema::place::{Places, SocketRule};
use tokio::net::UnixListener;
use tokio_util::sync::CancellationToken;

/// Why there is no door.
#[derive(Debug, thiserror::Error)]
pub enum DoorError {
    /// Its folder cannot be used.
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

impl DoorError {
    /// Whether another daemon is there already.
    pub fn is_taken(&self) -> bool {
        matches!(self, DoorError::Lock(LockError::Held { .. }) | DoorError::Socket(SocketError::Alive(_)))
    }
}

/// A door that is locked against other daemons, and not open yet.
pub struct Door {
    path: PathBuf,
    lock_path: PathBuf,
    privacy: Privacy,
    lock: SocketLock,
    file: Option<SocketFile>,
}

impl Door {
    /// Makes the folder of the socket and takes the lock beside it.
    ///
    /// # Errors
    /// [`DoorError::is_taken`] when another daemon has it; else what is wrong with the folder.
    pub fn lock(places: &Places) -> Result<Self, DoorError> {
        let named = places.socket_rule == SocketRule::Named && places.socket_wanted.is_none();
        let privacy = if named { Privacy::WriteProtected } else { Privacy::Closed };
        paths::make_folder(places.socket_dir(), privacy)?;
        let (path, lock_path) = (places.socket.clone(), places.socket_lock());
        let lock = SocketLock::take(&lock_path)?;
        Ok(Door { path, lock_path, privacy, lock, file: None })
    }

    /// Takes the socket that was inherited, or binds one.
    ///
    /// # Errors
    /// Why there is no socket.
    pub fn listen(&mut self, env: &EnvMap) -> Result<UnixListener, DoorError> {
        let Listening { listener, file } = match activation::inherited(env)? {
            Some(inherited) => inherited,
            None => socket::bind_private(&self.path)?,
        };
        self.file = file;
        Ok(UnixListener::from_std(listener)?)
    }

    /// Accepts connections, and keeps the socket where clients look for it, until told to stop; then gives the door back.
    pub async fn keep(mut self, front: Arc<Front>, mut listener: UnixListener, stop: CancellationToken) -> Self {
        loop {
            let closed = stop.child_token();
            let accepting = tokio::spawn(listener::accept(front.clone(), listener, closed.clone()));
            let next = tokio::select! {
                biased;
                () = stop.cancelled() => None,
                next = self.bound_again() => Some(next),
            };
            closed.cancel();
            // It ends by that token; a panic in it has been reported.
            let _ = accepting.await;
            match next {
                Some(next) => listener = next,
                None => return self,
            }
        }
    }

    /// Ends when the socket had to be bound again.
    async fn bound_again(&mut self) -> UnixListener {
        let mut told = String::new();
        loop {
            tokio::time::sleep(Duration::from_millis(SOCKET_LOOK_MS)).await;
            match self.look() {
                Ok(None) => told.clear(),
                Ok(Some(listener)) => {
                    tracing::warn!(socket = %self.path.display(), "the socket's file was gone: bound again");
                    return listener;
                }
                Err(error) => {
                    let error = error.to_string();
                    if error != told {
                        tracing::warn!(socket = %self.path.display(), error, "the socket's file is gone and cannot be made again yet");
                        told = error;
                    }
                }
            }
        }
    }

    /// Binds again where the names lead elsewhere.
    fn look(&mut self) -> Result<Option<UnixListener>, DoorError> {
        let Some(file) = &self.file else { return Ok(None) };
        let (has_file, has_lock) = (file.is_in_place(), self.lock.is_in_place());
        if has_file && has_lock {
            return Ok(None);
        }
        if let Some(folder) = self.path.parent() {
            paths::make_folder(folder, self.privacy)?;
        }
        if !has_lock {
            self.lock = SocketLock::take(&self.lock_path)?;
        }
        if has_file {
            return Ok(None);
        }
        let Listening { listener, file } = socket::bind_private(&self.path)?;
        self.file = file;
        Ok(Some(UnixListener::from_std(listener)?))
    }

    /// Removes the socket's file, if it is ours, and gives the lock up.
    pub fn close(self) {
        if let Some(file) = self.file {
            file.remove();
        }
    }
}
