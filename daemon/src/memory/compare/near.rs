//! Which memories a text is compared with: the nearest of its space by the index, and inside the transaction whatever came after.
//!
//! The comparison is made at a sequence, outside the transaction; `settle` looks again only at what was written since. Must not
//! know: what is written as a result.

use super::super::fingerprint::canonical;
use super::super::place::Ready;
use super::super::{Memory, MemoryError};
use super::{Finding, Read, Relation, compare};
use crate::limits::{COMPARED_BY_VECTOR, COMPARED_BY_WORDS, COMPARED_BYTES_MAX, COMPARED_SINCE_MAX, RELATED_MAX};
use crate::store::{Direction, Reads, StoreError, WriteTx};
use std::cell::OnceCell;
use std::ops::ControlFlow;
use tiro_index::embed::Embedder;
use tiro_index::tokenize::count_tokens;
use tiro_index::vector::dot;
use tiro_schema::convert::STATUS_ACTIVE;
use tiro_schema::record::MemoryRecord;
use tiro_schema::wire::memory::ConflictReason;

/// Cosine below which nothing written since is read: what says the same lies above it, in two languages too.
const COSINE_MIN: f32 = 0.3;
/// Cosine from which a memory is named as near whatever its words.
const COSINE_NEAR: f32 = 0.6;
/// Distinct tokens from which a memory has many words.
const APART_TOKENS_MIN: u32 = 16;
/// A text that shares less than one in this many of them says nothing of the same fact.
const APART_SHARE: u32 = 3;

/// A text compared with the memories there were at a sequence.
#[derive(Debug, Default)]
pub(in crate::memory) struct Comparison {
    /// The text, read; none when it is not compared.
    read: Option<Read>,
    /// Its distinct tokens, ascending.
    tokens: Vec<u32>,
    /// Up to here every write of the space was looked at.
    seq: u64,
    verdicts: Vec<Verdict>,
}

/// What a text is to one memory.
#[derive(Debug, Clone)]
struct Verdict {
    key: u64,
    /// Version whose words were compared.
    text_version: u32,
    cosine: f32,
    finding: Finding,
}

impl Verdict {
    /// That a text is near to a memory and no more.
    fn near(known: &MemoryRecord, cosine: f32) -> Verdict {
        Verdict { key: known.key, text_version: known.vector_version, cosine, finding: Finding::plain(Relation::Near) }
    }
}

/// What is to be done with a text.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::memory) enum Outcome {
    /// It is new.
    Created,
    /// It is known.
    Duplicate(Box<MemoryRecord>),
    /// It says more of a known fact.
    Updated(Box<MemoryRecord>),
    /// It is a later value of a known thing, and contradicts these as well.
    Superseded(Box<MemoryRecord>, Vec<(MemoryRecord, ConflictReason)>),
    /// It cannot hold together with these.
    Conflict(Vec<(MemoryRecord, ConflictReason)>),
}

/// What was written to a space since comparisons were made, read once a transaction.
#[derive(Default)]
pub(in crate::memory) struct Since {
    space: u32,
    from: u64,
    upto: u64,
    items: Vec<Later>,
}

struct Later {
    key: u64,
    vector: Option<Vec<f32>>,
    known: OnceCell<Known>,
}

/// A memory that was written since, with what is looked at in its words.
struct Known {
    record: MemoryRecord,
    /// Its distinct tokens, ascending.
    tokens: Vec<u32>,
    read: OnceCell<Read>,
}

impl Known {
    fn new(record: MemoryRecord) -> Known {
        Known { tokens: count_tokens(&canonical(&record.text)).tokens, record, read: OnceCell::new() }
    }

    /// How many distinct tokens it has, and how many of them are among these.
    fn shared(&self, others: &[u32]) -> (u32, u32) {
        let shared = self.tokens.iter().filter(|token| others.binary_search(token).is_ok()).count();
        (self.tokens.len() as u32, shared as u32)
    }

    fn read(&self, embedder: &dyn Embedder) -> &Read {
        self.read.get_or_init(|| Read::new(&self.record.text, embedder))
    }
}

