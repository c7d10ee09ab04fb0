//! From features to a relevance, a strength and a score that fades with age. Pure. It must not know where features come from.

use crate::embed::ZScale;
use crate::query::{DecayParams, Mode};
use crate::result::Strength;

/// Half-lives grow with use up to this factor.
const HALF_LIFE_FACTOR_MAX: f64 = 4.0;

/// Slope and middle of the logistic that turns evidence into relevance. Set on questions put to their own conversations and to others that
/// know nothing of them, by relevance alone: at the default threshold 1 to 2 in 100 right answers of the same language are lost, a third of those in the other
/// language, and 9 in 10 questions put to fifty memories that do not hold the answer find nothing.
struct Logistic {
    slope: f32,
    middle: f32,
}

/// For both legs.
const HYBRID: Logistic = Logistic { slope: 9.0, middle: 0.324 };
/// For words alone.
const LEXICAL: Logistic = Logistic { slope: 9.0, middle: 0.214 };
/// For vectors alone.
const VECTOR: Logistic = Logistic { slope: 9.0, middle: 0.494 };

/// Relevance below which a hit is left out unless the query says otherwise.
pub(crate) const THRESHOLD_DEFAULT: f32 = 0.3;
/// Relevance from which a hit is good.
const GOOD: f32 = 0.5;
/// Relevance from which a hit is strong.
const STRONG: f32 = 0.7;

/// Standard deviations above the background that weigh as much as an ideal lexical match. On conversations, notes and paragraphs alike,
/// from 13 to 16 the hybrid ranks better than either leg or, on Chinese paragraphs, within 0.04 nDCG@10 of the better one.
const DENSE_Z: f32 = 16.0;
/// Standard score of a good answer, about: at this score dense evidence is the plain cosine.
const USUAL_Z: f32 = 6.0;
/// What the dense evidence of a document without a vector is taken to be, in terms of its lexical one: as in good answers.
const DENSE_PER_LEXICAL: f32 = 1.9;

/// Dense evidence of a cosine: its standard score over [`DENSE_Z`], so that it weighs the same for every query, shifted so that a good answer's
/// is the cosine itself. The shift is the query's alone and moves no rank; it tells a query that is near to everything it meets, and one whose
/// cosines hardly spread, from one that has found something.
pub(crate) fn dense(scale: ZScale, cosine: f32) -> f32 {
    scale.z(cosine) / DENSE_Z + scale.mean + USUAL_Z * (scale.sd - 1.0 / DENSE_Z)
}

/// Evidence of a hit: the weighted sum of its legs. A document without a vector (one that follows later, say) is taken to be as near as its words are.
pub(crate) fn evidence(mode: Mode, lexical_weight: f32, lexical: f32, dense: Option<f32>) -> f32 {
    match mode {
        Mode::Lexical => lexical,
        Mode::Vector => dense.unwrap_or(0.0),
        Mode::Hybrid => lexical_weight * lexical + (1.0 - lexical_weight) * dense.unwrap_or(DENSE_PER_LEXICAL * lexical),
    }
}

/// Relevance of evidence, 0 to 1, rising.
pub(crate) fn relevance(mode: Mode, evidence: f32) -> f32 {
    let logistic = match mode {
        Mode::Hybrid => HYBRID,
        Mode::Lexical => LEXICAL,
        Mode::Vector => VECTOR,
    };
    1.0 / (1.0 + (-logistic.slope * (evidence - logistic.middle)).exp())
}

/// Deviations above the best of as many strangers from which meaning alone is evidence enough.
const STANDS_OUT: f32 = 3.2;

/// Whether a standard score stands out among this many documents. The best of n standard normal values is about sqrt(2 ln n) (the usual bound
/// of extreme values), so that a store of three memories and one of a million mean the same. An answer in another language shares no word with
/// its question, and nothing but this can tell it from a stranger.
fn stands_out(z: f32, documents: usize) -> bool {
    z - (2.0 * (documents.max(1) as f32).ln()).sqrt() >= STANDS_OUT
}

