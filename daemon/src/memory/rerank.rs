//! A second look at the best hits by a model that reads question and text together, where one is set up.
//!
//! It orders the first hits anew and changes nothing else about them; where it fails or is late they stay as they are. Must not know: how they
//! were found.

use super::Memory;
use super::recall::{Found, FoundHit};
use super::recall_plan::Plan;
use crate::limits::{RERANK_HITS_MAX, RERANK_MS_MAX};
use std::time::Duration;
use tokio::time::timeout;

impl Memory {
    /// Hits a search brings, so that the re-ranker has something to choose from.
    pub(super) fn hits_for_rerank(&self, limit: usize) -> usize {
        if self.inner.reranker.is_some() { limit.max(RERANK_HITS_MAX) } else { limit }
    }

    /// Orders the first hits by the re-ranker, where there is one, and leaves as many as are wanted.
    pub(super) async fn rerank(&self, plan: &Plan, wanted: usize, found: &mut Found) {
        let Some(reranker) = self.inner.reranker.as_ref().filter(|_| found.hits.len() > 1) else {
            found.hits.truncate(wanted);
            return;
        };
        let first = found.hits.len().min(RERANK_HITS_MAX);
        let words = |hit: &FoundHit| hit.passage_text().unwrap_or(&hit.record.text).to_owned();
        let texts: Vec<String> = found.hits[..first].iter().map(words).collect();
        let asked = timeout(Duration::from_millis(RERANK_MS_MAX), reranker.scores(&plan.query, &texts)).await;
        let trouble = match asked {
            Ok(Ok(scores)) if scores.len() == first && scores.iter().all(|score| score.is_finite()) => {
                let rest = found.hits.split_off(first);
                let mut scored: Vec<(f32, FoundHit)> = scores.into_iter().zip(found.hits.drain(..)).collect();
                scored.sort_by(|a, b| b.0.total_cmp(&a.0));
                found.hits = scored.into_iter().map(|(_, hit)| hit).chain(rest).collect();
                found.served_by.push("reranker".to_owned());
                None
            }
            Ok(Ok(_)) => Some("gave no sound score for each hit".to_owned()),
            Ok(Err(error)) => Some(format!("failed ({error})")),
            Err(_) => Some(format!("took more than {RERANK_MS_MAX} ms")),
        };
        if let Some(what) = trouble {
            let said = format!("the re-ranker {} {what}: hits stand in their own order", reranker.id());
            found.degraded.get_or_insert(said);
        }
        found.hits.truncate(wanted);
    }
}
