//! `memory/forget` with `purge`, `store/purge`, `store/verify` with `absent`, receipts.

use super::{Over, files_with, keep, mark, text};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tiro_schema::ErrorKind;
use tiro_tests::agent::{ask, scripted, session};
use tiro_tests::{Rpc, TestDaemon, Tiro, check, heavy, wait_for};

fn absent(rpc: &mut Rpc, asked: &str) -> Value {
    let result: Value = rpc.ask("store/verify", json!({"absent": asked}));
    result["absent"].clone()
}

fn kinds(absent: &Value) -> Vec<String> {
    absent["places"].as_array().unwrap().iter().map(|place| place["kind"].as_str().unwrap().to_owned()).collect()
}

// MEM-9, D15
#[test]
fn what_is_purged_stands_in_no_file_and_the_receipt_says_since_when() {
    let mut daemon = TestDaemon::spawn();
    let mut rpc = daemon.rpc();
    let ids = keep(&mut rpc, 0..60);
    rpc.ask::<Value>("memory/update", json!({"id": ids[3], "text": text(1_000), "ifVersion": 1}));
    let found: Value = rpc.ask("memory/recall", json!({"query": text(2), "threshold": 0}));
    rpc.ask::<Value>("memory/feedback", json!({"recallId": found["recallId"], "wrong": [ids[2]]}));
    rpc.ask::<Value>("store/backup", json!({}));
    let told = absent(&mut rpc, &ids[3]);
    assert_eq!((told["ok"].as_bool(), told["texts"].as_u64()), (Some(false), Some(2)), "{told}");
    assert!(kinds(&told).contains(&"memory".to_owned()) && kinds(&told).contains(&"backup".to_owned()), "{told}");

    let gone: Vec<&String> = ids[..5].iter().collect();
    let answer: Value = rpc.ask("memory/forget", json!({"ids": gone, "purge": true, "key": "once"}));
    let receipt = &answer["receipt"];
    assert_eq!((answer["count"].as_u64(), receipt["done"].as_bool()), (Some(5), Some(true)), "{answer}");
    assert!(answer.get("undoUntil").is_none());
    for place in ["rows", "sessions", "store", "index", "vectors", "backups"] {
        assert!(receipt["purgedAt"][place].is_string(), "{place}: {answer}");
    }
    assert_eq!(receipt["backupsRemoved"], 1, "the backup of before: {answer}");
    let again: Value = rpc.ask("memory/forget", json!({"ids": gone, "purge": true, "key": "once"}));
    assert_eq!(again, answer, "a key purges once");

    for text in [text(0), text(3), text(1_000)] {
        let told = absent(&mut rpc, &text);
        assert_eq!(told["ok"], true, "{told}");
        assert!(told["files"].as_u64().unwrap() > 3 && told["bytes"].as_u64().unwrap() > 0);
    }
    let told = absent(&mut rpc, &ids[0]);
    assert_eq!((told["ok"].as_bool(), told["texts"].as_u64()), (Some(true), Some(0)), "{told}");
    assert!(kinds(&told).iter().all(|kind| kind == "receipt" || kind == "answer"), "{told}");
    assert_eq!(files_with(daemon.home(), &[mark(0), mark(3), mark(1_000)]), Vec::<String>::new());
    assert_eq!(absent(&mut rpc, &text(7))["ok"], false, "what was kept is found");
    check::refuses_path(&mut rpc, "store/verify", json!({"absent": "abc"}), "absent");

    let kept: Value = rpc.ask("memory/receipts", json!({"id": ids[2]}));
    assert_eq!(kept["items"][0], *receipt, "the receipt can be read again, by a memory's id");
    let refused = rpc.refused("memory/undo", json!({"id": ids[0]}));
    check::is_error(&refused, ErrorKind::NotFound);
    assert!(refused.message.contains("purged"), "{}", refused.message);
    check::is_error(&rpc.refused("memory/get", json!({"id": ids[0]})), ErrorKind::NotFound);

    let whole: Value = rpc.ask("store/verify", json!({}));
    assert_eq!(whole["ok"], true, "{whole}");
    daemon.restart();
    let mut rpc = daemon.rpc();
    let listed: Value = rpc.ask("memory/list", json!({"limit": 100}));
    assert_eq!(listed["items"].as_array().unwrap().len(), 55);
    check::recall_lacks(&mut rpc, &text(0), &text(0));
    check::recall_contains(&mut rpc, &text(40), &text(40));
    assert_eq!(files_with(daemon.home(), &[mark(0), mark(3), mark(1_000)]), Vec::<String>::new());
}

