//! What became of an import: counts, what was refused and where, what was skipped; as one value and as words.
//!
//! Must not know: how anything was taken.

use crate::import::{Format, Place};
use crate::limits::IMPORT_REFUSED_MAX;
use crate::render::{Style, escape, size};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use tiro_schema::wire::memory::ImportResult;

/// Where something stands that was not taken.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct At {
    /// The file, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Its line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Its place in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

impl At {
    /// A place in words.
    pub fn named(place: impl Into<String>) -> At {
        At { place: Some(place.into()), ..At::default() }
    }

    /// A place in a file.
    pub fn of(file: Option<&str>, place: Place) -> At {
        let (line, place) = match place {
            Place::Line(line) => (Some(line), None),
            Place::Named(place) => (None, Some(place)),
        };
        At { file: file.map(str::to_owned), line, place }
    }
}

/// What was not taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// Where it stands.
    #[serde(flatten)]
    pub at: At,
    /// Why.
    pub reason: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.at.line.map(|line| format!("line {line}"));
        let parts = [self.at.file.clone(), line, self.at.place.clone(), Some(self.reason.clone())];
        f.write_str(&parts.into_iter().flatten().collect::<Vec<_>>().join(": "))
    }
}

/// What the daemon did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Done {
    /// New memories.
    pub created: u64,
    /// Known already.
    pub duplicate: u64,
    /// Changed as their source has changed, or brought back.
    pub updated: u64,
    /// Archived, as their source has them no more.
    pub retired: u64,
    /// Left as somebody changed, put away or forgot them since.
    pub kept: u64,
}

impl Done {
    /// Adds what one call did.
    pub fn add(&mut self, result: &ImportResult) {
        self.created += result.created;
        self.duplicate += result.duplicate;
        self.updated += result.updated;
        self.retired += result.retired;
        self.kept += result.kept;
    }
}

/// What became of an import.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Which formats were met.
    formats: Vec<&'static str>,
    /// Conversations or documents.
    pub sources: u64,
    /// Lines, turns, passages: what was to be taken.
    pub lines: u64,
    /// What the daemon did.
    #[serde(flatten)]
    pub done: Done,
    /// Lines that named another space than `--space`.
    pub moved: u64,
    /// How many were not taken.
    pub refused_count: u64,
    /// The first of them.
    pub refused: Vec<Refused>,
    /// Passed over on purpose, by kind.
    pub skipped: BTreeMap<String, u64>,
    /// Names of members left out, with how often.
    pub unknown_fields: BTreeMap<String, u64>,
    /// Lines that an interrupted import had taken before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resumed_after: Option<u64>,
    /// Sequence token after the last write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<String>,
    #[serde(skip)]
    dry_run: bool,
    #[serde(skip)]
    space: Option<String>,
    #[serde(skip)]
    items: Option<(&'static str, &'static str)>,
}

impl Report {
    /// An empty one. `space` is what `--space` says.
    pub fn new(dry_run: bool, space: Option<String>) -> Self {
        Report { dry_run, space, ..Report::default() }
    }

    /// A format that was met.
    pub fn format(&mut self, format: Format) {
        if !self.formats.contains(&format.name()) {
            self.formats.push(format.name());
        }
        let items = format.items();
        self.items = Some(if self.items.is_none_or(|known| known == items) { items } else { ("item", "items") });
    }

    /// Something that was not taken.
    pub fn refuse(&mut self, at: At, reason: impl Into<String>) {
        self.refused_count += 1;
        if self.refused.len() < IMPORT_REFUSED_MAX {
            self.refused.push(Refused { at, reason: reason.into() });
        }
    }

    /// Puts what was refused into the order of its places.
    pub fn sort(&mut self) {
        self.refused.sort_by(|a, b| (&a.at.file, a.at.line).cmp(&(&b.at.file, b.at.line)));
    }

    /// It as words.
    pub fn said(&self, style: &Style) -> String {
        let would = if self.dry_run { "would be " } else { "" };
        let (one, many) = self.items.unwrap_or(("line", "lines"));
        let done = &self.done;
        let mut text =
            format!("{}: {} {would}new, {} known already", size::count(self.lines, one, many), done.created, done.duplicate);
        for (count, what) in [(done.updated, "changed"), (done.retired, "archived"), (done.kept, "left as you have them")] {
            if count > 0 {
                text.push_str(&format!(", {count} {would}{what}"));
            }
        }
        text.push_str(&format!(", {} refused\n", self.refused_count));
        if self.moved > 0 {
            let lines = size::count(self.moved, "line", "lines");
            let space = escape::terminal_line(self.space.as_deref().unwrap_or_default());
            text.push_str(&format!("{lines} named another space: {would}put into {space}, as --space says\n"));
        }
        if let Some(before) = self.resumed_after {
            let before = size::count(before, one, many);
            text.push_str(&style.dim(&format!("went on after {before} that an interrupted import had taken")));
            text.push('\n');
        }
        for (what, names) in [("skipped", &self.skipped), ("left out, unknown", &self.unknown_fields)] {
            if !names.is_empty() {
                let names: Vec<String> =
                    names.iter().map(|(name, count)| format!("{} ({count})", escape::terminal_line(name))).collect();
                text.push_str(&style.dim(&format!("{what}: {}", names.join(", "))));
                text.push('\n');
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::Exit;
    use super::*;

    #[test]
    fn refused_secrets_alone_are_told_apart() {
        let mut report = Report::new(false, None);
        report.refuse(At::of(None, Place::Line(7)), "secret:jwt");
        assert_eq!((report.refused[0].to_string().as_str(), report.exit()), ("line 7: secret:jwt", Exit::Refused));
        report.refuse(At::of(Some("a.json"), Place::Named("conversation 2".to_owned())), "text: missing");
        assert_eq!(
            (report.refused[1].to_string().as_str(), report.exit()),
            ("a.json: conversation 2: text: missing", Exit::Failed)
        );
        let value = serde_json::to_value(&report).unwrap();
        assert_eq!((value["refused"][0]["line"].as_u64(), value["created"].as_u64()), (Some(7), Some(0)));
    }

    #[test]
    fn only_what_happened_is_said() {
        let mut report = Report::new(true, None);
        report.format(Format::ChatGpt);
        report.lines = 3;
        report.done.created = 3;
        report.skipped.insert("thoughts".to_owned(), 2);
        assert_eq!(report.said(&Style::PLAIN), "3 turns: 3 would be new, 0 known already, 0 refused\nskipped: thoughts (2)\n");
    }
}
