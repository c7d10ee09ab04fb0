//! Holds what is found of facts that changed against floors: the current value stands first.
#![allow(clippy::unwrap_used)]

use tiro_benches::recall::facts::{ASKED_AT, Fact, Link, Noise, facts, noise};
use tiro_benches::recall::updates::{First, ask, keep, share};
use tiro_benches::rpc::Client;
use tiro_tests::DaemonSetup;

/// Links, and the least share of their facts whose current value stands first. Where the comparison is left to see the change it sees
/// none that is told in quite other words: two memories are better than one lost.
const FLOORS: [(Link, f64); 3] = [(Link::Supersede, 0.98), (Link::Remember, 0.90), (Link::Unlinked, 0.80)];

// MEM-4, MEM-3
#[test]
fn the_current_value_of_a_fact_that_changed_stands_first() {
    let daemon = DaemonSetup::new().env("TIRO_TEST_NOW", ASKED_AT).spawn();
    let mut client = Client::connect(&daemon.socket()).unwrap();
    let facts = facts(1);
    keep(&mut client, &facts, &noise(1, Noise::People)).unwrap();
    let asked = ask(&mut client, &facts, true).unwrap();
    for (link, floor) in FLOORS {
        let (current, count) = share(&asked, |fact: &Fact| fact.link == link);
        println!("{link:?}: {current:.3} of {count}, floor {floor}");
        assert!(current >= floor, "{link:?}: {current:.3}");
    }
    let older = asked.iter().filter(|one| one.fact.link == Link::Supersede && matches!(one.first, First::Older(_)));
    assert_eq!(older.count(), 0, "what was superseded is never found");
}
