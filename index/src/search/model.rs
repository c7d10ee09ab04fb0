//! A query as put to the model in use beside the built-in one. Its cosines are brought onto the scale of the built-in model's by their
//! standard scores, so that no cosine of the one is ever held against one of the other. It must not know where vectors lie.

use crate::embed::{ScriptScales, ZScale};
use crate::result::Hit;
use crate::settings::ModelLeg;
use crate::state::State;

/// What stands for the built-in model's scale where it knows nothing of the query: any scale serves, as only standard scores count.
const STAND_IN: ZScale = ZScale { mean: 0.1, sd: 1.0 / 16.0 };

/// A query's vector by that model.
pub(crate) struct AskedModel<'a> {
    pub(crate) vector: &'a [f32],
    /// Scales of its cosines.
    own: ScriptScales,
    /// The scale they are brought onto: that of the built-in model.
    pub(crate) scale: ZScale,
    /// Share of the lexical leg.
    pub(crate) lexical_weight: f32,
}

impl<'a> AskedModel<'a> {
    /// Measures the query's scale. `scale` is the built-in model's, where that knows the query.
    pub(crate) fn new(leg: &ModelLeg, vector: &'a [f32], scale: Option<ZScale>) -> Self {
        let own = (leg.calibration)(vector);
        Self { vector, own, scale: scale.unwrap_or(STAND_IN), lexical_weight: leg.lexical_weight }
    }

    /// A cosine of this model to a text as the cosine of the built-in one that has the same standard score.
    pub(crate) fn on_scale(&self, cosine: f32, unspaced: bool) -> f32 {
        self.own.of(unspaced).z(cosine) * self.scale.sd + self.scale.mean
    }

    /// Gives hits the cosines of the model that served them.
    pub(crate) fn show_own(&self, state: &State, hits: &mut [Hit]) {
        for hit in hits {
            let Some((number, at)) = state.locate(hit.key) else { continue };
            let Some(space) = state.spaces.get(&number).filter(|space| space.model_vectors.contains(at)) else { continue };
            let unspaced = space.slot(at).is_some_and(|slot| slot.facets.unspaced);
            hit.features.cosine = hit.features.cosine.map(|cosine| self.own_cosine(cosine, unspaced));
        }
    }

    /// The way back.
    fn own_cosine(&self, cosine: f32, unspaced: bool) -> f32 {
        let own = self.own.of(unspaced);
        self.scale.z(cosine) * own.sd + own.mean
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::sync::Arc;

    // M29: two models' cosines meet as standard scores alone
    #[test]
    fn a_cosine_keeps_its_standard_score_on_the_other_scale() {
        let own = ScriptScales { spaced: ZScale { mean: 0.8, sd: 0.02 }, unspaced: ZScale { mean: 0.7, sd: 0.03 } };
        let leg = ModelLeg { dim: 2, calibration: Arc::new(move |_| own), lexical_weight: 0.4 };
        let table = ZScale { mean: 0.05, sd: 0.1 };
        for scale in [Some(table), None] {
            let asked = AskedModel::new(&leg, &[1.0, 0.0], scale);
            for (cosine, unspaced) in [(0.7, false), (0.8, true), (0.9, false), (0.9, true)] {
                let moved = asked.on_scale(cosine, unspaced);
                assert!((asked.scale.z(moved) - own.of(unspaced).z(cosine)).abs() < 1e-3, "{cosine}");
                assert!((asked.own_cosine(moved, unspaced) - cosine).abs() < 1e-5, "{cosine}");
            }
        }
    }
}