// MEM-9: what recalls had put into a conversation goes, own words stay, and the search says which
#[test]
fn a_purge_leaves_what_a_person_said_and_the_search_names_the_conversation() {
    let words = "The lighthouse keeper sails on Thursday mornings";
    let daemon = scripted(&json!([
        {"toolCalls": [{"id": "a", "name": "memory_recall", "arguments": {"query": "when does the lighthouse keeper sail?"}}]},
        {"text": "I see."},
        {"text": "Understood.", "repeat": true}
    ]));
    let mut rpc = daemon.rpc();
    let kept = check::remember(&mut rpc, words);
    let asked = session(&mut rpc);
    ask(&mut rpc, &asked, "When does he sail?");
    let told = absent(&mut rpc, words);
    assert!(kinds(&told).contains(&"transcript".to_owned()), "the recall stands in the conversation: {told}");

    let answer: Value = rpc.ask("memory/forget", json!({"ids": [kept], "purge": true}));
    assert!(answer["receipt"]["sessionRows"].as_u64().unwrap() > 0, "{answer}");
    assert_eq!(absent(&mut rpc, words)["ok"], true);

    let kept = check::remember(&mut rpc, words);
    let said = session(&mut rpc);
    ask(&mut rpc, &said, &format!("By the way: {words}"));
    rpc.ask::<Value>("memory/forget", json!({"ids": [kept], "purge": true}));
    let told = absent(&mut rpc, words);
    let place = told["places"].as_array().unwrap().iter().find(|place| place["kind"] == "transcript").unwrap().clone();
    assert!(place["what"].as_str().unwrap().contains(&said), "{told}");
    assert!(place["hint"].as_str().unwrap().contains("session delete"));
}

/// The worst and the 99th of a hundred.
fn p99(mut times: Vec<Duration>) -> (Duration, Duration, usize) {
    times.sort();
    let at = (times.len() * 99 / 100).min(times.len() - 1);
    (times[at], times[times.len() - 1], times.len())
}

/// Recalls until `over`, and how long each took.
fn recalls(rpc: &mut Rpc, total: usize, over: &AtomicBool) -> Vec<Duration> {
    let mut times = Vec::new();
    for n in 0.. {
        if over.load(Ordering::SeqCst) {
            return times;
        }
        let wanted = total / 2 + (n * 7) % (total / 2);
        let began = Instant::now();
        check::recall_contains(rpc, &text(wanted), &text(wanted));
        times.push(began.elapsed());
    }
    times
}

// MEM-9, D15: 300 of 3,000 (500 of 100,000 in the heavy run), recalls and writes going on
#[test]
fn hundreds_are_purged_while_recalls_and_writes_go_on() {
    let (total, gone) = if heavy() { (100_000, 500) } else { (3_000, 300) };
    let daemon = TestDaemon::spawn();
    let mut rpc = daemon.rpc();
    let ids = keep(&mut rpc, 0..total);
    let over = AtomicBool::new(false);
    let before = std::thread::scope(|scope| {
        let over = &over;
        let mut asking = daemon.rpc();
        let times = scope.spawn(move || recalls(&mut asking, total, over));
        std::thread::sleep(Duration::from_secs(2));
        over.store(true, Ordering::SeqCst);
        times.join().unwrap()
    });
    over.store(false, Ordering::SeqCst);
    let (answer, took, during, writes) = std::thread::scope(|scope| {
        let over = &over;
        let (mut asking, mut writing, mut looking) = (daemon.rpc(), daemon.rpc(), daemon.rpc());
        let times = scope.spawn(move || recalls(&mut asking, total, over));
        let writes = scope.spawn(move || {
            let mut times = Vec::new();
            while !over.load(Ordering::SeqCst) {
                let began = Instant::now();
                keep(&mut writing, total + times.len()..total + times.len() + 1);
                times.push(began.elapsed());
            }
            times
        });
        let _over = Over(over);
        let began = Instant::now();
        let asked = rpc.send("memory/forget", json!({"ids": &ids[..gone], "purge": true})).unwrap();
        wait_for("the purge to be over", Duration::from_secs(if heavy() { 600 } else { 240 }), || {
            let found: Value = looking.ask("memory/receipts", json!({}));
            found["items"].as_array().unwrap().first().filter(|receipt| receipt["done"] == true).map(|_| ())
        });
        let took = began.elapsed();
        let answer = rpc.answer(asked).unwrap();
        over.store(true, Ordering::SeqCst);
        (answer, took, times.join().unwrap(), writes.join().unwrap())
    });
    assert_eq!((answer["count"].as_u64(), answer["receipt"]["done"].as_bool()), (Some(gone as u64), Some(true)), "{answer}");
    let written = writes.len();
    let (alone, beside, waited) = (p99(before), p99(during), p99(writes));
    println!(
        "{gone} of {total} purged in {took:?}; recall p99, worst, count: {alone:?} without, {beside:?} beside; a write: {waited:?}"
    );
    let marks: Vec<String> = (0..gone).map(mark).collect();
    assert_eq!(files_with(daemon.home(), &marks), Vec::<String>::new());
    for n in [0, gone / 2, gone - 1] {
        assert_eq!(absent(&mut rpc, &text(n))["ok"], true);
    }
    let whole: Value = rpc.ask("store/verify", json!({}));
    assert_eq!(
        (whole["ok"].as_bool(), whole["memories"].as_u64()),
        (Some(true), Some((total - gone + written) as u64)),
        "{whole}"
    );
    for n in (total..total + written).step_by(1 + written / 20) {
        check::recall_contains(&mut rpc, &text(n), &text(n));
    }
}

