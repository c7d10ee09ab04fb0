//! Times and lengths of time for people.
//!
//! Must not know: what they belong to.

use jiff::Timestamp as Instant;
use jiff::tz::TimeZone;
use tiro_schema::wire::Timestamp;

/// A time as `2026-03-05 13:07` in this machine's zone on a terminal; as it came in a pipe.
pub fn minute(at: &Timestamp, style: &super::Style) -> String {
    shown(at, style, "%Y-%m-%d %H:%M")
}

/// A time as `2026-03-05` on a terminal; as it came in a pipe.
pub fn day(at: &Timestamp, style: &super::Style) -> String {
    shown(at, style, "%Y-%m-%d")
}

fn shown(at: &Timestamp, style: &super::Style, format: &str) -> String {
    match at.0.parse::<Instant>() {
        Ok(instant) if style.terminal => instant.to_zoned_datetime(TimeZone::system()).strftime(format).to_string(),
        _ => at.0.clone(),
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

    #[test]
    fn a_pipe_gets_times_as_they_came() {
        let at = Timestamp("2026-03-05T12:00:00.000Z".into());
        assert_eq!(day(&at, &super::super::Style::PLAIN), at.0);
    }
}
