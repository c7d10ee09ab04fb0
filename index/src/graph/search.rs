//! The graph itself: insert, remove, search. It must not know of files or of how it is scheduled.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use hnsw_rs::prelude::{Hnsw, Neighbour};
use parking_lot::{Mutex, MutexGuard, RwLock};
use xxhash_rust::xxh3::xxh3_128;

use super::metric::{SphereDistance, passage_point, point_bytes, query_point};
use super::nodes::{Nodes, Placed};
use super::{EF_CONSTRUCTION, LAYERS, LINK_BYTES, LINKS};
use crate::limits::GRAPH_FETCH_MAX;
use crate::vector::{Block, VectorError, check_vector, encode, row_len};

/// A graph is worth rebuilding when one node in this many is dead.
const DEAD_SHARE: usize = 5;

/// Why the graph gave no answer. The exact scan gives one.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum GraphError {
    /// A vector is refused at the door.
    #[error(transparent)]
    Vector(#[from] VectorError),
    /// The filter is too strong for a graph: too few of the nearest pass it.
    #[error("only {found} of {wanted} neighbours pass the filter among the nearest {fetched}")]
    FilterTooStrong {
        /// Slots asked for.
        wanted: usize,
        /// Slots that passed.
        found: usize,
        /// Nodes looked at.
        fetched: usize,
    },
    /// `hnsw_rs` panicked, now or before; the graph is to be rebuilt.
    #[error("the graph is broken and has to be rebuilt")]
    Broken,
}

/// An approximate index over the vectors of one space. All methods take `&self` and may run at once: searches beside each other and beside
/// one insertion; insertions wait for each other. Dropping a large graph takes seconds: do it on a blocking thread.
pub struct Graph {
    dimension: usize,
    pub(super) hnsw: Hnsw<'static, i8, SphereDistance>,
    pub(super) nodes: RwLock<Nodes>,
    /// Held while the links change or are dumped.
    growing: Mutex<()>,
    broken: AtomicBool,
}

impl std::fmt::Debug for Graph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Graph")
            .field("dimension", &self.dimension)
            .field("nodes", &self.nodes.read().len())
            .finish_non_exhaustive()
    }
}

impl Graph {
    /// An empty graph for vectors of `dimension`, with room planned for `vectors_expected`.
    pub fn new(dimension: usize, vectors_expected: usize) -> Self {
        let hnsw = Hnsw::new(LINKS, vectors_expected.max(1), LAYERS, EF_CONSTRUCTION, SphereDistance);
        Self::from_parts(dimension, hnsw, Nodes::default())
    }

    pub(super) fn from_parts(dimension: usize, hnsw: Hnsw<'static, i8, SphereDistance>, nodes: Nodes) -> Self {
        Self { dimension, hnsw, nodes: RwLock::new(nodes), growing: Mutex::new(()), broken: AtomicBool::new(false) }
    }

    /// Dimension of the vectors.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Slots that have a vector here.
    pub fn len(&self) -> usize {
        self.nodes.read().slot_count()
    }

    /// Whether no slot has a vector here.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Nodes, one a distinct vector, dead ones counted.
    pub fn node_count(&self) -> usize {
        self.nodes.read().len()
    }

    /// Memory, estimated from the number of nodes, bytes.
    pub fn memory_bytes(&self) -> usize {
        Self::expected_bytes(self.dimension, self.node_count())
    }

    /// The same for a graph of so many distinct vectors.
    pub fn expected_bytes(dimension: usize, vectors: usize) -> usize {
        vectors.saturating_mul(point_bytes(dimension) + LINK_BYTES)
    }

    /// True when a fifth of the nodes are dead or the graph broke: build a new one and swap. Tombstones keep their vectors until then.
    pub fn wants_rebuild(&self) -> bool {
        let nodes = self.nodes.read();
        self.is_broken() || (nodes.dead() > 0 && nodes.dead() * DEAD_SHARE >= nodes.len())
    }

