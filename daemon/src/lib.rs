//! The Tiro daemon: store, memory, sessions, agent, socket.

pub mod agent;
pub mod limits;
pub mod model;
