//! What runs behind: every memory that lacks the model's vector gets it, batch by batch, for as long as the daemon runs.
//!
//! Where it stands is read from the store, so it can be killed at any point. Memories are looked at in the order of their keys; what is
//! new has a higher key than all before, what changed is named by its write. Must not know: what a memory's text is for.

use super::vectors::{Look, checked};
use super::{ModelLeg, Standing};
use crate::limits::{
    EMBED_BACKOFF_MS_MAX, EMBED_BACKOFF_MS_MIN, EMBED_BATCH_AIM_MS, EMBED_BATCH_TEXTS_MAX, EMBED_BATCH_TEXTS_MIN,
    EMBED_DIMENSIONS_MAX, EMBED_REFUSED_AGAIN_MS_MAX, EMBED_REFUSED_AGAIN_MS_MIN, EMBED_REFUSED_IN_A_ROW_MAX, EMBED_REFUSED_MAX,
};
use crate::memory::{Inner, Memory, MemoryError};
use crate::model::{ErrorClass, ModelError, TextSide};
use crate::store::ModelReads;
use std::collections::BTreeSet;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tiro_index::embed::{Background, ScriptBackgrounds};
use tokio::time::Instant;

/// A memory that lacks vectors.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub key: u64,
    /// The version whose text it is.
    pub version: u32,
    /// One text a passage.
    pub texts: Vec<String>,
}

/// What to do after a step.
enum Next {
    /// The next one.
    Step,
    /// Wait for something to do.
    Idle,
    /// Wait, then try again.
    Later,
}

/// Why a step failed.
enum Failed {
    /// The model does not answer, or not what it should; it may later.
    Model(String),
    /// What was asked for is refused; nothing else is said of other texts.
    Text(String),
    /// The store.
    Memory(MemoryError),
}

impl From<MemoryError> for Failed {
    fn from(error: MemoryError) -> Self {
        Failed::Memory(error)
    }
}

/// Where the work stands.
struct Follower {
    leg: Arc<ModelLeg>,
    /// The model's number in the store and the length of its vectors, once known.
    model: Option<(u32, usize)>,
    /// The next memory to look at.
    from: u64,
    /// Memories to be looked at by themselves, their texts one by one.
    singly: BTreeSet<u64>,
    refused: BTreeSet<u64>,
    /// Of these, the last ones without a success between them.
    refused_in_a_row: Vec<u64>,
    /// Wait before refused ones are tried again.
    again_ms: u64,
    texts_max: usize,
    backoff_ms: u64,
    others_removed: bool,
}

/// Follows until the daemon stops.
pub(super) async fn run(inner: Weak<Inner>, leg: Arc<ModelLeg>) {
    let mut follower = Follower {
        leg: Arc::clone(&leg),
        model: None,
        from: 0,
        singly: BTreeSet::new(),
        refused: BTreeSet::new(),
        refused_in_a_row: Vec::new(),
        again_ms: EMBED_REFUSED_AGAIN_MS_MIN,
        texts_max: EMBED_BATCH_TEXTS_MIN,
        backoff_ms: EMBED_BACKOFF_MS_MIN,
        others_removed: false,
    };
    loop {
        let Some(inner) = inner.upgrade() else { return };
        let memory = Memory { inner };
        let next = tokio::select! {
            next = follower.step(&memory) => next,
            () = leg.stop.cancelled() => return,
        };
        drop(memory);
        let (wait_ms, wakes) = match next {
            Next::Step => continue,
            Next::Idle => (follower.refused_again_ms(), true),
            Next::Later => (Some(follower.backoff_ms), false),
        };
        tokio::select! {
            () = leg.woken.notified(), if wakes => {}
            () = tokio::time::sleep(Duration::from_millis(wait_ms.unwrap_or_default())), if wait_ms.is_some() => {
                if wakes {
                    follower.try_refused_again();
                }
            }
            () = leg.stop.cancelled() => return,
        }
    }
}

