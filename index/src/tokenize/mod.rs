//! From text to tokens, the same for documents and queries. It must not know what is done with tokens.
//!
//! Words are folded, lower-cased and stemmed (English Snowball); identifiers are kept whole and split; scripts written without
//! spaces give single characters and pairs. A token is a 32-bit hash of its text: there is no dictionary to keep or to damage.
//! Nothing in a text is syntax and no text is refused.

mod class;
mod function;
mod normalise;
mod segment;
mod words;

use crate::limits::{DOCUMENT_BYTES_MAX, NAME_BYTES_MAX, QUERY_BYTES_MAX, QUERY_TOKENS_MAX};
use class::Class;
use segment::Run;
use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::LazyLock;
use words::Words;

/// Version of the analysis. An index made by another version is rebuilt.
pub const TOKENIZER_VERSION: u32 = 2;

/// Weight of a function word in a query; every other token weighs 1.
const FUNCTION_WEIGHT: f32 = 0.35;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A word, stemmed, or a number.
    Word,
    /// A word, character or pair that holds sentences together and says little.
    Function,
    /// A compound or a segment of one, as written.
    Whole,
    /// Part of a word, by case or digits.
    Part,
    /// A single character of a script written without spaces.
    Single,
    /// Two neighbouring characters of such a script.
    Pair,
    /// An emoji or pictograph.
    Symbol,
}

/// Takes tokens as they are found.
type Sink<'a> = dyn FnMut(&str, Kind) + 'a;

/// Tokens of a document: hashes, ascending, each with how often it occurs (at most 255), and how many there are in all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TokenCounts {
    /// Distinct tokens, ascending.
    pub tokens: Vec<u32>,
    /// How often each occurs.
    pub counts: Vec<u8>,
    /// Number of tokens, repeats counted.
    pub length: u32,
}

/// A distinct token of a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QueryToken {
    /// Its hash.
    pub id: u32,
    /// What it is.
    pub kind: Kind,
    /// What its weight in a score is multiplied with.
    pub weight: f32,
}

thread_local! {
    /// The stemmer and what it remembers.
    static WORDS: RefCell<Words> = RefCell::new(Words::new());
}

/// Hash of a token.
pub fn token_id(token: &str) -> u32 {
    xxhash_rust::xxh3::xxh3_64(token.as_bytes()) as u32
}

/// Calls `sink` with every token of a text, in order, repeats included.
pub fn analyse(text: &str, sink: &mut Sink<'_>) {
    WORDS.with(|words| match words.try_borrow_mut() {
        Ok(mut words) => analyse_with(&mut words, text, sink),
        // A sink that analyses in its turn.
        Err(_) => analyse_with(&mut Words::new(), text, sink),
    });
}

fn analyse_with(words: &mut Words, text: &str, sink: &mut Sink<'_>) {
    let text = normalise::normalise(text);
    segment::segment(&text, &mut |run| match run {
        Run::Compound(text) => words.compound(text, sink),
        Run::Signed(word, sign) => words.signed(word, sign, sink),
        Run::Unspaced(text) => unspaced(text, sink),
        Run::Symbol(text) => sink(text, Kind::Symbol),
    });
}

/// Single characters and pairs of neighbours.
fn unspaced(text: &str, sink: &mut Sink<'_>) {
    let mut bounds = text.char_indices().map(|(i, _)| i).chain([text.len()]);
    let (mut before, mut start) = (None, bounds.next().unwrap_or(0));
    for end in bounds {
        sink(&text[start..end], kind_of(&text[start..end], Kind::Single));
        if let Some(before) = before {
            sink(&text[before..end], kind_of(&text[before..end], Kind::Pair));
        }
        before = Some(start);
        start = end;
    }
}

fn kind_of(token: &str, kind: Kind) -> Kind {
    if function::is_function_token(token) { Kind::Function } else { kind }
}

/// Whether a token is one of a function word: of documents only the tokens are kept, not what each is.
pub(crate) fn is_function(token: u32) -> bool {
    static FUNCTION: LazyLock<HashSet<u32>> = LazyLock::new(|| {
        let tokens = function::all().flat_map(query_tokens);
        tokens.filter(|token| token.kind == Kind::Function).map(|token| token.id).collect()
    });
    FUNCTION.contains(&token)
}

/// The stem of one word, lower-cased; words of other scripts than the Latin as they are.
pub fn stem(word: &str) -> String {
    let mut stem = String::new();
    let mut sink = |token: &str, _: Kind| stem.push_str(token);
    WORDS.with(|words| match words.try_borrow_mut() {
        Ok(mut words) => words.stem(word, Kind::Word, &mut sink),
        Err(_) => Words::new().stem(word, Kind::Word, &mut sink),
    });
    stem
}

/// Counts the tokens of a document.
pub fn count_tokens(text: &str) -> TokenCounts {
    let mut ids = Vec::with_capacity(text.len() / 4);
    analyse(cut(text, DOCUMENT_BYTES_MAX), &mut |token, _| ids.push(token_id(token)));
    let length = ids.len().min(u32::MAX as usize) as u32;
    ids.sort_unstable();
    let mut counted = TokenCounts { tokens: Vec::with_capacity(ids.len()), counts: Vec::with_capacity(ids.len()), length };
    for run in ids.chunk_by(|a, b| a == b) {
        counted.tokens.push(run[0]);
        counted.counts.push(run.len().min(255) as u8);
    }
    counted
}

