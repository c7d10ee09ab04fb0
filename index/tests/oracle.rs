//! Searches equal a naive oracle that keeps whole documents in a map, whatever was put in, changed, taken out and flushed before.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use tiro_index::embed::ZScale;
use tiro_index::tokenize::{TokenCounts, count_tokens, query_tokens};
use tiro_index::{Change, Document, Filter, Identity, Index, Mode, Query, Settings, Status, prepare};

const DIM: usize = 4;
const WORDS: [&str; 14] = [
    "alpha",
    "beta",
    "gamma",
    "delta",
    "REQ-2041",
    "snake_case",
    "云",
    "腾讯云",
    "部署",
    "C++",
    "run",
    "running",
    "the",
    "node7",
];

#[derive(Debug, Clone)]
enum Step {
    Put {
        key: u64,
        space: u32,
        status: u8,
        kind: u8,
        tag: u8,
        time: i64,
        words: Vec<usize>,
        vector: Option<[i8; DIM]>,
    },
    Remove {
        key: u64,
    },
    Flush,
    Snapshot,
    Reopen,
    Search {
        words: Vec<usize>,
        vector: [i8; DIM],
        spaces: Vec<u32>,
        statuses: Vec<u8>,
        kind: Option<u8>,
        tag: Option<u8>,
        after: Option<i64>,
    },
}

fn words() -> impl Strategy<Value = Vec<usize>> {
    proptest::collection::vec(0..WORDS.len(), 0..9)
}

fn vector() -> impl Strategy<Value = [i8; DIM]> {
    proptest::array::uniform4(any::<i8>())
}

fn step() -> impl Strategy<Value = Step> {
    let key = 1..25_u64;
    let put = (
        key.clone(),
        0..2_u32,
        prop_oneof![6 => Just(0_u8), 1 => Just(1), 1 => Just(2)],
        0..3_u8,
        0..3_u8,
        0..5_i64,
        words(),
        proptest::option::of(vector()),
    )
        .prop_map(|(key, space, status, kind, tag, time, words, vector)| Step::Put {
            key,
            space,
            status,
            kind,
            tag,
            time,
            words,
            vector,
        });
    let search = (
        words(),
        vector(),
        prop_oneof![Just(vec![0]), Just(vec![1]), Just(vec![0, 1, 9]), Just(vec![])],
        prop_oneof![3 => Just(vec![]), 1 => Just(vec![0, 1]), 1 => Just(vec![2])],
        proptest::option::weighted(0.3, 0..3_u8),
        proptest::option::weighted(0.3, 0..3_u8),
        proptest::option::weighted(0.3, 0..5_i64),
    )
        .prop_map(|(words, vector, spaces, statuses, kind, tag, after)| Step::Search {
            words,
            vector,
            spaces,
            statuses,
            kind,
            tag,
            after,
        });
    prop_oneof![
        24 => put,
        5 => key.prop_map(|key| Step::Remove { key }),
        2 => Just(Step::Flush),
        1 => Just(Step::Snapshot),
        1 => Just(Step::Reopen),
        12 => search,
    ]
}

fn unit(raw: [i8; DIM]) -> Option<Vec<f32>> {
    let norm = raw.iter().map(|&x| f32::from(x) * f32::from(x)).sum::<f32>().sqrt();
    (norm > 0.0).then(|| raw.iter().map(|&x| f32::from(x) / norm).collect())
}

fn text(words: &[usize]) -> String {
    words.iter().map(|&word| WORDS[word]).collect::<Vec<_>>().join(" ")
}

#[derive(Default)]
struct Oracle {
    documents: BTreeMap<u64, Document>,
}

struct Expected {
    key: u64,
    lexical: f64,
    cosine: Option<f64>,
}

