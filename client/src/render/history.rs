//! Histories and conflicts.
//!
//! Must not know: which command shows them.

use super::table::{Align, table};
use super::{Style, escape, id, time, wrap};
use tiro_schema::wire::memory::{Conflict, HistoryResult, Link, Memory, Version};

/// A whole history: the versions as a table, then what is linked with the memory, a line each.
pub fn whole(history: &HistoryResult, style: &Style) -> String {
    let mut text = versions(&history.items, style);
    text.push_str(&links(history, style));
    text
}

/// The versions, newest first. In a pipe tab-separated lines without a head: version, time, change, by, text.
pub fn versions(items: &[Version], style: &Style) -> String {
    if !style.terminal {
        let line = |v: &Version| {
            format!("{}\t{}\t{}\t{}\t{}\n", v.version, v.at, v.change, escape::field(by(v)), escape::field(&v.text))
        };
        return items.iter().map(line).collect();
    }
    let head = [("#", Align::Right), ("when", Align::Left), ("what", Align::Left), ("by", Align::Left), ("text", Align::Left)];
    let row = |v: &Version| {
        let changed = if v.changed.is_empty() { String::new() } else { format!(" ({})", v.changed.join(", ")) };
        vec![
            v.version.to_string(),
            time::minute(&v.at, style),
            format!("{}{changed}", v.change),
            escape::terminal_line(by(v)),
            escape::terminal_line(&v.text),
        ]
    };
    table(&head, &items.iter().map(row).collect::<Vec<_>>(), style)
}

/// Who wrote a version; `-` where the audit does not say any more.
fn by(version: &Version) -> &str {
    version
        .by
        .as_ref()
        .map_or("-", |actor| if actor.client.is_empty() { actor.executable.as_str() } else { actor.client.as_str() })
}

/// What is linked with a memory, a line each; empty where nothing is.
pub fn links(history: &HistoryResult, style: &Style) -> String {
    let mut text = String::new();
    let mut add = |name: &str, links: &[Link]| {
        for link in links {
            let words = format!("{} [{}] {}", id(&link.id, style), link.status, escape::terminal_line(&link.text));
            text.push_str(&format!("{} {words}\n", style.dim(&wrap::pad(name, 14))));
        }
    };
    add("took place of", &history.before);
    add("gave way to", &history.after);
    add("merged in", &history.merged);
    for conflict in &history.conflicts {
        let with = conflict.with.as_deref().map_or("a forgotten memory", |with| id(with, style));
        let words = format!("{} with {with}: {} ({})", id(&conflict.id, style), conflict.state, conflict.reason);
        text.push_str(&format!("{} {words}\n", style.dim(&wrap::pad("conflict", 14))));
    }
    text
}

/// Open conflicts, both sides under each other. In a pipe a line each: id, found, reason, first id, first text, second id, second text.
pub fn conflicts(items: &[Conflict], style: &Style) -> String {
    if !style.terminal {
        let side = |memory: &Memory| format!("{}\t{}", memory.id, escape::field(&memory.text));
        let line = |c: &Conflict| format!("{}\t{}\t{}\t{}\t{}\n", c.id, c.opened_at, c.reason, side(&c.first), side(&c.second));
        return items.iter().map(line).collect();
    }
    let mut text = String::new();
    for conflict in items {
        let head = format!("{}  {}  {}", id(&conflict.id, style), time::day(&conflict.opened_at, style), conflict.reason);
        text.push_str(&format!("{}\n", style.bold(&head)));
        for (name, memory) in [("first", &conflict.first), ("second", &conflict.second)] {
            let lead = format!("  {} {}  {}  ", wrap::pad(name, 6), id(&memory.id, style), time::day(&memory.occurred_at, style));
            let room = style.width.saturating_sub(31).max(10);
            text.push_str(&format!("{}{}\n", style.dim(&lead), wrap::cut(&escape::terminal_line(&memory.text), room)));
            for source in memory.sources.iter().filter_map(super::hits::source) {
                text.push_str(&style.dim(&format!("         told in {source}\n")));
            }
        }
    }
    if !items.is_empty() {
        text.push_str(&style.dim("tiro conflicts resolve CONFLICT first|second|both|merge\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn history() -> HistoryResult {
        serde_json::from_value(serde_json::json!({
            "id": "3f2a9c1d-0000-4000-8000-000000000001",
            "items": [
                {"version": 2, "change": "updated", "at": "2026-03-05T12:00:00.000Z", "text": "port 49222\nnow", "status": "active",
                 "changed": ["text"], "method": "memory/update", "by": {"uid": 1, "pid": 2, "executable": "/bin/x", "client": "tiro"}},
                {"version": 1, "change": "created", "at": "2026-03-04T12:00:00.000Z", "text": "port 22", "status": "active", "changed": []}
            ],
            "before": [{"id": "8b1e04aa-1", "text": "port 21", "status": "superseded", "createdAt": "2026-03-01T12:00:00.000Z"}],
            "after": [], "merged": [],
            "conflicts": [{"id": "9b1c22d0-1", "state": "keptFirst", "reason": "number", "openedAt": "2026-03-01T12:00:00.000Z"}]
        }))
        .unwrap()
    }

    // MEM-8
    #[test]
    fn a_history_is_a_line_a_version_and_then_its_links() {
        let plain = whole(&history(), &Style::PLAIN);
        assert!(plain.starts_with("2\t2026-03-05T12:00:00.000Z\tupdated\ttiro\tport 49222\\nnow\n1\t"), "{plain}");
        assert!(plain.contains("took place of  8b1e04aa-1 [superseded] port 21"), "{plain}");
        assert!(plain.contains("9b1c22d0-1 with a forgotten memory: keptFirst (number)"), "{plain}");
        let shown = whole(&history(), &Style { terminal: true, colour: false, width: 100 });
        assert!(shown.contains("updated (text)") && shown.contains("tiro") && !shown.contains("8b1e04aa-1"), "{shown}");
    }
}
