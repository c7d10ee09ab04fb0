//! The index as the daemon sees it: one lock around the state, a thread that feeds the full-text index behind it, and snapshots.
//! It must not know the store.

use crate::document::Change;
use crate::error::{IndexError, Result};
use crate::graphs::Graphs;
use crate::lexical::{Indexer, Running, Work, open_and_reconcile, stored};
use crate::limits::{FLUSH_WAIT_MS, GRAPH_VECTORS_MAX, GRAPH_VECTORS_NEVER, PURGE_WAIT_MS};
use crate::query::Query;
use crate::result::SearchResult;
use crate::search::{self, AskedModel, Context};
use crate::settings::{Calibration, Identity, ModelLeg, Settings};
use crate::snapshot;
use crate::state::State;
use crate::state::space::Space;
use parking_lot::{Mutex, RwLock};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Folder of the full-text index inside the index folder.
const LEXICAL_DIR: &str = "lexical";

/// The search index of one store. All methods take `&self` and may be called from any thread; a search holds a read lock for
/// its whole length, so what it sees is one state.
pub struct Index {
    work: Arc<Work>,
    dir: PathBuf,
    calibration: Calibration,
    model: RwLock<Option<ModelLeg>>,
    running: Mutex<Option<Running>>,
    /// Held while a snapshot is written, so that only one is.
    writing: Arc<Mutex<()>>,
}

/// An index just opened, and how much of the store it already holds.
pub struct Opened {
    /// The index.
    pub index: Index,
    /// Changes up to this store sequence are in memory: replay what comes after it. 0 means nothing is: feed every document.
    pub watermark: u64,
    /// What was found damaged, foreign or stale and is being rebuilt, in words for the log.
    pub rebuilt: Vec<String>,
}

/// Counts and sizes of the index.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stats {
    /// Documents held, of any status.
    pub documents: usize,
    /// Documents of status active.
    pub active: usize,
    /// Documents with a vector.
    pub vectors: usize,
    /// Documents and removals the full-text index does not know of yet.
    pub overlay: usize,
    /// Spaces with an approximate graph in use.
    pub graphs: usize,
    /// Documents the full-text index holds.
    pub lexical_documents: u64,
    /// Store sequence in memory.
    pub seq: u64,
    /// Store sequence up to which the full-text index holds everything.
    pub lexical_seq: u64,
    /// Store sequence of the newest snapshot, 0 when there is none.
    pub snapshot_seq: u64,
    /// Bytes of memory held, estimated.
    pub memory_bytes: usize,
    /// Bytes on disk.
    pub disk_bytes: u64,
    /// Whether [`Index::loaded`] was called.
    pub loaded: bool,
    /// Why searches are slower than usual, where they are.
    pub degraded: Option<String>,
}

/// How far the index is, of one space or of all: cheap enough for every request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Standing {
    /// Documents held, of any status.
    pub documents: usize,
    /// Of these, what the full-text index does not know of yet; of all spaces, removals too.
    pub overlay: usize,
    /// Spaces with an approximate graph in use.
    pub graphs: usize,
    /// How vectors are searched, and why so: of one space where one was asked for.
    pub vectors_why: &'static str,
    /// Store sequence in memory.
    pub seq: u64,
    /// Store sequence up to which the full-text index holds everything.
    pub lexical_seq: u64,
    /// Store sequence of the newest snapshot, 0 when there is none.
    pub snapshot_seq: u64,
    /// Why searches are slower than usual, where they are.
    pub degraded: Option<String>,
}

/// How the vectors of a space are searched, and why so.
fn vectors_why(space: Option<&Space>, graph_vectors_min: usize) -> &'static str {
    let vectors = space.map_or(0, |space| space.vectors.len());
    match space.map(|space| &space.approximate) {
        Some(approximate) if approximate.graph.is_some() => "by the graph, as the settings ask",
        _ if graph_vectors_min == GRAPH_VECTORS_NEVER => "exactly: no graph is kept unless the setting hnswFrom asks for one",
        _ if vectors < graph_vectors_min => "exactly: fewer than the setting hnswFrom",
        _ if vectors > GRAPH_VECTORS_MAX => "exactly: too many for a graph",
        Some(approximate) if approximate.build.is_some() => "exactly, while a graph is built",
        _ => "exactly: no graph could be built",
    }
}

