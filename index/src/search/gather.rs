//! The candidates of one space: the union of both legs and, in conversations, what stands next to the best of them, each with every
//! feature. It must not know thresholds or decay.

use super::around::Surroundings;
use super::bm25::Bm25;
use super::candidate::Candidate;
use super::legs::{Leg, View};
use super::weights::Weights;
use super::{Context, fuse};
use crate::limits::{CANDIDATES_MAX, CANDIDATES_MIN, CONTEXT_CANDIDATES_MAX, CONTEXT_SEEDS_MAX, HITS_MAX, QUERY_SPANS_MAX};
use crate::query::{Mode, Query};
use crate::result::{Features, SearchResult};
use crate::state::slot::Slot;
use crate::tokenize::QueryToken;
use std::collections::HashSet;

/// Candidates a leg brings unless the query says otherwise.
const CANDIDATES_DEFAULT: usize = 100;

/// What is the same for every space of a search.
pub(super) struct Gathering<'a> {
    pub(super) query: &'a Query<'a>,
    pub(super) tokens: &'a [QueryToken],
    pub(super) context: &'a Context<'a>,
    pub(super) weights: Weights,
    /// Whether the text has characters of a script written without spaces.
    pub(super) unspaced: bool,
}

/// A document that a leg brought, with its score in each.
struct Found {
    slot: u32,
    bm25: Option<f32>,
    cosine: Option<f32>,
}

/// Candidates of one space, every feature of each. Gives what is wrong with the full-text index, if anything.
pub(super) fn gather(
    gathering: &Gathering<'_>,
    view: &View<'_>,
    out: &mut Vec<Candidate>,
    result: &mut SearchResult,
) -> Option<String> {
    let query = gathering.query;
    let bm25 = Bm25::new(gathering.tokens, &view.space.statistics);
    let (found, trouble) = legs(gathering, view, &bm25, result);
    // The scan's cosines chose the candidates; what is scored are the exact ones.
    let slots: Vec<u32> = found.iter().map(|one| one.slot).collect();
    let mut cosines = gathering.cosines(view, &slots).into_iter();
    let mut candidates: Vec<Candidate> = Vec::with_capacity(found.len());
    for one in found {
        let cosine = cosines.next().flatten();
        if let Some(slot) = view.space.slot(one.slot) {
            let mut candidate = gathering.candidate(view, &bm25, one.slot, slot, one.bm25);
            candidate.features.cosine = cosine;
            candidate.features.lexical_rank = one.bm25.map(|_| 0);
            candidate.features.vector_rank = one.cosine.map(|_| 0);
            candidates.push(candidate);
        }
    }
    let mut surroundings = Surroundings::new(view.space, &bm25);
    if query.mode == Mode::Hybrid && surroundings.are_there() {
        gathering.keep_best(&mut candidates);
        gathering.add_neighbours(view, &bm25, &surroundings, &mut candidates);
        gathering.look_around(view, &mut surroundings, &mut candidates);
    }
    for mut candidate in candidates {
        candidate.weigh(query.mode, gathering.context.scale, &gathering.weights);
        out.push(candidate);
    }
    trouble
}

/// The union of both legs, by slot.
fn legs(gathering: &Gathering<'_>, view: &View<'_>, bm25: &Bm25, result: &mut SearchResult) -> (Vec<Found>, Option<String>) {
    let query = gathering.query;
    let limit = match query.candidates {
        0 => CANDIDATES_DEFAULT,
        wanted => wanted.clamp(CANDIDATES_MIN, CANDIDATES_MAX),
    }
    .max(query.limit.min(HITS_MAX));
    let mut trouble = None;
    let mut found: Vec<Found> = Vec::with_capacity(2 * limit);
    if query.mode != Mode::Vector && !gathering.tokens.is_empty() {
        let leg = view.by_words(bm25, limit);
        note(result, &leg);
        trouble = leg.trouble;
        found.extend(leg.found.into_iter().map(|(slot, score)| Found { slot, bm25: Some(score), cosine: None }));
    }
    if let Some(vector) = gathering.context.vector(query) {
        let leg = view.by_vector(vector, limit);
        note(result, &leg);
        found.extend(leg.found.into_iter().map(|(slot, score)| Found { slot, bm25: None, cosine: Some(score) }));
    }
    found.sort_unstable_by_key(|one| one.slot);
    found.dedup_by(|second, first| {
        let same = second.slot == first.slot;
        if same {
            first.bm25 = first.bm25.or(second.bm25);
            first.cosine = first.cosine.or(second.cosine);
        }
        same
    });
    (found, trouble)
}

