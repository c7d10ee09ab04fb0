//! What the memory verbs refuse, and what each refusal is on the wire.
//!
//! Must not know: connections.

use crate::idempotency::KeyError;
use crate::store::{StoreError, WriteFailure};
use tiro_schema::{ErrorKind, ErrorObject};

/// A memory verb failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MemoryError {
    /// A param does not fit.
    #[error("{path}: {message}")]
    Invalid {
        /// Where, as `filter.tags[2]`.
        path: String,
        /// What is wrong with it.
        message: String,
    },
    /// A param is over a limit.
    #[error("{path}: over the limit of {max}")]
    TooLarge {
        /// Where.
        path: String,
        /// Name of the limit, unit included.
        limit: &'static str,
        /// The limit.
        max: u64,
    },
    /// No such memory.
    #[error("there is no memory {id}")]
    NotFound {
        /// What was asked for.
        id: String,
    },
    /// The prefix fits several memories.
    #[error("{prefix} fits {} memories", candidates.len())]
    Ambiguous {
        /// What was asked for.
        prefix: String,
        /// Ids it fits.
        candidates: Vec<String>,
    },
    /// The memory changed since.
    #[error("memory {id} has version {current}")]
    VersionMismatch {
        /// The memory.
        id: String,
        /// Its version.
        current: u32,
    },
    /// The text holds a secret.
    #[error("{path} holds a secret ({secret}) and was not kept")]
    Secret {
        /// Where.
        path: &'static str,
        /// Its kind; never its value.
        secret: &'static str,
    },
    /// There is no change to take back.
    #[error("memory {id} has no change to take back: {why}")]
    NothingToUndo {
        /// The memory.
        id: String,
        /// Why.
        why: &'static str,
    },
    /// Taking a change back would leave two memories current, or hide what was done since.
    #[error("memory {id} cannot be brought back: memory {other} {why}")]
    UndoInTheWay {
        /// The memory.
        id: String,
        /// The one in the way.
        other: String,
        /// What is with that one.
        why: &'static str,
        /// What to do about it.
        hint: &'static str,
    },
    /// No such recall, or none any more.
    #[error("there is no recall {id}, or it is too long ago")]
    NoRecall {
        /// What was asked for.
        id: String,
    },
    /// A rule of the space forbids it.
    #[error("the rules of the space {space} do not let this program {right} it")]
    Denied {
        /// The space.
        space: String,
        /// What it may not do.
        right: &'static str,
    },
    /// The space has no room for it.
    #[error("the space {space} is full: its quota is {max} {quota}")]
    Quota {
        /// The space.
        space: String,
        /// `memories` or `bytes`.
        quota: &'static str,
        /// The quota.
        max: u64,
    },
    /// No such conflict.
    #[error("there is no conflict {id}")]
    NoConflict {
        /// What was asked for.
        id: String,
    },
    /// No such receipt.
    #[error("no receipt names {id}: it was not purged, or longer ago than receipts are kept")]
    NoReceipt {
        /// What was asked for.
        id: String,
    },
    /// The memory was purged, or is being.
    #[error("memory {id} was purged, as was asked for at {at}: it is gone, and no undo brings it back")]
    Purged {
        /// The memory.
        id: String,
        /// When the purge was decided on.
        at: String,
    },
    /// The conflict is not open any more.
    #[error("conflict {id} is not open: it was settled, or one of its memories is not current any more")]
    Settled {
        /// The conflict.
        id: String,
    },
    /// An idempotency key cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The caller cancelled.
    #[error("cancelled")]
    Cancelled,
    /// A thread of ours ended before its answer.
    #[error("the work ended without an answer")]
    Lost,
    /// The index folder cannot be used.
    #[error("{0}")]
    Index(String),
    /// The store failed while reading.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The store failed while writing.
    #[error("{0}")]
    Write(Box<WriteFailure<StoreError>>),
}

impl MemoryError {
    /// A param at `path` does not fit.
    pub(super) fn invalid(path: impl Into<String>, message: impl Into<String>) -> Self {
        MemoryError::Invalid { path: path.into(), message: message.into() }
    }

