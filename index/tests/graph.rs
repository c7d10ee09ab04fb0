//! The approximate graph behind the planner, its threshold set low: held against the exact scan, through changes and restarts.
#![allow(clippy::unwrap_used)]

mod double;

use double::Store;
use std::collections::HashSet;
use tiro_index::{Index, Mode, ServedBy, Settings};

const WAIT_MS: u64 = 120_000;
const WORDS: [&str; 24] = [
    "river", "invoice", "garden", "doctor", "kernel", "winter", "guitar", "market", "bridge", "letter", "engine", "coffee",
    "mountain", "ticket", "window", "planet", "school", "forest", "camera", "bottle", "island", "pencil", "shadow", "harbour",
];

fn text(i: usize) -> String {
    let word = |shift: usize| WORDS[(i * 7919 + i / 3 * shift) % WORDS.len()];
    format!("{} {} {} and {} number {i}", word(31), word(17), word(5), word(11))
}

fn settings() -> Settings {
    Settings { direct_documents_max: 0, graph_vectors_min: 500, batch_interval_ms: 10, ..Settings::default() }
}

/// Mean share of the exact ten best that are found.
fn recall(store: &Store, index: &Index, served: ServedBy) -> f64 {
    let mut shares = Vec::new();
    for i in 0..40 {
        let query = format!("{} and {}", WORDS[i % WORDS.len()], WORDS[(i * 5 + 3) % WORDS.len()]);
        let found = store.ask(index, &query, Mode::Vector, Some(0.0));
        assert_eq!(found.served_by, [served]);
        let query = store.vector(&query).unwrap();
        let mut exact: Vec<(u64, f32)> = {
            let documents = store.documents.lock();
            let cosine = |v: &Vec<f32>| v.iter().zip(&query).map(|(a, b)| a * b).sum::<f32>();
            documents.values().filter_map(|d| Some((d.key, cosine(d.vector.as_ref()?)))).collect()
        };
        exact.sort_by(|a, b| b.1.total_cmp(&a.1));
        let best: HashSet<u64> = exact[..10].iter().map(|e| e.0).collect();
        // Equal cosines may stand in for each other.
        let last = exact[9].1;
        let hits = found.hits.iter().filter(|hit| best.contains(&hit.key) || hit.features.cosine.unwrap() >= last - 1e-4).count();
        shares.push(hits as f64 / 10.0);
    }
    shares.iter().sum::<f64>() / shares.len() as f64
}

// STORE-1, MEM-12, M14
#[test]
fn the_graph_finds_what_the_scan_finds_through_changes_and_restarts() {
    let mut store = Store::new(settings());
    let dir = tempfile::tempdir().unwrap();
    let (index, _) = store.start(dir.path());
    index.apply((0..400).map(|i| store.add(1, &text(i))).collect());
    assert_eq!(recall(&store, &index, ServedBy::Exact), 1.0);
    index.apply((400..2_000).map(|i| store.add(1, &text(i))).collect());
    assert!(index.wait_for_graphs(WAIT_MS));
    assert_eq!(index.stats().graphs, 1);
    assert!(recall(&store, &index, ServedBy::Hnsw) >= 0.95);

    // What comes and goes afterwards is right at once.
    index.apply(vec![store.add(1, "a submarine of sandwiches")]);
    let newest = store.seq;
    assert_eq!(store.ask(&index, "submarine sandwiches", Mode::Vector, Some(0.0)).hits[0].key, newest);
    let gone: Vec<_> = (1..=900).map(|key| store.remove(key)).collect();
    index.apply(gone);
    assert!(recall(&store, &index, ServedBy::Hnsw) >= 0.95);
    assert!(index.wait_for_graphs(WAIT_MS));
    assert!(recall(&store, &index, ServedBy::Hnsw) >= 0.95, "rebuilt without the dead");
    index.close().unwrap();
    drop(index);

    let (index, notes) = store.start(dir.path());
    assert_eq!(notes, Vec::<String>::new());
    assert!(index.wait_for_graphs(WAIT_MS));
    assert!(recall(&store, &index, ServedBy::Hnsw) >= 0.95, "read back");
    assert_eq!(store.ask(&index, "submarine sandwiches", Mode::Vector, Some(0.0)).hits[0].key, newest);
}

// M26
#[test]
fn clones_hide_nothing_from_the_graph() {
    let mut store = Store::new(settings());
    let dir = tempfile::tempdir().unwrap();
    let (index, _) = store.start(dir.path());
    index.apply((0..500).map(|_| store.add(1, "The same text, again and again")).collect());
    index.apply((0..500).map(|i| store.add(1, &text(i))).collect());
    assert!(index.wait_for_graphs(WAIT_MS));
    for i in 0..500 {
        let found = store.ask(&index, &text(i), Mode::Vector, Some(0.0));
        let own = store.documents.lock()[&(501 + i as u64)].vector.clone().unwrap();
        let query = store.vector(&text(i)).unwrap();
        let cosine: f32 = own.iter().zip(&query).map(|(a, b)| a * b).sum();
        assert!(found.hits[0].features.cosine.unwrap() >= cosine - 1e-4, "{i}: {:?}", found.hits[0]);
    }
}
