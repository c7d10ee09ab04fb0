//! Small types the verbs share: times, pages, and enums that may grow.
//!
//! Must not know: any verb.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An instant as RFC 3339; Tiro writes milliseconds and UTC (`2026-03-05T12:00:00.000Z`) and reads any offset.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Timestamp(pub String);

impl std::fmt::Display for Timestamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A value of a set that may grow: readers keep what they do not know as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Open<T> {
    /// A value this build knows.
    Known(T),
    /// A value of a newer peer.
    Unknown(String),
}

impl<T> From<T> for Open<T> {
    fn from(value: T) -> Self {
        Open::Known(value)
    }
}

impl<T: Serialize> std::fmt::Display for Open<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match serde_json::to_value(self) {
            Ok(serde_json::Value::String(s)) => f.write_str(&s),
            Ok(other) => write!(f, "{other}"),
            Err(_) => Err(std::fmt::Error),
        }
    }
}

/// One page of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Page<T> {
    /// The items of this page, in the list's order.
    pub items: Vec<T>,
    /// Opaque and bound to the call's filter; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}
