//! What stands of long texts: labelled facts among filling, JSON with key members, sizes and hostile shapes.
#![allow(clippy::unwrap_used)]

use super::*;
use proptest::prelude::*;
use serde_json::json;

/// Sentences of the labelled set: of a language, facts or filling.
fn labelled(language: &str, sort: &str) -> Vec<&'static str> {
    let lines = include_str!("../../../tests/data/agent/digest_facts.tsv").lines();
    let head = format!("{language}\t{sort}\t");
    lines.filter_map(|line| line.strip_prefix(&head)).collect()
}

/// A text of filling with these facts spread in it, of about so many tokens.
fn among_filling(language: &str, facts: &[&str], tokens_about: u32, seed: usize) -> String {
    let fill = labelled(language, "fill");
    let (mut out, mut n) = (Vec::new(), seed);
    while tokens::estimate(&out.join(" ")) < tokens_about {
        // Filling that repeats word for word would be easy to leave out.
        out.push(format!("{} {}", fill[n % fill.len()], ["Indeed.", "So it goes.", "As ever."][n % 3]));
        n += 5;
    }
    for (at, fact) in facts.iter().enumerate() {
        out.insert((at * 7 + seed) % out.len(), (*fact).to_owned());
    }
    let join = if seed.is_multiple_of(2) { "\n" } else { " " };
    out.join(join)
}

// RES-1: of the labelled facts (numbers, negations) among filling, in both languages, in a fifth of the text
#[test]
fn numbers_and_negations_stand_in_a_fifth() {
    let (mut kept, mut all, mut lost) = (0, 0, Vec::new());
    for language in ["en", "zh"] {
        for (seed, facts) in labelled(language, "fact").chunks(4).enumerate() {
            for tokens_about in [600, 1_200, 1_900] {
                let text = among_filling(language, facts, tokens_about, seed);
                let tokens_max = tokens::estimate(&text) / 5;
                let short = digest(&text, &[], tokens_max);
                assert!(tokens::estimate(&short.text) <= tokens_max, "{}", short.text);
                for fact in facts {
                    all += 1;
                    if short.text.contains(fact) { kept += 1 } else { lost.push(*fact) }
                }
            }
        }
    }
    eprintln!("{kept} of {all} facts kept; lost: {lost:?}");
    assert!(kept * 100 >= all * 95, "{kept} of {all}: {lost:?}");
}

// RES-1: the declared key members stand, however much stands around them
#[test]
fn key_members_of_json_stand() {
    let order = |n: usize| {
        json!({"id": format!("OD{n:05}"), "total": n as f64 * 1.5, "note": "as it was agreed on the telephone ".repeat(8),
            "lines": [{"sku": "a", "text": "something that was bought"}, {"sku": "b"}]})
    };
    let orders: Vec<Value> = (0..60).map(order).collect();
    let whole = json!({"meta": {"page": 1, "debug": "x".repeat(3_000)}, "status": "partial", "orders": orders}).to_string();
    let keys = ["id".to_owned(), "total".to_owned(), "status".to_owned()];
    let short = digest(&whole, &keys, tokens::estimate(&whole) / 5);
    assert_eq!(short.format, Format::Json);
    let value: Value = serde_json::from_str(&short.text).unwrap();
    assert_eq!(value["status"], "partial");
    let ids: Vec<&str> = value["orders"].as_array().unwrap().iter().filter_map(|order| order["id"].as_str()).collect();
    assert_eq!(ids.len(), 60, "{}", short.text);
    assert!(short.text.contains("88.5"), "the last total: {}", short.text);
    let brief = digest(&whole, &keys, 120);
    assert!(tokens::estimate(&brief.text) <= 120 && brief.text.contains("partial"), "{}", brief.text);
    assert!(serde_json::from_str::<Value>(&brief.text).is_ok(), "what stands is JSON: {}", brief.text);
}

// RES-1: no number and no word is cut
#[test]
fn nothing_is_cut_in_the_middle_of_a_value() {
    let text = format!("The balance is 123456789.25 on account 998877. {}", "filling words without an end ".repeat(900));
    for tokens_max in [12, 30, 100, 400] {
        let short = digest(&text, &[], tokens_max).text;
        for word in short.split(|c: char| !c.is_alphanumeric() && c != '.').filter(|word| !word.is_empty()) {
            assert!(text.contains(&format!("{word} ")) || text.contains(&format!("{word}.")), "{word:?} in {short:?}");
        }
    }
    assert_eq!(digest(&"x".repeat(1_000_000), &[], 100).text, "", "one value that does not fit is left out");
    let logs: String = (0..5_000).map(|n| format!("2026-03-05 12:00:{:02} request {n} done in {n} ms\n", n % 60)).collect();
    let failed = format!("{logs}ERROR: disk full on /data\n{logs}");
    assert!(digest(&failed, &[], 120).text.contains("ERROR: disk full on /data"));
}

proptest! {
    // RES-1: whatever comes, the bound holds and what is JSON stays JSON
    #[test]
    fn any_text_keeps_to_its_bound(text in "(?s).{0,2000}", tokens_max in 0..200u32) {
        let short = digest(&text, &["a".to_owned()], tokens_max);
        if short.format == Format::Text {
            prop_assert!(tokens::estimate(&short.text) <= tokens_max, "{:?}", short.text);
        }
    }
}
