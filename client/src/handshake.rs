//! The first words on a connection: agreeing on a protocol version.
//!
//! Must not know: how the connection came about, or what is called after.

use crate::connection::{CallError, CallOptions, Connection};
use crate::limits::HANDSHAKE_MAX;
use tiro_schema::wire::daemon::{NoParams, StatusResult};
use tiro_schema::wire::{ClientCapabilities, InitializeParams, InitializeResult, ProgramInfo, ProtocolRange};
use tiro_schema::{ErrorKind, PROTOCOL_MAX, PROTOCOL_MIN};

/// Why two programs cannot work together, or could not begin to.
#[derive(Debug, thiserror::Error)]
pub enum HandshakeError {
    /// They have no protocol version in common.
    #[error(
        "this client ({}) speaks protocol {}, the daemon{} speaks {}",
        env!("CARGO_PKG_VERSION"), range(&ours()),
        daemon.as_ref().map(|d| format!(" ({})", d.version)).unwrap_or_default(),
        theirs.as_ref().map_or_else(|| "another".to_owned(), range)
    )]
    Skew {
        /// The daemon, where it said.
        daemon: Option<ProgramInfo>,
        /// What it speaks, where it said.
        theirs: Option<ProtocolRange>,
    },
    /// The daemon is stopping: connect again.
    #[error("the daemon is stopping")]
    Draining,
    /// Something else failed.
    #[error(transparent)]
    Call(#[from] CallError),
}

/// What this client speaks.
pub fn ours() -> ProtocolRange {
    ProtocolRange { min: PROTOCOL_MIN, max: PROTOCOL_MAX }
}

fn range(range: &ProtocolRange) -> String {
    if range.min == range.max { range.min.to_string() } else { format!("{} to {}", range.min, range.max) }
}

/// A program of this version.
pub fn program(name: &str) -> ProgramInfo {
    ProgramInfo { name: name.to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() }
}

/// Says `initialize`.
///
/// # Errors
/// [`HandshakeError::Skew`] with what the daemon's status says about itself when there is no common version.
pub async fn initialize(connection: &Connection, client: &ProgramInfo) -> Result<InitializeResult, HandshakeError> {
    initialize_with(connection, client, ClientCapabilities::default()).await
}

/// The same, and what this client offers to the daemon.
///
/// # Errors
/// As [`initialize`].
pub async fn initialize_with(
    connection: &Connection,
    client: &ProgramInfo,
    capabilities: ClientCapabilities,
) -> Result<InitializeResult, HandshakeError> {
    let params = InitializeParams { protocol: ours(), client: client.clone(), capabilities };
    let options = CallOptions { timeout: Some(HANDSHAKE_MAX), progress_token: None };
    match connection.call_with::<_, InitializeResult>("initialize", &params, options).await {
        Ok(result) if (PROTOCOL_MIN..=PROTOCOL_MAX).contains(&result.protocol) => Ok(result),
        Ok(result) => Err(HandshakeError::Skew {
            theirs: Some(ProtocolRange { min: result.protocol, max: result.protocol }),
            daemon: Some(result.daemon),
        }),
        Err(CallError::Refused(error)) if error.kind() == Some(ErrorKind::VersionUnsupported) => {
            let status = status(connection).await.ok();
            let (daemon, theirs) = status.map(|s| (s.daemon, s.protocol)).unzip();
            Err(HandshakeError::Skew { daemon, theirs })
        }
        Err(CallError::Refused(error)) if error.kind() == Some(ErrorKind::Draining) => Err(HandshakeError::Draining),
        Err(other) => Err(other.into()),
    }
}

/// Asks for the daemon's state, which every version answers, before `initialize` too.
///
/// # Errors
/// See [`CallError`].
pub async fn status(connection: &Connection) -> Result<StatusResult, CallError> {
    let options = CallOptions { timeout: Some(HANDSHAKE_MAX), progress_token: None };
    connection.call_with("daemon/status", &NoParams {}, options).await
}