impl Follower {
    async fn step(&mut self, memory: &Memory) -> Next {
        self.take_orders();
        if self.leg.standing.lock().given_up {
            return Next::Idle;
        }
        let done = match self.model {
            None => self.prepare(memory).await.map(|()| Next::Step),
            Some((number, dimension)) => self.go_on(memory, number, dimension).await,
        };
        match done {
            Ok(next) => next,
            Err(failed) => {
                let why = match failed {
                    Failed::Model(why) | Failed::Text(why) => why,
                    Failed::Memory(error) => error.to_string(),
                };
                self.wait_longer(&why);
                Next::Later
            }
        }
    }

    /// Takes over what was asked of it since.
    fn take_orders(&mut self) {
        let mut work = self.leg.work.lock();
        if std::mem::take(&mut work.anew) {
            (self.model, self.others_removed) = (None, false);
            self.leg.queries.lock().forget();
            work.all = true;
        }
        if std::mem::take(&mut work.all) {
            self.from = 0;
        }
    }

    /// Finds the model in the store, or makes it known there, and what it makes of the background sample.
    async fn prepare(&mut self, memory: &Memory) -> Result<(), Failed> {
        let embedder = Arc::clone(&self.leg.embedder);
        let all = memory.store().read(|tx| tx.embedders()).map_err(MemoryError::from)?;
        let known = all.iter().rev().find(|(_, record)| record.id == embedder.id()).map(|(_, record)| record.dimension);
        let dimension = match known {
            Some(dimension) => dimension as usize,
            None => {
                let texts: Vec<String> = Background::texts().take(1).map(str::to_owned).collect();
                self.ask(&texts).await?.first().map_or(0, Vec::len)
            }
        };
        if !(1..=EMBED_DIMENSIONS_MAX).contains(&dimension) {
            return Err(Failed::Model(format!("vectors of {dimension} dimensions; 1 to {EMBED_DIMENSIONS_MAX} can be kept")));
        }
        let (id, length) = (embedder.id().to_owned(), u32::try_from(dimension).unwrap_or(u32::MAX));
        let written = memory.store().write("use a model", move |tx| tx.use_embedder(&id, length).map_err(MemoryError::from));
        let number = written.await.map_err(MemoryError::from)?;
        let background = self.background(memory, number, dimension).await?;
        let known = tiro_index::ModelLeg {
            dim: dimension,
            calibration: Arc::new(move |query| background.z(query)),
            lexical_weight: self.leg.lexical_weight,
        };
        // A restore since would have left the mark that all begins anew.
        *self.leg.known.write() = Some(known.clone());
        memory.index().use_model(Some(known));
        (self.model, self.from) = (Some((number, dimension)), 0);
        self.went_well();
        tracing::info!(model = embedder.id(), dimension, "the embedder is ready; vectors that are missing follow");
        Ok(())
    }

    /// What the model makes of the background sample: from the store, and asked for where it is not there yet.
    async fn background(&mut self, memory: &Memory, model: u32, dimension: usize) -> Result<ScriptBackgrounds, Failed> {
        let texts: Vec<String> = Background::texts().map(str::to_owned).collect();
        let mut rows = memory.store().read(|tx| tx.model_background(model)).map_err(MemoryError::from)?;
        let there: BTreeSet<u32> = rows.iter().map(|(place, _)| *place).collect();
        let missing: Vec<(u32, String)> = (0..).zip(texts).filter(|(place, _)| !there.contains(place)).collect();
        for part in missing.chunks(EMBED_BATCH_TEXTS_MAX / 2) {
            let texts: Vec<String> = part.iter().map(|(_, text)| text.clone()).collect();
            let vectors = self.ask(&texts).await?;
            let vectors: Result<Vec<_>, String> = vectors.into_iter().map(|vector| checked(vector, dimension)).collect();
            let made: Vec<(u32, Vec<f32>)> = part.iter().map(|(place, _)| *place).zip(vectors.map_err(Failed::Model)?).collect();
            rows.extend(made.iter().cloned());
            let written = memory.store().write("keep a model's background", move |tx| {
                made.iter()
                    .try_for_each(|(place, vector)| tx.put_model_background(model, *place, vector))
                    .map_err(MemoryError::from)
            });
            written.await.map_err(MemoryError::from)?;
        }
        Ok(ScriptBackgrounds::of_vectors(dimension, rows.iter().map(|(place, vector)| (*place, vector.as_slice()))))
    }

