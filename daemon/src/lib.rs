//! The Tiro daemon as a library: store, memory, sessions, agent, socket.
//!
//! `rpc -> service -> {session, memory, harness} -> {store, index, model, tool}`, never upward.

pub mod agent;
pub mod caller;
pub mod clock;
pub mod config;
pub mod connection;
pub mod embedders;
pub mod harden;
pub mod harness;
pub mod heap;
pub mod idempotency;
pub mod limits;
pub mod memory;
pub mod model;
pub mod params;
pub mod paths;
pub mod rooms;
pub mod rpc;
pub mod run;
pub mod service;
pub mod session;
pub mod space_name;
pub mod store;
pub mod tokens;
pub mod tool;