fn note(result: &mut SearchResult, leg: &Leg) {
    for &served in &leg.served_by {
        if !result.served_by.contains(&served) {
            result.served_by.push(served);
        }
    }
}

impl Gathering<'_> {
    /// Cosines of some slots, none where the search uses no vectors.
    fn cosines(&self, view: &View<'_>, slots: &[u32]) -> Vec<Option<f32>> {
        self.context.vector(self.query).map(|vector| view.cosines(vector, slots)).unwrap_or_default()
    }

    /// A document with the features that need nothing but itself and the query; its windows are itself.
    fn candidate(&self, view: &View<'_>, bm25: &Bm25, at: u32, slot: &Slot, score: Option<f32>) -> Candidate {
        let ideal = bm25.ideal();
        let (score, covered) = match score {
            Some(score) => (score, bm25.covered(&slot.tokens)),
            None => bm25.score_and_covered(&slot.tokens),
        };
        let lexical = if ideal > 0.0 { score / ideal } else { 0.0 };
        let named = slot.name != 0 && self.tokens.iter().any(|token| token.id == slot.name);
        let spans = &self.query.spans[..self.query.spans.len().min(QUERY_SPANS_MAX)];
        let features = Features {
            bm25: score,
            ideal,
            lexical,
            covered,
            near: lexical,
            far: lexical,
            speaker: f32::from(u8::from(named)),
            reply: f32::from(u8::from(slot.facets.reply)),
            time: if spans.is_empty() { 0.0 } else { fuse::time(spans, slot.happened_at_ms()) },
            across_scripts: self.unspaced != slot.facets.unspaced,
            decay: 1.0,
            ..Features::default()
        };
        Candidate { space: view.number, slot: at, key: slot.key, features, cosine_beside: None }
    }

    /// Leaves the best by what is known of each alone, so that the work around them is bounded.
    fn keep_best(&self, candidates: &mut Vec<Candidate>) {
        for candidate in candidates.iter_mut() {
            candidate.weigh(Mode::Hybrid, self.context.scale, &self.weights);
        }
        candidates.sort_unstable_by(|a, b| b.features.evidence.total_cmp(&a.features.evidence).then(b.key.cmp(&a.key)));
        candidates.truncate(CONTEXT_CANDIDATES_MAX.max(self.query.limit.min(HITS_MAX)));
    }

    /// What stands next to the best becomes a candidate: an answer may share no word with the question that was asked before it.
    fn add_neighbours(&self, view: &View<'_>, bm25: &Bm25, surroundings: &Surroundings<'_>, candidates: &mut Vec<Candidate>) {
        let mut known: HashSet<u32> = candidates.iter().map(|candidate| candidate.slot).collect();
        let seeds = candidates.iter().take(CONTEXT_SEEDS_MAX).filter_map(|seed| view.space.slot(seed.slot));
        let next: Vec<u32> = seeds.flat_map(|slot| surroundings.next_to(slot)).filter(|&at| known.insert(at)).collect();
        let next: Vec<(u32, &Slot)> = next
            .into_iter()
            .filter_map(|at| Some((at, view.space.slot(at)?)))
            .filter(|(_, slot)| view.eligible.admits(slot))
            .collect();
        let slots: Vec<u32> = next.iter().map(|one| one.0).collect();
        let mut cosines = self.cosines(view, &slots).into_iter();
        for (at, slot) in next {
            let mut candidate = self.candidate(view, bm25, at, slot, None);
            candidate.features.cosine = cosines.next().flatten();
            candidates.push(candidate);
        }
    }

    /// The features of the conversation around each candidate.
    fn look_around(&self, view: &View<'_>, surroundings: &mut Surroundings<'_>, candidates: &mut [Candidate]) {
        let mut beside = Vec::with_capacity(candidates.len() * 2);
        for candidate in candidates.iter_mut() {
            let Some(slot) = view.space.slot(candidate.slot) else { continue };
            let around = surroundings.around(candidate.slot, slot);
            let features = &mut candidate.features;
            (features.near, features.far, features.answers) = (around.near, around.far, around.answers);
            features.in_conversation = around.in_company;
            beside.extend(around.beside.map(|at| at.unwrap_or(u32::MAX)));
        }
        let cosines = self.cosines(view, &beside);
        for (candidate, pair) in candidates.iter_mut().zip(cosines.chunks(2)) {
            candidate.cosine_beside = pair.iter().flatten().copied().reduce(f32::max);
        }
    }
}
