//! A conversation on its way into memory: every turn with its session, position, speaker and time, so that what was said around it counts.
//!
//! Positions count turns that are kept; a turn over the limit becomes several in a row. Must not know: formats.

use super::sink::{Place, Sink, Stop};
use super::{Format, Setting, id, split};
use crate::limits::{IMPORT_TAG_BYTES_MAX, IMPORT_TEXT_BYTES_MAX};
use tiro_schema::wire::Timestamp;
use tiro_schema::wire::memory::{ExportLine, Kind, RememberParams, Source};

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// A person.
    User,
    /// A model.
    Assistant,
}

impl Speaker {
    fn name(self) -> &'static str {
        match self {
            Speaker::User => "user",
            Speaker::Assistant => "assistant",
        }
    }
}

/// One turn.
#[derive(Debug)]
pub struct Turn<'a> {
    /// Who speaks.
    pub speaker: Speaker,
    /// What names the turn in its source, whatever else changes there.
    pub id: &'a str,
    /// The words.
    pub text: &'a str,
    /// When; the time of the turn before it, or of the conversation, when absent.
    pub at: Option<Timestamp>,
}

/// A conversation.
#[derive(Debug, Clone)]
pub struct Talk {
    format: Format,
    space: String,
    /// Its name in its source.
    pub session: String,
    /// Whether turns are named by their own ids alone: then a turn that stands in two conversations is one.
    pub turns_stand_alone: bool,
    /// What is told of it on every turn.
    pub tags: Vec<String>,
    /// Where it can be read.
    pub uri: Option<String>,
    position: u64,
    last_at: Option<Timestamp>,
}

impl Talk {
    /// A conversation of this name; `at` is when it began, where that is known.
    pub fn new(format: Format, setting: &Setting, session: impl Into<String>, at: Option<Timestamp>) -> Self {
        Talk {
            format,
            space: setting.space.clone(),
            session: session.into(),
            turns_stand_alone: false,
            tags: Vec::new(),
            uri: None,
            position: 0,
            last_at: at,
        }
    }

    /// The same with a title, which becomes a tag.
    pub fn titled(mut self, title: Option<&str>) -> Self {
        self.tags.extend(title.and_then(tag));
        self
    }

    /// Takes a turn.
    ///
    /// # Errors
    /// When nobody takes the lines any more.
    pub fn say(&mut self, turn: &Turn<'_>, place: Place, sink: &mut Sink) -> Result<(), Stop> {
        if turn.text.trim().is_empty() {
            sink.skip("empty turns");
            return Ok(());
        }
        if turn.at.is_some() {
            self.last_at.clone_from(&turn.at);
        }
        for (n, piece) in split::pieces(turn.text, IMPORT_TEXT_BYTES_MAX).into_iter().enumerate() {
            let within = if self.turns_stand_alone { "" } else { &self.session };
            let id = id::of(&[&self.space, self.format.name(), within, turn.id, &n.to_string()]);
            let line = ExportLine {
                id: Some(id.to_string()),
                memory: RememberParams {
                    text: piece.to_owned(),
                    space: Some(self.space.clone()),
                    kind: Some(Kind::Episodic),
                    tags: (!self.tags.is_empty()).then(|| self.tags.clone()),
                    occurred_at: self.last_at.clone(),
                    source: Some(Source {
                        session: Some(self.session.clone()),
                        position: Some(self.position),
                        speaker: Some(turn.speaker.name().to_owned()),
                        program: Some(self.format.name().to_owned()),
                        uri: self.uri.clone(),
                    }),
                    verbatim: Some(true),
                    ..RememberParams::default()
                },
                ..ExportLine::default()
            };
            self.position += 1;
            sink.line(place.clone(), &line)?;
        }
        Ok(())
    }
}

/// A text as a tag: on one line, within the limit; none when nothing is left.
pub fn tag(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()).collect();
    let mut tag = words.join(" ");
    while tag.len() > IMPORT_TAG_BYTES_MAX {
        tag.pop();
    }
    let tag = tag.trim_end();
    (!tag.is_empty()).then(|| tag.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_one_line_within_its_limit() {
        assert_eq!(tag(" Trip \n to\tJapan ").as_deref(), Some("Trip to Japan"));
        assert_eq!(tag("\n \u{7}"), None);
        assert!(tag(&"旅".repeat(200)).is_some_and(|tag| tag.len() <= IMPORT_TAG_BYTES_MAX));
    }
}
