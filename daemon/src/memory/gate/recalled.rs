//! Texts that a recall gave out lately, so that they are known when they come back as if they were news.
//!
//! A bounded ring of them, each as the hashes of its words, found by runs of three. A text counts as recalled when all of it but
//! words of framing ("as you told me") is made of whole recalled texts, or of long runs of one. One other word that says something makes
//! it news: a changed number is a change of mind. What one space gave out counts in that space alone. In memory alone. Texts wait until somebody
//! asks or enough are there to be taken up behind an answer: a recall does not wait for it. Must not know: who recalled.

use super::words::is_han;
use crate::limits::{GATE_RECALLED_RUN_WORDS_MIN, GATE_RECALLED_TEXTS_MAX, GATE_RECALLED_WAITING_MAX, GATE_RECALLED_WORDS_MAX};
use crate::memory::block;
use parking_lot::{Mutex, MutexGuard};
use std::borrow::Cow;
use std::collections::{HashSet, VecDeque};
use std::sync::LazyLock;
use tiro_index::hash::{NumberMap, NumberSet};
use xxhash_rust::xxh3::xxh3_64;

/// Words of a shingle.
const SHINGLE_WORDS: usize = 3;
/// Texts a shingle is looked up in, at most.
const TEXTS_PER_SHINGLE_MAX: usize = 8;

/// Words that frame what was recalled and add nothing to it.
const FRAME: &str = "according to me us my our your memory memories notes records as you i we said told mentioned remember remembered recall recalled \
noted note that the user from earlier before previously fact it is was known already also and 根据 记 忆 录 你 我 说 过 之 前 提 到 得 的 了 用 户";

static FRAME_WORDS: LazyLock<HashSet<u64>> = LazyLock::new(|| FRAME.split_whitespace().map(|w| xxh3_64(w.as_bytes())).collect());

/// The ring.
#[derive(Default)]
pub(in crate::memory) struct Recalled {
    state: Mutex<State>,
    /// Texts not taken up yet, with the hash of their space. Locked after `state` where both are.
    waiting: Mutex<VecDeque<(u64, String)>>,
}

#[derive(Default)]
struct State {
    /// Number of the oldest text in the ring.
    first: u64,
    texts: VecDeque<Text>,
    /// Whole texts that are in the ring.
    whole: NumberSet<u64>,
    /// Where a shingle begins: number of the text, place in it.
    shingles: NumberMap<u64, Vec<(u64, u32)>>,
}

/// One text, as the hashes of its words.
#[derive(Debug, Default, PartialEq, Eq)]
struct Text {
    /// Hash of the space's name.
    space: u64,
    words: Vec<u64>,
}

impl Text {
    fn of(space: u64, text: &str) -> Text {
        Text { space, words: hashes(text) }
    }

    fn hash(&self) -> u64 {
        hash_of(self.space, &self.words)
    }

    fn shingles(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        (0..).zip(self.words.windows(SHINGLE_WORDS).map(|words| hash_of(self.space, words)))
    }
}

impl Recalled {
    /// Notes texts that a recall gives out, each with the name of its space. Whether so many wait now that they should be taken up.
    pub fn note<'a>(&self, texts: impl Iterator<Item = (&'a str, &'a str)>) -> bool {
        let mut waiting = self.waiting.lock();
        for (space, text) in texts {
            // They would push each other out of the ring.
            if waiting.len() == GATE_RECALLED_TEXTS_MAX {
                waiting.pop_front();
            }
            waiting.push_back((space_hash(space), text.to_owned()));
        }
        waiting.len() >= GATE_RECALLED_WAITING_MAX
    }

    /// Takes up what waits.
    pub fn settle(&self) {
        drop(self.settled());
    }

    fn settled(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock();
        let waiting = std::mem::take(&mut *self.waiting.lock());
        for (space, text) in waiting {
            let text = Text::of(space, &text);
            if !text.words.is_empty() {
                state.note(text);
            }
        }
        state
    }

    /// Takes a text away that is not current any more, in every space: telling it anew is news.
    pub fn forget(&self, text: &str) {
        let mut state = self.settled();
        if !state.texts.is_empty() {
            state.forget(&hashes(text));
        }
    }

    /// Whether the text says nothing but what this space gave out lately.
    pub fn holds(&self, space: &str, text: &str) -> bool {
        let state = self.settled();
        if state.texts.is_empty() {
            return false;
        }
        drop(state);
        let text = Text::of(space_hash(space), &without_frame(text));
        !text.words.is_empty() && self.state.lock().holds(&text)
    }
}

