//! A purge of the full-text index: nothing of what was taken out stands in its files, also when most of a segment is kept.
#![allow(clippy::unwrap_used)]

mod double;

use double::Store;
use std::collections::BTreeSet;
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
    index.purge_lexical().unwrap();
    let (left, words_left) = terms(&index);
    assert_eq!(left, (1..=200).filter(|key| ![3, 70, 200].contains(key)).collect());
    assert!(words_left + 3 <= words, "their words are gone: {words_left} of {words}");
    assert_eq!(store.ask(&index, "r71", Mode::Lexical, None).hits[0].key, 71);
    assert!(store.ask(&index, "r70", Mode::Lexical, None).hits.iter().all(|hit| hit.key != 70));
    index.close().unwrap();
}
