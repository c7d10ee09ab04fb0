//! The one table of error kinds and their codes, and the error object of the wire.
//!
//! Must not know: who raises an error, or how it is shown.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Whether a failed write took effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum WriteOutcome {
    /// Nothing was written; repeating the call is safe.
    NotDone,
    /// The write may or may not have happened; repeat it with the same `key`.
    Unknown,
}

/// The `error` member of a response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorObject {
    /// JSON-RPC code, see [`ErrorKind::code`].
    pub code: i32,
    /// What failed and where, lower case.
    pub message: String,
    /// Machine-readable part; absent only in answers of foreign servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Box<ErrorData>>,
}

/// The machine-readable part of an error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ErrorData {
    /// Stable name of the kind, see [`ErrorKind::name`].
    pub kind: String,
    /// True when the same call may succeed later unchanged.
    pub retryable: bool,
    /// What the caller can do about it.
    pub hint: String,
    /// On every failed write: whether it took effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<WriteOutcome>,
    /// Further members by kind (`path`, `candidates`, `currentVersion`, `retryAfterMs`, …).
    #[serde(flatten)]
    pub details: serde_json::Map<String, Value>,
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident = $code:literal, $name:literal, $retryable:literal, $hint:literal;)*) => {
        /// Every kind of error Tiro answers with.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ErrorKind { $($(#[$doc])* $variant),* }

        impl ErrorKind {
            /// Every kind, in the order of the table.
            pub const ALL: &'static [ErrorKind] = &[$(ErrorKind::$variant),*];
            /// The JSON-RPC code: one per kind.
            pub const fn code(self) -> i32 { match self { $(ErrorKind::$variant => $code),* } }
            /// The stable name sent as `data.kind`.
            pub const fn name(self) -> &'static str { match self { $(ErrorKind::$variant => $name),* } }
            /// Whether the same call may succeed later unchanged.
            pub const fn retryable(self) -> bool { match self { $(ErrorKind::$variant => $retryable),* } }
            /// The hint used when the raiser has none better.
            pub const fn hint(self) -> &'static str { match self { $(ErrorKind::$variant => $hint),* } }
            /// The kind with this stable name, if there is one.
            pub fn from_name(name: &str) -> Option<ErrorKind> { match name { $($name => Some(ErrorKind::$variant),)* _ => None } }
        }
    };
}

kinds! {
    /// The line is not JSON.
    ParseError = -32700, "parseError", false, "send one JSON object a line, in UTF-8";
    /// The JSON is not a JSON-RPC 2.0 request (batches included).
    InvalidRequest = -32600, "invalidRequest", false, "send a JSON-RPC 2.0 object with jsonrpc, method and id; batches are not taken";
    /// No such method in this build.
    MethodNotFound = -32601, "methodNotFound", false, "daemon/schema lists the methods of this daemon";
    /// The params do not fit the method; `data.path` says where.
    InvalidParams = -32602, "invalidParams", false, "correct the named parameter; daemon/schema describes every method";
    /// A fault of the daemon.
    Internal = -32603, "internal", true, "this is a fault of the daemon: see its log";
    /// The request was cancelled by its caller.
    Cancelled = -32800, "cancelled", true, "the request was cancelled";
    /// A method was called before `initialize`.
    NotInitialized = -32100, "notInitialized", false, "call initialize first";
    /// No protocol version in common.
    VersionUnsupported = -32101, "versionUnsupported", false, "update the older of client and daemon";
    /// A limit on work in flight was reached.
    Overloaded = -32102, "overloaded", true, "wait a little and repeat the call";
    /// The daemon is stopping.
    Draining = -32103, "draining", true, "the daemon is stopping: connect again";
    /// No such memory, space, session or turn.
    NotFound = -32104, "notFound", false, "check the id; list shows what there is";
    /// The prefix fits several ids; `data.candidates` lists them.
    Ambiguous = -32105, "ambiguous", false, "give more characters of the id";
    /// `ifVersion` is not the current version; `data.currentVersion` says which is.
    VersionMismatch = -32106, "versionMismatch", false, "read the memory again and repeat the change on its current version";
    /// The idempotency key was used with another body.
    KeyReused = -32107, "keyReused", false, "use a new key for a different call";
    /// The session has a running turn.
    SessionBusy = -32108, "sessionBusy", true, "wait for the running turn, or start with ifBusy queue";
    /// The turn has ended.
    TurnNotActive = -32109, "turnNotActive", false, "the turn has ended: turn/get shows how";
    /// The question was answered or has lapsed.
    QuestionGone = -32110, "questionGone", false, "the question is no longer open";
    /// A value is over a limit; `data.limit` names it.
    TooLarge = -32111, "tooLarge", false, "make it smaller; initialize lists the limits";
    /// A rule forbids it.
    PolicyDenied = -32112, "policyDenied", false, "a rule forbids this";
    /// The text holds a secret; `data.secret` says of which kind.
    SecretRefused = -32113, "secretRefused", false, "take the secret out of the text";
    /// The store takes no writes until it is reopened.
    StoreReadOnly = -32114, "storeReadOnly", true, "see the daemon's log; restart the daemon to reopen the store";
    /// The disk is full.
    StorageFull = -32115, "storageFull", true, "free space on the disk that holds the store";
    /// The store is damaged.
    StoreDamaged = -32116, "storeDamaged", false, "restore the last good backup: tiro store restore";
    /// No model is configured.
    ModelNotConfigured = -32117, "modelNotConfigured", false, "set TIRO_MODEL_BASE_URL and TIRO_MODEL_NAME, or [model] in config.toml";
    /// The model provider failed.
    ModelError = -32118, "modelError", true, "see the message of the model provider";
    /// A tool failed.
    ToolError = -32119, "toolError", true, "see the message of the tool";
    /// Not done within its time.
    Timeout = -32120, "timeout", true, "repeat the call, or raise the named time limit";
}

impl ErrorObject {
    /// An error of this kind with the kind's own hint.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        ErrorObject {
            code: kind.code(),
            message: message.into(),
            data: Some(Box::new(ErrorData {
                kind: kind.name().to_owned(),
                retryable: kind.retryable(),
                hint: kind.hint().to_owned(),
                outcome: None,
                details: serde_json::Map::new(),
            })),
        }
    }

    /// The same with another hint.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        if let Some(data) = &mut self.data {
            data.hint = hint.into();
        }
        self
    }

    /// The same with a further member of `data`.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        if let Some(data) = &mut self.data {
            data.details.insert(name.to_owned(), value.into());
        }
        self
    }

    /// The same with the outcome of the write.
    pub fn with_outcome(mut self, outcome: WriteOutcome) -> Self {
        if let Some(data) = &mut self.data {
            data.outcome = Some(outcome);
        }
        self
    }

    /// The kind, when it is one of ours.
    pub fn kind(&self) -> Option<ErrorKind> {
        self.data.as_ref().and_then(|d| ErrorKind::from_name(&d.kind))
    }
}

impl std::fmt::Display for ErrorObject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ErrorObject {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_code_and_a_name_of_its_own() {
        for (i, a) in ErrorKind::ALL.iter().enumerate() {
            for b in &ErrorKind::ALL[i + 1..] {
                assert_ne!(a.code(), b.code(), "{a:?} and {b:?}");
                assert_ne!(a.name(), b.name(), "{a:?} and {b:?}");
            }
            assert_eq!(ErrorKind::from_name(a.name()), Some(*a));
        }
    }
}
