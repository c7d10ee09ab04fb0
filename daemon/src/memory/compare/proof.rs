//! What must be shown before a text may be dropped, rewritten or retired: likeness alone never is enough.
//!
//! The same: the same words in the same order. More of the same: all its words, in order. A later value: the same sentence but for one
//! value of the same kind, in a place that holds one value at a time. Must not know: stores, candidates, clocks.

use super::decide::{Finding, Relation};
use super::lexicon::does;
use super::said::Said;
use super::tokens::{Class, ROLES, Reading};
use tiro_schema::wire::memory::ConflictReason;

/// Words of a value at most.
const VALUE_WORDS_MAX: usize = 4;
/// What a value never has in it: then more than a value differs.
const FRAME: [&str; 26] = [
    "be", "was", "were", "has", "have", "had", "and", "or", "not", "no", "never", ",", ";", "?", "that", "'s", "在", "和", "与",
    "跟", "是", "有", "不", "没", "没有", "被",
];
/// Words of one value at a time in other sentences, and of many things or errands in these.
const LOOSE: [&str; 58] = [
    "run",
    "runs",
    "running",
    "take",
    "takes",
    "deploy",
    "deploys",
    "call",
    "calls",
    "lunch",
    "dinner",
    "breakfast",
    "drink",
    "start",
    "starts",
    "study",
    "studies",
    "drive",
    "drives",
    "set",
    "sets",
    "use",
    "uses",
    "contact",
    "note",
    "slot",
    "shift",
    "plan",
    "goal",
    "target",
    "topic",
    "subject",
    "stage",
    "point",
    "points",
    "own",
    "owns",
    "manage",
    "manages",
    "belong",
    "belongs",
    "represent",
    "represents",
    "code",
    "id",
    "action",
    "跑",
    "运行",
    "部署",
    "吃",
    "喝",
    "订",
    "花",
    "开",
    "目标",
    "阶段",
    "会员",
    "主题",
];
/// Things that are in one place at a time.
const THINGS: [&str; 24] = [
    "office",
    "keys",
    "key",
    "warehouse",
    "car",
    "bike",
    "passport",
    "wallet",
    "laptop",
    "umbrella",
    "headquarters",
    "studio",
    "钥匙",
    "办公室",
    "仓库",
    "护照",
    "钱包",
    "车",
    "自行车",
    "总部",
    "工作室",
    "雨伞",
    "电脑",
    "笔记本",
];

/// Keeps of a finding what is shown.
pub(super) fn proven(found: Finding, a: &Reading, b: &Reading, antonyms: bool) -> Finding {
    let near = Finding::plain(Relation::Near);
    match found.relation {
        Relation::Duplicate if !same(a, b) => near,
        Relation::Updated if !more(a, b) => near,
        Relation::Superseded | Relation::Conflict => {
            let denied = matches!(found.reason, ConflictReason::Denied | ConflictReason::Roles);
            if denied || antonyms || b.change || b.stopper || other_value(a, b) { found } else { near }
        }
        Relation::Near | Relation::Unrelated if elsewhere(a, b) => {
            Finding { relation: Relation::Conflict, reason: ConflictReason::Value }
        }
        _ => found,
    }
}

/// The same words in the same order.
fn same(a: &Reading, b: &Reading) -> bool {
    if !a.written.same_case(&b.written) {
        return false;
    }
    let words = |reading: &Reading| -> Vec<String> { reading.said.iter().map(|said| said.text.clone()).collect() };
    a.written.canonical == b.written.canonical
        || !a.written.symbols && !b.written.symbols && !a.said.is_empty() && words(a) == words(b)
}

