//! `memory/feedback`: what became of the hits of a recall; and what that does to later ones.
//!
//! A use counts as any use does. What was wrong or ignored lowers a memory's score by a factor, bounded, seen in `explain`, and taken back
//! by a later use or by another word on the same recall. Must not know: how scores come about.

use super::documents::touch;
use super::recall::FoundHit;
use super::resolve::{resolve, whole_id};
use super::{Memory, MemoryError, ledger};
use crate::caller::Caller;
use crate::idempotency::{Key, idempotent};
use crate::limits::*;
use crate::store::{FeedbackReads, Reads, StoreError, WriteTx};
use parking_lot::{Mutex, RwLock};
use std::collections::{HashMap, VecDeque};
use tiro_schema::convert::{VERDICT_IGNORED, VERDICT_USED, VERDICT_WRONG};
use tiro_schema::record::{FeedbackRecord, MemoryRecord};
use tiro_schema::wire::memory::{ExplainFeedback, Feature, FeedbackParams, SeqResult};
use uuid::Uuid;

const METHOD: &str = "memory/feedback";

/// What stands against a memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Against {
    pub wrong: u8,
    pub ignored: u8,
}

impl Against {
    fn of(record: &FeedbackRecord) -> Self {
        Against { wrong: record.wrong, ignored: record.ignored }
    }

    /// What a score is multiplied with: `1 - 0.15 wrong - 0.02 ignored`, between 0.45 and 1.
    pub fn factor(self) -> f32 {
        1.0 - FEEDBACK_WRONG_WEIGHT * f32::from(self.wrong) - FEEDBACK_IGNORED_WEIGHT * f32::from(self.ignored)
    }

    /// The same for `explain`.
    pub fn explain(self) -> ExplainFeedback {
        let part =
            |name: &str, count: u8, weight: f32| Feature { name: name.to_owned(), value: f32::from(count), weight: -weight };
        let features =
            vec![part("wrong", self.wrong, FEEDBACK_WRONG_WEIGHT), part("ignored", self.ignored, FEEDBACK_IGNORED_WEIGHT)];
        ExplainFeedback { factor: self.factor(), features }
    }
}

/// What feedback needs in memory: what stands against memories, and the hits of recent recalls. Ids only.
#[derive(Default)]
pub(super) struct Feedback {
    against: RwLock<HashMap<u64, Against>>,
    recent: Mutex<Recent>,
}

#[derive(Default)]
struct Recent {
    recalls: VecDeque<(Uuid, Vec<u64>)>,
    keys: usize,
}

impl Feedback {
    /// Reads what stands against memories, in the place of what was known.
    ///
    /// # Errors
    /// The store's.
    pub fn load(&self, tx: &impl FeedbackReads) -> Result<(), StoreError> {
        let mut against = HashMap::new();
        tx.all_feedback(&mut |key, record| {
            if Against::of(&record) != Against::default() {
                against.insert(key, Against::of(&record));
            }
        })?;
        *self.against.write() = against;
        Ok(())
    }

    /// Notes the hits of a recall; the oldest give way.
    pub fn note(&self, recall: Uuid, keys: Vec<u64>) {
        let mut recent = self.recent.lock();
        recent.keys += keys.len();
        recent.recalls.push_back((recall, keys));
        while recent.recalls.len() > FEEDBACK_RECALLS_MAX || recent.keys > FEEDBACK_KEYS_MAX {
            let Some((_, gone)) = recent.recalls.pop_front() else { break };
            recent.keys -= gone.len();
        }
    }

    fn hits_of(&self, recall: Uuid) -> Option<Vec<u64>> {
        self.recent.lock().recalls.iter().rev().find(|(id, _)| *id == recall).map(|(_, keys)| keys.clone())
    }

    /// Hits to look for beyond those wanted, as so many may fall.
    pub fn beyond(&self) -> usize {
        self.against.read().len().min(FEEDBACK_BEYOND_HITS_MAX)
    }

