//! The thin client of the Tiro daemon: typed calls over its socket, starting it on demand, and the shell client.
//!
//! Knows the wire types only. Must not know: stores, indexes, models, or anything else that lives in the daemon.

pub mod cli;
pub mod connection;
pub mod detach;
pub mod handshake;
pub mod import;
pub mod launch;
pub mod limits;
pub mod log;
pub mod mcp;
pub mod owner;
pub mod place;
pub mod render;
pub mod trust;
pub mod workspace;
