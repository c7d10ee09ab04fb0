//! Recall quality of a real daemon over its socket, by sets that anyone can write.
//!
//! `cargo run --release -p tiro-benches --bin recall -- FOLDER...`. Must not know: the daemon's insides.

use anyhow::{Context, Result, ensure};
use clap::{Parser, ValueEnum};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tiro_benches::process::{Daemon, release_binaries};
use tiro_benches::recall::set::Set;
use tiro_benches::recall::trial::{Manner, Trial, ask, import};
use tiro_benches::recall::{report, trial};

/// The set that ships with the project.
const OWN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/recall");
/// How long after a space's last memory its questions are asked, with `--at-end`.
const AFTER_THE_END: jiff::SignedDuration = jiff::SignedDuration::from_hours(24);
const SETTLE_S_MAX: u64 = 3_600;

/// Measures recall: recall@5, recall@10, hit@5, nDCG@10 and MRR by category, abstention, and what each feature earns.
///
/// A FOLDER has docs.jsonl ({ref, space, text, occurredAt?, source?}), queries.jsonl ({space, query, category, gold: list of refs})
/// and, where there is one, absent.jsonl ({space, query, kind?}: questions without an answer). Each configuration gets a
/// daemon in a throw-away home. Given several configurations, each is compared with the first, question by question.
#[derive(Parser)]
struct Arguments {
    /// Sets; the project's own when none is named.
    folders: Vec<PathBuf>,
    /// Legs that search: hybrid, lexical, vector; several are compared.
    #[arg(long, value_delimiter = ',', default_value = "hybrid")]
    mode: Vec<String>,
    /// Hits a question.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=trial::CANDIDATES as i64))]
    limit: u32,
    /// A config.toml for the throw-away home.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Another config.toml to compare with the first configuration.
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// Whether age lowers scores; `both` compares.
    #[arg(long, value_enum, default_value = "off")]
    decay: Decay,
    /// A daemon for each space, its clock a day after the last memory that has a date.
    #[arg(long)]
    at_end: bool,
    /// Seconds to wait after the import, for vectors that come late.
    #[arg(long, value_name = "S", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=SETTLE_S_MAX))]
    settle_s: u64,
    /// One JSON object a set and configuration.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Decay {
    Off,
    On,
    Both,
}

/// Ways of asking one daemon, each with its name.
fn manners(arguments: &Arguments) -> Vec<(String, Manner)> {
    let decays: &[bool] = match arguments.decay {
        Decay::Off => &[false],
        Decay::On => &[true],
        Decay::Both => &[false, true],
    };
    let mut manners = Vec::new();
    for mode in &arguments.mode {
        for decay in decays {
            let label = if *decay { format!("{mode}+decay") } else { mode.clone() };
            manners.push((label, Manner { mode: mode.clone(), limit: arguments.limit as usize, decay: *decay }));
        }
    }
    manners
}

/// One trial a manner, each under its name, with this `config.toml`.
fn trials(bin: &Path, set: &Set, config: Option<&Path>, arguments: &Arguments) -> Result<Vec<(String, Trial)>> {
    let text = config.map(|path| std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display())));
    let text = text.transpose()?;
    let suffix = config.map(|path| format!(" {}", path.display())).unwrap_or_default();
    let mut trials: Vec<(String, Trial)> =
        manners(arguments).into_iter().map(|(label, _)| (label + &suffix, Trial::default())).collect();
    let parts = if arguments.at_end { set.by_space() } else { vec![set.clone()] };
    for part in parts {
        let env = match part.last_occurred_at().filter(|_| arguments.at_end) {
            Some(last) => {
                let at: jiff::Timestamp = last.parse().with_context(|| format!("the time {last}"))?;
                vec![("TIRO_TEST_NOW".to_owned(), at.checked_add(AFTER_THE_END)?.to_string())]
            }
            None => Vec::new(),
        };
        let mut daemon = Daemon::start_with(bin, text.as_deref(), &env)?;
        let mut client = daemon.ready()?;
        let imported = import(&mut client, &part)?;
        std::thread::sleep(Duration::from_secs(arguments.settle_s));
        for ((_, trial), (_, manner)) in trials.iter_mut().zip(manners(arguments)) {
            // The evidence knows no age: with decay the lines would say the same again.
            let is_explained = manner.mode == "hybrid" && !manner.decay;
            trial.absorb(ask(&mut client, &part, &imported, &manner, is_explained)?);
        }
    }
    Ok(trials)
}

fn main() -> Result<()> {
    let mut arguments = Arguments::parse();
    if arguments.folders.is_empty() {
        arguments.folders.push(OWN.into());
    }
    let sets: Vec<Set> = arguments.folders.iter().map(|folder| Set::load(folder)).collect::<Result<_>>()?;
    ensure!(sets.iter().all(|set| !set.questions.is_empty()), "a set without questions");
    let bin = release_binaries()?;
    for set in &sets {
        let mut all = trials(&bin, set, arguments.config.as_deref(), &arguments)?;
        if let Some(against) = &arguments.against {
            all.extend(trials(&bin, set, Some(against), &arguments)?);
        }
        for (label, trial) in &all {
            match arguments.json {
                true => println!("{}", report::to_json(&set.name, label, trial)),
                false => report::print(&set.name, label, trial),
            }
        }
        let Some(((first, base), others)) = all.split_first().map(|(f, o)| ((&f.0, &f.1), o)) else { continue };
        for (second, trial) in others {
            let differences = report::differences(&base.asked, &trial.asked);
            match arguments.json {
                true => println!("{}", report::differences_to_json(&set.name, first, second, &differences)),
                false => report::print_differences(&set.name, first, second, &differences),
            }
        }
    }
    Ok(())
}
