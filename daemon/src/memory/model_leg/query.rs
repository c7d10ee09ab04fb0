//! The query's vector: asked of the model under a time limit, kept for a while, not asked for while the model rests after a failure.
//!
//! Must not know: what is searched with it.

use super::vectors::checked;
use super::{Chosen, ModelChoice, ModelLeg};
use crate::limits::{
    EMBED_BACKOFF_MS_MIN, EMBED_QUERIES_KEPT_MAX, EMBED_QUERY_MS_MAX, EMBED_QUERY_REST_MS, EMBED_TEXT_CHARS_MAX,
};
use crate::memory::Memory;
use crate::model::TextSide;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// What came of asking.
#[derive(Debug, Clone, Default)]
pub(in crate::memory) struct Asked {
    /// The query's vector, of norm 1.
    pub vector: Option<Arc<Vec<f32>>>,
    /// Why the answer is less than whole.
    pub degraded: Option<String>,
}

/// Vectors of recent queries, and how asking went.
#[derive(Debug, Default)]
pub(super) struct Queries {
    kept: HashMap<String, (u64, Arc<Vec<f32>>)>,
    /// Counts look-ups, so that the least recent is known.
    turn: u64,
    failures: u32,
    rests: Option<(Instant, String)>,
}

impl Queries {
    fn find(&mut self, text: &str) -> Option<Arc<Vec<f32>>> {
        self.turn += 1;
        let turn = self.turn;
        self.kept.get_mut(text).map(|(used, vector)| {
            *used = turn;
            Arc::clone(vector)
        })
    }

    fn keep(&mut self, text: &str, vector: Arc<Vec<f32>>) {
        if self.kept.len() >= EMBED_QUERIES_KEPT_MAX
            && let Some(oldest) = self.kept.iter().min_by_key(|(_, (used, _))| *used).map(|(text, _)| text.clone())
        {
            self.kept.remove(&oldest);
        }
        self.kept.insert(text.to_owned(), (self.turn, vector));
    }

    fn resting(&self) -> Option<String> {
        self.rests.as_ref().filter(|(until, _)| Instant::now() < *until).map(|(_, why)| why.clone())
    }

    fn failed(&mut self, why: &str) {
        let rest_ms = (EMBED_BACKOFF_MS_MIN << self.failures.min(16)).min(EMBED_QUERY_REST_MS);
        self.failures = self.failures.saturating_add(1);
        self.rests = Some((Instant::now() + Duration::from_millis(rest_ms), why.to_owned()));
    }

    /// The model answers.
    pub(super) fn went_well(&mut self) {
        (self.failures, self.rests) = (0, None);
    }

    /// The model is another one.
    pub(super) fn forget(&mut self) {
        *self = Queries::default();
    }
}

impl ModelLeg {
    async fn ask(&self, text: &str) -> Result<Option<Arc<Vec<f32>>>, String> {
        let Some(dimension) = self.known.read().as_ref().map(|known| known.dim) else { return Ok(None) };
        {
            let mut queries = self.queries.lock();
            if let Some(vector) = queries.find(text) {
                return Ok(Some(vector));
            }
            if let Some(why) = queries.resting() {
                return Err(why);
            }
        }
        let texts = [text.chars().take(EMBED_TEXT_CHARS_MAX).collect::<String>()];
        let limit = Duration::from_millis(EMBED_QUERY_MS_MAX);
        let made = match timeout(limit, self.embedder.embed(TextSide::Query, &texts)).await {
            Err(_) => Err(format!("no vector within {EMBED_QUERY_MS_MAX} ms")),
            Ok(Err(error)) => Err(error.to_string()),
            Ok(Ok(vectors)) => {
                vectors.into_iter().next().ok_or("no vector".to_owned()).and_then(|vector| checked(vector, dimension))
            }
        };
        let mut queries = self.queries.lock();
        match made {
            Ok(vector) => {
                let vector = Arc::new(vector);
                queries.went_well();
                queries.keep(text, Arc::clone(&vector));
                Ok(Some(vector))
            }
            Err(why) => {
                queries.failed(&why);
                Err(why)
            }
        }
    }
}

impl Memory {
    /// The vector of a query by the model beside the built-in table, where there is one and it answers in time.
    pub(in crate::memory) async fn ask_model(&self, text: &str) -> Asked {
        if text.is_empty() {
            return Asked::default();
        }
        let Chosen { choice, leg } = self.inner.chosen.read().clone();
        if let ModelChoice::Broken(why) = choice {
            let degraded = Some(format!("the embedder cannot be used ({why}): words and the built-in table serve"));
            return Asked { vector: None, degraded };
        }
        let Some(leg) = leg else { return Asked::default() };
        let id = leg.embedder.id();
        match leg.ask(text).await {
            Ok(Some(vector)) => {
                let caught_up = leg.standing.lock().caught_up;
                let partly = (!caught_up).then(|| {
                    let (done, total) = (self.index().model_vectors(), self.index().standing(None).documents);
                    format!("{done} of {total} have their vectors of {id}: the built-in table's serve the others")
                });
                Asked { vector: Some(vector), degraded: partly }
            }
            Ok(None) => {
                let trouble = leg.standing.lock().trouble.clone();
                let why = trouble.map_or_else(|| "is being set up".to_owned(), |trouble| format!("does not answer ({trouble})"));
                Asked { vector: None, degraded: Some(format!("the embedder {id} {why}: words and the built-in table serve")) }
            }
            Err(why) => {
                let degraded = Some(format!("the embedder {id} does not answer ({why}): words and the built-in table serve"));
                Asked { vector: None, degraded }
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn as_many_queries_are_kept_as_the_limit_says_and_the_oldest_goes() {
        let mut queries = Queries::default();
        let vector = Arc::new(vec![1.0]);
        queries.keep("first", Arc::clone(&vector));
        for n in 0..EMBED_QUERIES_KEPT_MAX - 1 {
            queries.find("first");
            queries.keep(&n.to_string(), Arc::clone(&vector));
        }
        queries.find("first");
        queries.keep("one more", vector);
        assert_eq!(queries.kept.len(), EMBED_QUERIES_KEPT_MAX);
        assert!(queries.find("first").is_some() && queries.find("one more").is_some() && queries.find("0").is_none());
    }

    // M28
    #[test]
    fn a_failure_is_followed_by_a_rest_that_grows_and_ends_with_a_success() {
        let mut queries = Queries::default();
        assert_eq!(queries.resting(), None);
        let rest = |queries: &Queries| queries.rests.as_ref().unwrap().0 - Instant::now();
        queries.failed("down");
        assert_eq!(queries.resting().as_deref(), Some("down"));
        assert!(rest(&queries) <= Duration::from_millis(EMBED_BACKOFF_MS_MIN));
        for _ in 0..20 {
            queries.failed("down");
        }
        assert!(rest(&queries) <= Duration::from_millis(EMBED_QUERY_REST_MS));
        assert!(rest(&queries) > Duration::from_millis(EMBED_QUERY_REST_MS / 2));
        queries.went_well();
        assert_eq!(queries.resting(), None);
    }
}
