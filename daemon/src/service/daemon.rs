//! `daemon/status`, `daemon/shutdown` and `daemon/schema`.
//!
//! The first two are answered before `initialize`, to any client, and never change shape. Must not know: connections.

use super::call::{read_params, write_result};
use super::reception::{Readiness, Reception};
use crate::clock;
use serde_json::Value;
use std::sync::OnceLock;
use tiro_schema::wire::daemon::{NoParams, ShutdownResult, StatusResult};
use tiro_schema::wire::{ProgramInfo, ProtocolRange};
use tiro_schema::{ErrorKind, ErrorObject, PROTOCOL_MAX, PROTOCOL_MIN};

/// Name and version of this program.
pub fn program() -> ProgramInfo {
    ProgramInfo { name: "tirod".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() }
}

/// The protocol versions of this build.
pub fn protocol() -> ProtocolRange {
    ProtocolRange { min: PROTOCOL_MIN, max: PROTOCOL_MAX }
}

/// `daemon/status`. Takes any params, so that a newer client is answered too.
pub fn status(reception: &Reception, _params: Value) -> Result<Value, ErrorObject> {
    let readiness = reception.readiness();
    let (mut state, store, starting) = match &readiness {
        Readiness::Starting(progress) => ("starting", None, Some(progress.clone())),
        Readiness::Ready(service) => (service.state(), Some(service.store_info()), None),
        Readiness::Failed { .. } => ("damaged", None, None),
    };
    if reception.is_draining() {
        state = "draining";
    }
    let facts = &reception.facts;
    let service = match &readiness {
        Readiness::Ready(service) => Some(service),
        _ => None,
    };
    write_result(StatusResult {
        daemon: program(),
        protocol: protocol(),
        pid: std::process::id(),
        state: state.to_owned(),
        started_at: clock::format(facts.started_at_ms, None),
        socket: facts.socket.display().to_string(),
        data_dir: facts.data_dir.display().to_string(),
        clients: reception.clients(),
        store,
        model: service.map_or_else(|| facts.model.clone(), |service| service.harness.model().state()),
        embedder: service.map(|service| service.embedder.clone()).unwrap_or_default(),
        embedding: service.and_then(|service| service.memory.embedding_state()),
        resident_bytes: resident_bytes(),
        store_bytes: service.map(|service| service.store.stats().file_bytes),
        index_bytes: service.map(|service| service.memory.index_bytes()),
        index: service.map(|service| service.memory.index_state()),
        last_backup_at: service.and_then(|service| service.last_backup_at()),
        starting,
    })
}

/// `daemon/shutdown`. Takes any params, so that a newer client is answered too. The stop begins when its answer is on its way:
/// [`Reception::answered`].
pub fn shutdown(_params: Value) -> Result<Value, ErrorObject> {
    write_result(ShutdownResult { stopping: true })
}

/// `daemon/schema`: made once from the types.
pub fn schema(params: Value) -> Result<Value, ErrorObject> {
    static DESCRIPTION: OnceLock<Value> = OnceLock::new();
    let NoParams {} = read_params(params)?;
    let description = DESCRIPTION.get_or_init(|| serde_json::to_value(tiro_schema::method::description()).unwrap_or(Value::Null));
    if description.is_null() {
        return Err(ErrorObject::new(ErrorKind::Internal, "the description has no JSON form"));
    }
    Ok(description.clone())
}

/// Resident memory of this process; 0 where the system does not say.
pub fn resident_bytes() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").ok().and_then(|text| text.split(' ').nth(1)?.parse::<u64>().ok());
    pages.unwrap_or(0) * 4096
}
