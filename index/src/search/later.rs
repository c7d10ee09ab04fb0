//! What was told again later: of two candidates that are the same but for a value, and that the question cannot tell apart, the newer stands
//! first, whatever noise there is in their evidence. It must not know what a value is, nor what was superseded.
//!
//! Two are told apart by the question when it has a word (function words aside) that one of them holds and the other does not: who asks for the
//! old value by its name finds it. Where the question names a time, time decides.

use super::candidate::Candidate;
use crate::limits::LATER_CANDIDATES_MAX;
use crate::query::{Mode, Query};
use crate::state::State;
use crate::state::slot::Slot;
use crate::tokenize::{Kind, QueryToken, is_function};

/// Share of the shorter and of the longer one's content words (distinct tokens but those of function words) that two have in common from
/// which one tells the other again: the rest is a value, and words of change.
const SHARED: (f32, f32) = (0.5, 0.4);
/// Content words that they have in common at least: who or what, and what of it.
const SHARED_MIN: usize = 2;
/// Evidence that the older one loses at most: where more lies between the two, it is no noise.
const LOSS_MAX: f32 = 0.35;
/// Evidence by which it then stands behind the newer one.
const STEP: f32 = 1e-3;
/// Time by which it has to be newer, milliseconds: what was written down at once, an import say, is in no order of telling.
const LATER_BY_MS: i64 = 60_000;
/// Words of a question that are compared.
const WORDS_MAX: usize = 64;

struct Told<'a> {
    candidate: usize,
    slot: &'a Slot,
    /// Which words of the question it holds, one bit each.
    words: u64,
    /// Its content words, ascending.
    content: Vec<u32>,
    evidence: f32,
}

/// Lowers the evidence of what was told again later, and says so in its features.
pub(super) fn later(state: &State, query: &Query<'_>, tokens: &[QueryToken], candidates: &mut [Candidate]) {
    if query.mode != Mode::Hybrid || !query.spans.is_empty() {
        return;
    }
    // A pair of characters says no more than the two, and may reach into a function word.
    let tells = |kind| !matches!(kind, Kind::Function | Kind::Pair);
    let words: Vec<u32> = tokens.iter().filter(|t| tells(t.kind)).map(|t| t.id).take(WORDS_MAX).collect();
    let mut told = best(state, &words, candidates);
    told.sort_by_key(|one| std::cmp::Reverse((one.slot.happened_at_ms(), one.slot.key)));
    for at in 1..told.len() {
        let (newer, older) = told.split_at_mut(at);
        let older = &mut older[0];
        let twins = newer.iter().filter(|one| tells_again(&candidates[one.candidate], one, &candidates[older.candidate], older));
        let Some(lowest) = twins.map(|one| one.evidence).min_by(f32::total_cmp) else { continue };
        let loss = older.evidence - (lowest - STEP);
        if loss > 0.0 && loss <= LOSS_MAX {
            older.evidence -= loss;
            candidates[older.candidate].lose(loss);
        }
    }
}

/// The candidates that stand highest, of those that hold a word of the question. In a conversation what stands around a document says more.
fn best<'a>(state: &'a State, words: &[u32], candidates: &[Candidate]) -> Vec<Told<'a>> {
    let mut order: Vec<usize> = (0..candidates.len()).filter(|at| !candidates[*at].features.in_conversation).collect();
    let evidence = |at: usize| candidates[at].features.evidence;
    let better = |a: &usize, b: &usize| evidence(*b).total_cmp(&evidence(*a)).then(candidates[*b].key.cmp(&candidates[*a].key));
    if order.len() > LATER_CANDIDATES_MAX {
        order.select_nth_unstable_by(LATER_CANDIDATES_MAX, better);
        order.truncate(LATER_CANDIDATES_MAX);
    }
    let told = |candidate: usize| {
        let slot = state.spaces.get(&candidates[candidate].space)?.slot(candidates[candidate].slot)?;
        let held = |(n, id): (usize, &u32)| u64::from(slot.tokens.count(*id) > 0) << n;
        let words = words.iter().enumerate().map(held).fold(0, |all, bit| all | bit);
        (words != 0).then(|| Told {
            candidate,
            slot,
            words,
            content: slot.tokens.ids().iter().copied().filter(|id| !is_function(*id)).collect(),
            evidence: evidence(candidate),
        })
    };
    order.into_iter().filter_map(told).collect()
}

/// Whether the first is the second told again, later.
fn tells_again(one: &Candidate, one_told: &Told<'_>, other: &Candidate, other_told: &Told<'_>) -> bool {
    let (a, b) = (one_told.slot, other_told.slot);
    one.space == other.space
        && one_told.words == other_told.words
        && a.happened_at_ms() >= b.happened_at_ms().saturating_add(LATER_BY_MS)
        && a.facets.reply == b.facets.reply
        && share_content(&one_told.content, &other_told.content)
}

fn share_content(one: &[u32], other: &[u32]) -> bool {
    let shared = one.iter().filter(|id| other.binary_search(id).is_ok()).count();
    let (shorter, longer) = (one.len().min(other.len()), one.len().max(other.len()));
    let enough = (SHARED.0 * shorter as f32).max(SHARED.1 * longer as f32);
    shared >= SHARED_MIN && shared as f32 >= enough
}
