//! What the learned half of the comparison looks at: numbers about two texts side by side.
//!
//! A change here needs new weights (`scripts/compare_weights.py`). Must not know: weights.

use super::align::likeness;
use super::decide::{Finding, GROUPS, Pair, Relation, Slot};
use super::scan::is_han;
use super::tokens::{Class, Reading};
use tiro_index::embed::{Embedder, Role};
use tiro_index::tokenize::count_tokens;
use tiro_index::vector::dot;

/// Number of features.
pub(super) const FEATURES: usize = 119;

/// Classes of words in the order of the features.
const CLASSES: [Class; 5] = [Class::Word, Class::Number, Class::Time, Class::Ident, Class::Name];
/// Relations in the order of the features.
const RELATIONS: [Relation; 6] =
    [Relation::Unrelated, Relation::Near, Relation::Updated, Relation::Conflict, Relation::Superseded, Relation::Duplicate];
/// Likeness of a word that nothing answers to.
const NOTHING_ALIKE: f32 = -0.3;
/// The same for all that is left together.
const NOTHING_LEFT: f32 = -0.2;

fn flag(told: bool) -> f32 {
    f32::from(u8::from(told))
}

/// The features of a pair: what the rules take it for, and what of that is shown, are among them. `texts` are the two as written.
pub(super) fn features(
    pair: &Pair<'_>,
    (seems, shown): (Finding, Finding),
    texts: (&str, &str),
    embedder: &dyn Embedder,
) -> Vec<f32> {
    let mut found = Vec::with_capacity(FEATURES);
    words(pair, &mut found);
    rules(pair, &mut found);
    likenesses(pair, texts, embedder, &mut found);
    order(pair, &mut found);
    scripts(texts, &mut found);
    for relation in [seems.relation, shown.relation] {
        found.extend(RELATIONS.map(|other| flag(other == relation)));
    }
    found.extend((0..5).map(|n| flag(n == seems.reason as usize)));
    // Words that are paired by likeness alone.
    let alike = pair.alignment.pairs.iter().filter(|(i, j)| pair.a.tokens[*i].key != pair.b.tokens[*j].key).count();
    found.push(alike as f32);
    debug_assert_eq!(found.len(), FEATURES);
    found
}

/// How many words answer to each other, and what sort is left.
fn words(pair: &Pair<'_>, found: &mut Vec<f32>) {
    let (a, b, pairs) = (&pair.a.tokens, &pair.b.tokens, &pair.alignment.pairs);
    let (na, nb, np) = (a.len() as f32, b.len() as f32, pairs.len() as f32);
    found.extend([na, nb, np, np / na.max(1.0), np / nb.max(1.0), pair.ra.len() as f32, pair.rb.len() as f32, na - nb]);
    for class in CLASSES {
        let left_a = pair.ra.iter().filter(|i| a[**i].class == class).count() as f32;
        let left_b = pair.rb.iter().filter(|j| b[**j].class == class).count() as f32;
        let common = pairs.iter().filter(|(i, _)| a[*i].class == class).count() as f32;
        found.extend([left_a, left_b, flag(left_a > 0.0 && left_b > 0.0), common]);
    }
}

/// What the rules see in both, in each, and in the place of the value.
fn rules(pair: &Pair<'_>, found: &mut Vec<f32>) {
    let both = [
        pair.opposed(),
        pair.crossed(),
        pair.swapped(),
        pair.differ_in_mode(),
        pair.subject_left(),
        pair.head_moved(),
        pair.mixed_subjects(),
        pair.verb_left(),
        pair.values_first(),
        pair.antonyms(),
        pair.names_old(),
        pair.in_order(),
        pair.passive_turn(),
    ];
    found.extend(both.map(flag));
    for r in [pair.a, pair.b] {
        found.extend([r.change, r.stopper, r.moved, r.hedge, r.again, r.exception, r.past, r.copula, r.question].map(flag));
        found.push(r.negations as f32);
        found.extend([r.must, r.may, r.has_verb, r.definite_end, r.passive].map(flag));
        found.extend([r.sentences as f32, r.clauses as f32]);
        found.push(flag(r.tokens.iter().any(|token| token.entry.group == GROUPS.speaker)));
    }
    let slot = Slot::of(pair);
    found.extend([slot.attribute, slot.single, slot.many, slot.fixed, slot.event, slot.scheduled].map(flag));
}

/// Likeness of the texts, of what is left of both, and of the words left to their best counterpart.
fn likenesses(pair: &Pair<'_>, texts: (&str, &str), embedder: &dyn Embedder, found: &mut Vec<f32>) {
    let cosine = |a: &str, b: &str| Some(dot(&embedder.embed(Role::Query, a)?, &embedder.embed(Role::Query, b)?));
    found.push(cosine(texts.0, texts.1).unwrap_or(0.0));
    let told = |r: &Reading, only: &[usize]| only.iter().map(|i| r.tokens[*i].text.as_str()).collect::<Vec<_>>().join(" ");
    found.push(cosine(&told(pair.a, &pair.ra), &told(pair.b, &pair.rb)).unwrap_or(NOTHING_LEFT));
    let alike = |i: usize, j: usize| likeness(&pair.a.tokens[i], &pair.b.tokens[j], embedder).unwrap_or(NOTHING_ALIKE);
    let best_of_a = pair.ra.iter().map(|i| pair.rb.iter().map(|j| alike(*i, *j)).fold(NOTHING_ALIKE, f32::max));
    let best_of_b = pair.rb.iter().map(|j| pair.ra.iter().map(|i| alike(*i, *j)).fold(NOTHING_ALIKE, f32::max));
    for best in [best_of_a.collect::<Vec<f32>>(), best_of_b.collect()] {
        found.push(best.iter().copied().fold(1.0, f32::min));
        found.push(best.iter().sum::<f32>() / best.len().max(1) as f32);
    }
}

/// How far the words stand in the same order.
fn order(pair: &Pair<'_>, found: &mut Vec<f32>) {
    let (a, b) = (&pair.a.said, &pair.b.said);
    let mut row = vec![0u16; b.len() + 1];
    for said in a {
        let mut last = 0;
        for (j, other) in b.iter().enumerate() {
            let above = row[j + 1];
            row[j + 1] = if said.text == other.text { last + 1 } else { above.max(row[j]) };
            last = above;
        }
    }
    let (na, nb, common) = (a.len() as f32, b.len() as f32, f32::from(row[b.len()]));
    found.extend([na, nb, common / na.max(1.0), common / nb.max(1.0)]);
    let before = a.iter().zip(b).take_while(|(x, y)| x.text == y.text).count() as f32;
    let after = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x.text == y.text).count() as f32;
    found.extend([before, after, (before + after) / na.max(1.0)]);
}

/// How much of each is Han, and how many tokens of the index they share.
fn scripts((a, b): (&str, &str), found: &mut Vec<f32>) {
    let han = |text: &str| text.chars().filter(|c| is_han(*c)).count() as f32 / text.chars().count().max(1) as f32;
    found.extend([han(a), han(b), (han(a) - han(b)).abs()]);
    let (a, b) = (count_tokens(a).tokens, count_tokens(b).tokens);
    let shared = a.iter().filter(|token| b.binary_search(token).is_ok()).count() as f32;
    found.extend([shared / a.len().max(1) as f32, shared / b.len().max(1) as f32]);
}
