//! Tests of `Block` against brute force in f32.

#![allow(clippy::unwrap_used)]

use std::time::Instant;

use proptest::prelude::*;

use super::*;
use crate::embed::{Embedder, PassageKind, Role, StaticTable};
use crate::vector::dot;

/// Numbers that look random and are the same each time (SplitMix64).
fn random(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *seed;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

fn exact(vectors: &[Vec<f32>], query: &[f32], k: usize, eligible: impl Fn(u32) -> bool) -> Vec<u32> {
    let mut all: Vec<(u32, f32)> = vectors
        .iter()
        .enumerate()
        .filter(|(slot, _)| eligible(*slot as u32))
        .map(|(slot, v)| (slot as u32, dot(query, v)))
        .collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    all.into_iter().take(k).map(|(slot, _)| slot).collect()
}

/// Texts of 4 to 30 words out of the background sample's own, in both languages, and their vectors.
fn corpus(count: usize) -> (StaticTable, Vec<Vec<f32>>) {
    let table = StaticTable::new().unwrap();
    let sample = include_str!("../../data/background.txt");
    let words: Vec<&str> = sample.split_inclusive([' ', '，', '。', '\n']).collect();
    let (mut seed, mut vectors) = (1, Vec::with_capacity(count));
    while vectors.len() < count {
        let length = 4 + random(&mut seed) as usize % 27;
        let text: String = (0..length).map(|_| words[random(&mut seed) as usize % words.len()]).collect();
        vectors.extend(table.embed(Role::Passage(PassageKind::Turn), &text));
    }
    (table, vectors)
}

fn filled(vectors: &[Vec<f32>]) -> Block {
    let mut block = Block::new(vectors[0].len());
    vectors.iter().enumerate().for_each(|(slot, vector)| block.put(slot as u32, vector).unwrap());
    block
}

// STORE-1
#[test]
fn the_best_thirty_rescored_are_the_exact_ten() {
    let (table, vectors) = corpus(3_000);
    let block = filled(&vectors);
    for query in include_str!("../../data/background.txt").lines().step_by(7) {
        let query = table.embed(Role::Query, query).unwrap();
        for (share, eligible) in [(1, (|_| true) as fn(u32) -> bool), (2, |slot| slot % 2 == 0), (50, |slot| slot % 50 == 3)] {
            let mut rescored: Vec<(u32, f32)> = block
                .scan(&query, 30, eligible)
                .into_iter()
                .map(|(slot, _)| (slot, block.cosines(&query, &[slot])[0].unwrap()))
                .collect();
            rescored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            let got: Vec<u32> = rescored.iter().take(10).map(|&(slot, _)| slot).collect();
            assert_eq!(got, exact(&vectors, &query, 10, eligible), "one in {share}");
        }
    }
}

#[test]
fn asking_afterwards_gives_what_asking_first_gives() {
    let (table, vectors) = corpus(1_000);
    let block = filled(&vectors);
    let query = table.embed(Role::Query, "what do we know about the garden").unwrap();
    for k in [0, 1, 5, 100, 990, 1_000, 2_000] {
        for (share, eligible) in [
            ("all", (|_| true) as fn(u32) -> bool),
            ("all but one in 20", |slot| slot % 20 != 3),
            ("one in two", |slot| slot % 2 == 0),
            ("one in 50", |slot| slot % 50 == 3),
            ("none", |_| false),
        ] {
            assert_eq!(block.scan_mostly(&query, k, eligible), block.scan(&query, k, eligible), "{k} of {share}");
        }
    }
}

#[test]
fn scanned_cosines_are_near_and_looked_up_ones_are_right() {
    let (table, vectors) = corpus(300);
    let block = filled(&vectors);
    let query = table.embed(Role::Query, "when is the report due?").unwrap();
    let scanned = block.scan(&query, 300, |_| true);
    assert_eq!(scanned.len(), 300);
    let slots: Vec<u32> = scanned.iter().map(|&(slot, _)| slot).collect();
    for (&(slot, cosine), looked_up) in scanned.iter().zip(block.cosines(&query, &slots)) {
        let right = dot(&query, &vectors[slot as usize]);
        assert!((looked_up.unwrap() - right).abs() < 1e-6, "{looked_up:?} for {right}");
        assert!((cosine - right).abs() < 0.01);
    }
    assert_eq!(block.cosines(&query, &[9_999]), [None]);
}

// MEM-6, M14, M27
#[test]
fn odd_queries_find_nothing_and_refused_vectors_change_nothing() {
    let mut block = Block::new(2);
    block.put(5, &[0.6, 0.8]).unwrap();
    let before = block.to_bytes();
    assert!(block.put(5, &[f32::NAN, 0.0]).is_err());
    assert!(block.put(6, &[0.0, 0.0]).is_err());
    assert!(block.put(6, &[1.0]).is_err());
    assert_eq!(block.to_bytes(), before);
    assert!(block.scan(&[1.0], 3, |_| true).is_empty());
    assert!(block.scan(&[f32::NAN, 0.0], 3, |_| true).is_empty());
    assert!(block.scan(&[1.0, 0.0], 0, |_| true).is_empty());
    assert!(block.scan(&[1.0, 0.0], 3, |_| false).is_empty());
    assert_eq!(block.scan(&[1.0, 0.0], usize::MAX, |_| true).len(), 1);
    assert!(block.remove(5) && !block.remove(5));
    assert!(block.scan(&[1.0, 0.0], 3, |_| true).is_empty());
    assert!(Block::new(0).scan(&[], 3, |_| true).is_empty());
}

#[derive(Debug, Clone)]
enum Step {
    Put(u32, u8),
    Remove(u32),
    Compact,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0_u32..20, any::<u8>()).prop_map(|(slot, seed)| Step::Put(slot, seed)),
        3 => (0_u32..20).prop_map(Step::Remove),
        1 => Just(Step::Compact),
    ]
}