    /// A param at `path` is over a limit.
    pub(super) fn too_large(path: impl Into<String>, limit: &'static str, max: usize) -> Self {
        MemoryError::TooLarge { path: path.into(), limit, max: max as u64 }
    }

    /// The same error about an item of a list.
    pub(super) fn under(self, prefix: &str) -> Self {
        match self {
            MemoryError::Invalid { path, message } => MemoryError::Invalid { path: join(prefix, &path), message },
            MemoryError::TooLarge { path, limit, max } => MemoryError::TooLarge { path: join(prefix, &path), limit, max },
            other => other,
        }
    }
}

fn join(prefix: &str, path: &str) -> String {
    if path.is_empty() { prefix.to_owned() } else { format!("{prefix}.{path}") }
}

impl From<WriteFailure<MemoryError>> for MemoryError {
    fn from(failure: WriteFailure<MemoryError>) -> Self {
        match failure {
            WriteFailure::Job(error) => error,
            other => MemoryError::Write(Box::new(other.map_job(|_| StoreError::Interrupted))),
        }
    }
}

impl From<WriteFailure<StoreError>> for MemoryError {
    fn from(failure: WriteFailure<StoreError>) -> Self {
        MemoryError::Write(Box::new(failure))
    }
}

impl From<MemoryError> for ErrorObject {
    fn from(error: MemoryError) -> Self {
        let message = error.to_string();
        let of = |kind| ErrorObject::new(kind, message.clone());
        match error {
            MemoryError::Invalid { path, .. } => of(ErrorKind::InvalidParams).with("path", path),
            MemoryError::TooLarge { path, limit, max } => {
                of(ErrorKind::TooLarge).with("path", path).with("limit", limit).with("max", max)
            }
            MemoryError::NotFound { .. } => of(ErrorKind::NotFound),
            MemoryError::Denied { space, right } => of(ErrorKind::PolicyDenied)
                .with("space", space)
                .with("right", right)
                .with_hint("`tiro space show NAME` says who may; `tiro space set NAME` changes it"),
            MemoryError::Quota { space, quota, max } => of(ErrorKind::PolicyDenied)
                .with("space", space)
                .with("quota", quota)
                .with("max", max)
                .with_hint("forget what is not needed any more, or raise the quota: tiro space set NAME"),
            MemoryError::NoRecall { .. } => of(ErrorKind::NotFound)
                .with_hint("give the recallId of a recent memory/recall or memory/context: the last 20,000 rows of the audit are looked through"),
            MemoryError::NoReceipt { .. } => of(ErrorKind::NotFound).with_hint("memory/receipts without an id lists them"),
            MemoryError::Purged { .. } => of(ErrorKind::NotFound).with_hint("memory/receipts with this id tells when each place was without it"),
            MemoryError::NoConflict { .. } => of(ErrorKind::NotFound).with_hint("memory/conflicts lists the open ones"),
            MemoryError::Settled { .. } => of(ErrorKind::InvalidParams)
                .with("path", "id")
                .with_hint("memory/history of either memory says how it stands; memory/undo with the conflict's whole id opens a settled one again"),
            MemoryError::Ambiguous { candidates, .. } => of(ErrorKind::Ambiguous).with("candidates", candidates),
            MemoryError::VersionMismatch { current, .. } => of(ErrorKind::VersionMismatch).with("currentVersion", current),
            MemoryError::Secret { path, secret } => of(ErrorKind::SecretRefused).with("path", path).with("secret", secret),
            MemoryError::NothingToUndo { .. } => of(ErrorKind::InvalidParams)
                .with("path", "id")
                .with_hint("only the last change of a memory can be taken back; to take a new memory back, forget it"),
            MemoryError::UndoInTheWay { hint, .. } => of(ErrorKind::InvalidParams).with("path", "id").with_hint(hint),
            MemoryError::Key(KeyError::Reused) => of(ErrorKind::KeyReused),
            MemoryError::Key(_) => of(ErrorKind::InvalidParams).with("path", "key"),
            MemoryError::Cancelled => of(ErrorKind::Cancelled),
            MemoryError::Lost | MemoryError::Index(_) => of(ErrorKind::Internal),
            MemoryError::Store(error) => error.into(),
            MemoryError::Write(failure) => (*failure).into(),
        }
    }
}
