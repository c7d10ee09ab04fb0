//! Which words of two texts answer to each other, and which are left on either side.
//!
//! Must not know: what follows from it.

use super::lexicon::{LEXICON, does};
use super::tokens::{Class, Reading, Token};
use std::sync::LazyLock;
use tiro_index::embed::Embedder;
use tiro_index::vector::dot;

/// Likeness from which two words of one language mean the same. Below stand the neighbours that do not: blue and green at .64.
const ALIKE_ENGLISH: f32 = 0.76;
/// The same for two Han words; words of one gloss are nearer.
const ALIKE_HAN: f32 = 0.82;
/// The same across languages.
const ALIKE_ACROSS: f32 = 0.78;
/// The same for names across languages.
const ALIKE_NAMES: f32 = 0.6;
/// Most words of one text that are compared by likeness.
const WORDS_MAX: usize = 48;

/// Groups of liking and preferring: who prefers a thing likes it.
static GLAD: LazyLock<[u16; 2]> =
    LazyLock::new(|| ["喜欢", "偏好"].map(|word| LEXICON.find(word).map_or(u16::MAX, |entry| entry.group)));

/// Words of two texts, paired.
#[derive(Debug, Default)]
pub(super) struct Alignment {
    /// Indexes into both, in the order of the first.
    pub pairs: Vec<(usize, usize)>,
    pub only_a: Vec<usize>,
    pub only_b: Vec<usize>,
}

/// Pairs the words of two readings.
pub(super) fn align(a: &Reading, b: &Reading, embedder: &dyn Embedder) -> Alignment {
    let mut taken = vec![false; b.tokens.len()];
    let mut partner: Vec<Option<usize>> = vec![None; a.tokens.len()];
    for (i, token) in a.tokens.iter().enumerate() {
        let fits = |j: &usize| !taken[*j] && b.tokens[*j].key == token.key;
        let same_role = (0..b.tokens.len()).filter(fits).find(|j| b.tokens[*j].role == token.role);
        if let Some(j) = same_role.or_else(|| (0..b.tokens.len()).find(fits)) {
            (taken[j], partner[i]) = (true, Some(j));
        }
    }
    for (i, token) in a.tokens.iter().enumerate().take(WORDS_MAX) {
        if partner[i].is_some() {
            continue;
        }
        let open = (0..b.tokens.len().min(WORDS_MAX)).filter(|j| !taken[*j]);
        let best = open.filter_map(|j| Some((j, excess(token, &b.tokens[j], embedder)?))).max_by(|x, y| x.1.total_cmp(&y.1));
        if let Some((j, _)) = best {
            (taken[j], partner[i]) = (true, Some(j));
        }
    }
    Alignment {
        pairs: partner.iter().enumerate().filter_map(|(i, j)| Some((i, (*j)?))).collect(),
        only_a: (0..a.tokens.len()).filter(|i| partner[*i].is_none()).collect(),
        only_b: (0..b.tokens.len()).filter(|j| !taken[*j]).collect(),
    }
}

/// How far two words are over the bar for meaning the same; none when they are not.
fn excess(a: &Token, b: &Token, embedder: &dyn Embedder) -> Option<f32> {
    let across = a.han() != b.han();
    let names = a.class == Class::Name || b.class == Class::Name;
    let words = a.class == Class::Word && b.class == Class::Word;
    let numeric = |token: &Token| matches!(token.class, Class::Number | Class::Time);
    let names_across = names && across && !numeric(a) && !numeric(b);
    if !words && !names_across {
        return None;
    }
    if GLAD.contains(&a.entry.group) && GLAD.contains(&b.entry.group) && a.opposite == b.opposite {
        return Some(0.0);
    }
    let grouped = a.entry.group != 0 && b.entry.group != 0;
    if grouped
        || a.entry.apart & b.entry.apart != 0
        || a.entry.does & b.entry.does == 0
            && (a.entry.does | b.entry.does) & does::VERB != 0
            && a.entry.does != 0
            && b.entry.does != 0
    {
        return None;
    }
    let bar = match (across, names) {
        (true, true) => ALIKE_NAMES,
        (true, false) => ALIKE_ACROSS,
        (false, _) if a.han() => ALIKE_HAN,
        _ => ALIKE_ENGLISH,
    };
    let cosine = likeness(a, b, embedder)?;
    (cosine >= bar).then_some(cosine - bar)
}

/// Cosine of two words alone.
pub(super) fn likeness(a: &Token, b: &Token, embedder: &dyn Embedder) -> Option<f32> {
    let (a, b) = (a.vector(embedder)?, b.vector(embedder)?);
    Some(dot(a, b))
}
