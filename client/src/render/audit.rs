//! Rows of the audit.
//!
//! Must not know: which command shows them.

use super::table::{Align, table};
use super::{Style, escape, id, time};
use tiro_schema::wire::memory::AuditRow;

/// Ids that a row shows on a terminal.
const IDS_SHOWN: usize = 3;

/// The rows as a table. In a pipe tab-separated lines without a head: time, access, method, outcome, client, pid, executable, space, ids.
pub fn rows(items: &[AuditRow], style: &Style) -> String {
    if !style.terminal {
        return items.iter().map(line).collect();
    }
    let head = ["when", "what", "outcome", "by", "ids"].map(|name| (name, Align::Left));
    let row = |row: &AuditRow| {
        vec![time::minute(&row.at, style), row.method.clone(), escape::terminal_line(&outcome(row)), by(row), ids(row, style)]
    };
    table(&head, &items.iter().map(row).collect::<Vec<_>>(), style)
}

fn line(row: &AuditRow) -> String {
    let (actor, outcome) = (&row.actor, outcome(row));
    let fields = [
        row.at.0.as_str(),
        &row.access,
        &row.method,
        &outcome,
        &actor.client,
        &actor.pid.to_string(),
        &actor.executable,
        &row.space,
        &row.ids.join(","),
    ];
    fields.map(escape::field).join("\t") + "\n"
}

fn outcome(row: &AuditRow) -> String {
    row.cut.as_ref().map_or_else(
        || row.outcome.clone(),
        |cut| format!("{} rows taken out: {} to {}, sha256 {}", cut.count, cut.first, cut.last, cut.hash),
    )
}

/// Declared name and process, and the program's file name where it is another.
fn by(row: &AuditRow) -> String {
    let actor = &row.actor;
    let program = actor.executable.rsplit('/').next().unwrap_or_default();
    let name = match actor.client.as_str() {
        "" => program.to_owned(),
        client if program.is_empty() || client.split('/').next() == Some(program) => client.to_owned(),
        client => format!("{client} ({program})"),
    };
    format!("{} {}", escape::terminal_line(&name), actor.pid)
}

fn ids(row: &AuditRow, style: &Style) -> String {
    let shown: Vec<&str> = row.ids.iter().take(IDS_SHOWN).map(|one| id(one, style)).collect();
    match row.ids.len().saturating_sub(IDS_SHOWN) {
        0 => shown.join(" "),
        more => format!("{} +{more}", shown.join(" ")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    // MEM-11
    #[test]
    fn a_row_says_who_did_what_with_which_outcome() {
        let ids: Vec<String> = (0..5).map(|n| format!("3f2a9c1{n}-0000-4000-8000-000000000001")).collect();
        let items: Vec<AuditRow> = serde_json::from_value(serde_json::json!([
            {"at": "2026-03-05T12:00:00.000Z", "method": "memory/recall", "access": "read", "space": "work", "ids": ids,
             "outcome": "done", "actor": {"uid": 1, "pid": 42, "executable": "/usr/bin/nvim", "client": "notes/2\t"}},
            {"at": "2026-03-05T11:00:00.000Z", "method": "audit/cut", "access": "write", "space": "", "ids": [], "outcome": "done",
             "cut": {"first": 1, "last": 256, "count": 256, "hash": "ab"}, "actor": {"uid": 1, "pid": 7, "executable": "", "client": "tirod"}}
        ]))
        .unwrap();
        let plain = rows(&items, &Style::PLAIN);
        assert!(
            plain.starts_with("2026-03-05T12:00:00.000Z\tread\tmemory/recall\tdone\tnotes/2\\t\t42\t/usr/bin/nvim\twork\t3f2a"),
            "{plain}"
        );
        assert!(plain.contains("256 rows taken out: 1 to 256, sha256 ab"), "{plain}");
        let shown = rows(&items, &Style { terminal: true, colour: false, width: 120 });
        assert!(shown.contains("(nvim) 42") && shown.contains("+2") && !shown.contains("-0000-"), "{shown}");
    }
}
