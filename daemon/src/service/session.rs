//! `session/*`: which method is which verb.
//!
//! Must not know: what the verbs do.

use super::call::call;
use super::error::method_not_found;
use super::no_secret::without_secrets;
use super::rights::Asking;
use crate::caller::Caller;
use crate::connection::ConnectionHandle;
use crate::harness::Harness;
use crate::memory::Memory;
use crate::session::{SessionError, Sessions};
use serde_json::Value;
use tiro_schema::ErrorObject;
use tiro_schema::record::SessionRecord;
use tiro_schema::wire::session::{
    Empty, Session, SessionAttachParams, SessionAttachResult, SessionExportParams, SessionIdParams, SessionSearchParams,
};

/// Answers a method of the group `session`.
///
/// # Errors
/// What the verb says; `methodNotFound` for a name that is not built.
pub async fn dispatch(
    harness: &Harness,
    memory: &Memory,
    method: &str,
    params: Value,
    caller: &Caller,
    connection: &ConnectionHandle,
) -> Result<Value, ErrorObject> {
    let sessions = harness.sessions();
    match method {
        "session/new" => call(without_secrets(params)?, |p| sessions.create(p)).await,
        "session/get" => call(params, |p| get(harness, p)).await,
        "session/list" => {
            let asking = Asking { memory, sessions, caller };
            let (running, seen) = (|key| harness.is_running(key), |session: &SessionRecord| asking.may_see(session));
            call(params, |p| async { sessions.list(&{ p }, &running, &seen) }).await
        }
        "session/update" => call(without_secrets(params)?, |p| async move { show(harness, &sessions.update(p).await?) }).await,
        "session/delete" => call(params, |p| harness.delete_session(p)).await,
        "session/messages" => call(params, |p| async move { sessions.messages(&p) }).await,
        "session/fork" => call(without_secrets(params)?, |p| sessions.fork(p)).await,
        "session/fields" => call(params, |p: SessionIdParams| async move { sessions.fields(&p.session_id) }).await,
        "session/search" => {
            let (memory, caller) = (memory.clone(), caller.clone());
            let search = move |sessions: &Sessions, params: &SessionSearchParams| {
                let asking = Asking { memory: &memory, sessions, caller: &caller };
                sessions.search(params, &|session| asking.may_see(session))
            };
            call(params, |p: SessionSearchParams| aside(sessions, move |it| search(it, &p))).await
        }
        "session/export" => call(params, |p: SessionExportParams| aside(sessions, move |it| it.export(&p))).await,
        "session/attach" => call(params, |p| attach(harness, caller, connection, p)).await,
        "session/detach" => call(params, |p| detach(harness, connection, p)).await,
        _ => Err(method_not_found(method)),
    }
}

/// Reads on a thread for blocking work.
async fn aside<R: Send + 'static>(
    sessions: &Sessions,
    work: impl FnOnce(&Sessions) -> Result<R, SessionError> + Send + 'static,
) -> Result<R, SessionError> {
    let sessions = sessions.clone();
    tokio::task::spawn_blocking(move || work(&sessions)).await.unwrap_or(Err(SessionError::Lost))
}

fn show(harness: &Harness, record: &tiro_schema::record::SessionRecord) -> Result<Session, SessionError> {
    harness.sessions().describe(record, harness.is_running(record.key))
}

async fn get(harness: &Harness, params: SessionIdParams) -> Result<Session, SessionError> {
    show(harness, &harness.sessions().find(&params.session_id)?)
}

async fn attach(
    harness: &Harness,
    caller: &Caller,
    connection: &ConnectionHandle,
    params: SessionAttachParams,
) -> Result<SessionAttachResult, SessionError> {
    let sessions = harness.sessions();
    let session = sessions.find(&params.session_id)?;
    let after = params.from_event.unwrap_or(session.event_seq).min(session.event_seq);
    let begin = caller.answered.clone();
    let is_following = sessions.feeds().follow(sessions.store().clone(), session.key, connection.clone(), after, begin);
    if !is_following {
        return Err(SessionError::Overloaded { what: "clients follow this session" });
    }
    Ok(SessionAttachResult { event_seq: session.event_seq, running_turn: harness.running_turn(session.key) })
}

async fn detach(harness: &Harness, connection: &ConnectionHandle, params: SessionIdParams) -> Result<Empty, SessionError> {
    let session = harness.sessions().find(&params.session_id)?;
    harness.sessions().feeds().unfollow(session.key, connection.id());
    Ok(Empty {})
}
