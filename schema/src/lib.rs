//! What Tiro says and what it keeps: wire types, stored records, ids and errors.
//!
//! This crate knows serde and schemars only: no runtime, no files, no clock, no network. The types in [`wire`] are
//! what travels over the socket, the types in [`record`] are what the store keeps; they are separate on purpose, and
//! every passage from one to the other stands in [`convert`].

pub mod convert;
pub mod error;
pub mod method;
pub mod owner;
pub mod place;
pub mod record;
pub mod settings;
pub mod strict;
pub mod wire;

pub use error::{ErrorData, ErrorKind, ErrorObject, WriteOutcome};

/// The lowest protocol version this build speaks.
pub const PROTOCOL_MIN: u32 = 1;
/// The highest protocol version this build speaks.
pub const PROTOCOL_MAX: u32 = 1;
/// The space a call means when it names none.
pub const DEFAULT_SPACE: &str = "personal";
