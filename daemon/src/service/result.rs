//! `result/*`: which method is which verb.
//!
//! Must not know: what the verbs do.

use super::call::call;
use super::error::method_not_found;
use crate::session::{SessionError, Sessions};
use serde_json::Value;
use tiro_schema::ErrorObject;
use tiro_schema::wire::results::{ResultGetParams, ResultSearchParams};

/// Answers a method of the group `result`. Long results are read on a thread for blocking work.
///
/// # Errors
/// What the verb says; `methodNotFound` for a name that is not built.
pub async fn dispatch(sessions: &Sessions, method: &str, params: Value) -> Result<Value, ErrorObject> {
    let sessions = sessions.clone();
    match method {
        "result/get" => call(params, |p: ResultGetParams| aside(move || sessions.result(&p))).await,
        "result/search" => call(params, |p: ResultSearchParams| aside(move || sessions.search_results(&p))).await,
        _ => Err(method_not_found(method)),
    }
}

async fn aside<R: Send + 'static>(work: impl FnOnce() -> Result<R, SessionError> + Send + 'static) -> Result<R, SessionError> {
    tokio::task::spawn_blocking(work).await.unwrap_or(Err(SessionError::Lost))
}
