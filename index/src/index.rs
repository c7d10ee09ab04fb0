//! The index as the daemon sees it. First form: every search reads every document. It must not know the store.

use crate::document::{Change, Prepared, Status};
use crate::error::Result;
use crate::query::{Filter, Query};
use crate::result::{Features, Hit, SearchResult, ServedBy, Strength};
use crate::settings::{Calibration, Identity, Settings, VectorSource};
use crate::tokenize::count_tokens;
use parking_lot::RwLock;
use std::collections::HashMap;
use std::path::Path;

/// The search index of one store. All methods take `&self` and may be called from any thread; searches hold a read lock for
/// their whole length, so what they see is one state.
pub struct Index {
    settings: Settings,
    vectors: VectorSource,
    calibration: Calibration,
    state: RwLock<State>,
}

#[derive(Default)]
struct State {
    documents: HashMap<u64, Prepared>,
    seq: u64,
}

/// An index just opened, and how much of the store it already holds.
pub struct Opened {
    /// The index.
    pub index: Index,
    /// Changes up to this store sequence are in memory: replay what comes after it. 0 means nothing is: feed every document.
    pub watermark: u64,
    /// What was found damaged, foreign or stale and is being rebuilt, in words for the log.
    pub rebuilt: Vec<String>,
}

/// Counts and sizes of the index.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stats {
    /// Documents held, of any status.
    pub documents: usize,
    /// Documents of status active.
    pub active: usize,
    /// Documents with a vector.
    pub vectors: usize,
    /// Documents the full-text index does not hold yet.
    pub overlay: usize,
    /// Store sequence in memory.
    pub seq: u64,
    /// Store sequence up to which the full-text index holds everything.
    pub lexical_seq: u64,
    /// Store sequence of the newest snapshot, 0 when there is none.
    pub snapshot_seq: u64,
    /// Bytes of memory held, estimated.
    pub memory_bytes: usize,
    /// Bytes on disk.
    pub disk_bytes: u64,
    /// Whether every document given before `loaded` is there.
    pub loaded: bool,
    /// Why searches are less than whole or slower than usual, where they are.
    pub degraded: Option<String>,
}

impl Index {
    /// Opens the index in `dir` (made if missing). `store_seq` is the store's present sequence: an index that claims to be ahead
    /// of it belongs to another past and is rebuilt. What is damaged, foreign or stale is removed and rebuilt; that is no error.
    pub fn open(
        _dir: &Path,
        _identity: Identity,
        settings: Settings,
        store_seq: u64,
        vectors: VectorSource,
        calibration: Calibration,
    ) -> Result<Opened> {
        let _ = store_seq;
        let index = Index { settings, vectors, calibration, state: RwLock::default() };
        Ok(Opened { index, watermark: 0, rebuilt: Vec::new() })
    }

    /// Says that every change of the store up to `seq` has been applied; to be called once, after the replay that follows `open`.
    pub fn loaded(&self, seq: u64) {
        let mut state = self.state.write();
        state.seq = state.seq.max(seq);
    }

    /// Applies changes in the order of their sequences. Visible to every search that starts after it returns. A change that is
    /// not newer than what is held for its key is passed over, so a replay may repeat.
    pub fn apply(&self, changes: Vec<Change>) {
        let mut state = self.state.write();
        for change in changes {
            state.seq = state.seq.max(change.seq());
            match change {
                Change::Upsert(p) => {
                    if state.documents.get(&p.key()).is_none_or(|old| old.seq() < p.seq()) {
                        state.documents.insert(p.key(), p);
                    }
                }
                Change::Remove { key, seq } => {
                    if state.documents.get(&key).is_some_and(|old| old.seq() <= seq) {
                        state.documents.remove(&key);
                    }
                }
            }
        }
    }

    /// Notes that a document was used: decay counts from then, and slower.
    pub fn touch(&self, key: u64, last_used_at_ms: i64, use_count: u32) {
        if let Some(p) = self.state.write().documents.get_mut(&key) {
            p.document.last_used_at_ms = Some(last_used_at_ms);
            p.document.use_count = use_count;
        }
    }

