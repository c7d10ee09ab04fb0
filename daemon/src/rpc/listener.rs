//! Accepts connections: looks who it is, and keeps calm when there is no room.
//!
//! Must not know: what is said on them.

use super::peer;
use super::{Front, request};
use crate::limits::ACCEPT_PAUSE_MS;
use std::fs::File;
use std::sync::Arc;
use std::time::Duration;
use tiro_schema::{ErrorKind, ErrorObject};
use tokio::net::{UnixListener, UnixStream};
use tokio_util::sync::CancellationToken;

/// Accepts until told to stop.
pub async fn accept(front: Arc<Front>, listener: UnixListener, stop: CancellationToken) {
    let own_uid = crate::paths::own_uid();
    let mut reserve = open_reserve();
    loop {
        let accepted = tokio::select! {
            biased;
            () = stop.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => admit(&front, stream, own_uid),
            Err(error) if is_exhausted(&error) => {
                tracing::warn!(%error, "no descriptor left for a connection: pausing");
                refuse_one(&listener, &mut reserve).await;
                tokio::select! {
                    () = stop.cancelled() => return,
                    () = tokio::time::sleep(Duration::from_millis(ACCEPT_PAUSE_MS)) => {}
                }
            }
            // The peer was gone before it was accepted, or a signal came.
            Err(error) => tracing::debug!(%error, "a connection was not accepted"),
        }
    }
}

/// Lets in our own user, while there is room.
fn admit(front: &Arc<Front>, stream: UnixStream, own_uid: u32) {
    match peer::identify(&stream, own_uid) {
        Err(stranger) => tracing::warn!(uid = ?stranger.uid, "a connection of another user was closed unread"),
        Ok(actor) => {
            if let Err(stream) = front.admit(stream, actor) {
                say_busy(&stream, "as many clients as the daemon takes are connected");
            }
        }
    }
}

/// Whether descriptors or memory are used up: accepting again at once would only fail again.
fn is_exhausted(error: &std::io::Error) -> bool {
    use nix::libc::{EMFILE, ENFILE, ENOBUFS, ENOMEM};
    matches!(error.raw_os_error(), Some(EMFILE | ENFILE | ENOBUFS | ENOMEM))
}

/// A descriptor kept aside, so that one client can be told when there are no others.
fn open_reserve() -> Option<File> {
    File::open("/dev/null").ok()
}

/// Uses the reserve to accept one connection and tell it that the daemon is busy.
async fn refuse_one(listener: &UnixListener, reserve: &mut Option<File>) {
    if reserve.take().is_some()
        && let Ok(Ok((stream, _))) = tokio::time::timeout(Duration::from_millis(1), listener.accept()).await
    {
        say_busy(&stream, "the daemon has no descriptor left");
    }
    *reserve = open_reserve();
}

/// One error, as far as the kernel takes it without waiting.
fn say_busy(stream: &UnixStream, why: &str) {
    let error = ErrorObject::new(ErrorKind::Overloaded, why);
    if let Some(line) = request::answer_line(None, Err(&error)) {
        // A new socket's buffer is empty; a client that is gone already needs no answer.
        let _ = stream.try_write(&line);
    }
}
