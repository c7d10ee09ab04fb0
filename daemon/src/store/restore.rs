//! Putting a backup in the place of the store: the present file is set aside. Of files set aside the newest few are kept.
//!
//! The backup is checked whole, copied, given a new epoch, and only then swapped in by two renames; a swap that was cut short between
//! them is finished by the next opening. Must not know: the writer.

use super::backup::{self, refused};
use super::error::{OpenError, StoreError, engine};
use super::lock::StoreLock;
use super::open::{OpenOptions, STORE_FILE, open_file, probe, put_record, sync_folder};
use super::rewrite::REWRITTEN_FILE;
use super::verify::{VerifyReport, Verifying};
use crate::limits::SET_ASIDE_KEPT;
use redb::Database;
use std::fs::File;
use std::path::{Path, PathBuf};

/// A complete store file that waits to take its place.
pub(super) const NEXT_FILE: &str = "store.next";
/// The same while it is made.
const UNFINISHED_FILE: &str = "store.restoring";
/// What set-aside files end with.
const SET_ASIDE: &str = ".replaced";

/// A restore done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoreReport {
    /// The backup taken.
    pub from: PathBuf,
    /// Where the store it replaced stands now; none when there was none.
    pub set_aside: Option<PathBuf>,
    /// Memories in it that are not forgotten.
    pub memories: u64,
    /// Epoch of the store from now on.
    pub epoch: u64,
}

/// Finishes a swap that was cut short between its two renames.
pub(super) fn finish_swap(dir: &Path) -> Result<(), StoreError> {
    let (store, next) = (dir.join(STORE_FILE), dir.join(NEXT_FILE));
    if !store.exists() && next.exists() {
        std::fs::rename(&next, &store)?;
        sync_folder(&store)?;
    }
    Ok(())
}

/// Files set aside by restores, oldest first.
pub(super) fn set_aside(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let mut aside: Vec<PathBuf> = entries.filter(|path| path.to_string_lossy().ends_with(SET_ASIDE)).collect();
    aside.sort();
    aside
}

/// Newest file set aside by a restore, if there is one.
pub(super) fn newest_set_aside(dir: &Path) -> Option<PathBuf> {
    set_aside(dir).pop()
}

/// Deletes the oldest files set aside over the number kept.
pub(super) fn prune_set_aside(dir: &Path) {
    for old in set_aside(dir).iter().rev().skip(SET_ASIDE_KEPT) {
        if let Err(error) = std::fs::remove_file(old) {
            tracing::warn!(%error, path = %old.display(), "an old file set aside could not be deleted");
        }
    }
}

/// Deletes what a restore or a rewriting that was cut short before its swap left. No restore may be under way, and the store file must be there.
pub(super) fn remove_unfinished(dir: &Path) {
    for name in [UNFINISHED_FILE, NEXT_FILE, REWRITTEN_FILE] {
        match std::fs::remove_file(dir.join(name)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                tracing::warn!(%error, name, "an unfinished restore could not be deleted");
            }
            _ => {}
        }
    }
}

/// A backup found good.
pub(super) struct Chosen {
    pub(super) path: PathBuf,
    pub(super) epoch: u64,
    pub(super) memories: u64,
}

/// The backup asked for, or the newest good one.
pub(super) fn choose(
    dir: &Path,
    asked: Option<&Path>,
    options: &OpenOptions,
    cancelled: &dyn Fn() -> bool,
) -> Result<Chosen, StoreError> {
    if let Some(path) = asked {
        if !path.is_file() {
            return Err(StoreError::Missing(format!("there is no backup file {}", path.display())));
        }
        return check(path, options, cancelled);
    }
    let backups = backup::list(dir);
    for candidate in &backups {
        match check(&candidate.path, options, cancelled) {
            Ok(chosen) => return Ok(chosen),
            Err(StoreError::Interrupted) => return Err(StoreError::Interrupted),
            Err(error) => {
                tracing::warn!(%error, path = %candidate.path.display(), "this backup is no good");
            }
        }
    }
    Err(StoreError::Missing(match backups.len() {
        0 => format!("there is no backup in {}", dir.join(backup::BACKUP_FOLDER).display()),
        some => format!("none of the {some} backups is good"),
    }))
}

