//! Finds `tirod` and `tiro`: those of `TIRO_BIN_DIR`, else built once, with the profile and into the folder of this test.
//!
//! Must not know: what they do.

use nix::fcntl::{Flock, FlockArg};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The daemon's program.
pub fn tirod() -> PathBuf {
    folder().join("tirod")
}

/// The client's program.
pub fn tiro() -> PathBuf {
    folder().join("tiro")
}

/// Where both stand.
pub fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| match std::env::var_os("TIRO_BIN_DIR") {
        Some(folder) => crate::workspace().join(folder),
        None => build(),
    })
}

/// Builds both. Test programs stand in `TARGET/PROFILE/deps`.
fn build() -> PathBuf {
    let program = std::env::current_exe().expect("the test's own path");
    let folder = program.ancestors().nth(2).expect("invariant: a test program stands two folders deep").to_path_buf();
    let target = folder.parent().expect("invariant: a profile's folder stands in the target folder");
    let lock = File::create(folder.join(".tiro-binaries.lock")).expect("a lock file in the target folder");
    let _one_at_a_time = Flock::lock(lock, FlockArg::LockExclusive).expect("the lock");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(crate::workspace()).args(["build", "--quiet", "--workspace", "--bins", "--target-dir"]).arg(target);
    if folder.ends_with("release") {
        cargo.arg("--release");
    }
    // What cargo told this test about itself must not reach the build.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CARGO_PKG_")) {
        cargo.env_remove(name);
    }
    let status = cargo.status().expect("cargo runs");
    assert!(status.success(), "the programs could not be built: {status}");
    folder
}
