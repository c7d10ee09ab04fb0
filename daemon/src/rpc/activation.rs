//! Sockets handed over by a service manager (`LISTEN_FDS`, `LISTEN_PID`).
//!
//! An inherited socket belongs to whoever made it: it is never removed nor shut down. Must not know: how it is used.
#![allow(unsafe_code)] // taking over a descriptor that the environment names

use super::socket::Listening;
use crate::paths::{EnvMap, text};
use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl};
use nix::sys::socket::{AddressFamily, SockaddrLike, SockaddrStorage, getsockname, getsockopt, sockopt};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixListener;

/// The first descriptor of that convention.
const FIRST_FD: RawFd = 3;

/// Why an inherited socket cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ActivationError {
    /// One listening Unix socket is expected.
    #[error("the service manager passed {0}; one listening Unix stream socket is expected")]
    NotOurKind(String),
    /// The system refused.
    #[error("the inherited socket cannot be used: {0}")]
    System(#[from] nix::errno::Errno),
}

/// The inherited socket, when this process was started with one.
///
/// # Errors
/// When something else was inherited.
pub fn inherited(env: &EnvMap) -> Result<Option<Listening>, ActivationError> {
    let number = |name: &str| text(env, name).and_then(|value| value.parse::<i64>().ok());
    if number("LISTEN_PID") != Some(i64::from(std::process::id())) {
        return Ok(None);
    }
    match number("LISTEN_FDS") {
        None | Some(0) => return Ok(None),
        Some(1) => {}
        Some(count) => return Err(ActivationError::NotOurKind(format!("{count} descriptors"))),
    }
    // SAFETY: the descriptor is only looked at; a closed one makes the calls below fail.
    let borrowed = unsafe { BorrowedFd::borrow_raw(FIRST_FD) };
    fcntl(borrowed, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
    let family = getsockname::<SockaddrStorage>(borrowed.as_raw_fd())?.family();
    if family != Some(AddressFamily::Unix) || !getsockopt(&borrowed, sockopt::AcceptConn)? {
        return Err(ActivationError::NotOurKind("something else".to_owned()));
    }
    let flags = OFlag::from_bits_retain(fcntl(borrowed, FcntlArg::F_GETFL)?);
    fcntl(borrowed, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
    // SAFETY: by the convention of LISTEN_FDS this process owns the descriptor, and it is taken here only, once.
    let fd = unsafe { OwnedFd::from_raw_fd(FIRST_FD) };
    Ok(Some(Listening { listener: UnixListener::from(fd), file: None }))
}
