//! The approximate graph against the exact scan, over vectors of generated sentences: how much it finds, how long it takes, what it costs.
//!
//! `cargo run --release -p tiro-benches --bin vectors`. Must not know: stores, sockets, how the planner decides.

use anyhow::{Context, Result, ensure};
use clap::Parser;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use tiro_benches::corpus::Random;
use tiro_benches::sentences::Sentences;
use tiro_index::embed::{Embedder, PassageKind, Role, StaticTable};
use tiro_index::graph::{Graph, GraphStamp, load_snapshot, write_snapshot};
use tiro_index::vector::Block;

/// Candidates that a leg of a recall asks for.
const CANDIDATES: usize = 100;
/// Of these so many count.
const TOP: usize = 10;
/// Cosines this near are the same: clones and ties may stand in for each other.
const TIE: f32 = 1e-4;
/// What the written graphs belong to.
const IDENTITY: &str = "bench";
const MIB: f64 = 1024.0 * 1024.0;

/// Compares the graph with the exact scan: recall@10 and latency of what a recall asks for, build time, memory, snapshot.
#[derive(Parser)]
struct Arguments {
    /// Numbers of vectors, rising.
    #[arg(long, value_delimiter = ',', default_value = "100000,300000,1000000")]
    vectors: Vec<usize>,
    /// Nodes that a walk keeps at least.
    #[arg(long, value_delimiter = ',', default_value = "128,256,512,1024")]
    ef: Vec<usize>,
    /// Questions.
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    questions: u32,
    /// Seconds that building may take, all sizes together; what is not built then is said and compared no further.
    #[arg(long, default_value_t = 7_200)]
    build_s_max: u64,
    /// Seed of the sentences.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Reads a written graph, and says how long it took and the memory it takes: asked of a process of its own.
    #[arg(long, value_name = "FOLDER", hide = true)]
    read: Option<PathBuf>,
}

/// What one way of answering took and found.
struct Measured {
    recall: f64,
    p50_ms: f64,
    p99_ms: f64,
}

