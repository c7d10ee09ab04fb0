//! What words mean to the comparison: groups of the same meaning in both languages, opposites, and what a word does to a sentence.
//!
//! Read once from `lexicon.txt`, which explains its own form. Must not know: sentences.

use std::collections::HashMap;
use std::sync::LazyLock;
use tiro_index::tokenize::stem;

static TEXT: &str = include_str!("lexicon.txt");

/// The words, read at first use: a millisecond or two.
pub(super) static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::read(TEXT));

/// What a word does, as bits.
pub(super) mod does {
    /// Holds the sentence together and says nothing.
    pub const STOP: u32 = 1;
    /// Turns what follows into its opposite.
    pub const NEGATOR: u32 = 1 << 1;
    /// Says that something is over.
    pub const STOPPER: u32 = 1 << 2;
    /// Says that something is otherwise now.
    pub const CHANGE: u32 = 1 << 3;
    /// Begins an exception.
    pub const EXCEPTION: u32 = 1 << 4;
    /// Names something of which there is one at a time.
    pub const ATTRIBUTE: u32 = 1 << 5;
    /// Names something that never changes.
    pub const FIXED: u32 = 1 << 6;
    /// A verb with one object at a time.
    pub const SINGLE: u32 = 1 << 7;
    /// A verb with many objects.
    pub const MANY: u32 = 1 << 8;
    /// A verb of something that happens once.
    pub const EVENT: u32 = 1 << 9;
    /// Adds nothing to the fact.
    pub const LIGHT: u32 = 1 << 10;
    /// A verb: what stands before it is the subject.
    pub const VERB: u32 = 1 << 11;
    /// Holds both ways between its two sides.
    pub const SYMMETRIC: u32 = 1 << 12;
    /// Obliges.
    pub const MUST: u32 = 1 << 13;
    /// Permits.
    pub const MAY: u32 = 1 << 14;
    /// Says that it happened once more.
    pub const AGAIN: u32 = 1 << 15;
    /// Says that it is not sure.
    pub const HEDGE: u32 = 1 << 16;
    /// Marks who does it in a passive sentence.
    pub const PASSIVE: u32 = 1 << 17;
    /// Says when or how often: what stands behind a noun and makes it no other thing.
    pub const ADVERB: u32 = 1 << 18;
}

const CLASSES: &[(&str, u32)] = &[
    ("stop", does::STOP),
    ("negator", does::NEGATOR),
    ("stopper", does::STOPPER),
    ("change", does::CHANGE),
    ("exception", does::EXCEPTION),
    ("attribute", does::ATTRIBUTE),
    ("fixed", does::FIXED),
    ("single", does::SINGLE),
    ("many", does::MANY),
    ("event", does::EVENT),
    ("light", does::LIGHT),
    ("verb", does::VERB),
    ("symmetric", does::SYMMETRIC),
    ("must", does::MUST),
    ("maymode", does::MAY),
    ("again", does::AGAIN),
    ("hedge", does::HEDGE),
    ("passive", does::PASSIVE),
    ("adverb", does::ADVERB),
];

/// What is known of a word.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Entry {
    /// Its group of the same meaning; 0 is none.
    pub group: u16,
    /// It says the opposite of the group.
    pub opposite: bool,
    /// What it does, see [`does`].
    pub does: u32,
    /// Bits of the sets of near but different words it is in.
    pub apart: u32,
}

/// The word list.
pub(super) struct Lexicon {
    entries: HashMap<String, Entry>,
    /// Words of the Latin script in one form alone, lower case.
    forms: HashMap<String, Entry>,
    /// Words of the longest phrase that begins with each stem.
    phrases: HashMap<String, usize>,
    groups: HashMap<String, u16>,
    /// What a class says of a group counts for its words too.
    group_does: Vec<u32>,
    han_chars_max: usize,
}

impl Lexicon {
    fn read(text: &str) -> Lexicon {
        let mut lexicon = Lexicon {
            entries: HashMap::new(),
            forms: HashMap::new(),
            phrases: HashMap::new(),
            groups: HashMap::new(),
            group_does: vec![0],
            han_chars_max: 1,
        };
        let lines = || text.lines().filter_map(|line| line.split_once(": ")).filter(|(name, _)| !name.starts_with('#'));
        for (name, words) in lines().filter(|(name, _)| !name.starts_with('@')) {
            let (opposite, name) = name.strip_prefix('-').map_or((false, name), |name| (true, name));
            let group = lexicon.group_named(name);
            for word in words.split_whitespace().filter(|word| *word != "|") {
                let join = |entry: &mut Entry| {
                    if entry.group == 0 {
                        (entry.group, entry.opposite) = (group, opposite);
                    }
                };
                lexicon.with(word, join);
                if word.is_ascii() && !word.contains('_') {
                    join(lexicon.forms.entry(word.to_lowercase()).or_default());
                }
            }
        }
        let mut set = 0;
        for (name, words) in lines().filter(|(name, _)| name.starts_with('@')) {
            let bit = CLASSES.iter().find(|(class, _)| *class == &name[1..]).map(|(_, bit)| *bit);
            set += u32::from(bit.is_none());
            for word in words.split_whitespace().filter(|word| *word != "|" && !word.ends_with('_')) {
                match bit {
                    Some(bit) => lexicon.classify(word, bit),
                    None => lexicon.set_apart(word, 1 << (set % 32)),
                }
            }
        }
        lexicon
    }

