//! The tokens of one document, packed: hashes ascending, then how often each occurs, four to a word.
//! It must not know the text, nor what scores are made of.

use crate::tokenize::TokenCounts;
use std::sync::Arc;

/// Steps that a look-up walks from where a token should stand before it goes on by halving.
const WALK_STEPS_MAX: usize = 32;

/// Packed tokens, shared by the live state, snapshots and the full-text writer without copying.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tokens {
    /// `distinct` hashes, then their counts, four bytes a word.
    words: Arc<[u32]>,
    distinct: u32,
    length: u32,
}

impl Tokens {
    /// Packs counted tokens.
    pub(crate) fn pack(counted: &TokenCounts) -> Self {
        let counts = counted.counts.chunks(4).map(|four| {
            let mut bytes = [0; 4];
            bytes[..four.len()].copy_from_slice(four);
            u32::from_le_bytes(bytes)
        });
        let words: Vec<u32> = counted.tokens.iter().copied().chain(counts).collect();
        Self { words: words.into(), distinct: counted.tokens.len() as u32, length: counted.length }
    }

    /// Takes over packed words; `None` when they are not what [`Tokens::words`] gave.
    pub(crate) fn from_words(words: &[u32], distinct: u32, length: u32) -> Option<Self> {
        let count = distinct as usize;
        let sorted = words.get(..count)?.is_sorted_by(|a, b| a < b);
        (sorted && words.len() == count + count.div_ceil(4)).then(|| Self { words: words.into(), distinct, length })
    }

    /// The packed words.
    pub(crate) fn words(&self) -> &[u32] {
        &self.words
    }

    /// Distinct tokens, ascending.
    pub(crate) fn ids(&self) -> &[u32] {
        &self.words[..self.distinct as usize]
    }

    /// Number of tokens, repeats counted.
    pub(crate) fn length(&self) -> u32 {
        self.length
    }

    /// How often a token occurs, at most 255; 0 when it does not.
    pub(crate) fn count(&self, id: u32) -> u8 {
        self.place(id).map_or(0, |at| self.count_at(at))
    }

    /// Where a token stands. Hashes are spread evenly, so the n-th part of their range is about the n-th part of the list: from there it is
    /// a few steps, which is half the time of a search by halving from the ends.
    fn place(&self, id: u32) -> Option<usize> {
        let ids = self.ids();
        let mut at = ((u64::from(id) * ids.len() as u64) >> 32) as usize;
        if *ids.get(at)? < id {
            for _ in 0..WALK_STEPS_MAX {
                at += 1;
                if *ids.get(at)? >= id {
                    return (ids[at] == id).then_some(at);
                }
            }
            return ids[at..].binary_search(&id).ok().map(|further| at + further);
        }
        for _ in 0..WALK_STEPS_MAX {
            if ids[at] <= id {
                return (ids[at] == id).then_some(at);
            }
            at = at.checked_sub(1)?;
        }
        ids[..=at].binary_search(&id).ok()
    }

    /// Every token with how often it occurs.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, u8)> + '_ {
        self.ids().iter().enumerate().map(|(at, &id)| (id, self.count_at(at)))
    }

    /// How often the token at a place of [`Tokens::ids`] occurs.
    pub(crate) fn count_at(&self, at: usize) -> u8 {
        self.words[self.distinct as usize + at / 4].to_le_bytes()[at % 4]
    }

    /// Heap bytes, about.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.words.len() * 4 + 32
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::tokenize::{count_tokens, token_id};

    #[test]
    fn packs_and_answers() {
        for text in ["", "one", "a b c d e e e f a", "用户 服务器 gen-itgc"] {
            let counted = count_tokens(text);
            let tokens = Tokens::pack(&counted);
            assert_eq!(tokens.ids(), counted.tokens);
            assert_eq!(tokens.iter().map(|(_, n)| n).collect::<Vec<_>>(), counted.counts);
            assert_eq!(Tokens::from_words(tokens.words(), tokens.ids().len() as u32, tokens.length()).unwrap(), tokens);
            assert_eq!(tokens.count(token_id("not there")), 0);
        }
        assert_eq!(Tokens::pack(&count_tokens("e e e f")).count(token_id("e")), 3);
        let crowded =
            |ids: Vec<u32>| Tokens::pack(&TokenCounts { counts: vec![1; ids.len()], length: ids.len() as u32, tokens: ids });
        for tokens in
            [crowded((0..200).collect()), crowded((u32::MAX - 200..=u32::MAX).collect()), crowded(vec![7]), crowded(Vec::new())]
        {
            for id in (0..220).chain([1 << 31]).chain(u32::MAX - 220..=u32::MAX) {
                assert_eq!(tokens.place(id), tokens.ids().binary_search(&id).ok(), "{id}");
            }
        }
        assert_eq!(Tokens::from_words(&[2, 1, 0], 2, 2), None);
        assert_eq!(Tokens::from_words(&[1, 2], 2, 2), None);
    }
}
