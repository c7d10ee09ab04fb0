//! Of notes that are the same but for a value, and that the question cannot tell apart, the newer comes first.

use crate::{fill, kept_as, recalled, texts};
use serde_json::{Value, json};
use tiro_tests::{InsideDaemon, Rpc};

fn told(rpc: &mut Rpc, day: &str, text: &str) {
    kept_as(rpc, json!({"text": text, "occurredAt": format!("{day}T12:00:00Z"), "explicit": true}));
}

fn later(hit: &Value) -> f64 {
    let features = hit["explain"]["features"].as_array().unwrap();
    features.iter().find(|feature| feature["name"] == "later").unwrap()["value"].as_f64().unwrap()
}

// MEM-3, MEM-4: a near-twin beat the later one because it held the question's words a little better
#[test]
fn the_newest_of_near_twins_comes_first_whatever_they_score() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    fill(&mut rpc);
    let stories = [
        ("Marta's phone extension is", "The phone extension of Marta is 6769 now", "What is Marta's phone extension?"),
        ("王芳的分机号是", "王芳的分机号现在改成6769", "王芳的分机号是多少？"),
    ];
    for (words, newest, question) in stories {
        // Not in the order of their times.
        told(&mut rpc, "2025-02-03", newest);
        told(&mut rpc, "2024-01-28", &format!("{words} 2760"));
        told(&mut rpc, "2024-07-30", &format!("{words} 5000"));
        for decay in [true, false] {
            let result = recalled(&mut rpc, json!({"query": question, "limit": 3, "decay": decay, "explain": true}));
            let hits = result["hits"].as_array().unwrap();
            let found: Vec<&str> = hits.iter().map(|hit| hit["text"].as_str().unwrap()).collect();
            assert_eq!(found, [newest, format!("{words} 5000").as_str(), format!("{words} 2760").as_str()]);
            assert_eq!(later(&hits[0]), 0.0);
            assert!(hits[1..].iter().all(|hit| (0.0..=0.35).contains(&later(hit))) && later(&hits[1]) > 0.0, "{result}");
        }
        let old = texts(&mut rpc, json!({"query": format!("{words} 2760"), "limit": 1}));
        assert_eq!(old, [format!("{words} 2760")], "who names the old value finds it");
    }
}

// MEM-3
#[test]
fn another_subject_a_time_in_the_question_and_notes_made_at_once_are_left_as_they_stand() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    fill(&mut rpc);
    told(&mut rpc, "2024-01-28", "Marta's phone extension is 2760");
    told(&mut rpc, "2025-02-03", "Bruno's phone extension is 5000");
    let first = |rpc: &mut Rpc, query: &str| texts(rpc, json!({"query": query, "limit": 1, "decay": false}));
    assert_eq!(first(&mut rpc, "What is Marta's phone extension?"), ["Marta's phone extension is 2760"]);
    told(&mut rpc, "2024-09-03", "Marta's phone extension is 9117");
    assert_eq!(first(&mut rpc, "What was Marta's phone extension in January 2024?"), ["Marta's phone extension is 2760"]);
    for text in ["the kiosk sells stamps for 80 cents", "the kiosk sells stamps for 95 cents"] {
        kept_as(&mut rpc, json!({"text": text}));
    }
    let result = recalled(&mut rpc, json!({"query": "stamps at the kiosk", "limit": 2, "explain": true, "threshold": 0}));
    assert!(result["hits"].as_array().unwrap().iter().all(|hit| later(hit) == 0.0), "{result}");
}
