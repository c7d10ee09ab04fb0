//! Backups: all tables copied into a fresh file under one view, checked, then named; the newest few are kept.
//!
//! A backup is a store file like any other. One that was cut short has another name and is never taken for a backup. Must not know:
//! the writer, which goes on meanwhile.

use super::codec::{self, Checks};
use super::disk::Room;
use super::error::{OpenError, StoreError, engine};
use super::open::{OpenOptions, Progress, create_private, peek, probe, sync_folder};
use super::read::{Reads, UNBOUNDED};
use super::rows::{Direction, ReadTx, Row, Rows, guarded};
use super::tables::{ALL, Table};
use crate::clock;
use crate::limits::{BACKUP_CACHE_BYTES, BACKUP_COMMIT_BYTES, BACKUPS_KEPT};
use redb::Database;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Folder of the backups in the store's folder.
pub const BACKUP_FOLDER: &str = "backups";
/// What the name of a backup ends with while it is made.
const UNFINISHED: &str = "part";

/// A backup made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupReport {
    /// The file.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// Newest sequence in it.
    pub seq: u64,
    /// Records in it.
    pub records: u64,
}

/// A backup that stands in the backup folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupFile {
    /// The file.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// When it was made, Unix ms, as its name says. The clock may have been wrong then: it says nothing about the order.
    pub created_at_ms: i64,
    /// Epoch of the store it is a copy of: as its name says, or as it says itself where its name is of the earlier form; 0 when neither does.
    pub epoch: u64,
    /// Newest sequence in it, as its name says.
    pub seq: u64,
}

/// Newest backup of a folder's store, if there is one.
pub(super) fn newest(dir: &Path) -> Option<PathBuf> {
    list(dir).into_iter().next().map(|backup| backup.path)
}

/// Backups of a folder's store, newest first: by what they hold, whatever the clock said when they were made.
pub fn list(dir: &Path) -> Vec<BackupFile> {
    let entries = std::fs::read_dir(dir.join(BACKUP_FOLDER)).into_iter().flatten();
    let mut found: Vec<BackupFile> = entries.filter_map(|entry| describe(&entry.ok()?.path())).collect();
    let place = |backup: &BackupFile| (backup.epoch, backup.seq, backup.created_at_ms);
    found.sort_by(|a, b| (place(b), &b.path).cmp(&(place(a), &a.path)));
    found
}

/// The name of a backup.
fn name(epoch: u64, seq: u64, created_at_ms: i64) -> String {
    format!("store-{epoch}-{seq}-{created_at_ms}.redb")
}

/// What a backup's name says: `store-<epoch>-<sequence>-<Unix ms>.redb`, earlier `store-<Unix ms>-<sequence>.redb`. A time may be negative.
fn describe(path: &Path) -> Option<BackupFile> {
    let stem = path.file_name()?.to_str()?.strip_prefix("store-")?.strip_suffix(".redb")?;
    let (epoch, seq, created_at_ms) = match stem.splitn(3, '-').collect::<Vec<_>>()[..] {
        ["", _, _] => earlier(path, stem)?,
        [epoch, seq, at] => (epoch.parse().ok()?, seq.parse().ok()?, at.parse().ok()?),
        _ => earlier(path, stem)?,
    };
    Some(BackupFile { path: path.to_owned(), bytes: std::fs::metadata(path).ok()?.len(), created_at_ms, epoch, seq })
}

/// Epoch, sequence and time of a backup whose name is of the earlier form, which does not say its epoch.
fn earlier(path: &Path, stem: &str) -> Option<(u64, u64, i64)> {
    let (at, seq) = stem.rsplit_once('-')?;
    let (at, seq) = (at.parse().ok()?, seq.parse().ok()?);
    Some((peek(path).map_or(0, |record| record.epoch), seq, at))
}

/// Deletes what backups that were cut short left in the backup folder. No backup may be under way.
pub(super) fn remove_unfinished(dir: &Path) {
    let entries = std::fs::read_dir(dir.join(BACKUP_FOLDER)).into_iter().flatten();
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    for path in paths.filter(|path| path.extension().is_some_and(|e| e == UNFINISHED) && path.is_file()) {
        if let Err(error) = std::fs::remove_file(&path) {
            tracing::warn!(%error, path = %path.display(), "an unfinished backup could not be deleted");
        }
    }
}

/// What a backup is made with.
pub(super) struct Copying<'a> {
    pub(super) dir: &'a Path,
    pub(super) epoch: u64,
    pub(super) options: &'a OpenOptions,
    pub(super) progress: &'a Progress,
    pub(super) cancelled: &'a dyn Fn() -> bool,
    /// What it is told as.
    pub(super) stage: &'static str,
}

