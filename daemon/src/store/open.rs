//! Opening a store file: found whole and ours, or refused and left as it was; made only where there is none.
//!
//! Every change redb makes while opening waits in memory (`StagedBackend`) until the file has passed. Must not know: the writer.

use super::audit::AuditRetention;
use super::backend::{BackendFactory, FileFactory, ReadOnlyFile, SharedBackend, StagedBackend};
use super::codec::{self, Checks, ENVELOPE_BYTES};
use super::error::{OpenError, StoreError, engine};
use super::read::Reads;
use super::rows::{ReadTx, Rows, panic_text};
use super::tables::{ALL, SETTING_STORE, SETTINGS};
use super::{backup, restore};
use crate::clock::{SharedClock, SystemClock};
use crate::limits::{BACKUP_CACHE_BYTES, INTEGRITY_AT_OPEN_BYTES_MAX, STORE_CACHE_BYTES};
use redb::{Database, ReadableDatabase, StorageBackend};
use std::fs::File;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tiro_schema::record::StoreRecord;

/// The on-disk format this build writes and reads.
pub const FORMAT: u32 = 1;
/// Name of the store file in the store's folder.
pub const STORE_FILE: &str = "store.redb";
/// Name of the folder of the index in the store's folder. It is made after the store: where it is, a store was.
pub const INDEX_FOLDER: &str = "index";
/// What a redb file begins with.
const MAGIC: [u8; 9] = [b'r', b'e', b'd', b'b', 0x1A, 0x0A, 0xA9, 0x0D, 0x0A];

/// Told how far a long piece of work is: stage, done, total.
pub type Progress = Arc<dyn Fn(&str, u64, u64) + Send + Sync>;

/// How a store is opened.
#[derive(Clone)]
pub struct OpenOptions {
    /// Source of time.
    pub clock: SharedClock,
    /// Storage behind the file.
    pub backend: Arc<dyn BackendFactory>,
    /// Bytes redb may keep of the file in memory.
    pub cache_bytes: usize,
    /// Id and dimension of the embedder, noted in a store that is made.
    pub embedder: (String, u32),
    /// Told how far repairs and checks are.
    pub progress: Progress,
    /// Whether damage is looked for.
    pub checks: Checks,
    /// How long rows of the audit are kept.
    pub audit: AuditRetention,
}

impl Default for OpenOptions {
    fn default() -> Self {
        OpenOptions {
            clock: Arc::new(SystemClock::new()),
            backend: Arc::new(FileFactory),
            cache_bytes: STORE_CACHE_BYTES,
            embedder: (String::new(), 0),
            progress: Arc::new(|_, _, _| {}),
            checks: Checks::On,
            audit: AuditRetention::default(),
        }
    }
}

/// An open store file.
pub(super) struct Opened {
    pub(super) database: Database,
    pub(super) record: StoreRecord,
    pub(super) seq: u64,
    /// The file was checked whole.
    pub(super) checked: bool,
    /// Why it takes no writes, when its repair could not be written down.
    pub(super) read_only: Option<StoreError>,
}

/// Opens the store file of a folder, making one where the folder has none and never had: no backup, no store set aside, no index,
/// and no epoch that a lock file notes once a store was open.
pub(super) fn open_dir(dir: &Path, noted_epoch: Option<u64>, options: &OpenOptions) -> Result<Opened, OpenError> {
    let path = dir.join(STORE_FILE);
    restore::finish_swap(dir).map_err(|source| OpenError::Store { path: path.clone(), source })?;
    if !path.exists() {
        let remains = backup::newest(dir).or_else(|| restore::newest_set_aside(dir));
        if remains.is_some() || noted_epoch.is_some() || dir.join(INDEX_FOLDER).exists() {
            let backup = backup::newest(dir);
            return Err(OpenError::Damaged { path, what: "the file is missing, and it was not always".into(), backup });
        }
        create(&path, options).map_err(|source| OpenError::Store { path: path.clone(), source })?;
    }
    open_file(&path, options).map_err(|refusal| refusal.with_backup(dir))
}

impl OpenError {
    fn with_backup(self, dir: &Path) -> Self {
        match self {
            OpenError::Damaged { path, what, .. } => OpenError::Damaged { path, what, backup: backup::newest(dir) },
            other => other,
        }
    }
}

