//! Starting a child that outlives us: in a session of its own, without our terminal.
#![allow(unsafe_code)] // `setsid` has to run between fork and exec, which the standard library offers as unsafe only

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

/// Starts the command as the leader of a new session, so that neither our terminal nor our end reaches it.
///
/// # Errors
/// As `spawn` says.
pub fn spawn(command: &mut Command) -> io::Result<Child> {
    // SAFETY: the closure makes one async-signal-safe system call and touches no memory of the parent.
    unsafe {
        command.pre_exec(|| nix::unistd::setsid().map(drop).map_err(io::Error::from));
    }
    command.spawn()
}
