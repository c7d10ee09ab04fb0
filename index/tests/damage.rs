//! Whatever is damaged, missing, foreign or of another time in the index folder is rebuilt; answers are right throughout.
#![allow(clippy::unwrap_used)]

mod double;

use double::{Store, full_text_settings};
use std::fs;
use std::path::{Path, PathBuf};
use tiro_index::{Index, Mode};

const QUERIES: [&str; 6] =
    ["invoice export 7", "REQ-2041", "部署 服务器", "node-13 restarted", "blue paint for the kitchen", "w5 w11 w19"];

fn store() -> Store {
    let mut store = Store::new(full_text_settings());
    for i in 0..150 {
        store.add(1, &format!("note {i}: invoice export {} w{} w{} w{}", i % 9, i % 7, i % 13, i % 31));
    }
    for text in
        ["REQ-2041 is due", "用户服务器部署在腾讯云国内节点", "node-13 restarted twice", "Ann bought blue paint for the kitchen"]
    {
        store.add(1, text);
    }
    store
}

/// Answers of an index as text, scores rounded: equal folders answer equally.
fn answers(store: &Store, index: &Index) -> Vec<String> {
    let modes = [Mode::Lexical, Mode::Hybrid];
    let pairs = QUERIES.iter().flat_map(|query| modes.map(|mode| (query, mode)));
    pairs
        .map(|(query, mode)| {
            let found = store.ask(index, query, mode, Some(0.0));
            let hits: Vec<String> = found.hits.iter().map(|hit| format!("{}:{:.4}", hit.key, hit.score)).collect();
            format!("{query} {mode:?} {}", hits.join(" "))
        })
        .collect()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.metadata().unwrap().is_dir() {
            copy(&entry.path(), &target)
        } else {
            fs::copy(entry.path(), target).map(|_| ()).unwrap()
        }
    }
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

#[derive(Debug, Clone, Copy)]
enum Damage {
    Flip,
    Zero,
    Cut,
    Empty,
    Delete,
    Extend,
    Swap,
}

const DAMAGES: [Damage; 7] =
    [Damage::Flip, Damage::Zero, Damage::Cut, Damage::Empty, Damage::Delete, Damage::Extend, Damage::Swap];

fn damage(path: &Path, all: &[PathBuf], damage: Damage) {
    let bytes = fs::read(path).unwrap();
    let (third, half) = (bytes.len() / 3, bytes.len() / 2);
    let mut new = bytes.clone();
    match damage {
        Damage::Flip => new.iter_mut().skip(third).take(1).for_each(|byte| *byte ^= 0x10),
        Damage::Zero => new[third..half].fill(0),
        Damage::Cut => new.truncate(half),
        Damage::Empty => new.clear(),
        Damage::Extend => new.extend([7; 9]),
        Damage::Delete => return fs::remove_file(path).unwrap(),
        Damage::Swap => {
            let Some(other) = all.iter().find(|other| *other != path && other.extension() == path.extension()) else { return };
            fs::write(path, fs::read(other).unwrap()).unwrap();
            return fs::write(other, bytes).unwrap();
        }
    }
    fs::write(path, new).unwrap();
}

// STORE-1, M14, M30
#[test]
fn every_kind_of_damage_to_every_file_is_rebuilt_and_never_answered_from() {
    let mut store = store();
    let original = tempfile::tempdir().unwrap();
    let (index, notes) = store.start(original.path());
    assert_eq!(notes, Vec::<String>::new());
    index.flush().unwrap();
    for round in 0..2 {
        for i in 0..20 {
            index.apply(vec![store.add(1, &format!("later note {round} {i} w{}", i % 7))]);
        }
        let gone = store.remove(3 + round);
        index.apply(vec![gone]);
        index.flush().unwrap();
    }
    index.close().unwrap();
    let expected = answers(&store, &index);
    drop(index);
    let (mut noticed, mut tried) = (0, 0);
    for file in files(original.path()) {
        for kind in DAMAGES {
            let dir = tempfile::tempdir().unwrap();
            copy(original.path(), dir.path());
            let path = dir.path().join(file.strip_prefix(original.path()).unwrap());
            damage(&path, &files(dir.path()), kind);
            let (index, notes) = store.start(dir.path());
            tried += 1;
            noticed += usize::from(!notes.is_empty());
            assert_eq!(answers(&store, &index), expected, "{kind:?} {} {notes:?}", path.display());
            index.flush().unwrap();
            assert_eq!(answers(&store, &index), expected, "{kind:?} {} {notes:?}, rebuilt", path.display());
            assert_eq!(index.verify(), Vec::<String>::new());
            index.close().unwrap();
        }
    }
    assert!(noticed * 2 > tried, "{noticed} of {tried} damages were noticed");
}

