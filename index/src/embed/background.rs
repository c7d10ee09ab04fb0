//! How a model scores texts that have nothing to do with a query: the compiled-in sample and the scale it gives to a cosine.
//! An absolute cosine means nothing across models and queries; its distance from the sample's mean, in standard deviations, does.
//! It must not know what a score is used for.

use super::{Embedder, PassageKind, Role};
use crate::tokenize::has_unspaced;
use crate::vector::dot;

/// Short everyday sentences, English and Chinese, one a line.
static SAMPLE: &str = include_str!("../../data/background.txt");

/// The least standard deviation believed: a query that is nearly at right angles to the whole sample would otherwise make any cosine look large.
const SD_MIN: f32 = 0.02;

/// The scale of cosines for one query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ZScale {
    /// Mean cosine of the query to the sample.
    pub mean: f32,
    /// Standard deviation of these cosines, at least 0.02.
    pub sd: f32,
}

impl ZScale {
    /// `(cosine - mean) / sd`.
    pub fn z(&self, cosine: f32) -> f32 {
        (cosine - self.mean) / self.sd
    }
}

/// The scales of cosines for one query to texts of scripts written with spaces, and without. A model likes texts of the query's language
/// whatever they say, so each is measured from the mean of its own; how far apart cosines are is the whole sample's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScriptScales {
    /// To texts of scripts written with spaces.
    pub spaced: ZScale,
    /// To texts that have characters of a script written without.
    pub unspaced: ZScale,
}

impl ScriptScales {
    /// The scale for a text.
    pub fn of(&self, unspaced: bool) -> ZScale {
        if unspaced { self.unspaced } else { self.spaced }
    }
}

/// The sample's vectors of a model that knows one kind of passage, by script.
#[derive(Debug, Clone)]
pub struct ScriptBackgrounds {
    whole: Background,
    spaced: Background,
    unspaced: Background,
}

impl ScriptBackgrounds {
    /// From what the model made of [`Background::texts`]: place of the text, vector. Vectors of another length are left out.
    pub fn of_vectors<'a>(dimension: usize, vectors: impl IntoIterator<Item = (u32, &'a [f32])>) -> Self {
        let unspaced: Vec<bool> = Background::texts().map(has_unspaced).collect();
        let is_unspaced = |place: u32| unspaced.get(place as usize).copied().unwrap_or(false);
        let all: Vec<(u32, &[f32])> = vectors.into_iter().collect();
        let (theirs, ours): (Vec<_>, Vec<_>) = all.iter().copied().partition(|(place, _)| is_unspaced(*place));
        let rows =
            |vectors: Vec<(u32, &'a [f32])>| Background::of_vectors(dimension, vectors.into_iter().map(|(_, vector)| vector));
        Self { whole: rows(all), spaced: rows(ours), unspaced: rows(theirs) }
    }

    /// The scales for cosines of `query`.
    pub fn z(&self, query: &[f32]) -> ScriptScales {
        let whole = self.whole.z(query);
        // A half that the model knows nothing of says nothing of its own.
        let own = |half: &Background| if half.is_empty() { whole } else { ZScale { mean: half.z(query).mean, sd: whole.sd } };
        ScriptScales { spaced: own(&self.spaced), unspaced: own(&self.unspaced) }
    }
}

/// The sample's passage vectors for one model, in both kinds.
#[derive(Debug, Clone)]
pub struct Background {
    dimension: usize,
    turns: Vec<f32>,
    facts: Vec<f32>,
}

impl Background {
    /// Embeds the sample.
    pub fn of(embedder: &dyn Embedder) -> Self {
        let texts: Vec<&str> = Self::texts().collect();
        let vectors = |kind| embedder.embed_many(Role::Passage(kind), &texts).into_iter().flatten().flatten().collect();
        Self { dimension: embedder.dimension(), turns: vectors(PassageKind::Turn), facts: vectors(PassageKind::Fact) }
    }

