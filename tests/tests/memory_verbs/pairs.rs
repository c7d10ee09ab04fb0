//! The labelled pairs: a first text, a second told after it, and what the second should come to. Each goes over the socket into a
//! space of its own. The rules were written on `rules.jsonl`, the weights fitted on it and `likely.jsonl`; `held.jsonl` and the much harder
//! `examined.jsonl` were written apart from both, and only their totals are looked at.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use tiro_tests::{InsideDaemon, Rpc};

/// What is labelled, in the order of the matrix.
const LABELS: [&str; 5] = ["created", "duplicate", "updated", "superseded", "conflict"];

/// What is asked of a set.
struct Bars {
    name: &'static str,
    /// Share of all that comes out right, at least.
    right_min: f64,
    /// Share of what is something else that comes out as anything but new, at most.
    apart_max: f64,
    /// Share of the duplicates that is recognised, at least; the rest is kept twice.
    known_min: f64,
}

const BARS: [Bars; 4] = [
    Bars { name: "rules.jsonl", right_min: 0.85, apart_max: 0.03, known_min: 0.3 },
    Bars { name: "likely.jsonl", right_min: 0.48, apart_max: 0.05, known_min: 0.03 },
    Bars { name: "held.jsonl", right_min: 0.8, apart_max: 0.03, known_min: 0.3 },
    Bars { name: "examined.jsonl", right_min: 0.45, apart_max: 0.05, known_min: 0.02 },
];

#[derive(serde::Deserialize)]
struct Pair {
    a: String,
    b: String,
    label: String,
}

/// How often each label came out as each outcome.
#[derive(Default)]
struct Matrix(BTreeMap<(String, String), usize>);

impl Matrix {
    fn count(&self, which: impl Fn(&str, &str) -> bool) -> usize {
        self.0.iter().filter(|((label, got), _)| which(label, got)).map(|(_, n)| n).sum()
    }

    fn share(&self, part: usize, whole: usize) -> f64 {
        part as f64 / whole.max(1) as f64
    }

    fn print(&self, name: &str) {
        println!("{name}: label against outcome\n{:>12} {}", "", LABELS.map(|l| format!("{l:>11}")).join(""));
        for label in LABELS {
            let row = LABELS.map(|got| format!("{:>11}", self.count(|l, g| l == label && g == got)));
            println!("{label:>12} {}", row.join(""));
        }
        let (all, right) = (self.count(|_, _| true), self.count(|l, g| l == g));
        println!("{right} of {all} right, {:.1} %", 100.0 * self.share(right, all));
    }
}

fn measure(rpc: &mut Rpc, name: &str) -> Matrix {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/pairs").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut matrix = Matrix::default();
    for (n, line) in text.lines().filter(|line| !line.trim().is_empty()).enumerate() {
        let pair: Pair = serde_json::from_str(line).unwrap_or_else(|error| panic!("line {n} of {name}: {error}"));
        let space = format!("{}-{n}", name.split('.').next().unwrap());
        let told = |rpc: &mut Rpc, text: &str| -> Value {
            rpc.ask("memory/remember", json!({"text": text, "space": space, "explicit": true}))
        };
        assert_eq!(told(rpc, &pair.a)["outcome"], "created", "{}", pair.a);
        let second = told(rpc, &pair.b);
        let outcome = second["outcome"].as_str().unwrap();
        if name == "rules.jsonl" && pair.label != "duplicate" && outcome != pair.label {
            println!("{} / {}: {} came out as {outcome}", pair.a, pair.b, pair.label);
        }
        *matrix.0.entry((pair.label, outcome.to_owned())).or_default() += 1;
    }
    matrix
}

// MEM-8
#[test]
fn pairs_come_out_as_they_are_labelled() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    for Bars { name, right_min, apart_max, known_min } in BARS {
        let matrix = measure(&mut rpc, name);
        matrix.print(name);
        let all = matrix.count(|_, _| true);
        assert!(all >= 200, "only {all} pairs in {name}");
        let contradicts = |label: &str| matches!(label, "superseded" | "conflict");
        assert_eq!(
            matrix.count(|l, g| contradicts(l) && g == "duplicate"),
            0,
            "a contradiction was taken as a duplicate in {name}"
        );
        let unrelated = matrix.count(|l, _| l == "created");
        let wrong = matrix.count(|l, g| l == "created" && g != "created");
        assert!(matrix.share(wrong, unrelated) <= apart_max, "{wrong} of {unrelated} pairs were not kept apart in {name}");
        let right = matrix.count(|l, g| l == g);
        assert!(matrix.share(right, all) >= right_min, "{right} of {all} right in {name}");
        let dropped = matrix.count(|l, g| l != "duplicate" && g == "duplicate");
        assert_eq!(dropped, 0, "another fact was dropped in {name}");
        let known = matrix.count(|l, g| l == "duplicate" && g == "duplicate");
        assert!(
            matrix.share(known, matrix.count(|l, _| l == "duplicate")) >= known_min,
            "only {known} duplicates known in {name}"
        );
    }
}
