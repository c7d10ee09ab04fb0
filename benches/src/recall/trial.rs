//! A trial: documents go in, questions are asked, and each becomes a record of what came back.
//!
//! Must not know: how the daemon was started, nor how records are printed.

use super::measures::Measures;
use super::set::{Language, Set};
use crate::figures::Samples;
use crate::rpc::Client;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::time::Instant;

/// Documents of one `memory/rememberMany`.
const BATCH: usize = 200;
/// Share of documents that may be refused.
const REFUSED_SHARE_MAX: f64 = 0.01;
/// Hits that an ablation ranks again.
pub const CANDIDATES: usize = 100;

/// How questions are asked.
#[derive(Debug, Clone)]
pub struct Manner {
    /// `hybrid`, `lexical` or `vector`.
    pub mode: String,
    /// Hits a question.
    pub limit: usize,
    /// Whether age lowers scores.
    pub decay: bool,
}

impl Manner {
    fn params(&self, space: &str, query: &str) -> Value {
        json!({"space": space, "query": query, "mode": self.mode, "limit": self.limit, "decay": self.decay})
    }
}

/// What the import of a set left behind.
pub struct Imported {
    reference_of: HashMap<String, String>,
    /// Documents that were not kept.
    pub refused: usize,
    /// Seconds it took.
    pub elapsed_s: f64,
}

/// A hit as `explain` tells it.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Whether it is gold.
    pub is_gold: bool,
    /// The weighted sum that ranks.
    pub evidence: f64,
    /// Each feature's name and what it adds to the evidence.
    pub parts: Vec<(String, f64)>,
}

/// A question whose answer is there, and what came back.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Its category.
    pub category: String,
    /// Its languages.
    pub language: Language,
    /// How well its gold stands, threshold 0.
    pub measures: Measures,
    /// Score of the first hit, threshold 0; 0 without one.
    pub top_score: f64,
    /// Whether the daemon's own threshold leaves a hit.
    pub is_answered: bool,
    /// Documents that answer it.
    pub gold: usize,
    /// The first hits with their features; empty where they are not explained.
    pub candidates: Vec<Candidate>,
}

/// A question whose answer is not there, and what came back.
#[derive(Debug, Clone)]
pub struct AskedInVain {
    /// In which way it has no answer.
    pub kind: String,
    /// Its words.
    pub query: String,
    /// Score of the first hit, threshold 0; 0 without one.
    pub top_score: f64,
    /// Whether the daemon's own threshold leaves a hit.
    pub is_answered: bool,
}

/// All that a trial saw.
#[derive(Debug, Clone, Default)]
pub struct Trial {
    /// Documents that went in.
    pub documents: usize,
    /// Documents that were not kept.
    pub refused: usize,
    /// Seconds the import took.
    pub import_s: f64,
    /// Times of the ranked recalls.
    pub times: Samples,
    /// One record a question, in the set's order.
    pub asked: Vec<Asked>,
    /// One record a question without an answer.
    pub in_vain: Vec<AskedInVain>,
}

impl Trial {
    /// Adds the records of another part of the same set.
    pub fn absorb(&mut self, other: Trial) {
        self.documents += other.documents;
        self.refused += other.refused;
        self.import_s += other.import_s;
        self.times.append(other.times);
        self.asked.extend(other.asked);
        self.in_vain.extend(other.in_vain);
    }
}

