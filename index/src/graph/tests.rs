//! The graph held against the exact scan, against clones, concurrent use, and damaged snapshots.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::*;
use crate::embed::{Embedder, PassageKind, Role, StaticTable};
use crate::vector::{Block, VectorError};

const DIMENSION: usize = 192;

/// Vectors of texts put together from the words of the background sample. A fact is nearest to itself; beside a turn, whose norm is
/// below 1, a longer one may win.
fn table_vectors(kind: PassageKind, count: usize) -> (StaticTable, Vec<Vec<f32>>) {
    let table = StaticTable::new().unwrap();
    let words: Vec<&str> = include_str!("../../data/background.txt").split_inclusive([' ', '，', '。', '\n']).collect();
    let (mut seed, mut vectors) = (7_u64, Vec::with_capacity(count));
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize
    };
    while vectors.len() < count {
        let text: String = (0..4 + random() % 20).map(|_| words[random() % words.len()]).collect();
        vectors.extend(table.embed(Role::Passage(kind), &text));
    }
    (table, vectors)
}

fn block(vectors: &[Vec<f32>]) -> Block {
    let mut block = Block::new(DIMENSION);
    vectors.iter().enumerate().for_each(|(slot, vector)| block.put(slot as u32, vector).unwrap());
    block
}

fn built(block: &Block) -> Graph {
    GraphBuilder::start(block.clone(), 1, || {}).unwrap().finish().unwrap().unwrap()
}

fn unit(vector: &[f32]) -> Vec<f32> {
    let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.iter().map(|x| x / norm).collect()
}

/// Share of the exact top ten that the graph finds.
fn recall(table: &StaticTable, graph: &Graph, block: &Block, eligible: impl Fn(u32) -> bool + Copy) -> f64 {
    let (mut found, mut wanted) = (0, 0);
    for text in include_str!("../../data/background.txt").lines().step_by(4) {
        let query = table.embed(Role::Query, text).unwrap();
        let exact = block.scan(&query, 10, eligible);
        let near = graph.search(&query, 10, 128, eligible).unwrap();
        assert_eq!(near.len(), exact.len());
        assert!(near.iter().all(|&(slot, _)| eligible(slot)));
        wanted += exact.len();
        // By score, as clones and ties may stand in another order.
        let bar = exact.last().unwrap().1 - 1e-4;
        found += near.iter().filter(|&&(_, cosine)| cosine >= bar).count();
    }
    found as f64 / wanted as f64
}

// STORE-1
#[test]
fn agrees_with_the_exact_scan_with_and_without_filter_and_tombstones() {
    let (table, vectors) = table_vectors(PassageKind::Turn, 2_000);
    let mut block = block(&vectors);
    let graph = built(&block);
    assert_eq!((graph.len(), graph.wants_rebuild()), (2_000, false));
    assert!(recall(&table, &graph, &block, |_| true) >= 0.95);
    assert!(recall(&table, &graph, &block, |slot| slot % 3 != 0) >= 0.95);
    for slot in (0..2_000).step_by(4) {
        assert!(graph.remove(slot) && block.remove(slot));
    }
    assert!(graph.wants_rebuild());
    assert!(recall(&table, &graph, &block, |_| true) >= 0.95);
    // More dead than alive: what is left is found, and a graph built anew holds nothing else.
    for slot in (0..2_000).filter(|slot| slot % 4 == 1 || slot % 4 == 2) {
        assert!(graph.remove(slot) && block.remove(slot));
    }
    assert!(recall(&table, &graph, &block, |_| true) >= 0.95);
    let anew = built(&block);
    assert_eq!((graph.node_count(), anew.node_count(), anew.wants_rebuild()), (2_000, 500, false));
    assert!(recall(&table, &anew, &block, |_| true) >= 0.95);
}

#[test]
fn equal_input_gives_an_equal_graph() {
    let (table, vectors) = table_vectors(PassageKind::Turn, 400);
    let mut backwards = Block::new(DIMENSION);
    vectors.iter().enumerate().rev().for_each(|(slot, vector)| backwards.put(slot as u32, vector).unwrap());
    let (one, other) = (built(&block(&vectors)), built(&backwards));
    for text in ["when is the report due?", "我喜欢喝茶", "the dog"] {
        let query = table.embed(Role::Query, text).unwrap();
        assert_eq!(one.search(&query, 20, 32, |_| true), other.search(&query, 20, 32, |_| true));
    }
}