/// Makes a store file: under another name first, so that one that was cut short is never taken for a store.
fn create(path: &Path, options: &OpenOptions) -> Result<(), StoreError> {
    let unfinished = path.with_extension("new");
    let _ = std::fs::remove_file(&unfinished);
    create_private(&unfinished)?;
    let record = StoreRecord {
        format: FORMAT,
        id: *uuid::Uuid::new_v4().as_bytes(),
        epoch: 1,
        created_at_ms: options.clock.now_ms(),
        embedder: options.embedder.0.clone(),
        dimension: options.embedder.1,
    };
    let backend = StagedBackend::new(options.backend.open(&unfinished)?)?;
    backend.release()?;
    let mut builder = Database::builder();
    let database = builder.set_cache_size(options.cache_bytes).create_with_backend(SharedBackend(backend));
    let database = database.map_err(engine)?;
    let mut transaction = database.begin_write().map_err(engine)?;
    transaction.set_two_phase_commit(true);
    for table in ALL {
        transaction.open_table(table.definition()).map_err(engine)?;
    }
    put_record(&transaction, &record)?;
    transaction.commit().map_err(engine)?;
    database.close().map_err(engine)?;
    File::open(&unfinished)?.sync_all()?;
    std::fs::rename(&unfinished, path)?;
    sync_folder(path)
}

/// Writes the store's identity.
pub(super) fn put_record(transaction: &redb::WriteTransaction, record: &StoreRecord) -> Result<(), StoreError> {
    let bytes = codec::seal(SETTINGS, SETTING_STORE.as_bytes(), record)?;
    let mut settings = transaction.open_table(SETTINGS.definition()).map_err(engine)?;
    settings.insert(SETTING_STORE.as_bytes(), bytes.as_slice()).map_err(engine)?;
    Ok(())
}

/// Makes an empty file that only its owner can read.
pub(super) fn create_private(path: &Path) -> Result<File, StoreError> {
    use std::os::unix::fs::OpenOptionsExt;
    Ok(std::fs::OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)?)
}

/// Makes the names in the folder of `path` durable.
pub(super) fn sync_folder(path: &Path) -> Result<(), StoreError> {
    Ok(File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()?)
}

/// A store file found whole and ours, its changes still waiting.
struct Found {
    database: Database,
    backend: Arc<StagedBackend>,
    record: StoreRecord,
    seq: u64,
    repaired: bool,
}

/// Opens an existing store file. A refusal leaves it as it was.
pub(super) fn open_file(path: &Path, options: &OpenOptions) -> Result<Opened, OpenError> {
    let bytes = check_start(path)?;
    let inner = options.backend.open(path).map_err(|error| unreadable(path, &error))?;
    let check = options.checks == Checks::On && bytes <= INTEGRITY_AT_OPEN_BYTES_MAX;
    let found = find(path, inner, options, check)?;
    let read_only = found.backend.release().err().map(|error| StoreError::io(&error));
    let checked = check || found.repaired;
    Ok(Opened { database: found.database, record: found.record, seq: found.seq, checked, read_only })
}

/// A store file looked into.
pub(super) struct Probed {
    pub(super) view: ReadTx,
    pub(super) record: StoreRecord,
    _database: Database,
}

/// Looks into a store file, checking it whole, and never changes it.
pub(super) fn probe(path: &Path, options: &OpenOptions) -> Result<Probed, OpenError> {
    look(path, options, options.checks == Checks::On)
}

/// Who a store file says it is. It is not checked whole for that, and never changed.
pub(super) fn peek(path: &Path) -> Result<StoreRecord, OpenError> {
    let options = OpenOptions { cache_bytes: BACKUP_CACHE_BYTES, ..OpenOptions::default() };
    look(path, &options, false).map(|probed| probed.record)
}

/// Looks into a store file, checking it whole where that is asked for, and never changes it.
pub(super) fn look(path: &Path, options: &OpenOptions, check: bool) -> Result<Probed, OpenError> {
    check_start(path)?;
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    let found = find(path, Box::new(ReadOnlyFile(file)), options, check)?;
    let view = ReadTx::new(found.database.begin_read().map_err(|error| not_opened(path, engine(error)))?, options.checks);
    Ok(Probed { view, record: found.record, _database: found.database })
}

fn not_opened(path: &Path, source: StoreError) -> OpenError {
    OpenError::Store { path: path.to_owned(), source }
}

fn unreadable(path: &Path, error: &std::io::Error) -> OpenError {
    not_opened(path, StoreError::io(error))
}

