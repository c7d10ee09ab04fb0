//! Times and lengths of time for people.
//!
//! Must not know: what they belong to.

use jiff::fmt::temporal::Pieces;
use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Timestamp as Instant};
use tiro_schema::wire::Timestamp;

/// A time as `2026-03-05 13:07` on a terminal, in this machine's zone or with the offset it came with; as it came in a pipe.
pub fn minute(at: &Timestamp, style: &super::Style) -> String {
    let offset = offset(at).map_or_else(String::new, |offset| format!(" {offset}"));
    if style.terminal { shown(at, "%Y-%m-%d %H:%M") + &offset } else { at.0.clone() }
}

/// A time as `2026-03-05` on a terminal, in this machine's zone or at the offset it came with; as it came in a pipe.
pub fn day(at: &Timestamp, style: &super::Style) -> String {
    if style.terminal { shown(at, "%Y-%m-%d") } else { at.0.clone() }
}

/// A stretch of time as the days in it, the second instant not in it; as both came in a pipe.
pub fn days_of(from: &Timestamp, to: &Timestamp, style: &super::Style) -> String {
    if !style.terminal {
        return format!("{from} to {to}");
    }
    let before = to.0.parse::<Instant>().and_then(|end| end.checked_sub(SignedDuration::from_millis(1)));
    let last = match (before, offset(to)) {
        (Ok(end), Some(offset)) => Timestamp(end.display_with_offset(offset).to_string()),
        (Ok(end), None) => Timestamp(end.to_string()),
        _ => to.clone(),
    };
    let (first, last) = (shown(from, "%Y-%m-%d"), shown(&last, "%Y-%m-%d"));
    if first == last { first } else { format!("{first} to {last}") }
}

/// The offset a time came with; none for UTC.
fn offset(at: &Timestamp) -> Option<Offset> {
    let pieces = Pieces::parse(at.0.as_str()).ok()?;
    pieces.to_numeric_offset().filter(|offset| offset.seconds() != 0)
}

fn shown(at: &Timestamp, format: &str) -> String {
    match (at.0.parse::<Instant>(), offset(at)) {
        (Ok(instant), Some(offset)) => offset.to_datetime(instant).strftime(format).to_string(),
        (Ok(instant), None) => instant.to_zoned_datetime(TimeZone::system()).strftime(format).to_string(),
        (Err(_), _) => at.0.clone(),
    }
}

/// Days as `5 min`, `3 h`, `12 d` or `2.1 y`.
pub fn days(days: f32) -> String {
    match days {
        d if d < 0.0 => "0".to_owned(),
        d if d < 1.0 / 24.0 => format!("{:.0} min", d * 1440.0),
        d if d < 1.0 => format!("{:.0} h", d * 24.0),
        d if d < 730.0 => format!("{d:.0} d"),
        d => format!("{:.1} y", d / 365.25),
    }
}

/// Milliseconds as `12 ms` or `3.4 s`.
pub fn milliseconds(ms: u64) -> String {
    if ms < 1000 { format!("{ms} ms") } else { format!("{}.{} s", ms / 1000, ms % 1000 / 100) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_read_well() {
        assert_eq!(
            (days(0.01), days(0.5), days(12.2), days(900.0)),
            ("14 min".into(), "12 h".into(), "12 d".into(), "2.5 y".into())
        );
        assert_eq!((milliseconds(7), milliseconds(3450)), ("7 ms".into(), "3.4 s".into()));
    }

    // M11
    #[test]
    fn an_offset_that_was_given_is_shown() {
        let terminal = super::super::Style { terminal: true, colour: false, width: 80 };
        let at = |text: &str| Timestamp(text.into());
        assert_eq!(minute(&at("2026-01-02T12:45:00.000+08:00"), &terminal), "2026-01-02 12:45 +08");
        assert_eq!(day(&at("2026-01-02T00:45:00.000+08:00"), &terminal), "2026-01-02");
        let week = (at("2023-05-15T00:00:00.000+08:00"), at("2023-05-22T00:00:00.000+08:00"));
        assert_eq!(days_of(&week.0, &week.1, &terminal), "2023-05-15 to 2023-05-21");
        assert_eq!(days_of(&week.0, &week.1, &super::super::Style::PLAIN), format!("{} to {}", week.0, week.1));
    }

    #[test]
    fn a_pipe_gets_times_as_they_came() {
        let at = Timestamp("2026-03-05T12:00:00.000Z".into());
        assert_eq!(day(&at, &super::super::Style::PLAIN), at.0);
    }
}
