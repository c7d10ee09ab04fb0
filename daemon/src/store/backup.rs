//! Backups: where they are, and how one is made.
//!
//! Must not know: the writer.

use std::path::{Path, PathBuf};

/// Folder of the backups in the store's folder.
pub const BACKUP_FOLDER: &str = "backups";

/// Newest backup of a folder's store by name, if there is one.
pub(super) fn newest(dir: &Path) -> Option<PathBuf> {
    list(dir).into_iter().next()
}

/// Backups of a folder's store, newest first.
pub(super) fn list(dir: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(dir.join(BACKUP_FOLDER))
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "redb"))
        .collect();
    found.sort();
    found.reverse();
    found
}
