//! What happens to memories when the daemon dies, and what must never reach the disk.
#![allow(clippy::unwrap_used)]

mod kill;
mod ledger;
mod secrets;
mod start;
