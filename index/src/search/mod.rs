//! A search: both legs in every space asked for, the union of their candidates, every feature of each, one score, and what is
//! left after threshold and decay. It must not know how the state is kept up to date.

mod alike;
mod around;
mod bm25;
mod candidate;
mod diverse;
mod filter;
mod fuse;
mod gather;
mod later;
mod legs;
mod model;
mod nearest;
mod rank;
mod weights;

pub(crate) use model::AskedModel;
pub(crate) use nearest::nearest;
pub use weights::{WEIGHTS, Weights};

use crate::embed::ZScale;
use crate::query::{Mode, Query};
use crate::result::SearchResult;
use crate::settings::Settings;
use crate::state::State;
use crate::tokenize::{Kind, has_unspaced, query_tokens};
use filter::Eligible;
use gather::{Gathering, gather};
use legs::View;
use rank::rank;

/// What a search needs beside the state and the query.
pub(crate) struct Context<'a> {
    pub(crate) settings: &'a Settings,
    /// Scale of the query's cosines, where it has a vector.
    pub(crate) scale: Option<ZScale>,
    /// The query to the model in use beside the built-in one, where there is one and it answered.
    pub(crate) model: Option<&'a AskedModel<'a>>,
}

impl Context<'_> {
    /// The query vector of the built-in model; an empty one where only the model beside it has one; none where vectors do not count.
    fn vector<'q>(&self, query: &Query<'q>) -> Option<&'q [f32]> {
        let vector = query.vector.or_else(|| self.model.map(|_| &[] as &[f32]));
        vector.filter(|_| query.mode != Mode::Lexical)
    }
}

/// Searches the state. The second value says what is wrong with the full-text index, where reading it failed.
pub(crate) fn search(state: &State, query: &Query<'_>, context: &Context<'_>) -> (SearchResult, Option<String>) {
    let mut damaged = None;
    let tokens = query_tokens(query.text);
    let weights = Weights::of_share(context.model.map_or(context.settings.lexical_weight, |model| model.lexical_weight));
    let gathering = Gathering { query, tokens: &tokens, context, weights, unspaced: has_unspaced(query.text) };
    let content = tokens.iter().any(|token| token.kind != Kind::Function);
    let mut result = SearchResult { seq: state.seq, degraded: degraded(state), ..SearchResult::default() };
    let mut candidates = Vec::new();
    let eligible = Eligible::new(&query.filter);
    let mut spaces = query.spaces.clone();
    spaces.sort_unstable();
    spaces.dedup();
    for number in spaces {
        if let Some(space) = state.spaces.get(&number) {
            let mut view = View::new(state, number, space, &eligible, context.settings.direct_documents_max).with(context.model);
            if query.mode == Mode::Lexical {
                view = view.by_every_token();
            }
            let trouble = gather(&gathering, &view, &mut candidates, &mut result);
            damaged = damaged.or(trouble);
        }
    }
    later::later(state, query, &tokens, &mut candidates);
    rank(state, query, content, candidates, &mut result);
    if let Some(model) = context.model {
        model.show_own(state, &mut result.hits);
    }
    if let Some(reason) = &damaged {
        result.degraded =
            Some(format!("the full-text index is damaged ({reason}) and is being rebuilt; documents are read from memory"));
    }
    (result, damaged)
}

fn degraded(state: &State) -> Option<String> {
    if !state.loaded {
        return Some("the index is still loading".to_owned());
    }
    state
        .trouble
        .as_ref()
        .map(|reason| format!("the full-text index cannot be written ({reason}); newer documents are read from memory"))
}
