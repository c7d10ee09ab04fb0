//! A purge of the index: nothing of what was taken out stands in its files, also when most of a segment is kept.
#![allow(clippy::unwrap_used)]

mod double;

use double::Store;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tiro_index::tokenize::token_id;
use tiro_index::vector::Block;
use tiro_index::{Index, Mode, Settings};

/// Terms in the files: keys of documents, eight bytes each, and the words of spaces.
fn terms(index: &Index) -> (BTreeSet<u64>, usize) {
    let (mut keys, mut words) = (BTreeSet::new(), BTreeSet::new());
    index
        .stored(&mut |bytes| {
            match <[u8; 8]>::try_from(bytes) {
                Ok(key) => keys.insert(u64::from_be_bytes(key)),
                Err(_) => words.insert(bytes.to_vec()),
            };
            true
        })
        .unwrap();
    (keys, words.len())
}

/// Files below a folder that hold these bytes.
fn files_with(folder: &Path, bytes: &[u8]) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false if std::fs::read(&path).unwrap().windows(bytes.len()).any(|window| window == bytes) => found.push(path),
                false => {}
            }
        }
    }
    found
}

/// What snapshots and graphs hold of the vector of a document, and what snapshots hold of a word that only it has.
fn traces(store: &Store, key: u64) -> (Vec<u8>, Vec<u8>) {
    let document = store.documents.lock()[&key].clone();
    let vector = document.vector.unwrap();
    let mut block = Block::new(vector.len());
    block.put(0, &vector).unwrap();
    let codes = block.get(0).unwrap().0[..vector.len()].iter().map(|&code| code as u8).collect();
    (codes, token_id(&format!("r{key}")).to_le_bytes().to_vec())
}

fn text(key: u64) -> String {
    const WORDS: [&str; 9] = ["harbour", "invoice", "garden", "kernel", "winter", "guitar", "bridge", "coffee", "island"];
    let word = |shift: u64| WORDS[((key * 31 + key / 5 * shift) % 9) as usize];
    format!("remark r{key} of the {} and {} and {}, by mark{} and mark{}", word(1), word(4), word(7), key * 7_919, key * 104_729)
}

// MEM-9
#[test]
fn a_purge_leaves_no_term_of_what_was_taken_out() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::new(Settings { direct_documents_max: 0, ..Settings::default() });
    let (index, _) = store.start(&dir.path().join("index"));
    for number in 1..=200 {
        index.apply(vec![store.add(1, &format!("remark r{number} of the harbour"))]);
    }
    index.flush().unwrap();
    let (all, words) = terms(&index);
    assert_eq!(all, (1..=200).collect(), "every key is seen in the files");
    for key in [3, 70, 200] {
        index.apply(vec![store.remove(key)]);
    }
    index.flush().unwrap();
    assert!(terms(&index).0.contains(&70), "a removal alone leaves it in the files");
    index.purge_lexical().unwrap();
    let (left, words_left) = terms(&index);
    assert_eq!(left, (1..=200).filter(|key| ![3, 70, 200].contains(key)).collect());
    assert!(words_left + 3 <= words, "their words are gone: {words_left} of {words}");
    assert_eq!(store.ask(&index, "r71", Mode::Lexical, None).hits[0].key, 71);
    assert!(store.ask(&index, "r70", Mode::Lexical, None).hits.iter().all(|hit| hit.key != 70));
    index.close().unwrap();
}

// MEM-9: a purge does not wait for a moment in which nothing is written
#[test]
fn a_purge_comes_to_its_end_while_documents_keep_coming() {
    const MORE: u64 = 60_000;
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::new(Settings { direct_documents_max: 0, batch_documents: 64, ..Settings::default() });
    let (index, _) = store.start(dir.path());
    index.apply((1..=200).map(|key| store.add(1, &text(key))).collect());
    index.flush().unwrap();
    index.apply(vec![store.remove(70)]);
    let over = std::sync::atomic::AtomicBool::new(false);
    let written = std::thread::scope(|scope| {
        let (index, over) = (&index, &over);
        let writing = scope.spawn(move || {
            let mut written = 0;
            while written < MORE && !over.load(std::sync::atomic::Ordering::SeqCst) {
                index.apply(vec![store.add(1, &text(1_000 + written))]);
                written += 1;
            }
            written
        });
        index.purge_lexical().unwrap();
        over.store(true, std::sync::atomic::Ordering::SeqCst);
        writing.join().unwrap()
    });
    println!("{written} documents came meanwhile");
    assert!(written < MORE, "it ended when nothing came any more");
    assert!(!terms(&index).0.contains(&70));
    index.close().unwrap();
}

