//! Whole memories, and lists of them.
//!
//! Must not know: which command shows them.

use super::{Style, escape, hits, id, time, wrap};
use tiro_schema::wire::Open;
use tiro_schema::wire::memory::{Memory, OccurredAtSource, Status};

/// A list. On a terminal a line a memory, cut to the width; in a pipe tab-separated lines:
/// id, recorded, category, status, text.
pub fn list(items: &[Memory], style: &Style) -> String {
    let mut text = String::new();
    for item in items {
        if style.terminal {
            let lead = format!(
                "{}  {}  {}  ",
                id(&item.id, style),
                time::day(&item.created_at, style),
                wrap::pad(&item.category.to_string(), 10)
            );
            let mut words = escape::terminal_line(&item.text);
            if !matches!(item.status, Open::Known(Status::Active)) {
                words = format!("[{}] {words}", item.status);
            }
            for (word, at) in [("from", &item.valid_from), ("until", &item.valid_to)] {
                if let Some(at) = at {
                    words = format!("[valid {word} {}] {words}", time::day(at, style));
                }
            }
            if item.pinned {
                words = format!("* {words}");
            }
            let room = style.width.saturating_sub(34).max(10);
            text.push_str(&format!("{}{}\n", style.dim(&lead), wrap::cut(&words, room)));
        } else {
            let (id, at, words) = (&item.id, &item.created_at, escape::field(&item.text));
            text.push_str(&format!("{id}\t{at}\t{}\t{}\t{words}\n", item.category, item.status));
        }
    }
    text
}

/// One memory with everything known about it: the text, then a name and a value a line.
pub fn whole(memory: &Memory, style: &Style) -> String {
    let mut text =
        if style.terminal { wrap::lines(&escape::terminal(&memory.text), style.width).join("\n") } else { memory.text.clone() };
    text.push_str("\n\n");
    for (name, value) in members(memory, style) {
        text.push_str(&format!("{} {value}\n", style.dim(&wrap::pad(name, 14))));
    }
    text
}

fn members(memory: &Memory, style: &Style) -> Vec<(&'static str, String)> {
    let minute = |at| time::minute(at, style);
    let known_from = match memory.occurred_at_source {
        Open::Known(OccurredAtSource::Given) => "",
        Open::Known(OccurredAtSource::Text) => " (as the text tells)",
        _ => " (when recorded)",
    };
    let mut all = vec![
        ("id", memory.id.clone()),
        ("version", memory.version.to_string()),
        ("space", escape::terminal_line(&memory.space)),
        ("kind", memory.kind.to_string()),
        ("category", memory.category.to_string()),
        ("status", memory.status.to_string()),
        ("importance", format!("{:.2}", memory.importance)),
        ("pinned", if memory.pinned { "yes" } else { "no" }.to_owned()),
        ("recorded", minute(&memory.created_at)),
        ("changed", minute(&memory.updated_at)),
        ("occurred", format!("{}{known_from}", minute(&memory.occurred_at))),
        ("told", format!("{} x", memory.seen_count)),
    ];
    let used = memory.last_used_at.as_ref().map_or_else(String::new, |at| format!(", last {}", minute(at)));
    all.push(("used", format!("{} x{used}", memory.use_count)));
    if !memory.tags.is_empty() {
        all.push(("tags", escape::terminal_line(&memory.tags.join(", "))));
    }
    if !memory.entities.is_empty() {
        all.push(("entities", escape::terminal_line(&memory.entities.join(", "))));
    }
    all.extend(memory.sources.iter().filter_map(hits::source).map(|source| ("source", source)));
    all.extend(memory.valid_from.as_ref().map(|at| ("valid from", minute(at))));
    all.extend(memory.valid_to.as_ref().map(|at| ("valid to", minute(at))));
    if let Some(told) = &memory.told {
        let happened = told.occurred_from.as_ref().zip(told.occurred_to.as_ref());
        all.extend(happened.map(|(from, to)| ("text tells of", time::days_of(from, to, style))));
        all.extend(told.valid_from.as_ref().map(|at| ("holds from", format!("{} (as the text tells)", minute(at)))));
        all.extend(told.valid_to.as_ref().map(|at| ("holds until", format!("{} (as the text tells)", minute(at)))));
    }
    all.extend(memory.supersedes.clone().map(|id| ("supersedes", id)));
    all.extend(memory.superseded_by.clone().map(|id| ("superseded by", id)));
    if !memory.conflicts.is_empty() {
        all.push(("conflicts", memory.conflicts.join(", ")));
    }
    all
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn memory() -> Memory {
        serde_json::from_value(serde_json::json!({
            "id": "3f2a9c1d-0000-4000-8000-000000000001", "version": 2, "space": "personal", "kind": "semantic", "category": "preference",
            "text": "喜欢深色主题\nand tabs", "tags": ["ui"], "entities": [], "sources": [{"program": "tiro"}], "seenCount": 1, "importance": 0.5,
            "status": "archived", "pinned": true, "createdAt": "2026-03-05T12:00:00.000Z", "updatedAt": "2026-03-05T12:00:00.000Z",
            "occurredAt": "2026-03-05T12:00:00.000Z", "occurredAtSource": "recorded", "useCount": 3
        }))
        .unwrap()
    }

    #[test]
    fn a_list_is_one_line_a_memory() {
        let plain = list(&[memory()], &Style::PLAIN);
        assert_eq!(
            plain,
            "3f2a9c1d-0000-4000-8000-000000000001\t2026-03-05T12:00:00.000Z\tpreference\tarchived\t喜欢深色主题\\nand tabs\n"
        );
        let shown = list(&[memory()], &Style { terminal: true, colour: false, width: 60 });
        assert_eq!(shown.lines().count(), 1);
        assert!(shown.contains("* [archived] 喜欢深色主题"), "{shown}");
        let mut lapsed = memory();
        lapsed.valid_to = Some(tiro_schema::wire::Timestamp("2026-03-04T12:00:00.000Z".into()));
        let shown = list(&[lapsed], &Style { terminal: true, colour: false, width: 90 });
        assert!(shown.contains("* [valid until 2026-03-0"), "{shown}");
    }

    #[test]
    fn a_whole_memory_names_every_member_it_has() {
        let text = whole(&memory(), &Style::PLAIN);
        for part in [
            "喜欢深色主题\nand tabs",
            "version        2",
            "(when recorded)",
            "used           3 x",
            "tags           ui",
            "source         tiro",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(!text.contains("valid from"));
    }

    // M10
    #[test]
    fn dates_are_shown_with_where_they_come_from() {
        let mut told = memory();
        told.occurred_at_source = Open::Known(OccurredAtSource::Text);
        told.told = serde_json::from_value(serde_json::json!({
            "occurredFrom": "2023-05-15T00:00:00.000Z", "occurredTo": "2023-05-22T00:00:00.000Z", "validTo": "2024-03-01T00:00:00.000Z"
        }))
        .unwrap();
        let text = whole(&told, &Style::PLAIN);
        for part in ["(as the text tells)", "text tells of  2023-05-15", "to 2023-05-22", "holds until    2024-03-01"] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}
