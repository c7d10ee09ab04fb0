//! The nearest current documents to a text: right, of one space, and quick enough for every write.
#![allow(clippy::unwrap_used)]

mod double;

use double::Store;
use std::time::{Duration, Instant};
use tiro_index::embed::{Embedder, PassageKind, Role, StaticTable};
use tiro_index::{Change, Settings};

/// Sentences of a few hundred words, each its own.
fn text(n: u64) -> String {
    const SUBJECTS: [&str; 12] = [
        "the billing server",
        "Ann",
        "our landlord",
        "the red boat",
        "the test suite",
        "Grandma",
        "数据库",
        "the museum",
        "Leo",
        "the choir",
        "发布流程",
        "my cousin",
    ];
    const VERBS: [&str; 10] =
        ["uses", "moved to", "needs", "opens at", "belongs to", "is near", "was built with", "pays for", "listens on", "prefers"];
    const THINGS: [&str; 11] = [
        "port",
        "a new roof",
        "the blue door",
        "green tea",
        "Leipzig",
        "the archive",
        "上海",
        "two keys",
        "a quiet room",
        "Postgres",
        "the old bridge",
    ];
    let at = |list: &[&'static str], n: u64| list[(n % list.len() as u64) as usize];
    format!("{} {} {} {n}", at(&SUBJECTS, n), at(&VERBS, n / 12), at(&THINGS, n / 120))
}

fn check(documents: u64, asked: u64) -> Duration {
    let table = StaticTable::new().unwrap();
    let mut store = Store::new(Settings::default());
    let dir = tempfile::tempdir().unwrap();
    let (index, _) = store.start(dir.path());
    let mut changes: Vec<Change> = Vec::new();
    for n in 0..documents {
        let space = if n % 50 == 0 { 2 } else { 1 };
        changes.push(store.add(space, &text(n)));
    }
    index.apply(changes);
    index.flush().unwrap();
    let mut times = Vec::new();
    for n in (0..documents).step_by((documents / asked) as usize) {
        let words = text(n);
        let vector = table.embed(Role::Passage(PassageKind::Fact), &words);
        let began = Instant::now();
        let near = index.near(if n % 50 == 0 { 2 } else { 1 }, &words, vector.as_deref(), 8, 4);
        times.push(began.elapsed());
        let found = &near.neighbours;
        assert!((8..=12).contains(&found.len()), "{}", found.len());
        let own = found.iter().find(|neighbour| neighbour.key == n + 1);
        assert!(own.is_some_and(|own| own.tokens.0 > 0 && own.tokens.0 == own.tokens.1), "{words} is not near itself: {own:?}");
        assert!(found.iter().all(|near| near.tokens.1 <= near.tokens.0));
        assert!(found.iter().all(|near| ((near.key - 1) % 50 == 0) == (n % 50 == 0)), "a document of another space");
        assert_eq!(near.seq, store.seq);
        assert!(found[..8].windows(2).all(|w| w[0].cosine >= w[1].cosine), "by cosine first");
    }
    times.sort_unstable();
    times[times.len() / 2]
}

// MEM-8
#[test]
fn the_nearest_of_the_space_are_given_with_the_text_itself() {
    check(2_000, 50);
}

/// Prints the time of one look at 100,000 documents; run it alone.
#[test]
#[ignore = "a measurement"]
fn how_long_the_nearest_take_among_100_000() {
    println!("median {:?}", check(100_000, 200));
}
