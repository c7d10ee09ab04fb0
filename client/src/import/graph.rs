//! The knowledge graph of the MCP memory server: `memory.jsonl`, a line an entity or a relation; and what its `read_graph` answers.
//!
//! Every observation becomes a memory that names its entity, every relation a sentence. What is observed has no id: its entity and its
//! words name it. Must not know: the daemon.

use super::elements::{Element, Elements, Shape, parse};
use super::sink::{Place, Sink, Stop};
use super::talk::tag;
use super::{Format, Setting, id, time};
use crate::limits::IMPORT_ELEMENT_BYTES_MAX;
use serde_json::Value;
use std::io::BufRead;
use tiro_schema::wire::Timestamp;
use tiro_schema::wire::memory::{Category, ExportLine, Kind, RememberParams, Source};

/// Names of the arrays in the answer of `read_graph`.
const ARRAYS: &[&str] = &["entities", "relations"];

/// Reads a graph to its end.
///
/// # Errors
/// [`Stop`].
pub fn read(input: &mut dyn BufRead, setting: &Setting, sink: &mut Sink) -> Result<(), Stop> {
    let keys = super::recognise::first_keys(input.fill_buf()?);
    let is_answer = keys.iter().any(|key| ARRAYS.contains(&key.as_str()));
    let shape = if is_answer { Shape::Members(ARRAYS) } else { Shape::Values };
    let mut elements = Elements::new(input, shape, IMPORT_ELEMENT_BYTES_MAX);
    sink.begin();
    while let Some(element) = elements.next_value()? {
        let at = elements.number;
        let place = || if is_answer { Place::Named(format!("item {at}")) } else { Place::Line(at) };
        match element {
            Element::Whole(bytes, _) => match parse::<Value>(&bytes) {
                Ok(item) => take(&item, &place, setting, sink)?,
                Err(error) => sink.refuse(place(), format!("not JSON: {error}")),
            },
            Element::TooLong => sink.refuse(place(), format!("longer than {IMPORT_ELEMENT_BYTES_MAX} bytes")),
            Element::Cut => sink.refuse(place(), "the file ends in the middle of it"),
        }
        sink.read_to(elements.read);
    }
    Ok(())
}

fn words<'a>(item: &'a Value, name: &str) -> Option<&'a str> {
    item[name].as_str().map(str::trim).filter(|text| !text.is_empty())
}

fn take(item: &Value, place: &dyn Fn() -> Place, setting: &Setting, sink: &mut Sink) -> Result<(), Stop> {
    if let (Some(from), Some(to)) = (words(item, "from"), words(item, "to")) {
        let how = words(item, "relationType").unwrap_or("relates to");
        return sink.line(place(), &relation(Format::McpMemory, setting, from, how, to));
    }
    let Some(name) = words(item, "name") else {
        sink.refuse(place(), "neither an entity (name) nor a relation (from, to)");
        return Ok(());
    };
    let kind = words(item, "entityType");
    let observations = item["observations"].as_array().map(Vec::as_slice).unwrap_or_default();
    if observations.is_empty() {
        let text = kind.map_or_else(|| name.to_owned(), |kind| format!("{name}: {kind}"));
        return sink.line(place(), &fact(Format::McpMemory, setting, &[name], kind, text, None));
    }
    for observation in observations {
        // Some servers keep more of an observation than its words.
        let said = observation.as_str().or_else(|| words(observation, "content")).or_else(|| words(observation, "text"));
        match said.map(str::trim).filter(|said| !said.is_empty()) {
            Some(said) => {
                let at = ["timestamp", "createdAt"].iter().find_map(|name| time::of_value(&observation[*name]));
                sink.line(place(), &fact(Format::McpMemory, setting, &[name], kind, format!("{name}: {said}"), at))?;
            }
            None => sink.skip("empty observations"),
        }
    }
    Ok(())
}

/// A relation as a sentence.
pub fn relation(format: Format, setting: &Setting, from: &str, how: &str, to: &str) -> ExportLine {
    fact(format, setting, &[from, to], Some(how), format!("{from} {} {to}", how.replace(['_', '-'], " ")), None)
}

fn fact(
    format: Format,
    setting: &Setting,
    names: &[&str],
    label: Option<&str>,
    text: String,
    at: Option<Timestamp>,
) -> ExportLine {
    let tags: Vec<String> = label.and_then(tag).into_iter().collect();
    ExportLine {
        id: Some(id::of(&[&setting.space, format.name(), "graph", &text]).to_string()),
        created_at: at,
        memory: RememberParams {
            text,
            space: Some(setting.space.clone()),
            kind: Some(Kind::Semantic),
            category: Some(Category::Fact),
            tags: (!tags.is_empty()).then_some(tags),
            entities: Some(names.iter().filter_map(|name| tag(name)).collect()),
            source: Some(Source { program: Some(format.name().to_owned()), ..Source::default() }),
            verbatim: Some(true),
            ..RememberParams::default()
        },
        ..ExportLine::default()
    }
}
