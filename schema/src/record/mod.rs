//! What the store keeps. Encoded with bincode, so a record never changes its members: a new shape is a new record version.
//!
//! Times are Unix milliseconds. Small sets are one byte, see [`crate::convert`]. Must not know: the wire.

pub mod conflict;
pub mod ledger;
pub mod memory;
pub mod purge;
pub mod session;

pub use conflict::*;
pub use ledger::*;
pub use memory::*;
pub use purge::*;
pub use session::*;
