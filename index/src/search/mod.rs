//! A search: both legs in every space asked for, the union of their candidates, every feature of each, one score, and what is
//! left after threshold and decay. It must not know how the state is kept up to date.

mod bm25;
mod filter;
mod fuse;
mod legs;

use crate::embed::ZScale;
use crate::limits::{CANDIDATES_MAX, CANDIDATES_MIN, HITS_MAX};
use crate::query::{Filter, Mode, Query};
use crate::result::{Features, Hit, SearchResult, Strength};
use crate::settings::Settings;
use crate::state::State;
use crate::state::space::Space;
use crate::tokenize::{QueryToken, query_tokens};
use bm25::Bm25;
use filter::Eligible;
use legs::View;

/// Candidates a leg brings unless the query says otherwise.
const CANDIDATES_DEFAULT: usize = 100;

/// What a search needs beside the state and the query.
pub(crate) struct Context<'a> {
    pub(crate) settings: &'a Settings,
    /// Scale of the query's cosines, where it has a vector.
    pub(crate) scale: Option<ZScale>,
}

/// A candidate with its space, for decay.
struct Candidate {
    space: u32,
    slot: u32,
    key: u64,
    evidence: f32,
    features: Features,
}

/// Searches the state. The second value says what is wrong with the full-text index, where reading it failed.
pub(crate) fn search(state: &State, query: &Query<'_>, context: &Context<'_>) -> (SearchResult, Option<String>) {
    let mut damaged = None;
    let tokens = query_tokens(query.text);
    let mut result = SearchResult { seq: state.seq, degraded: degraded(state), ..SearchResult::default() };
    let mut candidates = Vec::new();
    let eligible = Eligible::new(&query.filter);
    let mut spaces = query.spaces.clone();
    spaces.sort_unstable();
    spaces.dedup();
    for number in spaces {
        if let Some(space) = state.spaces.get(&number) {
            let view = View::new(state, number, space, &eligible, context.settings.direct_documents_max);
            let trouble = gather(&view, (query, &tokens), context, &mut candidates, &mut result);
            damaged = damaged.or(trouble);
        }
    }
    rank(state, query, candidates, &mut result);
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

/// Keys of the eligible documents of one space nearest by vector and by words, with their approximate cosines; nothing is scored.
pub(crate) fn nearest(
    state: &State,
    settings: &Settings,
    number: u32,
    filter: &Filter,
    (tokens, by_words): (&[QueryToken], usize),
    vector: Option<(&[f32], usize)>,
) -> Vec<(u64, Option<f32>)> {
    let Some(space) = state.spaces.get(&number) else { return Vec::new() };
    let eligible = Eligible::new(filter);
    let view = View::new(state, number, space, &eligible, settings.direct_documents_max);
    let mut found: Vec<(u32, Option<f32>)> = Vec::new();
    if let Some((vector, k)) = vector {
        found.extend(view.by_vector(vector, k).found.into_iter().map(|(slot, cosine)| (slot, Some(cosine))));
    }
    if by_words > 0 && !tokens.is_empty() {
        let bm25 = Bm25::new(tokens, &space.statistics);
        let new: Vec<u32> = view.by_words(&bm25, by_words).found.into_iter().map(|(slot, _)| slot).collect();
        let new: Vec<u32> = new.into_iter().filter(|slot| found.iter().all(|(known, _)| known != slot)).collect();
        let cosines = vector.map(|(vector, _)| space.vectors.cosines(vector, &new));
        found.extend(new.iter().enumerate().map(|(n, slot)| (*slot, cosines.as_ref().and_then(|c| c.get(n).copied().flatten()))));
    }
    found.into_iter().filter_map(|(slot, cosine)| Some((space.slot(slot)?.key, cosine))).collect()
}

/// Both legs of one space, every feature of each candidate.
fn gather(
    view: &View<'_>,
    (query, tokens): (&Query<'_>, &[QueryToken]),
    context: &Context<'_>,
    out: &mut Vec<Candidate>,
    result: &mut SearchResult,
) -> Option<String> {
    let mut trouble = None;
    let limit = match query.candidates {
        0 => CANDIDATES_DEFAULT,
        wanted => wanted.clamp(CANDIDATES_MIN, CANDIDATES_MAX),
    }
    .max(query.limit.min(HITS_MAX));
    let bm25 = Bm25::new(tokens, &view.space.statistics);
    let vector = query.vector.filter(|_| query.mode != Mode::Lexical);
    let mut found: Vec<(u32, Option<f32>, Option<f32>)> = Vec::with_capacity(2 * limit);
    if query.mode != Mode::Vector && !tokens.is_empty() {
        let leg = view.by_words(&bm25, limit);
        note(result, &leg);
        trouble = leg.trouble;
        found.extend(leg.found.into_iter().map(|(slot, score)| (slot, Some(score), None)));
    }
    if let Some(vector) = vector {
        let leg = view.by_vector(vector, limit);
        note(result, &leg);
        found.extend(leg.found.into_iter().map(|(slot, score)| (slot, None, Some(score))));
    }
    found.sort_unstable_by_key(|candidate| candidate.0);
    // The scan's cosines chose the candidates; what is scored are the exact ones.
    let slots: Vec<u32> = found.chunk_by(|a, b| a.0 == b.0).map(|same| same[0].0).collect();
    let mut cosines = vector.map(|vector| view.space.vectors.cosines(vector, &slots)).unwrap_or_default().into_iter();
    for same in found.chunk_by(|a, b| a.0 == b.0) {
        let (by_words, by_vector) = (same.iter().find_map(|c| c.1), same.iter().find_map(|c| c.2));
        let cosine = cosines.next().flatten();
        let Some(slot) = view.space.slot(same[0].0) else { continue };
        let bm25_score = by_words.unwrap_or_else(|| bm25.score(&slot.tokens));
        let features = Features {
            bm25: bm25_score,
            ideal: bm25.ideal(),
            lexical: if bm25.ideal() > 0.0 { bm25_score / bm25.ideal() } else { 0.0 },
            cosine,
            lexical_rank: by_words.map(|_| 0),
            vector_rank: by_vector.map(|_| 0),
            decay: 1.0,
            ..Features::default()
        };
        let mut candidate = Candidate { space: view.number, slot: same[0].0, key: slot.key, evidence: 0.0, features };
        candidate.weigh(query.mode, context);
        out.push(candidate);
    }
    trouble
}

fn note(result: &mut SearchResult, leg: &legs::Leg) {
    for &served in &leg.served_by {
        if !result.served_by.contains(&served) {
            result.served_by.push(served);
        }
    }
}

impl Candidate {
    /// How sure it is, among the documents of its space.
    fn strength(&self, space: &Space) -> Strength {
        fuse::strength(self.features.relevance, self.features.z, space.statistics.documents as usize)
    }

    /// Evidence and relevance from the features.
    fn weigh(&mut self, mode: Mode, context: &Context<'_>) {
        let features = &mut self.features;
        let scale = context.scale.unwrap_or(ZScale { mean: 0.0, sd: 1.0 });
        let mode = if mode == Mode::Hybrid && context.scale.is_none() { Mode::Lexical } else { mode };
        features.z = features.cosine.filter(|_| context.scale.is_some()).map(|cosine| scale.z(cosine));
        let dense = features.cosine.map(|cosine| fuse::dense(scale, cosine));
        self.evidence = fuse::evidence(mode, context.settings.lexical_weight, features.lexical, dense);
        features.relevance = fuse::relevance(mode, self.evidence);
    }
}

/// Ranks, threshold, decay, limit.
fn rank(state: &State, query: &Query<'_>, mut candidates: Vec<Candidate>, result: &mut SearchResult) {
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
    number(&mut candidates, |_| true, |c| c.evidence, |c, rank| c.features.rank_without_decay = rank);
    let keeps = |candidate: &Candidate| match query.threshold {
        Some(threshold) => candidate.features.relevance >= threshold,
        None => state.spaces.get(&candidate.space).is_some_and(|space| candidate.strength(space) != Strength::None),
    };
    let limit = query.limit.min(HITS_MAX);
    let found = candidates.len();
    candidates.retain(keeps);
    result.below_threshold = found.min(limit).saturating_sub(candidates.len());
    let mut hits: Vec<Hit> =
        candidates.into_iter().filter_map(|candidate| finish(state.spaces.get(&candidate.space)?, candidate, query)).collect();
    hits.sort_by(|a, b| {
        let evidence = a.features.rank_without_decay.cmp(&b.features.rank_without_decay);
        b.score.total_cmp(&a.score).then(evidence)
    });
    hits.truncate(limit);
    result.hits = hits;
}

fn finish(space: &Space, candidate: Candidate, query: &Query<'_>) -> Option<Hit> {
    let slot = space.slot(candidate.slot)?;
    let strength = candidate.strength(space);
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
