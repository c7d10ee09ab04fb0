//! The words of a text in their order, with only what is listed here folded: what decides whether two texts say the same.
//!
//! Must not know: what words mean, a second reading.

use super::numerals::{month, weekday};
use super::scan::{Kind, Piece};
use crate::memory::fingerprint::canonical;

/// One word in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    pub text: String,
    /// Its token, where it has one.
    pub token: Option<usize>,
}

/// What stands in a text beside its words.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub canonical: String,
    /// Operators, paths, brackets, flags, emoji: such a text is the same only when it is written the same.
    pub symbols: bool,
    text: String,
}

/// Words that may stand for each other in the same place, one set a line.
const SAME: [&[&str]; 34] = [
    &["each", "every"],
    &["afraid", "scared"],
    &["favourite", "favorite"],
    &["colour", "color"],
    &["children", "kids"],
    &["movie", "film"],
    &["movies", "films"],
    &["bought", "purchased"],
    &["buys", "purchases"],
    &["leaves", "departs"],
    &["leave", "depart"],
    &["phone", "telephone"],
    &["doctor", "physician"],
    &["forbidden", "prohibited", "banned"],
    &["allowed", "permitted"],
    &["planned", "scheduled"],
    &["starts", "begins"],
    &["needs", "requires"],
    &["need", "require"],
    &["database", "db"],
    &["dislike", "hate"],
    &["dislikes", "hates"],
    &["禁止", "不准", "不允许", "不许", "严禁"],
    &["医生", "大夫"],
    &["妻子", "老婆"],
    &["丈夫", "老公"],
    &["工作", "上班"],
    &["买", "购买"],
    &["怕", "害怕"],
    &["叫", "名叫"],
    &["用", "使用"],
    &["妈妈", "母亲"],
    &["爸爸", "父亲"],
    &["里", "里面", "内", "中"],
];
/// Phrases that may stand for each other in the same place: the first for the second.
const PHRASES: [(&[&str], &[&str]); 7] = [
    (&["'s", "name", "be"], &["be", "called"]),
    (&["be", "employed", "at"], &["works", "at"]),
    (&["be", "located", "in"], &["be", "in"]),
    (&["can", "not", "stand"], &["dislike"]),
    (&["due", "date"], &["deadline"]),
    (&["名字", "叫"], &["叫"]),
    (&["位于"], &["在"]),
];
/// Signs of money, which stand before their number, and the words, which stand behind.
const MONEY: [(&str, &str); 4] = [("$", "dollars"), ("€", "euros"), ("¥", "元"), ("￥", "元")];
/// Words that say nothing.
const SILENT: [&str; 8] = ["a", "an", "the", "please", "kindly", "really", "请", "的"];

/// Adds a piece to what is said. `before` is the piece before it, `next` the one behind.
pub(super) fn say(said: &mut Vec<Said>, piece: &Piece, next: Option<&Piece>, token: Option<usize>) {
    let mut push = |text: &str| said.push(Said { text: text.to_owned(), token });
    let lower = piece.text.to_lowercase();
    if piece.kind == Kind::Mark {
        return match lower.as_str() {
            ":" | "：" => push("be"),
            "," | "，" | "、" => push(","),
            "." | "!" | "。" | "！" | ";" | "；" | "\n" => push(";"),
            "\"" | "“" | "”" => {}
            mark => push(mark),
        };
    }
    let letter = piece.text == "A" && !piece.first;
    match lower.as_str() {
        word if SILENT.contains(&word) && !letter => {}
        "is" | "are" | "am" => push("be"),
        "cannot" => {
            push("can");
            push("not");
        }
        "为" if next.is_some_and(|piece| matches!(piece.kind, Kind::Number | Kind::Ident)) => push("是"),
        word => {
            let set = SAME.iter().find(|set| set.contains(&word));
            push(set.map_or(word, |set| set[0]));
        }
    }
    if piece.owner {
        push("'s");
    }
    // `not allowed` is `forbidden`.
    let [.., not, allowed] = said.as_mut_slice() else { return };
    if not.text == "not" && allowed.text == "allowed" {
        not.text = "forbidden".to_owned();
        not.token = allowed.token;
        said.pop();
    }
}

