//! What tests check often, as one line each.
//!
//! Must not know: one test's story.

use crate::client::Rpc;
use crate::wait::{DEADLINE, wait_for};
use serde_json::{Value, json};
use std::path::Path;
use tiro_schema::{ErrorKind, ErrorObject};

/// Waits until the daemon at this socket has its store open.
pub fn ready(socket: &Path) {
    wait_for("the daemon to be ready", DEADLINE, || {
        let mut rpc = Rpc::connect(socket).ok()?;
        let status = rpc.try_call("daemon/status", json!({})).ok()?.ok()?;
        match status["state"].as_str() {
            Some("starting") => None,
            Some("ready" | "readOnly") => Some(()),
            other => panic!("the daemon is {other:?}: {status}"),
        }
    });
}

/// Checks that an error is of this kind, with the code and the members every error has.
#[track_caller]
pub fn is_error(error: &ErrorObject, kind: ErrorKind) {
    assert_eq!(error.code, kind.code(), "{error:?}");
    let data = error.data.as_ref().unwrap_or_else(|| panic!("no data in {error:?}"));
    assert_eq!(data.kind, kind.name());
    assert!(!data.hint.is_empty(), "no hint in {error:?}");
    assert!(!error.message.is_empty());
}

/// Checks that params are refused with this path.
#[track_caller]
pub fn refuses_path(rpc: &mut Rpc, method: &str, params: Value, path: &str) {
    let error = rpc.refused(method, params);
    is_error(&error, ErrorKind::InvalidParams);
    assert_eq!(error.data.expect("checked above").details["path"], path, "{method}: {}", error.message);
}

/// Keeps a text in `personal`; its id.
#[track_caller]
pub fn remember(rpc: &mut Rpc, text: &str) -> String {
    let result: Value = rpc.ask("memory/remember", json!({"text": text, "explicit": true}));
    result["id"].as_str().unwrap_or_else(|| panic!("{text:?} was not kept: {result}")).to_owned()
}

/// Texts found for a question in `personal`, best first.
#[track_caller]
pub fn recall(rpc: &mut Rpc, query: &str) -> Vec<String> {
    let result: Value = rpc.ask("memory/recall", json!({"query": query, "limit": 10}));
    let hits = result["hits"].as_array().unwrap_or_else(|| panic!("no hits in {result}"));
    hits.iter().map(|hit| hit["text"].as_str().expect("a hit has a text").to_owned()).collect()
}

/// Checks that a question finds this text.
#[track_caller]
pub fn recall_contains(rpc: &mut Rpc, query: &str, text: &str) {
    let found = recall(rpc, query);
    assert!(found.iter().any(|hit| hit == text), "{query:?} found {found:?}, not {text:?}");
}

/// Checks that a question does not find this text.
#[track_caller]
pub fn recall_lacks(rpc: &mut Rpc, query: &str, text: &str) {
    let found = recall(rpc, query);
    assert!(!found.iter().any(|hit| hit == text), "{query:?} found {text:?}");
}

/// Checks that a daemon answers a client that has done nothing wrong.
#[track_caller]
pub fn serves_others(socket: &Path) {
    let mut rpc = Rpc::open(socket);
    let status: Value = rpc.ask("daemon/status", json!({}));
    assert_eq!(status["state"], "ready", "{status}");
}

/// Resident memory of a process in bytes.
pub fn resident_bytes(pid: i32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("the process runs");
    let line = text.lines().find(|line| line.starts_with("VmRSS:")).expect("the kernel says VmRSS");
    let kib: u64 = line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number");
    kib * 1024
}

/// Processor time a process has used, in ms.
pub fn processor_ms(pid: i32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("the process runs");
    let after_name = text.rsplit(')').next().expect("a name in brackets");
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    let ticks: u64 = [fields[11], fields[12]].iter().filter_map(|field| field.parse::<u64>().ok()).sum();
    ticks * 10
}

/// Open descriptors of a process.
pub fn descriptors(pid: i32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/fd")).map(Iterator::count).unwrap_or(0)
}
