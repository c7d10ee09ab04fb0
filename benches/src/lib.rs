//! What the bench targets share: a daemon as a process, a blocking client, a generated corpus, figures, and the measures
//! of recall.
//!
//! Must not know: the daemon's insides; everything goes over the socket.

pub mod corpus;
pub mod figures;
pub mod mcp;
pub mod process;
pub mod recall;
pub mod rpc;
pub mod sentences;