fn space_hash(name: &str) -> u64 {
    xxh3_64(name.as_bytes())
}

/// The memories' own words of a block that `memory/context` wrote; any other text as it is.
fn without_frame(text: &str) -> Cow<'_, str> {
    let Some((_, after)) = text.split_once(block::OPEN) else { return Cow::Borrowed(text) };
    let (inside, rest) = after.split_once(block::CLOSE).unwrap_or((after, ""));
    let lines = inside.lines().filter_map(|line| line.trim_start().strip_prefix('>'));
    Cow::Owned(lines.chain(std::iter::once(rest)).collect::<Vec<_>>().join("\n"))
}

impl State {
    fn note(&mut self, text: Text) {
        if !self.whole.insert(text.hash()) {
            return;
        }
        if self.texts.len() == GATE_RECALLED_TEXTS_MAX {
            self.drop_oldest();
        }
        let number = self.first + self.texts.len() as u64;
        for (at, shingle) in text.shingles() {
            let places = self.shingles.entry(shingle).or_default();
            if places.len() < TEXTS_PER_SHINGLE_MAX {
                places.push((number, at));
            }
        }
        self.texts.push_back(text);
    }

    fn drop_oldest(&mut self) {
        let Some(text) = self.texts.pop_front() else { return };
        self.take_away(&text, self.first);
        self.first += 1;
    }

    /// Leaves empty texts in their places, so that the numbers of the others hold.
    fn forget(&mut self, words: &[u64]) {
        for at in 0..self.texts.len() {
            if self.texts[at].words == words {
                let text = std::mem::take(&mut self.texts[at]);
                self.take_away(&text, self.first + at as u64);
            }
        }
    }

    fn take_away(&mut self, text: &Text, number: u64) {
        self.whole.remove(&text.hash());
        for (_, shingle) in text.shingles() {
            if let Some(places) = self.shingles.get_mut(&shingle) {
                places.retain(|(of, _)| *of != number);
                if places.is_empty() {
                    self.shingles.remove(&shingle);
                }
            }
        }
    }

    fn holds(&self, text: &Text) -> bool {
        if self.whole.contains(&text.hash()) {
            return true;
        }
        let words = &text.words;
        let (mut at, mut found) = (0, false);
        while at < words.len() {
            let run = self.longest_run(text.space, &words[at..]);
            if run > 0 {
                found = true;
                at += run;
            } else if FRAME_WORDS.contains(&words[at]) {
                at += 1;
            } else {
                return false;
            }
        }
        found
    }

    /// Words at the beginning that are a whole recalled text, or a long run of one.
    fn longest_run(&self, space: u64, words: &[u64]) -> usize {
        let Some(head) = words.get(..SHINGLE_WORDS) else { return 0 };
        let Some(places) = self.shingles.get(&hash_of(space, head)) else { return 0 };
        let run = |(number, at): &(u64, u32)| {
            let Some(text) = number.checked_sub(self.first).and_then(|n| self.texts.get(n as usize)) else { return 0 };
            let same = text.words[*at as usize..].iter().zip(words).take_while(|(a, b)| a == b).count();
            // A text cut to what is kept of it is whole as far as that goes.
            if (*at == 0 && same == text.words.len()) || same >= GATE_RECALLED_RUN_WORDS_MIN { same } else { 0 }
        };
        places.iter().map(run).max().unwrap_or(0)
    }
}

fn hash_of(space: u64, words: &[u64]) -> u64 {
    words.iter().fold(space ^ words.len() as u64, |hash, word| hash.rotate_left(23).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ word)
}

