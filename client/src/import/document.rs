//! A document as passages: of Markdown a passage a section (several of a long one), of plain text its paragraphs.
//!
//! A passage is named by its document, the headings above it and its number under them: so a changed one is known again. Must not know: which
//! documents there are, the daemon.

use super::sink::{Place, Sink, Stop};
use super::talk::tag;
use super::{Format, Setting, id, markdown, split, text};
use crate::limits::{IMPORT_DOCUMENT_BYTES_MAX, IMPORT_PASSAGE_BYTES_MAX, IMPORT_TAGS_MAX};
use std::collections::HashMap;
use std::io::{BufRead, Read};
use tiro_schema::wire::memory::{ExportLine, Kind, RememberParams, Source};

/// Which document it is.
#[derive(Debug, Clone)]
pub struct Document<'a> {
    /// Its format.
    pub format: Format,
    /// The space it goes into.
    pub space: &'a str,
    /// What it belongs to, the same each time: a folder's name. Every passage has it as a tag.
    pub source: &'a str,
    /// Its path there.
    pub path: &'a str,
    /// Where it can be read.
    pub uri: Option<String>,
}

impl Document<'_> {
    /// What its passages have as their session.
    pub fn session(&self) -> String {
        format!("{}/{}", self.source, self.path)
    }
}

/// The passages of a document, ready to be taken.
pub fn passages(document: &Document<'_>, words: &str) -> Vec<ExportLine> {
    if document.format == Format::Text {
        let lines = text::passages(words).into_iter().enumerate();
        return lines.map(|(n, passage)| line(document, &[], n, passage, Vec::new(), None)).collect();
    }
    let (front, sections) = markdown::sections(words);
    let mut met: HashMap<Vec<String>, usize> = HashMap::new();
    let mut lines = Vec::new();
    for section in sections {
        let headings = match &front.title {
            Some(title) if section.path.first() != Some(title) => [std::slice::from_ref(title), section.path.as_slice()].concat(),
            _ => section.path.clone(),
        };
        let tags = [section.tags.as_slice(), front.tags.as_slice()].concat();
        let number = met.entry(section.path.clone()).or_default();
        for piece in split::paragraphs(&section.body, IMPORT_PASSAGE_BYTES_MAX) {
            let heading = headings.join(" › ");
            let passage = if heading.is_empty() { piece } else { format!("{heading}\n\n{piece}") };
            lines.push(line(document, &section.path, *number, passage, tags.clone(), front.at.clone()));
            *number += 1;
        }
    }
    lines
}

fn line(
    document: &Document<'_>,
    headings: &[String],
    number: usize,
    words: String,
    marks: Vec<String>,
    at: Option<tiro_schema::wire::Timestamp>,
) -> ExportLine {
    let mut tags: Vec<String> = tag(document.source).into_iter().collect();
    for mark in marks.iter().filter_map(|mark| tag(mark)) {
        if tags.len() < IMPORT_TAGS_MAX && !tags.contains(&mark) {
            tags.push(mark);
        }
    }
    let under = headings.join("\u{1f}");
    let name = [document.space, document.format.name(), document.source, document.path, &under, &number.to_string()];
    ExportLine {
        id: Some(id::of(&name).to_string()),
        memory: RememberParams {
            text: words,
            space: Some(document.space.to_owned()),
            kind: Some(Kind::Semantic),
            tags: Some(tags),
            occurred_at: at,
            source: Some(Source {
                session: Some(document.session()),
                program: Some(document.format.name().to_owned()),
                uri: document.uri.clone(),
                ..Source::default()
            }),
            verbatim: Some(true),
            ..RememberParams::default()
        },
        ..ExportLine::default()
    }
}

/// Reads a whole document within the limit.
///
/// # Errors
/// Why it cannot be read.
pub fn text_of(input: &mut dyn Read) -> Result<String, String> {
    let mut bytes = Vec::new();
    input.take(IMPORT_DOCUMENT_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > IMPORT_DOCUMENT_BYTES_MAX {
        return Err(format!("longer than {IMPORT_DOCUMENT_BYTES_MAX} bytes"));
    }
    String::from_utf8(bytes).map_err(|_| "not UTF-8".to_owned())
}

/// Reads a document from a stream that is no file of a folder.
///
/// # Errors
/// [`Stop`].
pub fn read(format: Format, input: &mut dyn BufRead, setting: &Setting, sink: &mut Sink) -> Result<(), Stop> {
    let words = match text_of(&mut (input as &mut dyn Read)) {
        Ok(words) => words,
        Err(reason) => {
            sink.refuse(Place::Named(setting.name.clone()), reason);
            return Ok(());
        }
    };
    sink.begin();
    sink.read_to(words.len() as u64);
    let document = Document { format, space: &setting.space, source: format.name(), path: &setting.name, uri: None };
    for (n, passage) in passages(&document, &words).iter().enumerate() {
        sink.line(Place::Named(format!("passage {}", n + 1)), passage)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document() -> Document<'static> {
        Document { format: Format::Markdown, space: "work", source: "notes@1", path: "a/b.md", uri: None }
    }

    fn ids(words: &str) -> Vec<String> {
        passages(&document(), words).into_iter().filter_map(|line| line.id).collect()
    }

    #[test]
    fn a_passage_keeps_its_id_when_its_words_change_and_when_others_come_before_it() {
        let before = ids("# A\none\n# B\ntwo\n# B\nthree\n");
        let after = ids("# New\nzero\n# A\nother\n# B\ntwo\n# B\nthree\n");
        assert_eq!(before, after[1..]);
    }

    #[test]
    fn a_passage_says_where_it_stands() {
        let lines = passages(&document(), "---\ntitle: Guide\ntags: ops\n---\n# Deploy\n## Steps\nsee [[Gate]]\n");
        let memory = &lines[0].memory;
        assert_eq!(memory.text, "Guide › Deploy › Steps\n\nsee [[Gate]]");
        assert_eq!(memory.tags.as_deref(), Some(&["notes@1".to_owned(), "Gate".to_owned(), "ops".to_owned()][..]));
        assert_eq!(memory.source.as_ref().and_then(|source| source.session.as_deref()), Some("notes@1/a/b.md"));
    }

    #[test]
    fn a_long_section_becomes_several_passages() {
        let lines = passages(&document(), &format!("# Long\n{}", "word word word.\n\n".repeat(1000)));
        assert!(lines.len() > 2 && lines.iter().all(|line| line.memory.text.len() < IMPORT_PASSAGE_BYTES_MAX + 100));
    }
}
