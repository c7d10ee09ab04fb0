//! Dates: months by name, days of them, years, seasons, and dates in digits.
//!
//! Must not know: calendars, instants.

use super::english::{Read, Tokens};
use super::said::{Said, Turn, Unit, Year};
use super::words::{Key, Name, Number, What};

/// A year of four digits that is believed to be one.
fn is_year(value: i32, digits: u8) -> bool {
    digits == 4 && (1900..2100).contains(&value)
}

/// The day of a month at a place.
fn day(tokens: &Tokens<'_>, at: usize) -> Option<(i8, bool)> {
    let (value, digits, ordinal) = tokens.digits(at)?;
    (digits <= 2 && (1..=31).contains(&value)).then_some((value as i8, ordinal))
}

/// A year after a month or a day: `2023`, `, 2023`, `of 2023`, `last year`.
fn year_after(tokens: &Tokens<'_>, at: usize) -> Option<(Year, usize)> {
    let at = at + usize::from(tokens.mark(at) == Some(',') || tokens.key(at) == Key::Of);
    if let Some((value, ..)) = tokens.digits(at).filter(|(value, digits, _)| is_year(*value, *digits)) {
        return Some((Year::Given(value as i16), at + 1));
    }
    let (Key::Turn(turn), Key::Unit(Unit::Year, Number::One)) = (tokens.key(at), tokens.key(at + 1)) else { return None };
    let by = match turn {
        Turn::Last => -1,
        Turn::This => 0,
        Turn::Next => 1,
    };
    Some((Year::Counted(by), at + 2))
}

/// Words after which a name is that of a time.
fn tells_time(key: Key) -> bool {
    matches!(key, Key::In | Key::Since | Key::During | Key::Until | Key::Before | Key::After)
}

/// `May 8th, 2023`, `May 2023`, `in May`.
pub(super) fn month_first(tokens: &Tokens<'_>, at: usize, month: i8, name: Name, chained: bool) -> Read {
    let next = at + 1 + usize::from(name == Name::Short && tokens.mark(at + 1) == Some('.'));
    let before = tokens.before(at);
    let is_led = tells_time(before) || matches!(before, Key::On | Key::From | Key::By | Key::Between) || chained;
    let day_at = next + usize::from(tokens.key(next) == Key::The);
    if let Some((day, ordinal)) = day(tokens, day_at) {
        let (until, next) = last_day(tokens, day_at + 1, day);
        let year = year_after(tokens, next);
        if name == Name::Sure || ordinal || year.is_some() || is_led || tokens.is_capital(at) {
            let (year, next) = year.unwrap_or((Year::Any, next));
            return Some((Said::Day { year, month, day, until }, next));
        }
    }
    let is_bare = match name {
        Name::Sure => true,
        Name::Shared => tells_time(before) || is_shaded(tokens, at) || tokens.is_capital(at) && (chained || is_range(tokens, at)),
        Name::Short => tells_time(before) && tokens.is_capital(at) || tokens.is_capital(at) && chained,
    };
    let month = |year| Said::Months { year, month, count: 1 };
    match year_after(tokens, next) {
        Some((year @ Year::Given(_), next)) => Some((month(year), next)),
        Some((year, next)) if is_bare => Some((month(year), next)),
        _ if is_bare => Some((month(Year::Any), next)),
        _ => None,
    }
}

/// Whether `early`, `the end of` or the like stands before it.
fn is_shaded(tokens: &Tokens<'_>, at: usize) -> bool {
    let (first, _) = tokens.lead(at);
    (first..at).any(|i| matches!(tokens.key(i), Key::Part | Key::End))
}

/// Whether it is the first half of `from May to July`.
fn is_range(tokens: &Tokens<'_>, at: usize) -> bool {
    let joined = matches!(tokens.key(at + 2), Key::Month(..)) || tokens.digits(at + 2).is_some();
    match tokens.before(at) {
        Key::From => matches!(tokens.key(at + 1), Key::To | Key::Through | Key::Until) && joined,
        Key::Between => tokens.key(at + 1) == Key::And && joined,
        _ => false,
    }
}

/// The last day of `8-10` or `8 to 10`, and the token after it.
fn last_day(tokens: &Tokens<'_>, at: usize, first: i8) -> (i8, usize) {
    let dash = matches!(tokens.mark(at), Some('-' | '–')) || tokens.key(at) == Key::To;
    match day(tokens, at + 1) {
        Some((last, _)) if dash && last > first && !matches!(tokens.key(at + 2), Key::Month(..)) => (last, at + 2),
        _ => (first, at),
    }
}

/// `8 May 2023`, `8th of May`.
pub(super) fn day_first(tokens: &Tokens<'_>, at: usize) -> Read {
    let (day, ordinal) = day(tokens, at)?;
    let has_of = tokens.key(at + 1) == Key::Of;
    let month_at = at + 1 + usize::from(has_of);
    let Key::Month(month, name) = tokens.key(month_at) else { return None };
    let next = month_at + 1 + usize::from(name == Name::Short && tokens.mark(month_at + 1) == Some('.'));
    let year = year_after(tokens, next);
    let is_led = matches!(tokens.before(at), Key::On | Key::Since | Key::Before | Key::After | Key::Until | Key::By | Key::From);
    let is_date = ordinal || has_of || year.is_some() || is_led || name == Name::Sure || tokens.is_capital(month_at);
    let (year, next) = year.unwrap_or((Year::Any, next));
    is_date.then_some((Said::Day { year, month, day, until: day }, next))
}

