//! The table of figures: speed and size over the socket, beside a bare echo and a bare fdatasync of the same run.
//!
//! `cargo bench -p tiro-benches`; `TIRO_BENCH_DOCS` (100,000) makes it smaller. Must not know: the daemon's insides.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tiro_benches::corpus::Corpus;
use tiro_benches::figures::{Samples, Table};
use tiro_benches::mcp::Host;
use tiro_benches::process::{Daemon, release_binaries};
use tiro_benches::rpc::Client;
use tiro_tests::inside::InsideDaemon;
use tiro_tests::storage::SlowSync;

const SMALL: usize = 10_000;
const BATCH: usize = 1_000;
const WRITERS: usize = 8;
const WRITES_EACH: usize = 150;
const ADDED_TO_FSYNC: Duration = Duration::from_millis(2);

fn main() -> Result<()> {
    let large: usize = std::env::var("TIRO_BENCH_DOCS").ok().and_then(|n| n.parse().ok()).unwrap_or(100_000);
    let bin = release_binaries()?;
    let corpus = Corpus::new(2041)?;
    let mut table = Table::begin();

    let mut daemon = Daemon::start(&bin)?;
    let sync = bare_fdatasync(daemon.home())?;
    table.note("bare echo over a Unix socket", &format!("p50 {:.3} ms", bare_echo(daemon.home())?.p50()));
    table.note("bare fdatasync, 4 KiB appended", &format!("p50 {:.3} ms", sync.p50()));

    let idle = daemon.resident_mib()?;
    table.row("resident, idle and empty", &format!("{idle:.0} MiB"), "<= 60 MiB", idle <= 60.0);

    single_writes(&mut table, &mut daemon, &corpus, &sync)?;
    drop(daemon);

    let mut daemon = Daemon::start(&bin)?;
    let mut client = daemon.ready()?;
    fill(&mut client, batches(&corpus, 0, SMALL))?;
    settle(&mut client)?;
    recall_row(&mut table, &mut client, &corpus, SMALL, (0.7, 4.0))?;

    let items = batches(&corpus, SMALL, large);
    let begun = Instant::now();
    fill(&mut client, items)?;
    let rate = (large - SMALL) as f64 / begun.elapsed().as_secs_f64();
    table.row(&format!("rememberMany of {}", large - SMALL), &format!("{rate:.0}/s"), ">= 10,000/s", rate >= 10_000.0);
    settle(&mut client)?;
    recall_row(&mut table, &mut client, &corpus, large, (2.0, 8.0))?;
    let resident = daemon.resident_mib()?;
    table.row(&format!("resident at {large}"), &format!("{resident:.0} MiB"), "<= 300 MiB", resident <= 300.0);
    process_row(&mut table, &daemon, &corpus, large)?;
    mcp_rows(&mut table, &mut daemon, &corpus, large)?;

    let started = start_after_kill(&mut daemon, &corpus, large)?;
    let text = format!("{:.2} s", started.as_secs_f64());
    table.row(
        &format!("start with {large} after kill -9, to the first right answer"),
        &text,
        "<= 1 s",
        started.as_secs_f64() <= 1.0,
    );

    println!("\n{} rows missed their aim", table.missed());
    Ok(())
}

/// Params for memories `from..to`, made before the clock runs.
fn batches(corpus: &Corpus, from: usize, to: usize) -> Vec<Value> {
    (from..to).step_by(BATCH).map(|at| corpus.batch(at, (at + BATCH).min(to))).collect()
}

fn fill(client: &mut Client, batches: Vec<Value>) -> Result<()> {
    for batch in batches {
        let answer = client.call("memory/rememberMany", batch)?;
        let results = answer["results"].as_array().context("results")?;
        ensure!(results.iter().all(|r| r["id"].is_string()), "an item was not kept: {answer}");
    }
    Ok(())
}

