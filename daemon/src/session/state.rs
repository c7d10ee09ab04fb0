//! What is known of a session's task beside its messages: the scratchpad. Kept as JSON, so that it can grow.
//!
//! Must not know: how a context is put together.

use super::{SessionError, Sessions};
use crate::store::{SessionReads, StoreError, WriteTx};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tiro_schema::record::SessionStateRecord;

/// The state of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SessionState {
    /// The model's notes, gone with the task.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub scratchpad: BTreeMap<String, String>,
}

impl Sessions {
    /// The state of a session; empty before there is one.
    ///
    /// # Errors
    /// The store's.
    pub fn state(&self, session: u64) -> Result<SessionState, SessionError> {
        Ok(self.store.read(|tx| state(tx, session))?)
    }

    /// Changes the state of a session. `change` may run more than once, and says no by an error.
    ///
    /// # Errors
    /// What `change` says; `NotFound` when the session is gone; the store's.
    pub async fn change_state<R: Send + 'static>(
        &self,
        session: u64,
        change: impl Fn(&mut SessionState) -> Result<R, SessionError> + Send + 'static,
    ) -> Result<R, SessionError> {
        let write = self.store.write("session/state", move |tx| -> Result<R, SessionError> {
            super::journal::session_of(tx, session)?;
            let mut now = state(tx, session)?;
            let answer = change(&mut now)?;
            put_state(tx, session, &now)?;
            Ok(answer)
        });
        Ok(write.await?)
    }
}

/// The state of a session.
pub(super) fn state(tx: &impl SessionReads, session: u64) -> Result<SessionState, StoreError> {
    let stored = tx.session_state(session)?;
    Ok(stored.and_then(|stored| serde_json::from_str(&stored.state_json).ok()).unwrap_or_default())
}

/// Writes the state of a session.
pub(super) fn put_state(tx: &mut WriteTx, session: u64, state: &SessionState) -> Result<(), SessionError> {
    let record = SessionStateRecord { state_json: super::journal::json_text(state)? };
    Ok(tx.put_session_state(session, &record)?)
}
