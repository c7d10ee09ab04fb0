//! From features to a relevance, a strength and a score that fades with age. Pure. It must not know where features come from.

use super::weights::Weights;
use crate::embed::ZScale;
use crate::limits::QUERY_SPANS_MAX;
use crate::query::{DecayParams, Mode, TimeSpan};
use crate::result::{Features, Strength};

/// Half-lives grow with use up to this factor.
const HALF_LIFE_FACTOR_MAX: f64 = 4.0;

/// From evidence to relevance and strength, for one way of searching. Set on questions put to the conversations and notes that hold their
/// answers and to others that do not.
struct Scale {
    /// Slope and middle of the logistic that turns evidence into relevance. The middle is high, so that the best are not pressed together
    /// where decay, which multiplies, would decide between them: with the clock at the end of each conversation it costs a fifth of a point
    /// of recall@5 (with a middle of 0.8 and a slope of 4 it cost ten).
    slope: f32,
    middle: f32,
    /// Evidence from which a hit is weak among [`USUAL_DOCUMENTS`], how much more it takes for each e-fold of documents (the best of many
    /// strangers is better than the best of few), and what it takes at least and at most.
    weak: f32,
    weak_step: f32,
    weak_range: (f32, f32),
    /// Evidence above weak from which a hit is good, and strong.
    good: f32,
    strong: f32,
}

/// Documents at which a scale's `weak` stands as it is.
const USUAL_DOCUMENTS: f32 = 64.0;

/// Both legs, for a document that stands alone.
const ALONE: Scale =
    Scale { slope: 3.0, middle: 1.7, weak: 0.55, weak_step: 0.1, weak_range: (0.5, 0.75), good: 0.2, strong: 0.5 };
/// Both legs, in a conversation: windows find something of nearly every question.
const IN_CONVERSATION: Scale =
    Scale { slope: 3.0, middle: 1.7, weak: 0.55, weak_step: 0.144, weak_range: (0.5, 0.95), good: 0.25, strong: 0.6 };
/// Words alone.
const LEXICAL: Scale =
    Scale { slope: 9.0, middle: 0.214, weak: 0.12, weak_step: 0.0, weak_range: (0.0, 1.0), good: 0.094, strong: 0.188 };
/// Vectors alone.
const VECTOR: Scale =
    Scale { slope: 9.0, middle: 0.494, weak: 0.4, weak_step: 0.0, weak_range: (0.0, 1.0), good: 0.094, strong: 0.188 };

/// Standard deviations above the background that weigh as much as an ideal lexical match.
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

/// Dense evidence of a document without a vector (one that follows later, say): it is taken to be as near as its words are.
pub(crate) fn dense_unknown(lexical: f32) -> f32 {
    DENSE_PER_LEXICAL * lexical
}

/// Evidence of a hit: the weighted sum of its features, or one leg alone.
pub(crate) fn evidence(mode: Mode, weights: &Weights, features: &Features) -> f32 {
    match mode {
        Mode::Lexical => features.lexical,
        Mode::Vector => features.dense,
        Mode::Hybrid => features.parts(weights).iter().map(|part| part.value * part.weight).sum(),
    }
}

fn scale(mode: Mode, features: &Features) -> &'static Scale {
    match mode {
        Mode::Lexical => &LEXICAL,
        Mode::Vector => &VECTOR,
        Mode::Hybrid if features.in_conversation => &IN_CONVERSATION,
        Mode::Hybrid => &ALONE,
    }
}

/// Relevance of evidence, 0 to 1, rising.
pub(crate) fn relevance(mode: Mode, features: &Features, evidence: f32) -> f32 {
    let scale = scale(mode, features);
    1.0 / (1.0 + (-scale.slope * (evidence - scale.middle)).exp())
}

/// Deviations above the best of as many strangers from which meaning alone is evidence enough: where question and document are in different
/// scripts and can share no word, for a document that stands alone, and in a conversation.
const STANDS_OUT: (f32, f32, f32) = (2.3, 3.2, 4.2);

/// Whether a standard score stands out among this many documents. The best of n standard normal values is about sqrt(2 ln n) (the usual bound
/// of extreme values), so that a store of three memories and one of a million mean the same. An answer in another language shares no word with
/// its question, and nothing but this can tell it from a stranger.
fn stands_out(features: &Features, documents: usize) -> bool {
    let (across, alone, in_conversation) = STANDS_OUT;
    let enough = match (features.across_scripts, features.in_conversation) {
        (true, _) => across,
        (false, false) => alone,
        (false, true) => in_conversation,
    };
    above_strangers(features, documents).is_some_and(|above| above >= enough)
}

/// Documents that a space is taken to have at least where chance is reckoned: a question of nonsense is near to the one memory there is.
const STRANGERS_MIN: usize = 16;

/// Deviations of a cosine above the best of as many strangers.
fn above_strangers(features: &Features, documents: usize) -> Option<f32> {
    features.z.map(|z| z - (2.0 * (documents.max(STRANGERS_MIN) as f32).ln()).sqrt())
}

