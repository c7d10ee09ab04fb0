//! Time as people write it, in English and Chinese, seen from an instant and the caller's offset from UTC.
//!
//! [`spans`] reads the stretches of time that a question asks about, [`told`] what a text tells of its own time. Pure; a text of thirty words takes a few microseconds.
//! Must not know: memories, the store, the index, the clock.

mod calendar;
mod chinese;
mod chinese_number;
mod dates;
mod english;
mod said;
#[cfg(test)]
mod tests;
mod told;
mod words;

use crate::limits::{WHEN_BYTES_MAX, WHEN_PHRASES_MAX, WHEN_YEARS_BACK};
use calendar::{Anchor, Days, EARLIEST_MS, LATEST_MS, Unsaid, month_days};
use said::{Phrase, Relation, Said, Year};
pub(super) use told::{Told, told};

/// A stretch of time, Unix milliseconds: from the first instant to before the second. Both lie in the years 1 to 9999.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub from_ms: i64,
    pub to_ms: i64,
}

/// The stretches of time a question asks about, in order and apart from each other; none when it names none.
///
/// At most [`WHEN_PHRASES_MAX`] expressions count. A month or a day without a year is meant in this year and in each of the
/// [`WHEN_YEARS_BACK`] before it; bounded (`since March`) it is the newest one that has begun. `before` reaches back to the year 1,
/// `after` on to 9999, `since` to the end of the present day. `now_ms` is Unix milliseconds, `offset_min` minutes east of UTC.
pub(super) fn spans(question: &str, now_ms: i64, offset_min: Option<i16>) -> Vec<Span> {
    let phrases = phrases(question);
    if phrases.is_empty() {
        return Vec::new();
    }
    let anchor = Anchor::new(now_ms, offset_min);
    let mut spans = Vec::new();
    for phrase in &phrases {
        asked(phrase, &anchor, &mut spans);
    }
    merge(spans)
}

/// The expressions of a text, those that belong together joined.
fn phrases(text: &str) -> Vec<Phrase> {
    let text = head(text);
    let mut found = english::phrases(text, WHEN_PHRASES_MAX);
    if !text.is_ascii() {
        for phrase in found.iter_mut().filter(|p| p.relation == Relation::During) {
            phrase.relation = chinese::relation(text, phrase.at.start, phrase.at.end);
        }
        found.extend(chinese::phrases(text, WHEN_PHRASES_MAX));
        found.sort_by_key(|p| p.at.start);
        found.dedup_by(|later, earlier| later.at.start < earlier.at.end);
        found.truncate(WHEN_PHRASES_MAX);
    }
    join(text, found)
}

/// The part of a text that is read.
fn head(text: &str) -> &str {
    let mut end = text.len().min(WHEN_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Makes one of two expressions between which stands no more than `to` or the like.
fn join(text: &str, found: Vec<Phrase>) -> Vec<Phrase> {
    let mut joined: Vec<Phrase> = Vec::with_capacity(found.len());
    for phrase in found {
        match joined.last_mut().filter(|first| !matches!(first.relation, Relation::To(_)) && is_range(text, first, &phrase)) {
            Some(first) => {
                let inherits = first.said.is_yearless() && !phrase.said.is_yearless();
                if let Some(year) = phrase.said.year().filter(|_| inherits) {
                    first.said = first.said.with_year(year);
                }
                first.relation = Relation::To(phrase.said);
                first.at.end = phrase.at.end;
            }
            None => joined.push(phrase),
        }
    }
    joined
}

fn is_range(text: &str, first: &Phrase, second: &Phrase) -> bool {
    let between = text[first.at.end..second.at.start].trim();
    let begins_with = |word: &str| text[..first.at.start].trim_end().to_ascii_lowercase().ends_with(word);
    match between {
        "to" | "until" | "till" | "through" | "-" | "–" | "—" | "~" | "～" | "到" | "至" | "直到" => true,
        "and" => begins_with("between"),
        "和" | "与" => text[second.at.end..].starts_with("之间"),
        _ => false,
    }
}

/// The spans one expression of a question asks about.
fn asked(phrase: &Phrase, anchor: &Anchor, spans: &mut Vec<Span>) {
    let latest = |said| anchor.days(said, Unsaid::Latest);
    let mut add = |from_ms: i64, to_ms: i64| {
        if from_ms < to_ms {
            spans.push(Span { from_ms, to_ms });
        }
    };
    let ms = |days: Days| (anchor.begin_ms(days.0), anchor.begin_ms(days.1));
    let this_year = anchor.today.year();
    let years = (0..=WHEN_YEARS_BACK).filter_map(|back| this_year.checked_sub(back));
    match phrase.relation {
        Relation::During if phrase.said.is_yearless() => {
            for (from, to) in years.filter_map(|year| month_days(phrase.said, year)).map(ms) {
                add(from, to);
            }
        }
        Relation::To(last) if phrase.said.is_yearless() && last.is_yearless() => {
            for days in years.filter_map(|year| range(anchor, Unsaid::Latest, phrase.said.with_year(Year::Given(year)), last)) {
                let (from, to) = ms(days);
                add(from, to);
            }
        }
        Relation::To(last) => {
            if let Some((from, to)) = range(anchor, Unsaid::Latest, phrase.said, last).map(ms) {
                add(from, to);
            }
        }
        relation => {
            let Some((from, to)) = latest(phrase.said).map(ms) else { return };
            match relation {
                Relation::Since => add(from, ms((anchor.today, anchor.today.tomorrow().unwrap_or(anchor.today))).1.max(to)),
                Relation::Before => add(EARLIEST_MS, from),
                Relation::After => add(to, LATEST_MS),
                Relation::Until | Relation::Through => add(EARLIEST_MS, to),
                Relation::Off(said) => {
                    let days = latest(phrase.said).and_then(|(day, _)| anchor.on(day).days(said, Unsaid::Latest));
                    days.map(ms).into_iter().for_each(|(from, to)| add(from, to));
                }
                Relation::During | Relation::To(_) => add(from, to),
            }
        }
    }
}

/// From the beginning of the first to the end of the last. A last one without a year is the first that ends after the beginning.
fn range(anchor: &Anchor, unsaid: Unsaid, first: Said, last: Said) -> Option<Days> {
    let (from, end) = anchor.days(first, unsaid)?;
    let to = if last.is_yearless() {
        let (_, same) = month_days(last, from.year())?;
        if same > from { same } else { month_days(last, from.year().checked_add(1)?)?.1 }
    } else {
        anchor.days(last, unsaid)?.1
    };
    (to > from).then_some((from, to.max(end)))
}

/// Spans in order, those that touch made one.
fn merge(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_by_key(|span| (span.from_ms, span.to_ms));
    let mut merged: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match merged.last_mut().filter(|last| span.from_ms <= last.to_ms) {
            Some(last) => last.to_ms = last.to_ms.max(span.to_ms),
            None => merged.push(span),
        }
    }
    merged
}
