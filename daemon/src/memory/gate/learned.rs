//! The learned half of the gate: a linear model over the features of a text, with classes for what is kept and what is refused.
//!
//! Multinomial logistic regression: `P(class) = exp(w_class x) / sum exp(w x)`. The weights were made by `scripts/gate_weights.py` from
//! the labelled utterances of `tests/data/gate` that are named there, and stand in `data/gate-weights.bin`. The rules are among
//! the features, so it learns where they err. Must not know: what is done with a text.

use super::features::{CATEGORIES, FEATURES, features};
use super::judge::{Refusal, Seen, Verdict};
use std::sync::LazyLock;
use tiro_index::embed::Embedder;

/// The weights: for each class the bias and the scale as little-endian f32, then a little-endian i16 for each feature.
static BYTES: &[u8] = include_bytes!("../../../data/gate-weights.bin");

/// Likelihood from which a text is kept that the rules keep too: less than half, as a false refusal loses memory.
const KEEP_MIN: f32 = 0.45;
/// The same where the rules refuse it.
const KEEP_REFUSED_MIN: f32 = 0.65;
/// The same for what the rules take for the output of a program, or a sign of life.
const KEEP_MACHINE_MIN: f32 = 0.8;

/// Refusals in the order of the classes behind the categories.
const REFUSALS: [Refusal; 7] = [
    Refusal::Fragment,
    Refusal::SmallTalk,
    Refusal::Noise,
    Refusal::Heartbeat,
    Refusal::Transient,
    Refusal::Command,
    Refusal::Question,
];
const CLASSES: usize = CATEGORIES.len() + REFUSALS.len();
const CLASS_BYTES: usize = 8 + 2 * FEATURES;

struct Class {
    bias: f32,
    weights: Vec<f32>,
}

static WEIGHTS: LazyLock<Vec<Class>> = LazyLock::new(|| {
    let number = |bytes: &[u8]| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    let class = |bytes: &[u8]| {
        let scale = number(&bytes[4..8]);
        let weights = bytes[8..].chunks_exact(2).map(|two| f32::from(i16::from_le_bytes([two[0], two[1]])) * scale).collect();
        Class { bias: number(bytes), weights }
    };
    BYTES.chunks_exact(CLASS_BYTES).take(CLASSES).map(class).collect()
});

/// What becomes of a text.
pub(super) fn weigh(text: &str, seen: &Seen, embedder: &dyn Embedder) -> Verdict {
    let rules = seen.verdict();
    if rules == Err(Refusal::Empty) {
        return rules;
    }
    let shares = shares(text, seen, embedder);
    let (kept, refused) = shares.split_at(CATEGORIES.len());
    let best = |shares: &[f32]| {
        let best = shares.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
        best.map_or(0, |(at, _)| at)
    };
    let bar = match rules {
        Err(Refusal::Noise | Refusal::Heartbeat) => KEEP_MACHINE_MIN,
        _ if seen.asks_to_keep() => 0.0,
        Err(_) => KEEP_REFUSED_MIN,
        Ok(_) => KEEP_MIN,
    };
    if kept.iter().sum::<f32>() >= bar { Ok(CATEGORIES[best(kept)]) } else { Err(REFUSALS[best(refused)]) }
}

/// How likely each class is, 0 to 1, summing to 1.
fn shares(text: &str, seen: &Seen, embedder: &dyn Embedder) -> [f32; CLASSES] {
    let features = features(text, seen, embedder);
    let mut shares = [0.0f32; CLASSES];
    for (share, class) in shares.iter_mut().zip(WEIGHTS.iter()) {
        *share = class.bias + features.iter().map(|(at, value)| class.weights[*at] * value).sum::<f32>();
    }
    let most = shares.iter().copied().fold(f32::MIN, f32::max);
    shares.iter_mut().for_each(|share| *share = (*share - most).exp());
    let sum: f32 = shares.iter().sum();
    shares.map(|share| share / sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weights_fit_the_features() {
        assert_eq!(BYTES.len(), CLASSES * CLASS_BYTES);
        assert!(WEIGHTS.iter().all(|class| class.bias.is_finite() && class.weights.len() == FEATURES));
        assert!(WEIGHTS.iter().all(|class| class.weights.iter().any(|weight| *weight != 0.0)));
    }
}
