//! A failure as standard error shows it: what failed, why, what to do.
//!
//! Must not know: which command failed.

use super::{Style, escape, wrap};

/// Three short paragraphs; `why` and `hint` may be empty.
pub fn problem(what: &str, why: &[String], hint: &str, style: &Style) -> String {
    let mut text = format!("{} {}\n", style.red("error:"), escape::terminal(what));
    for line in why {
        text.push_str(&format!("  {}\n", escape::terminal(line)));
    }
    if !hint.is_empty() {
        let hint = escape::terminal(hint);
        let width = if style.terminal { style.width.saturating_sub(6) } else { usize::MAX / 2 };
        for (i, line) in wrap::lines(&hint, width).iter().enumerate() {
            let lead = if i == 0 { format!("{} ", style.cyan("hint:")) } else { "      ".to_owned() };
            text.push_str(&format!("{lead}{line}\n"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_why_and_what_to_do_stand_on_their_own_lines() {
        let text = problem("cannot remember", &["the disk is full".into()], "free some space", &Style::PLAIN);
        assert_eq!(text, "error: cannot remember\n  the disk is full\nhint: free some space\n");
        assert_eq!(problem("x\u{1b}[2J", &[], "", &Style::PLAIN), "error: x\\u{1b}[2J\n");
    }
}