proptest! {
    #[test]
    fn a_block_behaves_as_a_map(steps in proptest::collection::vec(step(), 0..60)) {
        let (mut block, mut model) = (Block::new(3), std::collections::HashMap::new());
        for step in steps {
            match step {
                Step::Put(slot, seed) => {
                    let vector = [f32::from(seed) / 256.0 * 0.9, 0.3, 0.1];
                    block.put(slot, &vector).unwrap();
                    model.insert(slot, vector);
                }
                Step::Remove(slot) => prop_assert_eq!(block.remove(slot), model.remove(&slot).is_some()),
                Step::Compact => block.compact(),
            }
            prop_assert_eq!(block.len(), model.len());
            let mut found = block.scan(&[1.0, 0.0, 0.0], 100, |_| true);
            found.sort_by_key(|&(slot, _)| slot);
            let mut expected: Vec<_> = model.iter().map(|(&slot, vector)| (slot, vector[0])).collect();
            expected.sort_by_key(|&(slot, _)| slot);
            prop_assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(&expected) {
                prop_assert_eq!(found.0, expected.0);
                prop_assert!((found.1 - expected.1).abs() < 0.01);
            }
            let back = Block::from_bytes(&block.to_bytes()).unwrap();
            prop_assert_eq!(back.len(), block.len());
        }
    }
}

#[test]
#[ignore = "prints figures; run in release"]
fn speed() {
    let (table, vectors) = corpus(20_000);
    let query = table.embed(Role::Query, "when is the quarterly report due?").unwrap();
    for count in [1_000, 10_000, 100_000, 600_000] {
        let mut block = Block::new(192);
        (0..count).for_each(|slot| block.put(slot, &vectors[slot as usize % vectors.len()]).unwrap());
        let mut times: Vec<_> = (0..101)
            .map(|_| {
                let began = Instant::now();
                std::hint::black_box(block.scan(std::hint::black_box(&query), 30, |_| true));
                began.elapsed()
            })
            .collect();
        times.sort();
        println!("{count} x 192: p50 {:?} best {:?}, {} MiB", times[50], times[0], block.memory_bytes() >> 20);
    }
}
