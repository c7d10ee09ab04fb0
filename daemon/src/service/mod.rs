//! Methods to verbs: one file a group, one typed call each.
//!
//! A verb's rules stand in its own room; here is only which method it is. Must not know: sockets and lines.

pub mod call;
pub mod daemon;
pub mod error;
pub mod memory;
pub mod no_secret;
pub mod reception;
pub mod session;
pub mod store;
pub mod store_error;
pub mod turn;

use crate::caller::Caller;
use crate::connection::ConnectionHandle;
use crate::harness::Harness;
use crate::memory::Memory;
use crate::store::{Health, Store};
use error::method_not_found;
use serde_json::Value;
use tiro_schema::ErrorObject;
use tiro_schema::wire::StoreInfo;

pub use reception::Reception;
pub use store::StoreCare;

/// Everything that answers once the store is open.
pub struct Service {
    /// The store.
    pub store: Store,
    /// Memory.
    pub memory: Memory,
    /// The agent: sessions and turns.
    pub harness: Harness,
    /// What looks after the store.
    pub care: StoreCare,
    /// Model id of the embedder.
    pub embedder: String,
}

impl Service {
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
            "store" => self.care.dispatch(method, params, caller).await,
            "memory" | "space" => memory::dispatch(&self.memory, method, params, caller).await,
            "session" => session::dispatch(&self.harness, method, params, &caller, connection).await,
            "turn" => turn::dispatch(&self.harness, method, params, caller).await,
            _ => Err(method_not_found(method)),
        }
    }

    /// Which store answers, and its newest write.
    pub fn store_info(&self) -> StoreInfo {
        let identity = self.store.identity();
        StoreInfo {
            id: uuid::Uuid::from_bytes(identity.id).to_string(),
            epoch: identity.epoch,
            seq: self.store.seq_token(self.store.seq()),
        }
    }

    /// What `daemon/status` says of the store: `ready`, `readOnly` after an error of the disk, `damaged`.
    pub fn state(&self) -> &'static str {
        match self.store.health() {
            Health::Well => "ready",
            Health::Full | Health::ReadOnly { .. } => "readOnly",
            Health::Damaged { .. } => "damaged",
            Health::Closed => "draining",
        }
    }

    /// When the last backup was made.
    pub fn last_backup_at(&self) -> Option<tiro_schema::wire::Timestamp> {
        self.store.backups().first().map(crate::store::backup::made_at)
    }
}
