//! Opens the full-text folder, or makes it anew when it is damaged, foreign or ahead of the store. It must not know what the
//! documents are.

use super::reader::Reader;
use super::schema::{Fields, Payload, schema};
use crate::snapshot::remove;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use tantivy::directory::MmapDirectory;
use tantivy::{Directory, Index, IndexReader, IndexSettings, ReloadPolicy};

/// An open full-text index.
pub(crate) struct Opened {
    pub(super) index: Index,
    pub(super) fields: Fields,
    pub(super) readers: IndexReader,
    /// Its last commit.
    pub(crate) reader: Arc<Reader>,
    /// Why it was made anew, if it was.
    pub(crate) rebuilt: Option<String>,
}

/// Opens the folder. `wanted` carries the identity and, as its sequence, where the store stands.
pub(crate) fn open(dir: &Path, wanted: &Payload) -> Result<Opened, String> {
    let reason = match catch_unwind(AssertUnwindSafe(|| existing(dir, wanted))) {
        Ok(Ok(Some(opened))) => return Ok(opened),
        Ok(Ok(None)) => None,
        Ok(Err(reason)) => Some(reason),
        Err(_) => Some("opening it panicked".to_owned()),
    };
    remove(dir).map_err(|error| format!("cannot remove {}: {error}", dir.display()))?;
    fresh(dir)
        .map(|opened| Opened { rebuilt: reason, ..opened })
        .map_err(|error| format!("cannot make {}: {error}", dir.display()))
}

/// Opens what is there; `None` when nothing is, an error with the reason when it cannot be trusted.
fn existing(dir: &Path, wanted: &Payload) -> Result<Option<Opened>, String> {
    if !dir.exists() || fs::read_dir(dir).map_err(|error| error.to_string())?.next().is_none() {
        return Ok(None);
    }
    let index = Index::open_in_dir(dir).map_err(|error| error.to_string())?;
    let (expected, fields) = schema();
    if index.schema() != expected {
        return Err("its schema is another".to_owned());
    }
    let metas = index.load_metas().map_err(|error| error.to_string())?;
    let seq = match metas.payload.as_deref() {
        None if metas.segments.is_empty() => 0,
        None => return Err("its last commit says nothing about itself".to_owned()),
        Some(text) => {
            let payload = Payload::parse(text).ok_or("its last commit says nothing readable about itself")?;
            if let Some(reason) = payload.foreign(wanted) {
                return Err(reason.to_owned());
            }
            if payload.seq > wanted.seq {
                return Err(format!("it is at {} where the store is at {}", payload.seq, wanted.seq));
            }
            payload.seq
        }
    };
    for file in metas.list_segment_files() {
        let directory = index.directory();
        if directory.exists(&file).map_err(|error| error.to_string())?
            && !directory.validate_checksum(&file).map_err(|error| error.to_string())?
        {
            return Err(format!("the checksum of {} does not match", file.display()));
        }
    }
    let opened = assemble(index, fields, seq).map_err(|error| error.to_string())?;
    Ok(Some(opened))
}

fn fresh(dir: &Path) -> tantivy::Result<Opened> {
    fs::create_dir_all(dir)?;
    let (schema, fields) = schema();
    let settings = IndexSettings { docstore_compress_dedicated_thread: false, ..IndexSettings::default() };
    let index = Index::create(MmapDirectory::open(dir)?, schema, settings)?;
    assemble(index, fields, 0)
}

fn assemble(index: Index, fields: Fields, seq: u64) -> tantivy::Result<Opened> {
    let readers = index.reader_builder().reload_policy(ReloadPolicy::Manual).doc_store_cache_num_blocks(1).try_into()?;
    let reader = Arc::new(Reader::new(readers.searcher(), fields, seq)?);
    Ok(Opened { index, fields, readers, reader, rebuilt: None })
}
