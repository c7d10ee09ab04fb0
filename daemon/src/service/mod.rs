//! Methods to verbs: one file a group, one typed call each.
//!
//! A verb's rules stand in its own room; here is only which method it is. Must not know: sockets and lines.

pub mod call;
pub mod daemon;
pub mod error;
pub mod memory;
pub mod reception;
pub mod store_error;

use crate::caller::Caller;
use crate::connection::ConnectionHandle;
use error::method_not_found;
use serde_json::Value;
use tiro_schema::ErrorObject;
use tiro_schema::wire::StoreInfo;

pub use reception::Reception;

/// Everything that answers once the store is open.
pub struct Service {}

impl Service {
    /// Answers one request.
    ///
    /// # Errors
    /// What the verb says; `methodNotFound` for a name that is not built.
    pub async fn dispatch(
        &self,
        method: &str,
        _params: Value,
        _caller: Caller,
        _connection: &ConnectionHandle,
    ) -> Result<Value, ErrorObject> {
        match method.split_once('/').map_or("", |(group, _)| group) {
            // "memory" | "space" => memory::dispatch(&self.memory, method, params, caller).await,
            _ => Err(method_not_found(method)),
        }
    }

    /// Which store answers, and its newest write.
    pub fn store_info(&self) -> StoreInfo {
        StoreInfo { id: String::new(), epoch: 0, seq: String::new() }
    }

    /// What `daemon/status` says of the store: `ready`, or `readOnly` after an error that has to be looked at.
    pub fn state(&self) -> &'static str {
        "ready"
    }

    /// When the last backup was made.
    pub fn last_backup_at(&self) -> Option<tiro_schema::wire::Timestamp> {
        None
    }
}
