//! The neighbours of a text about to be written: nearest by vector and by words, to be compared by the caller. It must not know scores.

use super::bm25::Bm25;
use super::filter::Eligible;
use super::legs::View;
use crate::limits::NEAR_TOKENS_MAX;
use crate::near::Neighbour;
use crate::query::Filter;
use crate::settings::Settings;
use crate::state::State;
use crate::tokenize::QueryToken;

/// The eligible documents of one space nearest by vector and by words; nothing is scored.
pub(crate) fn nearest(
    state: &State,
    settings: &Settings,
    number: u32,
    filter: &Filter,
    (tokens, by_words): (&[QueryToken], usize),
    vector: Option<(&[f32], usize)>,
) -> Vec<Neighbour> {
    let Some(space) = state.spaces.get(&number) else { return Vec::new() };
    let eligible = Eligible::new(filter);
    let view = View::new(state, number, space, &eligible, settings.direct_documents_max);
    let mut found: Vec<(u32, Option<f32>)> = Vec::new();
    if let Some((vector, k)) = vector {
        found.extend(view.by_vector(vector, k).found.into_iter().map(|(slot, cosine)| (slot, Some(cosine))));
    }
    if by_words > 0 && !tokens.is_empty() {
        let mut rarest = tokens.to_vec();
        rarest.sort_by_key(|token| space.statistics.frequency(token.id));
        rarest.truncate(NEAR_TOKENS_MAX);
        let bm25 = Bm25::new(&rarest, &space.statistics);
        let new: Vec<u32> = view.by_words(&bm25, by_words).found.into_iter().map(|(slot, _)| slot).collect();
        let new: Vec<u32> = new.into_iter().filter(|slot| found.iter().all(|(known, _)| known != slot)).collect();
        let cosines = vector.map(|(vector, _)| space.vectors.cosines(vector, &new));
        found.extend(new.iter().enumerate().map(|(n, slot)| (*slot, cosines.as_ref().and_then(|c| c.get(n).copied().flatten()))));
    }
    let neighbour = |(at, cosine)| {
        let slot = space.slot(at)?;
        let ids = slot.tokens.ids();
        let shared = tokens.iter().filter(|token| ids.binary_search(&token.id).is_ok()).count();
        Some(Neighbour { key: slot.key, cosine, tokens: (ids.len() as u32, shared as u32) })
    };
    found.into_iter().filter_map(neighbour).collect()
}
