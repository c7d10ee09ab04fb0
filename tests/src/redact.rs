//! Takes out of an answer what differs from run to run, so that the rest can be held against a snapshot.
//!
//! Ids keep their identity: the first one seen is `[id 1]` wherever it stands again. Must not know: any verb.

use serde_json::Value;

/// What was seen so far.
#[derive(Debug, Default)]
pub struct Redaction {
    ids: Vec<String>,
}

impl Redaction {
    /// The value with ids, times, tokens, paths, sizes and scores replaced by what they are.
    pub fn of(&mut self, value: &Value) -> Value {
        match value {
            Value::Object(members) => members.iter().map(|(name, value)| (name.clone(), self.member(name, value))).collect(),
            Value::Array(items) => items.iter().map(|item| self.of(item)).collect(),
            Value::String(text) => Value::String(self.text(text)),
            other => other.clone(),
        }
    }

    fn member(&mut self, name: &str, value: &Value) -> Value {
        let is_path = value.as_str().is_some_and(|text| text.starts_with('/'));
        let word = match name {
            "pid" | "uid" | "clients" | "residentBytes" | "storeBytes" | "indexBytes" | "elapsedMs" | "epoch" | "bytes"
            | "records" => "[number]",
            "appliedSeq" | "tantivySeq" | "snapshotSeq" | "overlay" => "[number]",
            "socket" | "dataDir" | "executable" | "path" | "from" | "setAside" if is_path => "[path]",
            "version" if value.is_string() => "[version]",
            "seq" if value.is_string() => "[seq]",
            "nextCursor" | "cursor" => "[cursor]",
            "score" | "strength" if value.is_number() => "[score]",
            "embedder" => "[model id]",
            "model" if value.is_object() => "[model]",
            _ => return self.of(value),
        };
        Value::String(word.to_owned())
    }

    fn text(&mut self, text: &str) -> String {
        if is_time(text) {
            return "[time]".to_owned();
        }
        let mut out = String::new();
        let mut rest = text;
        while let Some((at, id)) = first_uuid(rest) {
            out.push_str(&rest[..at]);
            let number = self.ids.iter().position(|seen| seen == id).unwrap_or_else(|| {
                self.ids.push(id.to_owned());
                self.ids.len() - 1
            });
            out.push_str(&format!("[id {}]", number + 1));
            rest = &rest[at + id.len()..];
        }
        out.push_str(rest);
        without_short_ids(&out)
    }
}

/// Replaces the short ids that texts for people show, as in `id 7c3e00c7`.
fn without_short_ids(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("id ") {
        let (before, after) = rest.split_at(at + 3);
        out.push_str(before);
        let digits = after.bytes().take_while(u8::is_ascii_hexdigit).count();
        if digits == 8 {
            out.push_str("[short id]");
            rest = &after[8..];
        } else {
            rest = after;
        }
    }
    out + rest
}

fn is_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 20 && bytes[4] == b'-' && bytes[10] == b'T' && bytes[..4].iter().all(u8::is_ascii_digit) && text.ends_with('Z')
}

fn first_uuid(text: &str) -> Option<(usize, &str)> {
    (0..text.len().saturating_sub(35)).filter_map(|at| Some((at, text.get(at..at + 36)?))).find(|(_, word)| {
        word.bytes().enumerate().all(|(n, b)| if matches!(n, 8 | 13 | 18 | 23) { b == b'-' } else { b.is_ascii_hexdigit() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn ids_keep_their_identity_and_times_go() {
        let (a, b) = ("0b5c1e7e-0000-4000-8000-000000000001", "0b5c1e7e-0000-4000-8000-000000000002");
        let value = json!({"id": a, "related": [b, a], "message": format!("桂花 {b} is gone"), "at": "2026-03-05T12:00:00.000Z"});
        let expected = json!({"id": "[id 1]", "related": ["[id 2]", "[id 1]"], "message": "桂花 [id 2] is gone", "at": "[time]"});
        assert_eq!(Redaction::default().of(&value), expected);
    }
}
