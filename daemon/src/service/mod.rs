//! Methods to verbs: one file a group, one typed call each.
//!
//! A verb's rules stand in its own room; here is only which method it is. Must not know: sockets and lines.

mod absent;
pub mod call;
pub mod daemon;
pub mod embedder;
pub mod error;
pub mod memory;
pub mod no_secret;
pub mod question;
pub mod reception;
pub mod result;
pub mod rights;
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
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use tiro_schema::ErrorObject;
use tiro_schema::record::SessionRecord;
use tiro_schema::wire::StoreInfo;

pub use embedder::{Chooser, EmbedderChoice, Embedders};
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
    /// Models that make vectors.
    pub embedders: Embedders,
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
        mut params: Value,
        caller: Caller,
        connection: &ConnectionHandle,
    ) -> Result<Value, ErrorObject> {
        if is_known(method) {
            let asking = rights::Asking { memory: &self.memory, sessions: self.harness.sessions(), caller: &caller };
            if let Err(denied) = asking.permit(method, &params) {
                let missing = denied.right.name();
                self.memory.note_denial(&caller, method, is_write(method), denied.space.as_deref(), missing);
                return Err(denied.error);
            }
            asking.narrow(method, &mut params);
        }
        let named = params.get("space").and_then(Value::as_str).map(str::to_owned);
        let by = caller.clone();
        let answer = self.ask(method, params, caller, connection).await;
        if let Err(error) = &answer
            && is_audited(method)
        {
            let (kind, write) = (error.kind().map_or("unknown", |kind| kind.name()), is_write(method));
            self.memory.note_failure(&by, method, write, named.as_deref(), kind);
        }
        answer
    }

    async fn ask(
        &self,
        method: &str,
        params: Value,
        caller: Caller,
        connection: &ConnectionHandle,
    ) -> Result<Value, ErrorObject> {
        match method.split_once('/').map_or("", |(group, _)| group) {
            "store" => self.care.dispatch(method, params, caller).await,
            "memory" | "space" => memory::dispatch(&self.memory, method, params, caller).await,
            "embedder" => self.embedders.dispatch(method, params, caller).await,
            "session" => session::dispatch(&self.harness, &self.memory, method, params, &caller, connection).await,
            "question" => question::dispatch(&self.harness, method, params, caller).await,
            "result" => result::dispatch(self.harness.sessions(), method, params).await,
            "turn" => turn::dispatch(&self.harness, method, params, caller).await,
            _ => Err(method_not_found(method)),
        }
    }

    /// A client is ready that can put questions to a person: it is offered those of the sessions it may read and write.
    pub fn answerer_came(&self, connection: &ConnectionHandle) {
        let (memory, sessions) = (self.memory.clone(), self.harness.sessions().clone());
        let mut caller = Caller::daemon();
        caller.actor = connection.actor();
        let may_see = move |session: &SessionRecord| {
            let asking = rights::Asking { memory: &memory, sessions: &sessions, caller: &caller };
            asking.may_answer(session)
        };
        self.harness.answerer_came(connection.clone(), Arc::new(may_see));
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

/// Whether calls of a method are in the audit; its failures are then, too.
fn is_audited(method: &str) -> bool {
    ["memory/", "space/", "store/"].iter().any(|group| method.starts_with(group)) && access().contains_key(method)
}

/// Whether this build has the method.
fn is_known(method: &str) -> bool {
    access().contains_key(method)
}

/// Whether a method changes something.
fn is_write(method: &str) -> bool {
    access().get(method).copied().unwrap_or(false)
}

/// Every method of this build, and whether it changes something.
fn access() -> &'static HashMap<String, bool> {
    static ACCESS: OnceLock<HashMap<String, bool>> = OnceLock::new();
    ACCESS.get_or_init(|| tiro_schema::method::methods().into_iter().map(|method| (method.name, method.write)).collect())
}
