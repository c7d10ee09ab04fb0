//! The memory verbs, one file a group.
//!
//! Must not know: the agent's verbs.

pub mod change;
pub mod conflict;
pub mod feedback;
pub mod forget;
pub mod history;
pub mod item;
pub mod observe;
mod purge;
pub mod read;
pub mod recall;
pub mod remember;
pub mod transfer;

pub use change::*;
pub use conflict::*;
pub use feedback::*;
pub use forget::*;
pub use history::*;
pub use item::*;
pub use observe::*;
pub use purge::*;
pub use read::*;
pub use recall::*;
pub use remember::*;
pub use transfer::*;
