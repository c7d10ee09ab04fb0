//! Facts that changed: how often what holds now stands first, linked by supersession and not.
//!
//! `cargo run --release -p tiro-benches --bin updates`. Must not know: the daemon's insides.

use anyhow::Result;
use clap::Parser;
use tiro_benches::process::{Daemon, release_binaries};
use tiro_benches::recall::facts::{ASKED_AT, Fact, Link, Noise, facts, noise};
use tiro_benches::recall::updates::{First, ask, keep, share};

/// Keeps 500 facts that changed one to four times among 3,000 other notes, and asks for each what holds now.
#[derive(Parser)]
struct Arguments {
    /// Seed of the facts.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// One note in four holds the words of a question and answers nothing.
    #[arg(long)]
    near_noise: bool,
    /// Shows what stood first where it was not the current value.
    #[arg(long)]
    misses: bool,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let mut daemon = Daemon::start_with(&release_binaries()?, None, &[("TIRO_TEST_NOW".to_owned(), ASKED_AT.to_owned())])?;
    let mut client = daemon.ready()?;
    let facts = facts(arguments.seed);
    let kind = if arguments.near_noise { Noise::Words } else { Noise::People };
    keep(&mut client, &facts, &noise(arguments.seed, kind))?;
    println!("| facts | current first | without decay | older first | other first | nothing |\n|---|---|---|---|---|---|");
    let (with, without) = (ask(&mut client, &facts, true)?, ask(&mut client, &facts, false)?);
    for (link, name) in
        [(Link::Supersede, "linked by supersede"), (Link::Remember, "linked by remember"), (Link::Unlinked, "not linked")]
    {
        for language in ["en", "zh"] {
            let of = |fact: &Fact| fact.link == link && fact.language == language;
            let ((current, count), (bare, _)) = (share(&with, of), share(&without, of));
            let firsts = || with.iter().filter(|one| of(&one.fact)).map(|one| &one.first);
            let older = firsts().filter(|first| matches!(first, First::Older(_))).count();
            let other = firsts().filter(|first| matches!(first, First::Other(_))).count();
            let nothing = firsts().filter(|first| matches!(first, First::Nothing)).count();
            println!("| {count} {language}, {name} | {current:.3} | {bare:.3} | {older} | {other} | {nothing} |");
        }
    }
    for one in with.iter().filter(|one| arguments.misses && one.first != First::Current) {
        let said: Vec<String> = one.fact.statements.iter().map(|s| format!("{} {}", &s.occurred_at[..10], s.text)).collect();
        println!("{:?} {}: {:?}; said {said:#?}", one.fact.link, one.fact.question, one.first);
    }
    Ok(())
}