/// How sure a hit is: by its relevance, or by a cosine that stands out among the documents of its space.
pub(crate) fn strength(relevance: f32, z: Option<f32>, documents: usize) -> Strength {
    match relevance {
        r if r >= STRONG => Strength::Strong,
        r if r >= GOOD => Strength::Good,
        r if r >= THRESHOLD_DEFAULT => Strength::Weak,
        _ if z.is_some_and(|z| stands_out(z, documents)) => Strength::Weak,
        _ => Strength::None,
    }
}

/// What decay depends on.
pub(crate) struct Aging {
    /// When it occurred, else was recorded, unix milliseconds.
    pub(crate) happened_at_ms: i64,
    /// When it was last used; `i64::MIN` where never.
    pub(crate) last_used_at_ms: i64,
    /// How often it was used.
    pub(crate) use_count: u32,
    /// Category code.
    pub(crate) category: u8,
    /// Exempt.
    pub(crate) pinned: bool,
}

/// Age in milliseconds (never below 0) and the factor of decay, floor to 1.
pub(crate) fn decay(params: &DecayParams, aging: &Aging) -> (i64, f32) {
    let since = aging.happened_at_ms.max(aging.last_used_at_ms);
    let age_ms = params.now_ms.saturating_sub(since).max(0);
    if aging.pinned {
        return (age_ms, 1.0);
    }
    let floor = if params.floor.is_finite() { f64::from(params.floor.clamp(0.0, 1.0)) } else { 1.0 };
    let half_life = params.half_life_ms.get(usize::from(aging.category)).copied().unwrap_or(params.half_life_default_ms).max(1);
    let factor = (1.0 + (1.0 + f64::from(aging.use_count)).ln() / 2.0).min(HALF_LIFE_FACTOR_MAX);
    let left = (-(age_ms as f64) / (half_life as f64 * factor)).exp2();
    (age_ms, (floor + (1.0 - floor) * left) as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params() -> DecayParams {
        DecayParams { now_ms: 1_000_000, floor: 0.8, half_life_ms: vec![1_000], half_life_default_ms: 100 }
    }

    fn aging(happened_at_ms: i64) -> Aging {
        Aging { happened_at_ms, last_used_at_ms: i64::MIN, use_count: 0, category: 0, pinned: false }
    }

    // M34, MEM-4
    #[test]
    fn decay_stays_between_floor_and_one_whatever_the_clock_says() {
        let p = params();
        assert_eq!(decay(&p, &aging(1_000_000)), (0, 1.0));
        assert_eq!(decay(&p, &aging(999_000)), (1_000, 0.9));
        for happened in [i64::MIN, -1, 0, 2_000_000, i64::MAX] {
            for now_ms in [i64::MIN, 0, 1_000_000, i64::MAX] {
                let (age, factor) = decay(&DecayParams { now_ms, ..params() }, &aging(happened));
                assert!(age >= 0 && (0.8..=1.0).contains(&factor), "{happened} {now_ms} {factor}");
            }
        }
        assert_eq!(decay(&p, &Aging { pinned: true, ..aging(0) }).1, 1.0);
        assert_eq!(decay(&p, &Aging { last_used_at_ms: 1_000_000, ..aging(0) }), (0, 1.0));
        let used = decay(&p, &Aging { use_count: 1_000_000, ..aging(996_000) }).1;
        assert!((used - 0.9).abs() < 1e-6, "four half-lives at most: {used}");
        assert!(decay(&p, &Aging { category: 9, ..aging(999_000) }).1 < 0.81);
    }

    #[test]
    fn relevance_rises_with_evidence() {
        for mode in [Mode::Hybrid, Mode::Lexical, Mode::Vector] {
            let all: Vec<f32> = (-20..=20).map(|i| relevance(mode, i as f32 / 10.0)).collect();
            assert!(all.is_sorted() && all.iter().all(|r| (0.0..=1.0).contains(r)));
        }
    }
}