    /// The texts of the sample, in order.
    pub fn texts() -> impl Iterator<Item = &'static str> {
        SAMPLE.lines().filter(|line| !line.is_empty())
    }

    /// The sample of a model that knows one kind of passage, from what it made of [`texts`](Self::texts). Vectors of another length are
    /// left out.
    pub fn of_vectors<'a>(dimension: usize, vectors: impl IntoIterator<Item = &'a [f32]>) -> Self {
        let rows: Vec<f32> = vectors.into_iter().filter(|vector| vector.len() == dimension).flatten().copied().collect();
        Self { dimension, facts: rows.clone(), turns: rows }
    }

    /// Texts in the sample that the model has a vector for.
    pub fn len(&self) -> usize {
        self.turns.len() / self.dimension
    }

    /// Whether the model knows no text of the sample.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The scale for cosines of `query` to conversation turns.
    pub fn z(&self, query: &[f32]) -> ZScale {
        self.z_for(PassageKind::Turn, query)
    }

    /// The scale for cosines of `query` to passages of `kind`. Turns have norms below 1, so facts have a scale of their own.
    /// A query of another dimension, or an empty sample, gives mean 0 and standard deviation 1.
    pub fn z_for(&self, kind: PassageKind, query: &[f32]) -> ZScale {
        let rows = match kind {
            PassageKind::Turn => &self.turns,
            PassageKind::Fact => &self.facts,
        };
        if rows.is_empty() || query.len() != self.dimension {
            return ZScale { mean: 0.0, sd: 1.0 };
        }
        let (mut sum, mut squares, mut count) = (0.0_f64, 0.0_f64, 0.0_f64);
        for row in rows.chunks_exact(self.dimension) {
            let cosine = f64::from(dot(query, row));
            sum += cosine;
            squares += cosine * cosine;
            count += 1.0;
        }
        let mean = sum / count;
        let variance = (squares / count - mean * mean).max(0.0);
        ZScale { mean: mean as f32, sd: (variance.sqrt() as f32).max(SD_MIN) }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::embed::StaticTable;

    // MEM-5, M23
    #[test]
    fn what_fits_a_query_stands_out_of_the_background_in_either_language() {
        let table = StaticTable::new().unwrap();
        assert!(table.background().len() > 300 && !table.background().is_empty());
        for (query, fitting, alien) in [
            ("What is the user allergic to?", "用户对花生过敏", "The meeting is on Monday."),
            ("用户对什么过敏？", "I am allergic to peanuts.", "会议在周一。"),
        ] {
            let query = table.embed(Role::Query, query).unwrap();
            for kind in [PassageKind::Turn, PassageKind::Fact] {
                let scale = table.background().z_for(kind, &query);
                let z = |text| scale.z(dot(&query, &table.embed(Role::Passage(kind), text).unwrap()));
                assert!(z(fitting) > 1.5, "{fitting}: {}", z(fitting));
                assert!(z(alien) < 1.5, "{alien}: {}", z(alien));
            }
        }
    }

    // MEM-3: a model that likes its query's language whatever is said still finds what is said in the other
    #[test]
    fn each_script_is_measured_against_its_own() {
        let scripts: Vec<bool> = Background::texts().map(has_unspaced).collect();
        // A vector says its script loudly and what it means softly.
        let vector = |unspaced: bool, meaning: f32| {
            let (loud, other) = if unspaced { (0.0, 0.95) } else { (0.95, 0.0) };
            vec![loud, other, meaning, (1.0 - 0.95_f32.powi(2) - meaning * meaning).sqrt()]
        };
        let rows: Vec<Vec<f32>> =
            (0_u16..).zip(&scripts).map(|(n, unspaced)| vector(*unspaced, f32::from(n % 7) / 100.0)).collect();
        let rows = (0..).zip(rows.iter().map(Vec::as_slice));
        let scales = ScriptBackgrounds::of_vectors(4, rows).z(&vector(true, 0.3));
        let cosine = |unspaced, meaning| dot(&vector(true, 0.3), &vector(unspaced, meaning));
        let (fitting, alien) = (cosine(false, 0.3), cosine(true, 0.03));
        assert!(fitting < alien, "the cosine alone misleads");
        assert!(scales.of(false).z(fitting) > scales.of(true).z(alien) + 0.05, "{scales:?}");
    }

    #[test]
    fn the_scale_is_sane_for_any_query() {
        let table = StaticTable::new().unwrap();
        let background = table.background();
        for text in SAMPLE.lines().chain(["a", "😀", "的", "REQ-2041"]) {
            let scale = background.z(&table.embed(Role::Query, text).unwrap());
            assert!((-1.0..=1.0).contains(&scale.mean) && (SD_MIN..1.0).contains(&scale.sd));
        }
        let odd = ZScale { mean: 0.0, sd: 1.0 };
        assert_eq!(background.z(&[1.0]), odd);
        assert_eq!(background.z(&[0.0; 192]), ZScale { mean: 0.0, sd: SD_MIN });
    }
}
