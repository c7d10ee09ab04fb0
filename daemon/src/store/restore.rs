//! Putting a backup in the place of the store: the present file is set aside, never deleted.
//!
//! Must not know: the writer.

use super::error::StoreError;
use super::open::{STORE_FILE, sync_folder};
use std::path::{Path, PathBuf};

/// A complete store file that waits to take its place.
pub(super) const NEXT_FILE: &str = "store.next";
/// What set-aside files end with.
const SET_ASIDE: &str = ".replaced";

/// Finishes a swap that was cut short between its two renames.
pub(super) fn finish_swap(dir: &Path) -> Result<(), StoreError> {
    let (store, next) = (dir.join(STORE_FILE), dir.join(NEXT_FILE));
    if !store.exists() && next.exists() {
        std::fs::rename(&next, &store)?;
        sync_folder(&store)?;
    }
    Ok(())
}

/// Newest file set aside by a restore, if there is one.
pub(super) fn newest_set_aside(dir: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    entries.filter(|path| path.to_string_lossy().ends_with(SET_ASIDE)).max()
}