/// Waits until the index has nothing left in its overlay.
fn settle(client: &mut Client) -> Result<()> {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(60) {
        let stats = client.call("memory/stats", json!({}))?;
        if stats["index"]["overlay"].as_u64() == Some(0) {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}

fn recall_params(query: &str) -> Value {
    json!({"query": query, "limit": 10, "threshold": 0})
}

fn recall_row(table: &mut Table, client: &mut Client, corpus: &Corpus, docs: usize, aim: (f64, f64)) -> Result<()> {
    let queries: Vec<Value> = (0..1_100).map(|i| recall_params(&corpus.query((i * 7_919) % docs, i as u64))).collect();
    let samples = Samples::of(100, 1_000, |i| {
        let answer = client.call("memory/recall", queries[i].clone())?;
        ensure!(answer["hits"].as_array().is_some_and(|h| h.len() == 10), "not ten hits: {answer}");
        Ok(())
    })?;
    let (p50, p99) = (samples.p50(), samples.p99());
    table.row(
        &format!("memory/recall, hybrid, 10 hits, {docs} memories of 30 words"),
        &format!("p50 {p50:.2} ms, p99 {p99:.2} ms"),
        &format!("p50 <= {} ms, p99 <= {} ms", aim.0, aim.1),
        p50 <= aim.0 && p99 <= aim.1,
    );
    Ok(())
}

fn single_writes(table: &mut Table, daemon: &mut Daemon, corpus: &Corpus, sync: &Samples) -> Result<()> {
    let mut client = daemon.ready()?;
    let one = Samples::of(50, 500, |i| remember(&mut client, &corpus.text(5_000_000 + i)))?;
    let aim = 4.0 * sync.p50() + 0.5;
    table.row(
        "memory/remember acknowledged, one client",
        &format!("p50 {:.2} ms ({:.1} x fdatasync)", one.p50(), one.p50() / sync.p50()),
        &format!("p50 <= 4 x fdatasync + 0.5 = {aim:.2} ms"),
        one.p50() <= aim,
    );
    let alone = rate_of_writers(&daemon.socket(), corpus, 1, 6_000_000)?;
    let together = rate_of_writers(&daemon.socket(), corpus, WRITERS, 7_000_000)?;
    let ratio = together / alone;
    table.row(
        &format!("{WRITERS} clients writing, against one"),
        &format!("{together:.0}/s against {alone:.0}/s: {ratio:.1} x"),
        ">= 2.5 x",
        ratio >= 2.5,
    );
    slow_disk(table, corpus)
}

/// The same on a disk whose every fsync takes 2 ms longer: a daemon inside this process, on storage that dawdles.
fn slow_disk(table: &mut Table, corpus: &Corpus) -> Result<()> {
    let daemon = InsideDaemon::start_with(|seams| seams.backend = Arc::new(SlowSync::new(ADDED_TO_FSYNC)));
    let alone = rate_of_writers(daemon.socket(), corpus, 1, 8_000_000)?;
    let together = rate_of_writers(daemon.socket(), corpus, WRITERS, 9_000_000)?;
    let ratio = together / alone;
    table.row(
        &format!("the same with {} ms added to each fsync", ADDED_TO_FSYNC.as_millis()),
        &format!("{together:.0}/s against {alone:.0}/s: {ratio:.1} x"),
        ">= 4 x",
        ratio >= 4.0,
    );
    Ok(())
}

fn remember(client: &mut Client, text: &str) -> Result<()> {
    let answer = client.call("memory/remember", json!({"text": text, "explicit": true}))?;
    ensure!(answer["outcome"] == "created", "{answer}");
    Ok(())
}

/// Writes a second of `clients` clients, each waiting for its acknowledgement.
fn rate_of_writers(socket: &Path, corpus: &Corpus, clients: usize, base: usize) -> Result<f64> {
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..clients)
            .map(|c| {
                scope.spawn(move || -> Result<()> {
                    let mut client = Client::connect(socket)?;
                    for i in 0..WRITES_EACH {
                        remember(&mut client, &corpus.text(base + c * WRITES_EACH + i))?;
                    }
                    Ok(())
                })
            })
            .collect();
        for thread in threads {
            thread.join().map_err(|_| anyhow::anyhow!("a writer panicked"))??;
        }
        anyhow::Ok(())
    })?;
    Ok((clients * WRITES_EACH) as f64 / begun.elapsed().as_secs_f64())
}

