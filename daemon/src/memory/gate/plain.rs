//! The plain form of a text: what cues and word lists are written against. Lines, sentences and clauses of it.
//!
//! Lower case, contractions written out, chat spellings as words, spaces single, marks of lists and emphasis gone. Pure.
//! Must not know: what is looked for.

/// A sentence in its plain form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sentence<'a> {
    /// As it was written.
    pub raw: &'a str,
    /// The words, without the mark that ends them.
    pub plain: String,
    /// Whether a question mark ends it.
    pub asked: bool,
}

/// The sentences of one line, plain.
pub(super) fn sentences(line: &str) -> Vec<Sentence<'_>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let ends = match c {
            '。' | '！' | '？' | '!' | '?' => true,
            // A full stop ends a sentence where white space follows, and the word before it is no abbreviation.
            '.' => chars.peek().is_none_or(|(_, next)| next.is_whitespace()) && !is_abbreviation(&line[start..at]),
            _ => false,
        };
        if ends {
            push(&mut found, &line[start..at], matches!(c, '?' | '？'));
            start = at + c.len_utf8();
        }
    }
    push(&mut found, &line[start..], false);
    found
}

fn push<'a>(found: &mut Vec<Sentence<'a>>, text: &'a str, asked: bool) {
    let plain = plain(text);
    if plain.is_empty() {
        // A mark alone belongs to what stands before it: "really?!".
        if let (Some(last), true) = (found.last_mut(), asked) {
            last.asked = true;
        }
        return;
    }
    found.push(Sentence { raw: text.trim(), plain, asked });
}

fn is_abbreviation(text: &str) -> bool {
    let word = text.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or("");
    matches!(
        word.to_ascii_lowercase().as_str(),
        "mr" | "mrs" | "ms" | "dr" | "prof" | "st" | "no" | "vs" | "approx" | "e.g" | "i.e" | "etc" | "inc" | "jr" | "sr"
    ) || (word.chars().count() == 1 && word.chars().all(char::is_alphabetic))
}

/// The plain form of a piece of text.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let trimmed = text.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '-' | '*' | '•' | '>' | '#' | '·' | '…'));
    for word in trimmed.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        let before = out.len();
        push_word(&mut out, word);
        if out.len() == before && out.ends_with(' ') {
            out.pop();
        }
    }
    while out.ends_with([' ', '.', ',', '，', ';', '；', '…', '~', '～']) {
        out.pop();
    }
    out
}

/// Writes one word in its plain form.
fn push_word(out: &mut String, word: &str) {
    let start = out.len();
    for c in word.chars() {
        match c {
            '’' | '‘' | '`' | '´' => out.push('\''),
            '*' | '"' | '“' | '”' | '「' | '」' => {}
            // Pictures say nothing of lasting worth.
            '\u{1F000}'..='\u{1FAFF}' | '\u{2600}'..='\u{27BF}' | '\u{FE0F}' | '\u{200B}'..='\u{200D}' => {}
            c if c.is_ascii() => out.push(c.to_ascii_lowercase()),
            c => out.extend(c.to_lowercase()),
        }
    }
    let tail = out[start..].trim_end_matches([',', ';', ':', ')', '.']).len();
    let (bare, marks) = (out[start..start + tail].to_owned(), out[start + tail..].to_owned());
    if let Some(written) = written_out(&bare) {
        out.truncate(start);
        out.push_str(&written);
        out.push_str(&marks);
    }
}

/// A contraction or a chat spelling written out; `None` where the word stays; empty where it says nothing.
fn written_out(word: &str) -> Option<String> {
    if !word.is_ascii() || word.len() > 16 {
        return None;
    }
    let whole = match word {
        "im" | "i'm" => "i am",
        "ive" => "i have",
        "id" if word.contains('\'') => "i would",
        "whats" => "what is",
        "thats" => "that is",
        "hows" => "how is",
        "wheres" => "where is",
        "whos" => "who is",
        "theres" => "there is",
        "its" => "it is",
        "pls" | "plz" | "pleas" => "please",
        "u" => "you",
        "ur" => "your",
        "r" => "are",
        "wanna" => "want to",
        "gonna" => "going to",
        "gotta" => "have to",
        "lemme" => "let me",
        "gimme" => "give me",
        "cannot" | "cant" | "can't" => "can not",
        "wont" | "won't" => "will not",
        "dont" => "do not",
        "doesnt" => "does not",
        "didnt" => "did not",
        "isnt" => "is not",
        "arent" => "are not",
        "shouldnt" => "should not",
        "mustnt" => "must not",
        "let's" => "lets",
        "b/c" | "cuz" | "coz" | "bc" => "because",
        "really" | "actually" | "honestly" | "basically" | "literally" | "kinda" | "btw" | "tbh" | "imo" | "imho"
        | "definitely" => "",
        _ => return suffix_written_out(word),
    };
    Some(whole.to_owned())
}