impl Measured {
    fn of(shares: &[f64], mut took: Vec<Duration>) -> Measured {
        took.sort_unstable();
        let at = |share: f64| took[((took.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
        Measured { recall: shares.iter().sum::<f64>() / shares.len() as f64, p50_ms: at(0.5), p99_ms: at(0.99) }
    }

    fn cells(&self) -> String {
        format!("{:.3} | {:.2} | {:.2}", self.recall, self.p50_ms, self.p99_ms)
    }
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    ensure!(!arguments.vectors.is_empty() && arguments.vectors.is_sorted(), "--vectors takes rising numbers");
    if let Some(folder) = &arguments.read {
        return read(folder);
    }
    let table = StaticTable::new().context("the embedder's table")?;
    let sentences = Sentences::new(arguments.seed)?;
    let mut block = Block::new(table.dimension());
    let last = arguments.vectors.last().copied().unwrap_or(0);
    let graph = Graph::new(table.dimension(), last);
    let mut built = Duration::ZERO;
    let build_max = Duration::from_secs(arguments.build_s_max);
    println!("| vectors | search | recall@{TOP} | p50 ms | p99 ms | cost |\n|---|---|---|---|---|---|");
    for &count in &arguments.vectors {
        let mut vectors = Vec::new();
        for number in block.len()..count {
            let vector =
                table.embed(Role::Passage(PassageKind::Fact), &sentences.text(number)).context("a sentence without a vector")?;
            block.put(number as u32, &vector)?;
            vectors.push((number as u32, vector));
        }
        let questions = questions(&arguments, &sentences, &table, count)?;
        let exact: Vec<Vec<(u32, f32)>> =
            questions.iter().map(|q| top(&block, q, &block.scan(q, CANDIDATES, |_| true))).collect();
        let scan = measure(&block, &questions, &exact, |q| Ok(block.scan(q, CANDIDATES, |_| true)))?;
        println!("| {count} | exact scan | {} | {:.0} MiB |", scan.cells(), block.memory_bytes() as f64 / MIB);
        let begun = Instant::now();
        for (slot, vector) in vectors.iter().take_while(|_| built + begun.elapsed() < build_max) {
            graph.insert(*slot, vector)?;
        }
        built += begun.elapsed();
        if graph.len() < count {
            println!("| {count} | graph | | | | not built within {} s: {} vectors were |", build_max.as_secs(), graph.len());
            break;
        }
        for &ef in &arguments.ef {
            let graph = measure(&block, &questions, &exact, |q| Ok(graph.search(q, CANDIDATES, ef, |_| true)?))?;
            println!("| {count} | graph, ef {ef} | {} | |", graph.cells());
        }
        println!("| {count} | the graph itself | | | | built in {:.0} s; {} |", built.as_secs_f64(), snapshot(&graph)?);
    }
    Ok(())
}

/// Questions about sentences among the first `count`, embedded.
fn questions(arguments: &Arguments, sentences: &Sentences, table: &StaticTable, count: usize) -> Result<Vec<Vec<f32>>> {
    let mut random = Random::new(arguments.seed ^ 0xA5);
    let question = |n: u32| sentences.question(random.below(count), u64::from(n));
    (0..arguments.questions)
        .map(question)
        .map(|text| table.embed(Role::Query, &text).context("a question without a vector"))
        .collect()
}

/// The best of some candidates by the exact cosine.
fn top(block: &Block, question: &[f32], candidates: &[(u32, f32)]) -> Vec<(u32, f32)> {
    let slots: Vec<u32> = candidates.iter().map(|one| one.0).collect();
    let mut best: Vec<(u32, f32)> =
        slots.iter().zip(block.cosines(question, &slots)).filter_map(|(&slot, cosine)| Some((slot, cosine?))).collect();
    best.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    best.truncate(TOP);
    best
}

fn measure(
    block: &Block,
    questions: &[Vec<f32>],
    exact: &[Vec<(u32, f32)>],
    search: impl Fn(&[f32]) -> Result<Vec<(u32, f32)>>,
) -> Result<Measured> {
    let (mut shares, mut took) = (Vec::new(), Vec::new());
    for (question, exact) in questions.iter().zip(exact) {
        let begun = Instant::now();
        let found = top(block, question, &search(question)?);
        took.push(begun.elapsed());
        let bar = exact.last().map_or(1.0, |last| last.1 - TIE);
        shares.push(found.iter().filter(|one| one.1 >= bar).count().min(exact.len()) as f64 / exact.len().max(1) as f64);
    }
    Ok(Measured::of(&shares, took))
}

/// Writes the graph and has it read back by another process, whose memory then tells what it takes.
fn snapshot(graph: &Graph) -> Result<String> {
    let folder = tempfile::Builder::new().prefix("tiro-bench-").tempdir()?;
    let path = folder.path().join("graph");
    let begun = Instant::now();
    write_snapshot(graph, &path, &GraphStamp { identity: IDENTITY.into(), watermark: 1 })?;
    let wrote = begun.elapsed();
    let mut bytes = 0;
    for entry in std::fs::read_dir(&path)? {
        bytes += entry?.metadata()?.len();
    }
    let read = Command::new(std::env::current_exe()?).arg("--read").arg(&path).output()?;
    ensure!(read.status.success(), "reading back: {}", String::from_utf8_lossy(&read.stderr));
    let read = String::from_utf8(read.stdout)?;
    Ok(format!("snapshot {:.0} MiB, written in {:.1} s, {}", bytes as f64 / MIB, wrote.as_secs_f64(), read.trim()))
}

fn read(folder: &Path) -> Result<()> {
    let dimension = StaticTable::new()?.dimension();
    let (begun, rss) = (Instant::now(), rss_mib()?);
    let (graph, _) = load_snapshot(folder, IDENTITY, dimension)?;
    println!(
        "read in {:.1} s; {:.0} MiB of memory ({:.0} estimated)",
        begun.elapsed().as_secs_f64(),
        rss_mib()? - rss,
        graph.memory_bytes() as f64 / MIB
    );
    Ok(())
}

/// Resident memory of this process, MiB.
fn rss_mib() -> Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmRSS")).context("VmRSS")?;
    let kib: f64 = line.split_whitespace().nth(1).context("VmRSS value")?.parse()?;
    Ok(kib / 1024.0)
}
