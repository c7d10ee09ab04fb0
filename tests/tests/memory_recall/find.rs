//! What is found, in two languages, by exact codes and by meaning; and what is not.

use crate::{check_finds, fill, kept, recalled, texts};
use serde_json::json;
use tiro_tests::{InsideDaemon, Rpc};

// M18, MEM-3
#[test]
fn chinese_text_is_found_by_its_parts_and_mixed_text_by_both() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    fill(&mut rpc);
    let server = "用户服务器部署在腾讯云国内节点";
    kept(&mut rpc, server);
    for query in ["腾讯云", "部署", "云", "服务器在哪里"] {
        check_finds(&mut rpc, query, server);
    }
    let rerun = "重跑gen-itgc后结果一致";
    kept(&mut rpc, rerun);
    for query in ["itgc", "gen-itgc", "重跑"] {
        check_finds(&mut rpc, query, rerun);
    }
}

// MEM-3, M22
#[test]
fn identifiers_dates_and_codes_are_found_exactly_and_first() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    fill(&mut rpc);
    for i in 2040..2050 {
        kept(&mut rpc, &format!("REQ-{i} waits for the review of team {}", i % 7));
    }
    let others = [
        "the deadline is 2024-05-03",
        "error E0277 means a trait bound is missing",
        "call parse_header_v2 before the cache",
        "snake_case_var is set in Downloads/x",
        "the link runs at 40 GB/s",
        "C++ is preferred for the driver",
    ];
    for text in others {
        kept(&mut rpc, text);
    }
    let first =
        |rpc: &mut Rpc, query: &str| texts(rpc, json!({"query": query, "limit": 3, "threshold": 0})).into_iter().next().unwrap();
    assert_eq!(first(&mut rpc, "REQ-2041"), "REQ-2041 waits for the review of team 4");
    for (query, n) in [
        ("2024-05-03", 0),
        ("E0277", 1),
        ("parse_header_v2", 2),
        ("snake_case_var", 3),
        ("Downloads/x", 3),
        ("GB/s", 4),
        ("C++", 5),
    ] {
        assert_eq!(first(&mut rpc, query), others[n], "{query}");
    }
}

// M22, MEM-3
#[test]
fn a_code_alien_to_the_model_and_a_word_never_used_are_both_found() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    fill(&mut rpc);
    kept(&mut rpc, "zqx-77f-kkw: the pump stalls");
    check_finds(&mut rpc, "zqx-77f-kkw", "zqx-77f-kkw: the pump stalls");
    kept(&mut rpc, "the physician prescribed new medicine");
    check_finds(&mut rpc, "doctor", "the physician prescribed new medicine");
    kept(&mut rpc, "用户对花生过敏");
    check_finds(&mut rpc, "peanut allergy", "用户对花生过敏");
}

// M20
#[test]
fn half_of_the_words_are_enough() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    fill(&mut rpc);
    kept(&mut rpc, "the heating engineer replaced the valve in the cellar");
    check_finds(&mut rpc, "heating valve cellar broke winter again", "the heating engineer replaced the valve in the cellar");
}

// M19, API-1
#[test]
fn no_query_is_an_error() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    fill(&mut rpc);
    let long = "word ".repeat(2_000);
    let queries = [
        "snake_case_var",
        "Downloads/x",
        "another bot's",
        "GB/s",
        "C++",
        "\"unbalanced",
        "a AND (",
        "~",
        "😀",
        &long,
        "",
        " ",
        "\u{0}",
        "\u{200B}",
        "*:*",
        "-a +b",
        "field:value",
        "[1 TO 5]",
        "\\",
        "'; DROP TABLE",
        "a^99999",
        "💩👨‍👩‍👧",
        "\u{202E}rtl",
        "NOT",
        "(((((((((",
        "?",
        "。。。",
        "1e999999",
    ];
    for query in queries {
        for mode in ["hybrid", "lexical", "vector"] {
            let result = recalled(&mut rpc, json!({"query": query, "mode": mode}));
            assert!(result["hits"].is_array(), "{query:?}");
        }
    }
}

// M21
#[test]
fn mixed_text_cut_at_every_length_is_kept_and_asked_without_harm() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let whole: Vec<char> =
        "用户👨‍👩‍👧说\u{200B}“Hello”，naïve e\u{301}cole 🇨🇳 部署gen-itgc在腾讯云 — done. ".repeat(2).chars().collect();
    for n in 1..=64 {
        let text: String = whole[..n].iter().collect();
        let result: serde_json::Value = rpc.ask("memory/remember", json!({"text": text, "verbatim": true}));
        assert_eq!(result["outcome"], "created", "{text:?}");
        let memory: serde_json::Value = rpc.ask("memory/get", json!({"id": result["id"]}));
        assert_eq!(memory["text"], text);
        recalled(&mut rpc, json!({"query": text, "limit": 1}));
        let context: serde_json::Value = rpc.ask("memory/context", json!({"query": text, "tokenBudget": 60 + n}));
        assert!(context["tokens"].as_u64().unwrap() <= 60 + n as u64);
    }
}

// M23, MEM-5
#[test]
fn what_nobody_ever_said_is_not_found_and_weak_candidates_are_counted() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    fill(&mut rpc);
    let nonsense = recalled(&mut rpc, json!({"query": "QQQQ zxcv"}));
    assert_eq!((&nonsense["hits"], &nonsense["strength"]), (&json!([]), &json!("none")));
    let absent = recalled(&mut rpc, json!({"query": "Which violin concerto did Barnaby perform?"}));
    assert_eq!(absent["hits"], json!([]));
    assert!(absent["belowThreshold"].as_u64().unwrap() > 0);
    let all = recalled(&mut rpc, json!({"query": "Which violin concerto did Barnaby perform?", "threshold": 0, "limit": 7}));
    assert_eq!(all["hits"].as_array().unwrap().len(), 7, "threshold 0 keeps all");
}

// M13
#[test]
fn an_old_fact_asked_for_in_its_own_words_comes_first() {
    let daemon = InsideDaemon::start();
    let mut rpc = daemon.rpc();
    let now = tiro_tests::inside::NOON_MS;
    daemon.clock.set(now - 242 * 86_400_000);
    kept(&mut rpc, "the alarm code of the archive room changes every June");
    daemon.clock.set(now);
    let items: Vec<_> = (0..200)
        .map(|i| json!({"text": format!("recent note {i} about invoice {} and shelf {}", i * 3, i % 9), "verbatim": true}))
        .collect();
    let _: serde_json::Value = rpc.ask("memory/rememberMany", json!({"items": items}));
    let found = texts(&mut rpc, json!({"query": "the alarm code of the archive room changes every June"}));
    assert_eq!(found[0], "the alarm code of the archive room changes every June");
}

// M16, MEM-12
#[test]
fn another_connection_finds_what_was_just_acknowledged() {
    let daemon = InsideDaemon::start();
    let (mut one, mut other) = (daemon.rpc(), daemon.rpc());
    for i in 0..100 {
        let text = format!("fresh fact {i} about widget{i}");
        kept(&mut one, &text);
        assert_eq!(texts(&mut other, json!({"query": format!("widget{i}"), "limit": 1, "threshold": 0})), [text]);
    }
}