    fn group_named(&mut self, name: &str) -> u16 {
        let next = u16::try_from(self.group_does.len()).unwrap_or(u16::MAX);
        if let Some(group) = self.groups.get(name) {
            return *group;
        }
        self.groups.insert(name.to_owned(), next);
        self.group_does.push(0);
        next
    }

    /// A class of a group's name is one of all its words that say the same, and of the word itself.
    fn classify(&mut self, word: &str, bit: u32) {
        const OF_WORDS: u32 = does::STOP
            | does::NEGATOR
            | does::STOPPER
            | does::CHANGE
            | does::EXCEPTION
            | does::LIGHT
            | does::ADVERB
            | does::AGAIN
            | does::HEDGE
            | does::PASSIVE
            | does::MUST
            | does::MAY;
        if bit & (OF_WORDS | does::EVENT) == 0 {
            let single = word.is_ascii() && !word.contains('_');
            let known = if single { self.forms.get(&word.to_lowercase()) } else { self.entries.get(&key(word)) }.copied();
            let group = known.filter(|entry| !entry.opposite).map(|entry| entry.group).or(self.groups.get(word).copied());
            if let Some(group) = group.filter(|group| *group != 0) {
                self.group_does[usize::from(group)] |= bit;
            }
        }
        // `used to` is no use: what a word does to a sentence hangs on its form.
        if bit & (OF_WORDS | does::EVENT | does::ATTRIBUTE) != 0 && word.is_ascii() && !word.contains('_') {
            self.forms.entry(word.to_lowercase()).or_default().does |= bit;
            return;
        }
        self.with(word, |entry| entry.does |= bit);
    }

    fn set_apart(&mut self, word: &str, bit: u32) {
        if let Some(group) = self.groups.get(word).copied() {
            let every = self.entries.values_mut().chain(self.forms.values_mut());
            every.filter(|entry| entry.group == group).for_each(|entry| entry.apart |= bit);
        }
        self.with(word, |entry| entry.apart |= bit);
    }

    fn with(&mut self, word: &str, change: impl FnOnce(&mut Entry)) {
        let key = key(word);
        let words = key.split(' ').count();
        if words > 1 {
            let first = key.split(' ').next().unwrap_or_default().to_owned();
            let most = self.phrases.entry(first).or_default();
            *most = (*most).max(words);
        }
        if !word.is_ascii() {
            self.han_chars_max = self.han_chars_max.max(word.chars().count());
        }
        change(self.entries.entry(key).or_default());
    }

    /// What is known of a word of the Latin script as it stands, lower case, and of its stem.
    pub fn word(&self, word: &str, stem: &str) -> Option<Entry> {
        let form = self.forms.get(word).copied();
        let stem = self.entries.get(stem).copied();
        let (form, stem) = (form.or(stem)?, stem.unwrap_or_default());
        let mut entry = if form.group == 0 { Entry { does: form.does, ..stem } } else { form };
        entry.does |= stem.does | self.group_does.get(usize::from(entry.group)).copied().unwrap_or(0);
        entry.apart |= stem.apart;
        Some(entry)
    }

    /// What is known of Han characters, or of a phrase as stems joined by spaces.
    pub fn find(&self, key: &str) -> Option<Entry> {
        let mut entry = *self.entries.get(key)?;
        entry.does |= self.group_does.get(usize::from(entry.group)).copied().unwrap_or(0);
        Some(entry)
    }

    /// Words of the longest phrase that begins with this stem; 1 when there is none.
    pub fn phrase_words(&self, first: &str) -> usize {
        self.phrases.get(first).copied().unwrap_or(1)
    }

    /// Characters of the longest Han word.
    pub fn han_chars_max(&self) -> usize {
        self.han_chars_max
    }
}

/// How a word or phrase of the Latin script is looked up.
fn key(word: &str) -> String {
    if !word.is_ascii() {
        return word.to_owned();
    }
    word.split('_').filter(|part| !part.is_empty()).map(stem).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_join_languages_and_opposites_are_marked() {
        let find = |word: &str| LEXICON.word(word, &stem(word)).or(LEXICON.find(word)).unwrap_or_default();
        assert_ne!(find(&stem("resides")).group, 0);
        assert_eq!(find(&stem("resides")).group, find("居住").group);
        assert_eq!(find(&stem("hates")).group, find("喜欢").group);
        assert!(find(&stem("hates")).opposite && !find("喜欢").opposite);
        assert_ne!(find("no longer").does & does::STOPPER, 0);
        assert_ne!(find("改成").does & does::CHANGE, 0);
        assert_ne!(find(&stem("husband")).apart & find(&stem("wife")).apart, 0);
        assert_ne!(find("resides").does & does::SINGLE, 0);
        assert_ne!(find("week").group, find("weekly").group);
        assert_eq!(find("uses").does & does::LIGHT, 0);
    }
}
