//! Keeps the approximate graphs: builds one for a space that has grown large, teaches it what comes later, builds another when too
//! much of it is dead, saves it at a clean stop and reads it back. It must not know how a graph works or when a search uses it.

use crate::graph::{Graph, GraphBuilder, GraphError, GraphStamp, load_snapshot, write_snapshot};
use crate::lexical::Work;
use crate::limits::{GRAPH_BUILDS_MAX, GRAPH_ROUND_VECTORS_MAX, GRAPH_VECTORS_MAX, GRAPHS_BYTES_MAX};
use crate::snapshot::remove;
use crate::state::State;
use crate::state::space::Space;
use crate::vector::Block;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Start of the name of a saved graph; its space follows.
const SAVED: &str = "graph-";

/// The graphs of an index. Lives on the thread behind it.
pub(crate) struct Graphs {
    work: Arc<Work>,
    dir: PathBuf,
    builds: HashMap<u32, (u64, Build)>,
    /// Graphs in use, so that dropping one, which takes long, happens here and not under the lock.
    held: HashMap<u32, Arc<Graph>>,
    /// Spaces whose build came to nothing, or for whose graph there is no memory: compared exactly until the next start.
    given_up: HashSet<u32>,
    next_build: u64,
}

/// A graph on its way. `ended` is set by its thread as the last thing but one: waiting for it is then a matter of microseconds.
struct Build {
    ended: Arc<AtomicBool>,
    source: Source,
}

enum Source {
    Making(GraphBuilder),
    Reading(JoinHandle<Option<Graph>>),
}

impl Build {
    /// The graph; `None` when there is none after all.
    fn finish(self) -> Option<Graph> {
        match self.source {
            Source::Making(builder) => builder.finish().ok().flatten(),
            Source::Reading(thread) => thread.join().ok().flatten(),
        }
    }
}

impl Graphs {
    /// Graphs for the index whose folder is `dir`.
    pub(crate) fn new(work: Arc<Work>, dir: PathBuf) -> Self {
        Self { work, dir, builds: HashMap::new(), held: HashMap::new(), given_up: HashSet::new(), next_build: 1 }
    }

    /// One round: takes finished graphs into use, begins new ones, teaches some of what came later.
    pub(crate) fn maintain(&mut self) {
        self.adopt_finished();
        self.drop_too_large();
        self.let_go();
        self.begin_wanted();
        if self.teach() {
            self.work.nudge();
        }
    }

    fn adopt_finished(&mut self) {
        let finished: Vec<u32> =
            self.builds.iter().filter(|(_, (_, build))| build.ended.load(Ordering::Acquire)).map(|(&number, _)| number).collect();
        for number in finished {
            let Some((id, build)) = self.builds.remove(&number) else { continue };
            let made = matches!(build.source, Source::Making(_));
            let graph = build.finish().map(Arc::new);
            if made && graph.is_none() {
                tracing::warn!("a vector graph was not built, or not in time; vectors are compared exactly");
                self.given_up.insert(number);
            }
            let mut state = self.work.state.write();
            let Some(space) = state.spaces.get_mut(&number).filter(|space| space.approximate.build == Some(id)) else { continue };
            let old = match graph {
                Some(graph) => {
                    space.approximate.adopt(Arc::clone(&graph));
                    self.held.insert(number, graph)
                }
                None => {
                    space.approximate.build = None;
                    None
                }
            };
            drop(state);
            drop(old);
        }
    }

    /// Drops graphs that are no longer in use.
    fn let_go(&mut self) {
        let state = self.work.state.read();
        let in_use = |number: &u32, graph: &Arc<Graph>| {
            state
                .spaces
                .get(number)
                .and_then(|space| space.approximate.graph.as_ref())
                .is_some_and(|used| Arc::ptr_eq(used, graph))
        };
        let (kept, dropped): (HashMap<_, _>, HashMap<_, _>) =
            self.held.drain().partition(|(number, graph)| in_use(number, graph));
        drop(state);
        self.held = kept;
        drop(dropped);
    }

    /// Graphs of spaces that have outgrown every graph are used no more.
    fn drop_too_large(&mut self) {
        let is_too_large = |space: &Space| space.approximate.graph.is_some() && space.vectors.len() > GRAPH_VECTORS_MAX;
        if self.work.state.read().spaces.values().any(is_too_large) {
            let mut state = self.work.state.write();
            state.spaces.values_mut().filter(|space| is_too_large(space)).for_each(|space| space.approximate.drop_graph());
        }
    }

