//! Claude's export: `conversations.json`, an array of conversations with `chat_messages`.
//!
//! Where messages name their parents, the branch that ends in the current leaf, else in the last message, is the conversation; without
//! parents it is all of them in order. Kept is what was said; thoughts and tools are skipped, and so is the content of attached files. Must
//! not know: the daemon.

use super::elements::{Element, Elements, Shape, parse};
use super::said::{Said, Text};
use super::sink::{Place, Sink, Stop};
use super::talk::{Speaker, Talk, Turn};
use super::{Branches, Format, Setting, time};
use crate::limits::IMPORT_ELEMENT_BYTES_MAX;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::{HashMap, HashSet};
use std::io::BufRead;

#[derive(Deserialize)]
struct Conversation {
    #[serde(default)]
    uuid: Text,
    #[serde(default)]
    name: Text,
    #[serde(default)]
    created_at: Text,
    #[serde(default)]
    current_leaf_message_uuid: Text,
    #[serde(default)]
    chat_messages: Vec<Message>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    uuid: Text,
    #[serde(default)]
    parent_message_uuid: Text,
    #[serde(default)]
    sender: Text,
    #[serde(default)]
    text: Text,
    #[serde(default)]
    content: Said,
    #[serde(default)]
    created_at: Text,
    #[serde(default)]
    attachments: Option<Vec<IgnoredAny>>,
}

/// Reads an export to its end.
///
/// # Errors
/// [`Stop`].
pub fn read(input: &mut dyn BufRead, setting: &Setting, sink: &mut Sink) -> Result<(), Stop> {
    let mut elements = Elements::new(input, Shape::Values, IMPORT_ELEMENT_BYTES_MAX);
    while let Some(element) = elements.next_value()? {
        let number = elements.number;
        let place = || Place::Named(format!("conversation {number}"));
        match element {
            Element::Whole(bytes, _) => match parse::<Conversation>(&bytes) {
                Ok(conversation) => take(&conversation, number, setting, sink)?,
                Err(error) => sink.refuse(place(), format!("not a conversation of Claude: {error}")),
            },
            Element::TooLong => sink.refuse(place(), format!("longer than {IMPORT_ELEMENT_BYTES_MAX} bytes")),
            Element::Cut => sink.refuse(place(), "the file ends in the middle of it"),
        }
        sink.read_to(elements.read);
    }
    Ok(())
}

fn take(conversation: &Conversation, number: u64, setting: &Setting, sink: &mut Sink) -> Result<(), Stop> {
    let messages = &conversation.chat_messages;
    let named = conversation.uuid.0.as_deref().or_else(|| messages.first().and_then(|message| message.uuid.0.as_deref()));
    let Some(session) = named.filter(|_| !messages.is_empty()) else {
        sink.skip("empty conversations");
        return Ok(());
    };
    sink.begin();
    let began = conversation.created_at.0.as_deref().and_then(time::of_text);
    let title = conversation.name.0.as_deref();
    let uri = Some(format!("https://claude.ai/chat/{session}"));
    let mut talk = Talk::new(Format::Claude, setting, session, began.clone()).titled(title);
    talk.uri.clone_from(&uri);
    let current = current_branch(conversation);
    for at in &current {
        say(messages, *at, number, &mut talk, sink)?;
    }
    let on_branch: HashSet<usize> = current.into_iter().collect();
    let mut beside: HashMap<&str, Talk> = HashMap::new();
    for (at, message) in messages.iter().enumerate().filter(|(at, _)| !on_branch.contains(at)) {
        if setting.branches == Branches::Current {
            sink.skip("turns of other branches");
            continue;
        }
        // A branch goes on in the talk of its parent, and begins where that stands on the current branch.
        let own = message.uuid.0.as_deref().unwrap_or_default();
        let parent = message.parent_message_uuid.0.as_deref().unwrap_or_default();
        let mut talk = beside.remove(parent).unwrap_or_else(|| {
            let mut talk = Talk::new(Format::Claude, setting, format!("{session}/{own}"), began.clone()).titled(title);
            talk.uri.clone_from(&uri);
            talk
        });
        say(messages, at, number, &mut talk, sink)?;
        beside.insert(own, talk);
    }
    Ok(())
}