// STORE-1
#[test]
fn an_index_of_another_store_model_or_time_is_rebuilt() {
    let mut store = store();
    let dir = tempfile::tempdir().unwrap();
    let (index, _) = store.start(dir.path());
    index.close().unwrap();
    let expected = answers(&store, &index);
    drop(index);
    let (index, notes) = store.start(dir.path());
    assert_eq!((notes, answers(&store, &index)), (Vec::new(), expected.clone()), "as it was left");
    drop(index);

    store.id = [2; 16];
    let opened = store.open(dir.path());
    assert_eq!((opened.watermark, opened.rebuilt.len()), (0, 1), "another store");
    store.feed(&opened.index, 0);
    assert_eq!(opened.index.loaded(store.seq).len(), 1);
    opened.index.flush().unwrap();
    assert_eq!(answers(&store, &opened.index), expected);
    opened.index.close().unwrap();
    drop(opened);

    store.documents.lock().retain(|&key, _| key <= 100);
    store.seq = 100;
    let opened = store.open(dir.path());
    assert_eq!((opened.watermark, opened.rebuilt.len()), (0, 1), "a store that went back in time");
    store.feed(&opened.index, 0);
    assert_eq!(opened.index.loaded(store.seq).len(), 1);
    opened.index.flush().unwrap();
    assert_eq!(opened.index.verify(), Vec::<String>::new());
    assert_eq!(opened.index.stats().lexical_documents, 100);
}

// STORE-1
#[test]
fn leftovers_and_things_in_the_way_are_cleared() {
    let store = store();
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("tmp-7")).unwrap();
    fs::write(dir.path().join("gen-9"), "not a folder").unwrap();
    fs::create_dir_all(dir.path().join("gen-x")).unwrap();
    fs::write(dir.path().join("lexical"), "not a folder").unwrap();
    let (index, notes) = store.start(dir.path());
    assert_eq!(notes.len(), 3, "{notes:?}");
    index.flush().unwrap();
    index.close().unwrap();
    let mut names: Vec<String> =
        fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, [format!("gen-{}", store.seq), "lexical".to_owned()]);
}

// STORE-1
#[test]
fn an_index_killed_at_any_point_catches_up() {
    let mut store = store();
    let dir = tempfile::tempdir().unwrap();
    let (index, _) = store.start(dir.path());
    index.flush().unwrap();
    index.snapshot().unwrap();
    // Changes after the snapshot, of which the full-text index gets some; the rest dies with the process.
    index.apply(vec![store.add(1, "flushed but not in the snapshot: REQ-2041 again")]);
    let gone = store.remove(5);
    index.apply(vec![gone]);
    index.flush().unwrap();
    index.apply(vec![store.add(1, "neither flushed nor in the snapshot: node-13")]);
    let gone = store.remove(6);
    index.apply(vec![gone]);
    let expected = answers(&store, &index);
    drop(index);
    let (index, notes) = store.start(dir.path());
    assert_eq!((notes, answers(&store, &index)), (Vec::new(), expected.clone()));
    assert_eq!(index.stats().overlay, 2);
    assert_eq!(index.verify(), Vec::<String>::new());
    index.flush().unwrap();
    assert_eq!((answers(&store, &index), index.verify()), (expected, Vec::new()));
}
