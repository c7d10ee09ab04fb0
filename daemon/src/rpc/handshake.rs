//! `initialize`: agreeing on a version, and what a client may call before it.
//!
//! Pure. Must not know: connections, stores.

use crate::limits::CLIENT_NAME_CHARS_MAX;
use crate::service::call::read_params;
use crate::service::daemon::{program, protocol};
use serde_json::{Map, Value};
use std::sync::LazyLock;
use tiro_schema::wire::{InitializeParams, InitializeResult, ProtocolRange, StoreInfo};
use tiro_schema::{ErrorKind, ErrorObject};

/// Whether a method is answered before `initialize`; these never change shape.
pub fn is_open(method: &str) -> bool {
    matches!(method, "initialize" | "daemon/status" | "daemon/shutdown")
}

/// What both sides agreed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agreement {
    /// The version.
    pub protocol: u32,
    /// Name and version of the client, for the audit.
    pub client: String,
    /// Whether it can put questions to a person.
    pub asks: bool,
}

/// Reads `initialize`.
///
/// # Errors
/// `invalidParams`, or `versionUnsupported` with both ranges.
pub fn agree(params: Map<String, Value>) -> Result<Agreement, ErrorObject> {
    let params: InitializeParams = read_params(Value::Object(params))?;
    let ours = protocol();
    let highest = params.protocol.max.min(ours.max);
    if params.protocol.min > params.protocol.max || highest < params.protocol.min.max(ours.min) {
        return Err(unsupported(&params.protocol, &ours));
    }
    Ok(Agreement {
        protocol: highest,
        client: client_name(&params.client.name, &params.client.version),
        asks: params.capabilities.questions,
    })
}

fn unsupported(client: &ProtocolRange, daemon: &ProtocolRange) -> ErrorObject {
    let older = if client.max < daemon.min { "client" } else { "daemon" };
    ErrorObject::new(
        ErrorKind::VersionUnsupported,
        format!("the client speaks protocol {} to {}, this daemon {} to {}", client.min, client.max, daemon.min, daemon.max),
    )
    .with_hint(format!("update the {older}; daemon/status and daemon/shutdown work all the same"))
    .with("client", serde_json::json!({"min": client.min, "max": client.max}))
    .with("daemon", serde_json::json!({"min": daemon.min, "max": daemon.max, "version": program().version}))
}

/// One short line without control characters.
fn client_name(name: &str, version: &str) -> String {
    let text = if version.is_empty() { name.to_owned() } else { format!("{name}/{version}") };
    text.chars().filter(|c| !c.is_control()).take(CLIENT_NAME_CHARS_MAX).collect()
}

/// The result of `initialize`.
pub fn result(agreement: &Agreement, store: StoreInfo) -> InitializeResult {
    InitializeResult {
        protocol: agreement.protocol,
        daemon: program(),
        store,
        features: features(),
        limits: crate::limits::table(),
    }
}

/// What this daemon offers: each method group, and each later addition to one by a name of its own.
pub fn features() -> Vec<String> {
    // The table of methods makes every schema: once in a daemon's life is enough, not once a connection.
    static FEATURES: LazyLock<Vec<String>> = LazyLock::new(|| {
        let mut groups: Vec<String> = tiro_schema::method::methods()
            .into_iter()
            .filter_map(|method| method.name.split_once('/').map(|(group, _)| group.to_owned()))
            .collect();
        groups.sort_unstable();
        groups.dedup();
        groups.extend(["cancel", "progress", "idempotencyKeys", "eventReplay", "asOf", "validAt"].map(str::to_owned));
        groups
    });
    FEATURES.clone()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    fn agree_on(min: u32, max: u32) -> Result<Agreement, ErrorObject> {
        let Value::Object(params) = json!({"protocol": {"min": min, "max": max}, "client": {"name": "c\u{7}", "version": "1"}})
        else {
            unreachable!()
        };
        agree(params)
    }

    #[test]
    fn the_highest_version_in_common_is_taken_and_none_is_told_clearly() {
        // API-1, API-2, A39
        assert_eq!(agree_on(1, 7).unwrap(), Agreement { protocol: 1, client: "c/1".into(), asks: false });
        for (min, max, older) in [(0, 0, "update the client"), (2, 3, "update the daemon"), (3, 2, "update the daemon")] {
            let error = agree_on(min, max).unwrap_err();
            assert_eq!(error.code, ErrorKind::VersionUnsupported.code());
            let data = error.data.unwrap();
            assert!(data.hint.starts_with(older), "{}", data.hint);
            assert_eq!(data.details["client"]["min"], min);
            assert_eq!(data.details["daemon"]["max"], 1);
        }
    }
}