    /// One batch: what failed as part of another, what changed, then what comes next.
    async fn go_on(&mut self, memory: &Memory, model: u32, dimension: usize) -> Result<Next, Failed> {
        if let Some(key) = self.singly.first().copied() {
            let look = memory.look_at(model, vec![key]).await?;
            self.one_by_one(memory, (model, dimension), look).await?;
            self.singly.remove(&key);
            return Ok(Next::Step);
        }
        let changed: Vec<u64> = {
            let mut work = self.leg.work.lock();
            let first: Vec<u64> = work.changed.iter().copied().take(self.texts_max).collect();
            work.changed.retain(|key| !first.contains(key));
            first
        };
        if !changed.is_empty() {
            let look = memory.look_at(model, changed.clone()).await;
            let done = match look {
                Ok(look) => self.all_at_once(memory, (model, dimension), look).await,
                Err(error) => Err(error.into()),
            };
            if done.is_err() {
                self.leg.work.lock().changed.extend(changed);
            }
            return done.map(|()| Next::Step);
        }
        let look = memory.look_from(model, self.from, self.texts_max).await?;
        let Some(last) = look.last else { return self.at_the_end(memory, model).await };
        self.all_at_once(memory, (model, dimension), look).await?;
        // Nobody asked for all of them again meanwhile: that is noticed before the next step.
        self.from = last + 1;
        Ok(Next::Step)
    }

    /// Every memory was looked at.
    async fn at_the_end(&mut self, memory: &Memory, model: u32) -> Result<Next, Failed> {
        self.leg.standing.lock().caught_up = true;
        if !self.others_removed {
            memory.remove_other_models(Some(model)).await?;
            self.others_removed = true;
        }
        Ok(Next::Idle)
    }

    /// Gives the index what is there, asks for the rest in one call and keeps it. What is refused is tried one by one.
    async fn all_at_once(&mut self, memory: &Memory, (model, dimension): (u32, usize), mut look: Look) -> Result<(), Failed> {
        memory.index().put_model_vectors(&look.there);
        look.wanted.retain(|wanted| !self.refused.contains(&wanted.key));
        if look.wanted.is_empty() {
            return Ok(());
        }
        let texts: Vec<String> = look.wanted.iter().flat_map(|wanted| wanted.texts.iter().cloned()).collect();
        let began = Instant::now();
        let vectors = match self.ask(&texts).await {
            Err(Failed::Text(_)) => {
                self.singly.extend(look.wanted.iter().map(|wanted| wanted.key));
                return Ok(());
            }
            other => other?,
        };
        self.fit_batch(began.elapsed(), texts.len());
        let mut vectors = vectors.into_iter().map(|vector| checked(vector, dimension));
        let mut made = Vec::with_capacity(look.wanted.len());
        for wanted in look.wanted {
            let own: Result<Vec<_>, String> = vectors.by_ref().take(wanted.texts.len()).collect();
            match own {
                Ok(own) if own.len() == wanted.texts.len() => made.push((wanted, own)),
                _ => self.singly.extend([wanted.key]),
            }
        }
        if !made.is_empty() {
            memory.keep_model_vectors(model, made).await?;
            self.went_well();
        }
        Ok(())
    }

    /// The same for a memory whose batch was refused: what is refused of it alone stays without.
    async fn one_by_one(&mut self, memory: &Memory, (model, dimension): (u32, usize), look: Look) -> Result<(), Failed> {
        for wanted in look.wanted {
            let mut own = Vec::with_capacity(wanted.texts.len());
            let mut refusal = None;
            for text in &wanted.texts {
                let made = match self.ask(std::slice::from_ref(text)).await {
                    Ok(vectors) => vectors.into_iter().next().ok_or("no vector".to_owned()),
                    Err(Failed::Text(why)) => Err(why),
                    Err(other) => return Err(other),
                };
                match made.and_then(|vector| checked(vector, dimension)) {
                    Ok(vector) => own.push(vector),
                    Err(why) => {
                        refusal = Some(why);
                        break;
                    }
                }
            }
            match refusal {
                None => {
                    self.leg.standing.lock().refused = self.refused.len() as u64;
                    memory.keep_model_vectors(model, vec![(wanted, own)]).await?;
                    self.went_well();
                }
                Some(why) => self.refuse(wanted.key, &why)?,
            }
        }
        Ok(())
    }

