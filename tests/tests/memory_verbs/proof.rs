//! What is never dropped, rewritten or retired for being alike: each kind of difference, told second in a space of its own.

use crate::got;
use serde_json::{Value, json};
use tiro_tests::{InsideDaemon, Rpc};

fn told_in(rpc: &mut Rpc, space: &str, text: &str) -> Value {
    rpc.ask("memory/remember", json!({"text": text, "space": space, "explicit": true}))
}

/// What came of the second of each pair.
fn outcomes(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let mut came = Vec::new();
    for (n, (a, b)) in pairs.iter().enumerate() {
        let space = format!("pair-{n}");
        assert_eq!(told_in(&mut rpc, &space, a)["outcome"], "created");
        let second = told_in(&mut rpc, &space, b);
        came.push((format!("{a} / {b}"), second["outcome"].as_str().unwrap().to_owned()));
    }
    came
}

#[track_caller]
fn check_kept(kind: &str, pairs: &[(&str, &str)]) {
    let lost: Vec<_> = outcomes(pairs).into_iter().filter(|(_, o)| o == "duplicate" || o == "updated").collect();
    assert!(lost.is_empty(), "{kind}: the words of the second were dropped or took the place of the first: {lost:#?}");
}

#[track_caller]
fn check_apart(kind: &str, pairs: &[(&str, &str)]) {
    let wrong: Vec<_> = outcomes(pairs).into_iter().filter(|(_, o)| o != "created").collect();
    assert!(wrong.is_empty(), "{kind}: not kept beside each other: {wrong:#?}");
}

// MEM-8, M5, M9
#[test]
fn who_does_what_to_whom_is_never_dropped() {
    check_kept(
        "roles",
        &[
            ("Ann is Bob's manager", "Bob is Ann's manager"),
            ("Ann is Bob's doctor", "Bob is Ann's doctor"),
            ("Acme is Globex's supplier", "Globex is Acme's supplier"),
            ("王芳是李雷的经理", "李雷是王芳的经理"),
            ("王芳是李雷的老师", "李雷是王芳的老师"),
            ("王芳是李雷的房东", "李雷是王芳的房东"),
            ("The parent of node 4 is node 7", "The parent of node 7 is node 4"),
            ("A beats B", "B beats A"),
        ],
    );
}

// MEM-8, M5
#[test]
fn another_order_is_never_dropped() {
    check_kept(
        "order",
        &[
            ("Tests run before deploy", "Deploys run before tests"),
            (
                "First build, then test, then deploy, then notify the channel.",
                "First test, then build, then deploy, then notify the channel.",
            ),
            ("rm -rf build && make", "make && rm -rf build"),
            ("scp host:/a /b", "scp /b host:/a"),
        ],
    );
}

// MEM-8, M5
#[test]
fn symbols_and_code_are_never_dropped() {
    check_kept(
        "symbols",
        &[
            ("a < b", "a > b"),
            ("a >= b", "a <= b"),
            ("a -> b", "b -> a"),
            ("x = 1", "x ≠ 1"),
            ("chmod +x run.sh", "chmod -x run.sh"),
            ("Result: +", "Result: -"),
            ("Build ✅", "Build ❌"),
            ("mood 🙂", "mood 🙁"),
            ("foo()", "foo[]"),
            ("def f(a, b): return a - b", "def f(a, b): return b - a"),
            ("if (x > 0) { start(); } else { stop(); }", "if (x > 0) { stop(); } else { start(); }"),
            ("SELECT a FROM t WHERE b > 5", "SELECT b FROM t WHERE a > 5"),
        ],
    );
}

// MEM-8, M5
#[test]
fn case_that_means_something_is_never_dropped() {
    check_kept(
        "case",
        &[
            ("tar -c", "tar -C"),
            ("Use -v", "Use -V"),
            ("curl -o x", "curl -O x"),
            ("path /etc/App", "path /etc/app"),
            ("10 Mb/s link", "10 MB/s link"),
            ("the unit is mW", "the unit is MW"),
            ("key aBc", "key abc"),
            ("branch main", "branch Main"),
        ],
    );
}

