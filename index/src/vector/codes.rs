//! A vector as int8 codes and one scale: x = code x scale, with an error of at most half a scale in each place; and what the codes leave
//! over as int16, which takes the error to that of f32. Norms are kept.
//! It must not know where vectors are kept.

use super::kernels::{CODE_MAX, ROW_ALIGN};

/// Length of a row of codes for vectors of `dimension`: padded with zeros to a register.
pub(crate) fn row_len(dimension: usize) -> usize {
    dimension.next_multiple_of(ROW_ALIGN)
}

/// Writes the codes of `vector` to the front of `codes`, zeros behind them, and returns the scale. A zero vector has scale 0.
/// The vector is finite and no longer than `codes`.
pub(crate) fn encode(vector: &[f32], codes: &mut [i8]) -> f32 {
    let largest = vector.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
    let scale = largest / f32::from(CODE_MAX);
    let inverse = if scale > 0.0 { 1.0 / scale } else { 0.0 };
    let (front, padding) = codes.split_at_mut(vector.len());
    for (code, x) in front.iter_mut().zip(vector) {
        *code = (x * inverse).round().clamp(-f32::from(CODE_MAX), f32::from(CODE_MAX)) as i8;
    }
    padding.fill(0);
    if inverse.is_finite() { scale } else { 0.0 }
}

/// Parts of a scale that what is left over is counted in: half a scale is 32,767 of them.
pub(super) const REST_PARTS: f32 = 65_534.0;

/// As [`encode`], and what its codes leave over to `rest`, which is as long as `codes`: x = (code + rest / [`REST_PARTS`]) x scale.
pub(super) fn encode_fine(vector: &[f32], codes: &mut [i8], rest: &mut [i16]) -> f32 {
    let scale = encode(vector, codes);
    let inverse = if scale > 0.0 { 1.0 / scale } else { 0.0 };
    let (front, padding) = rest.split_at_mut(vector.len());
    for ((rest, x), code) in front.iter_mut().zip(vector).zip(codes.iter()) {
        let left = (x * inverse - f32::from(*code)) * REST_PARTS;
        *rest = left.round().clamp(-f32::from(i16::MAX), f32::from(i16::MAX)) as i16;
    }
    padding.fill(0);
    scale
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_code_is_within_half_a_scale(vector in proptest::collection::vec(-1.0_f32..1.0, 1..80)) {
            let mut codes = vec![7; row_len(vector.len())];
            let scale = encode(&vector, &mut codes);
            for (x, code) in vector.iter().zip(&codes) {
                prop_assert!((x - f32::from(*code) * scale).abs() <= scale * 0.5001);
            }
            prop_assert!(codes[vector.len()..].iter().all(|&code| code == 0));
            prop_assert!(!codes.contains(&i8::MIN));
            let mut rest = vec![7_i16; codes.len()];
            prop_assert_eq!(encode_fine(&vector, &mut codes, &mut rest), scale);
            for ((x, code), rest) in vector.iter().zip(&codes).zip(&rest) {
                let near = (f32::from(*code) + f32::from(*rest) / REST_PARTS) * scale;
                // Half a part of the rest, and the rounding of f32 at 127 scales, five times over.
                prop_assert!((x - near).abs() <= scale * 5e-5, "{} for {}", near, x);
            }
            prop_assert!(rest[vector.len()..].iter().all(|&rest| rest == 0) && !rest.contains(&i16::MIN));
        }
    }

    #[test]
    fn zeros_and_tiny_numbers_encode_without_harm() {
        let mut codes = [1; 32];
        assert_eq!(encode(&[0.0; 5], &mut codes), 0.0);
        assert_eq!(codes, [0; 32]);
        let mut rest = [1_i16; 32];
        assert!(encode_fine(&[f32::MIN_POSITIVE / 8.0; 5], &mut codes, &mut rest).is_finite());
        assert!(!codes.contains(&i8::MIN) && !rest.contains(&i16::MIN));
    }
}