/// Neighbours of a text, each with how it is related.
pub(in crate::memory) type Neighbours = Vec<(MemoryRecord, &'static str)>;

impl Memory {
    /// Compares a text with the memories of its space that are nearest to it now. Reads the index and a few records: under a millisecond.
    pub(in crate::memory) fn compare_with_known(&self, ready: &Ready) -> Result<Comparison, MemoryError> {
        if ready.draft.verbatim || ready.draft.text.len() > COMPARED_BYTES_MAX {
            return Ok(Comparison::default());
        }
        let mut comparison = Comparison {
            read: Some(Read::new(&ready.draft.text, self.embedder())),
            tokens: count_tokens(&ready.draft.canonical).tokens,
            ..Comparison::default()
        };
        let index = self.index();
        if index.epoch() != self.store().identity().epoch {
            return Ok(Comparison { seq: self.store().seq(), ..comparison });
        }
        let space = self.store().read(|tx| tx.space_by_name(&ready.draft.space))?;
        let Some(space) = space else {
            // Nothing was ever kept there; what comes meanwhile is looked at in the transaction.
            return Ok(Comparison { seq: 0, ..comparison });
        };
        let near = index.near(space.id, &ready.draft.canonical, ready.vector(), COMPARED_BY_VECTOR, COMPARED_BY_WORDS);
        comparison.seq = near.seq;
        let mut seen = Vec::with_capacity(near.neighbours.len());
        self.store().read(|tx| {
            for neighbour in &near.neighbours {
                let (key, passage) = super::super::documents::memory_of(neighbour.key);
                let cosine = neighbour.cosine.unwrap_or(0.0);
                if passage > 0 || seen.contains(&key) {
                    continue;
                }
                seen.push(key);
                let apart = apart(neighbour.tokens);
                if apart && cosine < COSINE_NEAR {
                    continue;
                }
                let Some(known) = tx.memory(key)?.filter(|record| comparable(record, space.id)) else { continue };
                let verdict = if apart {
                    Some(Verdict::near(&known, cosine))
                } else {
                    self.verdict(&comparison, ready, &known, cosine, None)
                };
                comparison.verdicts.extend(verdict);
            }
            Ok::<_, StoreError>(())
        })?;
        Ok(comparison)
    }

    /// What the text is to one memory; none when that is nothing.
    fn verdict(
        &self,
        comparison: &Comparison,
        ready: &Ready,
        known: &MemoryRecord,
        cosine: f32,
        known_read: Option<&Read>,
    ) -> Option<Verdict> {
        let new = comparison.read.as_ref()?;
        let made;
        let known_read = match known_read {
            Some(read) => read,
            None => {
                made = Read::new(&known.text, self.embedder());
                &made
            }
        };
        let mut finding = in_context(compare(known_read, new, self.embedder()), known, ready, known_read, new);
        if finding.relation == Relation::Unrelated && cosine >= COSINE_NEAR {
            finding = Finding::plain(Relation::Near);
        }
        let verdict = Verdict { key: known.key, text_version: known.vector_version, cosine, finding };
        (finding.relation != Relation::Unrelated).then_some(verdict)
    }

    /// What is to be done with a text, seen from inside the transaction, and its neighbours with how they are related.
    pub(in crate::memory) fn settle(
        &self,
        tx: &WriteTx,
        space: u32,
        ready: &Ready,
        since: &mut Since,
    ) -> Result<(Outcome, Neighbours), MemoryError> {
        let comparison = &*ready.comparison;
        if comparison.read.is_none() {
            return Ok((Outcome::Created, Vec::new()));
        }
        let mut verdicts: Vec<(Verdict, MemoryRecord)> = Vec::new();
        for verdict in &comparison.verdicts {
            let Some(known) = tx.memory(verdict.key)?.filter(|record| comparable(record, space)) else { continue };
            if known.vector_version == verdict.text_version {
                verdicts.push((verdict.clone(), known));
            } else if let Some(again) = self.verdict(comparison, ready, &known, verdict.cosine, None) {
                verdicts.push((again, known));
            }
        }
        since.read(tx, space, comparison.seq)?;
        for (cosine, later) in since.nearest(comparison.seq, ready.vector()) {
            let Some(known) = later.record(tx, space)? else { continue };
            let verdict = if apart(known.shared(&comparison.tokens)) {
                (cosine >= COSINE_NEAR).then(|| Verdict::near(&known.record, cosine))
            } else {
                self.verdict(comparison, ready, &known.record, cosine, Some(known.read(self.embedder())))
            };
            verdicts.extend(verdict.map(|verdict| (verdict, known.record.clone())));
        }
        verdicts.sort_by(|a, b| {
            let by = |v: &Verdict| (rank(v.finding.relation), v.cosine);
            by(&b.0).0.cmp(&by(&a.0).0).then(by(&b.0).1.total_cmp(&by(&a.0).1))
        });
        Ok(outcome(verdicts))
    }
}

/// Which of several findings decides.
fn rank(relation: Relation) -> u8 {
    match relation {
        Relation::Unrelated => 0,
        Relation::Near => 1,
        Relation::Updated => 2,
        Relation::Conflict => 3,
        Relation::Superseded => 4,
        Relation::Duplicate => 5,
    }
}

/// The outcome of the best finding, and the neighbours.
fn outcome(verdicts: Vec<(Verdict, MemoryRecord)>) -> (Outcome, Vec<(MemoryRecord, &'static str)>) {
    let best = verdicts.first().map_or(Relation::Unrelated, |(verdict, _)| verdict.finding.relation);
    let mut related: Vec<(MemoryRecord, &'static str)> = Vec::new();
    let mut conflicts = Vec::new();
    for (n, (verdict, known)) in verdicts.iter().enumerate() {
        let relation = match verdict.finding.relation {
            Relation::Conflict if best == Relation::Conflict => {
                conflicts.push((known.clone(), verdict.finding.reason));
                "conflict"
            }
            Relation::Duplicate if n == 0 => "duplicate",
            Relation::Superseded if n == 0 => "superseded",
            // One gives way; what else it contradicts stands beside it as a conflict.
            Relation::Superseded | Relation::Conflict if best == Relation::Superseded => {
                conflicts.push((known.clone(), verdict.finding.reason));
                "conflict"
            }
            Relation::Updated if n == 0 => "updated",
            _ => "near",
        };
        if related.len() < RELATED_MAX {
            related.push((known.clone(), relation));
        }
    }
    let first = verdicts.into_iter().next().map(|(_, known)| Box::new(known));
    let outcome = match (best, first) {
        (Relation::Duplicate, Some(known)) => Outcome::Duplicate(known),
        (Relation::Superseded, Some(known)) => Outcome::Superseded(known, conflicts),
        (Relation::Updated, Some(known)) => Outcome::Updated(known),
        (Relation::Conflict, _) => Outcome::Conflict(conflicts),
        _ => Outcome::Created,
    };
    (outcome, related)
}

/// Whether a memory of many words shares so few of them with the text that the text can be no more than near to it: whatever drops,
/// changes or contradicts a memory has all of its words but a value of a few (`proof`).
fn apart((distinct, shared): (u32, u32)) -> bool {
    distinct >= APART_TOKENS_MIN && shared * APART_SHARE < distinct
}

/// Whether a text is compared with a memory at all.
fn comparable(record: &MemoryRecord, space: u32) -> bool {
    record.status == STATUS_ACTIVE && record.space == space && record.text.len() <= COMPARED_BYTES_MAX
}

/// A finding in the light of who said it and when it holds.
fn in_context(found: Finding, known: &MemoryRecord, ready: &Ready, known_read: &Read, new: &Read) -> Finding {
    let near = Finding::plain(Relation::Near);
    if found.relation <= Relation::Near {
        return found;
    }
    if (known_read.first_person() || new.first_person()) && other_speaker(known, ready) {
        return near;
    }
    let draft = &ready.draft;
    let disjoint = known.valid_to_ms.zip(draft.valid_from_ms).is_some_and(|(to, from)| to <= from)
        || draft.valid_to_ms.zip(known.valid_from_ms).is_some_and(|(to, from)| to <= from);
    match found.relation {
        Relation::Duplicate | Relation::Updated if new.tells_event() && other_event(known, ready) => near,
        // What was kept word for word is not rewritten.
        Relation::Updated if known.verbatim => near,
        Relation::Superseded | Relation::Conflict | Relation::Duplicate if disjoint => near,
        Relation::Superseded if happened_at(known) > ready.happened_at_ms() => {
            Finding { relation: Relation::Conflict, reason: ConflictReason::Order }
        }
        _ => found,
    }
}

fn happened_at(record: &MemoryRecord) -> i64 {
    record.occurred_at_ms.unwrap_or(record.created_at_ms)
}

/// Whether two texts in the first person were said by two people.
pub(in crate::memory) fn other_speaker(known: &MemoryRecord, ready: &Ready) -> bool {
    let told = ready.draft.source.as_ref().and_then(|source| source.speaker.as_deref());
    let Some(told) = told else { return false };
    let mut speakers = known.sources.iter().filter_map(|source| source.speaker.as_deref()).peekable();
    speakers.peek().is_some() && speakers.all(|speaker| speaker != told)
}

/// Whether both were given an instant, and not the same.
pub(in crate::memory) fn other_event(known: &MemoryRecord, ready: &Ready) -> bool {
    known.occurred_at_ms.zip(ready.draft.occurred.map(|(ms, _)| ms)).is_some_and(|(known, new)| known != new)
}

impl Comparison {
    /// Whether the text tells of something that may happen again.
    pub fn tells_event(&self) -> bool {
        self.read.as_ref().is_some_and(Read::tells_event)
    }

    /// Whether the text speaks of its speaker.
    pub fn first_person(&self) -> bool {
        self.read.as_ref().is_some_and(Read::first_person)
    }
}

impl Since {
    /// Reads what was written to the space after a sequence, and what was written since it was last asked.
    fn read(&mut self, tx: &WriteTx, space: u32, after: u64) -> Result<(), StoreError> {
        if self.space != space || after < self.from || self.upto == 0 {
            *self = Since { space, from: after, upto: after, items: Vec::new() };
        }
        let mut keys = Vec::new();
        tx.keys_of_space(space, self.upto.saturating_add(1)..=u64::MAX, Direction::Descending, &mut |key, status| {
            if status == STATUS_ACTIVE {
                keys.push(key);
            }
            Ok(if keys.len() < COMPARED_SINCE_MAX { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })?;
        for key in keys.into_iter().rev() {
            self.upto = self.upto.max(key);
            self.items.push(Later { key, vector: tx.current_vector(key, 0)?, known: OnceCell::new() });
        }
        Ok(())
    }
}

impl Since {
    /// The nearest of what was written after a sequence, nearest first.
    fn nearest(&self, after: u64, vector: Option<&[f32]>) -> Vec<(f32, &Later)> {
        let Some(vector) = vector else { return Vec::new() };
        let later = self.items.iter().filter(|later| later.key > after);
        let near = later.filter_map(|later| Some((dot(later.vector.as_deref()?, vector), later)));
        let mut near: Vec<(f32, &Later)> = near.filter(|(cosine, _)| *cosine >= COSINE_MIN).collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.key.cmp(&a.1.key)));
        near.truncate(COMPARED_BY_VECTOR);
        near
    }
}

impl Later {
    /// The memory; none when it is not current any more.
    fn record(&self, tx: &WriteTx, space: u32) -> Result<Option<&Known>, StoreError> {
        // Its status may change within the transaction, its key may not: the row is read each time, the words once.
        let Some(now) = tx.memory(self.key)?.filter(|record| comparable(record, space)) else { return Ok(None) };
        let version = now.vector_version;
        let known = self.known.get_or_init(|| Known::new(now));
        Ok(Some(known).filter(|known| known.record.vector_version == version))
    }
}
