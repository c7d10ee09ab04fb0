//! What travels over the socket: one JSON-RPC 2.0 object a line, camelCase members.
//!
//! Params refuse unknown members; results and notifications may grow, and clients ignore what they do not know.
//! Must not know: how anything is stored or computed.

pub mod daemon;
pub mod embedder;
pub mod envelope;
pub mod event;
pub mod memory;
pub mod open;
pub mod question;
pub mod results;
pub mod session;
pub mod space;
pub mod store;
pub mod turn;

pub use envelope::*;
pub use open::{Open, Page, Timestamp};

/// Generates a params type: camelCase, unknown members refused.
macro_rules! params {
    ($(#[$doc:meta])* $name:ident { $($(#[$fdoc:meta])* $field:ident : $ty:ty),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        pub struct $name { $($(#[$fdoc])* pub $field: $ty),* }
    };
}
pub(crate) use params;

/// Generates a result type: camelCase, unknown members ignored by readers.
macro_rules! result {
    ($(#[$doc:meta])* $name:ident { $($(#[$fdoc:meta])* $field:ident : $ty:ty),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(rename_all = "camelCase")]
        pub struct $name { $($(#[$fdoc])* pub $field: $ty),* }
    };
}
pub(crate) use result;
