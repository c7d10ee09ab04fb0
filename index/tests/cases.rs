//! What people met in other memory systems, at the level of the index: each test names its case.
#![allow(clippy::unwrap_used)]

mod double;

use double::{Store, full_text_settings};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tiro_index::{DecayParams, Document, Filter, Index, Mode, Query, Settings, Status, Strength};

/// Documents in space 1 of an index of its own, once served from memory and once by the full-text index.
fn with(texts: &[&str], check: impl Fn(&Store, &Index)) {
    for settings in [Settings::default(), full_text_settings()] {
        let mut store = Store::new(settings);
        let dir = tempfile::tempdir().unwrap();
        let (index, _) = store.start(dir.path());
        for text in texts {
            let change = store.add(1, text);
            index.apply(vec![change]);
        }
        check(&store, &index);
        index.flush().unwrap();
        check(&store, &index);
        index.close().unwrap();
    }
}

// M18
#[test]
fn parts_of_chinese_and_mixed_text_are_found() {
    with(&["用户服务器部署在腾讯云国内节点", "重跑gen-itgc后", "something else entirely"], |store, index| {
        for (query, wanted) in [("腾讯云", 0), ("部署", 0), ("云", 0), ("itgc", 1), ("GEN-ITGC", 1)] {
            let found = store.texts(index, query, Mode::Lexical, None);
            assert_eq!(
                found.first().map(String::as_str),
                Some(["用户服务器部署在腾讯云国内节点", "重跑gen-itgc后"][wanted]),
                "{query}"
            );
        }
    });
}

// M19, M21
#[test]
fn no_query_fails() {
    let texts = [
        "rename snake_case_var",
        "saved to Downloads/x",
        "another bot's account",
        "40 GB/s link",
        "rewrite in C++",
        "it said \"hello\"",
    ];
    with(&texts, |store, index| {
        for (query, wanted) in [("snake_case_var", 0), ("Downloads/x", 1), ("another bot's", 2), ("GB/s", 3), ("C++", 4)] {
            assert_eq!(store.texts(index, query, Mode::Hybrid, None).first().map(String::as_str), Some(texts[wanted]), "{query}");
        }
        let long = "invoice ".repeat(1_250);
        let random: String = (0..10_000).map(|i| char::from(33 + (i * 7 % 90) as u8)).collect();
        for query in
            ["\"unbalanced", "a AND (", "~", "🎉", "", " ", "\u{0}", "field:value^2", "*", "NOT", "[a TO b]", &long, &random]
        {
            for mode in [Mode::Hybrid, Mode::Lexical, Mode::Vector] {
                store.ask(index, query, mode, Some(0.0));
            }
        }
        let mixed: Vec<char> = "用户👩‍👩‍👧 na\u{ef}ve\u{200b} C++ 한국 ＡＢＣ gen-itgc".chars().cycle().take(64).collect();
        for length in 1..=64 {
            store.ask(index, &mixed[..length].iter().collect::<String>(), Mode::Hybrid, Some(0.0));
        }
    });
}

// M20, M23
#[test]
fn half_a_question_suffices_and_nonsense_finds_nothing() {
    let texts = [
        "The staging database runs on port 5433",
        "Ann prefers tea",
        "Deploys happen on Tuesdays",
        "The cat is called Miso",
        "Rent is due on the first",
    ];
    with(&texts, |store, index| {
        let found = store.texts(index, "which port does our staging machine use", Mode::Hybrid, None);
        assert_eq!(found.first().map(String::as_str), Some(texts[0]));
        for query in ["QQQQ zxcv", "when is Bartholomew's wedding anniversary", "张三的生日是哪天"] {
            let found = store.ask(index, query, Mode::Hybrid, None);
            assert_eq!((found.hits.len(), found.below_threshold), (0, 5), "{query}: {:?}", found.hits);
        }
    });
}

// M22, MEM-3
#[test]
fn one_leg_alone_is_enough() {
    let mut store = Store::new(full_text_settings());
    let dir = tempfile::tempdir().unwrap();
    let (index, _) = store.start(dir.path());
    for i in 0..300 {
        let change = store.add(1, &format!("ordinary remark number {i} about the weather and the garden"));
        index.apply(vec![change]);
    }
    let alien = store.vector("a song about the sea");
    store.seq += 1;
    let coded = Document {
        key: store.seq,
        seq: store.seq,
        space: 1,
        text: "E0382 borrow of moved value".into(),
        vector: alien,
        ..Document::default()
    };
    let code = coded.key;
    index.apply(vec![store.put(coded)]);
    let change = store.add(1, "The physician recommended more sleep");
    let synonym = store.seq;
    index.apply(vec![change]);
    for flush in [false, true] {
        if flush {
            index.flush().unwrap();
        }
        assert_eq!(store.ask(&index, "E0382", Mode::Hybrid, None).hits[0].key, code);
        let found = store.ask(&index, "what did my doctor advise", Mode::Hybrid, None);
        assert_eq!(found.hits.first().map(|hit| hit.key), Some(synonym), "{found:?}");
        assert_eq!(found.hits[0].features.lexical, 0.0);
    }
}

