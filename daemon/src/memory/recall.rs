//! `memory/recall`: what fits a question, best first, with every part of its score.
//!
//! Must not know: how the index scores; how a prompt is laid out.

use super::conflicts::open_of;
use super::documents::{embed_query, memory_of, touch};
use super::passages::passages;
use super::past::{conflicts_at, version_at};
use super::recall_plan::Plan;
use super::resolve::id_text;
use super::times::{occurred_at, told_by, wire_told};
use super::{Memory, MemoryError, when};
use crate::caller::Caller;
use crate::limits::{HITS_DEFAULT, KEYS_PER_SEARCH_MAX};
use crate::store::{ConflictReads, Reads, StoreError};
use crate::{clock, tokens};
use std::collections::HashMap;
use tiro_index::{DecayParams, Query, TimeSpan, Weights};
use tiro_schema::convert::{self, category_code};
use tiro_schema::record::{MemoryRecord, UseRecord};
use tiro_schema::wire::memory::{
    Category, Explain, Feature, GaveWay, Hit, Kind, Mode, RecallParams, RecallResult, Status, Strength,
};
use uuid::Uuid;

const METHOD: &str = "memory/recall";
const DAY_MS: i64 = 24 * 3_600 * 1_000;

/// What a recall found, before it is shaped for its caller.
pub(super) struct Found {
    pub hits: Vec<FoundHit>,
    pub below_threshold: u32,
    pub strength: Strength,
    pub served_by: Vec<String>,
    pub degraded: Option<String>,
    pub seq: u64,
    /// Spaces looked into that exist.
    pub spaces: Vec<u32>,
}

/// One memory found.
pub(super) struct FoundHit {
    pub record: MemoryRecord,
    pub space: String,
    pub hit: tiro_index::Hit,
    pub usage: UseRecord,
    /// Number of the passage that fits best.
    pub passage: usize,
    /// An open conflict names it.
    pub conflict: bool,
    /// Id of the memory before it that it repeats most, where that is to be told.
    pub gave_way_to: Option<[u8; 16]>,
    /// What feedback holds against it.
    pub against: Option<super::feedback::Against>,
}

impl FoundHit {
    /// The passage that fits best, when the text is cut into several.
    pub fn passage_text(&self) -> Option<&str> {
        let ranges = passages(&self.record.text);
        (ranges.len() > 1).then(|| ranges.get(self.passage).map(|r| &self.record.text[r.clone()])).flatten()
    }
}

impl Memory {
    /// Finds what fits a question. A space that does not exist holds nothing. Text is never cut: under a token budget, a hit
    /// that does not fit gives way to the next that does.
    ///
    /// # Errors
    /// `Invalid` and `TooLarge` about params, and the store's.
    pub async fn recall(&self, caller: &Caller, params: RecallParams) -> Result<RecallResult, MemoryError> {
        let recall_id = Uuid::new_v4();
        let (plan, mut found) = self.searched(caller, Plan::new(&params, HITS_DEFAULT)?).await?;
        let fitting = found.hits.len();
        if let Some(budget) = plan.token_budget {
            let mut room = budget;
            found.hits.retain(|hit| take(&mut room, tokens::estimate(&hit.record.text)));
        }
        self.after_recall(caller, (METHOD, recall_id), &plan, &found, &[]).await?;
        Ok(RecallResult {
            recall_id: recall_id.to_string(),
            strength: found.strength.into(),
            seq: self.store().seq_token(found.seq),
            served_by: found.served_by,
            degraded: found.degraded,
            below_threshold: found.below_threshold,
            over_budget: left_out(fitting, found.hits.len()),
            hits: found.hits.into_iter().map(|hit| wire_hit(hit, &plan, self)).collect(),
        })
    }