    fn begin_wanted(&mut self) {
        let sizes = self.work.settings.graph_vectors_min.max(1)..=GRAPH_VECTORS_MAX;
        let wanted: Vec<(u32, usize)> = {
            let state = self.work.state.read();
            let large = state.spaces.iter().filter(|(number, space)| {
                sizes.contains(&space.vectors.len()) && space.approximate.build.is_none() && !self.given_up.contains(number)
            });
            large
                .filter(|(_, space)| space.approximate.graph.as_ref().is_none_or(|graph| graph.wants_rebuild()))
                .map(|(&number, space)| (number, Graph::expected_bytes(space.vectors.dimension(), space.vectors.len())))
                .take(GRAPH_BUILDS_MAX.saturating_sub(self.builds.len()))
                .collect()
        };
        for (number, bytes) in wanted {
            let old = self.held.get(&number).map_or(0, |graph| graph.memory_bytes());
            let held = self.held.values().map(|graph| graph.memory_bytes()).sum();
            match room(held, old, bytes) {
                Room::Beside => {}
                Room::InPlace => {
                    if let Some(space) = self.work.state.write().spaces.get_mut(&number) {
                        space.approximate.drop_graph();
                    }
                    self.let_go();
                }
                Room::Nowhere => {
                    tracing::warn!(bytes, "no room for another vector graph; vectors are compared exactly");
                    self.given_up.insert(number);
                    continue;
                }
            }
            let id = self.next_build;
            self.next_build += 1;
            let (block, first) = {
                let mut state = self.work.state.write();
                let Some(space) = state.spaces.get_mut(&number) else { continue };
                let approximate = &mut space.approximate;
                approximate.build = Some(id);
                approximate.added.clear();
                approximate.removed.clear();
                (space.vectors.clone(), approximate.graph.is_none())
            };
            match self.begin(number, id, block, first) {
                Ok(build) => {
                    self.builds.insert(number, (id, build));
                }
                Err(error) => {
                    tracing::warn!(%error, "no thread for a vector graph; vectors are compared exactly");
                    if let Some(space) = self.work.state.write().spaces.get_mut(&number) {
                        space.approximate.build = None;
                    }
                }
            }
        }
    }

    /// Reads the saved graph if there is one and it is the space's first, else builds one.
    fn begin(&self, number: u32, seed: u64, block: Block, first: bool) -> std::io::Result<Build> {
        let ended = Arc::new(AtomicBool::new(false));
        let (work, flag) = (Arc::clone(&self.work), Arc::clone(&ended));
        let on_end = move || {
            flag.store(true, Ordering::Release);
            work.nudge();
        };
        let Some(folder) = self.saved(number).filter(|_| first) else {
            return Ok(Build { ended, source: Source::Making(GraphBuilder::start(block, seed, on_end)?) });
        };
        let identity = self.identity(number);
        let thread = std::thread::Builder::new().name("graph-read".into()).spawn(move || {
            let graph = catch_unwind(AssertUnwindSafe(|| read(&folder, &identity, &block))).ok().flatten();
            // Read once: what is on disk is behind from now on, and what did not fit is of no use.
            let _ = remove(&folder);
            on_end();
            graph
        })?;
        Ok(Build { ended, source: Source::Reading(thread) })
    }

    /// Puts some waiting vectors into their graphs. True when more wait.
    fn teach(&mut self) -> bool {
        let mut more = false;
        let with_graph: Vec<(u32, Arc<Graph>)> = {
            let state = self.work.state.read();
            let spaces = state.spaces.iter().filter(|(_, space)| !space.approximate.waiting.is_empty());
            spaces.filter_map(|(&number, space)| Some((number, Arc::clone(space.approximate.graph.as_ref()?)))).collect()
        };
        for (number, graph) in with_graph {
            let rows = waiting_rows(&self.work.state.read(), number);
            let taught = rows.len();
            let failed = rows
                .into_iter()
                .flatten()
                .any(|(at, codes, scale)| matches!(graph.insert_coded(at, &codes, scale), Err(GraphError::Broken)));
            let mut state = self.work.state.write();
            let Some(space) = state.spaces.get_mut(&number) else { continue };
            if failed {
                space.approximate.graph = None;
            }
            space.approximate.waiting.drain(..taught.min(space.approximate.waiting.len()));
            more |= !space.approximate.waiting.is_empty();
        }
        more
    }

