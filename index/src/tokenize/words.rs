//! Words and identifiers: a compound whole, its segments, its words, and the parts of a word by case and digits.
//! It must not know scripts written without spaces.

use super::function::is_function_word;
use super::{Kind, Sink};
use rust_stemmers::{Algorithm, Stemmer};
use xxhash_rust::xxh3::xxh3_64;

/// Most parts a word is split into by case and digits; one that would have more is a hash, not a name.
const PARTS_MAX: usize = 8;
/// Most boundaries between letters and digits in a word that is still split there.
const DIGIT_BOUNDARIES_MAX: usize = 3;
/// Longest word that is stemmed, in bytes.
const STEM_BYTES_MAX: usize = 64;
/// Stems that are remembered: most words of a text are among a few thousand.
const STEMS_KEPT: usize = 4_096;
/// Longest token that is kept whole, in bytes; what is longer is no name.
const TOKEN_BYTES_MAX: usize = 256;

/// What is remembered of a lower-case word.
#[derive(Debug, Clone, Default)]
struct Met {
    hash: u64,
    stem: Box<str>,
    is_function: bool,
}

/// Splits words; holds the stemmer.
pub(super) struct Words {
    stemmer: Stemmer,
    /// Words met, by their hash, each in its only place; a later word of that place takes it.
    met: Vec<Met>,
    lower: String,
}

impl Words {
    /// Words of English and of every other script written with spaces.
    pub(super) fn new() -> Self {
        Self { stemmer: Stemmer::create(Algorithm::English), met: vec![Met::default(); STEMS_KEPT], lower: String::new() }
    }

    /// Emits the tokens of a compound: word characters with single joiners between them, as the segmenter found it.
    pub(super) fn compound(&mut self, text: &str, sink: &mut Sink<'_>) {
        if text.bytes().all(|b| b.is_ascii_alphanumeric()) {
            return self.word(text, sink);
        }
        let outer: Vec<&str> = text.split(['/', ':', '@', '\\', '=']).filter(|s| !s.is_empty()).collect();
        if outer.len() > 1 {
            self.whole(text, sink);
        }
        for segment in outer {
            if let Some(number) = grouped_number(segment) {
                sink(&number, Kind::Word);
                continue;
            }
            let inner: Vec<&str> = segment.split(['.', '-', '_', ',', '&']).filter(|s| !s.is_empty()).collect();
            if inner.len() > 1 {
                self.whole(segment, sink);
            }
            for word in inner {
                self.word(word, sink);
            }
        }
    }

    /// Emits a word with a sign that is part of its name (`c++`, `c#`), and the word without it.
    pub(super) fn signed(&mut self, word: &str, sign: &str, sink: &mut Sink<'_>) {
        self.lower_case(word);
        self.lower.push_str(sign);
        sink(&self.lower, Kind::Whole);
        self.word(word, sink);
    }

    fn whole(&mut self, text: &str, sink: &mut Sink<'_>) {
        if text.len() <= TOKEN_BYTES_MAX {
            self.lower_case(text);
            sink(&self.lower, Kind::Whole);
        }
    }

    /// Emits a word, apostrophes resolved, and its parts.
    fn word(&mut self, word: &str, sink: &mut Sink<'_>) {
        let bare = word.strip_suffix("'s").or_else(|| word.strip_suffix("'S")).unwrap_or(word);
        if let Some((left, right)) = bare.split_once('\'') {
            if left.chars().count() <= 2 && right.chars().count() >= 3 {
                self.stem(right, Kind::Part, sink);
            }
            let joined: String = bare.chars().filter(|&c| c != '\'').collect();
            self.stem(&joined, Kind::Word, sink);
            return;
        }
        self.stem(bare, Kind::Word, sink);
        for part in parts(bare) {
            self.stem(part, Kind::Part, sink);
        }
    }