// MEM-9
#[test]
fn a_purge_leaves_no_vector_and_no_word_in_a_snapshot() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::new(Settings::default());
    let (index, _) = store.start(dir.path());
    index.apply((1..=300).map(|key| store.add(1, &text(key))).collect());
    index.snapshot().unwrap();
    let gone: Vec<_> = [3, 70, 300].map(|key| (key, traces(&store, key))).into();
    index.apply(gone.iter().map(|(key, _)| store.remove(*key)).collect());
    for (key, (codes, word)) in &gone {
        assert_eq!(files_with(dir.path(), codes).len(), 1, "the vector of {key} is in the snapshot");
        assert_eq!(files_with(dir.path(), word).len(), 1, "the word of {key} is in the snapshot");
    }
    index.purge_vectors().unwrap();
    for (key, (codes, word)) in &gone {
        assert_eq!(files_with(dir.path(), codes), Vec::<PathBuf>::new(), "the vector of {key}");
        assert_eq!(files_with(dir.path(), word), Vec::<PathBuf>::new(), "the word of {key}");
    }
    let (codes, word) = traces(&store, 71);
    assert_eq!((files_with(dir.path(), &codes).len(), files_with(dir.path(), &word).len()), (1, 1), "what is kept is there");
    index.close().unwrap();
    drop(index);
    let (index, notes) = store.start(dir.path());
    assert_eq!((notes, index.standing(None).documents), (Vec::new(), 297));
}

// MEM-9: an older snapshot beside the newest is no less on the disk
#[test]
fn a_purge_removes_a_snapshot_that_was_left_behind() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::new(Settings::default());
    let (index, _) = store.start(dir.path());
    index.apply((1..=50).map(|key| store.add(1, &text(key))).collect());
    index.snapshot().unwrap();
    let (codes, _) = traces(&store, 7);
    let [file] = files_with(dir.path(), &codes).try_into().unwrap();
    std::fs::create_dir(dir.path().join("gen-1")).unwrap();
    std::fs::copy(&file, dir.path().join("gen-1/state.bin")).unwrap();
    index.apply(vec![store.remove(7)]);
    index.purge_vectors().unwrap();
    assert_eq!(files_with(dir.path(), &codes), Vec::<PathBuf>::new());
    index.close().unwrap();
}

// MEM-9
#[test]
fn a_purge_leaves_no_vector_in_a_graph() {
    let dir = tempfile::tempdir().unwrap();
    let settings = Settings { direct_documents_max: 0, graph_vectors_min: 400, batch_interval_ms: 10, ..Settings::default() };
    let mut store = Store::new(settings);
    let saved_with = |bytes: &[u8]| {
        let files = files_with(dir.path(), bytes).into_iter();
        files.filter(|path| path.to_string_lossy().contains("graph-")).count()
    };
    let (index, _) = store.start(dir.path());
    index.apply((1..=600).map(|key| store.add(1, &text(key))).collect());
    assert!(index.wait_for_graphs(120_000));
    let gone: Vec<_> = [3, 70, 600].map(|key| (key, traces(&store, key).0)).into();
    index.apply(gone.iter().map(|(key, _)| store.remove(*key)).collect());
    index.close().unwrap();
    drop(index);
    for (key, codes) in &gone {
        assert_eq!(saved_with(codes), 1, "the vector of {key} is in the saved graph");
    }
    let (index, _) = store.start(dir.path());
    assert!(index.wait_for_graphs(120_000));
    index.purge_vectors().unwrap();
    assert!(index.wait_for_graphs(120_000));
    index.close().unwrap();
    for (key, codes) in &gone {
        assert_eq!(saved_with(codes), 0, "the vector of {key}");
    }
    assert_eq!(saved_with(&traces(&store, 71).0), 1, "the graph was built anew");
}