// M26
#[test]
fn what_comes_after_a_flood_of_clones_is_found_by_its_own_vector() {
    let (_, vectors) = table_vectors(PassageKind::Fact, 501);
    let graph = Graph::new(DIMENSION, 1_000);
    (0..500).for_each(|slot| graph.insert(slot, &vectors[500]).unwrap());
    (0..500_u32).for_each(|slot| graph.insert(500 + slot, &vectors[slot as usize]).unwrap());
    assert_eq!((graph.len(), graph.node_count()), (1_000, 501));
    for (slot, vector) in vectors.iter().take(500).enumerate() {
        let query = unit(vector);
        let found = graph.search(&query, 10, 64, |slot| slot >= 500).unwrap();
        assert!(found.iter().any(|&(near, _)| near == 500 + slot as u32), "{slot}");
    }
    let clones = graph.search(&unit(&vectors[500]), 500, 64, |_| true).unwrap();
    assert_eq!(clones.iter().filter(|&&(slot, _)| slot < 500).count(), 500);
}

// M14, M27
#[test]
fn odd_vectors_are_refused_and_removed_slots_never_found() {
    let (_, vectors) = table_vectors(PassageKind::Turn, 50);
    let graph = Graph::new(DIMENSION, 50);
    let query = unit(&vectors[0]);
    assert_eq!(graph.search(&query, 5, 32, |_| true), Ok(Vec::new()));
    for (bad, error) in [
        (vec![f32::NAN; DIMENSION], VectorError::NotFinite { at: 0 }),
        (vec![0.0; DIMENSION], VectorError::Zero),
        (vec![0.1; 3], VectorError::Dimension { expected: DIMENSION, got: 3 }),
    ] {
        assert_eq!(graph.insert(0, &bad), Err(error.into()));
        assert_eq!(graph.search(&bad, 5, 32, |_| true), Err(error.into()));
    }
    assert!(matches!(graph.insert(0, &vec![1.0; DIMENSION]), Err(GraphError::Vector(VectorError::Norm { .. }))));
    assert!(graph.is_empty());
    vectors.iter().enumerate().for_each(|(slot, vector)| graph.insert(slot as u32, vector).unwrap());
    assert!(graph.remove(0) && !graph.remove(0));
    assert!(graph.search(&query, 50, 64, |_| true).unwrap().iter().all(|&(slot, _)| slot != 0));
    graph.insert(1, &vectors[0]).unwrap(); // slot 1 takes over the dead node
    assert_eq!(graph.search(&query, 1, 64, |_| true).unwrap()[0].0, 1);
    assert_eq!((graph.len(), graph.node_count()), (49, 50));
}

#[test]
fn reconciling_makes_up_for_what_changed_meanwhile() {
    let (table, vectors) = table_vectors(PassageKind::Turn, 300);
    let old = block(&vectors[..200]);
    let graph = built(&old);
    let mut new = block(&vectors[50..]); // every slot has another vector, some slots are new
    new.remove(7);
    assert_eq!(graph.reconcile(&new), Ok(250));
    assert_eq!(graph.reconcile(&new), Ok(0));
    assert_eq!(graph.len(), new.len());
    assert!(recall(&table, &graph, &new, |_| true) >= 0.95);
    assert!(graph.reconcile(&Block::new(3)).is_err());
}

#[test]
fn a_build_can_be_cancelled_and_tells_its_progress() {
    let (_, vectors) = table_vectors(PassageKind::Turn, 2_000);
    let (ended, end) = std::sync::mpsc::channel();
    let builder = GraphBuilder::start(block(&vectors), 1, move || ended.send(()).unwrap()).unwrap();
    builder.cancel();
    end.recv_timeout(std::time::Duration::from_secs(30)).unwrap();
    let (done, total) = builder.progress();
    assert!(done < total && total == 2_000);
    assert!(builder.finish().unwrap().is_none());
}

// M24
#[test]
fn searches_go_on_beside_insertions_and_removals() {
    let (_, vectors) = table_vectors(PassageKind::Fact, 800);
    let graph = Graph::new(DIMENSION, 800);
    let writing = AtomicBool::new(true);
    thread::scope(|scope| {
        for reader in 0..2 {
            let (graph, vectors, writing) = (&graph, &vectors, &writing);
            scope.spawn(move || {
                let mut at = reader;
                while writing.load(Ordering::Relaxed) {
                    let found = graph.search(&unit(&vectors[at % 800]), 10, 32, |_| true).unwrap();
                    assert!(found.len() <= 10);
                    at += 7;
                }
            });
        }
        for (slot, vector) in vectors.iter().enumerate() {
            graph.insert(slot as u32, vector).unwrap();
            if slot % 5 == 4 {
                graph.remove(slot as u32 - 2);
            }
        }
        writing.store(false, Ordering::Relaxed);
    });
    let live = (0..800_u32).filter(|slot| slot % 5 != 2);
    let lost = live.filter(|&slot| {
        let found = graph.search(&unit(&vectors[slot as usize]), 3, 64, |_| true).unwrap();
        found.iter().all(|&(near, _)| near != slot)
    });
    assert_eq!(lost.count(), 0);
}

