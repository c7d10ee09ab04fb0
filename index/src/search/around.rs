//! What stands around a document in its conversation, as features, computed when asked from the tokens of its neighbours: nothing of it is
//! stored, so a neighbour that is edited, replaced or forgotten is never seen again. Assistants' replies are nobody's context: they are
//! long and repeat what they were asked. It must not know what a feature weighs.
//!
//! A window's text is that of the document and of its neighbours; its BM25 uses the document frequencies of the space (those of windows rank
//! no better) and, for its length, the mean length of a document and of as many neighbours.

use super::bm25::Bm25;
use crate::hash::NumberMap;
use crate::limits::CONTEXT_STEPS_MAX;
use crate::state::slot::Slot;
use crate::state::space::Space;

/// Positions on each side of the nearer window.
pub(super) const NEAR: usize = 2;
/// Positions on each side of the wider window.
const FAR: usize = 8;

/// What stands around one document.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Around {
    /// BM25 of the nearer window, over the ideal.
    pub(super) near: f32,
    /// BM25 of the wider window, over the ideal.
    pub(super) far: f32,
    /// BM25, over the ideal, of the question right before it.
    pub(super) answers: f32,
    /// What was said right before and right after it.
    pub(super) beside: [Option<u32>; 2],
    /// Whether its windows hold anything but itself.
    pub(super) in_company: bool,
}

/// The conversations of a space for one query.
pub(super) struct Surroundings<'a> {
    space: &'a Space,
    bm25: &'a Bm25,
    /// Mean tokens that a position on each side adds to a window.
    mean_step: f32,
    /// By slot: where its counts begin.
    rows: NumberMap<u32, usize>,
    counts: Vec<u8>,
    /// Sums of the window under way.
    sums: Vec<u32>,
}

impl<'a> Surroundings<'a> {
    /// Makes ready for a query.
    pub(super) fn new(space: &'a Space, bm25: &'a Bm25) -> Self {
        let mean_step = 2.0 * space.statistics.mean_spoken();
        Self { space, bm25, mean_step, rows: NumberMap::default(), counts: Vec::new(), sums: Vec::new() }
    }

    /// Whether windows differ from their documents at all.
    pub(super) fn are_there(&self) -> bool {
        !self.space.threads.is_empty() && self.bm25.ideal() > 0.0
    }

    /// The documents within [`NEAR`] positions.
    pub(super) fn next_to(&self, slot: &Slot) -> impl Iterator<Item = u32> + '_ {
        let threads = &self.space.threads;
        let within = |place: &(u32, usize)| place.1 <= NEAR;
        let before = threads.before(slot).take(CONTEXT_STEPS_MAX).take_while(within);
        let after = threads.after(slot).take(CONTEXT_STEPS_MAX).take_while(within);
        before.chain(after).map(|place| place.0)
    }

    /// Looks around a document.
    pub(super) fn around(&mut self, at: u32, slot: &Slot) -> Around {
        let space = self.space;
        let mut before = space.threads.before(slot).take(CONTEXT_STEPS_MAX).peekable();
        let mut after = space.threads.after(slot).take(CONTEXT_STEPS_MAX).peekable();
        let asked = before.peek().filter(|place| place.1 == 1).map(|place| place.0);
        let beside = [asked, after.peek().filter(|place| place.1 == 1).map(|place| place.0)];
        self.sums.clear();
        self.sums.resize(self.bm25.terms(), 0);
        let mut length = self.add(at);
        let mut windows = [0.0; 2];
        for (window, radius) in windows.iter_mut().zip([NEAR, FAR]) {
            while let Some((other, _)) = before.next_if(|place| place.1 <= radius) {
                length += self.add(other);
            }
            while let Some((other, _)) = after.next_if(|place| place.1 <= radius) {
                length += self.add(other);
            }
            let mean = self.bm25.mean_length() + radius as f32 * self.mean_step;
            *window = self.bm25.score_counts(&self.sums, length, mean) / self.bm25.ideal();
        }
        let question = asked.and_then(|at| space.slot(at)).filter(|asked| asked.facets.asks && !slot.facets.reply);
        let answers = question.map_or(0.0, |asked| self.bm25.score(&asked.tokens) / self.bm25.ideal());
        let in_company = length > slot.tokens.length() as f32;
        Around { near: windows[0], far: windows[1], answers, beside, in_company }
    }

    /// Adds a document to the window under way; gives its length.
    fn add(&mut self, at: u32) -> f32 {
        let Some(slot) = self.space.slot(at) else { return 0.0 };
        let terms = self.bm25.terms();
        let row = *self.rows.entry(at).or_insert_with(|| {
            let row = self.counts.len();
            self.bm25.push_counts(&slot.tokens, &mut self.counts);
            row
        });
        for (sum, &count) in self.sums.iter_mut().zip(&self.counts[row..row + terms]) {
            *sum += u32::from(count);
        }
        slot.tokens.length() as f32
    }
}