fn find(path: &Path, inner: Box<dyn StorageBackend>, options: &OpenOptions, check: bool) -> Result<Found, OpenError> {
    let damaged = |what: String| OpenError::Damaged { path: path.to_owned(), what, backup: None };
    let backend = StagedBackend::new(inner).map_err(|error| unreadable(path, &error))?;
    let repaired = Arc::new(AtomicBool::new(false));
    let database = catch_unwind(AssertUnwindSafe(|| build(options, check, Arc::clone(&backend), Arc::clone(&repaired))))
        .map_err(|panic| damaged(panic_text(&*panic)))?
        .map_err(|error| refuse(path, error))?;
    let view = database.begin_read().map_err(|error| not_opened(path, engine(error)))?;
    let (record, seq) = identity(&ReadTx::new(view, options.checks)).map_err(|error| match error {
        Identity::Foreign(what) => OpenError::Foreign { path: path.to_owned(), what },
        Identity::Newer(found) => OpenError::Newer { path: path.to_owned(), found, supported: FORMAT },
        Identity::Store(error @ StoreError::Damaged { .. }) => damaged(error.to_string()),
        Identity::Store(other) => not_opened(path, other),
    })?;
    let repaired = repaired.load(Ordering::Relaxed);
    Ok(Found { database, backend, record, seq, repaired })
}

fn build(
    options: &OpenOptions,
    check: bool,
    backend: Arc<StagedBackend>,
    repaired: Arc<AtomicBool>,
) -> Result<Database, redb::DatabaseError> {
    let progress = Arc::clone(&options.progress);
    let mut builder = Database::builder();
    builder.set_cache_size(options.cache_bytes).set_check_integrity_on_open(check).set_repair_callback(move |session| {
        repaired.store(true, Ordering::Relaxed);
        progress("repair", (session.progress() * 1_000.0) as u64, 1_000);
    });
    builder.create_with_backend(SharedBackend(backend))
}

/// What kind of refusal an error of redb is.
fn refuse(path: &Path, error: redb::DatabaseError) -> OpenError {
    use std::io::ErrorKind;
    let path = path.to_owned();
    match error {
        redb::DatabaseError::DatabaseAlreadyOpen => {
            OpenError::InUse { dir: path, owner: "another process that has the file open".into(), socket: None }
        }
        redb::DatabaseError::UpgradeRequired(version) => {
            OpenError::Foreign { path, what: format!("a redb file of version {version}") }
        }
        redb::DatabaseError::Storage(redb::StorageError::Io(error))
            if !matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::InvalidData | ErrorKind::InvalidInput) =>
        {
            OpenError::Store { path, source: StoreError::io(&error) }
        }
        other => OpenError::Damaged { path, what: other.to_string(), backup: None },
    }
}

/// Refuses a file that is empty or does not begin as a redb file; else gives its length.
fn check_start(path: &Path) -> Result<u64, OpenError> {
    let failed = |error: std::io::Error| OpenError::Store { path: path.to_owned(), source: StoreError::io(&error) };
    let mut file = File::open(path).map_err(failed)?;
    let bytes = file.metadata().map_err(failed)?.len();
    let mut start = Vec::new();
    file.by_ref().take(MAGIC.len() as u64).read_to_end(&mut start).map_err(failed)?;
    if start == MAGIC {
        return Ok(bytes);
    }
    if MAGIC.starts_with(&start) {
        let what = format!("it ends after {bytes} bytes");
        return Err(OpenError::Damaged { path: path.to_owned(), what, backup: None });
    }
    Err(OpenError::Foreign { path: path.to_owned(), what: "it does not begin as one".into() })
}

/// Why a file that redb opens is not ours to use.
enum Identity {
    Foreign(String),
    Newer(u32),
    Store(StoreError),
}

impl From<StoreError> for Identity {
    fn from(error: StoreError) -> Self {
        Identity::Store(error)
    }
}

/// Identity and newest sequence, when the format is one this build reads.
fn identity(tx: &ReadTx) -> Result<(StoreRecord, u64), Identity> {
    let row = match tx.row(SETTINGS, SETTING_STORE.as_bytes()) {
        Ok(Some(row)) => row,
        Ok(None) => return Err(Identity::Foreign("a redb file without the mark of a store".into())),
        Err(StoreError::Engine(_)) => return Err(Identity::Foreign("a redb file with other tables".into())),
        Err(other) => return Err(Identity::Store(other)),
    };
    // The format is the record's first member in every format there will be, so it is read before anything else is trusted.
    let format = row.get(ENVELOPE_BYTES..ENVELOPE_BYTES + 4).and_then(|bytes| bytes.try_into().ok());
    let format = u32::from_le_bytes(format.ok_or_else(|| Identity::Foreign("its mark is cut short".into()))?);
    if format > FORMAT {
        return Err(Identity::Newer(format));
    }
    let record: StoreRecord = codec::unseal(SETTINGS, SETTING_STORE.as_bytes(), &row, tx.checks())?;
    for table in ALL {
        tx.row_count(*table)?;
    }
    Ok((record, tx.newest_seq()?))
}

/// Path of the store file in a folder.
pub fn store_path(dir: &Path) -> PathBuf {
    dir.join(STORE_FILE)
}