/// Share of a query's weight whose tokens a document holds, from which it is at least weak: length alone decides nothing.
const COVERED: f32 = 0.8;

/// Lexical evidence from which words count as shared.
const WORDS_SHARED: f32 = 0.08;
/// Deviations above the best of as many strangers that evidence needs where no words are shared.
const WORDLESS: f32 = 1.5;

/// Whether evidence rests on something: on words that are shared, in the document or right around it, or on a cosine that is better than
/// chance among so many. A question of nonsense is a little near to everything.
fn is_grounded(mode: Mode, features: &Features, documents: usize) -> bool {
    mode != Mode::Hybrid
        || features.lexical.max(features.near) >= WORDS_SHARED
        || above_strangers(features, documents).is_some_and(|above| above >= WORDLESS)
}

/// How sure a hit is: by its evidence, or by a cosine that stands out among the documents of its space. A question of function words alone
/// (`content` false) asks for nothing.
pub(crate) fn strength(mode: Mode, features: &Features, content: bool, documents: usize) -> Strength {
    let scale = scale(mode, features);
    let weak = scale.weak + scale.weak_step * (documents.max(1) as f32 / USUAL_DOCUMENTS).ln();
    let weak = weak.clamp(scale.weak_range.0, scale.weak_range.1);
    match features.evidence - weak {
        _ if !content || !is_grounded(mode, features, documents) => Strength::None,
        e if e >= scale.strong => Strength::Strong,
        e if e >= scale.good => Strength::Good,
        e if e >= 0.0 => Strength::Weak,
        _ if mode != Mode::Vector && features.covered >= COVERED => Strength::Weak,
        _ if stands_out(features, documents) => Strength::Weak,
        _ => Strength::None,
    }
}

/// Days after which half of the nearness to a stretch of time is gone, twice: a week.
const NEAR_SPAN_MS: f32 = 7.0 * 86_400_000.0;

/// 1 in one of the stretches of time, half of it right beside one and less the farther away.
pub(crate) fn time(spans: &[TimeSpan], at_ms: i64) -> f32 {
    let nearness = |span: &TimeSpan| {
        if (span.from_ms..span.to_ms).contains(&at_ms) {
            return 1.0;
        }
        let away = if at_ms < span.from_ms { span.from_ms.saturating_sub(at_ms) } else { at_ms.saturating_sub(span.to_ms) };
        0.5 * (-(away as f32) / NEAR_SPAN_MS).exp()
    };
    spans.iter().take(QUERY_SPANS_MAX).map(nearness).fold(0.0, f32::max)
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
            let all: Vec<f32> = (-20..=20).map(|i| relevance(mode, &Features::default(), i as f32 / 10.0)).collect();
            assert!(all.is_sorted() && all.iter().all(|r| (0.0..=1.0).contains(r)));
        }
    }

    // MEM-3
    #[test]
    fn a_stretch_of_time_counts_in_it_and_less_beside_it() {
        let day = 86_400_000;
        let span = [TimeSpan { from_ms: 100 * day, to_ms: 110 * day }];
        assert_eq!((time(&span, 100 * day), time(&span, 110 * day - 1), time(&[], 0)), (1.0, 1.0, 0.0));
        let beside = [111, 113, 120, 200].map(|at| time(&span, at * day));
        assert!(beside[0] < 0.5 && beside.is_sorted_by(|a, b| a > b) && beside[3] < 0.001, "{beside:?}");
        assert!(time(&span, i64::MIN) >= 0.0 && time(&span, i64::MAX) >= 0.0);
    }

    #[test]
    fn strength_depends_on_the_company_and_the_script() {
        let alone = Features { evidence: 0.8, lexical: 0.2, ..Features::default() };
        let wordless = Features { lexical: 0.0, z: Some(3.0), ..alone };
        let long = Features { covered: 0.9, evidence: 0.3, ..alone };
        assert_eq!(strength(Mode::Hybrid, &long, true, 41), Strength::Weak, "it holds the words, however long it is");
        assert_eq!(strength(Mode::Hybrid, &wordless, true, 41), Strength::None, "a little near to everything");
        let told = Features { in_conversation: true, ..alone };
        assert_eq!(strength(Mode::Hybrid, &alone, true, 10), Strength::Good);
        assert_eq!(strength(Mode::Hybrid, &told, true, 500), Strength::None);
        assert_eq!(strength(Mode::Hybrid, &alone, false, 10), Strength::None, "function words alone");
        let far_out = Features { z: Some(9.0), evidence: 0.1, ..told };
        assert_eq!(strength(Mode::Hybrid, &far_out, true, 1_000), Strength::Weak);
        let foreign = Features { z: Some(5.5), across_scripts: true, ..far_out };
        assert_eq!(strength(Mode::Hybrid, &foreign, true, 60), Strength::Weak);
        assert_eq!(strength(Mode::Hybrid, &Features { across_scripts: false, ..foreign }, true, 60), Strength::None);
    }
}
