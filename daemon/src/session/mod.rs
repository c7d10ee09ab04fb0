//! Sessions: their metadata, the message timeline, turns, and the durable events that clients follow.
//!
//! Must not know: how a turn decides, models' wires, sockets. Everything that changes a session is one transaction here,
//! and its events go out after the commit, in order.

pub mod context;
mod details;
mod error;
mod feed;
mod fields;
mod fork;
mod history;
mod journal;
mod questions;
mod results;
mod rows;
mod state;
mod summary;
mod verbs;

pub use details::{DetailsChange, TurnDetails};
pub use error::SessionError;
pub use feed::{Feed, Feeds};
pub use history::{
    RESULT_UNKNOWN, assistant_blocks, call_block, chat_messages, load_history, open_calls, with_every_call_answered,
};
pub use journal::{Entry, NewEvent, NewMessage};
pub use questions::{QUESTION_ANSWERED, QUESTION_PENDING, QUESTION_WITHDRAWN, Settled};
pub use results::{NewResult, Page, parse_number, parse_reference, reference};
pub use rows::{id_text, wire_turn};
pub use state::SessionState;
pub use summary::{FieldValue, Item, Summary};

use crate::clock::SharedClock;
use crate::store::Store;
use std::sync::Arc;

/// Everything about sessions that lives. Cheap to clone.
#[derive(Clone)]
pub struct Sessions {
    store: Store,
    clock: SharedClock,
    feeds: Arc<Feeds>,
}

impl Sessions {
    /// Over an open store.
    pub fn new(store: Store, clock: SharedClock) -> Sessions {
        Sessions { store, clock, feeds: Arc::default() }
    }

    /// The store beneath.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The clock.
    pub fn clock(&self) -> &SharedClock {
        &self.clock
    }

    /// Who follows which session.
    pub fn feeds(&self) -> &Arc<Feeds> {
        &self.feeds
    }
}
