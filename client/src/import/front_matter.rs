//! What stands before a Markdown text between two lines of `---`: title, tags, a date. The plain part of YAML that notes use, no more.
//!
//! What is not understood is left out, never refused. Must not know: Markdown.

use super::time;
use tiro_schema::wire::Timestamp;

/// What a note says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FrontMatter {
    /// Its title.
    pub title: Option<String>,
    /// Its labels.
    pub tags: Vec<String>,
    /// When it was written, or what it is about happened.
    pub at: Option<Timestamp>,
}

/// Names of a date, the best first.
const DATES: [&str; 4] = ["date", "created", "created_at", "updated"];

/// Splits a text into what it says of itself and the rest.
pub fn split(text: &str) -> (FrontMatter, &str) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let fence = ["---", "+++"].into_iter().find(|fence| {
        let first = text.lines().next().unwrap_or_default();
        first.trim_end() == *fence
    });
    let Some(fence) = fence else { return (FrontMatter::default(), text) };
    let mut at = text.find('\n').map_or(text.len(), |end| end + 1);
    let begin = at;
    for line in text[begin..].split_inclusive('\n') {
        if line.trim_end() == fence || (fence == "---" && line.trim_end() == "...") {
            return (read(&text[begin..at]), &text[at + line.len()..]);
        }
        at += line.len();
    }
    // A rule at the top of a text, and no end: nothing is said of itself.
    (FrontMatter::default(), text)
}

fn read(block: &str) -> FrontMatter {
    let mut found = FrontMatter::default();
    let mut dates: [Option<Timestamp>; 4] = [None, None, None, None];
    let mut list_of = String::new();
    for line in block.lines() {
        let item = line.trim_start().strip_prefix("- ").map(plain);
        if let Some(item) = item {
            if is_labels(&list_of) {
                found.tags.push(item);
            }
            continue;
        }
        if line.starts_with(char::is_whitespace) || line.trim_start().starts_with('#') {
            continue;
        }
        let Some((name, value)) = line.split_once(':').or_else(|| line.split_once('=')) else { continue };
        let (name, value) = (name.trim().to_ascii_lowercase(), value.trim());
        if name == "title" {
            found.title = Some(plain(value)).filter(|title| !title.is_empty());
        } else if is_labels(&name) {
            let list = value.trim_start_matches('[').trim_end_matches(']');
            let parts = list.split(',').map(plain).filter(|tag| !tag.is_empty());
            found.tags.extend(parts);
        } else if let Some(n) = DATES.iter().position(|date| *date == name) {
            dates[n] = time::of_text(&plain(value));
        }
        list_of = name;
    }
    for tag in &mut found.tags {
        *tag = tag.trim_start_matches('#').to_owned();
    }
    found.at = dates.into_iter().flatten().next();
    found
}

fn is_labels(name: &str) -> bool {
    matches!(name, "tags" | "tag" | "keywords" | "categories")
}

/// A value without its quotes and without a comment behind it.
fn plain(value: &str) -> String {
    let value = value.trim();
    for quote in ['"', '\''] {
        if let Some(inner) = value.strip_prefix(quote)
            && let Some(end) = inner.find(quote)
        {
            return inner[..end].to_owned();
        }
    }
    value.split(" #").next().unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn title_tags_and_date_are_read_in_each_form() {
        let text = "---\ntitle: \"A: note\"\ntags: [infra, '#ops', ]\naliases:\n  - other\ndate: 2026-03-05\n---\n# Body\n";
        let (front, rest) = split(text);
        assert_eq!((front.title.as_deref(), rest), (Some("A: note"), "# Body\n"));
        assert_eq!(front.tags, ["infra", "ops"]);
        assert_eq!(front.at.map(|at| at.0).as_deref(), Some("2026-03-05T00:00:00.000Z"));
        let (front, _) = split("---\r\ntags:\r\n- one\r\n- two # why\r\nupdated: soon\r\n---\r\nx");
        assert_eq!((front.tags, front.at), (vec!["one".to_owned(), "two".to_owned()], None));
        let (front, rest) = split("+++\ntitle = \"Toml\"\ntags = [\"a\", \"b\"]\n+++\nx");
        assert_eq!((front.title.as_deref(), front.tags.len(), rest), (Some("Toml"), 2, "x"));
    }

    #[test]
    fn what_is_no_front_matter_stays_in_the_text() {
        for text in ["---\nno end\n", "text\n---\nx: 1\n---\n", "", "---"] {
            assert_eq!(split(text), (FrontMatter::default(), text), "{text:?}");
        }
    }
}
