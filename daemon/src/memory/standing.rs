//! Memories that stand whatever is asked: instructions, preferences, constraints, and who somebody is.
//!
//! Candidates come from the index by their category; what of a text stands, and how firmly, is computed from it when it is
//! read. Must not know: how a block is laid out.

use super::gate::{Firmness, standing, telling_words};
use super::recall::FoundHit;
use super::recall_plan::Plan;
use super::{Memory, MemoryError};
use crate::caller::Caller;
use crate::limits::STANDING_CANDIDATES_MAX;
use std::collections::HashSet;
use tiro_schema::wire::memory::{Category, Mode};

/// Categories whose memories stand.
const CATEGORIES: [Category; 3] = [Category::Constraint, Category::Preference, Category::Identity];

/// One that stands.
pub(super) struct StandingHit {
    pub hit: FoundHit,
    /// Of a longer text the part that stands.
    pub sentence: Option<String>,
    /// How much it applies to the question; the firmer the more.
    weight: f32,
    /// Words it is about, for telling wordings of one thing apart from others.
    about: HashSet<String>,
    /// Words of its condition; none where it has none.
    scope: HashSet<String>,
}

/// Weight of the firmness of an instruction from now on, of a wish, and of who somebody is.
const WEIGHTS: [(Firmness, f32); 3] = [(Firmness::Told, 1.0), (Firmness::Wished, 0.55), (Firmness::Known, 0.15)];
/// Weight of likeness to the question, beside that.
const LIKENESS_WEIGHT: f32 = 1.0;
/// Weight of the share of an instruction's condition that the question meets.
const SCOPE_WEIGHT: f32 = 0.6;
/// Share of words two wordings of one thing have in common, at least; of as many words.
const SAME_WORDING: f32 = 0.8;
const SAME_WORDING_WORDS_MIN: usize = 4;

/// Words in which people say what holds from now on.
const MANNER: &str =
    "always never please prefer like use must when I ask, I am, my, allergic, answer, 总是 不要 喜欢 我是 以后 请用 必须 过敏";

impl Memory {
    /// What stands in the spaces of a plan, what applies most to its question first. Of several wordings of one thing the newest.
    ///
    /// # Errors
    /// The store's.
    pub(super) async fn standing(&self, caller: &Caller, plan: &Plan) -> Result<Vec<StandingHit>, MemoryError> {
        let Some(sieve) = plan.sieve.within(&CATEGORIES) else { return Ok(Vec::new()) };
        let wide =
            Plan { sieve, limit: STANDING_CANDIDATES_MAX, threshold: Some(0.0), decay: false, explain: false, ..plan.clone() };
        let (wide, mut found) = self.searched(caller, wide).await?;
        if found.hits.len() < STANDING_CANDIDATES_MAX {
            // A question that is like nothing leaves out what holds all the same: that is found by its manner.
            let manner = Plan { query: MANNER.to_owned(), mode: Mode::Hybrid, ..wide.clone() };
            let (_, others) = self.searched(caller, manner).await?;
            let known: HashSet<u64> = found.hits.iter().map(|h| h.record.key).collect();
            let unlike = |mut hit: FoundHit| {
                hit.hit.score = 0.0;
                hit
            };
            found.hits.extend(others.hits.into_iter().filter(|h| !known.contains(&h.record.key)).map(unlike));
        }
        self.in_place(move |_| Ok(ranked(found.hits, &telling_words(&wide.query)))).await
    }
}

fn ranked(hits: Vec<FoundHit>, asked: &HashSet<String>) -> Vec<StandingHit> {
    let mut hits: Vec<StandingHit> = hits.into_iter().filter_map(|hit| weigh(hit, asked)).collect();
    // Newest first, so that the newest wording stays.
    hits.sort_by_key(|h| std::cmp::Reverse((told_at(h), h.hit.record.key)));
    let mut kept: Vec<StandingHit> = Vec::with_capacity(hits.len());
    for hit in hits {
        if !kept.iter().any(|other| same_thing(other, &hit)) {
            kept.push(hit);
        }
    }
    kept.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    kept
}

fn told_at(hit: &StandingHit) -> i64 {
    hit.hit.record.occurred_at_ms.unwrap_or(hit.hit.record.created_at_ms)
}

fn weigh(hit: FoundHit, asked: &HashSet<String>) -> Option<StandingHit> {
    let text = hit.record.text.clone();
    let found = standing(&text);
    // Who gave the category by hand may have worded it as no rule knows.
    let (firmness, sentence, scope) = match &found {
        Some(s) => (s.firmness, s.sentence, s.scope.as_deref()),
        None if hit.record.explicit || hit.record.pinned => (Firmness::Wished, text.as_str(), None),
        None => return None,
    };
    let base = WEIGHTS.iter().find(|(f, _)| *f == firmness).map_or(0.0, |(_, w)| *w);
    let scope = scope.map(telling_words).unwrap_or_default();
    let met = share(&scope, asked);
    let weight = base + LIKENESS_WEIGHT * hit.hit.score + SCOPE_WEIGHT * met;
    let about = telling_words(sentence);
    // Marks around it make it no part.
    let sentence = (said(sentence) < said(&text)).then(|| sentence.to_owned());
    Some(StandingHit { hit, sentence, weight, about, scope })
}

/// Letters and digits of a text.
fn said(text: &str) -> usize {
    text.chars().filter(|c| c.is_alphanumeric()).count()
}

/// Whether two say the same thing in other words, by the same people.
fn same_thing(a: &StandingHit, b: &StandingHit) -> bool {
    let speaker = |h: &StandingHit| h.hit.record.sources.first().and_then(|s| s.speaker.clone());
    a.hit.record.space == b.hit.record.space
        && a.about.len().min(b.about.len()) >= SAME_WORDING_WORDS_MIN
        && both_share(&a.about, &b.about) >= SAME_WORDING
        && (a.scope == b.scope || both_share(&a.scope, &b.scope) >= SAME_WORDING)
        && speaker(a) == speaker(b)
}

fn both_share(a: &HashSet<String>, b: &HashSet<String>) -> f32 {
    share(a, b).min(share(b, a))
}

/// The share of one's words that are the other's too, 0 to 1.
fn share(of: &HashSet<String>, among: &HashSet<String>) -> f32 {
    if of.is_empty() { 0.0 } else { of.iter().filter(|w| among.contains(*w)).count() as f32 / of.len() as f32 }
}
