//! A graph as a folder of files, and back. It must not know where folders stand or which of them is current.
//!
//! The folder holds the two dumps of `hnsw_rs`, the nodes' slots, and a manifest with the length and checksum of each. Everything is written into
//! `<folder>.partial` and synced, the manifest last; then the folder is renamed. `hnsw_rs` only ever sees files whose checksums match:
//! on others it exits the process or reads out of bounds. Between check and load nobody else may write there (the folder is the daemon's own, 0700).

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use hnsw_rs::prelude::{AnnT, Hnsw, HnswIo};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::metric::{SphereDistance, point_bytes};
use super::nodes::Nodes;
use super::search::{Graph, GraphError};
use super::{EF_CONSTRUCTION, LINKS};

const FORMAT: u32 = 1;
const BASENAME: &str = "links";
const LINKS_FILE: &str = "links.hnsw.graph";
const POINTS_FILE: &str = "links.hnsw.data";
const NODES_FILE: &str = "nodes";
const MANIFEST_FILE: &str = "manifest";
/// A manifest is some hundred bytes; no more than this is read.
const MANIFEST_BYTES_MAX: u64 = 64 * 1024;

/// What a snapshot belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GraphStamp {
    /// Store, epoch, space, model: whatever must be equal for the vectors to be the same.
    pub identity: String,
    /// The last change of the store that the graph has seen.
    pub watermark: u64,
}

