//! Near-duplicates give way: of the best hits the next is, each time, the one whose score is the highest once what it repeats of those before
//! it is taken off. It must not know how scores come about.
//!
//! Carbonell and Goldstein, "The Use of MMR, Diversity-Based Reranking" (1998), with a product in the place of the difference, so that scores
//! near 0 and near 1 give way alike.

use super::alike::{Placed, likeness};
use crate::limits::DIVERSITY_HITS_MAX;
use crate::result::{GaveWay, Hit};
use crate::state::State;

/// Puts the hits, best first, in the order in which they are to be given, as far as `limit`: a hit counts `1 - diversity x likeness` of its
/// score, by the likeness to the one before it that it repeats most. Scores stay. Ties by the order before.
pub(super) fn diversify(state: &State, diversity: f32, limit: usize, hits: &mut Vec<Hit>) {
    let rest = hits.split_off(hits.len().min(DIVERSITY_HITS_MAX));
    let mut waiting: Vec<(Hit, Option<Placed<'_>>)> = hits.drain(..).map(|hit| (hit, document(state, hit.key))).collect();
    while hits.len() < limit && !waiting.is_empty() {
        let worth = |hit: &Hit| hit.score * hit.features.gave_way.map_or(1.0, |gave_way| gave_way.factor);
        // The first of equals: `max_by` would take the last.
        let best = (0..waiting.len()).rev().max_by(|&a, &b| worth(&waiting[a].0).total_cmp(&worth(&waiting[b].0)));
        let Some(best) = best else { break };
        let (chosen, given) = waiting.remove(best);
        for (hit, document) in &mut waiting {
            let alike = document.zip(given).map_or(0.0, |(one, other)| likeness(one, other));
            if alike > hit.features.gave_way.map_or(0.0, |gave_way| gave_way.likeness) {
                let factor = 1.0 - diversity * alike;
                hit.features.gave_way = Some(GaveWay { key: chosen.key, likeness: alike, factor });
            }
        }
        hits.push(chosen);
    }
    hits.extend(waiting.into_iter().map(|(hit, _)| hit).chain(rest));
}

fn document(state: &State, key: u64) -> Option<Placed<'_>> {
    let (space, at) = state.locate(key)?;
    let space = state.spaces.get(&space)?;
    Some((space.slot(at)?, &space.vectors, at))
}