fn stamp(watermark: u64) -> GraphStamp {
    GraphStamp { identity: "store 1, personal, static-en-zh-192".into(), watermark }
}

fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert_eq!(files.len(), 4);
    files
}

// STORE-1, M30
#[test]
fn a_snapshot_comes_back_and_can_grow_and_be_written_again() {
    let (table, vectors) = table_vectors(PassageKind::Turn, 300);
    let block = block(&vectors);
    let partial_block = {
        let mut partial = block.clone();
        (200..300).for_each(|slot| assert!(partial.remove(slot)));
        partial
    };
    let graph = built(&partial_block);
    graph.remove(3);
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("graph-17");
    write_snapshot(&graph, &folder, &stamp(17)).unwrap();
    assert!(write_snapshot(&graph, &folder, &stamp(17)).is_err(), "a snapshot is never written over");
    let (back, watermark) = load_snapshot(&folder, &stamp(17).identity, DIMENSION).unwrap();
    assert_eq!((watermark, back.len(), back.node_count()), (17, 199, 200));
    let query = table.embed(Role::Query, "the report is late").unwrap();
    assert_eq!(back.search(&query, 20, 64, |_| true), graph.search(&query, 20, 64, |_| true));
    assert_eq!(back.reconcile(&block), Ok(101));
    assert!(recall(&table, &back, &block, |_| true) >= 0.95);
    let again = home.path().join("graph-18");
    write_snapshot(&back, &again, &stamp(18)).unwrap();
    assert_eq!(load_snapshot(&again, &stamp(18).identity, DIMENSION).unwrap().0.len(), 300);
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 2, "nothing partial stays");
    assert!(matches!(load_snapshot(&folder, "another store", DIMENSION), Err(SnapshotError::Foreign)));
    assert!(matches!(load_snapshot(&folder, &stamp(17).identity, 64), Err(SnapshotError::Foreign)));
    let empty = Graph::new(DIMENSION, 1);
    assert!(matches!(write_snapshot(&empty, &home.path().join("none"), &stamp(0)), Err(SnapshotError::Empty)));
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 2);
}

/// Each test of damage relies on this: were anything let through, `hnsw_rs` would panic, abort or exit, and the test run with it.
#[track_caller]
fn check_refused(folder: &Path, what: &str) {
    let error = load_snapshot(folder, &stamp(1).identity, DIMENSION).err();
    assert!(matches!(error, Some(SnapshotError::Damaged { .. } | SnapshotError::Io { .. })), "{what}: {error:?}");
}

// STORE-1
#[test]
fn a_damaged_snapshot_is_refused_before_it_is_read() {
    let (_, vectors) = table_vectors(PassageKind::Turn, 60);
    let home = tempfile::tempdir().unwrap();
    let (folder, other) = (home.path().join("one"), home.path().join("other"));
    write_snapshot(&built(&block(&vectors[..40])), &folder, &stamp(1)).unwrap();
    write_snapshot(&built(&block(&vectors[20..])), &other, &stamp(1)).unwrap();
    for (file, of_other) in files(&folder).into_iter().zip(files(&other)) {
        let name = file.file_name().unwrap().to_str().unwrap();
        let whole = fs::read(&file).unwrap();
        for try_ in 0..60 {
            let at = whole.len() * try_ / 60;
            let mut flipped = whole.clone();
            flipped[at] ^= 1 << (try_ % 8);
            fs::write(&file, &flipped).unwrap();
            check_refused(&folder, &format!("{name} flipped at {at}"));
            fs::write(&file, &whole[..at]).unwrap();
            check_refused(&folder, &format!("{name} cut at {at}"));
            let mut zeroed = whole.clone();
            let end = (at + 64).min(whole.len());
            zeroed[at..end].fill(0);
            if zeroed != whole {
                fs::write(&file, &zeroed).unwrap();
                check_refused(&folder, &format!("{name} zeroed at {at}"));
            }
        }
        fs::write(&file, [whole.as_slice(), b"x"].concat()).unwrap();
        check_refused(&folder, &format!("{name} longer"));
        fs::copy(&of_other, &file).unwrap();
        check_refused(&folder, &format!("{name} of another generation"));
        fs::remove_file(&file).unwrap();
        check_refused(&folder, &format!("{name} missing"));
        fs::write(&file, &whole).unwrap();
        load_snapshot(&folder, &stamp(1).identity, DIMENSION).unwrap();
    }
}
