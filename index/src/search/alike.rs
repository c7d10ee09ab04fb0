//! How much two documents are the same, from their tokens and vectors. It must not know what follows from it.

use crate::state::slot::Slot;
use crate::vector::{Block, dot_codes};

/// A document, the vectors of its space, and where it stands among them.
pub(super) type Placed<'a> = (&'a Slot, &'a Block, u32);

/// Distinct tokens that both hold.
pub(super) fn shared(one: &Slot, other: &Slot) -> usize {
    let (mut one, mut other) = (one.tokens.ids(), other.tokens.ids());
    let mut shared = 0;
    while let (Some((a, after_a)), Some((b, after_b))) = (one.split_first(), other.split_first()) {
        shared += usize::from(a == b);
        if a <= b {
            one = after_a;
        }
        if b <= a {
            other = after_b;
        }
    }
    shared
}

/// Cosine of two documents, each with the vectors of its space; none where one has no vector.
fn cosine(one: (&Block, u32), other: (&Block, u32)) -> Option<f32> {
    let ((a, a_scale), (b, b_scale)) = (one.0.get(one.1)?, other.0.get(other.1)?);
    let dot = |x: &[i8], y: &[i8]| if x.len() == y.len() { dot_codes(x, y) as f32 } else { 0.0 };
    let norms = (dot(a, a) * dot(b, b)).sqrt() * a_scale * b_scale;
    (norms > 0.0).then(|| (dot(a, b) * a_scale * b_scale / norms).clamp(0.0, 1.0))
}

/// Likeness, 0 to 1: the share of tokens that both hold (Jaccard) times the cosine, so that both have to be near. Two notes that differ in a
/// value are about 0.7 alike, two of the same subject about 0.1.
pub(super) fn likeness(one: Placed<'_>, other: Placed<'_>) -> f32 {
    let shared = shared(one.0, other.0);
    let all = one.0.tokens.ids().len() + other.0.tokens.ids().len() - shared;
    let overlap = if all == 0 { 0.0 } else { shared as f32 / all as f32 };
    overlap * cosine((one.1, one.2), (other.1, other.2)).unwrap_or(1.0)
}