/// Imports the documents, verbatim.
///
/// # Errors
/// When more than one in a hundred is not kept.
pub fn import(client: &mut Client, set: &Set) -> Result<Imported> {
    let begun = Instant::now();
    let mut reference_of = HashMap::new();
    let mut refused = Vec::new();
    for batch in set.documents.chunks(BATCH) {
        let items: Vec<Value> = batch
            .iter()
            .map(|d| {
                let mut item = json!({"text": d.text, "space": d.space, "verbatim": true});
                if let Some(at) = &d.occurred_at {
                    item["occurredAt"] = json!(at);
                }
                if let Some(source) = &d.source {
                    item["source"] = source.clone();
                }
                item
            })
            .collect();
        let answer = client.call("memory/rememberMany", json!({"items": items}))?;
        let results = answer["results"].as_array().context("results")?;
        ensure!(results.len() == batch.len(), "{} results for {} documents", results.len(), batch.len());
        for (document, result) in batch.iter().zip(results) {
            match result["id"].as_str() {
                Some(id) => _ = reference_of.insert(id.to_owned(), document.reference.clone()),
                None => refused.push(format!("{}: {result}", document.reference)),
            }
        }
    }
    let bearable = set.documents.len() as f64 * REFUSED_SHARE_MAX;
    ensure!(refused.len() as f64 <= bearable, "{} documents were not kept, first {:?}", refused.len(), refused.first());
    Ok(Imported { reference_of, refused: refused.len(), elapsed_s: begun.elapsed().as_secs_f64() })
}

/// Asks every question of the set: ranked with threshold 0, once more as the daemon would answer by itself, and, where
/// `is_explained`, with its candidates' features.
///
/// # Errors
/// When the daemon refuses one.
pub fn ask(client: &mut Client, set: &Set, imported: &Imported, manner: &Manner, is_explained: bool) -> Result<Trial> {
    let mut trial =
        Trial { documents: set.documents.len(), refused: imported.refused, import_s: imported.elapsed_s, ..Trial::default() };
    for (question, language) in set.questions.iter().zip(set.languages()) {
        let mut params = manner.params(&question.space, &question.query);
        let is_answered = has_hits(client, &params)?;
        params["threshold"] = json!(0);
        let begun = Instant::now();
        let answer = client.call("memory/recall", params.clone())?;
        trial.times.push(begun.elapsed());
        let is_gold = |hit: &Value| {
            let reference = hit["id"].as_str().and_then(|id| imported.reference_of.get(id));
            reference.is_some_and(|reference| question.gold.contains(reference))
        };
        let ranking: Vec<bool> = hits(&answer)?.iter().map(is_gold).collect();
        let mut candidates = Vec::new();
        if is_explained {
            params["explain"] = json!(true);
            params["limit"] = json!(CANDIDATES);
            let answer = client.call("memory/recall", params)?;
            candidates = hits(&answer)?.iter().filter_map(|hit| candidate(hit, is_gold(hit))).collect();
        }
        trial.asked.push(Asked {
            category: question.category.clone(),
            language,
            measures: Measures::of(&ranking, question.gold.len()),
            top_score: top_score(&answer)?,
            is_answered,
            gold: question.gold.len(),
            candidates,
        });
    }
    for absent in &set.absent {
        let mut params = manner.params(&absent.space, &absent.query);
        let is_answered = has_hits(client, &params)?;
        params["threshold"] = json!(0);
        let answer = client.call("memory/recall", params)?;
        trial.in_vain.push(AskedInVain {
            kind: absent.kind.clone(),
            query: absent.query.clone(),
            top_score: top_score(&answer)?,
            is_answered,
        });
    }
    Ok(trial)
}

fn hits(answer: &Value) -> Result<&Vec<Value>> {
    answer["hits"].as_array().context("hits of memory/recall")
}

fn has_hits(client: &mut Client, params: &Value) -> Result<bool> {
    Ok(!hits(&client.call("memory/recall", params.clone())?)?.is_empty())
}

fn top_score(answer: &Value) -> Result<f64> {
    Ok(hits(answer)?.first().and_then(|hit| hit["score"].as_f64()).unwrap_or(0.0))
}

/// `None` where the features are not told.
fn candidate(hit: &Value, is_gold: bool) -> Option<Candidate> {
    let explain = &hit["explain"];
    let part = |feature: &Value| {
        let added = feature["value"].as_f64()? * feature["weight"].as_f64()?;
        Some((feature["name"].as_str()?.to_owned(), added))
    };
    let parts = explain["features"].as_array()?.iter().map(part).collect::<Option<_>>()?;
    Some(Candidate { is_gold, evidence: explain["evidence"].as_f64()?, parts })
}