impl Oracle {
    fn search(&self, words: &[usize], vector: Option<&[f32]>, spaces: &[u32], filter: &Filter) -> Vec<Expected> {
        let query: Vec<(u32, f64)> = query_tokens(&text(words)).iter().map(|token| (token.id, f64::from(token.weight))).collect();
        let mut out = Vec::new();
        for &space in spaces {
            let counted: HashMap<u64, TokenCounts> = self
                .documents
                .values()
                .filter(|d| d.space == space && d.status == Status::Active)
                .map(|d| (d.key, count_tokens(&searched(d))))
                .collect();
            let total = counted.len() as f64;
            let mean = (counted.values().map(|c| f64::from(c.length)).sum::<f64>() / total.max(1.0)).max(1.0);
            let idf = |&(token, weight): &(u32, f64)| {
                let frequency = counted.values().filter(|c| c.tokens.contains(&token)).count() as f64;
                (1.0 + (total - frequency + 0.5) / (frequency + 0.5)).ln() * weight
            };
            let ideal: f64 = query.iter().map(|token| idf(token) * 1.9).sum();
            for document in self.documents.values().filter(|d| d.space == space && admits(filter, d)) {
                let own = count_tokens(&searched(document));
                let norm = 0.9 * (0.15 + 0.85 * (f64::from(own.length) + 30.0) / (mean + 30.0));
                let score: f64 = query
                    .iter()
                    .filter_map(|token| {
                        let count = f64::from(own.counts[own.tokens.binary_search(&token.0).ok()?]);
                        Some(idf(token) * count * 1.9 / (count + norm))
                    })
                    .sum();
                let cosine = vector
                    .zip(document.vector.as_ref())
                    .map(|(a, b)| a.iter().zip(b).map(|(x, y)| f64::from(x * y)).sum::<f64>());
                if score > 0.0 || cosine.is_some() {
                    out.push(Expected { key: document.key, lexical: if ideal > 0.0 { score / ideal } else { 0.0 }, cosine });
                }
            }
        }
        out
    }
}

/// What a document is found by: its labels, and its text.
fn searched(d: &Document) -> String {
    format!("{}\n{}", d.tags.join("\n"), d.text)
}

fn admits(filter: &Filter, d: &Document) -> bool {
    (if filter.statuses.is_empty() { d.status == Status::Active } else { filter.statuses.contains(&d.status) })
        && (filter.kinds.is_empty() || filter.kinds.contains(&d.kind))
        && (filter.tags.is_empty() || filter.tags.iter().any(|tag| d.tags.contains(tag)))
        && filter.after_ms.is_none_or(|after| d.occurred_at_ms.unwrap_or(d.created_at_ms) >= after)
}

struct Subject {
    dir: tempfile::TempDir,
    settings: Settings,
    index: Option<Index>,
    oracle: Arc<parking_lot::Mutex<Oracle>>,
    seq: u64,
}

impl Subject {
    fn new(settings: Settings) -> Self {
        let settings = Settings { batch_interval_ms: 60_000, batch_documents: 7, snapshot_changes_min: 10, ..settings };
        let mut subject = Self { dir: tempfile::tempdir().unwrap(), settings, index: None, oracle: Arc::default(), seq: 0 };
        subject.open();
        subject
    }

    fn index(&self) -> &Index {
        self.index.as_ref().unwrap()
    }

    fn open(&mut self) {
        self.index = None;
        let identity = Identity { store_id: [1; 16], epoch: 1, model_id: "test".into(), dim: DIM };
        let calibration = Arc::new(|_: &[f32]| ZScale { mean: 0.0, sd: 1.0 });
        let opened = Index::open(self.dir.path(), identity, self.settings.clone(), self.seq, calibration).unwrap();
        assert!(opened.rebuilt.is_empty(), "{:?}", opened.rebuilt);
        // The store's outbox: here simply every document that is newer, and every key that is gone.
        let oracle = self.oracle.lock();
        let gone = (1..25).filter(|key| !oracle.documents.contains_key(key)).map(|key| Change::Remove { key, seq: self.seq });
        let newer = oracle.documents.values().filter(|d| d.seq > opened.watermark).map(|d| Change::Upsert(prepare(d.clone())));
        opened.index.apply(gone.chain(newer).collect());
        drop(oracle);
        assert_eq!(opened.index.loaded(self.seq), Vec::<String>::new());
        self.index = Some(opened.index);
    }

