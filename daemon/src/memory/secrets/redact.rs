//! Takes secrets out of text and JSON that are to be kept all the same: what a model wrote, its calls included.
//!
//! Whatever it gives back passes [`find`]. Must not know: who keeps it.

use super::{find, next_value, tables, undisguised};
use serde_json::{Value, json};
use std::ops::Range;

/// How often a text is gone over: taking one value out can lay another bare.
const ROUNDS_MAX: usize = 4;

/// The text without its secrets, `[redacted:KIND]` in the place of each; none when it holds none.
pub fn redact(text: &str) -> Option<String> {
    let first = find(text)?;
    let mut clean = without(text);
    for _ in 1..ROUNDS_MAX {
        match find(&clean) {
            None => return Some(clean),
            // Dressed up: it is only seen in the plain form.
            Some(_) => clean = without(&undisguised(&clean)),
        }
    }
    Some(if find(&clean).is_some() { mark(first) } else { clean })
}

/// Takes the secrets out of every text of a value; whether there was one.
pub fn redact_json(value: &mut Value) -> bool {
    let mut found = redact_strings(value);
    // A name and its value may be a secret only together.
    if let Some(kind) = find(&value.to_string()) {
        *value = json!({ "redacted": kind });
        found = true;
    }
    found
}

/// Nesting is bounded where a model's arguments are read.
fn redact_strings(value: &mut Value) -> bool {
    match value {
        Value::String(text) => redact(text).map(|clean| *text = clean).is_some(),
        Value::Array(items) => items.iter_mut().fold(false, |found, item| redact_strings(item) | found),
        Value::Object(members) => members.values_mut().fold(false, |found, member| redact_strings(member) | found),
        _ => false,
    }
}

fn mark(kind: &str) -> String {
    format!("[redacted:{kind}]")
}

/// The text with every value that a rule finds replaced.
fn without(text: &str) -> String {
    let mut found: Vec<(Range<usize>, &'static str)> = Vec::new();
    for table in tables() {
        for number in table.patterns.candidates(text) {
            let (rule, mut at) = (&table.rules[number], 0);
            while let Some(value) = next_value(rule, table.patterns.single(number), text, at) {
                at = value.end.max(at + 1);
                found.push((whole(rule.kind, text, value), rule.kind));
                if !text.is_char_boundary(at) {
                    break;
                }
            }
        }
    }
    found.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
    let (mut out, mut end) = (String::with_capacity(text.len()), 0);
    for (range, kind) in found {
        if range.end <= end {
            continue;
        }
        if range.start >= end {
            out.push_str(&text[end..range.start]);
            out.push_str(&mark(kind));
        }
        end = range.end;
    }
    out.push_str(&text[end..]);
    out
}

/// All of a secret of which the rule sees a part: a key reaches from its first line to its last, or to the end of the text.
fn whole(kind: &str, text: &str, seen: Range<usize>) -> Range<usize> {
    let rest = &text[seen.end..];
    match kind {
        "privateKey" => {
            let end = rest.find("-----END ").and_then(|at| {
                let line = &rest[at + "-----END ".len()..];
                line.find("-----").map(|close| at + "-----END ".len() + close + "-----".len())
            });
            seen.start..seen.end + end.unwrap_or(rest.len())
        }
        "passwordHash" | "jwt" => {
            let more = rest.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'')).unwrap_or(rest.len());
            seen.start..seen.end + more
        }
        _ => seen,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    // MEM-10
    #[test]
    fn the_value_goes_and_the_sentence_stays() {
        let clean = redact("Set AKIAIOSFODNN7EXAMPL2 in the file, then run it.").unwrap();
        assert_eq!(clean, "Set [redacted:awsKey] in the file, then run it.");
        assert_eq!(redact("How do I rotate a key?"), None);
        let two = redact("password: hunter2hunter2 and card 4111 1111 1111 1111").unwrap();
        assert!(!two.contains("hunter2") && !two.contains("4111 1111") && two.starts_with("password: [redacted:"), "{two}");
    }

    // MEM-10, M31: of a key block the rule sees the first line only
    #[test]
    fn a_private_key_goes_whole() {
        let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq\nq5pYv\n-----END RSA PRIVATE KEY-----";
        assert_eq!(redact(&format!("here:\n{key}\nkeep it safe")).unwrap(), "here:\n[redacted:privateKey]\nkeep it safe");
        let cut = redact(&key[..50]).unwrap();
        assert_eq!(cut, "[redacted:privateKey]");
    }

    // MEM-10: dressed up in full-width letters it is a secret all the same
    #[test]
    fn a_disguise_does_not_help() {
        let clean = redact("the key is ＡＫＩＡＩＯＳＦＯＤＮＮ７ＥＸＡＭＰＬ２ today").unwrap();
        assert!(find(&clean).is_none() && clean.contains("redacted") && !clean.contains('Ｋ'), "{clean}");
    }

    // MEM-10
    #[test]
    fn arguments_are_cleaned_member_by_member_and_whole_where_a_name_makes_the_secret() {
        let mut plain = json!({"query": "tea", "tags": ["a"]});
        assert!(!redact_json(&mut plain) && plain["query"] == "tea");
        let mut text = json!({"text": "my key is AKIAIOSFODNN7EXAMPL2", "tags": ["a"]});
        assert!(redact_json(&mut text) && text["tags"][0] == "a", "{text}");
        let mut named = json!({"password": "Tr0ub4dor&3x"});
        assert!(redact_json(&mut named) && !named.to_string().contains("Tr0ub4dor"), "{named}");
    }
}
