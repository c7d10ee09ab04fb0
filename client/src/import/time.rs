//! Times as other programs write them, as times of the wire.
//!
//! What cannot be read is no time: none is ever made up. Must not know: formats.

use jiff::Timestamp as Instant;
use serde_json::Value;
use tiro_schema::wire::Timestamp;

/// Numbers above this are milliseconds: as seconds they would lie past the year 5000.
const SECONDS_MAX: f64 = 1e11;

/// A time written as seconds (or milliseconds) since 1970, as a number or a text of one, or as RFC 3339.
pub fn of_value(value: &Value) -> Option<Timestamp> {
    match value {
        Value::Number(number) => of_seconds(number.as_f64()?),
        Value::String(text) => of_text(text),
        _ => None,
    }
}

/// A time written as RFC 3339, or as a number. One without an offset is taken as UTC, which is what programs mean that leave it out.
pub fn of_text(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if let Ok(instant) = text.parse::<Instant>() {
        return Some(Timestamp(written(instant)));
    }
    if let Ok(civil) = text.parse::<jiff::civil::DateTime>() {
        return jiff::tz::TimeZone::UTC.to_timestamp(civil).ok().map(|instant| Timestamp(written(instant)));
    }
    text.parse::<f64>().ok().and_then(of_seconds)
}

/// Seconds (or milliseconds) since 1970. Zero and less is how programs write that they do not know.
pub fn of_seconds(seconds: f64) -> Option<Timestamp> {
    if !seconds.is_finite() || seconds <= 0.0 {
        return None;
    }
    let ms = if seconds > SECONDS_MAX { seconds } else { seconds * 1000.0 };
    // Within what an i64 holds: anything larger is no time of any calendar.
    if ms > 9e15 {
        return None;
    }
    Instant::from_millisecond(ms.round() as i64).ok().map(|instant| Timestamp(written(instant)))
}

fn written(instant: Instant) -> String {
    format!("{instant:.3}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn times_of_every_form_are_read_and_nothing_else_is() {
        let read = |value: Value| of_value(&value).map(|time| time.0);
        for value in
            [json!(1_765_644_057.454), json!(1_765_644_057_454_u64), json!("2025-12-13T16:40:57.454Z"), json!("1765644057.454")]
        {
            assert_eq!(read(value.clone()).as_deref(), Some("2025-12-13T16:40:57.454Z"), "{value}");
        }
        assert_eq!(read(json!("2024-09-03T10:16:05.490548-07:00")).as_deref(), Some("2024-09-03T17:16:05.490Z"));
        assert_eq!(read(json!("2026-03-05")).as_deref(), Some("2026-03-05T00:00:00.000Z"));
        assert_eq!(read(json!("2026-03-05 14:00:00")).as_deref(), Some("2026-03-05T14:00:00.000Z"));
        for value in [json!(null), json!(0), json!(-5), json!("soon"), json!(""), json!(1e300), json!({"t": 1}), json!("NaN")] {
            assert_eq!(read(value.clone()), None, "{value}");
        }
    }
}
