//! Markdown in sections: a section under each heading, with the headings above it, and what it links to.
//!
//! Must not know: files, what becomes of a section.

use super::front_matter::{self, FrontMatter};

/// A section of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Section {
    /// The headings above it, and its own.
    pub path: Vec<String>,
    /// What stands under the heading, up to the next.
    pub body: String,
    /// Names of notes it links to, and words it marks with `#`.
    pub tags: Vec<String>,
}

/// A text in sections.
pub fn sections(text: &str) -> (FrontMatter, Vec<Section>) {
    let (front, rest) = front_matter::split(text);
    let mut found: Vec<Section> = Vec::new();
    let mut open: Vec<(usize, String)> = Vec::new();
    let mut body: Vec<&str> = Vec::new();
    let mut fence: Option<String> = None;
    let close = |open: &[(usize, String)], body: &mut Vec<&str>, found: &mut Vec<Section>| {
        let text = body.join("\n").trim().to_owned();
        body.clear();
        if !text.is_empty() {
            found.push(Section { path: open.iter().map(|(_, name)| name.clone()).collect(), tags: marks(&text), body: text });
        }
    };
    for line in rest.lines() {
        if let Some(mark) = &fence {
            if line.trim_start().starts_with(mark.as_str()) && line.trim().chars().all(|c| mark.starts_with(c)) {
                fence = None;
            }
            body.push(line);
            continue;
        }
        if let Some(mark) = fence_of(line) {
            fence = Some(mark);
            body.push(line);
            continue;
        }
        // A line of = or - under a paragraph of one line makes that a heading.
        let under = underline(line).filter(|_| body.last().is_some_and(|above| !above.trim().is_empty()));
        let alone = body.len() < 2 || body[body.len().saturating_sub(2)].trim().is_empty();
        let heading = match (heading(line), under.filter(|_| alone)) {
            (Some(heading), _) => Some(heading),
            (None, Some(level)) => body.pop().map(|above| (level, above.trim().to_owned())),
            (None, None) => None,
        };
        match heading {
            Some((level, name)) => {
                close(&open, &mut body, &mut found);
                open.retain(|(above, _)| *above < level);
                open.push((level, name));
            }
            None => body.push(line),
        }
    }
    close(&open, &mut body, &mut found);
    (front, found)
}

/// The fence that a line opens, if it opens one.
fn fence_of(line: &str) -> Option<String> {
    let line = line.trim_start();
    ["```", "~~~"].into_iter().find(|mark| line.starts_with(mark)).map(|mark| {
        let mark_char = mark.chars().next().unwrap_or('`');
        line.chars().take_while(|c| *c == mark_char).collect()
    })
}

/// `## Name ##`: its level and name.
fn heading(line: &str) -> Option<(usize, String)> {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let line = line.trim();
    let level = line.chars().take_while(|c| *c == '#').count();
    let rest = &line[level..];
    if indent > 3 || !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with(char::is_whitespace)) {
        return None;
    }
    let name = rest.trim();
    let closed = name.trim_end_matches('#');
    let name = if closed.is_empty() || closed.ends_with(char::is_whitespace) { closed.trim_end() } else { name };
    (!name.is_empty()).then(|| (level, name.to_owned()))
}

fn underline(line: &str) -> Option<usize> {
    let line = line.trim_end();
    match line.chars().next() {
        Some('=') if line.chars().all(|c| c == '=') => Some(1),
        Some('-') if line.len() > 1 && line.chars().all(|c| c == '-') => Some(2),
        _ => None,
    }
}

/// What a text links to, `[[name#part|shown]]` and `[shown](other/name.md)`, and what it marks with `#`; outside code.
fn marks(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut add = |name: &str| {
        let name = name.trim();
        if !name.is_empty() && !found.iter().any(|known| known == name) {
            found.push(name.to_owned());
        }
    };
    let mut fence: Option<String> = None;
    for line in text.lines() {
        match (&fence, fence_of(line)) {
            (Some(open), Some(mark)) if mark.starts_with(open.as_str()) => fence = None,
            (None, Some(mark)) => fence = Some(mark),
            (None, None) => marks_of_line(line, &mut add),
            _ => {}
        }
    }
    found
}

fn marks_of_line(line: &str, add: &mut dyn FnMut(&str)) {
    // What stands between backticks is code.
    for part in line.split('`').step_by(2) {
        let mut rest = part;
        while let Some(at) = rest.find("[[") {
            let inside = &rest[at + 2..];
            let Some(end) = inside.find("]]") else { break };
            add(inside[..end].split(['|', '#', '^']).next().unwrap_or_default());
            rest = &inside[end + 2..];
        }
        let mut rest = part;
        while let Some(at) = rest.find("](") {
            let inside = &rest[at + 2..];
            let Some(end) = inside.find(')') else { break };
            if let Some(name) = note_of(&inside[..end]) {
                add(&name);
            }
            rest = &inside[end + 1..];
        }
        for word in part.split_whitespace().filter_map(|word| word.strip_prefix('#')) {
            let word: &str = word.trim_end_matches(|c: char| !c.is_alphanumeric());
            let is_tag = word.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '/'));
            if is_tag && word.chars().any(char::is_alphabetic) {
                add(word);
            }
        }
    }
}

/// The name of the note that a link leads to; none where it leads elsewhere.
fn note_of(target: &str) -> Option<String> {
    let target = target.split_whitespace().next()?.trim_matches(['<', '>']);
    let path = target.split(['#', '?']).next()?;
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let name = path.rsplit('/').next()?;
    let stem = name.strip_suffix(".md").or_else(|| name.strip_suffix(".markdown"))?;
    Some(stem.replace("%20", " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<(String, String)> {
        sections(text).1.into_iter().map(|section| (section.path.join(" > "), section.body)).collect()
    }

    fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|(path, body)| ((*path).to_owned(), (*body).to_owned())).collect()
    }

    #[test]
    fn headings_part_a_text_and_code_does_not() {
        let text =
            "before\n\n# One\na\n## Two ##\n```sh\n# no heading\n```\n### C#\nc\n# Three\n\n####### seven\n#tag no heading\n";
        assert_eq!(
            of(text),
            pairs(&[
                ("", "before"),
                ("One", "a"),
                ("One > Two", "```sh\n# no heading\n```"),
                ("One > Two > C#", "c"),
                ("Three", "####### seven\n#tag no heading"),
            ])
        );
    }

    #[test]
    fn underlined_headings_count_and_rules_do_not() {
        assert_eq!(
            of("Title\n=====\na\n\nPart\n---\nb\n\n---\n\nc"),
            pairs(&[("Title", "a"), ("Title > Part", "b\n\n---\n\nc")])
        );
        assert_eq!(of("two\nlines\n---\n"), pairs(&[("", "two\nlines\n---")]));
    }

    #[test]
    fn links_and_marked_words_are_tags() {
        let tags = marks(
            "see [[Deploy Guide#steps|this]], [x](../ops/on%20call.md \"t\"), [web](https://a.b/c.md) #infra #123 `#no [[no]]`\n```\n[[no]] #no\n```\n[[Deploy Guide]]",
        );
        assert_eq!(tags, ["Deploy Guide", "on call", "infra"]);
    }
}
