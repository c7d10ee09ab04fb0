//! Which format a stream is of, from its beginning.
//!
//! Names of files count only between Markdown and plain text. Must not know: how formats are read.

use super::Format;
use serde_json::Value;

/// Lines looked at: the first ones of a transcript may tell little.
const LINES_LOOKED_AT: usize = 40;

/// The format, from the first bytes (as many as can be had) and the name.
///
/// # Errors
/// What it seems to be instead, and what to do.
pub fn format(begin: &[u8], name: &str) -> Result<Format, String> {
    let begin = begin.strip_prefix(b"\xef\xbb\xbf").unwrap_or(begin).trim_ascii_start();
    if begin.starts_with(b"PK\x03\x04") {
        return Err("a ZIP archive: unpack it and import the conversations.json in it".to_owned());
    }
    if begin.contains(&0) {
        return Err("not a text".to_owned());
    }
    let is_markdown = name.ends_with(".md") || name.ends_with(".markdown");
    if is_markdown {
        return Ok(Format::Markdown);
    }
    match begin.first() {
        Some(b'[' | b'{') => of_json(begin, name),
        Some(_) if begin.starts_with(b"---\n") || begin.starts_with(b"# ") => Ok(Format::Markdown),
        Some(_) => Ok(Format::Text),
        // Nothing at all is nothing to take, in any format.
        None => Ok(Format::Native),
    }
}

fn of_json(begin: &[u8], name: &str) -> Result<Format, String> {
    let keys = first_keys(begin);
    let has = |name: &str| keys.iter().any(|key| key == name);
    if has("mapping") {
        return Ok(Format::ChatGpt);
    }
    if has("chat_messages") {
        return Ok(Format::Claude);
    }
    if has("entities") && !has("text") {
        return Ok(Format::McpMemory);
    }
    if begin.starts_with(b"[") || has("results") {
        return match has("memory") || has("results") || has("data") || has("payload") {
            true => Ok(Format::Mem0),
            false => Err("JSON of no known form: --format says which it is".to_owned()),
        };
    }
    let lines = begin.split(|byte| *byte == b'\n').take(LINES_LOOKED_AT);
    let found = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok()).find_map(|line| of_line(&line));
    Ok(found.unwrap_or(if has("memory") && name.ends_with(".json") { Format::Mem0 } else { of_keys(&keys) }))
}

/// The format that one line tells, where it does.
fn of_line(line: &Value) -> Option<Format> {
    let members = line.as_object()?;
    let kind = members.get("type").and_then(Value::as_str);
    let has = |name: &str| members.contains_key(name);
    match kind {
        Some("entity" | "relation") if has("name") || has("from") => Some(Format::McpMemory),
        Some("session_meta" | "response_item" | "event_msg" | "turn_context") if has("payload") => Some(Format::Codex),
        Some("message") if has("role") && has("content") => Some(Format::Codex),
        Some("summary") if has("leafUuid") => Some(Format::ClaudeCode),
        Some("file-history-snapshot" | "queue-operation") => Some(Format::ClaudeCode),
        Some(_) if has("sessionId") || has("parentUuid") => Some(Format::ClaudeCode),
        None if has("record_type") || (has("instructions") && has("id") && has("timestamp")) => Some(Format::Codex),
        None if has("text") => Some(Format::Native),
        None if has("memory") && has("id") => Some(Format::Mem0),
        None if has("mapping") => Some(Format::ChatGpt),
        None if has("chat_messages") => Some(Format::Claude),
        _ => None,
    }
}

/// The same from the names alone, of a line that is longer than what was looked at.
fn of_keys(keys: &[String]) -> Format {
    let has = |name: &str| keys.iter().any(|key| key == name);
    if has("payload") && has("timestamp") {
        Format::Codex
    } else if has("sessionId") || has("parentUuid") {
        Format::ClaudeCode
    } else if has("memory") && has("id") {
        Format::Mem0
    } else {
        Format::Native
    }
}

/// The names of the members of the first object, as far as the bytes go: of the first element where they begin with an array.
pub fn first_keys(begin: &[u8]) -> Vec<String> {
    let mut keys = Vec::new();
    let (mut depth, mut wanted_at) = (0usize, None);
    let mut text: Option<usize> = None;
    let mut is_escaped = false;
    let mut last: Option<&[u8]> = None;
    for (at, byte) in begin.iter().enumerate() {
        if let Some(from) = text {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => {
                    last = Some(&begin[from..=at]);
                    text = None;
                }
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => text = Some(at),
            b'{' => {
                depth += 1;
                wanted_at.get_or_insert(depth);
                last = None;
            }
            b'[' => {
                depth += 1;
                last = None;
            }
            b'}' | b']' => {
                if Some(depth) == wanted_at {
                    break;
                }
                depth = depth.saturating_sub(1);
                last = None;
            }
            b':' if Some(depth) == wanted_at => {
                keys.extend(last.take().and_then(|name| serde_json::from_slice::<String>(name).ok()));
            }
            b',' => last = None,
            _ => {}
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_known_by_what_stands_in_them() {
        let cases: &[(&str, Format)] = &[
            ("\u{feff}{\"text\":\"x\"}\n{\"text\":\"y\"}", Format::Native),
            ("not JSON but {\"text\":1}", Format::Text),
            ("{\"broken\n{\"text\":\"y\"}", Format::Native),
            ("", Format::Native),
            ("[{\"title\":\"a\",\"create_time\":1.5,\"mapping\":{\"x\":{\"chat_messages\":[]}}}]", Format::ChatGpt),
            ("{\"title\":\"a\",\"mapping\":{\"x\":", Format::ChatGpt),
            ("[\n {\"uuid\":\"a\",\"name\":\"{\\\"mapping\\\":1}\",\"chat_messages\":[", Format::Claude),
            ("{\"type\":\"summary\",\"summary\":\"s\",\"leafUuid\":\"u\"}\n", Format::ClaudeCode),
            ("{\"parentUuid\":null,\"type\":\"user\",\"message\":{\"content\":\"x", Format::ClaudeCode),
            ("{\"timestamp\":\"t\",\"type\":\"session_meta\",\"payload\":{\"id\":\"s\"}}", Format::Codex),
            ("{\"id\":\"s\",\"timestamp\":\"t\",\"instructions\":null}\n{\"record_type\":\"state\"}", Format::Codex),
            ("{\"results\":[{\"id\":\"1\",\"memory\":\"x\"}]}", Format::Mem0),
            ("[{\"id\":\"1\",\"memory\":\"x\"}]", Format::Mem0),
            ("{\"count\":1,\"next\":null,\"results\":[]}", Format::Mem0),
            ("{\"type\":\"entity\",\"name\":\"A\",\"entityType\":\"person\",\"observations\":[]}", Format::McpMemory),
            ("{\"entities\":[{\"name\":\"A\"}],\"relations\":[]}", Format::McpMemory),
            ("---\ntitle: x\n---\n", Format::Markdown),
            ("# Title\n", Format::Markdown),
            ("a note\n\nanother", Format::Text),
        ];
        for (text, expected) in cases {
            assert_eq!(format(text.as_bytes(), ""), Ok(*expected), "{text}");
        }
        assert_eq!(format(b"no heading", "a/b.md"), Ok(Format::Markdown));
        assert!(format(b"[1, 2, 3]", "").is_err_and(|why| why.contains("--format")));
        assert!(format(b"PK\x03\x04rest", "x.zip").is_err_and(|why| why.contains("unpack")));
        assert!(format(b"\x7fELF\0\0", "").is_err());
    }
}
