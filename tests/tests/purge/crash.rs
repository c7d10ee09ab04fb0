//! A purge that dies, or finds something in its way: whatever it was at, the store is whole, nothing else is lost, and the purge comes to
//! its end.

use super::{Over, files_with, keep, mark, text};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tiro_tests::wait::wait_for;
use tiro_tests::{Rpc, TestDaemon, check, heavy};

/// The steps as progress names them, in order, and as receipts do.
const STEPS: [(&str, &str); 6] = [
    ("purging", "rows"),
    ("purging sessions", "sessions"),
    ("rewriting the store", "store"),
    ("merging the full-text index", "index"),
    ("writing the vectors anew", "vectors"),
    ("backup", "backups"),
];

/// Memories of one purge.
const GONE: usize = 20;

/// The receipt of the purge a memory fell to.
fn receipt(rpc: &mut Rpc, id: &str) -> Value {
    rpc.ask::<Value>("memory/receipts", json!({"id": id}))["items"][0].clone()
}

/// Waits until a purge is over, and gives its receipt.
fn over(rpc: &mut Rpc, id: &str) -> Value {
    wait_for("the purge to be over", Duration::from_secs(60), || Some(receipt(rpc, id)).filter(|receipt| receipt["done"] == true))
}

/// Kills the daemon when a purge comes to a step. What was written beside it and acknowledged.
fn kill_at(daemon: &mut TestDaemon, ids: &[String], stage: &str, from: usize) -> Vec<String> {
    let (mut rpc, mut writing) = (daemon.rpc(), daemon.connect());
    writing.initialize();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let over = &over;
        let acknowledged = scope.spawn(move || {
            let mut ids = Vec::new();
            for n in from.. {
                if over.load(Ordering::SeqCst) {
                    break;
                }
                let params = json!({"text": text(n), "verbatim": true});
                let Ok(answer) = writing.try_call("memory/remember", params) else { break };
                ids.push(answer.unwrap()["id"].as_str().unwrap().to_owned());
            }
            ids
        });
        let _over = Over(over);
        rpc.send("memory/forget", json!({"ids": ids, "purge": true, "_meta": {"progressToken": "p"}})).unwrap();
        rpc.notification_where("progress", |params| params["stage"] == stage);
        daemon.kill9();
        acknowledged.join().unwrap()
    })
}

// MEM-9, D3
#[test]
fn a_purge_killed_at_any_of_its_steps_goes_on_from_there_and_nothing_else_is_lost() {
    let rounds = if heavy() { 60 } else { STEPS.len() };
    let mut daemon = TestDaemon::spawn();
    let mut all = keep(&mut daemon.rpc(), 0..2_000);
    let (mut parts, mut written) = (Vec::new(), 0);
    for round in 0..rounds {
        let (step, first) = (round % STEPS.len(), round * GONE);
        let ids: Vec<String> = all[first..first + GONE].to_vec();
        let more = kill_at(&mut daemon, &ids, STEPS[step].0, 10_000 * (round + 1));
        written += more.len();
        all.extend(more);
        daemon.start();
        let mut rpc = daemon.rpc();
        let whole: Value = rpc.ask("store/verify", json!({}));
        assert_eq!(whole["ok"], true, "{}: {whole}", STEPS[step].0);
        let at_first = receipt(&mut rpc, &ids[0])["purgedAt"].clone();
        for (stage, part) in &STEPS[..step] {
            assert!(at_first[*part].is_string(), "killed at {}, {stage} was not done: {at_first}", STEPS[step].0);
        }
        parts.push(at_first.as_object().map_or(0, serde_json::Map::len));
        let told = over(&mut rpc, &ids[0]);
        for (part, at) in at_first.as_object().unwrap() {
            assert_eq!(told["purgedAt"][part], *at, "what was done before stays told as it was");
        }
        let marks: Vec<String> = (first..first + GONE).map(mark).collect();
        assert_eq!(files_with(daemon.home(), &marks), Vec::<String>::new(), "{}", STEPS[step].0);
        check::recall_contains(&mut rpc, &text(1_999), &text(1_999));
    }
    all.drain(..rounds * GONE);
    let mut rpc = daemon.rpc();
    for id in &all {
        rpc.ask::<Value>("memory/get", json!({"id": id}));
    }
    let whole: Value = rpc.ask("store/verify", json!({}));
    assert_eq!(whole["ok"], true, "{whole}");
    // What was not acknowledged may be there too: one write a kill.
    let there = whole["memories"].as_u64().unwrap() as usize;
    assert!((all.len()..=all.len() + rounds).contains(&there), "{there} of {} are there", all.len());
    assert!(written > 0, "something was written meanwhile");
    println!("parts done at {rounds} kills: {parts:?}; {written} written meanwhile");
}

// MEM-9
#[test]
fn a_purge_that_something_is_in_the_way_of_says_so_and_is_taken_up_again() {
    let mut daemon = TestDaemon::spawn();
    let mut rpc = daemon.rpc();
    let ids = keep(&mut rpc, 0..10);
    let made: Value = rpc.ask("store/backup", json!({}));
    let backups = std::path::Path::new(made["path"].as_str().unwrap()).parent().unwrap().to_owned();
    let aside = backups.with_extension("aside");
    std::fs::rename(&backups, &aside).unwrap();
    std::fs::write(&backups, "no folder").unwrap();
    let answer: Value = rpc.ask("memory/forget", json!({"ids": [ids[0]], "purge": true}));
    let told = &answer["receipt"];
    assert_eq!((answer["count"].as_u64(), told["done"].as_bool()), (Some(1), Some(false)), "{answer}");
    assert!(told["putOff"].is_string() && told["purgedAt"]["vectors"].is_string(), "{answer}");
    assert!(told["purgedAt"].get("backups").is_none(), "{answer}");
    std::fs::remove_file(&backups).unwrap();
    std::fs::rename(&aside, &backups).unwrap();
    assert!(!files_with(daemon.home(), &[mark(0)]).is_empty(), "the backup of before is there");
    daemon.restart();
    let told = over(&mut daemon.rpc(), &ids[0]);
    assert_eq!((told["backupsRemoved"].as_u64(), told.get("putOff")), (Some(1), None), "{told}");
    assert_eq!(files_with(daemon.home(), &[mark(0)]), Vec::<String>::new());
}
