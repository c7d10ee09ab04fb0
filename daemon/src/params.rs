//! JSON to a type of params, with the path to what does not fit.
//!
//! Must not know: methods, errors of the wire.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// What does not fit, and where: `filter.tags[2]`; an empty path is the whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// Where.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

/// Reads a value as params.
///
/// # Errors
/// The first member that does not fit.
pub fn read<P: DeserializeOwned>(value: Value) -> Result<P, Misfit> {
    read_ref(&value)
}

/// The same, leaving the value where it is. The path is looked for only when something does not fit.
///
/// # Errors
/// The first member that does not fit.
pub fn read_ref<P: DeserializeOwned>(value: &Value) -> Result<P, Misfit> {
    P::deserialize(value).or_else(|_| with_path(value))
}

fn with_path<'de, P: Deserialize<'de>>(value: &'de Value) -> Result<P, Misfit> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        let message = error.into_inner().to_string();
        let path = if path == "." { String::new() } else { path };
        Misfit { path: with_member(path, &message), message }
    })
}

/// Serde names an unknown or missing member in its message and points to the object around it: point to the member.
fn with_member(path: String, message: &str) -> String {
    let named = |prefix: &str| message.strip_prefix(prefix).and_then(|rest| rest.split('`').next()).map(str::to_owned);
    let Some(name) = named("unknown field `").or_else(|| named("missing field `")) else {
        return path;
    };
    if path == name || path.ends_with(&format!(".{name}")) {
        path
    } else if path.is_empty() {
        name
    } else {
        format!("{path}.{name}")
    }
}
