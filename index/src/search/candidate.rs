//! One document that may be a hit, with its features. It must not know where candidates come from.

use super::fuse;
use super::weights::Weights;
use crate::embed::ZScale;
use crate::query::Mode;
use crate::result::{Features, Strength};
use crate::state::space::Space;

/// A candidate with its place.
pub(super) struct Candidate {
    pub(super) space: u32,
    pub(super) slot: u32,
    pub(super) key: u64,
    pub(super) features: Features,
    /// The highest cosine of what was said right before and after it.
    pub(super) cosine_beside: Option<f32>,
}

impl Candidate {
    /// How sure it is, among the documents of its space.
    pub(super) fn strength(&self, mode: Mode, content: bool, space: &Space) -> Strength {
        fuse::strength(mode, &self.features, content, space.statistics.documents as usize)
    }

    /// Dense features from the cosines, then evidence and relevance from all features.
    pub(super) fn weigh(&mut self, mode: Mode, scale: Option<ZScale>, weights: &Weights) {
        let features = &mut self.features;
        let cosine = scale.zip(features.cosine);
        features.z = cosine.map(|(scale, cosine)| scale.z(cosine));
        features.dense = match cosine {
            Some((scale, cosine)) => fuse::dense(scale, cosine),
            None if mode == Mode::Vector => 0.0,
            None => fuse::dense_unknown(features.lexical),
        };
        let beside = scale.zip(self.cosine_beside).map_or(features.dense, |(scale, cosine)| fuse::dense(scale, cosine));
        features.beside = beside.max(features.dense);
        features.evidence = fuse::evidence(mode, weights, features);
        features.relevance = fuse::relevance(mode, features, features.evidence);
    }

    /// Takes evidence away because it was told again later.
    pub(super) fn lose(&mut self, loss: f32) {
        let features = &mut self.features;
        features.later = loss;
        features.evidence -= loss;
        features.relevance = fuse::relevance(Mode::Hybrid, features, features.evidence);
    }
}