fn suffix_written_out(word: &str) -> Option<String> {
    let at = word.find('\'')?;
    let (head, tail) = word.split_at(at);
    let written = match tail {
        "'re" => format!("{head} are"),
        "'ll" => format!("{head} will"),
        "'ve" => format!("{head} have"),
        "'d" => format!("{head} would"),
        "'t" if head.ends_with('n') => format!("{} not", &head[..head.len() - 1]),
        "'s" if matches!(
            head,
            "it" | "that" | "what" | "who" | "where" | "how" | "when" | "there" | "here" | "he" | "she" | "everything" | "this"
        ) =>
        {
            format!("{head} is")
        }
        _ => return None,
    };
    Some(written)
}

/// The clauses of a plain sentence.
pub(super) fn clauses(plain: &str) -> impl Iterator<Item = &str> {
    let mut rest = plain;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let cut = first_break(rest);
        let (clause, more) = match cut {
            Some((at, mark)) => (&rest[..at], &rest[at + mark..]),
            None => (rest, ""),
        };
        rest = more;
        Some(clause.trim_matches([' ', ',', '-', '–', '—']))
    })
    .filter(|clause| !clause.is_empty())
}

/// Where the next clause begins, and how long the mark before it is.
fn first_break(text: &str) -> Option<(usize, usize)> {
    text.char_indices().find_map(|(at, c)| match c {
        '，' | '；' | '：' | '、' | '—' | '–' | ';' | '(' | ')' | '（' | '）' => Some((at, c.len_utf8())),
        ',' | ':' if text[at + 1..].starts_with(' ') => Some((at, 2)),
        ' ' => [" - ", " so ", " and can ", " but ", " and could ", " and please "]
            .iter()
            .find(|mark| text[at..].starts_with(**mark))
            .map(|mark| (at, if mark.trim() == "so" || mark.trim() == "but" || mark.trim() == "-" { mark.len() } else { 5 })),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_plain(text: &str, expected: &str) {
        assert_eq!(plain(text), expected);
    }

    #[test]
    fn chat_spellings_become_words() {
        check_plain("I'm  really tired…", "i am tired");
        check_plain("pls DON’T touch it,", "please do not touch it");
        check_plain("- we're done", "we are done");
        check_plain("I can't, it's late 😀", "i can not, it is late");
        check_plain("Ann's car", "ann's car");
        check_plain("“好的”，谢谢～", "好的，谢谢");
    }

    #[test]
    fn sentences_end_where_they_end() {
        let of = |text: &str| sentences(text).into_iter().map(|s| (s.plain, s.asked)).collect::<Vec<_>>();
        assert_eq!(of("Use v1.2. Why?"), [("use v1.2".to_owned(), false), ("why".to_owned(), true)]);
        assert_eq!(of("Mrs. Kay called. OK"), [("mrs. kay called".to_owned(), false), ("ok".to_owned(), false)]);
        assert_eq!(of("好的。明天见？！"), [("好的".to_owned(), false), ("明天见".to_owned(), true)]);
        assert_eq!(of("...").len(), 0);
    }

    #[test]
    fn clauses_are_parted_by_marks_and_joints() {
        let of = |text| clauses(text).collect::<Vec<_>>();
        assert_eq!(of("i am vegan, so what could i cook"), ["i am vegan", "so what could i cook"]);
        assert_eq!(of("我吃素，晚上做什么"), ["我吃素", "晚上做什么"]);
        assert_eq!(of("at 10:30"), ["at 10:30"]);
    }

    // M21
    #[test]
    fn any_cut_of_a_mixed_text_has_a_form() {
        let text = "用户 说 “Hello” 👨‍👩‍👧 don’t — I'm\u{200B} naïve Ｘ, so";
        for (i, _) in text.char_indices() {
            let _ = sentences(&text[..i]);
            let _: Vec<_> = clauses(&text[i..]).collect();
        }
    }
}
