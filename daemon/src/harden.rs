//! What keeps a daemon's memory to itself: no core files, no other process of the user looking in.
//!
//! Must not know: what is worth keeping.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Most descriptors asked for.
const DESCRIPTORS_WANTED: u64 = 65_536;

/// Applies to the whole process, for its life; what the system refuses is logged.
pub fn harden() {
    // Whatever is made from now on is for its owner only.
    nix::sys::stat::umask(nix::sys::stat::Mode::from_bits_truncate(0o077));
    if let Err(error) = setrlimit(Resource::RLIMIT_CORE, 0, 0) {
        tracing::warn!(%error, "core files could not be turned off");
    }
    #[cfg(target_os = "linux")]
    if let Err(error) = nix::sys::prctl::set_dumpable(false) {
        tracing::warn!(%error, "the process could not be made non-dumpable");
    }
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE)
        && soft < hard.min(DESCRIPTORS_WANTED)
        && let Err(error) = setrlimit(Resource::RLIMIT_NOFILE, hard.min(DESCRIPTORS_WANTED), hard)
    {
        tracing::warn!(%error, "the limit on descriptors could not be raised");
    }
}
