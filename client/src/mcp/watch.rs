//! Changes of the resources that a host is subscribed to.
//!
//! The daemon's newest searched sequence is looked at while somebody is subscribed, which leaves no row in the audit; only when it
//! moved are the resources read again. A daemon that is not there is not started for it. Must not know: how a host is told.

use super::handler::Memory;
use super::link::{Link, LinkError};
use super::resources::Named;
use crate::connection::CallError;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use tiro_schema::ErrorKind;

/// What was last seen of the resources, by URI.
#[derive(Default)]
pub struct Seen {
    applied_seq: Option<u64>,
    by_uri: HashMap<String, Option<String>>,
}

impl Seen {
    /// Looks, and gives the URIs of those that are not as they were at the look before. One that is seen for the first time is
    /// not changed.
    pub async fn look(&mut self, memory: &Memory, link: &Link, uris: &[String]) -> Vec<String> {
        self.by_uri.retain(|uri, _| uris.contains(uri));
        let Ok(status) = link.look("daemon/status", json!({})).await else { return Vec::new() };
        let applied = status.pointer("/index/appliedSeq").and_then(Value::as_u64);
        if applied.is_none() {
            return Vec::new();
        }
        let moved = applied != self.applied_seq;
        let mut changed = Vec::new();
        for uri in uris {
            if !moved && self.by_uri.contains_key(uri) {
                continue;
            }
            let Some(now) = mark(memory, link, uri).await else { return changed };
            if let Some(before) = self.by_uri.insert(uri.clone(), now.clone())
                && before != now
            {
                changed.push(uri.clone());
            }
        }
        self.applied_seq = applied;
        changed
    }
}

/// What tells one state of a resource from another: none inside where it is not there, none outside where that cannot be seen.
async fn mark(memory: &Memory, link: &Link, uri: &str) -> Option<Option<String>> {
    let read = match Named::of(uri).ok()? {
        Named::Item(id) => link.look("memory/get", json!({ "id": id })).await,
        Named::Recall(query) => {
            let mut params = Map::from_iter([("query".to_owned(), json!(query))]);
            memory.read_in(&mut params);
            link.look("memory/recall", Value::Object(params)).await
        }
    };
    match read {
        Ok(value) => Some(Some(match value.get("hits").and_then(Value::as_array) {
            Some(hits) => hits.iter().map(|hit| format!("{} {};", hit["id"], hit["text"])).collect(),
            None => format!("{} {} {}", value["version"], value["status"], value["supersededBy"]),
        })),
        Err(LinkError::Call(CallError::Refused(error))) if error.kind() == Some(ErrorKind::NotFound) => Some(None),
        Err(_) => None,
    }
}
