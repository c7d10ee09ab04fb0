//! Holds recall on the project's own set against floors: what was measured, less two points.
//!
//! A change that is meant to lose here says so by lowering a floor; one that gains raises it
//! (`cargo run --release -p tiro-benches --bin recall` prints the figures).
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::Path;
use tiro_benches::recall::report::{abstention, false_empties, rows};
use tiro_benches::recall::set::Set;
use tiro_benches::recall::trial::{Manner, ask, import};
use tiro_benches::rpc::Client;
use tiro_tests::TestDaemon;

/// Languages of question and answer, and the least recall@5, recall@10 and nDCG@10.
const FLOORS: [(&str, [f64; 3]); 3] =
    [("[en]", [0.756, 0.840, 0.666]), ("[zh]", [0.877, 0.919, 0.782]), ("[across]", [0.864, 0.922, 0.773])];
/// Least recall@5 of questions that name an identifier.
const IDENTIFIERS_FLOOR: f64 = 0.98;
/// Most questions with an answer that may find nothing, as a share.
const FALSE_EMPTIES_MAX: f64 = 0.192;

fn own() -> Set {
    Set::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("data/recall")).unwrap()
}

// MEM-3
#[test]
fn the_set_is_whole() {
    let set = own();
    let texts: BTreeSet<_> = set.documents.iter().map(|d| (&d.space, &d.text)).collect();
    assert_eq!(texts.len(), set.documents.len(), "a document stands twice");
    let queries: BTreeSet<_> = set.questions.iter().map(|q| (&q.space, &q.query)).collect();
    assert_eq!(queries.len(), set.questions.len(), "a question stands twice");
    let absent: BTreeSet<_> = set.absent.iter().map(|a| (&a.space, &a.query)).collect();
    assert_eq!(absent.len(), set.absent.len(), "a question without an answer stands twice");
    assert!(absent.is_disjoint(&queries), "a question has an answer and has none");
    for kind in ["nonsense", "stranger", "never"] {
        assert!(set.absent.iter().filter(|a| a.kind == kind).count() >= 30, "too few of {kind}");
    }
    for (name, _) in FLOORS {
        assert!(set.languages().iter().filter(|l| l.name() == name).count() >= 100, "too few of {name}");
    }
}

// MEM-3, MEM-5: no floor is given away unseen, and no more nonsense finds something than did.
#[test]
fn recall_stays_above_its_floors() {
    let set = own();
    let daemon = TestDaemon::spawn();
    let mut client = Client::connect(&daemon.socket()).unwrap();
    let imported = import(&mut client, &set).unwrap();
    assert_eq!(imported.refused, 0);
    let manner = Manner { mode: "hybrid".to_owned(), limit: 10, decay: false };
    let trial = ask(&mut client, &set, &imported, &manner, false).unwrap();

    let rows = rows(&trial.asked);
    let mean = |name: &str| rows.iter().find(|row| row.name == name).unwrap_or_else(|| panic!("no row {name}")).mean;
    let mut fallen = Vec::new();
    for (name, [at_5, at_10, ndcg]) in FLOORS {
        let m = mean(name);
        let found = [(m.recall_at_5, at_5, "recall@5"), (m.recall_at_10, at_10, "recall@10"), (m.ndcg_at_10, ndcg, "nDCG@10")];
        for (value, floor, measure) in found {
            println!("{name} {measure} {value:.3}, floor {floor:.3}");
            if value < floor {
                fallen.push(format!("{name} {measure} is {value:.3}, below {floor:.3}"));
            }
        }
    }
    assert!(fallen.is_empty(), "{fallen:#?}");
    assert!(mean("ident").recall_at_5 >= IDENTIFIERS_FLOOR, "identifiers: {:?}", mean("ident"));
    let answered: Vec<&str> =
        trial.in_vain.iter().filter(|v| v.kind == "nonsense" && v.is_answered).map(|v| v.query.as_str()).collect();
    assert!(answered.is_empty(), "nonsense was answered: {answered:#?}");
    for line in abstention(&trial) {
        println!("{} AUROC {:.3}, answered {:.3}", line.kind, line.auroc, line.false_answers);
    }
    let empties = false_empties(&trial.asked);
    println!("false empties {empties:.3}");
    assert!(empties <= FALSE_EMPTIES_MAX, "{empties:.3} of the questions with an answer find nothing");
}
