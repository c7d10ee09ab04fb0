//! JSON read strictly: like `serde_json::Value`, but a name that stands twice in one object is seen.
//!
//! Must not know: what the value means.

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::cell::RefCell;
use std::fmt;

/// What a line holds.
#[derive(Debug)]
pub struct Parsed {
    /// The value; of a name that stands twice the first value is kept.
    pub value: Value,
    /// The first name that stands twice in one object.
    pub duplicate: Option<String>,
}

/// Parses one line.
///
/// # Errors
/// When it is not UTF-8 or not one JSON value.
pub fn parse(line: &[u8]) -> Result<Parsed, serde_json::Error> {
    let duplicate = RefCell::new(None);
    let mut reader = serde_json::Deserializer::from_slice(line);
    let value = Strict { duplicate: &duplicate }.deserialize(&mut reader)?;
    reader.end()?;
    Ok(Parsed { value, duplicate: duplicate.into_inner() })
}

#[derive(Clone, Copy)]
struct Strict<'a> {
    duplicate: &'a RefCell<Option<String>>,
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(self)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            let value = map.next_value_seed(self)?;
            if members.contains_key(&name) {
                self.duplicate.borrow_mut().get_or_insert(name);
            } else {
                members.insert(name, value);
            }
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_name_that_stands_twice_is_seen_at_any_depth_and_in_any_spelling() {
        // API-3, C3
        let parsed = parse(br#"{"a":[{"b":1,"\u0062":2}],"c":0}"#).unwrap();
        assert_eq!(parsed.duplicate.as_deref(), Some("b"));
        assert_eq!(parsed.value, serde_json::json!({"a": [{"b": 1}], "c": 0}));
        assert!(parse(br#"{"a":{"x":1},"b":{"x":1}}"#).unwrap().duplicate.is_none());
    }

    #[test]
    fn everything_else_is_as_serde_json_reads_it() {
        for text in
            ["null", "-1", "1.5e3", "18446744073709551615", "\"\\u00e9\u{2028}\\u0000\"", "[1,[],{}]", "{\"a\":{\"b\":null}}"]
        {
            assert_eq!(parse(text.as_bytes()).unwrap().value, serde_json::from_str::<Value>(text).unwrap(), "{text}");
        }
        for text in [&b"\xff"[..], b"\"\xc3\"", b"{", b"1 2", b"\"\\ud800\"", b"1e400", b"", b"{\"a\":1,}", b"NaN"] {
            assert!(parse(text).is_err(), "{text:?}");
        }
    }
}