/// All words of the first in their order, and more.
fn more(a: &Reading, b: &Reading) -> bool {
    if a.written.symbols {
        return b.written.canonical.starts_with(&a.written.canonical);
    }
    if !a.written.same_case(&b.written) || a.negations != b.negations {
        return false;
    }
    let (mut at, mut after_number) = (0, false);
    for said in &b.said {
        if a.said.get(at).is_some_and(|next| next.text == said.text) {
            at += 1;
            after_number = class(b, said) == Some(Class::Number);
        } else {
            // `5` is not more of `5 k`.
            if after_number && !ROLES.contains(&said.text.as_str()) && said.text != "," && said.text != ";" {
                return false;
            }
            after_number = false;
        }
    }
    at == a.said.len()
}

fn class(reading: &Reading, said: &Said) -> Option<Class> {
    said.token.and_then(|token| reading.tokens.get(token)).map(|token| token.class)
}

/// Two texts that differ in one value.
struct Frame<'a> {
    before: &'a [Said],
    after: &'a [Said],
    /// What the values are.
    kind: Class,
}

/// Where both are one sentence but for one value of one kind.
fn frame<'a>(a: &'a Reading, b: &Reading) -> Option<Frame<'a>> {
    let (x, y) = (&a.said, &b.said);
    let most = x.len().min(y.len());
    let before = (0..most).take_while(|at| x[*at].text == y[*at].text).count();
    let after = (0..most - before).take_while(|at| x[x.len() - 1 - at].text == y[y.len() - 1 - at].text).count();
    let (values_a, values_b) = (&x[before..x.len() - after], &y[before..y.len() - after]);
    let kind = kind(a, values_a)?;
    let (other, at) = (self::kind(b, values_b)?, before.checked_sub(1).is_some_and(|last| x[last].text == "at"));
    // `at 9`, `at 9:30`.
    let hours = at && matches!((kind, other), (Class::Number, Class::Time) | (Class::Time, Class::Number));
    let fits = kind == other || hours;
    fits.then(|| Frame { before: &x[..before], after: &x[x.len() - after..], kind })
}

/// What a value is; none when it is more than a value.
fn kind(reading: &Reading, value: &[Said]) -> Option<Class> {
    let part = |said: &Said| FRAME.contains(&said.text.as_str()) || ROLES.contains(&said.text.as_str());
    if value.is_empty() || value.len() > VALUE_WORDS_MAX || value.iter().any(part) {
        return None;
    }
    let mut kinds = Vec::new();
    for said in value {
        let Some(token) = said.token.and_then(|token| reading.tokens.get(token)) else { continue };
        let unit =
            token.class == Class::Word && (token.does(does::ADVERB) || token.entry.apart != 0 && kinds.contains(&Class::Number));
        let next = matches!(said.text.as_str(), "next" | "下");
        // Berlin is a listed word and Munich is not: a capital within the sentence makes both names.
        let capital = token.at > 0 && token.text.starts_with(char::is_uppercase);
        let class = if token.class == Class::Ident || token.class == Class::Word && capital { Class::Name } else { token.class };
        if !unit && !next && !kinds.contains(&class) {
            kinds.push(class);
        }
    }
    match kinds.as_slice() {
        [kind] => Some(*kind),
        // `Oak Street`, and `Dr. Hall` behind its title.
        [Class::Word, Class::Name] | [Class::Name, Class::Word] => Some(Class::Name),
        _ => None,
    }
}

