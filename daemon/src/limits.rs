//! Every limit of the daemon: flat, named, with its unit last, grouped by the room that keeps it.
//!
//! What clients need to know of them is listed by [`table`] and sent in `initialize`. Must not know: who asks.

use std::collections::BTreeMap;

// --- rpc: what a connection may do -------------------------------------------------------------------------------

/// Longest line a client may send, without its line end.
pub const FRAME_BYTES_MAX: usize = 8 << 20;
/// Deepest nesting of objects and arrays in a line.
pub const FRAME_DEPTH_MAX: usize = 64;
/// Most members and elements in a line.
pub const FRAME_ELEMENTS_MAX: usize = 131_072;
/// Bytes of unfinished and unanswered lines held for all connections together, beyond [`FRAME_BYTES_FREE`] each.
pub const FRAMES_BYTES_TOTAL_MAX: usize = 64 << 20;
/// Bytes of a line that are not counted against [`FRAMES_BYTES_TOTAL_MAX`].
pub const FRAME_BYTES_FREE: usize = 64 << 10;
/// Bytes taken from a socket at once.
pub const READ_BYTES: usize = 32 << 10;
/// Longest id of a request, as text.
pub const REQUEST_ID_BYTES_MAX: usize = 256;
/// Longest name of a client kept for the audit, in characters.
pub const CLIENT_NAME_CHARS_MAX: usize = 64;
/// Time from connecting to the end of the first line.
pub const FIRST_FRAME_MS_MAX: u64 = 10_000;
/// Time from the first byte of a line to its end.
pub const FRAME_MS_MAX: u64 = 60_000;
/// Bytes queued for a client that reads slowly; deltas beyond are dropped and told by `events/gap`.
pub const OUTGOING_BYTES_MAX: usize = 1 << 20;
/// Time a client may take none of the bytes queued for it before its connection is closed.
pub const WRITE_STALL_MS_MAX: u64 = 30_000;
/// Time for the last lines of a connection that the daemon closes.
pub const LINGER_MS_MAX: u64 = 1_000;
/// Requests of one connection in flight.
pub const REQUESTS_PER_CONNECTION_MAX: usize = 64;
/// Requests of all connections in flight.
pub const REQUESTS_MAX: usize = 1_024;
/// Connections at once.
pub const CONNECTIONS_MAX: usize = 1_024;
/// Length of the kernel's queue of connections not yet accepted.
pub const ACCEPT_BACKLOG: i32 = 1_024;
/// Pause of the listener when descriptors are used up.
pub const ACCEPT_PAUSE_MS: u64 = 50;

// --- run: start and stop -----------------------------------------------------------------------------------------

/// Time a request waits for a store that is still being opened.
pub const READY_WAIT_MS_MAX: u64 = 60_000;
/// Time requests in flight get to end when the daemon stops.
pub const DRAIN_MS_MAX: u64 = 5_000;
/// Time cancelled requests and closing connections get after that.
pub const DRAIN_CANCELLED_MS_MAX: u64 = 1_500;
/// Threads for blocking work.
pub const BLOCKING_THREADS_MAX: usize = 64;
/// Computations (recalls and the like) at once, for each core.
pub const COMPUTATIONS_PER_CORE: usize = 2;

/// The limits a client can run into, by the name `initialize` gives them.
pub fn table() -> BTreeMap<String, u64> {
    let limits: &[(&str, usize)] = &[
        ("frameBytesMax", FRAME_BYTES_MAX),
        ("frameDepthMax", FRAME_DEPTH_MAX),
        ("frameElementsMax", FRAME_ELEMENTS_MAX),
        ("requestsPerConnectionMax", REQUESTS_PER_CONNECTION_MAX),
        ("connectionsMax", CONNECTIONS_MAX),
        ("outgoingBytesMax", OUTGOING_BYTES_MAX),
    ];
    limits.iter().map(|(name, value)| ((*name).to_owned(), *value as u64)).collect()
}