    pub(super) fn stem(&mut self, word: &str, kind: Kind, sink: &mut Sink<'_>) {
        if word.is_empty() || word.len() > TOKEN_BYTES_MAX {
            return;
        }
        self.lower_case(word);
        let function = |is_function: bool| if kind == Kind::Word && is_function { Kind::Function } else { kind };
        let plain =
            self.lower.len() > 2 && self.lower.len() <= STEM_BYTES_MAX && self.lower.bytes().all(|b| b.is_ascii_lowercase());
        if plain {
            let hash = xxh3_64(self.lower.as_bytes());
            let met = &mut self.met[hash as usize % STEMS_KEPT];
            if met.hash != hash || met.stem.is_empty() {
                *met = Met { hash, stem: self.stemmer.stem(&self.lower).into(), is_function: is_function_word(&self.lower) };
            }
            sink(&met.stem, function(met.is_function));
        } else {
            sink(&self.lower, function(is_function_word(&self.lower)));
        }
    }

    fn lower_case(&mut self, word: &str) {
        self.lower.clear();
        if word.is_ascii() {
            self.lower.push_str(word);
            self.lower.make_ascii_lowercase();
        } else {
            self.lower.extend(word.chars().flat_map(char::to_lowercase));
        }
    }
}

/// `10,000` and `1,234,567` without the commas.
fn grouped_number(segment: &str) -> Option<String> {
    let mut groups = segment.split(',');
    let first = groups.next()?;
    let digits = |g: &str| !g.is_empty() && g.bytes().all(|b| b.is_ascii_digit());
    let mut any = false;
    for group in groups {
        any = true;
        if group.len() != 3 || !digits(group) {
            return None;
        }
    }
    (any && first.len() <= 3 && digits(first)).then(|| segment.replace(',', ""))
}

/// Parts of a word at changes of case and between letters and digits; none where it does not fall apart, or into too many.
fn parts(word: &str) -> Vec<&str> {
    let rest = word.as_bytes().get(1..).unwrap_or_default();
    let first_digit = word.bytes().next().is_some_and(|b| b.is_ascii_digit());
    if (!first_digit && word.is_ascii() && rest.iter().all(u8::is_ascii_lowercase)) || word.bytes().all(|b| b.is_ascii_digit()) {
        return Vec::new();
    }
    let chars: Vec<(usize, char)> = word.char_indices().collect();
    let (mut cuts, mut digit_boundaries) = (vec![0], 0);
    for i in 1..chars.len() {
        let (before, here) = (chars[i - 1].1, chars[i].1);
        let after = chars.get(i + 1).map(|c| c.1);
        let digit_edge = before.is_numeric() != here.is_numeric();
        let case_edge = (before.is_lowercase() && here.is_uppercase())
            || (before.is_uppercase() && here.is_uppercase() && after.is_some_and(char::is_lowercase));
        digit_boundaries += usize::from(digit_edge);
        if digit_edge || case_edge {
            cuts.push(chars[i].0);
        }
    }
    if cuts.len() == 1 || cuts.len() > PARTS_MAX || digit_boundaries > DIGIT_BOUNDARIES_MAX {
        return Vec::new();
    }
    let ends = cuts.iter().skip(1).copied().chain([word.len()]);
    cuts.iter().zip(ends).map(|(&a, b)| &word[a..b]).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn words_fall_apart_at_case_and_digits() {
        assert_eq!(parts("getUserName"), ["get", "User", "Name"]);
        assert_eq!(parts("HTTPServer2"), ["HTTP", "Server", "2"]);
        assert!(parts("plain").is_empty() && parts("Plain").is_empty() && parts("2041").is_empty() && parts("").is_empty());
        assert!(parts("3f9a0c1d2e").is_empty());
        assert_eq!(parts("10k"), ["10", "k"]);
        assert!(parts("Żółw").is_empty());
    }

    #[test]
    fn grouped_numbers_lose_their_commas() {
        assert_eq!(grouped_number("10,000").unwrap(), "10000");
        assert_eq!(grouped_number("1,234,567").unwrap(), "1234567");
        assert_eq!(grouped_number("1,23"), None);
        assert_eq!(grouped_number("1000"), None);
    }
}