    /// Searches. Those that ask for the past take turns, on a thread made for it.
    pub(super) async fn searched(&self, caller: &Caller, mut plan: Plan) -> Result<(Plan, Found), MemoryError> {
        plan.as_of_ms = plan.as_of_ms.filter(|as_of_ms| *as_of_ms < self.now_ms());
        let (who, past) = (caller.clone(), plan.as_of_ms.is_some());
        // Vectors of that model are of what stands now.
        if !past && plan.mode != Mode::Lexical {
            plan.asked = self.ask_model(&plan.query).await;
        }
        let wanted = plan.limit;
        // A re-ranker orders what diversity chose, and chooses nothing else.
        plan.limit = if past || plan.diversity > 0.0 { wanted } else { self.hits_for_rerank(wanted) };
        let search = move |memory: &Memory| {
            let found = memory.find(&who, &plan)?;
            Ok((plan, found))
        };
        if !past {
            let (mut plan, mut found) = self.in_place(search).await?;
            plan.limit = wanted;
            self.rerank(&plan, wanted, &mut found).await;
            return Ok((plan, found));
        }
        let _turn = self.inner.past.turn.acquire().await.map_err(|_| MemoryError::Lost)?;
        let done = self.blocking(search).await?;
        self.sweep_past();
        Ok(done)
    }

    /// Counts the use and queues the audit of what was found. What is given `beside` it is audited and not counted.
    pub(super) async fn after_recall(
        &self,
        caller: &Caller,
        (method, recall_id): (&str, Uuid),
        plan: &Plan,
        found: &Found,
        beside: &[&FoundHit],
    ) -> Result<(), MemoryError> {
        let mut touched: Vec<(u32, u64)> = found.spaces.iter().map(|space| (*space, 0)).collect();
        let given = || found.hits.iter().chain(beside.iter().copied());
        touched.extend(given().map(|h| (h.record.space, h.record.key)));
        self.audit_recall(caller, method, recall_id, &touched);
        self.inner.feedback.note(recall_id, super::feedback::keys_of(given()));
        if self.inner.gate.recalled().note(given().map(|h| (h.space.as_str(), h.record.text.as_str()))) {
            let memory = self.clone();
            tokio::task::spawn_blocking(move || memory.inner.gate.recalled().settle());
        }
        if plan.count_use && !found.hits.is_empty() {
            self.count_use(found.hits.iter().map(|h| h.record.key).collect()).await?;
        }
        Ok(())
    }

    /// Searches, and reads what was found. Blocks for a few milliseconds.
    pub(super) fn find(&self, caller: &Caller, plan: &Plan) -> Result<Found, MemoryError> {
        let names: HashMap<u32, String> = self.store().read(|tx| {
            let mut names = HashMap::new();
            for name in &plan.spaces {
                if let Some(space) = tx.space_by_name(name)? {
                    names.insert(space.id, space.name);
                }
            }
            Ok::<_, StoreError>(names)
        })?;
        let vector = match plan.mode {
            Mode::Lexical => None,
            Mode::Hybrid | Mode::Vector => embed_query(self.embedder(), &plan.query),
        };
        let mut query = Query {
            text: &plan.query,
            vector: vector.as_deref(),
            model_vector: plan.asked.vector.as_deref().map(Vec::as_slice),
            spaces: names.keys().copied().collect(),
            filter: plan.index_filter(self.now_ms()),
            spans: spans(&plan.query, plan.seen_from_ms(self.now_ms())),
            mode: match plan.mode {
                Mode::Hybrid => tiro_index::Mode::Hybrid,
                Mode::Lexical => tiro_index::Mode::Lexical,
                Mode::Vector => tiro_index::Mode::Vector,
            },
            limit: plan.limit,
            candidates: 0,
            threshold: plan.threshold,
            decay: plan.decay.then(|| DecayParams { now_ms: plan.seen_from_ms(self.now_ms()), ..self.decay_params() }),
            diversity: plan.diversity,
        };
        let past = plan.as_of_ms.map(|as_of_ms| self.past(caller, query.spaces.clone(), as_of_ms)).transpose()?;
        let index = self.index();
        // Feedback is of the present. So many hits may fall, and others rise.
        let beyond = if past.is_some() { 0 } else { self.inner.feedback.beyond() };
        let most = plan.limit + beyond;
        query.limit = most;
        loop {
            let mut answer = past.as_ref().map_or_else(|| index.search(&query), |past| past.search(&query));
            // A restore gives keys a new meaning: until its index is there, the old one's hits would name the wrong memories.
            if index.epoch() != self.store().identity().epoch {
                answer.hits.clear();
                answer.degraded = Some("a backup was just put in place and its index is being made: ask again".to_owned());
            }
            let more = answer.hits.len() >= query.limit && query.limit < KEYS_PER_SEARCH_MAX;
            let mut hits = self.read_hits(plan, &names, &answer.hits, most)?;
            // Passages of one memory share a hit, and a memory may have gone since: then look further.
            if hits.len() < most && more {
                query.limit = (query.limit * 4).min(KEYS_PER_SEARCH_MAX);
                continue;
            }
            if past.is_none() {
                self.inner.feedback.lower(&mut hits);
            }
            hits.truncate(plan.limit);
            return Ok(Found {
                strength: hits.iter().map(|h| strength(h.hit.strength)).max().unwrap_or(Strength::None),
                hits,
                below_threshold: u32::try_from(answer.below_threshold).unwrap_or(u32::MAX),
                served_by: answer.served_by.iter().map(|s| s.as_str().to_owned()).collect(),
                degraded: answer.degraded.or_else(|| plan.asked.degraded.clone()),
                seq: answer.seq,
                spaces: names.keys().copied().collect(),
            });
        }
    }