fn check(path: &Path, options: &OpenOptions, cancelled: &dyn Fn() -> bool) -> Result<Chosen, StoreError> {
    let probed = probe(path, options).map_err(refused)?;
    let VerifyReport { problems, memories, .. } =
        Verifying { progress: &options.progress, cancelled, index: None }.run(&probed.view)?;
    match problems.first() {
        Some(problem) => Err(StoreError::Invalid(format!("the backup {} is damaged: {problem}", path.display()))),
        None => Ok(Chosen { path: path.to_owned(), epoch: probed.record.epoch, memories }),
    }
}

/// Makes the complete file that will take the store's place.
pub(super) fn prepare(dir: &Path, chosen: &Chosen, epoch: u64, options: &OpenOptions) -> Result<(), StoreError> {
    let (unfinished, next) = (dir.join(UNFINISHED_FILE), dir.join(NEXT_FILE));
    for leftover in [&unfinished, &next] {
        if leftover.exists() {
            std::fs::remove_file(leftover)?;
        }
    }
    std::fs::copy(&chosen.path, &unfinished)?;
    let opened = open_file(&unfinished, options).map_err(refused)?;
    renew(&opened.database, tiro_schema::record::StoreRecord { epoch, ..opened.record })?;
    opened.database.close().map_err(engine)?;
    File::open(&unfinished)?.sync_all()?;
    std::fs::rename(&unfinished, &next)?;
    sync_folder(&next)
}

fn renew(database: &Database, record: tiro_schema::record::StoreRecord) -> Result<(), StoreError> {
    let mut transaction = database.begin_write().map_err(engine)?;
    transaction.set_two_phase_commit(true);
    put_record(&transaction, &record)?;
    transaction.commit().map_err(engine)
}

/// Sets the present store aside and puts the prepared file in its place. The store file must be closed.
pub(super) fn swap(dir: &Path, set_aside: Option<&Path>) -> Result<(), StoreError> {
    let store = dir.join(STORE_FILE);
    if let Some(aside) = set_aside {
        std::fs::rename(&store, aside)?;
        sync_folder(&store)?;
    }
    std::fs::rename(dir.join(NEXT_FILE), &store)?;
    sync_folder(&store)
}

/// The name under which the present store is set aside; none when there is no store file.
pub(super) fn aside_name(dir: &Path, now_ms: i64) -> Option<PathBuf> {
    let name = |turn: u32| dir.join(format!("store-{now_ms}-{turn}{SET_ASIDE}"));
    let free = (0..u32::MAX).map(name).find(|path| !path.exists());
    free.filter(|_| dir.join(STORE_FILE).exists())
}

/// Restores the store of a folder that no daemon serves, as when its store is refused. Takes the folder's lock.
///
/// # Errors
/// As opening, or why no backup could be put in place; the present file is then where it was.
pub fn restore_folder(dir: &Path, asked: Option<&Path>, options: &OpenOptions) -> Result<RestoreReport, OpenError> {
    let mut lock = StoreLock::take(dir)?;
    let failed = |source| OpenError::Store { path: dir.join(STORE_FILE), source };
    let chosen = choose(dir, asked, options, &|| false).map_err(failed)?;
    let present = probe(&dir.join(STORE_FILE), options).ok().map_or(0, |probed| probed.record.epoch);
    let epoch = present.max(chosen.epoch).max(lock.epoch().unwrap_or(0)) + 1;
    prepare(dir, &chosen, epoch, options).map_err(failed)?;
    let set_aside = aside_name(dir, options.clock.now_ms());
    swap(dir, set_aside.as_deref()).map_err(failed)?;
    lock.note(epoch);
    prune_set_aside(dir);
    Ok(RestoreReport { from: chosen.path, set_aside, memories: chosen.memories, epoch })
}
