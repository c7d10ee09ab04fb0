//! What the gate says of single texts; the labelled sets are judged over the socket.

#![allow(clippy::unwrap_used)]

use super::judge::{Refusal, Verdict, see};
use super::learned::weigh;
use tiro_schema::wire::memory::Category;

fn judge(text: &str) -> Verdict {
    static EMBEDDER: std::sync::LazyLock<tiro_index::embed::StaticTable> =
        std::sync::LazyLock::new(|| tiro_index::embed::StaticTable::new().unwrap());
    weigh(text, &see(text), &*EMBEDDER)
}

fn check_refused(text: &str, refusal: Refusal) {
    assert_eq!(judge(text), Err(refusal), "{text}");
}

fn check_kept(text: &str, category: Category) {
    assert_eq!(judge(text), Ok(category), "{text}");
}

// M3, MEM-7
#[test]
fn lines_of_programs_are_refused_with_their_reason() {
    check_refused("HEARTBEAT_OK", Refusal::Heartbeat);
    check_refused("System boot complete, all services online.", Refusal::Heartbeat);
    check_refused("心跳正常", Refusal::Heartbeat);
    check_refused("run echo hello", Refusal::Command);
    check_refused("2024-11-02 10:14:55 INFO server started", Refusal::Noise);
    check_refused("thanks, that helped a lot!", Refusal::SmallTalk);
    check_refused("what is my favourite color?", Refusal::Question);
    check_refused("I'm so tired today", Refusal::Transient);
    check_refused("the blue one", Refusal::Fragment);
}

// M5, MEM-7
#[test]
fn what_lasts_is_kept_as_what_it_is() {
    check_kept("Use the bot account except for releases", Category::Constraint);
    check_kept("I'm allergic to penicillin.", Category::Constraint);
    check_kept("My name is Priya Raman", Category::Identity);
    check_kept("I prefer tabs over spaces.", Category::Preference);
    check_kept("I want to run a half marathon by next spring.", Category::Goal);
    check_kept("The fix was to raise the limit to 65536.", Category::Conclusion);
    check_kept("the staging database listens on port 5433", Category::Fact);
    check_kept("Yesterday we signed the contract with Northwind.", Category::Event);
    check_kept("我对海鲜过敏", Category::Constraint);
    check_kept("以后回答都用表格", Category::Preference);
}

// MEM-7
#[test]
fn a_statement_beside_a_question_is_kept() {
    check_kept("I'm vegan, so what could I cook for six people tonight?", Category::Preference);
    check_refused("Can you fix the typo in line 12, please?", Refusal::Command);
    check_kept("Can you always answer in French?", Category::Preference);
}

// M21
#[test]
fn any_cut_of_a_mixed_text_is_judged() {
    let text = "记住：用户 说 “Hello” 👨‍👩‍👧 don’t {\"a\":1} [===>] asdf \u{200B} naïve Ｘ，so? 2024-01-01 ERROR";
    for (i, _) in text.char_indices() {
        let _ = judge(&text[..i]);
        let _ = judge(&text[i..]);
    }
}

/// Writes the features of labelled utterances for `scripts/gate_weights.py`: `TIRO_GATE_FROM` names files of them, separated by
/// commas, `TIRO_GATE_TO` the file to write.
#[test]
#[ignore = "a tool: it makes the input of scripts/gate_weights.py"]
fn features_of_labelled_utterances() {
    use std::io::Write;
    let embedder = tiro_index::embed::StaticTable::new().unwrap();
    let mut out = std::io::BufWriter::new(std::fs::File::create(std::env::var("TIRO_GATE_TO").unwrap()).unwrap());
    for path in std::env::var("TIRO_GATE_FROM").unwrap().split(',') {
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let mut row: serde_json::Value = serde_json::from_str(line).unwrap();
            let text = row["text"].as_str().unwrap().to_owned();
            row["features"] = serde_json::to_value(super::features::features(&text, &see(&text), &embedder)).unwrap();
            row["from"] = path.into();
            writeln!(out, "{row}").unwrap();
        }
    }
}
