//! What can go wrong with the store, and what became of a write.
//!
//! Must not know: the wire.

use std::path::{Path, PathBuf};

/// A read or a write of the store failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum StoreError {
    /// A row is not what was written, or the file is not whole.
    #[error("the store is damaged: {what} (table {table}, key {key})")]
    Damaged {
        /// Table of the row; `file` when it is not about one.
        table: &'static str,
        /// Key of the row in hexadecimal.
        key: String,
        /// What is wrong with it.
        what: String,
    },
    /// The disk answered with an error.
    #[error("the disk failed: {message}")]
    Io {
        /// Kind of the error.
        kind: std::io::ErrorKind,
        /// What the system said.
        message: String,
    },
    /// The disk is full, or its reserve is reached.
    #[error("the disk that holds the store is full: {free_bytes} bytes free, {reserve_bytes} kept in reserve")]
    Full {
        /// Bytes free when it was seen.
        free_bytes: u64,
        /// Bytes that writes leave free.
        reserve_bytes: u64,
    },
    /// The store takes no writes until it is reopened.
    #[error("the store takes no writes since an error: {cause}")]
    ReadOnly {
        /// The error that closed it.
        cause: String,
    },
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
    /// A job panicked; its transaction was taken back.
    #[error("the write {label} panicked: {message}")]
    JobPanicked {
        /// Label of the job.
        label: &'static str,
        /// What the panic said.
        message: String,
    },
    /// A record is over its limit.
    #[error("a record of {bytes} bytes for table {table} is over the limit of {limit_bytes}")]
    TooLarge {
        /// The table.
        table: &'static str,
        /// Size asked for.
        bytes: u64,
        /// The limit.
        limit_bytes: u64,
    },
    /// The caller asked for what the store's rules forbid.
    #[error("{0}")]
    Invalid(String),
    /// What was asked for is not there.
    #[error("{0}")]
    Missing(String),
    /// The work was cancelled or interrupted before its end.
    #[error("interrupted")]
    Interrupted,
    /// Another long piece of work on the store is under way.
    #[error("another backup, check or restore is under way")]
    Busy,
    /// redb refused for another reason.
    #[error("the storage engine refused: {0}")]
    Engine(String),
}

impl StoreError {
    /// Damage that is not about one row.
    pub(super) fn damaged_file(what: impl Into<String>) -> Self {
        StoreError::Damaged { table: "file", key: "-".into(), what: what.into() }
    }

    /// An error of the system.
    pub(super) fn io(error: &std::io::Error) -> Self {
        if is_full(error) {
            return StoreError::Full { free_bytes: 0, reserve_bytes: 0 };
        }
        StoreError::Io { kind: error.kind(), message: error.to_string() }
    }

    /// True when the same call may succeed once the disk or the store is well again.
    pub fn is_storage(&self) -> bool {
        matches!(self, StoreError::Io { .. } | StoreError::Full { .. } | StoreError::Engine(_) | StoreError::Damaged { .. })
    }
}

impl From<std::io::Error> for StoreError {
    fn from(error: std::io::Error) -> Self {
        StoreError::io(&error)
    }
}

/// True when the disk or the quota is used up.
pub(super) fn is_full(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded)
}

/// Any error of redb as ours.
pub(super) fn engine(error: impl Into<redb::Error>) -> StoreError {
    match error.into() {
        redb::Error::Io(error) => StoreError::io(&error),
        redb::Error::Corrupted(what) => StoreError::damaged_file(what),
        redb::Error::DatabaseClosed => StoreError::Closed,
        redb::Error::PreviousIo => {
            StoreError::Io { kind: std::io::ErrorKind::Other, message: "an error before this one: reopen the store".into() }
        }
        other => StoreError::Engine(other.to_string()),
    }
}

/// What became of a write that was not acknowledged.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum WriteFailure<E> {
    /// The job itself refused; nothing was written.
    #[error("{0}")]
    Job(E),
    /// Nothing was written.
    #[error("not written: {0}")]
    NotDone(StoreError),
    /// It may or may not have been written; repeating it with its key is safe.
    #[error("it is not known whether this was written: {0}")]
    Unknown(StoreError),
    /// Nothing was written: the store takes no writes until it is reopened.
    #[error("the store takes no writes since an error: {cause}")]
    ReadOnly {
        /// The error that closed it to writes.
        cause: String,
    },
    /// Nothing was written: the disk is full.
    #[error("the disk that holds the store is full: {free_bytes} bytes free, {reserve_bytes} kept in reserve")]
    Full {
        /// Bytes free when it was seen.
        free_bytes: u64,
        /// Bytes that writes leave free.
        reserve_bytes: u64,
    },
    /// Nothing was written: too many writes wait.
    #[error("too many writes wait")]
    Overloaded,
    /// Nothing was written: the store is closed.
    #[error("the store is closed")]
    Closed,
}

