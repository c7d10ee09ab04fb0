//! The demo's memories: notes in two languages and one conversation, as lines that `memory/import` takes.
//!
//! They end on a fixed day; shifting them so that this day is today keeps what the demo shows the same in every year.
//! Must not know: what is asked about them.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

/// The space they are in.
pub const SPACE: &str = "demo";

/// The file; `tiro import` takes it as it is.
const LINES: &str = include_str!("../../../data/demo.jsonl");

/// The day the file was written for.
const WRITTEN_FOR: &str = "2026-01-29T12:00:00Z";

/// The lines, as if today were the day they were written for.
pub fn lines(now: Timestamp) -> Vec<Value> {
    let shift = WRITTEN_FOR.parse::<Timestamp>().map_or(SignedDuration::ZERO, |day| now.duration_since(day));
    LINES.lines().filter_map(|line| serde_json::from_str(line).ok()).map(|line| shifted(line, shift)).collect()
}

fn shifted(mut line: Value, by: SignedDuration) -> Value {
    let at = line.get("occurredAt").and_then(Value::as_str).and_then(|at| at.parse::<Timestamp>().ok());
    if let Some(at) = at.and_then(|at| at.checked_add(by).ok()) {
        line["occurredAt"] = Value::String(at.to_string());
    }
    line
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use tiro_schema::wire::memory::ExportLine;

    #[test]
    fn every_line_is_one_that_import_takes() {
        let lines = lines("2031-05-01T00:00:00Z".parse().unwrap());
        assert_eq!(lines.len(), LINES.lines().count());
        assert!(lines.len() >= 60);
        let all: Vec<ExportLine> = lines.into_iter().map(|line| serde_json::from_value(line).unwrap()).collect();
        assert!(all.iter().all(|line| line.memory.space.as_deref() == Some(SPACE)));
        let said =
            all.iter().filter(|line| line.memory.source.as_ref().is_some_and(|s| s.speaker.is_some() && s.position.is_some()));
        assert!(said.count() >= 12);
        let chinese = |text: &str| text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
        assert!(all.iter().filter(|line| chinese(&line.memory.text)).count() >= 20);
    }

    #[test]
    fn the_memories_stay_as_old_as_they_were() {
        let newest = |now: &str| {
            let lines = lines(now.parse().unwrap());
            let now: Timestamp = now.parse().unwrap();
            let ages =
                lines.iter().map(|line| now.duration_since(line["occurredAt"].as_str().unwrap().parse().unwrap()).as_hours());
            ages.min().unwrap()
        };
        assert_eq!(newest("2026-01-29T12:00:00Z"), newest("2033-07-04T00:00:00Z"));
        assert!((0..72).contains(&newest("2033-07-04T00:00:00Z")));
    }
}
