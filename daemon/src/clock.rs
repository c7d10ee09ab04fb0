//! The one source of time: the system's clock, or one that tests own.
//!
//! Times inside the daemon are Unix milliseconds; RFC 3339 is read and written here and nowhere else.
//! Must not know: who asks.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Instant;
use tiro_schema::wire::Timestamp;

/// Tells the time.
pub trait Clock: Send + Sync {
    /// Unix milliseconds now.
    fn now_ms(&self) -> i64;
}

/// A clock that can be shared.
pub type SharedClock = Arc<dyn Clock>;

/// The system's clock, or one that started at a given instant and runs on from there.
pub struct SystemClock {
    started_at: Option<(i64, Instant)>,
}

impl SystemClock {
    /// The system's clock.
    pub fn new() -> Self {
        SystemClock { started_at: None }
    }

    /// A clock that reads `unix_ms` now and runs on (`TIRO_TEST_NOW`).
    pub fn starting_at(unix_ms: i64) -> Self {
        SystemClock { started_at: Some((unix_ms, Instant::now())) }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now_ms(&self) -> i64 {
        match self.started_at {
            Some((at, since)) => at.saturating_add(i64::try_from(since.elapsed().as_millis()).unwrap_or(i64::MAX)),
            None => jiff::Timestamp::now().as_millisecond(),
        }
    }
}

/// A clock that stands until it is set.
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// A clock that reads `unix_ms`.
    pub fn new(unix_ms: i64) -> Self {
        ManualClock(AtomicI64::new(unix_ms))
    }

    /// Sets it, forward or back.
    pub fn set(&self, unix_ms: i64) {
        self.0.store(unix_ms, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now_ms(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }
}

/// Reads an RFC 3339 instant: Unix milliseconds, and the offset it was written with in minutes east of UTC (none for `Z`).
///
/// # Errors
/// A sentence that says what is wrong with the text.
pub fn parse(text: &str) -> Result<(i64, Option<i16>), String> {
    let instant: jiff::Timestamp =
        text.trim().parse().map_err(|_| format!("{text:?} is not an RFC 3339 instant such as 2026-03-05T12:00:00Z"))?;
    let offset = jiff::fmt::temporal::Pieces::parse(text.trim())
        .ok()
        .and_then(|pieces| pieces.to_numeric_offset())
        .and_then(|offset| i16::try_from(offset.seconds() / 60).ok())
        .filter(|minutes| *minutes != 0);
    Ok((instant.as_millisecond(), offset))
}

/// Writes Unix milliseconds as RFC 3339 with milliseconds, in UTC or at the given offset (minutes east of UTC).
pub fn format(unix_ms: i64, offset_min: Option<i16>) -> Timestamp {
    let instant = jiff::Timestamp::from_millisecond(unix_ms).unwrap_or(if unix_ms < 0 {
        jiff::Timestamp::MIN
    } else {
        jiff::Timestamp::MAX
    });
    let text = match offset_min.and_then(|m| jiff::tz::Offset::from_seconds(i32::from(m) * 60).ok()) {
        Some(offset) => instant.display_with_offset(offset).to_string(),
        None => instant.to_string(),
    };
    Timestamp(with_milliseconds(&text))
}

/// Rewrites the fraction of an RFC 3339 text to exactly three digits.
fn with_milliseconds(text: &str) -> String {
    let Some(seconds_end) = text.find('T').map(|t| t + 9).filter(|end| *end <= text.len()) else {
        return text.to_owned();
    };
    let (head, tail) = text.split_at(seconds_end);
    let digits: String = tail.strip_prefix('.').unwrap_or("").chars().take_while(char::is_ascii_digit).collect();
    let zone = if digits.is_empty() { tail } else { &tail[1 + digits.len()..] };
    format!("{head}.{:0<3.3}{zone}", digits)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn instants_are_written_with_milliseconds_and_in_utc() {
        assert_eq!(format(0, None).0, "1970-01-01T00:00:00.000Z");
        assert_eq!(format(1_683_554_160_120, None).0, "2023-05-08T13:56:00.120Z");
        assert_eq!(format(1_683_554_160_000, Some(480)).0, "2023-05-08T21:56:00.000+08:00");
    }

    #[test]
    fn offsets_are_read_and_kept() {
        assert_eq!(parse("2023-05-08T21:56:00+08:00").unwrap(), (1_683_554_160_000, Some(480)));
        assert_eq!(parse("2023-05-08T13:56:00.120Z").unwrap(), (1_683_554_160_120, None));
        assert!(parse("yesterday").is_err());
    }

    #[test]
    fn a_clock_years_ahead_or_behind_formats() {
        for ms in [i64::MIN, i64::MAX, -1, 253_402_300_799_999] {
            assert!(!format(ms, None).0.is_empty());
        }
    }
}
