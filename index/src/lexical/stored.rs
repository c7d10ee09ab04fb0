//! What the files of a full-text folder hold once they are decompressed: the documents of the document stores, and the terms. It must not
//! know what is looked for in them.

use super::schema::schema;
use std::path::Path;
use tantivy::Directory;
use tantivy::directory::MmapDirectory;
use tantivy::store::StoreReader;
use tantivy::{Index, ReloadPolicy};

/// Shows every decompressed document of every document store in the folder, also of files that no commit names any more, and every term
/// of the last commit. `show` answers whether to go on. The folder is only read.
///
/// # Errors
/// Why it cannot be read, in words.
pub(crate) fn stored(dir: &Path, show: &mut dyn FnMut(&[u8]) -> bool) -> Result<(), String> {
    if !dir.join("meta.json").exists() {
        return Ok(());
    }
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let folder = MmapDirectory::open(dir).map_err(|error| text(&error))?;
    let index = Index::open(folder).map_err(|error| text(&error))?;
    for entry in std::fs::read_dir(dir).map_err(|error| text(&error))?.flatten() {
        let name = std::path::PathBuf::from(entry.file_name());
        if name.extension().is_some_and(|extension| extension == "store") {
            let slice = index.directory().open_read(&name).map_err(|error| text(&error))?;
            let store = StoreReader::open(slice, 1).map_err(|error| text(&error))?;
            // The first number without a document ends it.
            for document in (0..).map_while(|number| store.get_document_bytes(number).ok()) {
                if !show(&document) {
                    return Ok(());
                }
            }
        }
    }
    let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into().map_err(|error| text(&error))?;
    let reader: tantivy::IndexReader = reader;
    let (schema, _) = schema();
    for segment in reader.searcher().segment_readers() {
        for (field, entry) in schema.fields() {
            if !entry.is_indexed() {
                continue;
            }
            let inverted = segment.inverted_index(field).map_err(|error| text(&error))?;
            let mut terms = inverted.terms().stream().map_err(|error| text(&error))?;
            while terms.advance() {
                if !show(terms.key()) {
                    return Ok(());
                }
            }
        }
    }
    Ok(())
}
