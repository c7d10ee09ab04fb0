//! What the place that text goes to can show: colours, width, whether it is a terminal at all.
//!
//! Must not know: what is shown.

use std::io::IsTerminal;

/// Width taken when a terminal does not tell its own.
const WIDTH_DEFAULT: usize = 80;

/// What one stream can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// A person reads it.
    pub terminal: bool,
    /// It shows colours.
    pub colour: bool,
    /// Columns, for a terminal.
    pub width: usize,
}

impl Style {
    /// A pipe or a file.
    pub const PLAIN: Style = Style { terminal: false, colour: false, width: WIDTH_DEFAULT };

    /// What standard output can show.
    pub fn of_stdout() -> Self {
        Self::of(&std::io::stdout())
    }

    /// What standard error can show.
    pub fn of_stderr() -> Self {
        Self::of(&std::io::stderr())
    }

    fn of<S: IsTerminal + std::os::fd::AsFd>(stream: &S) -> Self {
        if !stream.is_terminal() {
            return Self::PLAIN;
        }
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        let width = terminal_size::terminal_size_of(stream).map_or(WIDTH_DEFAULT, |(columns, _)| usize::from(columns.0));
        Style { terminal: true, colour: !refused && !dumb, width: width.max(20) }
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.colour && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// Less important.
    pub fn dim(&self, text: &str) -> String {
        self.paint("2", text)
    }

    /// More important.
    pub fn bold(&self, text: &str) -> String {
        self.paint("1", text)
    }

    /// Wrong.
    pub fn red(&self, text: &str) -> String {
        self.paint("31", text)
    }

    /// Right.
    pub fn green(&self, text: &str) -> String {
        self.paint("32", text)
    }

    /// Doubtful.
    pub fn yellow(&self, text: &str) -> String {
        self.paint("33", text)
    }

    /// A name to type or to follow.
    pub fn cyan(&self, text: &str) -> String {
        self.paint("36", text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_only_where_they_show() {
        assert_eq!(Style::PLAIN.red("x"), "x");
        assert_eq!(Style { terminal: true, colour: true, width: 80 }.red("x"), "\x1b[31mx\x1b[0m");
        assert_eq!(Style { terminal: true, colour: false, width: 80 }.bold("x"), "x");
    }
}