    /// Searches. Never fails: what cannot be served is said in `degraded`.
    pub fn search(&self, query: &Query<'_>) -> SearchResult {
        let tokens = count_tokens(query.text);
        let scale = query.vector.map(|v| (self.calibration)(v));
        let state = self.state.read();
        let pool: Vec<&Prepared> =
            state.documents.values().filter(|p| query.spaces.contains(&p.document.space) && matches(&query.filter, p)).collect();
        let (w, n) = (self.settings.lexical_weight, tokens.tokens.len().max(1) as f32);
        let mut hits: Vec<Hit> = pool
            .iter()
            .filter_map(|p| {
                let found = tokens.tokens.iter().filter(|t| p.tokens.tokens.binary_search(t).is_ok()).count();
                let lexical = found as f32 / n;
                let cosine = match (query.vector, &p.document.vector) {
                    (Some(q), Some(d)) => Some(q.iter().zip(d).map(|(a, b)| a * b).sum::<f32>()),
                    _ => None,
                };
                let z = cosine.zip(scale).map(|(c, s)| s.z(c));
                let relevance = 1.0 / (1.0 + (-(6.0 * (w * lexical + (1.0 - w) * cosine.unwrap_or(0.0)) - 2.0)).exp());
                let kept = lexical > 0.0 || z.is_some_and(|z| z >= 1.5) || query.threshold == Some(0.0);
                kept.then(|| Hit {
                    key: p.key(),
                    seq: p.seq(),
                    space: p.document.space,
                    score: relevance,
                    strength: Strength::Good,
                    features: Features {
                        lexical,
                        bm25: lexical * n,
                        ideal: n,
                        cosine,
                        z,
                        relevance,
                        decay: 1.0,
                        ..Features::default()
                    },
                })
            })
            .collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.key.cmp(&a.key)));
        hits.truncate(query.limit);
        for (i, hit) in hits.iter_mut().enumerate() {
            hit.features.rank_without_decay = i as u32 + 1;
        }
        let _ = &self.vectors;
        SearchResult { hits, below_threshold: 0, served_by: vec![ServedBy::Forward], degraded: None, seq: state.seq }
    }

    /// Waits until the full-text index holds every change applied so far.
    pub fn flush(&self) -> Result<()> {
        Ok(())
    }

    /// Writes a snapshot now.
    pub fn snapshot(&self) -> Result<()> {
        Ok(())
    }

    /// Clean stop: flush, snapshot, end of the background thread. Searches still work afterwards; changes no longer reach the disk.
    pub fn close(&self) -> Result<()> {
        Ok(())
    }

    /// Counts and sizes.
    pub fn stats(&self) -> Stats {
        let state = self.state.read();
        Stats {
            documents: state.documents.len(),
            active: state.documents.values().filter(|p| p.document.status == Status::Active).count(),
            seq: state.seq,
            loaded: true,
            ..Stats::default()
        }
    }

    /// Every `(key, seq)` held in a space, of any status, by key: what `store/verify` compares with the store.
    pub fn held(&self, space: u32) -> Vec<(u64, u64)> {
        let state = self.state.read();
        let mut keys: Vec<_> =
            state.documents.values().filter(|p| p.document.space == space).map(|p| (p.key(), p.seq())).collect();
        keys.sort_unstable();
        keys
    }
}

fn matches(filter: &Filter, p: &Prepared) -> bool {
    let d = &p.document;
    let any = |want: &[String], have: &[String]| want.is_empty() || want.iter().any(|w| have.contains(w));
    let when = d.occurred_at_ms.unwrap_or(d.created_at_ms);
    (if filter.statuses.is_empty() { d.status == Status::Active } else { filter.statuses.contains(&d.status) })
        && (filter.kinds.is_empty() || filter.kinds.contains(&d.kind))
        && (filter.categories.is_empty() || filter.categories.contains(&d.category))
        && any(&filter.tags, &d.tags)
        && any(&filter.entities, &d.entities)
        && any(&filter.speakers, &d.speakers)
        && filter.session.as_ref().is_none_or(|s| d.session.as_ref() == Some(s))
        && filter.after_ms.is_none_or(|t| when >= t)
        && filter.before_ms.is_none_or(|t| when < t)
}
