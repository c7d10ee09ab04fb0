//! Long texts in pieces, cut where they part by themselves: between paragraphs, else lines, else sentences, else words.
//!
//! Must not know: what the texts are.

/// Cuts a text into pieces of at most `max` bytes (at least 64), without the blank lines between them.
pub fn pieces(text: &str, max: usize) -> Vec<&str> {
    let max = max.max(64);
    let mut rest = text.trim();
    let mut found = Vec::new();
    while rest.len() > max {
        let at = cut(rest, max);
        let piece = rest[..at].trim_end();
        if !piece.is_empty() {
            found.push(piece);
        }
        rest = rest[at..].trim_start();
    }
    if !rest.is_empty() {
        found.push(rest);
    }
    found
}

/// Where to cut: the last place of the best sort in the second half of what fits.
fn cut(text: &str, max: usize) -> usize {
    let end = floor(text, max);
    let half = floor(text, max / 2);
    let window = &text[half..end];
    let after = |mark: &str| window.rfind(mark).map(|at| half + at + mark.len());
    after("\n\n")
        .or_else(|| after("\n"))
        .or_else(|| [". ", "! ", "? ", "。", "！", "？"].iter().filter_map(|mark| after(mark)).max())
        .or_else(|| after(" "))
        .unwrap_or(end)
}

/// The last boundary of a character at or before a byte.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// The paragraphs of a text packed into pieces of at most `max` bytes: small ones stand together.
pub fn paragraphs(text: &str, max: usize) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for paragraph in text.split("\n\n").flat_map(|paragraph| pieces(paragraph, max)) {
        match found.last_mut() {
            Some(last) if last.len() + 2 + paragraph.len() <= max => {
                last.push_str("\n\n");
                last.push_str(paragraph);
            }
            _ => found.push(paragraph.to_owned()),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_where_it_parts_and_nothing_is_lost() {
        let text = format!("{}\n\n{}", "a ".repeat(60).trim_end(), "b ".repeat(60).trim_end());
        let cut = pieces(&text, 200);
        assert_eq!(cut.len(), 2);
        assert!(cut[0].ends_with('a') && cut[1].starts_with('b'));
        let long = "x".repeat(1000);
        assert_eq!(pieces(&long, 100).concat(), long);
        assert!(pieces("  \n ", 100).is_empty());
    }

    // M21: text of any script is cut at a character.
    #[test]
    fn no_character_is_cut() {
        let text = "备份每周日运行。🦀é\u{200d}".repeat(40);
        for max in 64..200 {
            let cut = pieces(&text, max);
            assert!(cut.iter().all(|piece| piece.len() <= max));
            assert_eq!(cut.concat(), text);
        }
    }

    #[test]
    fn small_paragraphs_stand_together() {
        assert_eq!(paragraphs("one\n\ntwo\n\n\n\nthree", 64), ["one\n\ntwo\n\nthree"]);
        assert_eq!(paragraphs(&format!("one\n\n{}", "b".repeat(70)), 70).len(), 2);
    }
}
