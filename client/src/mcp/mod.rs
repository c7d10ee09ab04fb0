//! Tiro's memory as a server of the Model Context Protocol, for the programs people already use.
//!
//! A translation and no more: what a host asks becomes a call of the daemon, what the daemon answers becomes a result of the
//! protocol. Both eras are spoken: versions up to 2025-11-25 begin with `initialize`, 2026-07-28 has no state and begins with
//! `server/discover`. Must not know: commands, or how the daemon does anything.

mod edge;
mod handler;
mod http;
mod link;
mod misfit;
mod prompts;
mod resources;
mod results;
mod schemas;
mod stdio;
mod token;
mod tools;
mod watch;

pub use handler::Memory;
pub use http::HttpServer;
pub use link::Links;
pub use stdio::serve as serve_stdio;
pub use token::{Token, TokenError};
