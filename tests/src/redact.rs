//! Takes out of an answer what differs from run to run, so that the rest can be held against a snapshot.
//!
//! Must not know: any verb.

use serde_json::Value;

/// The value with ids, times, tokens, paths and sizes replaced by what they are.
pub fn redact(value: &Value) -> Value {
    match value {
        Value::Object(members) => members.iter().map(|(name, value)| (name.clone(), member(name, value))).collect(),
        Value::Array(items) => items.iter().map(redact).collect(),
        Value::String(text) => Value::String(text_of(text)),
        other => other.clone(),
    }
}

fn member(name: &str, value: &Value) -> Value {
    let word = match name {
        "pid" | "uid" => "[number]",
        "residentBytes" | "storeBytes" | "indexBytes" | "elapsedMs" | "epoch" | "bytes" => "[number]",
        "appliedSeq" | "tantivySeq" | "snapshotSeq" | "overlay" => "[number]",
        "socket" | "dataDir" | "executable" | "path" if value.as_str().is_some_and(|text| text.starts_with('/')) => "[path]",
        "version" if value.is_string() => "[version]",
        "seq" if value.is_string() => "[seq]",
        "nextCursor" | "cursor" => "[cursor]",
        "score" | "strength" if value.is_number() => "[score]",
        _ => return redact(value),
    };
    Value::String(word.to_owned())
}

fn text_of(text: &str) -> String {
    if is_uuid(text) {
        return "[id]".to_owned();
    }
    let is_time = text.len() >= 20 && text.as_bytes()[4] == b'-' && text.as_bytes()[10] == b'T' && text.ends_with('Z');
    if is_time { "[time]".to_owned() } else { text.to_owned() }
}

fn is_uuid(text: &str) -> bool {
    let dashes = [8, 13, 18, 23];
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| if dashes.contains(&at) { byte == b'-' } else { byte.is_ascii_hexdigit() })
}