/// Why a snapshot was not written, or not read; a graph that was not read is built anew.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// A file operation failed.
    #[error("{action} {path}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// How it failed.
        source: io::Error,
    },
    /// A file is missing, changed, cut or of another generation.
    #[error("{file} of the graph snapshot is damaged or of another generation")]
    Damaged {
        /// The file.
        file: &'static str,
    },
    /// The snapshot is whole but of another store, model, dimension or set of parameters.
    #[error("graph snapshot belongs to something else")]
    Foreign,
    /// An empty graph has nothing to write.
    #[error("graph is empty")]
    Empty,
    /// `hnsw_rs` could not write or read its dump.
    #[error("dumping or loading the graph failed")]
    Dump,
    /// The graph is broken.
    #[error(transparent)]
    Graph(#[from] GraphError),
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Manifest {
    format: u32,
    stamp: GraphStamp,
    dimension: usize,
    links: usize,
    ef_construction: usize,
    nodes: usize,
    files: Vec<FileSum>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct FileSum {
    name: String,
    bytes: u64,
    /// XXH3-128, hexadecimal.
    checksum: String,
}

/// Writes `graph` as `folder`, which must not exist while its parent does. Insertions wait meanwhile, searches go on.
///
/// # Errors
/// An empty or broken graph, a folder that exists, or a failed file operation; `folder` then does not exist.
pub fn write_snapshot(graph: &Graph, folder: &Path, stamp: &GraphStamp) -> Result<(), SnapshotError> {
    if folder.exists() {
        return Err(failed("creating", folder)(io::ErrorKind::AlreadyExists.into()));
    }
    let mut partial = folder.as_os_str().to_owned();
    partial.push(".partial");
    let partial = PathBuf::from(partial);
    remove_folder(&partial)?;
    fs::create_dir(&partial).map_err(failed("creating", &partial))?;
    let written = fill(graph, &partial, stamp).and_then(|()| {
        fs::rename(&partial, folder).map_err(failed("renaming", &partial))?;
        folder.parent().map_or(Ok(()), sync)
    });
    if written.is_err() {
        remove_folder(&partial)?;
    }
    written
}

/// Reads the snapshot in `folder` when it is whole and of `identity`: the graph and its watermark. Bring it up to date with
/// [`Graph::reconcile`]. Blocks for seconds on a large graph.
///
/// # Errors
/// Anything but a whole snapshot of that identity and dimension.
pub fn load_snapshot(folder: &Path, identity: &str, dimension: usize) -> Result<(Graph, u64), SnapshotError> {
    let manifest = read_manifest(&folder.join(MANIFEST_FILE))?;
    let parameters = (manifest.format, manifest.dimension, manifest.links, manifest.ef_construction);
    if parameters != (FORMAT, dimension, LINKS, EF_CONSTRUCTION) || manifest.stamp.identity != identity {
        return Err(SnapshotError::Foreign);
    }
    for name in [LINKS_FILE, POINTS_FILE, NODES_FILE] {
        let listed =
            manifest.files.iter().find(|file| file.name == name).ok_or(SnapshotError::Damaged { file: MANIFEST_FILE })?;
        if sum(folder, name).ok().as_ref() != Some(listed) {
            return Err(SnapshotError::Damaged { file: name });
        }
    }
    let nodes_path = folder.join(NODES_FILE);
    let nodes = fs::read(&nodes_path).map_err(failed("reading", &nodes_path))?;
    let nodes = Nodes::from_bytes(&nodes).ok_or(SnapshotError::Damaged { file: NODES_FILE })?;
    let hnsw = load_links(folder)?;
    let point_length = hnsw.get_point_indexation().get_data_dimension();
    if hnsw.get_nb_point() != nodes.len() || nodes.len() != manifest.nodes || point_length != point_bytes(dimension) {
        return Err(SnapshotError::Damaged { file: NODES_FILE });
    }
    Ok((Graph::from_parts(dimension, hnsw, nodes), manifest.stamp.watermark))
}

fn fill(graph: &Graph, partial: &Path, stamp: &GraphStamp) -> Result<(), SnapshotError> {
    let paused = graph.pause();
    let (nodes, count) = {
        let nodes = graph.nodes.read();
        (nodes.to_bytes(), nodes.len())
    };
    if count == 0 {
        return Err(SnapshotError::Empty);
    }
    let basename = graph.guarded(|| graph.hnsw.file_dump(partial, BASENAME).ok())?;
    drop(paused);
    if basename.as_deref() != Some(BASENAME) {
        return Err(SnapshotError::Dump);
    }
    write_file(&partial.join(NODES_FILE), &nodes)?;
    let mut files = Vec::new();
    for name in [LINKS_FILE, POINTS_FILE, NODES_FILE] {
        sync(&partial.join(name))?;
        files.push(sum(partial, name)?);
    }
    let (dimension, links, ef_construction) = (graph.dimension(), LINKS, EF_CONSTRUCTION);
    let manifest = Manifest { format: FORMAT, stamp: stamp.clone(), dimension, links, ef_construction, nodes: count, files };
    let manifest_path = partial.join(MANIFEST_FILE);
    let json = serde_json::to_string(&manifest).map_err(|error| failed("writing", &manifest_path)(error.into()))?;
    write_file(&manifest_path, format!("{json}\n{}\n", checksum_text(xxh3_128(json.as_bytes()))).as_bytes())?;
    sync(&manifest_path)?;
    sync(partial)
}

/// The manifest: one line of JSON and the checksum of that line.
fn read_manifest(path: &Path) -> Result<Manifest, SnapshotError> {
    const DAMAGED: SnapshotError = SnapshotError::Damaged { file: MANIFEST_FILE };
    let file = File::open(path).map_err(failed("opening", path))?;
    let lines: Result<Vec<String>, _> = BufReader::new(file.take(MANIFEST_BYTES_MAX)).lines().collect();
    let lines = lines.map_err(|_| DAMAGED)?;
    let [json, checksum] = lines.as_slice() else { return Err(DAMAGED) };
    if *checksum != checksum_text(xxh3_128(json.as_bytes())) {
        return Err(DAMAGED);
    }
    serde_json::from_str(json).map_err(|_| DAMAGED)
}

/// Loads the dump. `hnsw_rs` ties a graph to a borrow of its loader, from which without a memory map nothing is borrowed in fact; the loader (two short
/// strings) is therefore leaked, once a load.
fn load_links(folder: &Path) -> Result<Hnsw<'static, i8, SphereDistance>, SnapshotError> {
    let loader: &'static mut HnswIo = Box::leak(Box::new(HnswIo::new(folder, BASENAME)));
    let loaded = catch_unwind(AssertUnwindSafe(move || {
        let loader = loader; // moved in, so that the borrow is the leaked one
        loader.load_hnsw::<i8, SphereDistance>().ok()
    }));
    let mut hnsw = loaded.ok().flatten().ok_or(SnapshotError::Dump)?;
    hnsw.set_extend_candidates(false); // a load turns it on, unlike `Hnsw::new`
    Ok(hnsw)
}

fn sum(folder: &Path, name: &str) -> Result<FileSum, SnapshotError> {
    let path = folder.join(name);
    let mut file = File::open(&path).map_err(failed("opening", &path))?;
    let (mut hash, mut bytes, mut buffer) = (Xxh3::new(), 0, vec![0; 1 << 18]);
    loop {
        let read = file.read(&mut buffer).map_err(failed("reading", &path))?;
        if read == 0 {
            return Ok(FileSum { name: name.to_owned(), bytes, checksum: checksum_text(hash.digest128()) });
        }
        hash.update(&buffer[..read]);
        bytes += read as u64;
    }
}

fn checksum_text(checksum: u128) -> String {
    format!("{checksum:032x}")
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<(), SnapshotError> {
    let mut file = File::create(path).map_err(failed("creating", path))?;
    file.write_all(bytes).map_err(failed("writing", path))
}

fn sync(path: &Path) -> Result<(), SnapshotError> {
    File::open(path).and_then(|file| file.sync_all()).map_err(failed("syncing", path))
}

fn remove_folder(path: &Path) -> Result<(), SnapshotError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("removing", path)(error)),
        _ => Ok(()),
    }
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> SnapshotError {
    let path = path.to_owned();
    move |source| SnapshotError::Io { action, path, source }
}
