//! Reading what a person or a program gives: texts and ids, from arguments or standard input, names, instants, a yes.
//!
//! Must not know: any command.

use super::{Failure, Shell};
use crate::limits::STDIN_BYTES_MAX;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp as Instant, ZonedDateTime};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::io::{BufRead, Read, Write};
use tiro_schema::wire::Timestamp;

/// The kinds, as the wire names them.
pub const KINDS: [&str; 3] = ["episodic", "semantic", "procedural"];
/// The categories.
pub const CATEGORIES: [&str; 8] = ["identity", "preference", "constraint", "goal", "fact", "event", "conclusion", "other"];
/// The statuses.
pub const STATUSES: [&str; 3] = ["active", "superseded", "archived"];
/// The search modes.
pub const MODES: [&str; 3] = ["hybrid", "lexical", "vector"];

/// Parses one of the names into the wire's own type.
pub fn one_of<T>(names: &'static [&'static str]) -> impl TypedValueParser<Value = T>
where
    T: DeserializeOwned + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names).try_map(|name| serde_json::from_value::<T>(Value::String(name)))
}

/// Words of the command line as one text; a single `-` is standard input.
///
/// # Errors
/// When there is no text, or standard input is not text or too long.
pub fn text(words: &[String]) -> Result<String, Failure> {
    let text = match words {
        [dash] if dash == "-" => stdin()?.trim_end_matches(['\r', '\n']).to_owned(),
        words => words.join(" "),
    };
    if text.trim().is_empty() {
        return Err(Failure::usage("the text is empty").hint("give the text as an argument, or - to read standard input"));
    }
    Ok(text)
}

/// Ids of the command line; a single `-` is standard input, one or more ids a line.
///
/// # Errors
/// When there is none.
pub fn ids(ids: &[String]) -> Result<Vec<String>, Failure> {
    let ids = match ids {
        [dash] if dash == "-" => stdin()?.split_whitespace().map(str::to_owned).collect(),
        ids => ids.to_vec(),
    };
    if ids.is_empty() {
        return Err(Failure::usage("no id was given").hint("tiro list shows ids; the first 8 characters are enough"));
    }
    Ok(ids)
}

/// All of standard input, within [`STDIN_BYTES_MAX`].
///
/// # Errors
/// When it is longer, or not UTF-8.
pub fn stdin() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(STDIN_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > STDIN_BYTES_MAX {
        return Err(Failure::failed(format!("standard input is longer than {STDIN_BYTES_MAX} bytes"))
            .hint("tiro import takes many texts, one JSON object a line"));
    }
    String::from_utf8(bytes).map_err(|error| Failure::failed(format!("standard input is not UTF-8: {error}")))
}

/// Asks a person; anything but `y` or `yes` is a no.
///
/// # Errors
/// As the streams say.
pub fn confirmed(shell: &Shell, question: &str) -> Result<bool, Failure> {
    write!(std::io::stderr(), "{question} [y/N] ")?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    let yes = matches!(answer.trim().to_lowercase().as_str(), "y" | "yes");
    if !yes {
        shell.note("nothing was changed");
    }
    Ok(yes)
}

/// Whether something that hides or replaces much may go ahead: `--yes` was given, or a person says so.
///
/// # Errors
/// A usage error when nobody can be asked.
pub fn agreed(shell: &Shell, yes: bool, question: &str) -> Result<bool, Failure> {
    match (yes, shell.can_ask()) {
        (true, _) => Ok(true),
        (false, true) => confirmed(shell, question),
        (false, false) => {
            Err(Failure::usage(format!("{question} nobody can be asked here, so nothing was changed")).hint("--yes goes ahead"))
        }
    }
}

