//! JSON Lines as `tiro export` writes them. The daemon judges what a line holds.
//!
//! Must not know: what a line may hold.

use super::lines::{Line, Lines};
use super::sink::{Place, Sink, Stop};
use crate::limits::IMPORT_LINE_BYTES_MAX;
use serde_json::Value;
use std::io::BufRead;

/// Reads a stream to its end.
///
/// # Errors
/// [`Stop`].
pub fn read(input: &mut dyn BufRead, sink: &mut Sink) -> Result<(), Stop> {
    let mut lines = Lines::new(input, IMPORT_LINE_BYTES_MAX);
    while let Some(line) = lines.next_line()? {
        let place = Place::Line(lines.number);
        let line = match line {
            Line::Whole(line) => line,
            Line::TooLong => {
                sink.refuse(place, format!("longer than {IMPORT_LINE_BYTES_MAX} bytes"));
                continue;
            }
        };
        match judged(&line) {
            Ok(None) => continue,
            Ok(Some(value)) => sink.push(place, with_id(lines.number, &line, value), line.len())?,
            Err(reason) => sink.refuse(place, reason),
        }
        sink.read_to(lines.read);
    }
    Ok(())
}

/// The line as JSON; none for an empty one, or why it is not taken.
fn judged(line: &[u8]) -> Result<Option<Value>, String> {
    let text = std::str::from_utf8(line).map_err(|error| format!("not UTF-8: {error}"))?.trim();
    if text.is_empty() {
        return Ok(None);
    }
    match tiro_schema::strict::parse(text.as_bytes()).map(|parsed| (parsed.value, parsed.duplicate)) {
        Ok((_, Some(name))) => Err(format!("the member {name:?} stands twice")),
        Ok((value @ Value::Object(_), None)) => Ok(Some(value)),
        Ok(_) => Err("not a JSON object".to_owned()),
        Err(error) => Err(format!("not JSON: {error}")),
    }
}

/// A line that is to be kept whatever is there already, and names no id, gets one made of its words and its place in the
/// file: so it too is known when the file comes again.
fn with_id(number: u64, line: &[u8], mut value: Value) -> Value {
    if value["verbatim"] == Value::Bool(true)
        && let Value::Object(members) = &mut value
        && !members.contains_key("id")
    {
        let mut hash = xxhash_rust::xxh3::Xxh3::new();
        hash.update(&number.to_le_bytes());
        hash.update(line.trim_ascii());
        let id = uuid::Builder::from_custom_bytes(hash.digest128().to_be_bytes()).into_uuid();
        members.insert("id".to_owned(), Value::String(id.to_string()));
    }
    value
}

/// Puts a line into the space of the command line; whether it named another.
pub fn put_into(space: &str, value: &mut Value) -> bool {
    let Value::Object(members) = value else { return false };
    let named = members.insert("space".to_owned(), Value::String(space.to_owned()));
    named.is_some_and(|named| named.as_str() != Some(space))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn lines_are_judged_before_they_are_sent() {
        assert!(judged(b" {\"text\":\"x\"}").unwrap().is_some());
        assert!(judged(b"  ").unwrap().is_none());
        assert_eq!(judged(b"{\"text\":\"a\",\"text\":\"b\"}").unwrap_err(), "the member \"text\" stands twice");
        for bad in [&b"[1]"[..], b"{", b"\xff", b"text"] {
            assert!(judged(bad).is_err());
        }
    }

    #[test]
    fn a_line_that_is_kept_whatever_is_there_has_an_id_of_its_words_and_place() {
        let id = |number: u64, line: &str| with_id(number, line.as_bytes(), serde_json::from_str(line).unwrap())["id"].clone();
        let line = "{\"text\":\"x\",\"verbatim\":true}";
        assert_eq!(id(1, line), id(1, line));
        assert_ne!(id(1, line), id(2, line));
        assert_eq!(id(1, "{\"text\":\"x\"}"), Value::Null);
        assert_eq!(id(1, "{\"text\":\"x\",\"verbatim\":true,\"id\":\"i\"}"), "i");
    }

    #[test]
    fn the_space_of_the_command_line_is_over_that_of_a_line() {
        let mut line = serde_json::json!({"text": "x", "space": "old"});
        assert!(put_into("new", &mut line) && line["space"] == "new");
        assert!(!put_into("new", &mut line));
        assert!(!put_into("new", &mut serde_json::json!({"text": "x"})));
    }
}