/// Puts a sign of money behind the number that was just said.
pub(super) fn turn_money(said: &mut [Said]) {
    let [.., sign, number] = said else { return };
    if let Some((_, word)) = MONEY.iter().find(|(money, _)| *money == sign.text) {
        sign.text = (*word).to_owned();
        std::mem::swap(sign, number);
    }
}

/// One form for the listed phrases.
fn fold_phrases(said: &mut Vec<Said>) {
    for (from, to) in PHRASES {
        let Some(at) = said.windows(from.len()).position(|words| words.iter().zip(from).all(|(w, f)| w.text == *f)) else {
            continue;
        };
        let token = said[at + from.len() - 1].token;
        said.splice(at..at + from.len(), to.iter().map(|text| Said { text: (*text).to_owned(), token }));
    }
}

/// One form for listed phrases; takes the ends of sentences off the end, and one for several.
pub(super) fn trim(said: &mut Vec<Said>) {
    fold_phrases(said);
    said.dedup_by(|a, b| a.text == ";" && b.text == ";");
    while said.last().is_some_and(|last| last.text == ";") {
        said.pop();
    }
}

impl Written {
    /// Looks at a text as it stands.
    pub fn new(text: &str) -> Written {
        Written { canonical: canonical(text), symbols: symbols(text), text: text.to_owned() }
    }

    /// Whether both write what they share in the same case.
    pub fn same_case(&self, other: &Written) -> bool {
        same_case(&self.text, &other.text)
    }
}

/// Whether anything stands there that is no word, number, or mark of ordinary prose.
fn symbols(text: &str) -> bool {
    const PROSE: &str = ".,!?;:'\"’‘“”…。，！？；：、「」『』《》—–%$€¥￥£";
    let chars: Vec<char> = text.trim().chars().collect();
    chars.iter().enumerate().any(|(at, c)| {
        let beside = |at: Option<usize>| at.and_then(|at| chars.get(at)).is_some_and(|c| c.is_alphanumeric());
        let inside = matches!(c, '-' | '‐' | '‑') && beside(at.checked_sub(1)) && beside(Some(at + 1));
        !(c.is_alphanumeric() || c.is_whitespace() || PROSE.contains(*c) || inside)
    })
}

/// Whether the words two texts share are written in the same case, but for the first of a sentence, `I`, days and months.
pub(in crate::memory) fn same_case(a: &str, b: &str) -> bool {
    let (a, b) = (runs(a), runs(b));
    let kept = |a: &[(String, bool)], b: &[(String, bool)]| {
        a.iter().all(|(word, first)| {
            if b.iter().any(|(other, _)| other == word) {
                return true;
            }
            let lower = word.to_lowercase();
            let mut others = b.iter().filter(|(other, _)| other.to_lowercase() == lower).peekable();
            if others.peek().is_none() || lower == "i" || weekday(&lower).is_some() || month(&lower).is_some() {
                return true;
            }
            let plain = |word: &str| !word.chars().skip(1).any(char::is_uppercase);
            others.any(|(other, other_first)| (*first || *other_first) && plain(word) && plain(other))
        })
    };
    kept(&a, &b) && kept(&b, &a)
}

/// Runs of letters and digits, and whether each is the first of its sentence.
fn runs(text: &str) -> Vec<(String, bool)> {
    let (mut runs, mut run, mut first) = (Vec::new(), String::new(), true);
    for c in text.chars().chain(['\n']) {
        if c.is_alphanumeric() {
            run.push(c);
            continue;
        }
        if !run.is_empty() {
            runs.push((std::mem::take(&mut run), first));
            first = false;
        }
        // A flag or a path begins no sentence.
        first = first && (c.is_whitespace() || matches!(c, '"' | '“' | '\'' | '‘'))
            || matches!(c, '.' | '!' | '?' | '\n' | '。' | '！' | '？');
    }
    runs
}
