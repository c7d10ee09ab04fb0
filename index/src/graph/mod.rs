//! Approximate vector search for spaces too large to scan: `hnsw_rs` behind a face that cannot panic, exit or read out of bounds.
//! It must not know texts, models or when it is worth using; the exact scan of [`vector`](crate::vector) stays the oracle.
//!
//! What `hnsw_rs` cannot do is done here: one node a distinct vector with the slots outside (clones at the start of a graph hide later points),
//! removals as tombstones, vectors checked at the door, a seeded shuffle on every build, and dumps that are read only when the checksums of whole
//! files match (on damaged ones the crate exits the process or reads out of bounds).

mod builder;
mod metric;
mod nodes;
mod search;
mod snapshot;

pub use builder::GraphBuilder;
pub use search::{Graph, GraphError};
pub use snapshot::{GraphStamp, SnapshotError, load_snapshot, write_snapshot};

/// Links of a node on the upper layers; twice as many on the lowest (M of the HNSW paper, Malkov and Yashunin 2016).
const LINKS: usize = 16;
/// Candidates looked at for the links of a new node.
const EF_CONSTRUCTION: usize = 200;
/// Layers, as many as `hnsw_rs` has; its dumps ask for all of them.
const LAYERS: usize = 16;
/// Memory that the links of a node and the maps to its slots take, bytes: measured with these parameters, resident, at 100,000 nodes.
const LINK_BYTES: usize = 4_150;

#[cfg(test)]
mod tests;