/// The words of a text, Han characters one each, as hashes. Numbers keep the marks inside them.
fn hashes(text: &str) -> Vec<u64> {
    let mut words = Vec::new();
    let mut word = String::new();
    let put = |word: &mut String, words: &mut Vec<u64>| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '+' | '#' | '%' | '$' | '-'));
        if !bare.is_empty() && words.len() < GATE_RECALLED_WORDS_MAX {
            words.push(xxh3_64(bare.as_bytes()));
        }
        word.clear();
    };
    for c in text.chars() {
        if is_han(c) {
            put(&mut word, &mut words);
            word.push(c);
            put(&mut word, &mut words);
        } else if c.is_alphanumeric() || matches!(c, '.' | ':' | '/' | '_' | '-' | '\'' | '’' | '@' | '+' | '#' | '%' | '$') {
            word.extend(c.to_lowercase());
        } else {
            put(&mut word, &mut words);
        }
    }
    put(&mut word, &mut words);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOLD: &str = "We deploy on Tuesdays and Thursdays, after the smoke tests are green.";

    fn after(told: &[&str]) -> Recalled {
        let recalled = Recalled::default();
        recalled.note(told.iter().map(|text| ("a", *text)));
        recalled
    }

    // M1
    #[test]
    fn what_was_recalled_is_known_again() {
        let recalled = after(&[TOLD, "用户对花生过敏，点餐时要提醒。", "Ann likes green tea"]);
        for text in [
            TOLD,
            "we deploy on tuesdays and thursdays after the smoke tests are green",
            "As you told me: we deploy on Tuesdays and Thursdays, after the smoke tests are green.",
            "用户对花生过敏，点餐时要提醒",
            "你之前说过，用户对花生过敏，点餐时要提醒。",
            "We deploy on Tuesdays and Thursdays, after the smoke tests are green. Ann likes green tea.",
            "Remembered from earlier.\n<memories>\n[1] recorded 2024-05-01, fact, id 01234567\n> Ann likes green tea\n</memories>\n",
        ] {
            assert!(recalled.holds("a", text), "{text}");
        }
    }

    // M5, M6
    #[test]
    fn a_change_is_news() {
        let recalled =
            after(&[TOLD, "The staging port is 5433", "Alice manages Bob in the Paris office since 2021", "用户对花生过敏"]);
        for text in [
            "We deploy on Mondays and Thursdays, after the smoke tests are green.",
            "We do not deploy on Tuesdays and Thursdays, after the smoke tests are green.",
            "We deploy on Tuesdays and Thursdays",
            "The staging port is 5434",
            "Bob manages Alice in the Paris office since 2021",
            "It is not true that the staging port is 5433",
            "用户对花生不过敏",
            "用户对花生过敏，对虾也过敏",
            "Something else entirely",
        ] {
            assert!(!recalled.holds("a", text), "{text}");
        }
    }

    // M25
    #[test]
    fn what_one_space_gave_out_is_news_in_another() {
        let recalled = after(&[TOLD]);
        assert!(!recalled.holds("b", TOLD));
    }

    #[test]
    fn what_is_not_current_any_more_can_be_told_anew() {
        let recalled = after(&["Ann likes green tea", TOLD]);
        recalled.forget("Ann likes green tea");
        assert!(!recalled.holds("a", "Ann likes green tea"));
        assert!(recalled.holds("a", TOLD));
    }

    #[test]
    fn the_ring_is_bounded() {
        let recalled = Recalled::default();
        for n in 0..GATE_RECALLED_TEXTS_MAX + 50 {
            let enough = recalled.note([("a", format!("fact number {n} about the garden wall").as_str())].into_iter());
            if enough && n % 3 == 0 {
                recalled.settle();
            }
            assert!(recalled.waiting.lock().len() < GATE_RECALLED_WAITING_MAX + 3);
        }
        let state = recalled.settled();
        assert!(recalled.waiting.lock().is_empty());
        assert_eq!(state.texts.len(), GATE_RECALLED_TEXTS_MAX);
        assert_eq!(state.whole.len(), GATE_RECALLED_TEXTS_MAX);
        assert!(state.shingles.len() <= GATE_RECALLED_TEXTS_MAX * 8);
        drop(state);
        assert!(!recalled.holds("a", "fact number 3 about the garden wall"));
        assert!(recalled.holds("a", "fact number 200 about the garden wall"));
    }
}
