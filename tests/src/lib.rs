//! The test harness of Tiro: a daemon in a folder of its own, a client that speaks lines, and what tests check often.
//!
//! Every wait has a deadline; nothing waits by sleeping a while and hoping. The harness panics with what it saw, as
//! tests do. Must not know: what any one test is about.

pub mod agent;
pub mod binary;
pub mod check;
pub mod client;
pub mod daemon;
pub mod embedding_server;
pub mod gate;
pub mod inside;
pub mod mcp_fixtures;
pub mod mcp_host;
pub mod model_server;
pub mod redact;
pub mod rng;
pub mod storage;
pub mod store_writes;
pub mod tiro;
pub mod transcript;
pub mod wait;

pub use client::{Gone, Rpc};
pub use daemon::{DaemonSetup, TestDaemon};
pub use inside::InsideDaemon;
pub use mcp_host::{Era, McpHost};
pub use tiro::{Ran, Tiro};
pub use transcript::Transcript;
pub use wait::{DEADLINE, wait_for};

/// Whether the long forms of the fault suites were asked for (`TIRO_HEAVY=1`).
pub fn heavy() -> bool {
    std::env::var("TIRO_HEAVY").is_ok_and(|value| value == "1")
}

/// Says on the test's output that a part was left out and why, so that nothing is skipped silently.
pub fn skipped(what: &str, why: &str) {
    eprintln!("SKIPPED {what}: {why}");
}

/// The root of the workspace.
pub fn workspace() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("invariant: the tests crate stands in the workspace")
        .to_path_buf()
}
