//! `tiro import` of what other memories hold: dumps of mem0, the graph of the MCP memory server; formats that are forced or unknown.
#![allow(clippy::unwrap_used)]

use serde_json::Value;
use tiro_tests::Tiro;

fn sample(name: &str) -> String {
    tiro_tests::workspace().join("tests/data/import").join(name).display().to_string()
}

fn texts(tiro: &Tiro) -> Vec<String> {
    let listed = tiro.json(&["list", "--all", "--oldest"]);
    listed["items"].as_array().unwrap().iter().map(|item| item["text"].as_str().unwrap().to_owned()).collect()
}

fn counts(report: &Value) -> (u64, u64, u64, u64) {
    let n = |name: &str| report[name].as_u64().unwrap();
    (n("created"), n("duplicate"), n("updated"), n("refusedCount"))
}

#[test]
fn a_dump_of_mem0_keeps_its_labels_and_times_and_follows_its_changes() {
    let tiro = Tiro::new();
    let report = tiro.run(&["--json", "import", &sample("mem0.json")]).exits(1).value();
    assert_eq!(counts(&report), (4, 0, 0, 2), "{report}");
    assert_eq!(report["skipped"]["empty memories"], 1);
    assert_eq!(
        texts(&tiro),
        ["Prefers the window seat on night trains", "Allergic to cashews", "The cat is called Bramble", "ada lives in Leipzig"]
    );
    let seat = &tiro.json(&["list", "--all", "-t", "travel"])["items"][0];
    assert_eq!((seat["createdAt"].as_str(), &seat["entities"]), (Some("2025-06-01T17:16:05.490Z"), &serde_json::json!(["ada"])));
    let changed = std::fs::read_to_string(sample("mem0.json")).unwrap().replace("the window seat", "the aisle seat");
    let again = tiro.run_with(&changed, &["--json", "import", "-"]).exits(1).value();
    assert_eq!(counts(&again), (0, 3, 1, 2), "{again}");
    assert!(texts(&tiro).contains(&"Prefers the aisle seat on night trains".to_owned()));
    let id = seat["id"].as_str().unwrap();
    assert_eq!(tiro.json(&["history", id])["items"][0]["change"], "imported");
    // It is found by its new words, and not by what it said before.
    let hits = tiro.json(&["recall", "aisle seat on trains"]);
    assert_eq!(hits["hits"][0]["id"], id);
    tiro.ok(&["undo", id]);
    assert_eq!(tiro.json(&["show", id])["text"], "Prefers the window seat on night trains");
}

#[test]
fn memories_of_mem0_come_as_an_array_and_line_by_line_too() {
    let one = "{\"id\":\"a\",\"memory\":\"Keeps bees on the roof\",\"user_id\":\"u\"}";
    let two = "{\"id\":\"b\",\"memory\":\"Sells honey in August\",\"user_id\":\"u\"}";
    for text in [format!("[{one},\n{two}]"), format!("{one}\n{two}\n"), format!("{{\"memories\":[{one},{two}]}}")] {
        let tiro = Tiro::new();
        let report = tiro.run_with(&text, &["--json", "import", "-", "--format", "mem0"]).exits(0).value();
        assert_eq!(counts(&report), (2, 0, 0, 0), "{text}: {report}");
    }
}

#[test]
fn a_knowledge_graph_becomes_a_memory_an_observation_and_a_sentence_a_relation() {
    let tiro = Tiro::new();
    let report = tiro.run(&["--json", "import", &sample("memory.jsonl")]).exits(1).value();
    assert_eq!((counts(&report), &report["formats"][0]), ((5, 0, 0, 2), &Value::from("mcp-memory")), "{report}");
    assert_eq!(report["refused"][0]["line"], 5);
    assert_eq!(
        texts(&tiro),
        [
            "Harbour_Crane_4: Its brake pads were replaced in May",
            "Harbour_Crane_4: The operator's manual is in Dutch",
            "Ines: Signs off the crane inspections",
            "Quay North: place",
            "Ines inspects every month Harbour_Crane_4",
        ]
    );
    let of = tiro.json(&["list", "--all", "--entity", "Harbour_Crane_4"]);
    assert_eq!(of["items"].as_array().unwrap().len(), 3);
    assert_eq!(
        tiro.json(&["recall", "who inspects the harbour crane?"])["hits"][0]["text"],
        "Ines inspects every month Harbour_Crane_4"
    );
    let again = tiro.run(&["--json", "import", &sample("memory.jsonl")]).exits(1).value();
    assert_eq!(counts(&again), (0, 5, 0, 2));
    // What its read_graph answers is the same graph.
    let answer = "{\"entities\":[{\"name\":\"Ines\",\"entityType\":\"person\",\"observations\":[\"Signs off the crane inspections\"]}],\"relations\":[{\"from\":\"Ines\",\"to\":\"Harbour_Crane_4\",\"relationType\":\"inspects_every_month\"}]}";
    let answered = tiro.run_with(answer, &["--json", "import", "-"]).exits(0).value();
    assert_eq!(counts(&answered), (0, 2, 0, 0), "{answered}");
}

#[test]
fn what_is_of_no_known_form_is_told_with_what_to_do() {
    let tiro = Tiro::new();
    let zip = tiro.home().join("export.zip");
    std::fs::write(&zip, b"PK\x03\x04rest").unwrap();
    let run = tiro.run(&["import", zip.to_str().unwrap()]).exits(2);
    assert!(run.stderr.contains("unpack it"), "{}", run.stderr);
    let run = tiro.run_with("[1, 2, 3]", &["import", "-"]).exits(2);
    assert!(run.stderr.contains("--format") && run.stderr.contains("claude-code"), "{}", run.stderr);
    tiro.run(&["import", "-", "--format", "yaml"]).exits(2);
    tiro.run(&["import", "/nowhere/at/all"]).exits(2);
    let empty = tiro.home().join("empty");
    std::fs::create_dir(&empty).unwrap();
    let run = tiro.run(&["import", empty.to_str().unwrap()]).exits(2);
    assert!(run.stderr.contains("*.md"), "{}", run.stderr);
}
