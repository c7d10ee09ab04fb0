//! ChatGPT's export: `conversations.json`, an array of conversations, each a tree of messages with a current node.
//!
//! The branch that the current node ends is the conversation. What was regenerated or edited away stands beside it: skipped and counted, or
//! with [`Branches::All`] each a session of its own from where it parts. Kept is what the person and the model said to each other; what
//! tools wrote, what was sent to tools, thoughts, hidden and system messages are skipped. Must not know: the daemon.

use super::elements::{Element, Elements, Shape, parse};
use super::said::{Said, Text};
use super::sink::{Place, Sink, Stop};
use super::talk::{Speaker, Talk, Turn};
use super::{Branches, Format, Setting, noise, time};
use crate::limits::IMPORT_ELEMENT_BYTES_MAX;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::io::BufRead;

#[derive(Deserialize)]
struct Conversation {
    #[serde(default)]
    id: Text,
    #[serde(default)]
    conversation_id: Text,
    #[serde(default)]
    title: Text,
    #[serde(default)]
    create_time: Value,
    #[serde(default)]
    current_node: Text,
    mapping: BTreeMap<String, Node>,
}

#[derive(Deserialize)]
struct Node {
    #[serde(default)]
    message: Option<Message>,
    #[serde(default)]
    parent: Text,
    #[serde(default)]
    children: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    id: Text,
    #[serde(default)]
    author: Author,
    #[serde(default)]
    create_time: Value,
    #[serde(default)]
    content: Option<Content>,
    #[serde(default)]
    recipient: Text,
    #[serde(default)]
    metadata: Option<Metadata>,
}

#[derive(Deserialize, Default)]
struct Author {
    #[serde(default)]
    role: Text,
}

#[derive(Deserialize)]
struct Content {
    #[serde(default)]
    content_type: Text,
    #[serde(default)]
    parts: Said,
    #[serde(default)]
    text: Text,
}

#[derive(Deserialize)]
struct Metadata {
    #[serde(default)]
    is_visually_hidden_from_conversation: Option<bool>,
}

/// Reads an export to its end.
///
/// # Errors
/// [`Stop`].
pub fn read(input: &mut dyn BufRead, setting: &Setting, sink: &mut Sink) -> Result<(), Stop> {
    let mut elements = Elements::new(input, Shape::Values, IMPORT_ELEMENT_BYTES_MAX);
    while let Some(element) = elements.next_value()? {
        let place = |what: &str| Place::Named(format!("conversation {}{what}", elements.number));
        match element {
            Element::Whole(bytes, _) => match parse::<Conversation>(&bytes) {
                Ok(conversation) => take(&conversation, elements.number, setting, sink)?,
                Err(error) => sink.refuse(place(""), format!("not a conversation of ChatGPT: {error}")),
            },
            Element::TooLong => sink.refuse(place(""), format!("longer than {IMPORT_ELEMENT_BYTES_MAX} bytes")),
            Element::Cut => sink.refuse(place(""), "the file ends in the middle of it"),
        }
        sink.read_to(elements.read);
    }
    Ok(())
}

fn take(conversation: &Conversation, number: u64, setting: &Setting, sink: &mut Sink) -> Result<(), Stop> {
    let named = [&conversation.conversation_id, &conversation.id].into_iter().find_map(|id| id.0.clone());
    let Some(session) = named.or_else(|| conversation.mapping.keys().next().cloned()) else {
        sink.skip("empty conversations");
        return Ok(());
    };
    sink.begin();
    let began = time::of_value(&conversation.create_time);
    let title = conversation.title.0.as_deref().filter(|title| *title != "New chat");
    let mut talk = Talk::new(Format::ChatGpt, setting, &session, began.clone()).titled(title);
    talk.uri = Some(format!("https://chatgpt.com/c/{session}"));
    let current = current_branch(conversation);
    for name in &current {
        say(conversation, name, number, &mut talk, sink)?;
    }
    let on_branch: HashSet<&str> = current.iter().copied().collect();
    for branch in other_branches(conversation, &on_branch) {
        if setting.branches == Branches::Current {
            let said = branch.iter().filter(|name| is_said(conversation, name)).count();
            (0..said).for_each(|_| sink.skip("turns of other branches"));
            continue;
        }
        let head = branch.first().copied().unwrap_or_default();
        let mut beside = Talk::new(Format::ChatGpt, setting, format!("{session}/{head}"), began.clone()).titled(title);
        beside.uri.clone_from(&talk.uri);
        for name in branch {
            say(conversation, name, number, &mut beside, sink)?;
        }
    }
    Ok(())
}

/// The names of the nodes from the root to the current one. Without a current node that is there: along the last child of each.
fn current_branch(conversation: &Conversation) -> Vec<&str> {
    let mapping = &conversation.mapping;
    let there = |name: &str| mapping.get_key_value(name).map(|(name, _)| name.as_str());
    let mut path = Vec::new();
    let mut seen = HashSet::new();
    let mut next = conversation.current_node.0.as_deref().and_then(there);
    if next.is_some() {
        while let Some(name) = next.filter(|name| seen.insert(*name)) {
            path.push(name);
            next = mapping.get(name).and_then(|node| node.parent.0.as_deref()).and_then(there);
        }
        path.reverse();
        return path;
    }
    next = roots(conversation).last().copied();
    while let Some(name) = next.filter(|name| seen.insert(*name)) {
        path.push(name);
        next = children(conversation, name).last().copied();
    }
    path
}

fn roots(conversation: &Conversation) -> Vec<&str> {
    let mapping = &conversation.mapping;
    let is_root = |node: &Node| node.parent.0.as_deref().is_none_or(|parent| !mapping.contains_key(parent));
    mapping.iter().filter(|(_, node)| is_root(node)).map(|(name, _)| name.as_str()).collect()
}

