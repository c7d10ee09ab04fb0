//! Methods to verbs: one file a group, one typed call each.
//!
//! A verb's rules stand in its own room; here is only which method it is. Must not know: sockets and lines.

pub mod call;
pub mod daemon;
pub mod error;
pub mod memory;
pub mod reception;
pub mod session;
pub mod store_error;
pub mod turn;

use crate::caller::Caller;
use crate::connection::ConnectionHandle;
use crate::opening::Rooms;
use crate::store::{Health, backup};
use error::method_not_found;
use serde_json::Value;
use tiro_schema::ErrorObject;
use tiro_schema::wire::StoreInfo;
use tiro_schema::wire::daemon::ModelState;
use uuid::Uuid;

pub use reception::Reception;

/// Everything that answers once the store is open.
pub struct Service {
    rooms: Rooms,
}

impl Service {
    /// Over open rooms.
    pub fn new(rooms: Rooms) -> Self {
        Service { rooms }
    }

    /// The rooms.
    pub fn rooms(&self) -> &Rooms {
        &self.rooms
    }

    /// Answers one request.
    ///
    /// # Errors
    /// What the verb says; `methodNotFound` for a name that is not built.
    pub async fn dispatch(
        &self,
        method: &str,
        params: Value,
        caller: Caller,
        connection: &ConnectionHandle,
    ) -> Result<Value, ErrorObject> {
        match method.split_once('/').map_or("", |(group, _)| group) {
            "memory" | "space" => memory::dispatch(&self.rooms.memory, method, params, caller).await,
            "session" => session::dispatch(&self.rooms.harness, method, params, connection).await,
            "turn" => turn::dispatch(&self.rooms.harness, method, params, caller).await,
            _ => Err(method_not_found(method)),
        }
    }

    /// Which store answers, and its newest write.
    pub fn store_info(&self) -> StoreInfo {
        let store = &self.rooms.store;
        let identity = store.identity();
        StoreInfo { id: Uuid::from_bytes(identity.id).to_string(), epoch: identity.epoch, seq: store.seq_token(store.seq()) }
    }

    /// The model in use, or how to set one up.
    pub fn model_state(&self) -> ModelState {
        self.rooms.harness.model().state()
    }

    /// What `daemon/status` says of the store: `ready`, or `readOnly` or `damaged` after an error that has to be looked at.
    pub fn state(&self) -> &'static str {
        match self.rooms.store.health() {
            Health::Well | Health::Full => "ready",
            Health::ReadOnly { .. } | Health::Closed => "readOnly",
            Health::Damaged { .. } => "damaged",
        }
    }

    /// When the last backup was made.
    pub fn last_backup_at(&self) -> Option<tiro_schema::wire::Timestamp> {
        self.rooms.store.backups().first().map(backup::made_at)
    }
}
