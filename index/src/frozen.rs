//! A search over documents that no longer change, in memory alone: the same scoring and ranking as of the living index, served
//! from the forward index and the exact vectors. It must not know why somebody looks at such a state.

use crate::document::{Change, Prepared};
use crate::query::Query;
use crate::result::SearchResult;
use crate::search::{self, Context};
use crate::settings::{Calibration, Settings};
use crate::state::State;

/// The documents and what a search of them needs.
pub struct Frozen {
    state: State,
    settings: Settings,
    calibration: Calibration,
}

impl Frozen {
    /// An empty one for vectors of `dim`.
    pub fn new(dim: usize, settings: Settings, calibration: Calibration) -> Self {
        let mut state = State::new(dim);
        state.loaded = true;
        Self { state, settings, calibration }
    }

    /// Puts documents in; of two with the same key the one with the higher sequence stays.
    pub fn put(&mut self, documents: Vec<Prepared>) {
        for document in documents {
            self.state.apply(Change::Upsert(document));
        }
    }

    /// Documents held.
    pub fn len(&self) -> usize {
        self.state.len()
    }

    /// Whether none is held.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Searches. Never fails. Reads every eligible document.
    pub fn search(&self, query: &Query<'_>) -> SearchResult {
        let vector = query.vector.filter(|vector| vector.len() == self.state.dim && vector.iter().all(|x| x.is_finite()));
        let scale = vector.map(|vector| (self.calibration)(vector));
        let query = Query { vector, ..query.clone() };
        let context = Context { settings: &self.settings, scale, model: None };
        search::search(&self.state, &query, &context).0
    }
}
