//! The two legs: candidates by words and candidates by vectors, each from one space. It must not know how they are weighed.

use super::bm25::{Bm25, Breadth};
use super::filter::Eligible;
use super::model::AskedModel;
use crate::lexical::Question;
use crate::limits::GRAPH_WALK_NODES;
use crate::result::ServedBy;
use crate::state::State;
use crate::state::slot::{Lexical, Slot};
use crate::state::space::Space;

/// One space as a search sees it.
pub(crate) struct View<'a> {
    pub(crate) state: &'a State,
    pub(crate) number: u32,
    pub(crate) space: &'a Space,
    pub(crate) eligible: &'a Eligible<'a>,
    /// The eligible documents, where they are few enough to look at each.
    few: Option<Vec<u32>>,
    /// By which tokens the full-text index is asked.
    breadth: Breadth,
    /// The query to the model in use beside the built-in one.
    model: Option<&'a AskedModel<'a>>,
}

/// What a leg brought.
#[derive(Default)]
pub(crate) struct Leg {
    /// Slots with their score in this leg, best first.
    pub(crate) found: Vec<(u32, f32)>,
    pub(crate) served_by: Vec<ServedBy>,
    pub(crate) trouble: Option<String>,
}

impl<'a> View<'a> {
    /// Looks at a space; decides whether its eligible documents are few.
    pub(crate) fn new(state: &'a State, number: u32, space: &'a Space, eligible: &'a Eligible<'a>, few_max: usize) -> Self {
        let breadth = if eligible.is_plain() { Breadth::Telling } else { Breadth::Every };
        let mut view = Self { state, number, space, eligible, few: None, breadth, model: None };
        if space.len() <= few_max || !eligible.is_plain() {
            let few: Vec<u32> = view.eligible_slots().map(|(at, _)| at).take(few_max + 1).collect();
            view.few = (few.len() <= few_max).then_some(few);
        }
        view
    }

    /// The same, with vectors of the model beside the built-in one.
    pub(crate) fn with(self, model: Option<&'a AskedModel<'a>>) -> Self {
        Self { model, ..self }
    }

    /// The same, candidates by words looked for by every token.
    pub(crate) fn by_every_token(self) -> Self {
        Self { breadth: Breadth::Every, ..self }
    }

    /// Cosines of some slots to the query, by the model that knows the slot, on the scale of `vector`'s model.
    pub(crate) fn cosines(&self, vector: &[f32], slots: &[u32]) -> Vec<Option<f32>> {
        let mut cosines = self.space.vectors.cosines(vector, slots);
        if let Some(model) = self.model {
            let theirs = self.space.model_vectors.cosines(model.vector, slots);
            for ((cosine, own), at) in cosines.iter_mut().zip(theirs).zip(slots) {
                if let Some(own) = own {
                    let unspaced = self.space.slot(*at).is_some_and(|slot| slot.facets.unspaced);
                    *cosine = Some(model.on_scale(own, unspaced));
                }
            }
        }
        cosines
    }

    fn eligible_slots(&self) -> impl Iterator<Item = (u32, &Slot)> {
        self.space.iter().filter(|(_, slot)| self.eligible.admits(slot))
    }

    /// The best documents by words.
    pub(crate) fn by_words(&self, bm25: &Bm25, limit: usize) -> Leg {
        let mut leg = Leg::default();
        let score = |slot: &Slot| bm25.score(&slot.tokens);
        if let Some(few) = &self.few {
            leg.served_by.push(ServedBy::Forward);
            leg.found = few.iter().filter_map(|&at| Some((at, score(self.space.slot(at)?)))).collect();
        } else {
            match self.by_full_text(bm25, limit) {
                Ok(slots) => {
                    leg.served_by.push(ServedBy::Tantivy);
                    leg.found = slots.into_iter().filter_map(|at| Some((at, score(self.space.slot(at)?)))).collect();
                    let before = leg.found.len();
                    let overlay = self.space.overlay().filter(|(_, slot)| self.eligible.admits(slot));
                    leg.found.extend(overlay.map(|(at, slot)| (at, score(slot))));
                    if leg.found.len() > before {
                        leg.served_by.push(ServedBy::Overlay);
                    }
                }
                Err(reason) => {
                    leg.served_by.push(ServedBy::Forward);
                    leg.found = self.eligible_slots().map(|(at, slot)| (at, score(slot))).collect();
                    leg.trouble = reason;
                }
            }
        }
        leg.found.retain(|&(_, score)| score > 0.0);
        keep_best(&mut leg.found, limit);
        leg
    }