impl Index {
    /// Opens the index in `dir` (made if missing). `store_seq` is the store's present sequence: an index that claims to be ahead
    /// of it belongs to another past and is rebuilt. What is damaged, foreign or stale is removed and rebuilt; that is no error.
    ///
    /// # Errors
    /// [`IndexError::Folder`] when the folder cannot be made.
    pub fn open(dir: &Path, identity: Identity, settings: Settings, store_seq: u64, calibration: Calibration) -> Result<Opened> {
        fs::create_dir_all(dir).map_err(|source| IndexError::Folder { path: dir.to_owned(), source })?;
        let loaded = snapshot::load(dir, &identity, store_seq);
        let watermark = loaded.state.seq;
        let work = Arc::new(Work::new(loaded.state, identity, settings, dir.join(LEXICAL_DIR)));
        let index = Self {
            work,
            dir: dir.to_owned(),
            calibration,
            model: RwLock::new(None),
            running: Mutex::new(None),
            writing: Arc::default(),
        };
        Ok(Opened { index, watermark, rebuilt: loaded.removed })
    }

    /// Says that every change of the store up to `seq` has been applied; to be called once after the replay that follows `open` (or
    /// [`Index::clear`]). The full-text index is opened and compared with memory, and the thread behind it begins. Gives what was
    /// found damaged, foreign or stale in it, in words for the log; that is being rebuilt while searches are served from memory.
    pub fn loaded(&self, seq: u64) -> Vec<String> {
        let mut running = self.running.lock();
        *running = None;
        let seq = {
            let mut state = self.work.state.write();
            state.seq = state.seq.max(seq);
            state.loaded = true;
            state.seq
        };
        let (writer, notes) = match open_and_reconcile(&self.work, seq) {
            Ok((writer, rebuilt)) => {
                (Some(writer), rebuilt.into_iter().map(|reason| format!("full-text index: {reason}")).collect())
            }
            Err(reason) => {
                self.work.state.write().trouble = Some(reason.clone());
                (None, vec![format!("full-text index: {reason}")])
            }
        };
        match Indexer::spawn(Arc::clone(&self.work), writer, self.after_round()) {
            Ok(thread) => {
                *running = Some(thread);
                self.work.start();
            }
            Err(error) => self.work.state.write().trouble = Some(format!("no thread for it: {error}")),
        }
        notes
    }

    /// What the thread does after each round: a snapshot when enough has changed, and the graphs.
    fn after_round(&self) -> Box<dyn FnMut() + Send> {
        let (work, dir, writing) = (Arc::clone(&self.work), self.dir.clone(), Arc::clone(&self.writing));
        let mut graphs = Graphs::new(Arc::clone(&work), dir.clone());
        Box::new(move || {
            let due = {
                let state = work.state.read();
                state.changes >= work.settings.snapshot_changes_min.max(state.len() / 10)
            };
            if due {
                let _one = writing.lock();
                if let Err(error) = snapshot::write(&dir, &work.identity, &work.state) {
                    tracing::warn!(%error, "snapshot not written; the next start replays more");
                }
            }
            graphs.maintain();
        })
    }

    /// Applies changes in the order of their sequences. Visible to every search that starts after it returns. A change that is
    /// not newer than what is held for its key is passed over, so a replay may repeat.
    pub fn apply(&self, changes: Vec<Change>) {
        let mut changed = 0;
        {
            let mut state = self.work.state.write();
            for change in changes {
                changed += usize::from(state.apply(change));
            }
        }
        if changed > 0 {
            self.work.changed(changed);
        }
    }

    /// Notes that a document was used: decay counts from then, and slower. Not replayed: give it with the document after a rebuild.
    pub fn touch(&self, key: u64, last_used_at_ms: i64, use_count: u32) {
        self.work.state.write().touch(key, last_used_at_ms, use_count);
    }

    /// Begins with vectors of a model beside the built-in one, or ends it with `None`; those of the one before are gone. Its vectors
    /// come with documents and by [`Index::put_model_vectors`]; they are not in snapshots, so every opening begins without a model.
    pub fn use_model(&self, leg: Option<ModelLeg>) {
        let mut model = self.model.write();
        self.work.state.write().use_model(leg.as_ref().map_or(0, |leg| leg.dim));
        *model = leg;
    }

    /// Sets the model's vectors of documents: key, sequence of the state it is for, vector. What is at another state by now, is not there,
    /// or is no sound vector is passed over.
    pub fn put_model_vectors(&self, vectors: &[(u64, u64, Vec<f32>)]) {
        let mut state = self.work.state.write();
        for (key, seq, vector) in vectors {
            state.put_model_vector(*key, *seq, vector);
        }
    }

    /// Documents that have a vector of the model in use beside the built-in one.
    pub fn model_vectors(&self) -> usize {
        self.work.state.read().spaces.values().map(|space| space.model_vectors.len()).sum()
    }