/// The distinct tokens of a query in order of appearance, the first 256.
pub fn query_tokens(text: &str) -> Vec<QueryToken> {
    let mut seen = std::collections::HashSet::new();
    let mut tokens = Vec::new();
    analyse(cut(text, QUERY_BYTES_MAX), &mut |token, kind| {
        let id = token_id(token);
        if tokens.len() < QUERY_TOKENS_MAX && seen.insert(id) {
            let weight = if kind == Kind::Function { FUNCTION_WEIGHT } else { 1.0 };
            tokens.push(QueryToken { id, kind, weight });
        }
    });
    tokens
}

/// Whether a text has characters of a script written without spaces.
pub fn has_unspaced(text: &str) -> bool {
    !text.is_ascii()
        && text.chars().any(|c| matches!(class::class_of(c), Class::Han | Class::Kana | Class::Hangul | Class::Unspaced))
}

/// The token by which a question names somebody: the first word of the name, or, in a script without spaces, its last pair of characters
/// (the given name). `None` for a name of function words or of one character.
pub fn name_token(name: &str) -> Option<u32> {
    let (mut word, mut pair) = (None, None);
    analyse(cut(name, NAME_BYTES_MAX), &mut |token, kind| match kind {
        Kind::Word if word.is_none() => word = Some(token_id(token)),
        Kind::Pair => pair = Some(token_id(token)),
        _ => {}
    });
    word.or(pair)
}

/// The longest prefix of at most `bytes_max` bytes that ends at a character.
fn cut(text: &str, bytes_max: usize) -> &str {
    if text.len() <= bytes_max {
        return text;
    }
    let end = (0..=bytes_max).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0);
    &text[..end]
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<String> {
        let mut out = Vec::new();
        analyse(text, &mut |t, _| out.push(t.to_owned()));
        out
    }

    #[test]
    fn words_are_stemmed_and_identifiers_whole_and_split() {
        assert_eq!(tokens("Painting sunrises, another bot's"), ["paint", "sunris", "anoth", "bot"]);
        assert_eq!(tokens("REQ-2041:"), ["req-2041", "req", "2041"]);
        assert_eq!(
            tokens("snake_case_var Downloads/x GB/s"),
            ["snake_case_var", "snake", "case", "var", "downloads/x", "download", "x", "gb/s", "gb", "s"]
        );
        assert_eq!(tokens("C++ and C#."), ["c++", "c", "and", "c#", "c"]);
        assert_eq!(tokens("std::fs::readDir"), ["std::fs::readdir", "std", "fs", "readdir", "read", "dir"]);
        assert_eq!(
            tokens("2026-03-05 10,000 don't O'Brien"),
            ["2026-03-05", "2026", "03", "05", "10000", "dont", "brien", "obrien"]
        );
        assert_eq!(tokens("src/my-file.rs"), ["src/my-file.rs", "src", "my-file.rs", "my", "file", "rs"]);
    }

    // M18
    #[test]
    fn scripts_without_spaces_give_characters_and_pairs() {
        assert_eq!(tokens("腾讯云"), ["腾", "讯", "腾讯", "云", "讯云"]);
        assert_eq!(tokens("重跑gen-itgc后"), ["重", "跑", "重跑", "gen-itgc", "gen", "itgc", "后"]);
        assert_eq!(tokens("ガス한국"), ["ガ", "ス", "ガス", "한", "국", "한국"]);
        assert_eq!(tokens("2026年3月"), ["2026", "年", "3", "月"]);
    }

    // M19, M21
    #[test]
    fn any_text_is_taken() {
        for text in ["", "~", "\"unbalanced", "a AND (", "::", "__", "-.-/", "👍🏽", "\u{0}\u{FFFD}", "'", "'s", "a'", "++", "#"]
        {
            tokens(text);
        }
        assert_eq!(tokens("🎉 done"), ["🎉", "done"]);
        let mixed = "用户👩‍👩‍👧 naïve\u{200B}té 한국 ＡＢＣ C++ é".repeat(2);
        for len in 0..=mixed.chars().count() {
            tokens(&mixed.chars().take(len).collect::<String>());
        }
        assert!(query_tokens(&"word1 w2 xyz-9 ".repeat(700)).len() < 20);
        let many: String = (0..5_000).map(|i| format!("w{i} ")).collect();
        assert_eq!(query_tokens(&many).len(), QUERY_TOKENS_MAX);
    }

    #[test]
    fn counts_are_sorted_and_whole() {
        let counted = count_tokens("red red blue");
        assert_eq!((counted.length, counted.tokens.len()), (3, 2));
        assert!(counted.tokens.windows(2).all(|w| w[0] < w[1]));
        let red = counted.tokens.binary_search(&token_id("red")).unwrap();
        assert_eq!(counted.counts[red], 2);
        assert_eq!(count_tokens(&"x ".repeat(1_000)).counts, [255]);
    }
}