/// The messages of the current branch, in order, by their place in the list.
fn current_branch(conversation: &Conversation) -> Vec<usize> {
    let messages = &conversation.chat_messages;
    let all = || (0..messages.len()).collect::<Vec<_>>();
    let mut by_uuid: HashMap<&str, usize> = HashMap::new();
    for (at, message) in messages.iter().enumerate() {
        if let Some(uuid) = message.uuid.0.as_deref() {
            by_uuid.insert(uuid, at);
        }
    }
    let parent = |at: usize| messages[at].parent_message_uuid.0.as_deref().and_then(|uuid| by_uuid.get(uuid)).copied();
    // Messages that begin all name the same parent, which is none of them. Of links that lead elsewhere nothing can be told: then the
    // order is what there is.
    let begins: Vec<&str> = (0..messages.len())
        .filter(|at| parent(*at).is_none())
        .map(|at| messages[at].parent_message_uuid.0.as_deref().unwrap_or_default())
        .collect();
    let is_tree = match begins.as_slice() {
        [] => false,
        [_] => true,
        [first, rest @ ..] => !first.is_empty() && rest.iter().all(|other| other == first),
    };
    if !is_tree {
        return all();
    }
    let leaf = conversation.current_leaf_message_uuid.0.as_deref().and_then(|uuid| by_uuid.get(uuid)).copied();
    let mut path = Vec::new();
    let mut seen = HashSet::new();
    let mut next = leaf.or(messages.len().checked_sub(1));
    while let Some(at) = next.filter(|at| seen.insert(*at)) {
        path.push(at);
        next = parent(at);
    }
    path.reverse();
    path
}

fn say(messages: &[Message], at: usize, number: u64, talk: &mut Talk, sink: &mut Sink) -> Result<(), Stop> {
    let message = &messages[at];
    (0..message.content.tools).for_each(|_| sink.skip("tool messages"));
    (0..message.content.thinking).for_each(|_| sink.skip("thoughts"));
    message.attachments.iter().flatten().for_each(|_| sink.skip("attachments"));
    let speaker = match message.sender.0.as_deref() {
        Some("human" | "user") => Speaker::User,
        Some("assistant") => Speaker::Assistant,
        _ => {
            sink.skip("system messages");
            return Ok(());
        }
    };
    // `text` of a message with tools holds what the page shows in their place; the blocks hold what was said.
    let has_blocks = message.content != Said::default();
    let text = if has_blocks { message.content.text.as_str() } else { message.text.0.as_deref().unwrap_or_default() };
    let place_id = at.to_string();
    let id = message.uuid.0.as_deref().unwrap_or(&place_id);
    let when = message.created_at.0.as_deref().and_then(time::of_text);
    let place = Place::Named(format!("conversation {number}, message {id}"));
    talk.say(&Turn { speaker, id, text, at: when }, place, sink)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn branch(parents: &[(&str, &str)]) -> Vec<usize> {
        let messages: Vec<_> = parents
            .iter()
            .map(|(uuid, parent)| serde_json::json!({"uuid": uuid, "parent_message_uuid": parent, "sender": "human"}))
            .collect();
        current_branch(&serde_json::from_value(serde_json::json!({"chat_messages": messages})).unwrap())
    }

    #[test]
    fn the_branch_of_the_last_message_is_current_and_broken_links_leave_the_order() {
        let root = "00000000-0000-4000-8000-000000000000";
        assert_eq!(branch(&[("a", root), ("b", "a"), ("c", "a"), ("d", "c")]), [0, 2, 3]);
        assert_eq!(branch(&[("a", ""), ("b", ""), ("c", "gone")]), [0, 1, 2]);
        assert_eq!(branch(&[("a", root), ("b", root), ("c", "b")]), [1, 2]);
        assert_eq!(branch(&[("a", "b"), ("b", "a")]), [0, 1]);
        assert!(branch(&[]).is_empty());
    }
}
