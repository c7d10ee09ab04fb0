//! Long texts: kept whole, found by any of their passages, as one memory.

use crate::{fill, kept, recalled, texts};
use serde_json::{Value, json};
use tiro_tests::InsideDaemon;

fn chapter(n: usize) -> String {
    let subjects = ["glaciers", "orchards", "violins", "lighthouses", "beehives", "tramways", "quarries", "observatories"];
    let subject = subjects[n % subjects.len()];
    (0..30).map(|i| format!("Paragraph {i} tells of {subject} and how they are cared for in year {}. ", 1900 + i)).collect()
}

// MEM-2, MEM-3
#[test]
fn a_long_text_is_found_by_each_of_its_passages_as_one_whole_memory() {
    let mut daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    fill(&mut rpc);
    let whole: String = (0..8).map(chapter).collect::<Vec<_>>().join("\n\n");
    assert!(whole.len() > 15_000);
    let id = kept(&mut rpc, &whole);
    let check = |rpc: &mut tiro_tests::Rpc| {
        for subject in ["glaciers", "violins", "observatories"] {
            let result = recalled(rpc, json!({"query": format!("how are {subject} cared for"), "limit": 3, "threshold": 0}));
            let hits = result["hits"].as_array().unwrap();
            let of_it: Vec<&Value> = hits.iter().filter(|h| h["id"] == id.as_str()).collect();
            assert_eq!(of_it.len(), 1, "one hit a memory");
            assert_eq!(hits.len(), 3, "its passages take no other hit's place");
            assert_eq!(of_it[0]["text"], whole.as_str());
            let passage = of_it[0]["passage"].as_str().unwrap();
            assert!(passage.contains(subject) && whole.contains(passage) && passage.chars().count() <= 2_000);
        }
    };
    check(&mut rpc);
    daemon.stop();
    daemon.start_again();
    let mut rpc = daemon.rpc();
    check(&mut rpc);
    let block: Value = rpc.ask("memory/context", json!({"query": "how are violins cared for", "limit": 1, "threshold": 0}));
    assert!(block["text"].as_str().unwrap().contains("one passage") && block["tokens"].as_u64().unwrap() < 1_500);
    // Cut down to one line, the old passages are gone, also after another start.
    let _: Value = rpc.ask("memory/update", json!({"id": id, "ifVersion": 1, "text": "a short note"}));
    for restarted in [false, true] {
        if restarted {
            daemon.stop();
            daemon.start_again();
        }
        let mut rpc = daemon.rpc();
        let found =
            texts(&mut rpc, json!({"query": "how are violins cared for", "threshold": 0, "limit": 50, "mode": "lexical"}));
        assert!(found.iter().all(|t| !t.contains("violins")));
        let gone = recalled(&mut rpc, json!({"query": "violins", "threshold": 0, "limit": 1, "mode": "vector"}));
        assert!(gone["hits"][0].get("passage").is_none());
    }
    let _: Value = daemon.rpc().ask("memory/undo", json!({"id": id}));
    check(&mut daemon.rpc());
}
