//! The rooms behind the socket, opened in their order and closed in reverse.
//!
//! Opening blocks (a store may have to be checked, an index replayed), so it has a thread of its own and tells how far it is.
//! Must not know: sockets, requests.

use crate::config::Config;
use crate::run::Seams;
use crate::service::Service;
use crate::store::{Checks, OpenError, OpenOptions, Progress, Store, Upkeep};
use std::sync::Arc;
use tiro_schema::{ErrorKind, ErrorObject};

/// Why the rooms did not open.
#[derive(Debug, thiserror::Error)]
pub enum RoomsError {
    /// The store was refused, and is as it was.
    #[error(transparent)]
    Store(#[from] OpenError),
    /// A thread could not be started.
    #[error("cannot start the upkeep of the store: {0}")]
    Upkeep(std::io::Error),
    /// A fault of the daemon.
    #[error("opening the store failed by a fault of the daemon; its log says more")]
    Panicked,
}

impl RoomsError {
    /// The exit code of `tirod`.
    pub fn exit_code(&self) -> u8 {
        match self {
            RoomsError::Store(OpenError::InUse { .. }) => 7,
            RoomsError::Store(OpenError::Foreign { .. } | OpenError::Newer { .. } | OpenError::Damaged { .. }) => 3,
            RoomsError::Store(OpenError::Store { .. }) | RoomsError::Upkeep(_) | RoomsError::Panicked => 1,
        }
    }

    /// What clients that wait for the store are told.
    pub fn to_object(&self) -> ErrorObject {
        let kind = match self.exit_code() {
            3 => ErrorKind::StoreDamaged,
            _ => ErrorKind::Internal,
        };
        let object = ErrorObject::new(kind, self.to_string());
        match self {
            RoomsError::Store(OpenError::Newer { .. }) => object.with_hint("update tirod: the store was left as it is"),
            RoomsError::Store(OpenError::Foreign { .. }) => object.with_hint("the file was left as it is: move it away, or use another TIRO_HOME"),
            _ => object,
        }
    }
}

/// The rooms.
pub struct Rooms {
    /// What answers requests.
    pub service: Arc<Service>,
    store: Store,
    upkeep: Upkeep,
}

impl Rooms {
    /// Opens them all. Blocks.
    ///
    /// # Errors
    /// Why the store was refused.
    pub fn open(config: &Config, seams: &Seams, progress: Progress) -> Result<Rooms, RoomsError> {
        let mut options = OpenOptions {
            clock: seams.clock.clone(),
            backend: seams.backend.clone(),
            progress,
            checks: Checks::On,
            ..OpenOptions::default()
        };
        if let Some(mib) = config.file.limits.store_cache_mib {
            options.cache_bytes = mib << 20;
        }
        let store = Store::open(&config.places.data_dir, options)?;
        let upkeep = Upkeep::start(store.clone()).map_err(RoomsError::Upkeep)?;
        let service = Arc::new(Service { store: store.clone() });
        Ok(Rooms { service, store, upkeep })
    }

    /// Closes them all: what is derived first, the store last. Blocks.
    pub fn close(self) {
        drop(self.upkeep);
        if let Err(error) = self.store.close() {
            tracing::warn!(%error, "the store was not closed in order");
        }
    }
}
