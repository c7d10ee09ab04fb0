//! Measures of a ranking against its gold.
//!
//! Must not know: where rankings come from.

/// Ranks that nDCG and the longer recall look at.
pub const DEPTH: usize = 10;

/// Names of the measures, as printed and in the order of [`Measures::values`].
pub const NAMES: [&str; 5] = ["recall@5", "recall@10", "hit@5", "nDCG@10", "MRR"];

/// Measures of one ranking, each 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Measures {
    /// Share of the gold among the first five.
    pub recall_at_5: f64,
    /// Share of the gold among the first ten.
    pub recall_at_10: f64,
    /// 1 when any gold is among the first five.
    pub hit_at_5: f64,
    /// Discounted cumulative gain of the first ten over that of the best order: a hit at rank r counts 1 / log2(r + 1)
    /// (Järvelin and Kekäläinen 2002, gains 0 and 1).
    pub ndcg_at_10: f64,
    /// 1 over the rank of the first gold; 0 when there is none.
    pub mrr: f64,
}

impl Measures {
    /// Of a ranking, best first, that says of each hit whether it is gold; `gold` counts all gold, found or not.
    pub fn of(is_gold: &[bool], gold: usize) -> Measures {
        let gold_count = gold.max(1) as f64;
        let among = |depth: usize| is_gold.iter().take(depth).filter(|hit| **hit).count() as f64;
        let gain = |place: usize| 1.0 / (place as f64 + 2.0).log2();
        let dcg: f64 = is_gold.iter().take(DEPTH).enumerate().filter(|(_, hit)| **hit).map(|(place, _)| gain(place)).sum();
        let ideal: f64 = (0..gold.clamp(1, DEPTH)).map(gain).sum();
        Measures {
            recall_at_5: among(5) / gold_count,
            recall_at_10: among(10) / gold_count,
            hit_at_5: f64::from(among(5) > 0.0),
            ndcg_at_10: dcg / ideal,
            mrr: is_gold.iter().position(|hit| *hit).map_or(0.0, |place| 1.0 / (place as f64 + 1.0)),
        }
    }

    /// In the order of [`NAMES`].
    pub fn values(&self) -> [f64; 5] {
        [self.recall_at_5, self.recall_at_10, self.hit_at_5, self.ndcg_at_10, self.mrr]
    }

    /// Means of many; all 0 of none.
    pub fn mean<'a>(many: impl IntoIterator<Item = &'a Measures>) -> Measures {
        let (mut sum, mut count) = ([0.0; 5], 0_usize);
        for one in many {
            count += 1;
            for (total, value) in sum.iter_mut().zip(one.values()) {
                *total += value;
            }
        }
        let [recall_at_5, recall_at_10, hit_at_5, ndcg_at_10, mrr] = sum.map(|total| total / count.max(1) as f64);
        Measures { recall_at_5, recall_at_10, hit_at_5, ndcg_at_10, mrr }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // MEM-3
    #[test]
    fn a_ranking_is_measured_by_the_formulas() {
        let m = Measures::of(&[false, true, false, false, false, true, false], 3);
        let gain = |rank: f64| 1.0 / (rank + 1.0).log2();
        assert!((m.recall_at_5 - 1.0 / 3.0).abs() < 1e-12 && (m.recall_at_10 - 2.0 / 3.0).abs() < 1e-12, "{m:?}");
        assert!((m.ndcg_at_10 - (gain(2.0) + gain(6.0)) / (gain(1.0) + gain(2.0) + gain(3.0))).abs() < 1e-12, "{m:?}");
        assert_eq!((m.hit_at_5, m.mrr), (1.0, 0.5));
        assert_eq!(Measures::of(&[], 2), Measures::default());
        let beyond = [vec![false; 10], vec![true]].concat();
        assert_eq!(Measures::of(&beyond, 1).values(), [0.0, 0.0, 0.0, 0.0, 1.0 / 11.0]);
        assert_eq!(Measures::of(&[true, true], 2).values(), [1.0; 5]);
    }

    #[test]
    fn means_are_over_all() {
        let (one, none) = (Measures::of(&[true], 1), Measures::of(&[false], 1));
        assert_eq!(Measures::mean([&one, &none]).values(), [0.5; 5]);
        assert_eq!(Measures::mean([]), Measures::default());
    }
}
