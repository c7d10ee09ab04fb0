//! The write gate: whether what a program or a model would keep is worth keeping, and as what.
//!
//! Rules alone, in tables: no model is asked. `explicit` (a person asked) and `verbatim` (an import) pass; secrets are refused before
//! and in every case. Lines of `memory/import`, `memory/update` and `memory/supersede` are not judged: what an export holds was judged when it was
//! told, and who names a memory by its id knows what they do. Must not know: how memories are kept or compared.

mod cues;
mod cues_en;
mod cues_zh;
mod features;
mod judge;
mod learned;
mod noise;
mod plain;
mod recalled;
mod refusals;
mod standing;
#[cfg(test)]
mod tests;
mod words;

pub(super) use recalled::Recalled;
pub(super) use refusals::Refusals;
pub(super) use standing::{Firmness, standing};
pub(super) use words::telling_words;

use super::draft::{Draft, Judged, judge as judge_params};
use super::{Memory, MemoryError};
use judge::{Refusal, see};
use learned::weigh;
use tiro_schema::convert::{GATE_OFF, GATE_STRICT, category_code, kind_code, kind_for};
use tiro_schema::wire::memory::{Category, RememberParams};

/// What the gate remembers between calls; gone with the process.
#[derive(Default)]
pub(super) struct Gate {
    recalled: Recalled,
    refusals: Refusals,
}

impl Gate {
    /// Texts that a recall gave out.
    pub fn recalled(&self) -> &Recalled {
        &self.recalled
    }

    /// What was refused, by space.
    pub fn refusals(&self) -> &Refusals {
        &self.refusals
    }
}

impl Memory {
    /// Judges the params of a new memory: their form, secrets, and then the gate. Refusals are counted.
    ///
    /// # Errors
    /// `Invalid` and `TooLarge` about params.
    pub(super) fn judge_new(&self, params: &RememberParams) -> Result<Judged, MemoryError> {
        let ruled = self.inner.rules.named(params.space.as_deref().unwrap_or(tiro_schema::DEFAULT_SPACE));
        let redacts = ruled.as_ref().is_some_and(|ruled| ruled.redact);
        let found = if redacts { super::secrets::find(&params.text) } else { None };
        let clean = found.and_then(|_| super::secrets::redact(&params.text));
        let clean = clean.map(|text| RememberParams { text, ..params.clone() });
        let judged = match judge_params(clean.as_ref().unwrap_or(params))? {
            Judged::Draft(mut draft) => {
                draft.redacted = found;
                self.pass(params, draft, ruled.map_or(0, |ruled| ruled.rules.gate))
            }
            refused @ Judged::Refused(_) => refused,
        };
        if let Judged::Refused(reason) = &judged {
            let space = params.space.as_deref().unwrap_or(tiro_schema::DEFAULT_SPACE);
            // A secret may stand in the name of the space itself.
            let space = if super::secrets::find(space).is_some() { "redacted" } else { space };
            self.inner.gate.refusals.count(space, reason);
            tracing::debug!(%reason, space, "a text was not kept");
        }
        Ok(judged)
    }

    fn pass(&self, params: &RememberParams, mut draft: Box<Draft>, gate: u8) -> Judged {
        let free = draft.explicit || draft.verbatim || gate == GATE_OFF;
        if !free && self.inner.gate.recalled.holds(&draft.space, &draft.text) {
            return Judged::Refused(Refusal::Recalled.reason().to_owned());
        }
        let unnamed = params.category.is_none() && !draft.verbatim;
        if free && !unnamed {
            return Judged::Draft(draft);
        }
        let verdict = weigh(&draft.text, &see(&draft.text), self.embedder());
        if !free {
            match verdict {
                // A caller that says what it is has looked at it: a few words may be enough.
                Err(Refusal::Fragment) if is_labelled(params) => {}
                Err(refusal) => return Judged::Refused(refusal.reason().to_owned()),
                Ok(category) if gate == GATE_STRICT && !lasts(category) && !is_labelled(params) => {
                    return Judged::Refused(Refusal::Strict.reason().to_owned());
                }
                Ok(_) => {}
            }
        }
        if unnamed {
            let category = verdict.unwrap_or(Category::Other);
            draft.category = category_code(category);
            if params.kind.is_none() {
                draft.kind = kind_code(kind_for(category));
            }
        }
        Judged::Draft(draft)
    }
}

/// Whether a category is one that a strict gate keeps.
fn lasts(category: Category) -> bool {
    use Category::{Conclusion, Constraint, Goal, Identity, Preference};
    matches!(category, Identity | Preference | Constraint | Goal | Conclusion)
}

/// Whether the caller said more of a text than where it comes from.
fn is_labelled(params: &RememberParams) -> bool {
    let any = |list: &Option<Vec<String>>| list.as_ref().is_some_and(|l| !l.is_empty());
    params.category.is_some()
        || params.kind.is_some()
        || params.pinned == Some(true)
        || params.importance.is_some()
        || params.occurred_at.is_some()
        || params.valid_from.is_some()
        || params.valid_to.is_some()
        || any(&params.tags)
        || any(&params.entities)
}