fn children<'a>(conversation: &'a Conversation, name: &str) -> Vec<&'a str> {
    let children = conversation.mapping.get(name).and_then(|node| node.children.as_ref());
    let there = |name: &String| conversation.mapping.get_key_value(name).map(|(name, _)| name.as_str());
    children.into_iter().flatten().filter_map(there).collect()
}

/// What does not stand on the current branch: each way from where it parts to its end. What two of them share belongs to the first.
fn other_branches<'a>(conversation: &'a Conversation, current: &HashSet<&'a str>) -> Vec<Vec<&'a str>> {
    let mut seen: HashSet<&str> = HashSet::new();
    let mut branches: Vec<Vec<&str>> = Vec::new();
    let mut heads: Vec<&str> = roots(conversation).into_iter().rev().collect();
    while let Some(head) = heads.pop() {
        let mut branch = Vec::new();
        let mut next = Some(head);
        while let Some(name) = next.filter(|name| seen.insert(name)) {
            if !current.contains(name) {
                branch.push(name);
            }
            let mut below = children(conversation, name).into_iter();
            next = below.next();
            let aside: Vec<&str> = below.collect();
            heads.extend(aside.into_iter().rev());
            // A way that comes from the current branch begins where it parts.
            if current.contains(name)
                && let Some(first) = next.filter(|first| !current.contains(first))
            {
                heads.push(first);
                next = None;
            }
        }
        if !branch.is_empty() {
            branches.push(branch);
        }
    }
    branches
}

/// The speaker and the words of a node's message, or why it is passed over.
fn message(node: &Node) -> Result<(Speaker, String), Option<&'static str>> {
    let Some(message) = &node.message else { return Err(None) };
    let speaker = match message.author.role.0.as_deref() {
        Some("user") => Speaker::User,
        Some("assistant") => Speaker::Assistant,
        Some("tool") => return Err(Some("tool messages")),
        _ => return Err(Some("system messages")),
    };
    if message.metadata.as_ref().is_some_and(|m| m.is_visually_hidden_from_conversation == Some(true)) {
        return Err(Some("system messages"));
    }
    if message.recipient.0.as_deref().is_some_and(|to| to != "all") {
        return Err(Some("tool messages"));
    }
    let Some(content) = &message.content else { return Err(Some("empty turns")) };
    let text = match content.content_type.0.as_deref().unwrap_or("text") {
        "text" | "multimodal_text" => match content.parts.text.as_str() {
            "" => content.text.0.as_deref().unwrap_or_default(),
            parts => parts,
        },
        "thoughts" | "reasoning_recap" => return Err(Some("thoughts")),
        "user_editable_context" | "model_editable_context" | "system_error" => return Err(Some("system messages")),
        _ => return Err(Some("tool messages")),
    };
    let text = noise::without_citations(text);
    if text.trim().is_empty() { Err(Some("empty turns")) } else { Ok((speaker, text)) }
}

fn is_said(conversation: &Conversation, name: &str) -> bool {
    conversation.mapping.get(name).is_some_and(|node| message(node).is_ok())
}

fn say(conversation: &Conversation, name: &str, number: u64, talk: &mut Talk, sink: &mut Sink) -> Result<(), Stop> {
    let Some(node) = conversation.mapping.get(name) else { return Ok(()) };
    let (speaker, text) = match message(node) {
        Ok(said) => said,
        Err(why) => {
            why.into_iter().for_each(|why| sink.skip(why));
            return Ok(());
        }
    };
    let message = node.message.as_ref();
    let id = message.and_then(|message| message.id.0.as_deref()).unwrap_or(name);
    let at = message.and_then(|message| time::of_value(&message.create_time));
    let place = Place::Named(format!("conversation {number}, message {id}"));
    talk.say(&Turn { speaker, id, text: &text, at }, place, sink)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn conversation(json: &str) -> Conversation {
        serde_json::from_str(json).unwrap()
    }

    /// r - a - b - c, with d beside b, and e, f below d.
    fn tree(current: &str) -> Conversation {
        conversation(&format!(
            r#"{{"current_node": {current}, "mapping": {{
            "r": {{"parent": null, "children": ["a"]}}, "a": {{"parent": "r", "children": ["b", "d"]}},
            "b": {{"parent": "a", "children": ["c"]}}, "c": {{"parent": "b", "children": []}},
            "d": {{"parent": "a", "children": ["e", "f"]}}, "e": {{"parent": "d"}}, "f": {{"parent": "d", "children": null}}}}}}"#
        ))
    }

    #[test]
    fn the_current_branch_is_that_of_the_current_node_else_the_last() {
        assert_eq!(current_branch(&tree("\"c\"")), ["r", "a", "b", "c"]);
        assert_eq!(current_branch(&tree("\"e\"")), ["r", "a", "d", "e"]);
        for unknown in ["null", "\"gone\"", "7"] {
            assert_eq!(current_branch(&tree(unknown)), ["r", "a", "d", "f"], "{unknown}");
        }
    }

    #[test]
    fn other_branches_begin_where_they_part() {
        let tree = tree("\"c\"");
        let current: HashSet<&str> = current_branch(&tree).into_iter().collect();
        assert_eq!(other_branches(&tree, &current), [vec!["d", "e"], vec!["f"]]);
    }

    #[test]
    fn a_tree_that_goes_round_ends() {
        let round = conversation(
            r#"{"current_node":"a","mapping":{"a":{"parent":"b","children":["b"]},"b":{"parent":"a","children":["a"]}}}"#,
        );
        assert_eq!(current_branch(&round), ["b", "a"]);
        assert!(other_branches(&round, &HashSet::new()).is_empty());
    }
}