fn process_row(table: &mut Table, daemon: &Daemon, corpus: &Corpus, docs: usize) -> Result<()> {
    let samples = Samples::of(5, 60, |i| {
        let output = daemon.command("tiro").args(["recall", "--json", &corpus.query((i * 31) % docs, i as u64)]).output()?;
        ensure!(!output.stdout.is_empty(), "tiro recall: {}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    })?;
    let p50 = samples.p50();
    table.row("`tiro recall` as a process, daemon warm", &format!("p50 {p50:.1} ms"), "<= 15 ms", p50 <= 15.0);
    Ok(())
}

fn mcp_rows(table: &mut Table, daemon: &mut Daemon, corpus: &Corpus, docs: usize) -> Result<()> {
    let mut client = daemon.ready()?;
    let mut host = Host::start(daemon)?;
    let query = |i: usize| json!({"query": corpus.query((i * 7_919) % docs, i as u64), "limit": 10});
    let mut over_mcp = Samples::default();
    let over_socket = Samples::of(50, 500, |i| {
        client.call("memory/recall", query(i))?;
        Ok(())
    })?;
    for i in 0..550 {
        let begun = Instant::now();
        host.tool("memory_recall", query(i))?;
        if i >= 50 {
            over_mcp.push(begun.elapsed());
        }
    }
    let added = over_mcp.p50() - over_socket.p50();
    table.row(
        "memory_recall through `tiro mcp serve`, over the socket's own time",
        &format!("p50 {added:.2} ms"),
        "<= 2 ms",
        added <= 2.0,
    );
    let started = Samples::of(5, 60, |i| {
        Host::start(daemon)?.tool("memory_recall", query(i))?;
        Ok(())
    })?;
    let p50 = started.p50();
    table.row("`tiro mcp serve`, start to the first recall, daemon warm", &format!("p50 {p50:.1} ms"), "<= 50 ms", p50 <= 50.0);
    Ok(())
}

fn start_after_kill(daemon: &mut Daemon, corpus: &Corpus, docs: usize) -> Result<Duration> {
    daemon.kill9()?;
    let wanted = docs - 1;
    let text = corpus.text(wanted);
    let begun = Instant::now();
    daemon.launch()?;
    let mut client = daemon.ready()?;
    let answer = client.call("memory/recall", recall_params(&text))?;
    let elapsed = begun.elapsed();
    ensure!(answer["hits"][0]["text"] == text.as_str(), "the first answer was wrong: {answer}");
    Ok(elapsed)
}

fn bare_fdatasync(dir: &Path) -> Result<Samples> {
    let path = dir.join("bare");
    let mut file = std::fs::File::create(&path)?;
    let block = [7u8; 4096];
    let samples = Samples::of(20, 300, |_| {
        file.write_all(&block)?;
        file.sync_data()?;
        Ok(())
    })?;
    std::fs::remove_file(path)?;
    Ok(samples)
}

fn bare_echo(dir: &Path) -> Result<Samples> {
    let path = dir.join("echo.sock");
    let listener = UnixListener::bind(&path)?;
    std::thread::scope(|scope| {
        scope.spawn(move || -> Result<()> {
            let (stream, _) = listener.accept()?;
            let mut reader = BufReader::new(stream.try_clone()?);
            let (mut writer, mut line) = (stream, String::new());
            while reader.read_line(&mut line)? > 0 {
                writer.write_all(line.as_bytes())?;
                line.clear();
            }
            Ok(())
        });
        let stream = UnixStream::connect(&path)?;
        let mut reader = BufReader::new(stream.try_clone()?);
        let (mut writer, mut line) = (stream, String::new());
        Samples::of(200, 3_000, |_| {
            writer.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon/status\",\"params\":{}}\n")?;
            line.clear();
            reader.read_line(&mut line)?;
            Ok(())
        })
    })
}
