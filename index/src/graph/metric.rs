//! What the graph measures: a point is a coded vector with its scale and one extra dimension, all in one slice of int8.
//! It must not know of nodes or slots.
//!
//! Passages have norms of at most 1. The extra dimension of a passage is sqrt(1 - norm^2), of a query 0: so all points lie on one sphere, the distance
//! 1 - cosine orders neighbours as a metric would, and a query's cosine to a passage is still their inner product.
//! int8 also keeps the graph a quarter of the size, and its dumps free of alignment: `hnsw_rs` reads points back by casting bytes.

use hnsw_rs::prelude::Distance;

use crate::vector::{dot_codes, encode, row_len};

/// Bytes behind the codes: scale and extra dimension, f32 each.
const TAIL_BYTES: usize = 8;
/// Distance of what cannot be compared (no such point passes the door): farther than any real one, which is at most 2.
const FAR: f32 = 4.0;

/// Bytes of a point for vectors of `dimension`.
pub(super) fn point_bytes(dimension: usize) -> usize {
    row_len(dimension) + TAIL_BYTES
}

/// The point of a stored vector, from its codes (padded) and scale.
pub(super) fn passage_point(codes: &[i8], scale: f32) -> Vec<i8> {
    let squared_norm = dot_codes(codes, codes) as f32 * scale * scale;
    point(codes.to_vec(), scale, (1.0 - squared_norm).max(0.0).sqrt())
}

/// The point of a query: finite, not zero, of norm 1.
pub(super) fn query_point(query: &[f32]) -> Vec<i8> {
    let mut codes = vec![0; row_len(query.len())];
    let scale = encode(query, &mut codes);
    point(codes, scale, 0.0)
}

fn point(mut codes: Vec<i8>, scale: f32, extra: f32) -> Vec<i8> {
    let tail = [scale.to_le_bytes(), extra.to_le_bytes()];
    codes.extend(tail.as_flattened().iter().map(|&byte| byte as i8));
    codes
}

fn parts(point: &[i8]) -> Option<(&[i8], f32, f32)> {
    let (codes, tail) = point.split_last_chunk::<TAIL_BYTES>()?;
    let [a, b, c, d, e, f, g, h] = tail.map(|byte| byte as u8);
    Some((codes, f32::from_le_bytes([a, b, c, d]), f32::from_le_bytes([e, f, g, h])))
}

/// 1 - cosine on the sphere, in [0, 2]. Never NaN, never negative, never a panic, whatever the points hold: `hnsw_rs` asserts on the first two.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SphereDistance;

impl Distance<i8> for SphereDistance {
    fn eval(&self, a: &[i8], b: &[i8]) -> f32 {
        let (Some((a, a_scale, a_extra)), Some((b, b_scale, b_extra))) = (parts(a), parts(b)) else { return FAR };
        let distance = 1.0 - (dot_codes(a, b) as f32 * a_scale * b_scale + a_extra * b_extra);
        if distance.is_nan() { FAR } else { distance.clamp(0.0, FAR) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn coded(vector: &[f32]) -> (Vec<i8>, f32) {
        let mut codes = vec![0; row_len(vector.len())];
        let scale = encode(vector, &mut codes);
        (codes, scale)
    }

    #[test]
    fn a_query_meets_a_short_passage_at_their_inner_product() {
        let (codes, scale) = coded(&[0.3, 0.4]);
        let passage = passage_point(&codes, scale);
        assert_eq!(passage.len(), point_bytes(2));
        assert!((SphereDistance.eval(&query_point(&[0.6, 0.8]), &passage) - 0.5).abs() < 0.01);
        assert!(SphereDistance.eval(&passage, &passage) < 1e-3);
    }

    proptest! {
        #[test]
        fn any_bytes_have_a_distance(a in proptest::collection::vec(any::<i8>(), 0..60), b in proptest::collection::vec(any::<i8>(), 0..60)) {
            let distance = SphereDistance.eval(&a, &b);
            prop_assert!((0.0..=FAR).contains(&distance));
        }
    }
}