    /// The memories of the hits, best passage each, in one view of the store. What is gone or hidden is left out.
    fn read_hits(
        &self,
        plan: &Plan,
        names: &HashMap<u32, String>,
        hits: &[tiro_index::Hit],
        most: usize,
    ) -> Result<Vec<FoundHit>, MemoryError> {
        let mut seen = std::collections::HashSet::new();
        let read = self.store().read(|tx| {
            let any_conflict = tx.conflict_count()? > 0;
            let mut found = Vec::with_capacity(most);
            for hit in hits {
                let (key, passage) = memory_of(hit.key);
                if found.len() == most {
                    break;
                }
                if !seen.insert(key) {
                    continue;
                }
                let record = match plan.as_of_ms {
                    Some(as_of_ms) => version_at(tx, key, as_of_ms)?,
                    None => tx.memory(key)?,
                };
                let Some(record) = record.filter(|r| plan.sieve.passes(r)) else { continue };
                let Some(space) = names.get(&record.space) else { continue };
                let usage = if plan.explain { tx.usage(key)? } else { UseRecord::default() };
                let conflict = any_conflict
                    && match plan.as_of_ms {
                        Some(as_of_ms) => conflicts_at(tx, &record, as_of_ms)?,
                        None => !open_of(tx, &record)?.is_empty(),
                    };
                let gave_way_to = match hit.features.gave_way.filter(|_| plan.explain) {
                    Some(gave_way) => tx.memory(memory_of(gave_way.key).0)?.map(|before| before.id),
                    None => None,
                };
                let (space, hit, against) = (space.clone(), *hit, None);
                found.push(FoundHit { record, space, hit, usage, passage, conflict, gave_way_to, against });
            }
            Ok::<_, StoreError>(found)
        });
        Ok(read?)
    }

    /// Counts the memories as used now, in the store and in the index.
    async fn count_use(&self, keys: Vec<u64>) -> Result<(), MemoryError> {
        let memory = self.clone();
        let written = self.store().write("count use", move |tx| {
            let now_ms = tx.now_ms();
            for key in &keys {
                let mut usage = tx.usage(*key)?;
                usage.use_count = usage.use_count.saturating_add(1);
                usage.last_used_at_ms = usage.last_used_at_ms.max(now_ms);
                let Some(record) = tx.memory(*key)? else { continue };
                tx.put_usage(*key, &usage)?;
                tx.note_in_outbox(&record)?;
                let memory = memory.clone();
                tx.after_commit(Box::new(move || touch(&memory.index(), &record, &usage)));
            }
            Ok::<_, StoreError>(())
        });
        Ok(written.await?)
    }

    /// Decay as the settings say, from now on.
    pub(super) fn decay_params(&self) -> DecayParams {
        let s = &self.inner.decay;
        let days = |d: u32| i64::from(d) * DAY_MS;
        let mut half_life_ms = vec![days(s.other_days); 8];
        let mut set = |category, d| half_life_ms[usize::from(category_code(category))] = days(d);
        for category in [Category::Identity, Category::Preference, Category::Constraint] {
            set(category, s.lasting_days);
        }
        set(Category::Fact, s.fact_days);
        set(Category::Event, s.event_days);
        DecayParams { now_ms: self.now_ms(), floor: s.floor, half_life_ms, half_life_default_ms: days(s.other_days) }
    }
}

/// Takes from a budget if there is room.
pub(super) fn take(room: &mut u32, tokens: u32) -> bool {
    let fits = tokens <= *room;
    if fits {
        *room -= tokens;
    }
    fits
}

