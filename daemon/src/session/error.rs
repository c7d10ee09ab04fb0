//! What the session and turn verbs refuse, and what each refusal is on the wire.
//!
//! Must not know: connections.

use crate::idempotency::KeyError;
use crate::store::{StoreError, WriteFailure};
use tiro_schema::{ErrorKind, ErrorObject};

/// A session or turn verb failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SessionError {
    /// A param does not fit.
    #[error("{path}: {message}")]
    Invalid {
        /// Where.
        path: &'static str,
        /// What is wrong with it.
        message: String,
    },
    /// A param is over a limit.
    #[error("{path}: over the limit of {max}")]
    TooLarge {
        /// Where.
        path: &'static str,
        /// Name of the limit, unit included.
        limit: &'static str,
        /// The limit.
        max: u64,
    },
    /// No such session or turn.
    #[error("there is no {what} {id}")]
    NotFound {
        /// `session` or `turn`.
        what: &'static str,
        /// What was asked for.
        id: String,
    },
    /// The prefix fits several sessions.
    #[error("{prefix} fits {} sessions", candidates.len())]
    Ambiguous {
        /// What was asked for.
        prefix: String,
        /// Ids it fits.
        candidates: Vec<String>,
    },
    /// A turn runs, and the caller did not want to wait in line.
    #[error("session {session} has a running turn")]
    Busy {
        /// The session.
        session: String,
    },
    /// Too many turns wait, or too many clients follow.
    #[error("too many {what}")]
    Overloaded {
        /// What there are too many of.
        what: &'static str,
    },
    /// The turn has ended.
    #[error("turn {turn} has ended")]
    TurnNotActive {
        /// The turn.
        turn: String,
    },
    /// The question was settled before.
    #[error("question {question} is no longer open")]
    QuestionGone {
        /// The question.
        question: String,
    },
    /// There is no model.
    #[error("{reason}")]
    ModelNotConfigured {
        /// Why there is none.
        reason: String,
    },
    /// The daemon is stopping.
    #[error("the daemon stops")]
    Draining,
    /// An idempotency key cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A task of ours ended before its answer.
    #[error("the work ended without an answer")]
    Lost,
    /// The end of a turn could not be stored.
    #[error("the turn ended, but its end could not be stored: {0}")]
    EndNotStored(String),
    /// The store failed while reading.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The store failed while writing.
    #[error("{0}")]
    Write(Box<WriteFailure<StoreError>>),
}

impl SessionError {
    /// A param at `path` does not fit.
    pub(crate) fn invalid(path: &'static str, message: impl Into<String>) -> Self {
        SessionError::Invalid { path, message: message.into() }
    }

    /// A param at `path` is over a limit.
    pub(crate) fn too_large(path: &'static str, limit: &'static str, max: usize) -> Self {
        SessionError::TooLarge { path, limit, max: max as u64 }
    }
}

impl From<WriteFailure<SessionError>> for SessionError {
    fn from(failure: WriteFailure<SessionError>) -> Self {
        match failure {
            WriteFailure::Job(error) => error,
            other => SessionError::Write(Box::new(other.map_job(|_| StoreError::Interrupted))),
        }
    }
}

/// What to do about a missing model, in one line.
pub const MODEL_HINT: &str = "start Ollama or llama.cpp's server on this machine, or set TIRO_MODEL_BASE_URL and TIRO_MODEL_NAME \
     (and TIRO_MODEL_API_KEY), or OPENAI_API_KEY, or write [model] in config.toml; a running daemon learns of it after: tiro daemon stop";

impl From<SessionError> for ErrorObject {
    fn from(error: SessionError) -> Self {
        let message = error.to_string();
        let of = |kind| ErrorObject::new(kind, message.clone());
        match error {
            SessionError::Invalid { path, .. } => of(ErrorKind::InvalidParams).with("path", path),
            SessionError::TooLarge { path, limit, max } => {
                of(ErrorKind::TooLarge).with("path", path).with("limit", limit).with("max", max)
            }
            SessionError::NotFound { .. } => of(ErrorKind::NotFound),
            SessionError::Ambiguous { candidates, .. } => of(ErrorKind::Ambiguous).with("candidates", candidates),
            SessionError::Busy { .. } => of(ErrorKind::SessionBusy),
            SessionError::Overloaded { .. } => of(ErrorKind::Overloaded),
            SessionError::TurnNotActive { .. } => of(ErrorKind::TurnNotActive),
            SessionError::QuestionGone { .. } => of(ErrorKind::QuestionGone),
            SessionError::ModelNotConfigured { .. } => of(ErrorKind::ModelNotConfigured).with_hint(MODEL_HINT),
            SessionError::Draining => of(ErrorKind::Draining),
            SessionError::Key(KeyError::Reused) => of(ErrorKind::KeyReused),
            SessionError::Key(_) => of(ErrorKind::InvalidParams).with("path", "key"),
            SessionError::Lost | SessionError::EndNotStored(_) => of(ErrorKind::Internal),
            SessionError::Store(error) => error.into(),
            SessionError::Write(failure) => (*failure).into(),
        }
    }
}
