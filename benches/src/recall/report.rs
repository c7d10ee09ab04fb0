//! What is said about trials: lines for people, one JSON object for programs.
//!
//! Must not know: how trials were made.

use super::ablation::ablations;
use super::measures::{Measures, NAMES};
use super::statistics::{Difference, auroc, paired_bootstrap};
use super::trial::{Asked, Trial};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Measures that two configurations are compared by, as places in [`NAMES`].
const COMPARED: [usize; 3] = [0, 1, 3];

/// Means of one group of questions.
pub struct Row {
    /// `ALL`, a category, or languages in brackets.
    pub name: String,
    /// Questions in it.
    pub count: usize,
    /// Their means.
    pub mean: Measures,
}

/// One row of all, one a category, one a pair of languages where there are several.
pub fn rows(asked: &[Asked]) -> Vec<Row> {
    let mut categories: BTreeMap<&str, Vec<&Measures>> = BTreeMap::new();
    let mut languages: BTreeMap<_, Vec<&Measures>> = BTreeMap::new();
    for one in asked {
        categories.entry(&one.category).or_default().push(&one.measures);
        languages.entry(one.language).or_default().push(&one.measures);
    }
    let of = |name: &str, many: &[&Measures]| Row {
        name: name.to_owned(),
        count: many.len(),
        mean: Measures::mean(many.iter().copied()),
    };
    let all: Vec<&Measures> = asked.iter().map(|one| &one.measures).collect();
    let mut rows = vec![of("ALL", &all)];
    rows.extend(categories.iter().map(|(name, many)| of(name, many)));
    if languages.len() > 1 {
        rows.extend(languages.iter().map(|(language, many)| of(language.name(), many)));
    }
    rows
}

/// How well one kind of question without an answer is told from those with one.
pub struct Abstention {
    /// The kind.
    pub kind: String,
    /// Questions of it.
    pub count: usize,
    /// Area under the ROC curve of the first hit's score.
    pub auroc: f64,
    /// Share that the daemon's own threshold lets through.
    pub false_answers: f64,
}

/// One line a kind.
pub fn abstention(trial: &Trial) -> Vec<Abstention> {
    let present: Vec<f64> = trial.asked.iter().map(|one| one.top_score).collect();
    let mut kinds: BTreeMap<&str, (Vec<f64>, usize)> = BTreeMap::new();
    for one in &trial.in_vain {
        let (scores, answered) = kinds.entry(&one.kind).or_default();
        scores.push(one.top_score);
        *answered += usize::from(one.is_answered);
    }
    let of = |(kind, (scores, answered)): (&str, (Vec<f64>, usize))| Abstention {
        kind: kind.to_owned(),
        count: scores.len(),
        auroc: auroc(&present, &scores).unwrap_or(f64::NAN),
        false_answers: answered as f64 / scores.len() as f64,
    };
    kinds.into_iter().map(of).collect()
}

/// Share of the questions with an answer that the daemon's own threshold leaves without a hit.
pub fn false_empties(asked: &[Asked]) -> f64 {
    asked.iter().filter(|one| !one.is_answered).count() as f64 / asked.len().max(1) as f64
}

/// The second less the first, by the measures that are compared.
pub fn differences(first: &[Asked], second: &[Asked]) -> Vec<(&'static str, Difference)> {
    let of = |place: usize| {
        let pairs: Vec<(f64, f64)> =
            first.iter().zip(second).map(|(a, b)| (a.measures.values()[place], b.measures.values()[place])).collect();
        paired_bootstrap(&pairs).map(|difference| (NAMES[place], difference))
    };
    COMPARED.iter().filter_map(|place| of(*place)).collect()
}