    /// Searches. Never fails: what cannot be served as usual is said in `degraded`. Blocks for a millisecond or two at 100,000
    /// documents.
    pub fn search(&self, query: &Query<'_>) -> SearchResult {
        let vector = query.vector.filter(|vector| vector.len() == self.work.identity.dim && vector.iter().all(|x| x.is_finite()));
        let scale = vector.map(|vector| (self.calibration)(vector));
        let model = self.model.read().clone();
        let asked = model.as_ref().zip(query.model_vector).filter(|(leg, vector)| leg.dim == vector.len());
        let model = asked
            .filter(|(_, vector)| vector.iter().all(|x| x.is_finite()))
            .map(|(leg, vector)| AskedModel::new(leg, vector, scale));
        let scale = scale.or_else(|| model.as_ref().map(|model| model.scale));
        let query = Query { vector, ..query.clone() };
        let context = Context { settings: &self.work.settings, scale, model: model.as_ref() };
        let (result, damaged) = search::search(&self.work.state.read(), &query, &context);
        if let Some(reason) = damaged {
            self.work.suspect(reason);
        }
        result
    }

    /// Length of its vectors.
    pub(crate) fn dimension(&self) -> usize {
        self.work.identity.dim
    }

    /// Looks at the state under its read lock.
    pub(crate) fn with_state<R>(&self, look: impl FnOnce(&State, &Settings) -> R) -> R {
        look(&self.work.state.read(), &self.work.settings)
    }

    /// Epoch of the store it was opened for.
    pub fn epoch(&self) -> u64 {
        self.work.identity.epoch
    }

    /// Waits until the full-text index holds every change applied so far.
    ///
    /// # Errors
    /// [`IndexError::Lexical`] when it cannot be written now, [`IndexError::TimedOut`] after two minutes.
    pub fn flush(&self) -> Result<()> {
        self.work.flush(Duration::from_millis(FLUSH_WAIT_MS)).map_err(|reason| match reason {
            Some(reason) => IndexError::Lexical(reason),
            None => IndexError::TimedOut(FLUSH_WAIT_MS),
        })
    }

    /// Waits until every space that is large enough has an approximate graph that knows all of its vectors; for tests and measurements.
    /// False when that took longer than `wait_ms`.
    pub fn wait_for_graphs(&self, wait_ms: u64) -> bool {
        self.work.nudge();
        let least = self.work.settings.graph_vectors_min;
        self.work.wait_until(Duration::from_millis(wait_ms), || {
            let state = self.work.state.read();
            let mut large = state.spaces.values().filter(|space| space.vectors.len() >= least);
            large.all(|space| {
                space.approximate.graph.is_some() && space.approximate.build.is_none() && space.approximate.waiting.is_empty()
            })
        })
    }

    /// Writes a snapshot now; without effect before [`Index::loaded`].
    ///
    /// # Errors
    /// [`IndexError::Snapshot`]; the older snapshot is then still there.
    pub fn snapshot(&self) -> Result<()> {
        let _one = self.writing.lock();
        snapshot::write(&self.dir, &self.work.identity, &self.work.state)
            .map(|_| ())
            .map_err(|error| IndexError::Snapshot(error.to_string()))
    }

    /// Shows what the compressed files of the full-text index hold, and its terms; `show` answers whether to go on.
    ///
    /// # Errors
    /// [`IndexError::Lexical`] when they cannot be read.
    pub fn stored(&self, show: &mut dyn FnMut(&[u8]) -> bool) -> Result<()> {
        stored(&self.work.dir, show).map_err(IndexError::Lexical)
    }

    /// Leaves nothing on disk of what was taken out: segments of the full-text index with deleted documents are merged and their files
    /// deleted. Searches go on. Blocks.
    ///
    /// # Errors
    /// As [`Index::flush`].
    pub fn purge_lexical(&self) -> Result<()> {
        self.work.purge(Duration::from_millis(PURGE_WAIT_MS)).map_err(|reason| match reason {
            Some(reason) => IndexError::Lexical(reason),
            None => IndexError::TimedOut(PURGE_WAIT_MS),
        })
    }

    /// The same of vectors: graphs are given up, to be built anew, and a snapshot takes the place of the ones before. Blocks.
    ///
    /// # Errors
    /// [`IndexError::Snapshot`], also while the index is not loaded, and where an older one cannot be removed.
    pub fn purge_vectors(&self) -> Result<()> {
        let failed = |error: std::io::Error| IndexError::Snapshot(error.to_string());
        Graphs::give_up(&self.dir, &self.work).map_err(failed)?;
        let _one = self.writing.lock();
        let written = snapshot::write(&self.dir, &self.work.identity, &self.work.state).map_err(failed)?;
        let seq = written.ok_or_else(|| IndexError::Snapshot("the index is not loaded yet".to_owned()))?;
        snapshot::keep_only(&self.dir, seq).map_err(failed)
    }

