//! The learned half of the comparison: a linear model over numbers about two texts, asked where the rules find nothing.
//!
//! Multinomial logistic regression. The weights were made by `scripts/compare_weights.py` from the labelled pairs of
//! `tests/data/pairs` that are named there, and stand in `data/compare-weights.txt`: one line a class, its bias first. It
//! is believed only when it is sure, and never against what would make dropping or rewriting a memory wrong. Must not know: stores.

use super::decide::{Finding, Pair, Relation, Slot};
use super::features::features;
use super::tokens::{Class, Reading};
use std::sync::LazyLock;
use tiro_index::embed::Embedder;
use tiro_index::tokenize::stem;

static TEXT: &str = include_str!("../../../data/compare-weights.txt");

/// The classes in the order of the lines, each with the likelihood from which it is believed.
const CLASSES: [(Relation, f32); 5] = [
    (Relation::Near, 0.0),
    (Relation::Duplicate, 0.5),
    (Relation::Updated, 0.5),
    (Relation::Superseded, 0.65),
    (Relation::Conflict, 0.6),
];

static WEIGHTS: LazyLock<Vec<Vec<f32>>> = LazyLock::new(|| {
    let numbers = |line: &str| line.split_whitespace().filter_map(|number| number.parse().ok()).collect();
    TEXT.lines().filter(|line| !line.starts_with('#')).map(numbers).collect()
});

/// What the second text is to the first; no more than near where that is not likely enough, or not safe.
pub(super) fn likely(
    pair: &Pair<'_>,
    (seems, shown): (Finding, Finding),
    texts: (&str, &str),
    embedder: &dyn Embedder,
) -> Finding {
    if !comparable(pair) || pair.other_owner() {
        return Finding::plain(Relation::Near);
    }
    let features = features(pair, (seems, shown), texts, embedder);
    let mut shares = WEIGHTS.iter().map(|weights| weights[0] + dot(&weights[1..], &features)).collect::<Vec<f32>>();
    let most = shares.iter().copied().fold(f32::MIN, f32::max);
    shares.iter_mut().for_each(|share| *share = (*share - most).exp());
    let sum: f32 = shares.iter().sum();
    let safe = |relation| match relation {
        Relation::Duplicate => says_the_same(pair),
        Relation::Updated => says_more(pair),
        Relation::Superseded => takes_its_place(pair),
        _ => true,
    };
    let best = shares.iter().zip(CLASSES).filter(|(_, (relation, _))| safe(*relation)).max_by(|a, b| a.0.total_cmp(b.0));
    match best {
        Some((share, (relation, bar))) if share / sum >= bar => Finding { relation, reason: seems.reason },
        _ => Finding::plain(Relation::Near),
    }
}

/// Words up to which the weights were fitted: in longer texts what is counted means something else.
const READ_WORDS_MAX: usize = 20;

/// Whether the two can be compared by likelihood at all: prose of a sentence, in one script, with half of the shorter one's words in common.
fn comparable(pair: &Pair<'_>) -> bool {
    let (na, nb) = (pair.a.tokens.len(), pair.b.tokens.len());
    if na.max(nb) > READ_WORDS_MAX || pair.alignment.pairs.len() * 2 < na.min(nb) {
        return false;
    }
    let han = |reading: &Reading| reading.tokens.iter().filter(|token| token.han()).count() * 2 > reading.tokens.len();
    !pair.a.written.symbols && !pair.b.written.symbols && han(pair.a) == han(pair.b)
}

/// The same words, but for one that is left out or stands for another in the lexicon, in the same order or turned into the passive; nothing
/// that tells facts apart differs: numbers, times, names, denial, joining words, what is told of when.
fn says_the_same(pair: &Pair<'_>) -> bool {
    let (a, b) = (pair.a, pair.b);
    let left = exact(a, &pair.ra) || exact(b, &pair.rb) || pair.ra.len() > 1 || !pair.rb.is_empty();
    let changes = b.change || b.stopper || a.stopper || a.negations != b.negations || !a.written.same_case(&b.written);
    let same = |(i, j): &(usize, usize)| {
        let (x, y) = (&a.tokens[*i], &b.tokens[*j]);
        // `user` and `users` are one stem and two things; words of one group are one thing.
        let written = x.text.eq_ignore_ascii_case(&y.text);
        written || x.key == y.key && x.entry.group != 0 && stem(&x.text) != stem(&y.text)
    };
    let turned = pair.opposed() || pair.crossed() || pair.swapped() || pair.antonyms() || pair.differ_in_mode();
    let joined = |word: &str| a.said.iter().any(|said| said.text == word) == b.said.iter().any(|said| said.text == word);
    pair.alignment.pairs.len() >= WORDS_MIN
        && b.said.len() <= a.said.len() + 1
        && !left
        && !changes
        && !turned
        && pair.alignment.pairs.iter().all(same)
        && JOINING.into_iter().all(joined)
        && (pair.in_order() || pair.passive_turn())
}

/// Words that two texts have in common, at least, to be the same or more of the same.
const WORDS_MIN: usize = 3;
/// Words that join others: with another, or without, it is another fact.
const JOINING: [&str; 12] = ["and", "or", "but", "if", "unless", "only", "和", "或", "或者", "如果", "除非", "只"];

/// Nothing of the first that tells facts apart is missing in the second, and nothing is denied or changed.
fn says_more(pair: &Pair<'_>) -> bool {
    let (a, b) = (pair.a, pair.b);
    let changes = b.change || b.stopper || a.negations != b.negations || !a.written.same_case(&b.written);
    pair.alignment.pairs.len() >= WORDS_MIN && !exact(a, &pair.ra) && !changes && !pair.opposed() && !pair.swapped()
}

/// A place with one value at a time, or words of change; and nothing left in the subject, where it names another thing: `the staging port`,
/// `the production port`.
fn takes_its_place(pair: &Pair<'_>) -> bool {
    let slot = Slot::of(pair);
    let one = (slot.single || slot.attribute) && !slot.many;
    let changes = pair.b.change && !pair.a.change || pair.b.stopper && !pair.a.stopper || pair.names_old();
    (one || changes) && !pair.subject_left() && !pair.head_moved() && !pair.mixed_subjects()
}

fn exact(reading: &Reading, left: &[usize]) -> bool {
    left.iter().any(|i| reading.tokens[*i].class != Class::Word)
}

fn dot(weights: &[f32], features: &[f32]) -> f32 {
    weights.iter().zip(features).map(|(weight, feature)| weight * feature).sum()
}

#[cfg(test)]
mod tests {
    use super::super::features::FEATURES;
    use super::*;

    #[test]
    fn the_weights_fit_the_features() {
        assert_eq!(WEIGHTS.len(), CLASSES.len());
        assert!(WEIGHTS.iter().all(|line| line.len() == FEATURES + 1 && line.iter().all(|weight| weight.is_finite())));
    }
}
