//! A long text made short for a model, by its structure: JSON keeps the members that were declared to be key, text keeps what holds numbers and
//! negations. Pure.
//!
//! Nothing is cut in the middle of a value: a member, a line or a sentence stands whole or is left out, and what is left out is counted. Must
//! not know: where the whole is kept.

use crate::limits;
use crate::tokens;
use serde_json::{Map, Value};
use std::collections::HashSet;

/// What a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Words, lines, anything else.
    Text,
    /// A JSON object or array.
    Json,
}

/// A text made short.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digest {
    /// At most the tokens asked for, by estimate.
    pub text: String,
    /// What the whole is.
    pub format: Format,
}

/// Makes a text short: at most `tokens_max` tokens.
pub fn digest(text: &str, key_fields: &[String], tokens_max: u32) -> Digest {
    let is_structure = text.trim_start().starts_with(['{', '[']);
    match is_structure.then(|| serde_json::from_str::<Value>(text)) {
        Some(Ok(value)) => Digest { text: json(&value, key_fields, tokens_max), format: Format::Json },
        _ => Digest { text: prose(text, tokens_max), format: Format::Text },
    }
}

/// How much of a JSON value stands.
struct Level {
    /// Items of an array that stand as they are.
    items: usize,
    /// Items beyond these of which the key members stand.
    key_items: usize,
    /// Members of an object, key members not counted.
    members: usize,
    /// Characters of a string that is no key member.
    chars: usize,
    /// Depth.
    depth: usize,
}

/// From much to little: the first that fits is taken.
const LEVELS: [Level; 7] = [
    Level { items: 40, key_items: 1_000, members: 64, chars: 400, depth: 10 },
    Level { items: 12, key_items: 400, members: 48, chars: 200, depth: 8 },
    Level { items: 6, key_items: 150, members: 32, chars: 120, depth: 6 },
    Level { items: 3, key_items: 60, members: 20, chars: 80, depth: 5 },
    Level { items: 1, key_items: 25, members: 12, chars: 60, depth: 4 },
    Level { items: 1, key_items: 8, members: 4, chars: 40, depth: 3 },
    Level { items: 0, key_items: 3, members: 0, chars: 20, depth: 2 },
];

fn json(value: &Value, key_fields: &[String], tokens_max: u32) -> String {
    let keys: HashSet<&str> = key_fields.iter().map(String::as_str).collect();
    for level in &LEVELS {
        let text = reduced(value, level, &keys, 0).to_string();
        if tokens::estimate(&text) <= tokens_max {
            return text;
        }
    }
    // Wide, or with long key members: these alone, as many as fit.
    let (mut out, mut left) = (Map::new(), tokens_max.saturating_sub(12));
    collect(value, &keys, "", &mut |path, value| {
        let cost = tokens::estimate(path) + tokens::estimate(&value.to_string()) + 3;
        if cost <= left {
            left -= cost;
            out.insert(path.to_owned(), value.clone());
        }
        left > 12
    });
    out.insert("…".to_owned(), Value::String(shape_of(value)));
    Value::Object(out).to_string()
}

/// Calls `sink` with every key member and its path until it says that this is enough. False when it did.
fn collect(value: &Value, keys: &HashSet<&str>, path: &str, sink: &mut dyn FnMut(&str, &Value) -> bool) -> bool {
    match value {
        Value::Object(members) => members.iter().all(|(name, member)| {
            let path = format!("{path}/{name}");
            if keys.contains(name.as_str()) { sink(&path, member) } else { collect(member, keys, &path, sink) }
        }),
        Value::Array(items) => items.iter().enumerate().all(|(at, item)| collect(item, keys, &format!("{path}/{at}"), sink)),
        _ => true,
    }
}

fn shape_of(value: &Value) -> String {
    match value {
        Value::Object(members) => format!("an object of {} members", members.len()),
        Value::Array(items) => format!("a list of {} items", items.len()),
        Value::String(text) => format!("a text of {} characters", text.chars().count()),
        other => other.to_string(),
    }
}