    /// Saves every graph in use, for the next start. To be called when nothing changes any more.
    pub(crate) fn save(dir: &Path, work: &Work) {
        let graphs: Vec<(u32, u64, Arc<Graph>)> = {
            let state = work.state.read();
            let spaces = state.spaces.iter();
            spaces
                .filter_map(|(&number, space)| Some((number, state.seq, Arc::clone(space.approximate.graph.as_ref()?))))
                .collect()
        };
        for (number, watermark, graph) in graphs {
            let folder = dir.join(format!("{SAVED}{number}"));
            let stamp = GraphStamp { identity: identity(work, number), watermark };
            let saved = remove(&folder)
                .map_err(|error| error.to_string())
                .and_then(|()| write_snapshot(&graph, &folder, &stamp).map_err(|error| error.to_string()));
            if let Err(error) = saved {
                tracing::warn!(%error, "a vector graph was not saved; it will be built anew");
            }
        }
    }

    /// Gives up every graph, in use and saved, so that none holds vectors that were taken out; they are built anew.
    pub(crate) fn give_up(dir: &Path, work: &Work) -> std::io::Result<()> {
        let dropped: Vec<Arc<Graph>> = {
            let mut state = work.state.write();
            state.spaces.values_mut().filter_map(|space| space.approximate.give_up()).collect()
        };
        drop(dropped);
        for entry in fs::read_dir(dir)?.flatten() {
            if entry.file_name().to_string_lossy().starts_with(SAVED) {
                remove(&entry.path())?;
            }
        }
        work.nudge();
        Ok(())
    }

    fn saved(&self, number: u32) -> Option<PathBuf> {
        Some(self.dir.join(format!("{SAVED}{number}"))).filter(|folder| fs::symlink_metadata(folder).is_ok())
    }

    fn identity(&self, number: u32) -> String {
        identity(&self.work, number)
    }
}

/// Where a graph has room.
#[derive(Debug, PartialEq)]
enum Room {
    /// Beside all that there are.
    Beside,
    /// Once the old one of its space is gone.
    InPlace,
    Nowhere,
}

/// Where a graph of `wanted` bytes has room when all together take `held`, that of its space `old` of it.
fn room(held: usize, old: usize, wanted: usize) -> Room {
    let fits = |others: usize| others.saturating_add(wanted) <= GRAPHS_BYTES_MAX;
    match (fits(held), fits(held.saturating_sub(old))) {
        (true, _) => Room::Beside,
        (false, true) => Room::InPlace,
        (false, false) => Room::Nowhere,
    }
}

/// What must be equal for a saved graph to fit: slots mean nothing in another store, and vectors nothing in another model.
fn identity(work: &Work, number: u32) -> String {
    let identity = &work.identity;
    format!("{:02x?} {} {} {}", identity.store_id, identity.epoch, identity.model_id, number)
}

/// A saved graph that holds what `block` holds.
fn read(folder: &Path, identity: &str, block: &Block) -> Option<Graph> {
    let read = load_snapshot(folder, identity, block.dimension());
    let (graph, _) =
        read.inspect_err(|error| tracing::warn!(%error, "a saved vector graph is not used; it will be built anew")).ok()?;
    graph.reconcile(block).ok()?;
    Some(graph)
}

/// The next waiting slots of a space with their codes; `None` for one that has no vector any more.
fn waiting_rows(state: &State, number: u32) -> Vec<Option<(u32, Vec<i8>, f32)>> {
    let row = |space: &Space, at: u32| space.vectors.get(at).map(|(codes, scale)| (at, codes.to_vec(), scale));
    let Some(space) = state.spaces.get(&number) else { return Vec::new() };
    space.approximate.waiting.iter().take(GRAPH_ROUND_VECTORS_MAX).map(|&at| row(space, at)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // STORE-1
    #[test]
    fn two_graphs_of_a_space_are_held_only_where_memory_allows() {
        let third = GRAPHS_BYTES_MAX / 3;
        assert_eq!(room(0, 0, third), Room::Beside);
        assert_eq!(room(third, third, third), Room::Beside);
        assert_eq!(room(2 * third + 9, third + 9, 2 * third - 9), Room::InPlace);
        assert_eq!(room(2 * third, 0, 2 * third), Room::Nowhere);
        assert_eq!(room(0, 0, usize::MAX), Room::Nowhere);
        assert_eq!(room(0, 0, Graph::expected_bytes(192, GRAPH_VECTORS_MAX)), Room::Beside, "the largest space fits");
    }
}