// MEM-9
#[test]
fn the_client_purges_after_asking_and_shows_the_receipt() {
    let tiro = Tiro::new();
    let kept = tiro.json(&["remember", "The spare key hangs behind the third barrel"]);
    let id = kept["id"].as_str().unwrap();
    let unasked = tiro.run(&["forget", id, "--purge"]).exits(2);
    assert!(unasked.stderr.contains("--yes"), "{}", unasked.stderr);
    let told = tiro.ok(&["forget", id, "--purge", "--yes"]);
    assert!(told.contains("purged 1 memory") && told.contains("store file") && !told.contains("not yet"), "{told}");
    let found = tiro.ok(&["store", "verify", "--absent", "hangs behind the third barrel"]);
    assert!(found.contains("absent: it stands nowhere"), "{found}");
    assert!(tiro.ok(&["store", "receipts", id]).contains("purged 1 memory"));

    let kept = tiro.json(&["remember", "The fourth barrel is empty since Monday"]);
    let id = kept["id"].as_str().unwrap();
    tiro.ok(&["forget", id]);
    let standing = tiro.run(&["store", "verify", "--absent", "fourth barrel is empty"]).exits(1);
    assert!(standing.stdout.contains("forgotten, not purged"), "{}", standing.stdout);
    assert_eq!(tiro.json(&["store", "purge", "--dry-run"])["count"], 1);
    assert_eq!(tiro.json(&["store", "purge", "--yes"])["receipt"]["done"], true);
    tiro.ok(&["store", "verify", "--absent", "fourth barrel is empty"]);
    tiro.run(&["store", "purge", "--yes"]).exits(5);
}

// MEM-9: forgetting follows what a memory was merged from, and names what it was merged into
#[test]
fn what_was_merged_into_a_forgotten_memory_goes_with_it() {
    let daemon = TestDaemon::spawn();
    let mut rpc = daemon.rpc();
    let ids = keep(&mut rpc, 0..4);
    rpc.ask::<Value>("memory/merge", json!({"ids": [ids[0], ids[1]]}));
    rpc.ask::<Value>("memory/merge", json!({"ids": [ids[2], ids[3]]}));
    let part: Value = rpc.ask("memory/forget", json!({"ids": [ids[1]]}));
    assert_eq!((part["count"].as_u64(), &part["derived"]), (Some(1), &json!([ids[0]])), "{part}");
    let whole: Value = rpc.ask("memory/forget", json!({"ids": [ids[2]], "purge": true}));
    assert_eq!(whole["count"], 2, "{whole}");
    assert_eq!(absent(&mut rpc, &text(3))["ok"], true);
    assert_eq!(absent(&mut rpc, &text(2))["ok"], true);
    assert_eq!(absent(&mut rpc, &text(0))["ok"], false);
    assert_eq!(rpc.ask::<Value>("store/verify", json!({}))["ok"], true);
}
