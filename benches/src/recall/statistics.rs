//! Paired bootstrap and the area under the ROC curve.
//!
//! Must not know: what was measured.

use crate::corpus::Random;

/// Resamples of a bootstrap.
pub const RESAMPLES: usize = 2_000;
const SEED: u64 = 20_250_601;
const INTERVAL: f64 = 0.95;

/// A mean difference and its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// Mean of the second less mean of the first.
    pub mean: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

impl Difference {
    /// Whether the interval leaves out 0.
    pub fn is_significant(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }
}

/// Percentile bootstrap of the mean difference of pairs (Efron and Tibshirani 1993, chapter 13), from a fixed seed.
/// `None` when there are no pairs.
pub fn paired_bootstrap(pairs: &[(f64, f64)]) -> Option<Difference> {
    let differences: Vec<f64> = pairs.iter().map(|(first, second)| second - first).collect();
    let count = differences.len();
    if count == 0 {
        return None;
    }
    let mut random = Random::new(SEED);
    let mut means: Vec<f64> =
        (0..RESAMPLES).map(|_| (0..count).map(|_| differences[random.below(count)]).sum::<f64>() / count as f64).collect();
    means.sort_by(f64::total_cmp);
    let at = |share: f64| means[((share * RESAMPLES as f64) as usize).min(RESAMPLES - 1)];
    let tail = (1.0 - INTERVAL) / 2.0;
    Some(Difference { mean: differences.iter().sum::<f64>() / count as f64, low: at(tail), high: at(1.0 - tail) })
}

/// How often a score of the present is above one of the absent, equals counting half: the area under the ROC curve
/// (Hanley and McNeil 1982). `None` when either is empty.
pub fn auroc(present: &[f64], absent: &[f64]) -> Option<f64> {
    if present.is_empty() || absent.is_empty() {
        return None;
    }
    let mut sorted = absent.to_vec();
    sorted.sort_by(f64::total_cmp);
    let below = |score: f64| {
        let less = sorted.partition_point(|other| *other < score);
        let not_more = sorted.partition_point(|other| *other <= score);
        (less + not_more) as f64 / 2.0
    };
    Some(present.iter().map(|score| below(*score)).sum::<f64>() / (present.len() * absent.len()) as f64)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    // MEM-3
    #[test]
    fn a_bootstrap_knows_a_gain_from_noise() {
        let gain: Vec<(f64, f64)> = (0..200).map(|i| (f64::from(i % 2), f64::from(i % 2) + 0.1)).collect();
        let found = paired_bootstrap(&gain).unwrap();
        assert!((found.mean - 0.1).abs() < 1e-9 && found.is_significant(), "{found:?}");
        let noise: Vec<(f64, f64)> = (0..200).map(|i| (0.5, f64::from(i % 2))).collect();
        let found = paired_bootstrap(&noise).unwrap();
        assert!(!found.is_significant() && found.low < 0.0 && found.high > 0.0, "{found:?}");
        assert_eq!(paired_bootstrap(&noise), paired_bootstrap(&noise), "a fixed seed");
        assert_eq!(paired_bootstrap(&[]), None);
    }

    #[test]
    fn the_area_is_that_of_all_pairs() {
        assert_eq!(auroc(&[0.9, 0.8], &[0.1, 0.2]), Some(1.0));
        assert_eq!(auroc(&[0.5], &[0.5]), Some(0.5));
        assert_eq!(auroc(&[0.3, 0.7], &[0.5, 0.1]), Some(0.75));
        assert_eq!(auroc(&[], &[0.5]), None);
    }
}
