//! The JSON-RPC 2.0 envelope and the handshake.
//!
//! Must not know: the verbs inside.

use super::{params, result};
use crate::error::ErrorObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A request's id: string or integer.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RequestId {
    /// An integer id.
    Number(i64),
    /// A string id.
    Text(String),
}

/// The literal `"2.0"`.
pub const JSONRPC: &str = "2.0";

/// A request, as a client writes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Request {
    /// Always `"2.0"`.
    pub jsonrpc: String,
    /// Echoed by the response.
    pub id: RequestId,
    /// Name of the method.
    pub method: String,
    /// By-name params.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub params: Option<Value>,
}

/// A message without an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Notification {
    /// Always `"2.0"`.
    pub jsonrpc: String,
    /// Name of the notification.
    pub method: String,
    /// By-name params.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub params: Option<Value>,
}

/// An answer: exactly one of `result` and `error`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Response {
    /// Always `"2.0"`.
    pub jsonrpc: String,
    /// The request's id; null when it could not be read.
    pub id: Option<RequestId>,
    /// What the method answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// Why there is no result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorObject>,
}

params! {
    /// A span of protocol versions, both ends included.
    ProtocolRange {
        /// Lowest version spoken.
        min: u32,
        /// Highest version spoken.
        max: u32,
    }
}

params! {
    /// Name and version of a program.
    ProgramInfo {
        /// Name, for the audit.
        name: String,
        /// Version, for messages.
        #[serde(default)]
        version: String,
    }
}

params! {
    /// What a client offers to the daemon.
    ClientCapabilities {
        /// It can put questions to a person.
        #[serde(default)]
        questions: bool,
        /// It can read and write files for the daemon.
        #[serde(default)]
        fs: bool,
        /// It can run terminals for the daemon.
        #[serde(default)]
        terminal: bool,
    }
}

params! {
    /// Params of `initialize`.
    InitializeParams {
        /// Versions the client speaks.
        protocol: ProtocolRange,
        /// Who the client is.
        client: ProgramInfo,
        /// What it offers.
        #[serde(default)]
        capabilities: ClientCapabilities,
    }
}

result! {
    /// Which store answers.
    StoreInfo {
        /// Random id of the store.
        id: String,
        /// Changes when a backup is restored.
        epoch: u64,
        /// Opaque token of the newest write.
        seq: String,
    }
}

result! {
    /// Result of `initialize`.
    InitializeResult {
        /// The version both speak from now on.
        protocol: u32,
        /// The daemon.
        daemon: ProgramInfo,
        /// Its store.
        store: StoreInfo,
        /// Names of what this daemon offers, so that a client knows what it may send.
        features: Vec<String>,
        /// Named limits with their unit in the name.
        limits: std::collections::BTreeMap<String, u64>,
    }
}

params! {
    /// Params of the notification `$/cancel_request`.
    CancelParams {
        /// The request to cancel.
        request_id: Option<RequestId>,
    }
}

result! {
    /// Params of the notification `progress`.
    Progress {
        /// The caller's `_meta.progressToken`.
        progress_token: Value,
        /// What is being done.
        stage: String,
        /// Units done.
        done: u64,
        /// Units in all, where known.
        #[serde(skip_serializing_if = "Option::is_none")]
        total: Option<u64>,
    }
}
