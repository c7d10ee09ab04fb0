//! The features of a hit and what each weighs. It must not know how a feature is measured.
//!
//! Evidence is the weighted sum of named features. The weights were set by coordinate ascent over recall@5, recall@10 and nDCG@10 on four
//! development sets at once (conversations of two people; work with an assistant; Chinese paragraphs; English and Chinese notes), then
//! rounded, and hold when any one set is left out of the fitting. Left out, each feature costs, in points of nDCG@10 on the set it serves
//! most: lexical 2 to 3, near 1 to 2, far 1, answers 2, dense 3 to 9, beside half a point, speaker 4, reply 6, time 2.
//! The dense weights are for standard scores, so they do not depend on how a model spreads its cosines.

/// What each feature weighs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// BM25 of the document over the query's ideal.
    pub lexical: f32,
    /// The same of the document with two neighbours on each side.
    pub near: f32,
    /// The same with eight neighbours on each side.
    pub far: f32,
    /// BM25 over the ideal of a question that the document comes right after.
    pub answers: f32,
    /// Cosine as a standard score, over sixteen.
    pub dense: f32,
    /// The best of it among the document and its two neighbours.
    pub beside: f32,
    /// 1 where the query names who said it.
    pub speaker: f32,
    /// 1 for an assistant's reply.
    pub reply: f32,
    /// 1 in a stretch of time the query names, less near it.
    pub time: f32,
    /// What it takes for a newer one, the same but for a value, to stand before it: no measure of its own, and so never turned.
    pub later: f32,
}

/// The weights in use at the default share of the lexical leg.
pub const WEIGHTS: Weights = Weights {
    lexical: 1.0,
    near: 0.8,
    far: 0.5,
    answers: 0.7,
    dense: 0.7,
    beside: 0.3,
    speaker: 0.4,
    reply: -0.4,
    time: 0.3,
    later: -1.0,
};

/// Share of the lexical leg at which [`WEIGHTS`] stand as they are.
const SHARE_USUAL: f32 = 0.6;

impl Weights {
    /// The weights with the lexical and the dense features turned up and down, so that the lexical ones have this share (0 to 1).
    pub fn of_share(lexical: f32) -> Self {
        let lexical = if lexical.is_finite() { lexical.clamp(0.0, 1.0) } else { SHARE_USUAL };
        let (words, meaning) = (lexical / SHARE_USUAL, (1.0 - lexical) / (1.0 - SHARE_USUAL));
        Self {
            lexical: WEIGHTS.lexical * words,
            near: WEIGHTS.near * words,
            far: WEIGHTS.far * words,
            answers: WEIGHTS.answers * words,
            dense: WEIGHTS.dense * meaning,
            beside: WEIGHTS.beside * meaning,
            ..WEIGHTS
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_moves_weight_between_the_legs() {
        let usual = Weights::of_share(0.6);
        assert!((usual.lexical - WEIGHTS.lexical).abs() < 1e-6 && (usual.dense - WEIGHTS.dense).abs() < 1e-6);
        let words = Weights::of_share(1.0);
        assert!(words.dense == 0.0 && words.beside == 0.0 && words.near > WEIGHTS.near && words.speaker == WEIGHTS.speaker);
        let meaning = Weights::of_share(0.0);
        assert!(meaning.lexical == 0.0 && meaning.answers == 0.0 && meaning.dense > WEIGHTS.dense);
        assert_eq!(Weights::of_share(f32::NAN).lexical, Weights::of_share(0.6).lexical);
    }
}
