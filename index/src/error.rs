//! What can go wrong with the index as a whole. Damage is not in here: what is damaged is rebuilt, not reported as an error.

/// A failure of the index.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The index folder cannot be used at all.
    #[error("index folder {path}: {source}")]
    Folder {
        /// The folder.
        path: std::path::PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The full-text index cannot be written now; searches go on, and writing is tried again.
    #[error("full-text index cannot be written: {0}")]
    Lexical(String),
    /// A snapshot could not be written; nothing is lost, the next start replays more.
    #[error("snapshot cannot be written: {0}")]
    Snapshot(String),
    /// Waiting for the background thread took longer than allowed.
    #[error("background work did not finish within {0} ms")]
    TimedOut(u64),
}

/// Result of an operation of the index.
pub type Result<T> = std::result::Result<T, IndexError>;