/// How many were found and left out.
pub(super) fn left_out(found: usize, kept: usize) -> u32 {
    u32::try_from(found - kept).unwrap_or(u32::MAX)
}

pub(super) fn strength(strength: tiro_index::Strength) -> Strength {
    match strength {
        tiro_index::Strength::None => Strength::None,
        tiro_index::Strength::Weak => Strength::Weak,
        tiro_index::Strength::Good => Strength::Good,
        tiro_index::Strength::Strong => Strength::Strong,
    }
}

fn wire_hit(found: FoundHit, plan: &Plan, memory: &Memory) -> Hit {
    let passage = found.passage_text().map(str::to_owned);
    let explain = plan.explain.then(|| explain(&found, plan, memory));
    let record = found.record;
    let told = told_by(&record);
    let (occurred_at, occurred_at_source) = occurred_at(&record, &told);
    Hit {
        id: id_text(&record.id),
        kind: convert::kind_of(record.kind).unwrap_or(Kind::Episodic).into(),
        category: convert::category_of(record.category).unwrap_or(Category::Other).into(),
        space: found.space,
        status: convert::status_of(record.status).unwrap_or(Status::Archived).into(),
        created_at: clock::format(record.created_at_ms, None),
        occurred_at: Some(occurred_at),
        occurred_at_source: Some(occurred_at_source.into()),
        told: wire_told(&record, &told),
        sources: record.sources.iter().map(convert::source).collect(),
        score: found.hit.score,
        strength: strength(found.hit.strength).into(),
        pinned: record.pinned,
        conflict: found.conflict.then_some(true),
        passage,
        explain,
        tags: record.tags,
        text: record.text,
    }
}

fn explain(found: &FoundHit, plan: &Plan, memory: &Memory) -> Explain {
    let f = &found.hit.features;
    let weight = match plan.mode {
        Mode::Lexical => 1.0,
        Mode::Vector => 0.0,
        Mode::Hybrid => memory.inner.index.lexical_weight(),
    };
    let half_life = (plan.decay && !found.record.pinned).then(|| {
        let decay = memory.decay_params();
        let base = decay.half_life_ms.get(usize::from(found.record.category)).copied().unwrap_or(decay.half_life_default_ms);
        base as f64 / DAY_MS as f64 * (1.0 + (1.0 + found.usage.use_count as f64).ln() / 2.0).min(4.0)
    });
    Explain {
        bm25: f.bm25,
        bm25_ideal: f.ideal,
        lexical: f.lexical,
        cosine: f.cosine,
        z: f.z,
        lexical_rank: f.lexical_rank,
        vector_rank: f.vector_rank,
        weight_lexical: weight,
        weight_dense: 1.0 - weight,
        features: features(f, plan.mode, weight),
        evidence: f.evidence,
        relevance: f.relevance,
        decay: f.decay,
        feedback: found.against.map(super::feedback::Against::explain),
        age_days: (f.age_ms as f64 / DAY_MS as f64) as f32,
        half_life_days: half_life.map(|d| d as f32),
        rank_without_decay: f.rank_without_decay,
        gave_way: found.gave_way_to.zip(f.gave_way).map(|(to, gave_way)| GaveWay {
            to: id_text(&to),
            likeness: gave_way.likeness,
            factor: gave_way.factor,
        }),
    }
}

/// The features that made up the evidence: all of them, or the one of a leg that searched alone.
fn features(of: &tiro_index::Features, mode: Mode, lexical_weight: f32) -> Vec<Feature> {
    let alone = match mode {
        Mode::Hybrid => None,
        Mode::Lexical => Some("lexical"),
        Mode::Vector => Some("dense"),
    };
    let parts = of.parts(&Weights::of_share(lexical_weight));
    let used = parts.into_iter().filter(|part| alone.is_none_or(|name| part.name == name));
    used.map(|part| Feature {
        name: part.name.to_owned(),
        value: part.value,
        weight: if alone.is_some() { 1.0 } else { part.weight },
    })
    .collect()
}

/// The stretches of time a question names.
fn spans(question: &str, now_ms: i64) -> Vec<TimeSpan> {
    let spans = when::spans(question, now_ms, None);
    spans.into_iter().map(|span| TimeSpan { from_ms: span.from_ms, to_ms: span.to_ms }).collect()
}
