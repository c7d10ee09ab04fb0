//! Builds a graph on a thread of its own. It must not know when one is wanted or what is done with it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::search::{Graph, GraphError};
use crate::limits::GRAPH_BUILD_MS_MAX;
use crate::vector::Block;

/// A build under way. One thread, one insertion after the other in an order that depends on the seed and the slots alone: equal input gives an equal
/// graph. What changes meanwhile is caught up with by [`Graph::reconcile`]. Dropping the builder cancels the build.
#[derive(Debug)]
pub struct GraphBuilder {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<Result<Option<Graph>, GraphError>>>,
}

#[derive(Debug)]
struct Shared {
    cancelled: AtomicBool,
    done: AtomicUsize,
    total: usize,
}

impl GraphBuilder {
    /// Begins to build from a copy of a block. The shuffle keeps near-equal neighbours from standing together at the start of the graph.
    /// `on_end` is called on the thread once [`finish`](Self::finish) would no longer wait (bar the thread's own end).
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(block: Block, seed: u64, on_end: impl FnOnce() + Send + 'static) -> io::Result<Self> {
        let shared = Arc::new(Shared { cancelled: AtomicBool::new(false), done: AtomicUsize::new(0), total: block.len() });
        let seen = Arc::clone(&shared);
        let thread = thread::Builder::new().name("graph-build".into()).spawn(move || {
            let built = build(&block, seed, &seen);
            on_end();
            built
        })?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Vectors inserted so far, and in all.
    pub fn progress(&self) -> (usize, usize) {
        (self.shared.done.load(Ordering::Relaxed), self.shared.total)
    }

    /// Asks the build to end after the vector at hand.
    pub fn cancel(&self) {
        self.shared.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether [`finish`](Self::finish) would not wait.
    pub fn is_finished(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for the end: the graph, or `None` when it was cancelled or took too long.
    ///
    /// # Errors
    /// When the graph broke while it was built.
    pub fn finish(mut self) -> Result<Option<Graph>, GraphError> {
        match self.thread.take() {
            Some(thread) => thread.join().unwrap_or(Err(GraphError::Broken)),
            None => Ok(None),
        }
    }
}

impl Drop for GraphBuilder {
    fn drop(&mut self) {
        self.cancel();
    }
}

fn build(block: &Block, seed: u64, shared: &Shared) -> Result<Option<Graph>, GraphError> {
    let begun = Instant::now();
    let graph = Graph::new(block.dimension(), block.len());
    for slot in shuffled(block, seed) {
        if shared.cancelled.load(Ordering::Relaxed) || begun.elapsed() > Duration::from_millis(GRAPH_BUILD_MS_MAX) {
            return Ok(None);
        }
        if let Some((codes, scale)) = block.get(slot) {
            graph.insert_coded(slot, codes, scale)?;
        }
        shared.done.fetch_add(1, Ordering::Relaxed);
    }
    Ok(Some(graph))
}

/// The block's slots in an order that depends on nothing but them and the seed (Fisher-Yates over the sorted slots, SplitMix64).
fn shuffled(block: &Block, mut seed: u64) -> Vec<u32> {
    let mut slots: Vec<u32> = block.iter().map(|(slot, ..)| slot).collect();
    slots.sort_unstable();
    for last in (1..slots.len()).rev() {
        seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = seed;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        slots.swap(last, (mixed % (last as u64 + 1)) as usize);
    }
    slots
}