fn reduced(value: &Value, level: &Level, keys: &HashSet<&str>, depth: usize) -> Value {
    match value {
        Value::Object(_) | Value::Array(_) if depth >= level.depth => Value::String(format!("[{}]", shape_of(value))),
        Value::Object(members) => object(members, level, keys, depth),
        Value::Array(items) => {
            let mut out: Vec<Value> = items.iter().take(level.items).map(|item| reduced(item, level, keys, depth + 1)).collect();
            let rest = items.get(level.items..).unwrap_or_default();
            let of_keys: Vec<Value> = rest.iter().filter_map(|item| key_members(item, keys)).take(level.key_items).collect();
            let left_out = rest.len() - of_keys.len();
            out.extend(of_keys);
            if left_out > 0 {
                out.push(Value::String(format!("[… {left_out} more items]")));
            }
            Value::Array(out)
        }
        Value::String(text) => Value::String(short(text, level.chars)),
        other => other.clone(),
    }
}

fn object(members: &Map<String, Value>, level: &Level, keys: &HashSet<&str>, depth: usize) -> Value {
    let mut out = Map::new();
    let (mut taken, mut left_out) = (0, 0);
    for (name, member) in members {
        if keys.contains(name.as_str()) {
            out.insert(name.clone(), key_value(member, level, keys, depth));
        } else if taken < level.members || holds_key(member, keys, depth, level.depth) {
            taken += 1;
            out.insert(name.clone(), reduced(member, level, keys, depth + 1));
        } else {
            left_out += 1;
        }
    }
    if left_out > 0 {
        out.insert("…".to_owned(), Value::String(format!("{left_out} more members")));
    }
    Value::Object(out)
}

/// A key member stands whole, unless it is a structure or a text of its own.
fn key_value(member: &Value, level: &Level, keys: &HashSet<&str>, depth: usize) -> Value {
    match member {
        Value::String(text) => Value::String(short(text, limits::DIGEST_KEY_CHARS_MAX)),
        other => reduced(other, level, keys, depth + 1),
    }
}

fn holds_key(value: &Value, keys: &HashSet<&str>, depth: usize, depth_max: usize) -> bool {
    depth < depth_max
        && match value {
            Value::Object(members) => {
                members.iter().any(|(name, member)| keys.contains(name.as_str()) || holds_key(member, keys, depth + 1, depth_max))
            }
            Value::Array(items) => items.iter().take(8).any(|item| holds_key(item, keys, depth + 1, depth_max)),
            _ => false,
        }
}

/// The key members of an item, if it has one.
fn key_members(item: &Value, keys: &HashSet<&str>) -> Option<Value> {
    let members = item.as_object()?;
    let kept = members.iter().filter(|(name, value)| keys.contains(name.as_str()) && !value.is_object() && !value.is_array());
    let kept: Map<String, Value> = kept.map(|(name, value)| (name.clone(), value.clone())).collect();
    (!kept.is_empty()).then_some(Value::Object(kept))
}

/// A string that is short enough, or its sentences that are.
fn short(text: &str, chars_max: usize) -> String {
    let chars = text.chars().count();
    if chars <= chars_max {
        return text.to_owned();
    }
    let kept = prose(text, u32::try_from(chars_max / 4).unwrap_or(u32::MAX));
    if kept.is_empty() { format!("[a text of {chars} characters]") } else { format!("{kept} [of {chars} characters]") }
}

/// A line or sentence, and what speaks for it.
struct Unit<'a> {
    text: &'a str,
    weight: i32,
    cost: u32,
}

/// Text by whole lines and sentences.
fn prose(text: &str, tokens_max: u32) -> String {
    let mut units = units(text);
    let count = units.len();
    let mut seen = HashSet::new();
    for (at, unit) in units.iter_mut().enumerate() {
        unit.weight += match at {
            0 => 6,
            _ if at + 1 == count => 3,
            1 => 1,
            _ => 0,
        };
        // The same line with other numbers, as logs have them, says little more.
        if !seen.insert(pattern(unit.text)) {
            unit.weight -= 4;
        }
    }
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|at| (-units[*at].weight, *at));
    let mut left = tokens_max.saturating_sub(GAP_TOKENS);
    let mut kept = vec![false; count];
    for at in order {
        // A gap may stand before it.
        let cost = units[at].cost + GAP_TOKENS;
        if cost <= left {
            left -= cost;
            kept[at] = true;
        }
        if left < GAP_TOKENS + 2 {
            break;
        }
    }
    joined(&units, &kept)
}

/// What stands for lines that are left out.
const GAP: &str = "[…]";
const GAP_TOKENS: u32 = 3;

