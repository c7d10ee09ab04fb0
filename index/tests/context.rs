//! The features of a conversation equal a naive reading of it, whatever was added, edited, replaced or taken out before.
#![allow(clippy::unwrap_used)]

mod double;

use double::Store;
use proptest::prelude::*;
use std::collections::HashMap;
use tiro_index::tokenize::{count_tokens, query_tokens};
use tiro_index::{Document, Features, Mode, Query, Settings, Status, TimeSpan, Voice};

const WORDS: [&str; 8] = ["alpha", "beta", "gamma", "云", "部署", "the", "node7", "?"];

#[derive(Debug, Clone)]
struct Said {
    key: u64,
    session: u8,
    position: u64,
    assistant: bool,
    status: u8,
    words: Vec<usize>,
}

fn said() -> impl Strategy<Value = Said> {
    let words = proptest::collection::vec(0..WORDS.len(), 1..6);
    (1..30_u64, 0..3_u8, 0..20_u64, proptest::bool::weighted(0.3), prop_oneof![5 => Just(0_u8), 1 => Just(1)], words)
        .prop_map(|(key, session, position, assistant, status, words)| Said { key, session, position, assistant, status, words })
}

fn text(words: &[usize]) -> String {
    words.iter().map(|&word| WORDS[word]).collect::<Vec<_>>().join(" ")
}

fn document(store: &Store, said: &Said) -> Document {
    let text = text(&said.words);
    Document {
        key: said.key,
        space: 1,
        status: Status::from_code(said.status).unwrap(),
        created_at_ms: 1,
        session: (said.session > 0).then(|| format!("s{}", said.session)),
        position: Some(said.position),
        voice: if said.assistant { Voice::Assistant } else { Voice::Person },
        vector: store.vector(&text),
        text,
        ..Document::default()
    }
}

/// Near, far and answers of a document, from the definitions.
fn naive(documents: &[Document], of: &Document, question: &str) -> [f64; 3] {
    let active: Vec<&Document> = documents.iter().filter(|d| d.status == Status::Active).collect();
    let counted = |d: &Document| count_tokens(&d.text);
    let total = active.len() as f64;
    let query: Vec<(u32, f64)> = query_tokens(question)
        .iter()
        .map(|token| {
            let frequency = active.iter().filter(|d| counted(d).tokens.contains(&token.id)).count() as f64;
            (token.id, (1.0 + (total - frequency + 0.5) / (frequency + 0.5)).ln() * f64::from(token.weight))
        })
        .collect();
    let ideal: f64 = query.iter().map(|(_, idf)| idf * 1.9).sum();
    let length = |d: &Document| f64::from(counted(d).length);
    let mean = (active.iter().map(|d| length(d)).sum::<f64>() / total.max(1.0)).max(1.0);
    let speaks = |d: &&&Document| d.session.is_some() && d.voice == Voice::Person;
    let spoken = active.iter().filter(speaks).map(|d| length(d)).sum::<f64>() / total.max(1.0);
    let bm25 = |texts: &[&Document], mean: f64| {
        let mut counts: HashMap<u32, f64> = HashMap::new();
        for d in texts {
            let own = counted(d);
            own.tokens.iter().zip(&own.counts).for_each(|(&id, &n)| *counts.entry(id).or_default() += f64::from(n));
        }
        let norm = 0.9 * (0.15 + 0.85 * (texts.iter().map(|d| length(d)).sum::<f64>() + 30.0) / (mean + 30.0));
        let score = |(id, idf): &(u32, f64)| counts.get(id).map_or(0.0, |n| idf * n * 1.9 / (n + norm));
        query.iter().map(score).sum::<f64>() / ideal
    };
    let mut places: Vec<u64> =
        active.iter().filter(|d| d.session == of.session).map(|d| d.position.unwrap()).chain(of.position).collect();
    places.sort_unstable();
    places.dedup();
    let place = |d: &Document| places.binary_search(&d.position.unwrap()).unwrap() as i64;
    let window = |radius: i64| {
        let mut texts = vec![of];
        if of.session.is_some() {
            let others = active.iter().filter(speaks).filter(|d| d.session == of.session && d.position != of.position);
            texts.extend(others.filter(|d| (place(d) - place(of)).abs() <= radius));
        }
        bm25(&texts, mean + 2.0 * radius as f64 * spoken)
    };
    let before = active
        .iter()
        .filter(speaks)
        .filter(|d| of.session.is_some() && d.session == of.session && place(d) == place(of) - 1)
        .max_by_key(|d| d.key);
    let asked = before.filter(|d| d.text.contains('?') && of.voice == Voice::Person);
    [window(2), window(8), asked.map_or(0.0, |d| bm25(&[d], mean))]
}

