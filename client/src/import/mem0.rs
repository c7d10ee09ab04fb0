//! Dumps of mem0: what its `get_all` answers, an array of memories, or a page of its interface (`results`), with relations where a graph is
//! kept beside them.
//!
//! Must not know: the daemon.

use super::elements::{Element, Elements, Shape, parse};
use super::sink::{Place, Sink, Stop};
use super::talk::tag;
use super::{Format, Setting, id, time};
use crate::limits::IMPORT_LINE_BYTES_MAX;
use serde::Deserialize;
use serde_json::Value;
use std::io::BufRead;
use tiro_schema::wire::memory::{ExportLine, Kind, RememberParams, Source};

/// Names of the arrays that a dump holds: memories first, relations last.
const ARRAYS: &[&str] = &["results", "memories", "relations"];
/// The number of the relations among them.
const RELATIONS: usize = 2;

#[derive(Deserialize)]
struct Memory {
    #[serde(default)]
    id: Value,
    #[serde(default, alias = "data")]
    memory: Option<String>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    payload: Option<Box<Memory>>,
    #[serde(default)]
    categories: Value,
    #[serde(default)]
    metadata: Value,
    #[serde(default)]
    created_at: Value,
    #[serde(default)]
    user_id: Value,
    #[serde(default)]
    agent_id: Value,
    #[serde(default)]
    run_id: Value,
}

/// Reads a dump to its end.
///
/// # Errors
/// [`Stop`].
pub fn read(input: &mut dyn BufRead, setting: &Setting, sink: &mut Sink) -> Result<(), Stop> {
    let is_object = first_byte(input)? == Some(b'{');
    let shape = if is_object && names_an_array(input)? { Shape::Members(ARRAYS) } else { Shape::Values };
    let mut elements = Elements::new(input, shape, IMPORT_LINE_BYTES_MAX);
    sink.begin();
    while let Some(element) = elements.next_value()? {
        let place = Place::Named(format!("memory {}", elements.number));
        match element {
            Element::Whole(bytes, RELATIONS) => match parse::<Value>(&bytes) {
                Ok(relation) => take_relation(&relation, place, setting, sink)?,
                Err(error) => sink.refuse(place, format!("not JSON: {error}")),
            },
            Element::Whole(bytes, _) => match parse::<Memory>(&bytes) {
                Ok(memory) => take(memory, place, setting, sink)?,
                Err(error) => sink.refuse(place, format!("not a memory of mem0: {error}")),
            },
            Element::TooLong => sink.refuse(place, format!("longer than {IMPORT_LINE_BYTES_MAX} bytes")),
            Element::Cut => sink.refuse(place, "the file ends in the middle of it"),
        }
        sink.read_to(elements.read);
    }
    Ok(())
}

fn first_byte(input: &mut dyn BufRead) -> Result<Option<u8>, Stop> {
    let buffer = input.fill_buf()?;
    let buffer = buffer.strip_prefix(b"\xef\xbb\xbf").unwrap_or(buffer);
    Ok(buffer.iter().copied().find(|byte| !byte.is_ascii_whitespace()))
}

/// Whether one of the arrays is named where the stream begins; else memories stand one a line.
fn names_an_array(input: &mut dyn BufRead) -> Result<bool, Stop> {
    let keys = super::recognise::first_keys(input.fill_buf()?);
    Ok(ARRAYS.iter().any(|name| keys.iter().any(|key| key == name)))
}

fn words(value: &Value) -> Option<String> {
    value.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn take(memory: Memory, place: Place, setting: &Setting, sink: &mut Sink) -> Result<(), Stop> {
    // A row of a vector store holds it all under `payload`.
    let (outer, inner) = match memory.payload {
        Some(payload) => (memory.id, *payload),
        None => (memory.id.clone(), memory),
    };
    let Some(text) = inner.memory.or(inner.text).filter(|text| !text.trim().is_empty()) else {
        sink.skip("empty memories");
        return Ok(());
    };
    let named = match (&outer, &inner.id) {
        (Value::Null, Value::Null) => text.clone(),
        (Value::Null, id) | (id, _) => words(id).unwrap_or_else(|| id.to_string()),
    };
    let mut tags: Vec<String> = inner.categories.as_array().into_iter().flatten().filter_map(words).collect();
    tags.extend(words(&inner.metadata["category"]));
    let mut tags: Vec<String> = tags.iter().filter_map(|text| tag(text)).collect();
    tags.dedup();
    let entities: Vec<String> =
        [&inner.user_id, &inner.agent_id].into_iter().filter_map(words).filter_map(|name| tag(&name)).collect();
    let line = ExportLine {
        id: Some(id::of(&[&setting.space, Format::Mem0.name(), &named]).to_string()),
        created_at: time::of_value(&inner.created_at),
        memory: RememberParams {
            text,
            space: Some(setting.space.clone()),
            kind: Some(Kind::Semantic),
            tags: (!tags.is_empty()).then_some(tags),
            entities: (!entities.is_empty()).then_some(entities),
            source: Some(Source {
                session: words(&inner.run_id),
                program: Some(Format::Mem0.name().to_owned()),
                ..Source::default()
            }),
            verbatim: Some(true),
            ..RememberParams::default()
        },
        ..ExportLine::default()
    };
    sink.line(place, &line)
}

/// `{source, relationship, target}` as a sentence.
fn take_relation(relation: &Value, place: Place, setting: &Setting, sink: &mut Sink) -> Result<(), Stop> {
    let member = |names: &[&str]| names.iter().find_map(|name| words(&relation[*name]));
    let parts = (member(&["source"]), member(&["relationship", "relation"]), member(&["target", "destination"]));
    let (Some(from), Some(how), Some(to)) = parts else {
        sink.refuse(place, "a relation without source, relationship or target");
        return Ok(());
    };
    sink.line(place, &super::graph::relation(Format::Mem0, setting, &from, &how, &to))
}
