//! What each feature earns: the candidates ranked again with its weight at 0.
//!
//! Must not know: what a feature means.

use super::measures::Measures;
use super::trial::{Asked, Candidate};

/// A feature and what is left without it.
#[derive(Debug, Clone)]
pub struct Ablation {
    /// Its name.
    pub feature: String,
    /// One record a question, in their order.
    pub measures: Vec<Measures>,
}

/// One line a feature, behind the line of all features (named `all`). Empty where nothing was explained.
pub fn ablations(asked: &[Asked]) -> Vec<Ablation> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in asked.iter().flat_map(|a| &a.candidates).flat_map(|c| &c.parts) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    if names.is_empty() {
        return Vec::new();
    }
    std::iter::once("all")
        .chain(names)
        .map(|feature| Ablation { feature: feature.to_owned(), measures: without(asked, feature) })
        .collect()
}

fn without(asked: &[Asked], feature: &str) -> Vec<Measures> {
    let evidence = |candidate: &Candidate| {
        let added: f64 = candidate.parts.iter().filter(|(name, _)| name == feature).map(|(_, added)| added).sum();
        candidate.evidence - added
    };
    let rank = |asked: &Asked| {
        let mut scored: Vec<(f64, bool)> = asked.candidates.iter().map(|c| (evidence(c), c.is_gold)).collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        let ranking: Vec<bool> = scored.into_iter().map(|(_, is_gold)| is_gold).collect();
        Measures::of(&ranking, asked.gold)
    };
    asked.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recall::set::Language;

    // MEM-3
    #[test]
    fn a_feature_that_lifted_the_gold_is_missed() {
        let candidate = |is_gold, words, speaker| Candidate {
            is_gold,
            evidence: words + speaker,
            parts: vec![("lexical".to_owned(), words), ("speaker".to_owned(), speaker)],
        };
        let asked = Asked {
            category: "en".to_owned(),
            language: Language::English,
            measures: Measures::default(),
            top_score: 0.0,
            is_answered: true,
            gold: 1,
            candidates: vec![candidate(true, 0.2, 0.5), candidate(false, 0.4, 0.0)],
        };
        let lines: Vec<(String, f64)> =
            ablations(std::slice::from_ref(&asked)).into_iter().map(|a| (a.feature, a.measures[0].mrr)).collect();
        assert_eq!(lines, [("all".to_owned(), 1.0), ("lexical".to_owned(), 1.0), ("speaker".to_owned(), 0.5)]);
        assert!(ablations(&[Asked { candidates: vec![], ..asked }]).is_empty());
    }
}