    /// Lowers the scores of hits that something stands against, and puts them in order again.
    pub fn lower(&self, hits: &mut [FoundHit]) {
        let against = self.against.read();
        if against.is_empty() {
            return;
        }
        let mut any = false;
        for hit in &mut *hits {
            if let Some(found) = against.get(&hit.record.key) {
                hit.hit.score *= found.factor();
                hit.against = Some(*found);
                any = true;
            }
        }
        if any {
            // Near repeats gave way to what stands before them: they go on doing so.
            let place = |hit: &FoundHit| hit.hit.score * hit.hit.features.gave_way.map_or(1.0, |gave_way| gave_way.factor);
            hits.sort_by(|a, b| place(b).total_cmp(&place(a)));
        }
    }

    /// Sets what stands against a memory; the default is nothing.
    pub fn set(&self, key: u64, against: Against) {
        let mut all = self.against.write();
        match against == Against::default() {
            true => all.remove(&key),
            false => all.insert(key, against),
        };
    }
}

impl Memory {
    /// Takes what became of a recall's hits.
    ///
    /// # Errors
    /// `Invalid` about params and ids that were no hits of the recall, `NoRecall` for one that is not known (any more), `NotFound`, `Ambiguous`,
    /// `Key`, and the store's.
    pub async fn feedback(&self, caller: &Caller, params: FeedbackParams) -> Result<SeqResult, MemoryError> {
        let recall =
            whole_id(&params.recall_id).ok_or_else(|| MemoryError::invalid("recallId", "the id that a recall answered"))?;
        let said = said(&params)?;
        let key = Key::of(METHOD, "", params.key.as_deref(), &params)?;
        if let Some(answer) = self.answered(key.as_ref())? {
            return Ok(answer);
        }
        let hits = self.blocking(move |memory| memory.hits_of(recall)).await?;
        let (memory, caller) = (self.clone(), caller.clone());
        let written = self.store().write(METHOD, move |tx| {
            idempotent(tx, key.as_ref(), |tx| {
                let mut records: Vec<(MemoryRecord, u8)> = Vec::with_capacity(said.len());
                for (path, id, verdict) in &said {
                    let record = resolve(tx, id, path)?;
                    if !hits.contains(&record.key) {
                        return Err(MemoryError::invalid(path.clone(), "this recall did not give out that memory"));
                    }
                    if records.iter().any(|(other, _)| other.key == record.key) {
                        return Err(MemoryError::invalid(path.clone(), "named twice: say one thing of each memory"));
                    }
                    records.push((record, *verdict));
                }
                let mut seq = 0;
                for (record, verdict) in &records {
                    seq = memory.take_feedback(tx, record, recall, *verdict)?;
                }
                ledger::wrote_recall(
                    tx,
                    &caller,
                    METHOD,
                    Uuid::from_bytes(recall),
                    &ledger::touched(records.iter().map(|(r, _)| r)),
                )?;
                Ok::<_, MemoryError>(SeqResult { seq: memory.store().seq_token(seq) })
            })
        });
        Ok(written.await?)
    }

    /// Keys of the hits of a recall: those in memory, else as the audit has them.
    fn hits_of(&self, recall: [u8; 16]) -> Result<Vec<u64>, MemoryError> {
        let id = Uuid::from_bytes(recall);
        if let Some(hits) = self.inner.feedback.hits_of(id) {
            return Ok(hits);
        }
        let (mut hits, mut found, mut left) = (Vec::new(), false, AUDIT_SCAN_MAX);
        self.store().read(|tx| {
            tx.audit_where(u64::MAX, 1, &mut |row| {
                left = left.saturating_sub(1);
                let ours = row.recall == Some(recall) && !row.write;
                if ours {
                    hits.extend(&row.keys);
                }
                // The rows of one recall stand together.
                let over = found && !ours;
                found |= ours;
                over || left == 0
            })
        })?;
        if found { Ok(hits) } else { Err(MemoryError::NoRecall { id: id.to_string() }) }
    }

