//! The params of `memory/remember`, judged: a draft of a memory, or why it is not kept.
//!
//! Pure. Must not know: the store, the index, what is known already.

use super::error::MemoryError;
use super::{fingerprint, secrets};
use crate::clock;
use crate::limits::*;
use crate::space_name;
use tiro_schema::DEFAULT_SPACE;
use tiro_schema::convert::{category_code, kind_code, kind_for};
use tiro_schema::wire::Timestamp;
use tiro_schema::wire::memory::{Category, RememberParams, Source};

/// A memory that is not yet in a store.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub space: String,
    pub kind: u8,
    pub category: u8,
    pub text: String,
    pub tags: Vec<String>,
    pub entities: Vec<String>,
    pub importance: f32,
    pub pinned: bool,
    pub explicit: bool,
    pub verbatim: bool,
    pub occurred: Option<(i64, Option<i16>)>,
    pub valid_from_ms: Option<i64>,
    pub valid_to_ms: Option<i64>,
    pub source: Option<Source>,
    pub canonical: String,
    pub fingerprint: [u8; 16],
    /// The kind of the secret that was taken out of its text.
    pub redacted: Option<&'static str>,
}

/// What became of the params.
#[derive(Debug, Clone)]
pub(super) enum Judged {
    /// Fit to be kept.
    Draft(Box<Draft>),
    /// Not kept; the reason for the wire.
    Refused(String),
}

/// Judges the params.
pub(super) fn judge(params: &RememberParams) -> Result<Judged, MemoryError> {
    if is_blank(&params.text) {
        return Ok(Judged::Refused("gate:empty".to_owned()));
    }
    let space = space_name("space", params.space.as_deref())?;
    check_text("text", &params.text)?;
    let category = params.category.unwrap_or(Category::Other);
    let kind = params.kind.unwrap_or_else(|| kind_for(category));
    let tags = labels("tags", params.tags.as_deref(), TAGS_MAX, "tagsMax", TAG_BYTES_MAX)?;
    let entities = labels("entities", params.entities.as_deref(), ENTITIES_MAX, "entitiesMax", ENTITY_BYTES_MAX)?;
    let importance = importance(params.importance)?.unwrap_or(0.5);
    let occurred = instant("occurredAt", params.occurred_at.as_ref())?;
    let valid_from_ms = instant("validFrom", params.valid_from.as_ref())?.map(|(ms, _)| ms);
    let valid_to_ms = instant("validTo", params.valid_to.as_ref())?.map(|(ms, _)| ms);
    check_validity(valid_from_ms, valid_to_ms)?;
    let source = params.source.as_ref().map(clean_source).transpose()?.filter(|s| *s != Source::default());
    let in_space = params.space.as_deref().and_then(secrets::find).map(|kind| ("space", kind));
    if let Some((_, secret)) = in_space.or_else(|| secret_in(&params.text, &tags, &entities, source.as_ref())) {
        return Ok(Judged::Refused(format!("secret:{secret}")));
    }
    let canonical = fingerprint::canonical(&params.text);
    Ok(Judged::Draft(Box::new(Draft {
        space,
        kind: kind_code(kind),
        category: category_code(category),
        text: params.text.clone(),
        tags,
        entities,
        importance,
        pinned: params.pinned.unwrap_or(false),
        explicit: params.explicit.unwrap_or(false),
        verbatim: params.verbatim.unwrap_or(false),
        occurred,
        valid_from_ms,
        valid_to_ms,
        source,
        fingerprint: fingerprint::fingerprint(&canonical),
        canonical,
        redacted: None,
    })))
}

/// Whether nothing of a text can be read.
pub(super) fn is_blank(text: &str) -> bool {
    text.chars().all(|c| {
        c.is_whitespace() || c.is_control() || matches!(c, '\u{200B}'..='\u{200F}' | '\u{2060}' | '\u{FEFF}' | '\u{00AD}')
    })
}

/// Checks the size of a text.
pub(super) fn check_text(path: &str, text: &str) -> Result<(), MemoryError> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(MemoryError::too_large(path, "textBytesMax", TEXT_BYTES_MAX));
    }
    Ok(())
}

/// The name of a space: one to 64 letters, digits, `.`, `_`, `-` and `@`, of any script; `personal` when absent. Flat: no slash.
pub(super) fn space_name(path: &str, name: Option<&str>) -> Result<String, MemoryError> {
    let Some(name) = name else { return Ok(DEFAULT_SPACE.to_owned()) };
    if !space_name::fits(name) {
        return Err(MemoryError::invalid(path, space_name::rule()));
    }
    Ok(name.to_owned())
}

/// Labels: trimmed, without repeats and empty ones, within their limits.
pub(super) fn labels(
    path: &str,
    list: Option<&[String]>,
    most: usize,
    limit: &'static str,
    bytes: usize,
) -> Result<Vec<String>, MemoryError> {
    let list = list.unwrap_or_default();
    if list.len() > most {
        return Err(MemoryError::too_large(path, limit, most));
    }
    let mut kept: Vec<String> = Vec::with_capacity(list.len());
    for (i, label) in list.iter().enumerate() {
        let label = label.trim();
        if label.is_empty() || label.len() > bytes || label.chars().any(char::is_control) {
            return Err(MemoryError::invalid(format!("{path}[{i}]"), format!("1 to {bytes} bytes without control characters")));
        }
        if !kept.iter().any(|k| k == label) {
            kept.push(label.to_owned());
        }
    }
    Ok(kept)
}

/// Importance within 0 and 1.
pub(super) fn importance(value: Option<f32>) -> Result<Option<f32>, MemoryError> {
    match value {
        Some(v) if !(0.0..=1.0).contains(&v) => Err(MemoryError::invalid("importance", "between 0 and 1")),
        other => Ok(other),
    }
}