    /// Candidates of the full-text index; an error without a reason when there is none to ask yet.
    fn by_full_text(&self, bm25: &Bm25, limit: usize) -> Result<Vec<u32>, Option<String>> {
        let reader = self.state.reader.as_ref().ok_or(None)?;
        let statistics = &self.space.statistics;
        let known = bm25.candidate_tokens(statistics, self.breadth);
        if known.is_empty() {
            return Ok(Vec::new());
        }
        let admit = |key| {
            let (space, at) = self.state.locate(key)?;
            let slot = self.space.slot(at).filter(|_| space == self.number)?;
            (slot.lexical == Lexical::Current && self.eligible.admits(slot)).then_some(at)
        };
        reader.candidates(&Question { space: self.number, tokens: &known, statistics, limit }, &admit).map_err(Some)
    }

    /// The documents nearest to a vector.
    pub(crate) fn by_vector(&self, vector: &[f32], limit: usize) -> Leg {
        match self.model {
            Some(model) => self.by_model(model, vector, limit),
            None => self.by_builtin(vector, limit),
        }
    }

    /// The same by the model beside the built-in one, and by the built-in one where that has no vector yet.
    fn by_model(&self, model: &AskedModel<'_>, vector: &[f32], limit: usize) -> Leg {
        let theirs = &self.space.model_vectors;
        let eligible = |at| self.space.slot(at).is_some_and(|slot| self.eligible.admits(slot));
        // The best of each script: their cosines do not compare before they are on one scale.
        let of_script = |unspaced: bool| {
            let admit =
                |at| self.space.slot(at).is_some_and(|slot| slot.facets.unspaced == unspaced && self.eligible.admits(slot));
            theirs.scan(model.vector, limit, admit)
        };
        let near = of_script(false).into_iter().chain(of_script(true));
        let mut leg = Leg { served_by: vec![ServedBy::Model], ..Leg::default() };
        let slots: Vec<u32> = near.map(|one| one.0).collect();
        leg.found = slots.iter().zip(self.cosines(vector, &slots)).filter_map(|(&at, cosine)| Some((at, cosine?))).collect();
        if theirs.len() < self.space.vectors.len() && !vector.is_empty() {
            let rest = self.space.vectors.scan(vector, limit, |at| !theirs.contains(at) && eligible(at));
            if !rest.is_empty() {
                leg.served_by.push(ServedBy::Exact);
                leg.found.extend(rest);
            }
        }
        keep_best(&mut leg.found, limit);
        leg
    }

    fn by_builtin(&self, vector: &[f32], limit: usize) -> Leg {
        if let Some(few) = self.few.as_ref().filter(|few| few.len() * 4 < self.space.vectors.len()) {
            return Leg { found: self.nearest_of(vector, few, limit), served_by: vec![ServedBy::Exact], trouble: None };
        }
        if let Some(leg) = self.by_graph(vector, limit) {
            return leg;
        }
        let admit = |at| self.space.slot(at).is_some_and(|slot| self.eligible.admits(slot));
        let vectors = &self.space.vectors;
        let plain = self.eligible.is_plain();
        let found = if plain { vectors.scan_mostly(vector, limit, admit) } else { vectors.scan(vector, limit, admit) };
        Leg { found, served_by: vec![ServedBy::Exact], trouble: None }
    }

    /// The same by the approximate graph, where there is one and the filter is weak; what it has yet to learn is compared exactly.
    /// `None` when it gives no answer: the exact scan does.
    fn by_graph(&self, vector: &[f32], limit: usize) -> Option<Leg> {
        let approximate = &self.space.approximate;
        let graph = approximate.graph.as_ref().filter(|_| self.eligible.is_plain())?;
        let admit = |at| self.space.slot(at).is_some_and(|slot| self.eligible.admits(slot));
        let near = graph.search(vector, limit, GRAPH_WALK_NODES, admit).ok()?;
        let waiting = approximate.waiting.iter().copied().filter(|&at| admit(at));
        let mut slots: Vec<u32> = near.into_iter().map(|(at, _)| at).chain(waiting).collect();
        slots.sort_unstable();
        slots.dedup();
        Some(Leg { found: self.nearest_of(vector, &slots, limit), served_by: vec![ServedBy::Hnsw], trouble: None })
    }

    fn nearest_of(&self, vector: &[f32], slots: &[u32], limit: usize) -> Vec<(u32, f32)> {
        let cosines = self.space.vectors.cosines(vector, slots);
        let mut found = slots.iter().zip(cosines).filter_map(|(&at, cosine)| Some((at, cosine?))).collect();
        keep_best(&mut found, limit);
        found
    }
}

/// Sorts best first, ties by slot, and keeps `limit`.
fn keep_best(found: &mut Vec<(u32, f32)>, limit: usize) {
    let better = |a: &(u32, f32), b: &(u32, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    if found.len() > limit && limit > 0 {
        found.select_nth_unstable_by(limit - 1, better);
    }
    found.truncate(limit);
    found.sort_unstable_by(better);
}
