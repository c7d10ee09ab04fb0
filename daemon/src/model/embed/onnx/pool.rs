//! From the vectors of a text's tokens to the one vector of the text. Pure. Must not know: models, files.

use serde::{Deserialize, Serialize};

/// How the tokens' vectors become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Pooling {
    /// Their mean, padding left out.
    Mean,
    /// The first token's.
    Cls,
}

/// One vector of norm 1 a text: `hidden` holds `texts` x `tokens` x `dimension`, of which the first `lengths[text]` tokens are the text's.
/// What has no norm stays as it is: it is refused at the door.
pub fn pooled(pooling: Pooling, hidden: &[f32], (tokens, dimension): (usize, usize), lengths: &[usize]) -> Vec<Vec<f32>> {
    let text = |(n, length): (usize, &usize)| {
        let own = &hidden[n * tokens * dimension..][..length.max(&1) * dimension];
        match pooling {
            Pooling::Cls => normalised(own[..dimension].to_vec()),
            Pooling::Mean => {
                let mut sum = vec![0.0; dimension];
                for token in own.chunks_exact(dimension) {
                    sum.iter_mut().zip(token).for_each(|(sum, value)| *sum += value);
                }
                normalised(sum)
            }
        }
    };
    lengths.iter().enumerate().map(text).collect()
}

/// The vector at norm 1.
pub fn normalised(mut vector: Vec<f32>) -> Vec<f32> {
    let norm = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
    if norm > 0.0 && norm.is_finite() {
        vector.iter_mut().for_each(|x| *x = (f64::from(*x) / norm) as f32);
    }
    vector
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_counts_for_nothing_and_the_norm_is_one() {
        // Two texts of up to three tokens in two dimensions; the second has one token, its padding holds noise.
        let hidden = [3.0, 0.0, 0.0, 4.0, 3.0, 4.0, 0.0, 2.0, 9.0, 9.0, 9.0, 9.0];
        let mean = pooled(Pooling::Mean, &hidden, (3, 2), &[3, 1]);
        assert!((mean[0][0] - 0.6).abs() < 1e-6 && (mean[0][1] - 0.8).abs() < 1e-6, "{mean:?}");
        assert_eq!(mean[1], [0.0, 1.0]);
        assert_eq!(pooled(Pooling::Cls, &hidden, (3, 2), &[3, 1]), [[1.0, 0.0], [0.0, 1.0]]);
    }

    // M27
    #[test]
    fn what_has_no_norm_is_left_to_the_door() {
        assert_eq!(normalised(vec![0.0, 0.0]), [0.0, 0.0]);
        assert!(normalised(vec![f32::NAN, 1.0])[0].is_nan());
    }
}