    /// Clean stop: flush, snapshot, end of the thread. Searches still work afterwards; changes no longer reach the disk.
    ///
    /// # Errors
    /// The first of what failed; the thread ends in any case.
    pub fn close(&self) -> Result<()> {
        let flushed = if self.running.lock().is_some() { self.flush() } else { Ok(()) };
        let saved = self.snapshot();
        if let Some(mut running) = self.running.lock().take() {
            running.stop();
            Graphs::save(&self.dir, &self.work);
        }
        flushed.and(saved)
    }

    /// Forgets everything, in memory and on disk, to be fed every document anew and then told [`Index::loaded`].
    ///
    /// # Errors
    /// [`IndexError::Folder`] when the disk does not let go; memory is empty all the same.
    pub fn clear(&self) -> Result<()> {
        *self.running.lock() = None;
        let _one = self.writing.lock();
        {
            let mut state = self.work.state.write();
            let model_dim = state.model_dim;
            *state = State::new(self.work.identity.dim);
            state.model_dim = model_dim;
        }
        self.work.reset();
        fs::remove_dir_all(&self.dir)
            .or_else(|error| if error.kind() == std::io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
            .and_then(|()| fs::create_dir_all(&self.dir))
            .map_err(|source| IndexError::Folder { path: self.dir.clone(), source })
    }

    /// Builds the full-text index anew from memory, in the background; searches are served from memory meanwhile.
    pub fn rebuild_lexical(&self) {
        self.work.suspect("it is being built anew".to_owned());
    }

    /// Store sequence in memory.
    pub fn seq(&self) -> u64 {
        self.work.state.read().seq
    }

    /// Store sequence of the newest snapshot, 0 when there is none: a start needs no change of the store from before it.
    pub fn snapshot_seq(&self) -> u64 {
        self.work.state.read().snapshot_seq
    }

    /// How far the index is, of one space or of all.
    pub fn standing(&self, space: Option<u32>) -> Standing {
        let state = self.work.state.read();
        let of = |number: u32| state.spaces.get(&number);
        let (documents, overlay) = match space {
            None => (state.len(), state.lag()),
            Some(number) => of(number).map_or((0, 0), |space| (space.len(), space.overlay().count())),
        };
        let counted = state.spaces.iter().filter(|(number, _)| space.is_none_or(|space| space == **number));
        Standing {
            documents,
            overlay,
            graphs: counted.filter(|(_, space)| space.approximate.graph.is_some()).count(),
            vectors_why: vectors_why(space.and_then(of), self.work.settings.graph_vectors_min),
            seq: state.seq,
            lexical_seq: state.reader.as_ref().map_or(0, |reader| reader.seq),
            snapshot_seq: state.snapshot_seq,
            degraded: state.trouble.clone(),
        }
    }

    /// Bytes of the index on disk. Reads the folder.
    pub fn disk_bytes(&self) -> u64 {
        folder_bytes(&self.dir)
    }

    /// Counts and sizes. Reads every document's size and the folder: not for every request.
    pub fn stats(&self) -> Stats {
        let disk_bytes = folder_bytes(&self.dir);
        let state = self.work.state.read();
        Stats {
            documents: state.len(),
            active: state.spaces.values().map(|space| space.statistics.documents as usize).sum(),
            vectors: state.spaces.values().map(|space| space.vectors.len()).sum(),
            overlay: state.lag(),
            graphs: state.spaces.values().filter(|space| space.approximate.graph.is_some()).count(),
            lexical_documents: state.reader.as_ref().map_or(0, |reader| reader.documents()),
            seq: state.seq,
            lexical_seq: state.reader.as_ref().map_or(0, |reader| reader.seq),
            snapshot_seq: state.snapshot_seq,
            memory_bytes: state.memory_bytes(),
            disk_bytes,
            loaded: state.loaded,
            degraded: state.trouble.clone(),
        }
    }

    /// Whether a key is held, with the sequence of its state.
    pub fn contains(&self, key: u64) -> Option<u64> {
        self.work.state.read().document(key).map(|slot| slot.seq)
    }

    /// Every `(key, seq)` held in a space, of any status, by key: what a verification compares with the store.
    pub fn held(&self, space: u32) -> Vec<(u64, u64)> {
        let state = self.work.state.read();
        let documents = state.spaces.get(&space).into_iter().flat_map(|space| space.iter());
        let mut keys: Vec<_> = documents.map(|(_, slot)| (slot.key, slot.seq)).collect();
        keys.sort_unstable();
        keys
    }

    /// Compares the full-text index with memory: every document exactly once in the one or waiting to get there, and nothing else.
    /// Gives what is wrong, in words; empty when all is well.
    pub fn verify(&self) -> Vec<String> {
        self.work.state.read().verify()
    }
}

fn folder_bytes(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(meta) if meta.is_dir() => folder_bytes(&entry.path()),
            Ok(meta) => meta.len(),
            Err(_) => 0,
        })
        .sum()
}