// MEM-8, M5
#[test]
fn small_words_and_forms_are_never_dropped() {
    check_kept(
        "other",
        &[
            ("cost 5k", "cost 5"),
            ("cost 5", "cost 5k"),
            ("Is it done", "It is done"),
            ("The user likes tea", "The users like tea"),
            ("Tea or coffee is fine", "Tea and coffee is fine"),
            ("Deploys on Friday are allowed", "周五可以部署"),
            ("The port is 22", "1. The port is 22\n2. The host is grey"),
        ],
    );
}

// MEM-8, M7, M9
#[test]
fn another_word_in_another_place_retires_nothing() {
    check_apart(
        "another place",
        &[
            ("Ann works at Acme", "Ann works with Tom"),
            ("Ann lives in Berlin", "Ann lives with her sister"),
            ("Ann lives in Berlin", "Ann lives on Elm Street"),
            ("Deploys on Friday are allowed", "Deploys happen on Tuesdays"),
            ("The meeting is at noon", "The meeting is about budget"),
            ("The server is down", "The server is in Frankfurt"),
            ("The server runs Debian 12", "The server runs Postgres 16"),
            ("We use Postgres 14", "We use Redis 7"),
            ("Finn takes vitamin D", "Finn takes aspirin"),
            ("Ida's phone is broken", "Ida's phone is 555-0142"),
            ("Ida studied physics", "Ida studied in Vienna"),
            ("the staging port is 9090", "the production port is 443"),
        ],
    );
}

// MEM-8, M7
#[test]
fn a_change_told_of_one_retires_nothing_of_another() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let mut told = |text: &str| -> Value { rpc.ask("memory/remember", json!({"text": text, "explicit": true})) };
    told("Jonas's phone extension is 9690");
    let old = told("Leon's phone extension is 6251");
    let new = told("The phone extension of Leon is 9699 now");
    assert_eq!(new["outcome"], "superseded", "{new}");
    let gone = new["related"].as_array().unwrap().iter().find(|r| r["relation"] == "superseded").unwrap();
    assert_eq!(gone["id"], old["id"], "{new}");
}

// MEM-8, M7
#[test]
fn an_errand_or_an_event_retires_no_other() {
    check_apart(
        "errands and events",
        &[
            ("Call Ann", "Call Bob"),
            ("Remind me to call Ann", "Remind me to call Bob"),
            ("Lunch with Ann", "Lunch with Bob"),
            ("run the tests", "run the linter"),
            ("跑测试", "跑代码检查"),
            ("open the door", "open the window"),
            ("deploy the gateway", "deploy the worker"),
            ("Build 881 passed", "Build 882 passed"),
            ("Paid rent on 1 May", "Paid rent on 1 June"),
            ("start note 3 lamp", "start note 5 lamp"),
            ("今天跑了5公里", "今天跑了8公里"),
            ("Finn drove 300 km on Monday", "Finn drove 40 km on Tuesday"),
            ("Ann visited Paris in 2019", "Ann visited Paris in 2023"),
            ("In 2019 sales were good", "In 2020 sales were good"),
            ("Birthday: Ann", "Birthday: Bob"),
        ],
    );
}

// MEM-8, M8
#[test]
fn a_thing_in_another_place_is_a_conflict() {
    let pairs = [
        ("The office is in Berlin", "The office is in Munich"),
        ("The office is on Elm Street", "The office is on Oak Street"),
        ("The keys are in the drawer", "The keys are in the safe"),
        ("钥匙在抽屉里", "钥匙在保险柜里"),
    ];
    for (pair, outcome) in outcomes(&pairs) {
        assert!(matches!(outcome.as_str(), "conflict" | "superseded"), "{pair} came out as {outcome}");
    }
}