impl WriteFailure<StoreError> {
    /// The store's error that it comes from.
    pub fn into_store(self) -> StoreError {
        match self {
            WriteFailure::Job(error) | WriteFailure::NotDone(error) | WriteFailure::Unknown(error) => error,
            WriteFailure::ReadOnly { cause } => StoreError::ReadOnly { cause },
            WriteFailure::Full { free_bytes, reserve_bytes } => StoreError::Full { free_bytes, reserve_bytes },
            WriteFailure::Overloaded => StoreError::Busy,
            WriteFailure::Closed => StoreError::Closed,
        }
    }
}

impl<E> WriteFailure<E> {
    /// The answer for a write that was certainly not done.
    pub(super) fn not_done(error: StoreError) -> Self {
        match error {
            StoreError::Full { free_bytes, reserve_bytes } => WriteFailure::Full { free_bytes, reserve_bytes },
            StoreError::ReadOnly { cause } => WriteFailure::ReadOnly { cause },
            StoreError::Closed => WriteFailure::Closed,
            other => WriteFailure::NotDone(other),
        }
    }

    /// True when it is not known whether the write took effect.
    pub fn is_unknown(&self) -> bool {
        matches!(self, WriteFailure::Unknown(_))
    }

    /// The same failure with the job's error turned into another.
    pub fn map_job<F>(self, map: impl FnOnce(E) -> F) -> WriteFailure<F> {
        match self {
            WriteFailure::Job(error) => WriteFailure::Job(map(error)),
            WriteFailure::NotDone(error) => WriteFailure::NotDone(error),
            WriteFailure::Unknown(error) => WriteFailure::Unknown(error),
            WriteFailure::ReadOnly { cause } => WriteFailure::ReadOnly { cause },
            WriteFailure::Full { free_bytes, reserve_bytes } => WriteFailure::Full { free_bytes, reserve_bytes },
            WriteFailure::Overloaded => WriteFailure::Overloaded,
            WriteFailure::Closed => WriteFailure::Closed,
        }
    }
}

/// The store could not be opened. The file was not changed.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another daemon has it.
    #[error("the store in {dir} is in use by {owner}{}", answers_at(.socket))]
    InUse {
        /// Folder of the store.
        dir: PathBuf,
        /// What the lock file says of its owner.
        owner: String,
        /// Where the lock file says that it answers.
        socket: Option<PathBuf>,
    },
    /// The file is not a store of Tiro.
    #[error("{path} is not a store of Tiro ({what}); it was left as it is")]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it is or lacks.
        what: String,
    },
    /// The file has a newer format.
    #[error("{path} has format {found}, this daemon knows {supported}; it was left as it is: update tirod")]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The newest format this build reads.
        supported: u32,
    },
    /// The file is damaged, cut or missing.
    #[error("{path} is damaged ({what}); it was left as it is. {}", way_out(.path, .backup))]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
        /// Newest backup found.
        backup: Option<PathBuf>,
    },
    /// The system refused.
    #[error("the store at {path} cannot be opened: {source}")]
    Store {
        /// The file.
        path: PathBuf,
        /// Why.
        source: StoreError,
    },
}

fn answers_at(socket: &Option<PathBuf>) -> String {
    socket.as_ref().map_or_else(String::new, |path| {
        format!(", which answers at {}: use that socket (TIRO_SOCKET, --socket), or stop it first", path.display())
    })
}

fn way_out(store: &Path, backup: &Option<PathBuf>) -> String {
    match backup {
        Some(path) => format!("last good backup: {}. to put it in place: tiro store restore", path.display()),
        None => format!(
            "no backup was found. one from elsewhere is put in place by: tiro store restore PATH. to begin anew on purpose, move the folder {} away",
            store.parent().unwrap_or(store).display()
        ),
    }
}