/// An instant: RFC 3339, `2026-03-05`, `2026-03-05 14:00` (in this machine's zone), `now`, `today`, `yesterday`, or a
/// length of time ago (`3 days ago`, `2h ago`).
///
/// # Errors
/// A sentence that says what is taken.
pub fn instant(text: &str) -> Result<Timestamp, String> {
    let text = text.trim();
    let here = TimeZone::system();
    let at: Option<Instant> = match text.to_lowercase().as_str() {
        "now" => Some(Instant::now()),
        "today" => ZonedDateTime::now().start_of_day().ok().map(|day| day.timestamp()),
        "yesterday" => ZonedDateTime::now().yesterday().and_then(|day| day.start_of_day()).ok().map(|day| day.timestamp()),
        _ => None,
    };
    // An offset that was given is worth keeping; what stands in this machine's zone is sent in UTC.
    if at.is_none() && text.parse::<Instant>().is_ok() {
        return Ok(Timestamp(text.to_owned()));
    }
    let at = at
        .or_else(|| ago(text))
        .or_else(|| {
            text.parse::<DateTime>().ok().and_then(|civil| civil.to_zoned_datetime(here.clone()).ok()).map(|at| at.timestamp())
        })
        .or_else(|| text.parse::<Date>().ok().and_then(|day| day.to_zoned_datetime(here).ok()).map(|at| at.timestamp()));
    match at {
        Some(at) => Ok(Timestamp(at.to_string())),
        None if text.starts_with("9999-12-3") => {
            Err("beyond the last day that can be written, 9999-12-29; leave it out where there is no end".to_owned())
        }
        None => Err("not an instant: write 2026-03-05, \"2026-03-05 14:00\", 2026-03-05T14:00:00Z, yesterday or \"3 days ago\""
            .to_owned()),
    }
}

fn ago(text: &str) -> Option<Instant> {
    let span: Span = text.strip_suffix("ago").is_some().then(|| text.parse().ok())??;
    ZonedDateTime::now().checked_add(span).ok().map(|at| at.timestamp())
}

/// A number of things, from 1.
///
/// # Errors
/// A sentence that says so.
pub fn count(text: &str) -> Result<u32, String> {
    match text.parse::<u32>() {
        Ok(count) if count > 0 => Ok(count),
        _ => Err("give a number from 1".to_owned()),
    }
}

/// A number in 0 to 1.
///
/// # Errors
/// A sentence that says so.
pub fn unit(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        _ => Err("give a number from 0 to 1".to_owned()),
    }
}

/// Nothing for an empty list.
pub fn given<T: Clone>(list: &[T]) -> Option<Vec<T>> {
    (!list.is_empty()).then(|| list.to_vec())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use tiro_schema::wire::memory::{Category, Kind, Mode, Status};

    fn all<T: DeserializeOwned>(names: &[&str]) {
        for name in names {
            assert!(serde_json::from_value::<T>(Value::String((*name).to_owned())).is_ok(), "{name}");
        }
    }

    #[test]
    fn the_names_are_the_names_of_the_wire() {
        all::<Kind>(&KINDS);
        all::<Category>(&CATEGORIES);
        all::<Status>(&STATUSES);
        all::<Mode>(&MODES);
    }

    #[test]
    fn instants_are_taken_in_the_forms_people_write() {
        assert_eq!(instant("2026-03-05T14:00:00+08:00").unwrap().0, "2026-03-05T14:00:00+08:00");
        for text in ["2026-03-05", "2026-03-05 14:00", "2026-03-05T14:00:30", "now", "today", "Yesterday", "3 days ago", "2h ago"]
        {
            let at = instant(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert!(at.0.parse::<Instant>().unwrap() <= Instant::now().max("2026-03-07T00:00:00Z".parse().unwrap()), "{text}");
        }
        assert!(instant("3 days ago").unwrap().0 < instant("now").unwrap().0);
        for text in ["", "soon", "2026-13-40", "ago", "5"] {
            assert!(instant(text).is_err(), "{text}");
        }
    }

    #[test]
    fn words_become_one_text_and_nothing_is_refused() {
        assert_eq!(text(&["buy".into(), "milk".into()]).unwrap(), "buy milk");
        assert!(text(&[" ".into()]).is_err());
        assert!(unit("1.5").is_err() && unit("nan").is_err() && unit("0.5").is_ok());
    }
}