/// `in 2022`, `since 2019`, `the year 2020`.
pub(super) fn year(tokens: &Tokens<'_>, at: usize, chained: bool) -> Read {
    let (value, digits, ordinal) = tokens.digits(at)?;
    let before = tokens.before(at);
    let is_led = tells_time(before)
        || chained
        || matches!(before, Key::By | Key::Between | Key::From | Key::Unit(Unit::Year, Number::One))
        || matches!(before, Key::Month(..));
    let fits = is_year(value, digits) && !ordinal && is_led && !counts_something(tokens, at + 1);
    fits.then_some((Said::Years { first: value as i16, count: 1 }, at + 1))
}

/// Whether the word at a place is what a number before it counts: `2000 requests`, `1999 days`.
fn counts_something(tokens: &Tokens<'_>, at: usize) -> bool {
    const NOT_PLURAL: [&str; 8] = ["was", "is", "has", "does", "his", "this", "as", "us"];
    const MEASURES: [&str; 12] = ["kb", "mb", "gb", "kib", "mib", "gib", "ms", "mhz", "ghz", "rpm", "px", "km"];
    if matches!(tokens.key(at), Key::Unit(_, Number::Many)) || tokens.touches(at) && matches!(tokens.mark(at), Some('-' | '_')) {
        return true;
    }
    if !matches!(tokens.what(at), Some(What::Word(..))) || tokens.is_capital(at) {
        return false;
    }
    let word = tokens.text(at);
    MEASURES.contains(&word) || word.ends_with('s') && word.len() > 2 && !NOT_PLURAL.contains(&word)
}

/// `summer 2022`, `the spring of 2021`, `in summer`.
pub(super) fn season(tokens: &Tokens<'_>, at: usize, month: i8, is_sure: bool) -> Read {
    let said = |year| Said::Months { year, month, count: 3 };
    match year_after(tokens, at + 1) {
        Some((year, next)) if is_sure || tokens.is_capital(at) || tells_time(tokens.before(at)) => Some((said(year), next)),
        None if is_sure && matches!(tokens.before(at), Key::In | Key::During) => Some((said(Year::Any), at + 1)),
        _ => None,
    }
}

/// `May` of `last May`, `May 8` of `next May 8`.
pub(super) fn turned_month(tokens: &Tokens<'_>, at: usize, month: i8, name: Name, turn: Turn) -> Read {
    let marches = matches!(tokens.key(at + 1), Key::On | Key::Of | Key::To);
    let is_name = match name {
        Name::Sure => true,
        Name::Short => tokens.is_capital(at),
        Name::Shared if turn == Turn::This => tokens.is_capital(at),
        Name::Shared => tokens.is_capital(at) || !marches,
    };
    if !is_name {
        return None;
    }
    Some(match day(tokens, at + 1) {
        Some((day, _)) => (Said::Day { year: Year::Turn(turn), month, day, until: day }, at + 2),
        None => (Said::Months { year: Year::Turn(turn), month, count: 1 }, at + 1),
    })
}

/// `summer` of `last summer`.
pub(super) fn turned_season(tokens: &Tokens<'_>, at: usize, month: i8, is_sure: bool, turn: Turn) -> Read {
    let falls = matches!(tokens.key(at + 1), Key::In | Key::Of | Key::From);
    (is_sure || !falls).then_some((Said::Months { year: Year::Turn(turn), month, count: 3 }, at + 1))
}

/// `2023-05`, `2023-05-24`, `2023/5/24`, `24/05/2023` where no month could be meant by the first.
pub(super) fn numeric(tokens: &Tokens<'_>, at: usize) -> Read {
    let part = |i: usize| match tokens.what(i) {
        Some(What::Digits(value, digits, false)) if i == at || tokens.touches(i) => Some((value, digits)),
        _ => None,
    };
    let mark = tokens.mark(at + 1).filter(|c| matches!(c, '-' | '/') && tokens.touches(at + 1))?;
    let joined = at > 0 && tokens.touches(at) && matches!(tokens.mark(at - 1), Some('-' | '/' | '.' | '_' | '@' | '#' | '='));
    let (first, second) = (part(at)?, part(at + 2).filter(|(_, digits)| *digits <= 2)?);
    let third = (tokens.mark(at + 3) == Some(mark) && tokens.touches(at + 3)).then(|| part(at + 4)).flatten();
    let next = at + if third.is_some() { 5 } else { 3 };
    let goes_on = tokens.touches(next)
        && match tokens.what(next) {
            Some(What::Mark('-' | '/' | '_' | '.' | '@')) => tokens.touches(next + 1),
            Some(What::Mark(_)) => false,
            Some(What::Foreign) => !tokens.text(next).starts_with('T') && tokens.text(next).is_ascii(),
            _ => true,
        };
    let month = |value: i32| (1..=12).contains(&value).then_some(value as i8);
    let day = |value: i32| (1..=31).contains(&value).then_some(value as i8);
    if joined || goes_on {
        return None;
    }
    let date = |year: i32, month, day| Said::Day { year: Year::Given(year as i16), month, day, until: day };
    let said = match third {
        Some((third, digits)) if is_year(first.0, first.1) && digits <= 2 => date(first.0, month(second.0)?, day(third)?),
        Some((third, digits)) if is_year(third, digits) && mark == '/' && first.1 <= 2 => match (first.0, second.0) {
            (d @ 13..=31, m) => date(third, month(m)?, day(d)?),
            (m, d @ 13..=31) => date(third, month(m)?, day(d)?),
            _ => return None,
        },
        None if is_year(first.0, first.1) && mark == '-' && second.1 == 2 => {
            Said::Months { year: Year::Given(first.0 as i16), month: month(second.0)?, count: 1 }
        }
        _ => return None,
    };
    Some((said, next))
}