    fn run(&mut self, step: Step) {
        match step {
            Step::Put { key, space, status, kind, tag, time, words, vector } => {
                self.seq += 1;
                let document = Document {
                    key,
                    seq: self.seq,
                    space,
                    status: Status::from_code(status).unwrap(),
                    kind,
                    tags: vec![format!("tag{tag}")],
                    created_at_ms: time,
                    text: text(&words),
                    vector: vector.and_then(unit),
                    ..Document::default()
                };
                self.oracle.lock().documents.insert(key, document.clone());
                self.index().apply(vec![Change::Upsert(prepare(document))]);
            }
            Step::Remove { key } => {
                self.seq += 1;
                self.oracle.lock().documents.remove(&key);
                self.index().apply(vec![Change::Remove { key, seq: self.seq }]);
            }
            Step::Flush => {
                self.index().flush().unwrap();
                let stats = self.index().stats();
                assert_eq!((stats.overlay, stats.lexical_documents), (0, stats.documents as u64));
            }
            Step::Snapshot => self.index().snapshot().unwrap(),
            Step::Reopen => self.open(),
            Step::Search { words, vector, spaces, statuses, kind, tag, after } => {
                let filter = Filter {
                    statuses: statuses.into_iter().map(|code| Status::from_code(code).unwrap()).collect(),
                    kinds: kind.into_iter().collect(),
                    tags: tag.map(|tag| format!("tag{tag}")).into_iter().collect(),
                    after_ms: after,
                    ..Filter::default()
                };
                self.search(&words, unit(vector), &spaces, &filter);
            }
        }
    }

    fn search(&self, words: &[usize], vector: Option<Vec<f32>>, spaces: &[u32], filter: &Filter) {
        let text = text(words);
        for mode in [Mode::Hybrid, Mode::Lexical, Mode::Vector] {
            let query = Query {
                text: &text,
                vector: vector.as_deref(),
                spaces: spaces.to_vec(),
                filter: filter.clone(),
                mode,
                limit: 100,
                threshold: Some(0.0),
                ..Query::default()
            };
            let result = self.index().search(&query);
            let used = if mode == Mode::Lexical { None } else { vector.as_deref() };
            let mut expected = self.oracle.lock().search(if mode == Mode::Vector { &[] } else { words }, used, spaces, filter);
            expected.sort_by_key(|e| e.key);
            let mut got = result.hits.clone();
            assert!(got.windows(2).all(|w| w[0].score >= w[1].score), "order");
            got.sort_by_key(|hit| hit.key);
            assert_eq!(
                got.iter().map(|hit| hit.key).collect::<Vec<_>>(),
                expected.iter().map(|e| e.key).collect::<Vec<_>>(),
                "{mode:?} {text}"
            );
            for (hit, expected) in got.iter().zip(&expected) {
                if mode != Mode::Vector {
                    assert!((f64::from(hit.features.lexical) - expected.lexical).abs() < 1e-4, "{hit:?} {}", expected.lexical);
                }
                let near = match (hit.features.cosine, expected.cosine) {
                    (Some(a), Some(b)) => (f64::from(a) - b).abs() < 1e-5,
                    (None, None) => true,
                    _ => false,
                };
                assert!(near, "{hit:?} {:?}", expected.cosine);
            }
            assert_eq!(result.degraded, None);
        }
        assert_eq!(self.index().verify(), Vec::<String>::new());
    }
}

fn check(steps: Vec<Step>, settings: Settings) {
    let mut subject = Subject::new(settings);
    for step in steps {
        subject.run(step);
    }
    subject.index().flush().unwrap();
    subject.search(&[0, 4, 7, 12], unit([1, 2, 3, 4]), &[0, 1], &Filter::default());
    subject.index().close().unwrap();
    subject.open();
    subject.search(&[0, 4, 7, 12], unit([1, 2, 3, 4]), &[0, 1], &Filter::default());
    for space in [0, 1] {
        let held: Vec<u64> = subject.index().held(space).into_iter().map(|(key, _)| key).collect();
        let expected: Vec<u64> = subject.oracle.lock().documents.values().filter(|d| d.space == space).map(|d| d.key).collect();
        assert_eq!(held, expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 200, ..ProptestConfig::default() })]

    // MEM-3, MEM-6, MEM-12, STORE-1, M14, M16, M25
    #[test]
    fn searches_through_the_full_text_index_equal_the_oracle(steps in proptest::collection::vec(step(), 1..70)) {
        check(steps, Settings { direct_documents_max: 0, ..Settings::default() });
    }

    #[test]
    fn searches_from_memory_equal_the_oracle(steps in proptest::collection::vec(step(), 1..70)) {
        check(steps, Settings::default());
    }

    // With so few vectors the graph finds them all: its answers equal the exact ones.
    #[test]
    fn searches_by_the_graph_equal_the_oracle(steps in proptest::collection::vec(step(), 30..90)) {
        check(steps, Settings { direct_documents_max: 0, graph_vectors_min: 4, ..Settings::default() });
    }
}