/// Prints a trial for people.
pub fn print(set: &str, label: &str, trial: &Trial) {
    println!(
        "{set} {label}: {} memories ({} refused), {} queries, {:.0}/s in, p50 {:.3} ms, p95 {:.3} ms",
        trial.documents,
        trial.refused,
        trial.asked.len(),
        trial.documents as f64 / trial.import_s.max(f64::EPSILON),
        trial.times.p50(),
        trial.times.quantile(0.95),
    );
    for row in rows(&trial.asked) {
        let figures: Vec<String> =
            NAMES.iter().zip(row.mean.values()).map(|(name, value)| format!("{name} {value:.3}")).collect();
        println!("  {:12} n={:4} {}", row.name, row.count, figures.join("  "));
    }
    print_abstention(trial);
    print_ablations(trial);
}

fn print_abstention(trial: &Trial) {
    if !trial.asked.is_empty() {
        println!("  at the default threshold: {:.3} of the questions with an answer find nothing", false_empties(&trial.asked));
    }
    for line in abstention(trial) {
        println!(
            "  {:12} n={:4} AUROC {:.3}  answered all the same {:.3}",
            line.kind, line.count, line.auroc, line.false_answers
        );
    }
}

fn print_ablations(trial: &Trial) {
    let lines = ablations(&trial.asked);
    let Some(all) = lines.first().map(|line| Measures::mean(&line.measures).values()) else { return };
    for line in &lines {
        let mean = Measures::mean(&line.measures).values();
        let figure = |place: usize| format!("{} {:.3} ({:+.3})", NAMES[place], mean[place], mean[place] - all[place]);
        let figures: Vec<String> = COMPARED.iter().map(|place| figure(*place)).collect();
        let name = if line.feature == "all" { "all features".to_owned() } else { format!("- {}", line.feature) };
        println!("  {name:12}        {}", figures.join("  "));
    }
}

/// Prints how a second configuration stands to the first.
pub fn print_differences(set: &str, first: &str, second: &str, differences: &[(&str, Difference)]) {
    println!("{set}: {second} less {first}, paired bootstrap, 95 % interval");
    for (name, d) in differences {
        let verdict = if d.is_significant() { "" } else { "  (may be noise)" };
        println!("  {name:12} {:+.4} [{:+.4}, {:+.4}]{verdict}", d.mean, d.low, d.high);
    }
}

/// A trial for programs.
pub fn to_json(set: &str, label: &str, trial: &Trial) -> Value {
    let named = |mean: Measures| -> Map<String, Value> {
        NAMES.iter().zip(mean.values()).map(|(name, value)| ((*name).to_owned(), rounded(value))).collect()
    };
    let mut quality = Map::new();
    for row in rows(&trial.asked) {
        let mut figures = named(row.mean);
        figures.insert("n".to_owned(), json!(row.count));
        quality.insert(row.name, Value::Object(figures));
    }
    let absent: Map<String, Value> = abstention(trial)
        .into_iter()
        .map(|a| (a.kind, json!({"n": a.count, "auroc": rounded(a.auroc), "falseAnswers": rounded(a.false_answers)})))
        .collect();
    let without: Map<String, Value> =
        ablations(&trial.asked).into_iter().map(|a| (a.feature, Value::Object(named(Measures::mean(&a.measures))))).collect();
    json!({
        "data": set, "configuration": label, "docs": trial.documents, "refused": trial.refused, "queries": trial.asked.len(),
        "quality": quality, "falseEmpties": rounded(false_empties(&trial.asked)), "absent": absent, "without": without,
        "ingestPerS": (trial.documents as f64 / trial.import_s.max(f64::EPSILON)).round(),
        "recallMsP50": rounded(trial.times.p50()), "recallMsP95": rounded(trial.times.quantile(0.95)),
    })
}

/// Differences for programs.
pub fn differences_to_json(set: &str, first: &str, second: &str, differences: &[(&str, Difference)]) -> Value {
    let of = |d: &Difference| json!({"mean": rounded(d.mean), "low": rounded(d.low), "high": rounded(d.high)});
    let lines: Map<String, Value> = differences.iter().map(|(name, d)| ((*name).to_owned(), of(d))).collect();
    json!({"data": set, "first": first, "second": second, "difference": lines})
}

fn rounded(value: f64) -> Value {
    json!((value * 10_000.0).round() / 10_000.0)
}
