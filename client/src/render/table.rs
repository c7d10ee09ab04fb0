//! Tables: with rules on a terminal, tab-separated in a pipe.
//!
//! Must not know: what stands in the cells.

use super::Style;
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, TableComponent, presets};

/// How a column stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A table with a head. Cells hold text that is safe to show already. In a pipe: a head line and tab-separated lines.
pub fn table(head: &[(&str, Align)], rows: &[Vec<String>], style: &Style) -> String {
    if !style.terminal {
        let mut text = head.iter().map(|(name, _)| *name).collect::<Vec<_>>().join("\t") + "\n";
        for row in rows {
            text.push_str(&row.join("\t"));
            text.push('\n');
        }
        return text;
    }
    framed(head, rows, style.width)
}

fn framed(head: &[(&str, Align)], rows: &[Vec<String>], width: usize) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    for part in [TableComponent::HeaderLines, TableComponent::MiddleHeaderIntersections] {
        table.set_style(part, '─');
    }
    table.set_width(u16::try_from(width).unwrap_or(u16::MAX));
    table.set_header(head.iter().map(|(name, align)| cell(name, *align)));
    for row in rows {
        table.add_row(row.iter().zip(head).map(|(text, (_, align))| cell(text, *align)));
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 1));
    }
    table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

fn cell(text: &str, align: Align) -> Cell {
    let align = match align {
        Align::Left => CellAlignment::Left,
        Align::Right => CellAlignment::Right,
    };
    Cell::new(text).set_alignment(align)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_gets_tabs_and_a_terminal_gets_columns() {
        let head = [("id", Align::Left), ("score", Align::Right)];
        let rows = [vec!["甲乙".to_owned(), "0.5".to_owned()]];
        assert_eq!(table(&head, &rows, &Style::PLAIN), "id\tscore\n甲乙\t0.5\n");
        let shown = table(&head, &rows, &Style { terminal: true, colour: false, width: 60 });
        assert!(shown.contains("score") && shown.contains('─') && !shown.contains('\t'), "{shown}");
    }
}
