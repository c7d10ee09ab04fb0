//! The full-text index: which documents hold which tokens, on disk, for candidates. It keeps numbers, no text, and is never
//! believed: what it brings is scored anew from memory. It must not know scores, filters or the store.

mod indexer;
mod open;
mod reader;
mod schema;
mod stored;
mod writer;

pub(crate) use indexer::{Indexer, Running, Work, open_and_reconcile};
pub(crate) use reader::{Question, Reader};
pub(crate) use stored::stored;
