//! Near-duplicates give way to what says something else, where that is asked for.

use crate::{kept, recalled, texts};
use serde_json::{Value, json};
use tiro_tests::{InsideDaemon, Rpc};

const TWINS: [&str; 3] = [
    "The backup of the photo archive runs on Monday at 02:00",
    "The backup of the photo archive runs on Tuesday at 02:00",
    "The backup of the photo archive runs on Friday at 02:00",
];
const OTHER: &str = "A failed photo archive backup is retried by Ines by hand";

fn filled(rpc: &mut Rpc) {
    crate::fill(rpc);
    TWINS.iter().for_each(|text| _ = kept(rpc, text));
    kept(rpc, OTHER);
}

fn params(diversity: f64, limit: u32) -> Value {
    json!({"query": "when does the backup of the photo archive run", "limit": limit, "diversity": diversity, "explain": true})
}

// MEM-3
#[test]
fn of_three_near_twins_one_is_shown_beside_the_note_that_says_something_else() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    filled(&mut rpc);
    let plain = texts(&mut rpc, json!({"query": "when does the backup of the photo archive run", "limit": 2}));
    assert!(plain.iter().all(|text| TWINS.contains(&text.as_str())), "{plain:?}");
    assert_eq!(texts(&mut rpc, params(0.0, 2)), plain, "0 is off");
    let hits = recalled(&mut rpc, params(1.0, 2))["hits"].clone();
    let (first, second) = (&hits[0], &hits[1]);
    assert_eq!((first["text"].as_str(), second["text"].as_str()), (Some(plain[0].as_str()), Some(OTHER)));
    assert!(first["explain"].get("gaveWay").is_none(), "{first}");
    let gave_way = &second["explain"]["gaveWay"];
    let (likeness, factor) = (gave_way["likeness"].as_f64().unwrap(), gave_way["factor"].as_f64().unwrap());
    assert!(gave_way["to"] == first["id"] && likeness < 0.5 && (factor - (1.0 - likeness)).abs() < 1e-6, "{second}");
    assert!(second["score"].as_f64() < first["score"].as_f64(), "scores stay as they are");
}

// MEM-3
#[test]
fn what_gives_way_is_not_lost_and_the_budget_packs_what_stands_first() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    filled(&mut rpc);
    let all = texts(&mut rpc, params(1.0, 4));
    assert_eq!(all[1], OTHER);
    assert!(TWINS.iter().all(|twin| all.iter().any(|text| text == twin)), "{all:?}");
    assert_eq!(texts(&mut rpc, params(1.0, 4)), all, "the same again");
    let mut packed = params(1.0, 10);
    packed["tokenBudget"] = json!(34);
    assert_eq!(texts(&mut rpc, packed), all[..2]);
    let hits = recalled(&mut rpc, params(0.5, 4))["hits"].clone();
    let gave_way: Vec<(f64, f64)> = hits
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|hit| Some((hit["explain"]["gaveWay"]["likeness"].as_f64()?, hit["explain"]["gaveWay"]["factor"].as_f64()?)))
        .collect();
    assert_eq!(gave_way.len(), 3, "{hits}");
    assert!(gave_way.iter().all(|(likeness, factor)| (factor - (1.0 - 0.5 * likeness)).abs() < 1e-6), "{gave_way:?}");
    assert_eq!(gave_way.iter().filter(|(likeness, _)| *likeness > 0.5).count(), 2, "twins are alike: {gave_way:?}");
    for wrong in [-0.1, 1.1] {
        let error = rpc.refused("memory/recall", params(wrong, 2));
        assert!(error.message.contains("diversity"), "{error:?}");
    }
}
