//! Prints what searches, changes, snapshots and starts cost at 10,000 and 100,000 documents of 30 words.
//! `cargo run --release -p tiro-index --example measure`
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::time::{Duration, Instant};
use tiro_index::embed::ZScale;
use tiro_index::{Change, Document, Identity, Index, Mode, Opened, Query, Settings, prepare};

const DIM: usize = 192;
const WORDS_PER_DOCUMENT: usize = 30;
const VOCABULARY: u64 = 40_000;

/// Numbers that look random and are the same each time (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A word, common ones as common as in prose (rank r about 1/r of the time).
    fn word(&mut self) -> String {
        let rank = (VOCABULARY as f64).powf(self.unit()) as u64;
        let mut spelled = rank.wrapping_mul(0x9E37_79B9) % 11_881_376;
        let mut word = String::new();
        for _ in 0..5 {
            word.push(char::from(b'a' + (spelled % 26) as u8));
            spelled /= 26;
        }
        word
    }

    fn text(&mut self, words: usize) -> String {
        (0..words).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }

    fn vector(&mut self) -> Vec<f32> {
        let raw: Vec<f32> = (0..DIM).map(|_| (self.unit() + self.unit() + self.unit() - 1.5) as f32).collect();
        let norm = raw.iter().map(|x| x * x).sum::<f32>().sqrt();
        raw.into_iter().map(|x| x / norm).collect()
    }
}

fn open(dir: &std::path::Path, count: u64) -> Opened {
    let identity = Identity { store_id: [0; 16], epoch: 1, model_id: "measure".into(), dim: DIM };
    Index::open(dir, identity, Settings::default(), count, Arc::new(|_: &[f32]| ZScale { mean: 0.0, sd: 0.1 })).unwrap()
}

fn percentile(times: &mut [Duration], share: f64) -> Duration {
    times.sort_unstable();
    times[((times.len() - 1) as f64 * share) as usize]
}

fn resident_mib() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kib: usize = status.lines().find_map(|l| l.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?.parse().ok()).unwrap_or(0);
    kib / 1024
}

fn searches(index: &Index, label: &str) {
    for (words, name) in [(6, "6 words"), (20, "20 words")] {
        for mode in [Mode::Lexical, Mode::Vector, Mode::Hybrid] {
            let mut random = Random(99);
            let mut times = Vec::new();
            let mut served = Vec::new();
            for _ in 0..400 {
                let (text, vector) = (random.text(words), random.vector());
                let query = Query { text: &text, vector: Some(&vector), spaces: vec![1], mode, limit: 10, ..Query::default() };
                let begin = Instant::now();
                let result = index.search(&query);
                times.push(begin.elapsed());
                served = result.served_by;
            }
            let fastest = percentile(&mut times, 0.05);
            let (p50, p99) = (percentile(&mut times, 0.5), percentile(&mut times, 0.99));
            println!("  {label} {name:9} {mode:?}: p5 {fastest:?} p50 {p50:?} p99 {p99:?} {served:?}");
        }
    }
}

fn main() {
    for count in [10_000_u64, 100_000] {
        let mut random = Random(count);
        let before = resident_mib();
        let vectors: Vec<Vec<f32>> = (0..=count).map(|_| random.vector()).collect();
        let own = resident_mib() - before;
        let documents: Vec<Document> = (1..=count)
            .map(|key| {
                let vector = Some(vectors[key as usize].clone());
                Document {
                    key,
                    seq: key,
                    space: 1,
                    created_at_ms: key as i64,
                    text: random.text(WORDS_PER_DOCUMENT),
                    vector,
                    ..Document::default()
                }
            })
            .collect();
        let dir = tempfile::tempdir().unwrap();
        println!("{count} documents of {WORDS_PER_DOCUMENT} words");
        let opened = open(dir.path(), 0);
        opened.index.loaded(0);
        let begin = Instant::now();
        let prepared: Vec<Change> = documents.into_iter().map(|document| Change::Upsert(prepare(document))).collect();
        println!("  prepare: {:?} a document", begin.elapsed() / count as u32);
        let begin = Instant::now();
        let mut prepared = prepared.into_iter().peekable();
        while prepared.peek().is_some() {
            opened.index.apply(prepared.by_ref().take(200).collect());
        }
        println!("  apply: {:?} a document", begin.elapsed() / count as u32);
        searches(&opened.index, "before flush");
        let begin = Instant::now();
        opened.index.flush().unwrap();
        println!("  flush: {:?}", begin.elapsed());
        searches(&opened.index, "settled");
        let begin = Instant::now();
        opened.index.snapshot().unwrap();
        println!("  snapshot: {:?}", begin.elapsed());
        let begin = Instant::now();
        opened.index.close().unwrap();
        println!("  close: {:?}; {:?}", begin.elapsed(), opened.index.stats());
        println!("  resident {} MiB, of which the vectors of this measurement {own} MiB", resident_mib());
        drop(opened);
        let begin = Instant::now();
        let opened = open(dir.path(), count);
        println!("  open: {:?}, watermark {}", begin.elapsed(), opened.watermark);
        let begin = Instant::now();
        println!("  loaded: {:?} {:?}", opened.index.loaded(count), begin.elapsed());
        println!("  verify: {:?}", opened.index.verify());
    }
}
