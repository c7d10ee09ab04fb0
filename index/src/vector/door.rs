//! The door: which vectors may enter a block or a graph. Behind it every vector is finite, of one length and of norm at most 1.
//! It must not know where they go.

/// Norms up to this pass as they are; rounding takes a unit vector a little over 1.
const NORM_MAX: f64 = 1.001;
/// Vectors shorter than this say nothing: they count as zero.
const NORM_MIN: f64 = 1e-6;

/// Why a vector is refused.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum VectorError {
    /// The vector is of another length.
    #[error("vector has {got} dimensions where {expected} are expected")]
    Dimension {
        /// Dimensions of the space.
        expected: usize,
        /// Dimensions of the vector.
        got: usize,
    },
    /// A component is NaN or infinite.
    #[error("component {at} of the vector is not a finite number")]
    NotFinite {
        /// Position from 0.
        at: usize,
    },
    /// The vector is zero, or so short that it may as well be. A text without a vector has no vector leg; store none.
    #[error("vector is zero")]
    Zero,
    /// The vector is longer than 1; [`admit`] normalises it.
    #[error("vector has norm {norm} where at most 1 is expected")]
    Norm {
        /// Euclidean norm.
        norm: f64,
    },
}

/// Checks that `vector` is finite, of length `dimension`, and of a norm in (1e-6, 1.001].
///
/// # Errors
/// The first of the conditions that does not hold, in the order of [`VectorError`].
pub fn check_vector(vector: &[f32], dimension: usize) -> Result<(), VectorError> {
    let norm = norm_of(vector, dimension)?;
    if norm > NORM_MAX { Err(VectorError::Norm { norm }) } else { Ok(()) }
}

/// Lets in what [`check_vector`] accepts as it is, and what is too long after division by its norm (providers differ in whether they normalise).
///
/// # Errors
/// As [`check_vector`], but never [`VectorError::Norm`].
pub fn admit(mut vector: Vec<f32>, dimension: usize) -> Result<Vec<f32>, VectorError> {
    let norm = norm_of(&vector, dimension)?;
    if norm > NORM_MAX {
        vector.iter_mut().for_each(|x| *x = (f64::from(*x) / norm) as f32);
    }
    Ok(vector)
}

fn norm_of(vector: &[f32], dimension: usize) -> Result<f64, VectorError> {
    if vector.len() != dimension {
        return Err(VectorError::Dimension { expected: dimension, got: vector.len() });
    }
    if let Some(at) = vector.iter().position(|x| !x.is_finite()) {
        return Err(VectorError::NotFinite { at });
    }
    let norm = vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
    if norm < NORM_MIN { Err(VectorError::Zero) } else { Ok(norm) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    // M27
    #[test]
    fn only_sound_vectors_enter() {
        assert_eq!(check_vector(&[0.6, 0.8], 2), Ok(()));
        assert_eq!(check_vector(&[0.1, 0.0], 2), Ok(()));
        assert_eq!(check_vector(&[1.0], 2), Err(VectorError::Dimension { expected: 2, got: 1 }));
        assert_eq!(check_vector(&[1.0, f32::NAN], 2), Err(VectorError::NotFinite { at: 1 }));
        assert_eq!(check_vector(&[f32::NEG_INFINITY, 0.0], 2), Err(VectorError::NotFinite { at: 0 }));
        assert_eq!(check_vector(&[0.0, -0.0], 2), Err(VectorError::Zero));
        assert_eq!(check_vector(&[3.0, 4.0], 2), Err(VectorError::Norm { norm: 5.0 }));
        assert!(matches!(check_vector(&[f32::MAX, f32::MAX], 2), Err(VectorError::Norm { norm }) if norm.is_finite()));
    }

    // M27
    #[test]
    fn long_vectors_are_normalised_and_short_ones_keep_their_norm() {
        let long = admit(vec![f32::MAX, f32::MAX], 2).unwrap();
        assert_eq!(check_vector(&long, 2), Ok(()));
        assert!((long[0] - 0.5_f32.sqrt()).abs() < 1e-6);
        assert_eq!(admit(vec![0.3, 0.4], 2), Ok(vec![0.3, 0.4]));
        assert_eq!(admit(vec![0.0; 2], 2), Err(VectorError::Zero));
        assert_eq!(admit(vec![f32::NAN, 9.0], 2), Err(VectorError::NotFinite { at: 0 }));
    }
}