impl Copying<'_> {
    /// Copies a view into `to`, or into the backup folder under a name that says epoch, sequence and time.
    pub(super) fn run(&self, view: &ReadTx, to: Option<&Path>) -> Result<BackupReport, StoreError> {
        let seq = view.newest_seq()?;
        let path = match to {
            Some(path) => path.to_owned(),
            None => {
                let folder = self.dir.join(BACKUP_FOLDER);
                make_folder(&folder)?;
                folder.join(name(self.epoch, seq, self.options.clock.now_ms()))
            }
        };
        if path.exists() {
            return Err(StoreError::Invalid(format!("{} exists already", path.display())));
        }
        let unfinished = path.with_extension(UNFINISHED);
        let _ = std::fs::remove_file(&unfinished);
        if to.is_some() {
            check_writable(&path, &unfinished)?;
        }
        let copied = self.copy(view, &unfinished).and_then(|records| {
            std::fs::rename(&unfinished, &path)?;
            sync_folder(&path)?;
            Ok(records)
        });
        let records = copied.inspect_err(|_| {
            let _ = std::fs::remove_file(&unfinished);
        })?;
        if to.is_none() {
            self.prune(&path);
        }
        Ok(BackupReport { bytes: std::fs::metadata(&path)?.len(), path, seq, records })
    }

    fn copy(&self, view: &ReadTx, unfinished: &Path) -> Result<u64, StoreError> {
        Room::check(unfinished.parent().unwrap_or(self.dir))?;
        drop(create_private(unfinished)?);
        let mut builder = Database::builder();
        builder.set_cache_size(BACKUP_CACHE_BYTES);
        let database = guarded(|| builder.create(unfinished).map_err(engine))?;
        let total = self.fill(view, &database)?;
        guarded(|| database.close().map_err(engine))?;
        File::open(unfinished)?.sync_all()?;
        self.compare(view, unfinished)?;
        Ok(total)
    }

    /// Copies every table into an empty file. The number of rows.
    pub(super) fn fill(&self, view: &ReadTx, database: &Database) -> Result<u64, StoreError> {
        let total = ALL.iter().try_fold(0, |sum, table| Ok::<_, StoreError>(sum + view.row_count(*table)?))?;
        let mut done = 0;
        for table in ALL {
            done = self.copy_table(view, database, *table, done, total)?;
        }
        Ok(total)
    }

    fn copy_table(&self, view: &ReadTx, database: &Database, table: Table, before: u64, total: u64) -> Result<u64, StoreError> {
        let (mut rows, mut bytes, mut done) = (Vec::new(), 0, before);
        view.scan(table, UNBOUNDED, Direction::Ascending, &mut |key, value| {
            if view.checks() == Checks::On {
                codec::payload(table.as_written(value), key, value)?;
            }
            rows.push((key.to_vec(), value.to_vec()));
            (bytes, done) = (bytes + key.len() + value.len(), done + 1);
            if bytes >= BACKUP_COMMIT_BYTES {
                if (self.cancelled)() {
                    return Err(StoreError::Interrupted);
                }
                self.write_rows(database, table, &rows)?;
                (self.progress)(self.stage, done, total);
                rows.clear();
                bytes = 0;
            }
            Ok(true)
        })?;
        self.write_rows(database, table, &rows)?;
        if done - before != view.row_count(table)? {
            return Err(StoreError::damaged_file(format!("table {} has not the rows it says", table.name)));
        }
        Ok(done)
    }

    /// Writes rows of a table, which is made with the first, in one transaction.
    fn write_rows(&self, database: &Database, table: Table, rows: &[Row]) -> Result<(), StoreError> {
        Room::check(self.dir)?;
        guarded(|| {
            let mut transaction = database.begin_write().map_err(engine)?;
            transaction.set_two_phase_commit(true);
            {
                let mut copy = transaction.open_table(table.definition()).map_err(engine)?;
                for (key, value) in rows {
                    copy.insert(key.as_slice(), value.as_slice()).map_err(engine)?;
                }
            }
            transaction.commit().map_err(engine)
        })
    }

    /// Opens the copy as a store would be opened, and compares what it says of itself.
    fn compare(&self, view: &ReadTx, unfinished: &Path) -> Result<(), StoreError> {
        let options = OpenOptions { cache_bytes: BACKUP_CACHE_BYTES, ..self.options.clone() };
        let copy = probe(unfinished, &options).map_err(refused)?;
        for table in ALL {
            if copy.view.row_count(*table)? != view.row_count(*table)? {
                return Err(StoreError::Engine(format!("the backup's table {} is not the store's", table.name)));
            }
        }
        Ok(())
    }

    /// Deletes the oldest backups over the number kept, and never the one just made.
    fn prune(&self, made: &Path) {
        for old in list(self.dir).into_iter().filter(|backup| backup.path != made).skip(BACKUPS_KEPT - 1) {
            if let Err(error) = std::fs::remove_file(&old.path) {
                tracing::warn!(%error, path = %old.path.display(), "an old backup could not be deleted");
            }
        }
    }
}

/// A refusal to open a file that is not the store itself.
pub(super) fn refused(error: OpenError) -> StoreError {
    match error {
        OpenError::Store { source, .. } => source,
        // The way out that is told for the store itself does not fit another file.
        OpenError::Damaged { path, what, .. } => StoreError::Invalid(format!("{} is damaged ({what})", path.display())),
        other => StoreError::Invalid(other.to_string()),
    }
}

/// Checks that a file can be made where the caller wants a backup: that it cannot says nothing of the disk the store is on.
fn check_writable(path: &Path, unfinished: &Path) -> Result<(), StoreError> {
    match create_private(unfinished) {
        Ok(made) => {
            drop(made);
            Ok(std::fs::remove_file(unfinished)?)
        }
        Err(StoreError::Io { message, .. }) => {
            Err(StoreError::Invalid(format!("{} cannot be written: {message}", path.display())))
        }
        Err(other) => Err(other),
    }
}

fn make_folder(folder: &Path) -> Result<(), StoreError> {
    use std::os::unix::fs::DirBuilderExt;
    Ok(std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?)
}

/// When a backup was made, for people.
pub fn made_at(backup: &BackupFile) -> tiro_schema::wire::Timestamp {
    clock::format(backup.created_at_ms, None)
}
