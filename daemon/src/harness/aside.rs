//! What a model reads of a result or of pasted text: short ones as they are, longer ones made short, the whole set aside under a reference.
//!
//! By tokens: under [`limits::RESULT_WHOLE_TOKENS_MAX`] whole; up to [`limits::RESULT_DIGEST_TOKENS_MAX`] a fifth of it; beyond, a brief. Tools
//! whose results keep to a budget of their own are read whole. Must not know: the loop, the store.

use crate::limits;
use crate::session::NewResult;
use crate::tokens;
use crate::tool::{Digest, Format, digest};

/// What is read, and what is set aside for it.
#[derive(Debug, Clone)]
pub(super) struct Read {
    /// What the model reads.
    pub text: String,
    /// The whole, where it is not what is read.
    pub stored: Option<NewResult>,
}

/// Where a text comes from.
#[derive(Debug, Clone, Default)]
pub(super) struct Origin {
    /// The call it answers; empty for what a person pasted.
    pub call_id: String,
    /// The tool; empty for what a person pasted.
    pub tool: String,
    /// Whether the tool failed.
    pub is_error: bool,
    /// Members of JSON that stand whatever is left out.
    pub key_fields: Vec<String>,
}

/// The result of a tool as it is read. `number` is the one it gets where it is set aside.
pub(super) fn of_result(text: String, origin: Origin, number: u64) -> Read {
    let tokens = tokens::estimate(&text);
    if tokens < limits::RESULT_WHOLE_TOKENS_MAX {
        return Read { text, stored: None };
    }
    let is_brief = tokens > limits::RESULT_DIGEST_TOKENS_MAX;
    let tokens_max = if is_brief { limits::RESULT_BRIEF_TOKENS } else { tokens / limits::RESULT_DIGEST_DIVISOR };
    let short = digest(&text, &origin.key_fields, tokens_max);
    let kept = if is_brief { "kept aside, briefly" } else { "kept aside, in short" };
    let head = format!("[r{number}: {tokens} tokens of {}, {kept} below; read more of it with result_read]", named(&short));
    Read { text: format!("{head}\n{}", short.text), stored: Some(stored(text, origin, number, tokens, &short)) }
}

/// What a person pasted as it is read: its beginning and end as they are, for there stands what is wanted, the rest in short. None where it
/// is read whole.
pub(super) fn of_input(text: &str, number: u64) -> Option<Read> {
    let tokens = tokens::estimate(text);
    if tokens <= limits::RESULT_DIGEST_TOKENS_MAX {
        return None;
    }
    let (head, rest) = edge(text, false);
    let (tail, middle) = edge(rest, true);
    let short = digest(middle, &[], limits::INPUT_DIGEST_TOKENS);
    let note = format!(
        "[r{number}: {tokens} tokens were pasted and are kept aside; what is left out here can be read with result_read]"
    );
    let parts = [head, note.as_str(), short.text.as_str(), tail];
    let read = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n");
    let stored = stored(text.to_owned(), Origin::default(), number, tokens, &short);
    Some(Read { text: read, stored: Some(stored) })
}

/// Whole lines at the beginning, or the end, within [`limits::INPUT_EDGE_TOKENS`]; and the rest.
fn edge(text: &str, is_end: bool) -> (&str, &str) {
    let mut left = limits::INPUT_EDGE_TOKENS;
    let mut bytes = 0;
    let lines: Box<dyn Iterator<Item = &str>> =
        if is_end { Box::new(text.split_inclusive('\n').rev()) } else { Box::new(text.split_inclusive('\n')) };
    for line in lines {
        match left.checked_sub(tokens::estimate(line)) {
            Some(rest) => left = rest,
            None => break,
        }
        bytes += line.len();
    }
    if is_end { (&text[text.len() - bytes..], &text[..text.len() - bytes]) } else { text.split_at(bytes) }
}

fn named(short: &Digest) -> &'static str {
    match short.format {
        Format::Json => "JSON",
        Format::Text => "text",
    }
}

fn stored(text: String, origin: Origin, number: u64, tokens: u32, short: &Digest) -> NewResult {
    let brief: String = short.text.lines().next().unwrap_or_default().chars().take(limits::RESULT_BRIEF_CHARS_MAX).collect();
    let is_json = short.format == Format::Json;
    NewResult { number, call_id: origin.call_id, tool: origin.tool, is_json, is_error: origin.is_error, tokens, brief, text }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    // RES-1
    #[test]
    fn results_are_read_by_their_size() {
        let words = |n: usize| "word ".repeat(n);
        let whole = of_result(words(300), Origin::default(), 1);
        assert!(whole.stored.is_none() && whole.text == words(300));
        let middle = of_result(format!("{}\nThe total is 42.\n", "plain line here\n".repeat(400)), Origin::default(), 2);
        let tokens = tokens::estimate(&middle.stored.as_ref().unwrap().text);
        assert!(tokens::estimate(&middle.text) < tokens / 5 + 40 && middle.text.contains("The total is 42."), "{}", middle.text);
        let large = of_result(words(12_000_000 / 5), Origin::default(), 3);
        assert!(tokens::estimate(&large.text) < limits::RESULT_BRIEF_TOKENS + 40 && large.text.starts_with("[r3: "));
        assert_eq!(large.stored.unwrap().text.len(), 12_000_000);
    }

    // RES-1: what is wanted stands at the beginning or the end of what was pasted
    #[test]
    fn pasted_text_keeps_its_beginning_and_its_end() {
        assert!(of_input(&"short ".repeat(100), 1).is_none());
        let text = format!("Find the failing test in this log:\n{}\nAnd answer in one sentence.", "ok 1 passed\n".repeat(4_000));
        let read = of_input(&text, 4).unwrap();
        assert!(
            read.text.starts_with("Find the failing test") && read.text.ends_with("And answer in one sentence."),
            "{}",
            read.text
        );
        assert!(tokens::estimate(&read.text) < 1_500 && read.text.contains("[r4: "));
        assert_eq!(read.stored.unwrap().text, text);
    }
}