// M26
#[test]
fn clones_hide_nothing() {
    for settings in [Settings::default(), full_text_settings()] {
        let mut store = Store::new(settings);
        let dir = tempfile::tempdir().unwrap();
        let (index, _) = store.start(dir.path());
        index.apply((0..500).map(|_| store.add(1, "The same text, again and again")).collect());
        let words = ["amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath"];
        let texts: Vec<String> =
            (0..500).map(|i| format!("{} {} {} item{i}", words[i % 8], words[i / 8 % 8], words[i / 64 % 8])).collect();
        index.apply(texts.iter().map(|text| store.add(1, text)).collect());
        index.flush().unwrap();
        for text in &texts {
            assert_eq!(&store.texts(&index, text, Mode::Hybrid, None)[0], text);
        }
    }
}

// M14, M33, MEM-6
#[test]
fn what_is_not_current_is_found_only_when_asked_for_and_moves_no_score() {
    with(&["the port is 49222", "unrelated words here"], |store, index| {
        let before = store.ask(index, "port 22", Mode::Lexical, Some(0.0));
        let old = Document {
            key: 900,
            seq: 900,
            space: 1,
            status: Status::Superseded,
            text: "the port is 22".into(),
            ..Document::default()
        };
        index.apply(vec![tiro_index::Change::Upsert(tiro_index::prepare(old))]);
        assert_eq!(store.ask(index, "port 22", Mode::Lexical, Some(0.0)).hits, before.hits);
        let filter = Filter { statuses: vec![Status::Superseded], ..Filter::default() };
        let asked = Query { text: "port 22", spaces: vec![1], filter, mode: Mode::Lexical, limit: 5, ..Query::default() };
        assert_eq!(index.search(&asked).hits.iter().map(|hit| hit.key).collect::<Vec<_>>(), [900]);
        index.apply(vec![tiro_index::Change::Remove { key: 900, seq: 901 }]);
        assert_eq!(index.search(&asked).hits, []);
        assert_eq!(index.contains(900), None);
    });
}

// M32, M34, MEM-4
#[test]
fn age_moves_ranks_a_little_and_never_breaks() {
    let day_ms = 86_400_000;
    with(&["Ann is allergic to peanuts", "Ann had peanuts on her mind today"], |store, index| {
        for now_ms in [i64::MIN, -1, 0, 242 * day_ms, i64::MAX] {
            let decay = DecayParams { now_ms, floor: 0.8, half_life_ms: vec![], half_life_default_ms: 30 * day_ms };
            let vector = store.vector("what is Ann allergic to");
            let query = Query {
                text: "what is Ann allergic to",
                vector: vector.as_deref(),
                spaces: vec![1],
                limit: 5,
                decay: Some(decay),
                ..Query::default()
            };
            let found = index.search(&query);
            assert_eq!(found.hits[0].key, 1, "{now_ms}");
            for hit in &found.hits {
                assert!(
                    (0.8..=1.0).contains(&hit.features.decay) && hit.features.age_ms >= 0 && hit.score <= hit.features.relevance
                );
            }
            assert!(found.hits[0].strength >= Strength::Good);
        }
    });
}

// M16, M24, MEM-12
#[test]
fn every_search_sees_every_change_that_was_applied_before_it_began() {
    let mut store =
        Store::new(Settings { direct_documents_max: 0, batch_documents: 5, batch_interval_ms: 1, ..Settings::default() });
    let dir = tempfile::tempdir().unwrap();
    let (index, _) = store.start(dir.path());
    let (applied, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let index = Arc::new(index);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !stop.load(Ordering::Acquire) {
                    let count = applied.load(Ordering::Acquire);
                    let query = Query {
                        text: "token",
                        spaces: vec![1],
                        mode: Mode::Lexical,
                        limit: 1_000,
                        threshold: Some(0.0),
                        ..Query::default()
                    };
                    let hits = index.search(&query).hits.len() as u64;
                    assert!(hits >= count.min(100), "{hits} of {count}");
                    if count > 0 {
                        let own = Query { text: &format!("token n{count}"), limit: 1, ..query.clone() };
                        assert_eq!(index.search(&own).hits[0].key, count);
                    }
                }
            });
        }
        for i in 1..=300 {
            index.apply(vec![store.add(1, &format!("token n{i}"))]);
            applied.store(i, Ordering::Release);
        }
        stop.store(true, Ordering::Release);
    });
    index.flush().unwrap();
    assert_eq!((index.stats().lexical_documents, index.verify()), (300, Vec::new()));
}