fn check(store: &Store, index: &tiro_index::Index, question: &str) {
    let vector = store.vector(question);
    let query = Query {
        text: question,
        vector: vector.as_deref(),
        spaces: vec![1],
        limit: 100,
        threshold: Some(0.0),
        ..Query::default()
    };
    let result = index.search(&query);
    let documents: Vec<Document> = store.documents.lock().values().cloned().collect();
    let by_key: HashMap<u64, &Document> = documents.iter().map(|d| (d.key, d)).collect();
    for hit in &result.hits {
        let Features { near, far, answers, ideal, .. } = hit.features;
        if ideal == 0.0 {
            continue;
        }
        let expected = naive(&documents, by_key[&hit.key], question);
        for (got, expected) in [near, far, answers].into_iter().zip(expected) {
            assert!((f64::from(got) - expected).abs() < 1e-4, "{got} for {expected} of {:?} in {hit:?}", by_key[&hit.key]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, max_shrink_iters: 300, ..ProptestConfig::default() })]

    // MEM-3, MEM-5
    #[test]
    fn windows_equal_a_naive_reading(steps in proptest::collection::vec((said(), proptest::bool::weighted(0.15)), 1..60)) {
        let mut store = Store::new(Settings::default());
        let dir = tempfile::tempdir().unwrap();
        let (mut index, _) = store.start(dir.path());
        for (step, (said, remove)) in steps.iter().enumerate() {
            if *remove {
                let change = store.remove(said.key);
                index.apply(vec![change]);
            } else {
                store.seq += 1;
                let document = Document { seq: store.seq, ..document(&store, said) };
                let change = store.put(document);
                index.apply(vec![change]);
            }
            if step % 7 == 0 {
                check(&store, &index, &text(&said.words));
            }
            if step % 23 == 22 {
                index.close().unwrap();
                index = store.start(dir.path()).0;
            }
        }
        check(&store, &index, "alpha 部署 node7");
    }
}

/// The keys found, best first.
fn found(store: &Store, index: &tiro_index::Index, question: &str, spans: Vec<TimeSpan>) -> Vec<u64> {
    let vector = store.vector(question);
    let query = Query { text: question, vector: vector.as_deref(), spaces: vec![1], limit: 10, spans, ..Query::default() };
    index.search(&query).hits.iter().map(|hit| hit.key).collect()
}

// MEM-3
#[test]
fn an_answer_is_found_by_the_question_before_it_and_by_who_gave_it() {
    let mut store = Store::new(Settings::default());
    let dir = tempfile::tempdir().unwrap();
    let (index, _) = store.start(dir.path());
    let lines = [
        ("Melanie", "What did you grow in the garden this summer?"),
        ("Caroline", "Mostly courgettes and a few of those purple ones."),
        ("Melanie", "I had to repair the fence again."),
        ("Caroline", "Work keeps me busy these days."),
    ];
    for (position, (name, line)) in lines.into_iter().enumerate() {
        store.seq += 1;
        let document = Document {
            key: store.seq,
            seq: store.seq,
            space: 1,
            speakers: vec![name.to_owned()],
            name: Some(name.to_owned()),
            session: Some("s".to_owned()),
            position: Some(position as u64),
            vector: store.vector(line),
            text: line.to_owned(),
            ..Document::default()
        };
        let change = store.put(document);
        index.apply(vec![change]);
    }
    let top = found(&store, &index, "What did Caroline grow in her garden?", Vec::new());
    assert!(top.iter().take(2).any(|&key| key == 2), "the answer stands beside its question: {top:?}");
    let alone = store.ask(&index, "What did Caroline grow in her garden?", Mode::Lexical, Some(0.0));
    let answer = alone.hits.iter().find(|hit| hit.key == 2).unwrap();
    assert!(answer.features.lexical < 0.3, "its own words hardly say so: {answer:?}");
}

// MEM-3, M10
#[test]
fn a_stretch_of_time_lifts_what_happened_then_and_hides_nothing() {
    let mut store = Store::new(Settings::default());
    let dir = tempfile::tempdir().unwrap();
    let (index, _) = store.start(dir.path());
    let day = 86_400_000;
    for at in [10, 40, 70] {
        store.seq += 1;
        let line = "We went climbing in the hills";
        let document = Document {
            key: store.seq,
            seq: store.seq,
            space: 1,
            occurred_at_ms: Some(at * day),
            vector: store.vector(line),
            text: line.to_owned(),
            ..Document::default()
        };
        let change = store.put(document);
        index.apply(vec![change]);
    }
    let spans = vec![TimeSpan { from_ms: 30 * day, to_ms: 60 * day }];
    let top = found(&store, &index, "when did we go climbing", spans);
    assert_eq!((top.len(), top[0]), (3, 2), "{top:?}");
}