// MEM-8, M8: what a text contradicts is bound to it, all of it
#[test]
fn several_values_that_a_later_one_contradicts_are_all_bound() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let mut old = Vec::new();
    for text in ["SSH port is 22", "SSH port is 2222"] {
        let kept: Value = rpc.ask("memory/remember", json!({"text": text, "explicit": true, "verbatim": true}));
        old.push(kept["id"].as_str().unwrap().to_owned());
    }
    let new = told_in(&mut rpc, "personal", "SSH port is 49222");
    assert_eq!(new["outcome"], "superseded", "{new}");
    let open: Value = rpc.ask("memory/conflicts", json!({}));
    let status = |rpc: &mut Rpc, id: &str| got(rpc, id)["status"].as_str().unwrap().to_owned();
    let standing: Vec<_> = old.iter().filter(|id| status(&mut rpc, id) == "active").collect();
    assert_eq!((standing.len(), open["items"].as_array().unwrap().len()), (1, 1), "{open}");
    assert!(open["items"][0].to_string().contains(standing[0].as_str()), "{open}");
}

// MEM-8: one event at two instants is two
#[test]
fn an_event_at_another_instant_is_another() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let mut at =
        |text: &str, at: &str| -> Value { rpc.ask("memory/remember", json!({"text": text, "explicit": true, "occurredAt": at})) };
    for (text, other) in [("Ann visited the museum", "Ann visited a museum"), ("今天跑了5公里", "今天跑了5公里")] {
        assert_eq!(at(text, "2026-02-01T00:00:00Z")["outcome"], "created");
        assert_eq!(at(other, "2026-02-01T08:00:00Z")["outcome"], "created", "{other}");
        assert_eq!(at(text, "2026-02-01T00:00:00Z")["outcome"], "duplicate");
    }
}

// M5: words of change ("moved", "quit", "no longer") say that something changed, not what
#[test]
fn a_change_told_of_one_retires_no_fact_of_another() {
    check_apart(
        "another's",
        &[
            ("My sister lives in Rome", "I moved to Oslo"),
            ("My mother lives in Rome", "I moved to Oslo"),
            ("My son lives in Rome", "I now live in Oslo"),
            ("My brother works at Siemens", "I switched to Bosch"),
            ("I live in Berlin", "My parents moved to Munich"),
            ("My car is parked in Berlin", "I moved to Munich"),
            ("我姐姐住在上海", "我搬到北京了"),
            (
                "learning japanese so i can pass N3 next winter",
                "Over the winter we'll move all four sites onto one heating contract.",
            ),
            ("My neighbour's name is Edda and she's a baker.", "I got a new roof, a new neighbour and a new fence, all in June."),
            (
                "Call me Lou, only my dentist calls me Louise.",
                "As for tone, think kind uncle rather than dentist, that's how I like to be spoken to.",
            ),
            (
                "I'll be away on leave from June 2 until the end of July.",
                "My director says she's leaving on 30 April and Marta takes over.",
            ),
            (
                "Both my grandparents are blind, so Braille was my first script.",
                "I moved over from Lyon in 2017 and French is my first language, in case my notes read odd.",
            ),
            (
                "My daughter's choir starts at 8:15 and ends at 13:00.",
                "I quit smoking on a Tuesday, without a plan, because the kiosk was shut and it had begun to snow.",
            ),
            (
                "The harbour office keeps the tide tables of the port in Split.",
                "The harbour office was moved to Zadar in spring, and the old building became a school for sailors.",
            ),
        ],
    );
}

// M4: what the same rule still has to see
#[test]
fn a_change_told_of_the_same_takes_its_place() {
    let pairs = [
        ("I live in Berlin", "I moved to Munich"),
        ("I live in Berlin", "I moved to Munich last month"),
        ("我住在上海", "我搬到北京了"),
        ("My favourite editor is Vim", "I switched to Helix, no longer Vim"),
        ("The standup is at 9:00", "The standup moved to 10:00"),
    ];
    for (pair, outcome) in outcomes(&pairs) {
        assert_eq!(outcome, "superseded", "{pair}");
    }
}
