//! Same, changed, or different: what a text to be kept is to the memories nearest to it.
//!
//! `scan` and `tokens` read a text, `align` pairs the words of two, `decide` says what the later is to the earlier, `proof` what of that is
//! shown; where that is nothing, `learned` says what is likely.
//! Only `near` asks the index and the store. Must not know: verbs.

mod align;
mod decide;
mod features;
mod learned;
mod lexicon;
mod near;
mod numerals;
mod proof;
mod said;
mod scan;
mod tokens;

use decide::Pair;
pub(super) use decide::{Finding, Relation};
use learned::likely;
pub(super) use near::{Comparison, Outcome, Since, other_event, other_speaker};
pub(super) use said::same_case;
use tiro_index::embed::Embedder;
use tokens::{Reading, read};

/// A text read for comparison: whole, and sentence by sentence where it has several.
#[derive(Debug, Default)]
pub(super) struct Read {
    text: String,
    whole: Reading,
    sentences: Vec<Reading>,
}

/// Sentences of a text at most that are compared one by one.
const SENTENCES_MAX: usize = 4;

impl Read {
    /// Reads a text.
    pub fn new(text: &str, embedder: &dyn Embedder) -> Read {
        let whole = read(text, embedder);
        let parts: Vec<&str> = text.split_inclusive(['.', '!', '?', '。', '！', '？', ';', '；', '\n']).collect();
        let mut sentences = Vec::new();
        if parts.len() > 1 {
            let read_all = joined(&parts).into_iter().map(|part| read(&part, embedder));
            sentences = read_all.filter(|reading| !reading.tokens.is_empty()).collect();
        }
        Read { text: text.to_owned(), whole, sentences }
    }

    /// Whether it speaks of its speaker: then it says another thing in another mouth.
    pub fn first_person(&self) -> bool {
        const WORDS: [&str; 8] = ["i", "me", "my", "mine", "myself", "我", "我的", "本人"];
        self.whole.tokens.iter().any(|token| WORDS.contains(&token.text.to_lowercase().as_str()))
    }

    /// Whether it tells of something that happens, and may happen again: what is over, amounts without to be, today.
    pub fn tells_event(&self) -> bool {
        let whole = &self.whole;
        let says = |word: &str| whole.said.iter().any(|said| said.text == word);
        let amount = whole.tokens.iter().any(|t| t.class == tokens::Class::Number) && !whole.copula;
        let dated = ["today", "yesterday", "tonight", "今天", "昨天", "今晚", "了", "过"].into_iter().any(says);
        whole.past || dated || amount || whole.tokens.iter().any(|t| t.past || t.does(lexicon::does::EVENT))
    }

    fn single(&self) -> bool {
        self.sentences.len() <= 1
    }
}

/// Parts that end in the middle of a number or name go on in the next.
fn joined(parts: &[&str]) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    for part in parts {
        let goes_on = sentences.last().is_some_and(|last| {
            let word = last.trim_end_matches('.').rsplit(|c: char| !c.is_alphabetic()).next().unwrap_or("").to_lowercase();
            last.ends_with('.')
                && (part.starts_with(|c: char| !c.is_whitespace()) || scan::ABBREVIATIONS.contains(&word.as_str()))
        });
        match sentences.last_mut().filter(|_| goes_on) {
            Some(last) => last.push_str(part),
            None => sentences.push((*part).to_owned()),
        }
    }
    sentences
}

/// What `new`, told later, is to `known`.
pub(super) fn compare(known: &Read, new: &Read, embedder: &dyn Embedder) -> Finding {
    let Some(pair) = Pair::of(&known.whole, &new.whole, embedder) else { return Finding::plain(Relation::Unrelated) };
    let seems = pair.seems();
    let whole = pair.shown(seems);
    let found = by_sentence(whole, known, new, embedder);
    if found.relation > Relation::Near || !known.single() || !pair.readable() {
        return found;
    }
    let likely = likely(&pair, (seems, whole), (&known.text, &new.text), embedder);
    // Of several sentences one may be another fact.
    let keeps = !matches!(likely.relation, Relation::Duplicate | Relation::Updated) || new.single();
    if likely.relation > Relation::Near && keeps { likely } else { found }
}

/// The finding of the whole in the light of the sentences of both.
fn by_sentence(whole: Finding, known: &Read, new: &Read, embedder: &dyn Embedder) -> Finding {
    if known.single() && new.single() {
        return whole;
    }
    let near = Finding::plain(whole.relation.min(Relation::Near));
    if !known.single() || new.sentences.len() > SENTENCES_MAX {
        // A memory of several sentences gives way to none that answers one of them.
        return if whole.relation == Relation::Duplicate { whole } else { near };
    }
    let shown = |sentence| Pair::of(&known.whole, sentence, embedder).map(|pair| pair.shown(pair.seems()));
    let parts = new.sentences.iter().map(|sentence| shown(sentence).unwrap_or(Finding::plain(Relation::Unrelated)));
    let best = parts.max_by_key(|finding| finding.relation).unwrap_or(near);
    match best.relation {
        // A list of facts takes the place of none of them.
        Relation::Duplicate | Relation::Updated | Relation::Unrelated | Relation::Near => near,
        _ => best,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Writes labelled pairs with what the rules make of them and their features, for `scripts/compare_weights.py`: `TIRO_PAIRS_FROM`
    /// names files of them, separated by commas, `TIRO_PAIRS_TO` the file to write.
    #[test]
    #[ignore = "a tool: it makes the input of scripts/compare_weights.py"]
    fn features_of_labelled_pairs() {
        use std::io::Write;
        let embedder = tiro_index::embed::StaticTable::new().unwrap();
        let mut out = std::io::BufWriter::new(std::fs::File::create(std::env::var("TIRO_PAIRS_TO").unwrap()).unwrap());
        for path in std::env::var("TIRO_PAIRS_FROM").unwrap().split(',') {
            for line in std::fs::read_to_string(path).unwrap().lines() {
                let mut row: serde_json::Value = serde_json::from_str(line).unwrap();
                let read = |name: &str| Read::new(row[name].as_str().unwrap(), &embedder);
                let (a, b) = (read("a"), read("b"));
                let features = Pair::of(&a.whole, &b.whole, &embedder).map(|pair| {
                    let seems = pair.seems();
                    features::features(&pair, (seems, pair.shown(seems)), (&a.text, &b.text), &embedder)
                });
                row["found"] = format!("{:?}", compare(&a, &b, &embedder).relation).into();
                row["from"] = path.into();
                row["features"] = serde_json::to_value(features).unwrap();
                writeln!(out, "{row}").unwrap();
            }
        }
    }
}
