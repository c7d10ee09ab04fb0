//! Checks arguments against the part of JSON Schema that tools of Tiro use: `type`, `enum`, `properties`, `required`,
//! `additionalProperties: false`, `minLength`, `maxLength`, `minimum`, `maximum`, `items`, `maxItems`.
//!
//! Errors are written for the model: what is wrong where, and what would be right. Must not know: any tool.

use serde_json::{Map, Value};

/// Checks `value` against `schema`; the error is one line for the model.
///
/// # Errors
/// The first thing that does not fit.
pub fn check(schema: &Value, value: &Value) -> Result<(), String> {
    check_at("", schema, value)
}

fn check_at(path: &str, schema: &Value, value: &Value) -> Result<(), String> {
    let place = if path.is_empty() { "the arguments" } else { path };
    if let Some(kind) = schema["type"].as_str()
        && !is_of(kind, value)
    {
        return Err(format!("{place} must be {}, not {}", article(kind), article(kind_of(value))));
    }
    if let Some(allowed) = schema["enum"].as_array()
        && !allowed.contains(value)
    {
        let list: Vec<String> = allowed.iter().map(Value::to_string).collect();
        return Err(format!("{place} must be one of {}, not {}", list.join(", "), shown(value)));
    }
    match value {
        Value::Object(members) => check_object(path, schema, members),
        Value::Array(items) => check_array(place, path, schema, items),
        Value::String(text) => check_text(place, schema, text),
        Value::Number(number) => check_number(place, schema, number.as_f64().unwrap_or(0.0)),
        _ => Ok(()),
    }
}

fn check_object(path: &str, schema: &Value, members: &Map<String, Value>) -> Result<(), String> {
    let empty = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&empty);
    let join = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !members.contains_key(name) {
            return Err(format!("{} is missing", join(name)));
        }
    }
    for (name, value) in members {
        match properties.get(name) {
            Some(schema) => check_at(&join(name), schema, value)?,
            None if schema["additionalProperties"] == Value::Bool(false) => {
                let known: Vec<&str> = properties.keys().map(String::as_str).collect();
                return Err(format!("{} is unknown; known: {}", join(name), known.join(", ")));
            }
            None => {}
        }
    }
    Ok(())
}

fn check_array(place: &str, path: &str, schema: &Value, items: &[Value]) -> Result<(), String> {
    if let Some(most) = schema["maxItems"].as_u64()
        && items.len() as u64 > most
    {
        return Err(format!("{place} must have at most {most} items, not {}", items.len()));
    }
    if schema["items"].is_object() {
        for (at, item) in items.iter().enumerate() {
            check_at(&format!("{path}[{at}]"), &schema["items"], item)?;
        }
    }
    Ok(())
}

fn check_text(place: &str, schema: &Value, text: &str) -> Result<(), String> {
    let length = text.chars().count() as u64;
    if let Some(least) = schema["minLength"].as_u64()
        && (text.trim().chars().count() as u64) < least
    {
        return Err(if least == 1 {
            format!("{place} must not be empty")
        } else {
            format!("{place} must have at least {least} characters")
        });
    }
    if let Some(most) = schema["maxLength"].as_u64()
        && length > most
    {
        return Err(format!("{place} must have at most {most} characters, not {length}: make it shorter"));
    }
    Ok(())
}

fn check_number(place: &str, schema: &Value, number: f64) -> Result<(), String> {
    if let Some(least) = schema["minimum"].as_f64()
        && number < least
    {
        return Err(format!("{place} must be at least {least}, not {number}"));
    }
    if let Some(most) = schema["maximum"].as_f64()
        && number > most
    {
        return Err(format!("{place} must be at most {most}, not {number}"));
    }
    Ok(())
}

fn is_of(kind: &str, value: &Value) -> bool {
    match kind {
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|n| n.fract() == 0.0),
        other => kind_of(value) == other,
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn article(kind: &str) -> String {
    match kind {
        "null" => "null".to_owned(),
        "integer" | "array" | "object" => format!("an {kind}"),
        _ => format!("a {kind}"),
    }
}

fn shown(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() > 40 { format!("{}…", text.chars().take(40).collect::<String>()) } else { text }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde_json::json;

    // TOOL-2
    #[test]
    fn errors_say_what_would_be_right() {
        let schema = json!({"type": "object", "additionalProperties": false, "required": ["query"], "properties": {
            "query": {"type": "string", "minLength": 1, "maxLength": 5},
            "limit": {"type": "integer", "minimum": 1, "maximum": 10},
            "kind": {"type": "string", "enum": ["a", "b"]},
            "tags": {"type": "array", "maxItems": 2, "items": {"type": "string"}}}});
        let table = [
            (json!({}), "query is missing"),
            (json!([]), "the arguments must be an object, not an array"),
            (json!({"query": ""}), "query must not be empty"),
            (json!({"query": "  "}), "query must not be empty"),
            (json!({"query": "abcdef"}), "query must have at most 5 characters, not 6: make it shorter"),
            (json!({"query": 1}), "query must be a string, not a number"),
            (json!({"query": "x", "limit": 11}), "limit must be at most 10, not 11"),
            (json!({"query": "x", "limit": 1.5}), "limit must be an integer, not a number"),
            (json!({"query": "x", "kind": "c"}), "kind must be one of \"a\", \"b\", not \"c\""),
            (json!({"query": "x", "tags": ["a", 1]}), "tags[1] must be a string, not a number"),
            (json!({"query": "x", "tags": ["a", "b", "c"]}), "tags must have at most 2 items, not 3"),
            (json!({"query": "x", "q": 1}), "q is unknown; known: query, limit, kind, tags"),
        ];
        for (value, expected) in table {
            assert_eq!(check(&schema, &value).unwrap_err(), expected, "{value}");
        }
        let good = json!({"query": "茶是什么呢", "limit": 3.0, "kind": "a", "tags": []});
        assert_eq!(check(&schema, &good), Ok(()));
    }
}
