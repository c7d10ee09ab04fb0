//! Session transcripts of Claude Code: JSON Lines, a line an event.
//!
//! Kept, in the order of the file, is what the person typed and the model answered, also where the person went back later: it was said. Side
//! chains (other agents at work), tools, thoughts, summaries, what hosts add and commands of the host are skipped. A turn is named by its own
//! id, since a resumed session repeats the turns before it. Must not know: the daemon.

use super::elements::parse;
use super::lines::{Line, Lines};
use super::said::{Said, Text};
use super::sink::{Place, Sink, Stop};
use super::talk::{Speaker, Talk, Turn, tag};
use super::{Format, Setting, id, noise, time};
use crate::limits::{IMPORT_ELEMENT_BYTES_MAX, IMPORT_TALKS_OPEN_MAX};
use serde::Deserialize;
use std::collections::HashMap;
use std::io::BufRead;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    #[serde(default, rename = "type")]
    kind: Text,
    #[serde(default)]
    uuid: Text,
    #[serde(default)]
    session_id: Text,
    #[serde(default)]
    timestamp: Text,
    #[serde(default)]
    cwd: Text,
    #[serde(default)]
    is_sidechain: Option<bool>,
    #[serde(default)]
    is_meta: Option<bool>,
    #[serde(default)]
    is_compact_summary: Option<bool>,
    #[serde(default)]
    is_api_error_message: Option<bool>,
    #[serde(default)]
    message: Option<Message>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    content: Said,
    #[serde(default)]
    model: Text,
}

/// Reads a transcript to its end.
///
/// # Errors
/// [`Stop`].
pub fn read(input: &mut dyn BufRead, setting: &Setting, sink: &mut Sink) -> Result<(), Stop> {
    let mut lines = Lines::new(input, IMPORT_ELEMENT_BYTES_MAX);
    let mut talks: HashMap<String, Talk> = HashMap::new();
    while let Some(line) = lines.next_line()? {
        let place = Place::Line(lines.number);
        match line {
            Line::TooLong => sink.refuse(place, format!("longer than {IMPORT_ELEMENT_BYTES_MAX} bytes")),
            Line::Whole(line) if line.trim_ascii().is_empty() => {}
            Line::Whole(line) => match parse::<Event>(&line) {
                Ok(event) => take(&event, &line, place, &mut talks, setting, sink)?,
                Err(error) => sink.refuse(place, format!("not a line of a transcript: {error}")),
            },
        }
        sink.read_to(lines.read);
    }
    Ok(())
}

fn take(
    event: &Event,
    line: &[u8],
    place: Place,
    talks: &mut HashMap<String, Talk>,
    setting: &Setting,
    sink: &mut Sink,
) -> Result<(), Stop> {
    let speaker = match event.kind.0.as_deref() {
        Some("user") => Speaker::User,
        Some("assistant") => Speaker::Assistant,
        _ => return Ok(()),
    };
    let Some(message) = &event.message else { return Ok(()) };
    let is = |flag: Option<bool>| flag == Some(true);
    let content = &message.content;
    let passed = if is(event.is_sidechain) {
        Some("turns of other agents")
    } else if is(event.is_compact_summary) {
        Some("summaries")
    } else if is(event.is_meta) || is(event.is_api_error_message) || message.model.0.as_deref() == Some("<synthetic>") {
        Some("system messages")
    } else if content.text.is_empty() {
        Some(match (content.tools, content.thinking) {
            (1.., _) => "tool messages",
            (0, 1..) => "thoughts",
            _ => "empty turns",
        })
    } else {
        None
    };
    if let Some(kind) = passed {
        sink.skip(kind);
        return Ok(());
    }
    let text = if speaker == Speaker::User { noise::without_additions(&content.text) } else { content.text.clone() };
    if text.is_empty() {
        sink.skip("system messages");
        return Ok(());
    }
    let session = event.session_id.0.clone().unwrap_or_else(|| setting.name.clone());
    if !talks.contains_key(&session) {
        if talks.len() >= IMPORT_TALKS_OPEN_MAX {
            talks.clear();
        }
        sink.begin();
        let mut talk = Talk::new(Format::ClaudeCode, setting, &session, None);
        talk.turns_stand_alone = true;
        talk.tags.extend(event.cwd.0.as_deref().and_then(folder));
        talks.insert(session.clone(), talk);
    }
    let Some(talk) = talks.get_mut(&session) else { return Ok(()) };
    let named = match &event.uuid.0 {
        Some(uuid) => uuid.clone(),
        None => id::of(&[&session, &String::from_utf8_lossy(line)]).to_string(),
    };
    let at = event.timestamp.0.as_deref().and_then(time::of_text);
    talk.say(&Turn { speaker, id: &named, text: &text, at }, place, sink)
}

/// The last part of a path as a tag: the project's name.
pub fn folder(path: &str) -> Option<String> {
    path.rsplit(['/', '\\']).find(|part| !part.is_empty()).and_then(tag)
}