    /// Whether `hnsw_rs` panicked in this graph.
    pub fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Acquire)
    }

    /// Sets the vector of `slot`, in the place of the one it may have. Takes one to two milliseconds in a large graph; a vector that another
    /// slot has already costs next to nothing.
    ///
    /// # Errors
    /// A vector that [`check_vector`] refuses, or a broken graph.
    pub fn insert(&self, slot: u32, vector: &[f32]) -> Result<(), GraphError> {
        check_vector(vector, self.dimension)?;
        let mut codes = vec![0; row_len(self.dimension)];
        let scale = encode(vector, &mut codes);
        self.insert_coded(slot, &codes, scale)
    }

    /// As [`insert`](Self::insert), for a row of a block of the same dimension.
    pub(crate) fn insert_coded(&self, slot: u32, codes: &[i8], scale: f32) -> Result<(), GraphError> {
        let point = passage_point(codes, scale);
        let _growing = self.growing.lock();
        let placed = self.nodes.write().place(slot, hash(&point));
        match placed {
            Placed::Known => Ok(()),
            Placed::New(node) => self.guarded(|| self.hnsw.insert((&point, node as usize))),
        }
    }

    /// Forgets `slot`: no search returns it from now on. Its node stays as a tombstone when no other slot has its vector. False when it has none.
    pub fn remove(&self, slot: u32) -> bool {
        self.nodes.write().remove(slot)
    }

    /// Makes the graph hold what `block` holds: for a graph that was built or loaded while its block changed. Returns how many slots changed.
    ///
    /// # Errors
    /// A block of another dimension, or a broken graph.
    pub fn reconcile(&self, block: &Block) -> Result<usize, GraphError> {
        if block.dimension() != self.dimension {
            return Err(VectorError::Dimension { expected: self.dimension, got: block.dimension() }.into());
        }
        let gone: Vec<u32> = self.nodes.read().slots().filter(|&slot| !block.contains(slot)).collect();
        let mut changed = gone.into_iter().filter(|&slot| self.remove(slot)).count();
        for (slot, codes, scale) in block.iter() {
            if !self.nodes.read().holds(slot, hash(&passage_point(codes, scale))) {
                self.insert_coded(slot, codes, scale)?;
                changed += 1;
            }
        }
        Ok(changed)
    }

    /// About the `k` slots nearest to `query` (norm 1) among those that `eligible` lets through, best first, with approximate cosines, ties by
    /// the lower slot. Re-score them in f32. `ef` is how many nodes the walk keeps at least: more find more and take longer.
    ///
    /// The filter is applied behind the walk, which is widened as long as too few pass: fit for weak filters. Where a filter lets through fewer than one in
    /// ten, scan exactly. `eligible` must not call into this graph.
    ///
    /// # Errors
    /// [`GraphError::FilterTooStrong`] when the widest walk finds fewer than `k`; a query that the door refuses; a broken graph.
    pub fn search(
        &self,
        query: &[f32],
        k: usize,
        ef: usize,
        mut eligible: impl FnMut(u32) -> bool,
    ) -> Result<Vec<(u32, f32)>, GraphError> {
        check_vector(query, self.dimension)?;
        let point = query_point(query);
        let nodes = self.nodes.read().len();
        if k == 0 || nodes == 0 {
            return Ok(Vec::new());
        }
        let widest = nodes.min(GRAPH_FETCH_MAX);
        let mut fetch = k.saturating_mul(2).saturating_add(16).min(widest);
        loop {
            let ef = ef.clamp(fetch, GRAPH_FETCH_MAX.max(fetch));
            let neighbours = self.guarded(|| self.hnsw.search(&point, fetch, ef))?;
            let mut found = self.expand(&neighbours, &mut eligible);
            if found.len() >= k || fetch >= widest {
                found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
                found.truncate(k);
                if found.len() < k && widest < nodes {
                    return Err(GraphError::FilterTooStrong { wanted: k, found: found.len(), fetched: widest });
                }
                return Ok(found);
            }
            fetch = fetch.saturating_mul(4).min(widest);
        }
    }

    /// The eligible slots of some nodes, each with its node's cosine.
    fn expand(&self, neighbours: &[Neighbour], eligible: &mut impl FnMut(u32) -> bool) -> Vec<(u32, f32)> {
        let nodes = self.nodes.read();
        let mut found = Vec::with_capacity(neighbours.len());
        for neighbour in neighbours {
            for &slot in nodes.slots_of(neighbour.d_id) {
                if eligible(slot) {
                    found.push((slot, 1.0 - neighbour.distance));
                }
            }
        }
        found
    }

    /// Keeps links and nodes as they are while the guard lives.
    pub(super) fn pause(&self) -> MutexGuard<'_, ()> {
        self.growing.lock()
    }

    /// Runs a call into `hnsw_rs`. It should not panic behind the door; should it all the same, the graph serves no more.
    pub(super) fn guarded<R>(&self, call: impl FnOnce() -> R) -> Result<R, GraphError> {
        if self.is_broken() {
            return Err(GraphError::Broken);
        }
        catch_unwind(AssertUnwindSafe(call)).map_err(|_| {
            self.broken.store(true, Ordering::Release);
            tracing::error!("the vector graph panicked and will be rebuilt");
            GraphError::Broken
        })
    }
}

fn hash(point: &[i8]) -> u128 {
    let bytes: Vec<u8> = point.iter().map(|&code| code as u8).collect();
    xxh3_128(&bytes)
}
