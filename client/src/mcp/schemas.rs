//! JSON Schemas of tools, from the wire types: only the members a tool takes, in the plain subset that hosts and model providers
//! read (no references, no unions with null, enums as lists).
//!
//! Must not know: which tools there are.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// The schema of a type, plain.
fn of<T: JsonSchema>() -> Map<String, Value> {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = Value::from(settings.into_generator().into_root_schema_for::<T>());
    plain(&mut schema);
    match schema {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// What a tool takes: these members of a type of params, of which `needs` have to be there. Others are refused.
pub fn input<T: JsonSchema>(takes: &[&str], needs: &[&str]) -> Map<String, Value> {
    let mut properties = Map::new();
    if let Some(Value::Object(known)) = of::<T>().get_mut("properties") {
        for name in takes {
            if let Some(property) = known.shift_remove(*name) {
                properties.insert((*name).to_owned(), property);
            }
        }
    }
    properties.iter_mut().for_each(|(name, property)| say_instants(name, property));
    object(json!({"type": "object", "properties": properties, "required": needs, "additionalProperties": false}))
}

/// What a tool gives: the type's members but `without`, with the note on memories first where there is one.
pub fn output<T: JsonSchema>(without: &[&str], note: bool) -> Map<String, Value> {
    let mut schema = of::<T>();
    schema.shift_remove("description");
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for name in without {
            properties.shift_remove(*name);
        }
        if note {
            properties.shift_insert(0, "note".to_owned(), json!({"type": "string", "description": "What memories are."}));
        }
        properties.values_mut().for_each(without_explain);
    }
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|name| !name.as_str().is_some_and(|name| without.contains(&name)));
    }
    schema
}

/// Members that hold an instant say how it is written.
fn say_instants(name: &str, property: &mut Value) {
    let Value::Object(members) = property else { return };
    let is_instant = name.ends_with("At") || name.ends_with("Of") || ["validFrom", "validTo", "after", "before"].contains(&name);
    if let Some(Value::String(text)) = members.get_mut("description") {
        *text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if is_instant {
            text.push_str(" RFC 3339, as 2026-03-05T12:00:00Z.");
        }
    }
    if let Some(Value::Object(inner)) = members.get_mut("properties") {
        inner.iter_mut().for_each(|(name, property)| say_instants(name, property));
    }
}

/// Tools never ask for the parts of a score.
fn without_explain(schema: &mut Value) {
    if let Some(properties) = schema.pointer_mut("/items/properties").and_then(Value::as_object_mut) {
        properties.shift_remove("explain");
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// Rewrites a schema, and all inside it, to the plain subset.
fn plain(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(plain),
        Value::Object(members) => {
            members.values_mut().for_each(plain);
            for name in ["$schema", "title", "format", "default"] {
                // A property may have such a name; it is an object then.
                if !members.get(name).is_some_and(Value::is_object) {
                    members.shift_remove(name);
                }
            }
            drop_null(members);
            join(members, "anyOf");
            join(members, "oneOf");
        }
        _ => {}
    }
}

/// `["string", "null"]` is a string that may be absent.
fn drop_null(members: &mut Map<String, Value>) {
    if let Some(Value::Array(kinds)) = members.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [one] = kinds.as_slice() {
            let one = one.clone();
            members.insert("type".to_owned(), one);
        }
    }
    if let Some(Value::Array(values)) = members.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
}

/// One of several: without null, with constants as a list, and what may grow as any string.
fn join(members: &mut Map<String, Value>, name: &str) {
    let Some(Value::Array(choices)) = members.shift_remove(name) else { return };
    let choices: Vec<Value> = choices.into_iter().filter(|choice| choice.get("type") != Some(&json!("null"))).collect();
    let constants: Vec<&Value> = choices.iter().filter_map(|choice| choice.get("const")).collect();
    let joined = if !choices.is_empty() && constants.len() == choices.len() {
        json!({"type": "string", "enum": constants})
    } else if let [only] = choices.as_slice() {
        only.clone()
    } else if choices.iter().all(|choice| choice.get("type") == Some(&json!("string"))) {
        json!({"type": "string"})
    } else {
        json!({ name: choices })
    };
    for (name, value) in object(joined) {
        members.entry(name).or_insert(value);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use tiro_schema::wire::memory::{RecallParams, RecallResult, RememberParams};

    #[test]
    fn an_input_schema_has_the_members_asked_for_in_their_order_and_is_plain() {
        let schema = Value::Object(input::<RecallParams>(&["query", "limit", "filter"], &["query"]));
        let names: Vec<_> = schema["properties"].as_object().unwrap().keys().cloned().collect();
        assert_eq!(names, ["query", "limit", "filter"]);
        assert_eq!(schema["properties"]["limit"]["type"], "integer");
        assert_eq!(schema["properties"]["filter"]["type"], "object");
        assert_eq!(schema["properties"]["filter"]["additionalProperties"], false);
        let after = schema["properties"]["filter"]["properties"]["after"]["description"].as_str().unwrap();
        assert!(after.contains("RFC 3339") && !after.contains('\n'), "{after}");
        let kinds = &schema["properties"]["filter"]["properties"]["kinds"];
        assert_eq!(kinds["items"]["enum"], json!(["episodic", "semantic", "procedural"]), "{kinds}");
        let text = schema.to_string();
        for word in ["$ref", "anyOf", "oneOf", "null", "\"format\"", "$schema"] {
            assert!(!text.contains(word), "{word}: {text}");
        }
    }

    #[test]
    fn what_may_grow_is_any_string_and_a_member_may_be_called_like_a_keyword() {
        let schema = Value::Object(output::<RecallResult>(&["seq", "servedBy"], true));
        assert_eq!(schema["properties"]["strength"]["type"], "string");
        assert_eq!(schema["properties"].as_object().unwrap().keys().next().unwrap(), "note");
        assert!(schema["properties"]["hits"]["items"]["properties"].get("explain").is_none());
        assert!(!schema["required"].to_string().contains("servedBy"));
        let category = &input::<RememberParams>(&["category"], &[])["properties"]["category"];
        assert_eq!(category["enum"].as_array().unwrap().len(), 8, "{category}");
        assert!(category["description"].as_str().unwrap().starts_with("What it is about"), "{category}");
    }
}