    /// Writes what was said of one memory. Gives the sequence.
    fn take_feedback(&self, tx: &mut WriteTx, record: &MemoryRecord, recall: [u8; 16], verdict: u8) -> Result<u64, MemoryError> {
        let known = tx.feedback(record.key)?;
        let mut usage = tx.usage(record.key)?;
        let mut next = known.unwrap_or_default();
        let again = known.is_some() && next.recall == recall;
        if again && next.verdict == verdict {
            return Ok(tx.next_seq());
        }
        if again {
            // Another word on the same recall: the first is taken back.
            (next.wrong, next.ignored) = (next.wrong_before, next.ignored_before);
            if next.verdict == VERDICT_USED && usage.use_count == next.used_before.use_count + 1 {
                usage = next.used_before;
            }
        }
        (next.wrong_before, next.ignored_before, next.used_before) = (next.wrong, next.ignored, usage);
        (next.recall, next.verdict, next.at_ms) = (recall, verdict, tx.now_ms());
        match verdict {
            VERDICT_USED => {
                (next.wrong, next.ignored) = (next.wrong.saturating_sub(1), 0);
                usage.use_count = usage.use_count.saturating_add(1);
                usage.last_used_at_ms = usage.last_used_at_ms.max(next.at_ms);
            }
            VERDICT_WRONG => next.wrong = (next.wrong + 1).min(FEEDBACK_WRONG_MAX),
            _ => next.ignored = (next.ignored + 1).min(FEEDBACK_IGNORED_MAX),
        }
        tx.put_feedback(record.key, &next)?;
        if tx.usage(record.key)? != usage {
            tx.put_usage(record.key, &usage)?;
        }
        tx.note_in_outbox(record)?;
        let (memory, record, against) = (self.clone(), record.clone(), Against::of(&next));
        tx.after_commit(Box::new(move || {
            memory.inner.feedback.set(record.key, against);
            touch(&memory.index(), &record, &usage);
        }));
        Ok(tx.next_seq())
    }
}

/// What is said, with the place of each id in the params.
fn said(params: &FeedbackParams) -> Result<Vec<(String, String, u8)>, MemoryError> {
    let lists = [
        ("used", &params.used, VERDICT_USED),
        ("ignored", &params.ignored, VERDICT_IGNORED),
        ("wrong", &params.wrong, VERDICT_WRONG),
    ];
    let mut said = Vec::new();
    for (name, list, verdict) in lists {
        for (n, id) in list.iter().flatten().enumerate() {
            said.push((format!("{name}[{n}]"), id.clone(), verdict));
        }
    }
    match said.len() {
        0 => Err(MemoryError::invalid("", "nothing is said: name memories in used, ignored or wrong")),
        n if n > HITS_MAX as usize => Err(MemoryError::too_large("", "hitsMax", HITS_MAX as usize)),
        _ => Ok(said),
    }
}

/// The keys of hits, for [`Feedback::note`].
pub(super) fn keys_of<'a>(hits: impl Iterator<Item = &'a FoundHit>) -> Vec<u64> {
    hits.map(|hit| hit.record.key).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // MEM-4
    #[test]
    fn what_stands_against_a_memory_is_bounded() {
        let most = Against { wrong: FEEDBACK_WRONG_MAX, ignored: FEEDBACK_IGNORED_MAX };
        assert!((0.4..0.5).contains(&most.factor()), "{}", most.factor());
        assert_eq!(Against::default().factor(), 1.0);
        let told = Against { wrong: 1, ignored: 2 }.explain();
        let sum: f32 = told.features.iter().map(|part| part.value * part.weight).sum();
        assert!((told.factor - (1.0 + sum)).abs() < 1e-6);
    }

    #[test]
    fn recent_recalls_are_bounded() {
        let feedback = Feedback::default();
        let ids: Vec<Uuid> = (0..=FEEDBACK_RECALLS_MAX).map(|_| Uuid::new_v4()).collect();
        ids.iter().for_each(|id| feedback.note(*id, vec![1]));
        assert_eq!((feedback.hits_of(ids[0]), feedback.hits_of(ids[1])), (None, Some(vec![1])));
        feedback.note(Uuid::new_v4(), vec![2; FEEDBACK_KEYS_MAX]);
        assert_eq!(feedback.hits_of(ids[FEEDBACK_RECALLS_MAX]), None);
    }
}
