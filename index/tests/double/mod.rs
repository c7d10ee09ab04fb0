//! A store double: documents in a map, and an index over them that is opened, replayed and asked as the daemon does it.
//! It must not know what a test is about.
#![allow(clippy::unwrap_used, dead_code)]

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use tiro_index::embed::{Embedder, PassageKind, Role, StaticTable};
use tiro_index::{Change, Document, Identity, Index, Mode, Query, SearchResult, Settings, prepare};

/// Documents, the truth.
pub struct Store {
    pub documents: Arc<Mutex<BTreeMap<u64, Document>>>,
    pub gone: Vec<(u64, u64)>,
    pub seq: u64,
    pub id: [u8; 16],
    pub settings: Settings,
    table: Arc<StaticTable>,
}

/// Settings under which the full-text index serves even small spaces, and commits only when asked.
pub fn full_text_settings() -> Settings {
    Settings { direct_documents_max: 0, batch_interval_ms: 600_000, batch_documents: 1_000_000, ..Settings::default() }
}

impl Store {
    pub fn new(settings: Settings) -> Self {
        Self {
            documents: Arc::default(),
            gone: Vec::new(),
            seq: 0,
            id: [1; 16],
            settings,
            table: Arc::new(StaticTable::new().unwrap()),
        }
    }

    /// Adds a document and gives its key; the caller applies the change.
    pub fn add(&mut self, space: u32, text: &str) -> Change {
        self.seq += 1;
        let vector = self.table.embed(Role::Passage(PassageKind::Fact), text);
        let document = Document {
            key: self.seq,
            seq: self.seq,
            space,
            created_at_ms: self.seq as i64,
            text: text.to_owned(),
            vector,
            ..Document::default()
        };
        self.put(document)
    }

    pub fn put(&mut self, document: Document) -> Change {
        self.documents.lock().insert(document.key, document.clone());
        Change::Upsert(prepare(document))
    }

    pub fn remove(&mut self, key: u64) -> Change {
        self.seq += 1;
        self.documents.lock().remove(&key);
        self.gone.push((key, self.seq));
        Change::Remove { key, seq: self.seq }
    }

    pub fn vector(&self, text: &str) -> Option<Vec<f32>> {
        self.table.embed(Role::Query, text)
    }

    /// Opens the index without feeding it.
    pub fn open(&self, dir: &Path) -> tiro_index::Opened {
        let identity =
            Identity { store_id: self.id, epoch: 1, model_id: self.table.model_id().to_owned(), dim: self.table.dimension() };
        let table = Arc::clone(&self.table);
        Index::open(dir, identity, self.settings.clone(), self.seq, Arc::new(move |q: &[f32]| table.background().z(q))).unwrap()
    }

    /// Opens the index and brings it up to date; also what it had to rebuild.
    pub fn start(&self, dir: &Path) -> (Index, Vec<String>) {
        let opened = self.open(dir);
        let mut notes = opened.rebuilt;
        self.feed(&opened.index, opened.watermark);
        notes.extend(opened.index.loaded(self.seq));
        (opened.index, notes)
    }

    pub fn feed(&self, index: &Index, after: u64) {
        let mut changes: Vec<Change> =
            self.documents.lock().values().filter(|d| d.seq > after).map(|d| Change::Upsert(prepare(d.clone()))).collect();
        changes.extend(self.gone.iter().filter(|gone| gone.1 > after).map(|&(key, seq)| Change::Remove { key, seq }));
        changes.sort_by_key(Change::seq);
        index.apply(changes);
    }

    /// Searches space 1.
    pub fn ask(&self, index: &Index, text: &str, mode: Mode, threshold: Option<f32>) -> SearchResult {
        let vector = self.vector(text);
        index.search(&Query { text, vector: vector.as_deref(), spaces: vec![1], mode, limit: 10, threshold, ..Query::default() })
    }

    /// Texts found in space 1, best first.
    pub fn texts(&self, index: &Index, text: &str, mode: Mode, threshold: Option<f32>) -> Vec<String> {
        let found = self.ask(index, text, mode, threshold);
        found.hits.iter().map(|hit| self.documents.lock()[&hit.key].text.clone()).collect()
    }
}