/// A place with one value at a time, and another value of the kind in it.
fn other_value(a: &Reading, b: &Reading) -> bool {
    let Some(frame) = frame(a, b) else { return false };
    let (behind, within) = (tokens(a, frame.before), tokens(a, frame.after));
    let of = |bits: u32| behind.iter().chain(&within).any(|(token, text)| token.does(bits) && !LOOSE.contains(text));
    let fixed = behind.iter().chain(&within).any(|(token, _)| token.does(does::FIXED));
    let dated = matches!(frame.kind, Class::Number | Class::Time);
    if fixed {
        return dated || a.has_verb || frame.before.last().is_some_and(|said| said.text == "在");
    }
    let event = (a.copula || behind.iter().any(|(token, _)| token.han())) && dated && of(does::EVENT);
    let told = |reading: &Reading| reading.past || reading.said.iter().any(|said| matches!(said.text.as_str(), "了" | "过"));
    if told(a) || told(b) {
        return event && !a.said.iter().any(|said| matches!(said.text.as_str(), "了" | "过"));
    }
    if event && frame.before.last().is_some_and(|said| said.text == "于" || said.text.ends_with('于')) {
        return true;
    }
    let errand = |reading: &Reading| reading.has_verb && !reading.copula && reading.verb_at == Some(0) && !behind_han(reading);
    if errand(a) || errand(b) || frame.before.last().is_some_and(|said| matches!(said.text.as_str(), "with" | "about")) {
        return false;
    }
    let verb_first = a.verb_at.is_none_or(|verb| behind.len() >= verb);
    if !verb_first {
        // `Ann is our lead`, `Bob is our lead`.
        return frame.before.is_empty() && a.copula && a.definite_end && of(does::ATTRIBUTE);
    }
    let counts = frame.kind == Class::Number && a.said.iter().any(|said| matches!(said.text.as_str(), "has" | "have" | "有"));
    let often =
        frame.kind == Class::Number && frame.before.last().is_some_and(|said| matches!(said.text.as_str(), "each" | "每"));
    let aged = a.copula && dated;
    let states = a.copula && frame.kind == Class::Word && apart(a, b);
    of(does::ATTRIBUTE | does::SINGLE) || counts || often || aged || states || prefers(a) || !a.has_verb && measured(a, &frame)
}

/// In Chinese the subject may be left out of what is no errand: `每分钟限流100次`.
fn behind_han(reading: &Reading) -> bool {
    reading.tokens.first().is_some_and(|token| token.han() && !token.does(does::VERB))
}

fn tokens<'a>(reading: &'a Reading, said: &'a [Said]) -> Vec<(&'a super::tokens::Token, &'a str)> {
    let mut tokens: Vec<(usize, &str)> = said.iter().filter_map(|said| Some((said.token?, said.text.as_str()))).collect();
    tokens.dedup_by_key(|(token, _)| *token);
    tokens.into_iter().filter_map(|(token, text)| Some((reading.tokens.get(token)?, text))).collect()
}

/// The values are of one set of words that exclude each other.
fn apart(a: &Reading, b: &Reading) -> bool {
    a.tokens.iter().any(|x| b.tokens.iter().any(|y| x.key != y.key && x.entry.apart & y.entry.apart != 0))
}

/// Who prefers a thing prefers no other.
fn prefers(reading: &Reading) -> bool {
    reading.said.iter().any(|said| matches!(said.text.as_str(), "prefer" | "prefers" | "偏好"))
}

/// A number with its unit behind it at the end: `门票12元`.
fn measured(reading: &Reading, frame: &Frame<'_>) -> bool {
    let unit = tokens(reading, frame.after).first().is_some_and(|(token, _)| token.entry.apart != 0 || token.han());
    frame.kind == Class::Number
        && (frame.after.is_empty() && reading.tokens.len() <= 3 || unit && frame.after.len() <= 2)
        && reading.tokens.first().is_some_and(|token| matches!(token.class, Class::Word | Class::Name))
}

/// A thing that is said to be in one place, and in another.
fn elsewhere(a: &Reading, b: &Reading) -> bool {
    let Some(frame) = frame(a, b) else { return false };
    let plain = !a.past && !b.past && !a.question && !b.question && a.negations + b.negations == 0;
    let before: Vec<&str> = frame.before.iter().map(|said| said.text.as_str()).collect();
    let at_place = match before.as_slice() {
        [.., thing, "be", "in" | "on" | "at"] | [.., thing, "在"] => THINGS.contains(thing),
        _ => false,
    };
    plain && at_place && before.len() <= 6 && matches!(frame.kind, Class::Name | Class::Word)
}
