//! Writes what waits for a client, and gives up on one that takes nothing.
//!
//! Must not know: what the lines say.

use crate::connection::ConnectionHandle;
use crate::limits::WRITE_STALL_MS_MAX;
use std::time::Duration;
use tokio::net::UnixStream;

/// Writes until the connection is closed.
pub async fn write(stream: &UnixStream, handle: &ConnectionHandle) {
    loop {
        tokio::select! {
            biased;
            () = handle.closed() => return,
            () = handle.filled() => {}
        }
        if let Err(why) = write_waiting(stream, handle).await {
            tracing::info!(connection = handle.id(), "connection closed: {why}");
            handle.close();
            return;
        }
    }
}

/// Writes all that waits.
async fn write_waiting(stream: &UnixStream, handle: &ConnectionHandle) -> Result<(), &'static str> {
    while let Some(bytes) = handle.front() {
        match stream.try_write(&bytes) {
            Ok(written) => handle.advance(written),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => wait(stream, handle).await?,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return Err("the client is gone"),
        }
    }
    Ok(())
}

/// Waits until the client has taken something.
async fn wait(stream: &UnixStream, handle: &ConnectionHandle) -> Result<(), &'static str> {
    tokio::select! {
        () = handle.closed() => Err("it was ended"),
        ready = tokio::time::timeout(Duration::from_millis(WRITE_STALL_MS_MAX), stream.writable()) => match ready {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err("the client is gone"),
            Err(_) => Err("the client did not read for too long"),
        },
    }
}
