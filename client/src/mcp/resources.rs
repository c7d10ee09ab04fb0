//! The resources: `memory://item/{id}` is one memory, `memory://recall/{query}` what fits a question.
//!
//! Must not know: tools.

use super::handler::Memory;
use super::link::{Link, LinkError};
use super::results;
use crate::limits::{MCP_PAGE_RESOURCES, MCP_RESOURCE_NAME_CHARS};
use percent_encoding::percent_decode_str;
use rmcp::model::{ErrorData, ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::{Map, Value, json};

const ITEM: &str = "memory://item/";
const RECALL: &str = "memory://recall/";
const JSON: &str = "application/json";

/// What a URI names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Named {
    /// The memory with this id.
    Item(String),
    /// What fits this question.
    Recall(String),
}

impl Named {
    /// Reads a URI.
    ///
    /// # Errors
    /// Resource not found, with the forms there are.
    pub fn of(uri: &str) -> Result<Self, ErrorData> {
        let rest = |prefix: &str| {
            let rest = uri.strip_prefix(prefix).filter(|rest| !rest.is_empty())?;
            percent_decode_str(rest).decode_utf8().ok().map(|text| text.into_owned())
        };
        if let Some(id) = rest(ITEM) {
            return Ok(Named::Item(id));
        }
        rest(RECALL).map(Named::Recall).ok_or_else(|| {
            let message =
                format!("no resource {uri:?}: there are {ITEM}ID and {RECALL}QUERY, the query percent-encoded as UTF-8");
            ErrorData::resource_not_found(message, Some(json!({ "uri": uri })))
        })
    }
}

/// The templates.
pub fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new("memory://item/{id}", "memory")
            .with_title("One memory")
            .with_description("One memory, whole: words, version, source, dates.")
            .with_mime_type(JSON),
        ResourceTemplate::new("memory://recall/{query}", "recall")
            .with_title("What is remembered about a question")
            .with_description("The memories that fit a question, best first, each with its date and source.")
            .with_mime_type(JSON),
    ]
}

/// One page of the memories of the space, newest first.
///
/// # Errors
/// As the daemon answers.
pub async fn list(memory: &Memory, link: &Link, cursor: Option<String>) -> Result<ListResourcesResult, ErrorData> {
    let mut params = json!({"space": memory.space(), "limit": MCP_PAGE_RESOURCES});
    if let Some(cursor) = cursor {
        params["cursor"] = json!(cursor);
    }
    let page = link.call("memory/list", params).await.map_err(|error| results::protocol_error(&error))?;
    let items = page.get("items").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut result = ListResourcesResult::with_all_items(items.iter().filter_map(resource).collect());
    result.next_cursor = page.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
    Ok(result)
}

fn resource(item: &Value) -> Option<Resource> {
    let member = |name: &str| item.get(name).and_then(Value::as_str);
    let (id, text) = (member("id")?, member("text")?);
    let mut words: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((at, _)) = words.char_indices().nth(MCP_RESOURCE_NAME_CHARS) {
        words.truncate(at);
        words.push('…');
    }
    let day = member("occurredAt").and_then(|at| at.get(..10)).unwrap_or_default();
    Some(
        Resource::new(format!("{ITEM}{id}"), id)
            .with_title(words)
            .with_description(format!("{}, {day}", member("category").unwrap_or("other")))
            .with_mime_type(JSON),
    )
}

/// Reads one.
///
/// # Errors
/// As the daemon answers; resource not found for one that is not there.
pub async fn read(memory: &Memory, link: &Link, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let value = value(memory, link, &Named::of(uri)?).await.map_err(|error| results::protocol_error(&error))?;
    let contents = ResourceContents::text(results::with_note(value).to_string(), uri).with_mime_type(JSON);
    Ok(ReadResourceResult::new(vec![contents]))
}

/// What it holds now.
///
/// # Errors
/// See [`LinkError`].
pub async fn value(memory: &Memory, link: &Link, named: &Named) -> Result<Value, LinkError> {
    match named {
        Named::Item(id) => link.call("memory/get", json!({ "id": id })).await,
        Named::Recall(query) => {
            let mut params = Map::from_iter([("query".to_owned(), json!(query))]);
            memory.read_in(&mut params);
            let mut found = link.call("memory/recall", Value::Object(params)).await?;
            if let Value::Object(members) = &mut found {
                for name in ["seq", "servedBy"] {
                    members.shift_remove(name);
                }
            }
            Ok(found)
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_uri_names_a_memory_or_a_question_in_any_script() {
        assert_eq!(Named::of("memory://item/3f2a").unwrap(), Named::Item("3f2a".to_owned()));
        assert_eq!(Named::of("memory://recall/a%20b%2Fc%3F").unwrap(), Named::Recall("a b/c?".to_owned()));
        assert_eq!(Named::of("memory://recall/%E8%8A%B1%E7%94%9F").unwrap(), Named::Recall("花生".to_owned()));
        assert_eq!(Named::of("memory://recall/花生").unwrap(), Named::Recall("花生".to_owned()));
        for wrong in ["memory://item/", "memory://other/x", "file:///etc/passwd", "", "memory://recall/%ff%fe"] {
            assert!(Named::of(wrong).unwrap_err().message.contains("memory://recall/QUERY"), "{wrong}");
        }
    }

    #[test]
    fn a_resource_is_named_by_its_first_words_on_one_line() {
        let long = format!("first line\nsecond 花{}", "x".repeat(200));
        let item = json!({"id": "abc", "text": long, "category": "fact", "occurredAt": "2026-03-05T00:00:00.000Z"});
        let found = resource(&item).unwrap();
        assert_eq!(found.uri, "memory://item/abc");
        let title = found.title.unwrap();
        assert!(title.starts_with("first line second 花x") && title.chars().count() == MCP_RESOURCE_NAME_CHARS + 1, "{title}");
        assert_eq!(found.description.unwrap(), "fact, 2026-03-05");
    }
}
