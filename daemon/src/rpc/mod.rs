//! The socket: who may connect, lines in, answers out, and the limits of every connection.
//!
//! Must not know: what any method does (that is `service`), stores, models.

pub mod activation;
pub mod budget;
pub mod door;
pub mod frame;
pub mod front;
pub mod handshake;
pub mod inflight;
pub mod listener;
pub mod lock;
pub mod message;
pub mod peer;
pub mod request;
pub mod scan;
pub mod serve;
pub mod socket;
pub mod writer;

pub use front::Front;
