//! Sessions of Codex (rollout files): JSON Lines, a line an event, in the form with `payload` and in the older one without.
//!
//! Kept are the messages of the person and of the model (`response_item`). The same stands once more in `event_msg`, which is passed over
//! with calls, outputs, reasoning, compaction and what the host tells the model. Messages have no ids: one is named by its session, its number
//! among the messages there, and its words; files only grow. Must not know: the daemon.

use super::claude_code::folder;
use super::elements::parse;
use super::lines::{Line, Lines};
use super::said::{Said, Text};
use super::sink::{Place, Sink, Stop};
use super::talk::{Speaker, Talk, Turn};
use super::{Format, Setting, id, noise, time};
use crate::limits::IMPORT_ELEMENT_BYTES_MAX;
use serde::Deserialize;
use std::io::BufRead;

#[derive(Deserialize)]
struct Event {
    #[serde(default)]
    timestamp: Text,
    #[serde(default)]
    payload: Option<Payload>,
    #[serde(flatten)]
    bare: Payload,
}

#[derive(Deserialize, Default)]
struct Payload {
    #[serde(default, rename = "type")]
    kind: Text,
    #[serde(default)]
    id: Text,
    #[serde(default)]
    role: Text,
    #[serde(default)]
    content: Said,
    #[serde(default)]
    cwd: Text,
    #[serde(default)]
    record_type: Text,
}

/// Reads a session to its end.
///
/// # Errors
/// [`Stop`].
pub fn read(input: &mut dyn BufRead, setting: &Setting, sink: &mut Sink) -> Result<(), Stop> {
    let mut lines = Lines::new(input, IMPORT_ELEMENT_BYTES_MAX);
    let mut talk: Option<Talk> = None;
    let mut messages = 0u64;
    while let Some(line) = lines.next_line()? {
        let place = Place::Line(lines.number);
        match line {
            Line::TooLong => sink.refuse(place, format!("longer than {IMPORT_ELEMENT_BYTES_MAX} bytes")),
            Line::Whole(line) if line.trim_ascii().is_empty() => {}
            Line::Whole(line) => match parse::<Event>(&line) {
                Ok(event) => take(&event, place, &mut talk, &mut messages, setting, sink)?,
                Err(error) => sink.refuse(place, format!("not a line of a session: {error}")),
            },
        }
        sink.read_to(lines.read);
    }
    Ok(())
}

fn take(
    event: &Event,
    place: Place,
    talk: &mut Option<Talk>,
    messages: &mut u64,
    setting: &Setting,
    sink: &mut Sink,
) -> Result<(), Stop> {
    let kind = event.bare.kind.0.as_deref();
    let item = match (kind, &event.payload) {
        (Some("response_item"), Some(item)) => item,
        (Some("session_meta"), Some(meta)) => {
            // A file that was forked from another holds the other's beginning after its own.
            if talk.is_none() {
                *talk = Some(begin(meta, setting, sink));
            }
            return Ok(());
        }
        (_, Some(_)) => return Ok(()),
        // The older form: the first line has no type, messages stand bare.
        (None, None) => {
            if talk.is_none() && event.bare.record_type.0.is_none() {
                *talk = Some(begin(&event.bare, setting, sink));
            }
            return Ok(());
        }
        (Some(_), None) => &event.bare,
    };
    let speaker = match (item.kind.0.as_deref(), item.role.0.as_deref()) {
        (Some("message"), Some("user")) => Speaker::User,
        (Some("message"), Some("assistant")) => Speaker::Assistant,
        (Some("message"), _) => {
            sink.skip("system messages");
            return Ok(());
        }
        (Some("reasoning"), _) => {
            sink.skip("thoughts");
            return Ok(());
        }
        (Some(_), _) => {
            sink.skip("tool messages");
            return Ok(());
        }
        (None, _) => return Ok(()),
    };
    let number = *messages;
    *messages += 1;
    let text = if speaker == Speaker::User {
        noise::without_additions(&item.content.text)
    } else {
        noise::without_citations(&item.content.text)
    };
    if text.is_empty() {
        sink.skip(if item.content.text.is_empty() { "empty turns" } else { "system messages" });
        return Ok(());
    }
    let talk = talk.get_or_insert_with(|| begin(&Payload::default(), setting, sink));
    let named = id::of(&[&number.to_string(), &text]).to_string();
    let at = event.timestamp.0.as_deref().and_then(time::of_text);
    talk.say(&Turn { speaker, id: &named, text: &text, at }, place, sink)
}

fn begin(meta: &Payload, setting: &Setting, sink: &mut Sink) -> Talk {
    sink.begin();
    let session = meta.id.0.clone().unwrap_or_else(|| setting.name.clone());
    let mut talk = Talk::new(Format::Codex, setting, session, None);
    talk.tags.extend(meta.cwd.0.as_deref().and_then(folder));
    talk
}