/// An instant with the offset it was written with.
pub(super) fn instant(path: &str, text: Option<&Timestamp>) -> Result<Option<(i64, Option<i16>)>, MemoryError> {
    text.map(|t| clock::parse(&t.0).map_err(|message| MemoryError::invalid(path, message))).transpose()
}

/// Validity that ends after it begins.
pub(super) fn check_validity(from: Option<i64>, to: Option<i64>) -> Result<(), MemoryError> {
    if from.zip(to).is_some_and(|(from, to)| to <= from) {
        return Err(MemoryError::invalid("validTo", "after validFrom"));
    }
    Ok(())
}

fn clean_source(source: &Source) -> Result<Source, MemoryError> {
    let member = |name: &str, value: &Option<String>| match value.as_deref().map(str::trim) {
        Some(v) if v.len() > SOURCE_MEMBER_BYTES_MAX => {
            Err(MemoryError::too_large(format!("source.{name}"), "sourceMemberBytesMax", SOURCE_MEMBER_BYTES_MAX))
        }
        Some(v) => Ok((!v.is_empty()).then(|| v.to_owned())),
        None => Ok(None),
    };
    Ok(Source {
        session: member("session", &source.session)?,
        position: source.position,
        speaker: member("speaker", &source.speaker)?,
        program: member("program", &source.program)?,
        uri: member("uri", &source.uri)?,
    })
}

/// Where a secret stands and of which kind it is.
pub(super) fn secret_in(
    text: &str,
    tags: &[String],
    entities: &[String],
    source: Option<&Source>,
) -> Option<(&'static str, &'static str)> {
    let of = |path, found: Option<&'static str>| found.map(|kind| (path, kind));
    of("text", secrets::find(text))
        .or_else(|| of("tags", secrets::find_in(tags.iter().map(String::as_str))))
        .or_else(|| of("entities", secrets::find_in(entities.iter().map(String::as_str))))
        .or_else(|| {
            let s = source?;
            of("source", secrets::find_in([&s.session, &s.speaker, &s.program, &s.uri].into_iter().flatten().map(String::as_str)))
        })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn params(text: &str) -> RememberParams {
        RememberParams { text: text.to_owned(), ..RememberParams::default() }
    }

    #[test]
    fn blank_texts_are_refused() {
        for text in ["", "  \n", "\u{200B}\u{FEFF}", "\u{3000}"] {
            assert!(matches!(judge(&params(text)).unwrap(), Judged::Refused(reason) if reason == "gate:empty"), "{text:?}");
        }
    }

    // MEM-10, M31
    #[test]
    fn secrets_are_refused_wherever_they_stand() {
        let key = "sk-abcdEFGH1234567890abcdEFGH";
        let with = |change: &dyn Fn(&mut RememberParams)| {
            let mut p = params("an ordinary note");
            p.explicit = Some(true);
            p.verbatim = Some(true);
            change(&mut p);
            matches!(judge(&p).unwrap(), Judged::Refused(reason) if reason == "secret:apiKey")
        };
        assert!(with(&|p| p.text = format!("my key is {key}")));
        assert!(with(&|p| p.tags = Some(vec![key.to_owned()])));
        assert!(with(&|p| p.entities = Some(vec![key.to_owned()])));
        assert!(with(&|p| p.source = Some(Source { uri: Some(format!("https://example.org/?q={key}")), ..Source::default() })));
        assert!(with(&|p| p.source = Some(Source { session: Some(key.to_owned()), ..Source::default() })));
        assert!(!with(&|_| ()));
    }

    #[test]
    fn limits_name_their_path() {
        let path = |change: &dyn Fn(&mut RememberParams)| {
            let mut p = params("a note");
            change(&mut p);
            match judge(&p).unwrap_err() {
                MemoryError::Invalid { path, .. } | MemoryError::TooLarge { path, .. } => path,
                other => panic!("{other}"),
            }
        };
        assert_eq!(path(&|p| p.text = "a".repeat(TEXT_BYTES_MAX + 1)), "text");
        assert_eq!(path(&|p| p.importance = Some(1.5)), "importance");
        assert_eq!(path(&|p| p.importance = Some(f32::NAN)), "importance");
        assert_eq!(path(&|p| p.tags = Some(vec!["ok".into(), " ".into()])), "tags[1]");
        assert_eq!(path(&|p| p.tags = Some(vec!["t".into(); TAGS_MAX + 1])), "tags");
        assert_eq!(path(&|p| p.occurred_at = Some(Timestamp("yesterday".into()))), "occurredAt");
        assert_eq!(path(&|p| p.space = Some("a/b".into())), "space");
        assert_eq!(path(&|p| p.space = Some(String::new())), "space");
        assert_eq!(
            path(&|p| p.source = Some(Source { uri: Some("u".repeat(SOURCE_MEMBER_BYTES_MAX + 1)), ..Source::default() })),
            "source.uri"
        );
        let t = |s: &str| Some(Timestamp(s.into()));
        assert_eq!(path(&|p| (p.valid_from, p.valid_to) = (t("2024-01-02T00:00:00Z"), t("2024-01-01T00:00:00Z"))), "validTo");
    }

    #[test]
    fn space_names_of_any_script_are_flat() {
        for name in ["personal", "work-2", "项目.甲", "a@b", "_"] {
            assert_eq!(space_name("space", Some(name)).unwrap(), name);
        }
        for name in ["a b", "a/b", "..", "", "a\nb", &"x".repeat(SPACE_NAME_CHARS_MAX + 1)] {
            assert!(space_name("space", Some(name)).is_err(), "{name:?}");
        }
    }
}