    /// Wait before the refused ones are tried again, when there are any.
    fn refused_again_ms(&self) -> Option<u64> {
        (!self.refused.is_empty() && !self.leg.standing.lock().given_up).then_some(self.again_ms)
    }

    /// A model that was out of order may have come to itself.
    fn try_refused_again(&mut self) {
        self.singly.append(&mut self.refused);
        self.again_ms = (self.again_ms * 2).min(EMBED_REFUSED_AGAIN_MS_MAX);
    }

    /// Leaves a memory without the model's vectors for now, unless nothing but refusals comes: then it is the model.
    fn refuse(&mut self, key: u64, why: &str) -> Result<(), Failed> {
        self.refused_in_a_row.push(key);
        if self.refused_in_a_row.len() > EMBED_REFUSED_IN_A_ROW_MAX {
            for key in self.refused_in_a_row.drain(..) {
                self.refused.remove(&key);
                self.singly.insert(key);
            }
            self.leg.standing.lock().refused = self.refused.len() as u64;
            return Err(Failed::Model(why.to_owned()));
        }
        tracing::warn!(memory = key, why, "the embedder's vector of a memory is refused; the built-in table serves it");
        self.refused.insert(key);
        let mut standing = self.leg.standing.lock();
        standing.refused = self.refused.len() as u64;
        if self.refused.len() >= EMBED_REFUSED_MAX {
            *standing = Standing {
                given_up: true,
                trouble: Some(format!("{} vectors were refused, the last one: {why}", self.refused.len())),
                ..standing.clone()
            };
        }
        Ok(())
    }

    async fn ask(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, Failed> {
        match self.leg.embedder.embed(TextSide::Passage, texts).await {
            Ok(vectors) if vectors.len() == texts.len() => Ok(vectors),
            Ok(vectors) => Err(Failed::Text(format!("{} vectors for {} texts", vectors.len(), texts.len()))),
            Err(error) => Err(failure(&error)),
        }
    }

    fn went_well(&mut self) {
        self.backoff_ms = EMBED_BACKOFF_MS_MIN;
        self.refused_in_a_row.clear();
        self.leg.standing.lock().trouble = None;
        self.leg.queries.lock().went_well();
    }

    fn wait_longer(&mut self, why: &str) {
        let mut standing = self.leg.standing.lock();
        if standing.trouble.is_none() {
            tracing::warn!(
                model = self.leg.embedder.id(),
                why,
                "the embedder's vectors wait; words and the built-in table serve"
            );
        }
        standing.trouble = Some(why.to_owned());
        self.backoff_ms = (self.backoff_ms * 2).min(EMBED_BACKOFF_MS_MAX);
    }

    /// Larger calls where they are quick, smaller ones where a query would have to wait behind them.
    fn fit_batch(&mut self, took: Duration, texts: usize) {
        let took_ms = took.as_millis();
        if took_ms < u128::from(EMBED_BATCH_AIM_MS) && texts >= self.texts_max {
            self.texts_max = (self.texts_max * 2).min(EMBED_BATCH_TEXTS_MAX);
        } else if took_ms > u128::from(2 * EMBED_BATCH_AIM_MS) {
            self.texts_max = (self.texts_max / 2).max(EMBED_BATCH_TEXTS_MIN);
        }
    }
}

/// Whether a failure is the model's or the text's.
fn failure(error: &ModelError) -> Failed {
    match error.class {
        ErrorClass::BadRequest | ErrorClass::ContextOverflow | ErrorClass::Malformed if !error.is_final => {
            Failed::Text(error.to_string())
        }
        _ => Failed::Model(error.to_string()),
    }
}
