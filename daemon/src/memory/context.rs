//! `memory/context`: what fits a question, as one block ready for a prompt.
//!
//! Must not know: how the block is written.

use super::block::{Entry, block, entry, frame, without};
use super::recall::{FoundHit, left_out, take};
use super::recall_plan::Plan;
use super::resolve::id_text;
use super::times::{occurred_at, told_by};
use super::{Memory, MemoryError};
use crate::caller::Caller;
use crate::limits::{CANDIDATES_LISTED_MAX, CONTEXT_HITS_DEFAULT, CONTEXT_SHARE_STANDING_PERCENT, CONTEXT_TOKENS_DEFAULT};
use crate::store::{Reads, StoreError};
use crate::{clock, tokens};
use tiro_schema::convert::{STATUS_ACTIVE, STATUS_FORGOTTEN, category_of, status_of};
use tiro_schema::wire::Open;
use tiro_schema::wire::memory::{Category, ContextResult, OccurredAtSource, RecallParams, Status};
use uuid::Uuid;

const METHOD: &str = "memory/context";

impl Memory {
    /// Lays out as one block within the token budget, header included: what stands whatever is asked, within a third of the budget, and
    /// what `recall` finds. Of a long text only the passage that fits best is shown, or the sentence that stands. Empty when there is
    /// neither.
    ///
    /// # Errors
    /// `Invalid` and `TooLarge` about params, and the store's.
    pub async fn context(&self, caller: &Caller, params: RecallParams) -> Result<ContextResult, MemoryError> {
        let (plan, mut found) = self.searched(caller, Plan::new(&params, CONTEXT_HITS_DEFAULT)?).await?;
        let mut standing = self.standing(caller, &plan).await?;
        let budget = plan.token_budget.unwrap_or(CONTEXT_TOKENS_DEFAULT);
        let mut page = Page::new(budget);
        let mut share = u32::try_from(u64::from(budget) * u64::from(CONTEXT_SHARE_STANDING_PERCENT) / 100).unwrap_or(u32::MAX);
        standing.retain(|s| page.add(&mut share, |number| written(number, &s.hit, Some(s.sentence.as_deref()))));
        found.hits.retain(|hit| standing.iter().all(|s| s.hit.record.key != hit.record.key));
        let fitting = found.hits.len();
        found.hits.retain(|hit| page.add(&mut budget.clone(), |number| written(number, hit, None)));
        let beside: Vec<&FoundHit> = standing.iter().map(|s| &s.hit).collect();
        let recall_id = Uuid::new_v4();
        self.after_recall(caller, (METHOD, recall_id), &plan, &found, &beside).await?;
        let text = block(&page.entries);
        let ids = |hits: &mut dyn Iterator<Item = &FoundHit>| hits.map(|h| id_text(&h.record.id)).collect::<Vec<_>>();
        Ok(ContextResult {
            tokens: tokens::estimate(&text),
            ids: ids(&mut beside.iter().copied().chain(&found.hits)),
            standing: ids(&mut beside.iter().copied()),
            recall_id: recall_id.to_string(),
            strength: found.strength.into(),
            below_threshold: found.below_threshold,
            over_budget: left_out(fitting, found.hits.len()),
            text,
        })
    }
}

/// The block while it is written.
struct Page {
    /// Tokens that are left.
    room: u32,
    entries: Vec<String>,
}

impl Page {
    /// An empty one; without room where the block's own text does not fit.
    fn new(budget: u32) -> Page {
        let mut room = budget;
        if !take(&mut room, tokens::estimate(&frame())) {
            room = 0;
        }
        Page { room, entries: Vec::new() }
    }

    /// Adds an entry, given its number, where it fits the page and the share; whether it did.
    fn add(&mut self, share: &mut u32, entry: impl FnOnce(usize) -> String) -> bool {
        let text = entry(self.entries.len() + 1);
        let cost = tokens::estimate(&text);
        let fits = cost <= *share && take(&mut self.room, cost);
        if fits {
            *share -= cost;
            self.entries.push(text);
        }
        fits
    }
}

impl Memory {
    /// A text that holds what [`Memory::context`] wrote earlier, without the memories that are forgotten now; none when none is.
    ///
    /// # Errors
    /// The store's.
    pub fn without_forgotten(&self, text: &str) -> Result<Option<String>, MemoryError> {
        let mut failed = None;
        let clean = self.store().read(|tx| {
            Ok::<_, MemoryError>(without(text, |prefix| {
                is_forgotten(tx, prefix).unwrap_or_else(|error| {
                    failed = Some(error);
                    true
                })
            }))
        })?;
        failed.map_or(Ok(clean), |error| Err(error.into()))
    }

    /// Whether a memory whose id begins so is forgotten, or no more there.
    ///
    /// # Errors
    /// The store's.
    pub fn is_forgotten(&self, id: &str) -> Result<bool, MemoryError> {
        Ok(self.store().read(|tx| is_forgotten(tx, id))?)
    }
}

/// Whether a memory whose id begins so is forgotten, or no more there.
fn is_forgotten(tx: &impl Reads, prefix: &str) -> Result<bool, StoreError> {
    let mut known = false;
    for (_, key) in tx.keys_by_id_prefix(prefix, CANDIDATES_LISTED_MAX)? {
        known = true;
        if tx.memory(key)?.is_none_or(|record| record.status == STATUS_FORGOTTEN) {
            return Ok(true);
        }
    }
    Ok(!known)
}

/// `2023-05-15 to 2023-05-21`: the days of a stretch that ends before its second instant.
fn told_days(from_ms: i64, to_ms: i64, offset_min: Option<i16>) -> String {
    let day = |at_ms| clock::format(at_ms, offset_min).0.chars().take(10).collect::<String>();
    let (first, last) = (day(from_ms), day(to_ms - 1));
    if first == last { first } else { format!("{first} to {last}") }
}

/// One memory's entry. `standing` where it stands whatever is asked, with the sentence that does when it is not the whole text.
fn written(number: usize, hit: &FoundHit, standing: Option<Option<&str>>) -> String {
    let record = &hit.record;
    let source = record.sources.first();
    let told = told_by(record);
    let (at, from) = occurred_at(record, &told);
    let passage = match standing {
        Some(sentence) => sentence,
        None => hit.passage_text(),
    };
    let status =
        (record.status != STATUS_ACTIVE).then(|| Open::from(status_of(record.status).unwrap_or(Status::Archived)).to_string());
    entry(
        number,
        &Entry {
            id: &id_text(&record.id),
            text: passage.unwrap_or(&record.text),
            passage: passage.is_some(),
            category: Open::from(category_of(record.category).unwrap_or(Category::Other)).to_string(),
            at: at.0,
            occurred: from != OccurredAtSource::Recorded,
            told: told.occurred.map(|span| told_days(span.from_ms, span.to_ms, record.occurred_offset_min)),
            space: &hit.space,
            speaker: source.and_then(|s| s.speaker.as_deref()),
            session: source.and_then(|s| s.session.as_deref()),
            program: source.and_then(|s| s.program.as_deref()),
            status,
            standing: standing.is_some(),
        },
    )
}
