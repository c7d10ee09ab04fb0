//! From weighed candidates to hits: ranks, threshold, decay, limit. It must not know what the features are.

use super::candidate::Candidate;
use super::diverse::diversify;
use super::fuse;
use crate::limits::HITS_MAX;
use crate::query::Query;
use crate::result::{Hit, SearchResult, Strength};
use crate::state::State;
use crate::state::space::Space;

/// Fills in the hits; `content` says whether the query has more than function words.
pub(super) fn rank(state: &State, query: &Query<'_>, content: bool, mut candidates: Vec<Candidate>, result: &mut SearchResult) {
    number(
        &mut candidates,
        |c| c.features.lexical_rank.is_some(),
        |c| c.features.lexical,
        |c, rank| c.features.lexical_rank = Some(rank),
    );
    number(
        &mut candidates,
        |c| c.features.vector_rank.is_some(),
        |c| c.features.cosine.unwrap_or(-1.0),
        |c, rank| c.features.vector_rank = Some(rank),
    );
    number(&mut candidates, |_| true, |c| c.features.evidence, |c, rank| c.features.rank_without_decay = rank);
    let keeps = |candidate: &Candidate| match query.threshold {
        Some(threshold) => candidate.features.relevance >= threshold,
        None => state
            .spaces
            .get(&candidate.space)
            .is_some_and(|space| candidate.strength(query.mode, content, space) != Strength::None),
    };
    let limit = query.limit.min(HITS_MAX);
    let found = candidates.len();
    candidates.retain(keeps);
    result.below_threshold = found.min(limit).saturating_sub(candidates.len());
    let mut hits: Vec<Hit> = candidates
        .into_iter()
        .filter_map(|candidate| finish(state.spaces.get(&candidate.space)?, candidate, query, content))
        .collect();
    hits.sort_by(|a, b| {
        let evidence = a.features.rank_without_decay.cmp(&b.features.rank_without_decay);
        b.score.total_cmp(&a.score).then(evidence)
    });
    if query.diversity > 0.0 {
        diversify(state, query.diversity.min(1.0), limit, &mut hits);
    }
    hits.truncate(limit);
    result.hits = hits;
}

fn finish(space: &Space, candidate: Candidate, query: &Query<'_>, content: bool) -> Option<Hit> {
    let slot = space.slot(candidate.slot)?;
    let strength = candidate.strength(query.mode, content, space);
    let mut features = candidate.features;
    if let Some(params) = &query.decay {
        let aging = fuse::Aging {
            happened_at_ms: slot.happened_at_ms(),
            last_used_at_ms: slot.last_used_at_ms,
            use_count: slot.use_count,
            category: slot.facets.category,
            pinned: slot.facets.pinned,
        };
        (features.age_ms, features.decay) = fuse::decay(params, &aging);
    }
    Some(Hit {
        key: slot.key,
        seq: slot.seq,
        space: candidate.space,
        score: features.relevance * features.decay,
        strength,
        features,
    })
}

/// Numbers some candidates from 1, highest value first, ties by newer key.
fn number(
    candidates: &mut [Candidate],
    which: impl Fn(&Candidate) -> bool,
    value: impl Fn(&Candidate) -> f32,
    set: impl Fn(&mut Candidate, u32),
) {
    let mut order: Vec<usize> = (0..candidates.len()).filter(|&i| which(&candidates[i])).collect();
    order.sort_unstable_by(|&a, &b| {
        value(&candidates[b]).total_cmp(&value(&candidates[a])).then(candidates[b].key.cmp(&candidates[a].key))
    });
    for (rank, i) in order.into_iter().enumerate() {
        set(&mut candidates[i], rank as u32 + 1);
    }
}
