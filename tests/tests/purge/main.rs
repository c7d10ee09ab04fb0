//! Forgetting that can be shown: what was purged stands in no file, the rest is whole, and recalls answer meanwhile.
#![allow(clippy::unwrap_used)]

mod crash;
mod job;
mod now;
mod places;

use serde_json::{Value, json};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use tiro_tests::Rpc;

/// A text that stands nowhere else.
pub fn text(n: usize) -> String {
    let mark = mark(n);
    format!("Ledger {n}: the \"harbour\" crate {mark} holds 茶 number {n} for dock {}.", n % 97)
}

/// Keeps texts, in batches, and gives their ids in order.
pub fn keep(rpc: &mut Rpc, numbers: std::ops::Range<usize>) -> Vec<String> {
    let mut ids = Vec::new();
    for first in numbers.clone().step_by(2_000) {
        let items: Vec<Value> = (first..numbers.end.min(first + 2_000))
            .map(|n| json!({"text": text(n), "verbatim": true, "source": {"session": format!("s{}", n / 50), "position": n}}))
            .collect();
        let answer: Value = rpc.ask("memory/rememberMany", json!({"items": items}));
        ids.extend(answer["results"].as_array().unwrap().iter().map(|r| r["id"].as_str().unwrap().to_owned()));
    }
    ids
}

/// Files below a folder that hold one of these byte strings.
pub fn files_with(folder: &Path, needles: &[String]) -> Vec<String> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let Ok(bytes) = std::fs::read(&path) else { continue };
            // Every text has its mark after the same word, so the file is walked once, not once a text.
            let marks: std::collections::HashSet<&[u8]> = needles.iter().map(|needle| needle.as_bytes()).collect();
            if bytes.windows(16).any(|window| marks.contains(window)) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

/// The sixteen letters by which a text is found in a file: no digits, which could pass for a card's number.
pub fn mark(n: usize) -> String {
    let hashed = (n as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (0..16).map(|at| char::from(b'g' + (hashed >> (4 * at) & 0xF) as u8)).collect()
}

/// Ends what goes on beside, whatever happens.
pub struct Over<'a>(pub &'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}