fn joined(units: &[Unit<'_>], kept: &[bool]) -> String {
    let mut out = String::new();
    let mut is_gap = false;
    for (unit, is_kept) in units.iter().zip(kept) {
        if !is_kept {
            is_gap = true;
            continue;
        }
        if std::mem::take(&mut is_gap) {
            out.push_str(if out.is_empty() { "[…] " } else { "\n[…]\n" });
        } else if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(unit.text);
    }
    if is_gap && !out.is_empty() {
        out.push('\n');
        out.push_str(GAP);
    }
    out
}

/// Lines; long ones by sentence; what has no end of a sentence by words. A run of characters without any break is left out.
fn units(text: &str) -> Vec<Unit<'_>> {
    let lines = text.split('\n').map(str::trim).filter(|line| !line.is_empty());
    let sentences = lines.flat_map(sentences);
    let parts = sentences.flat_map(by_words);
    parts.map(|text| Unit { text, weight: weight(text), cost: tokens::estimate(text) }).collect()
}

fn sentences(line: &str) -> Vec<&str> {
    if line.len() <= limits::DIGEST_UNIT_BYTES_MAX {
        return vec![line];
    }
    let mut out = Vec::new();
    let mut begin = 0;
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let is_end = match c {
            '。' | '！' | '？' | '；' => true,
            // A point inside a number or a name is none.
            '.' | '!' | '?' | ';' => chars.peek().is_none_or(|(_, next)| next.is_whitespace()),
            _ => false,
        };
        if is_end {
            let end = at + c.len_utf8();
            out.push(line[begin..end].trim());
            begin = end;
        }
    }
    out.push(line[begin..].trim());
    out.retain(|sentence| !sentence.is_empty());
    out
}

fn by_words(sentence: &str) -> Vec<&str> {
    if sentence.len() <= limits::DIGEST_UNIT_BYTES_MAX {
        return vec![sentence];
    }
    let mut out = Vec::new();
    let (mut begin, mut last_break) = (0, 0);
    for (at, c) in sentence.char_indices() {
        if at < begin {
            continue;
        }
        if c.is_whitespace() || matches!(c, '，' | '、') {
            if at - begin > limits::DIGEST_UNIT_BYTES_MAX / 2 {
                out.push(sentence[begin..at].trim());
                begin = at;
            }
            last_break = at;
        } else if at - begin > limits::DIGEST_UNIT_BYTES_MAX {
            // No break for long: what stands here is one value.
            let until = if last_break > begin { last_break } else { at };
            if last_break > begin {
                out.push(sentence[begin..until].trim());
            }
            begin = sentence[at..].find(char::is_whitespace).map_or(sentence.len(), |next| at + next);
            if begin == sentence.len() {
                break;
            }
            last_break = begin;
        }
    }
    if begin < sentence.len() && sentence.len() - begin <= limits::DIGEST_UNIT_BYTES_MAX {
        out.push(sentence[begin..].trim());
    }
    out.retain(|part| !part.is_empty());
    out
}

const NEGATIONS_EN: &[&str] = &[
    "not", "no", "never", "none", "nor", "neither", "without", "cannot", "nothing", "nobody", "nowhere", "except", "unless",
    "only", "must",
];
const NEGATIONS_ZH: &[&str] = &["不", "没", "無", "无", "未", "非", "勿", "别", "禁", "除了", "只"];
const FAILURES: &[&str] =
    &["error", "fail", "warn", "exception", "denied", "refused", "missing", "错误", "失败", "警告", "异常", "拒绝"];

fn weight(text: &str) -> i32 {
    let lower = text.to_lowercase();
    let words = || lower.split(|c: char| !c.is_alphanumeric() && c != '\'');
    let negated = words().any(|word| NEGATIONS_EN.contains(&word) || word.ends_with("n't"))
        || NEGATIONS_ZH.iter().any(|word| text.contains(word));
    let numbered = text.chars().any(|c| c.is_numeric());
    let failed = FAILURES.iter().any(|word| lower.contains(word));
    let headed = text.starts_with('#') || text.ends_with([':', '：']);
    4 * i32::from(negated) + 4 * i32::from(numbered) + 3 * i32::from(failed) + i32::from(headed)
}

/// A line with its digits as one sign.
fn pattern(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars().take(200) {
        let c = if c.is_ascii_digit() { '#' } else { c };
        if !(c == '#' && out.ends_with('#')) {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
#[path = "digest_tests.rs"]
mod tests;
