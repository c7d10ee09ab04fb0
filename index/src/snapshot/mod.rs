//! Snapshots: all that is in memory, on disk, so that a start reads one file instead of every document of the store. One snapshot is
//! a folder `gen-<sequence>` with the state and, written last, a manifest; it becomes visible by a rename. What does not fit its
//! checksum, its manifest or the store is removed and rebuilt. It must not know the full-text index.

mod bytes;
mod manifest;
mod read;
mod write;

pub(crate) use read::load;
pub(crate) use write::{keep_only, remove, write};

/// File of the state inside a snapshot.
const STATE_FILE: &str = "state.bin";
/// File of the manifest inside a snapshot.
const MANIFEST_FILE: &str = "manifest.json";
/// Start of the name of a snapshot.
const GENERATION: &str = "gen-";
/// Start of the name of a snapshot being written.
const TEMPORARY: &str = "tmp-";
/// First bytes of the state.
const MAGIC: &[u8; 8] = b"tirosnp4";

/// Bits of a document's flags.
const FLAG_PINNED: u8 = 1;
const FLAG_REPLY: u8 = 2;
const FLAG_ASKS: u8 = 4;
const FLAG_VALIDITY: u8 = 8;
const FLAG_UNSPACED: u8 = 16;
const FLAG_KNOWN: u8 = 32;
