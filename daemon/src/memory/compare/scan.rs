//! A text cut into raw pieces: words, numbers, identifiers, Han words, marks. Dates, times and numbers get one form in both languages.
//!
//! Must not know: what words mean together.

use super::lexicon::{Entry, LEXICON};
use super::numerals::{english_number, han_number};
use std::cell::OnceCell;
use tiro_index::embed::Embedder;
use tiro_index::tokenize::stem;

/// What a piece is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A word of the Latin or another spaced script.
    Word,
    /// A Han word.
    Han,
    /// A number.
    Number,
    /// A name of a thing as machines write it: a version, a path, an address, a code.
    Ident,
    /// A mark that ends or parts clauses.
    Mark,
}

/// One piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    /// As it stands.
    pub text: String,
    /// Lower case, numbers in one form.
    pub norm: String,
    pub kind: Kind,
    /// First of its sentence.
    pub first: bool,
    /// `'s` follows.
    pub owner: bool,
    stem: OnceCell<String>,
    entry: OnceCell<Option<Entry>>,
}

impl Piece {
    /// The stem of what it says; the same for Han words.
    pub fn stem(&self) -> &str {
        self.stem.get_or_init(|| stem(&self.norm))
    }

    /// What the lexicon knows of it.
    pub fn entry(&self) -> Option<Entry> {
        let find = || match self.kind {
            Kind::Han => LEXICON.find(&self.norm),
            _ => LEXICON.word(&self.norm, self.stem()),
        };
        *self.entry.get_or_init(find)
    }
}

/// Words that end in `'s` without owning anything.
const IS_SHORT: [&str; 10] = ["it", "that", "there", "he", "she", "what", "who", "here", "let", "where"];
/// Han words that begin with a negating character and negate nothing.
const NOT_NEGATED: [&str; 30] = [
    "不错",
    "不同",
    "不少",
    "不断",
    "不仅",
    "不过",
    "不但",
    "不管",
    "不论",
    "不如",
    "不久",
    "不止",
    "无论",
    "无线",
    "未来",
    "没事",
    "别人",
    "别的",
    "别墅",
    "非常",
    "不客气",
    "不好意思",
    "无限",
    "不锈钢",
    "未婚妻",
    "未婚夫",
    "非洲",
    "非法",
    "不得不",
    "无花果",
];
/// Surnames that one more character or two make a name.
const SURNAMES: &str = "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤";
/// What never follows a surname within a name.
const NOT_IN_NAMES: &str = "升调转任做当没不每现正刚曾常总已的是在不说要把和与给用住叫爱去来买会想有被向对比从跟也都就已将让请年月日号点个只位家里上下先大小";

/// Cuts a text.
pub(super) fn scan(text: &str, embedder: &dyn Embedder) -> Vec<Piece> {
    let mut scanner = Scanner { pieces: Vec::new(), first: true };
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let taken = match c {
            c if is_han(c) => {
                let end = rest.find(|c| !is_han(c)).unwrap_or(rest.len());
                for word in han_words(&rest[..end], embedder) {
                    scanner.push(word, Kind::Han);
                }
                end
            }
            c if c.is_alphanumeric() || starts_number(rest) => {
                let end = chunk_end(rest);
                scanner.chunk(&rest[..end]);
                end
            }
            '$' | '€' | '¥' | '￥' | '%' | '£' => {
                scanner.push(c, Kind::Word);
                c.len_utf8()
            }
            '.' if scanner.abbreviated() => 1,
            c if is_mark(c) => {
                scanner.push(c, Kind::Mark);
                scanner.first = matches!(c, '.' | '!' | '?' | '。' | '！' | '？' | ';' | '；' | '\n' | ':' | '：');
                c.len_utf8()
            }
            c => c.len_utf8(),
        };
        rest = &rest[taken..];
    }
    scanner.pieces
}

pub(super) fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9FFF}')
}

fn is_mark(c: char) -> bool {
    matches!(
        c,
        '.' | '!'
            | '?'
            | ','
            | ';'
            | ':'
            | '。'
            | '！'
            | '？'
            | '，'
            | '；'
            | '：'
            | '、'
            | '\n'
            | '('
            | ')'
            | '（'
            | '）'
            | '—'
            | '"'
            | '“'
            | '”'
    )
}

/// A sign that belongs to the number behind it.
fn starts_number(rest: &str) -> bool {
    let mut chars = rest.chars();
    matches!(chars.next(), Some('-' | '+')) && chars.next().is_some_and(|c| c.is_ascii_digit())
}

/// Where a run of letters, digits and the marks inside identifiers ends.
fn chunk_end(rest: &str) -> usize {
    let mut end = 0;
    let mut chars = rest.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, c)| *c);
        let inside = (c.is_alphanumeric() && !is_han(c))
            || c == '_'
            || (at == 0 && matches!(c, '-' | '+'))
            || (matches!(c, '.' | '-' | '/' | ':' | '@' | '\'' | '’' | '&' | ',')
                && next.is_some_and(|n| n.is_alphanumeric() && !is_han(n))
                && (c != ','
                    || rest[..at].chars().next_back().is_some_and(|c| c.is_ascii_digit())
                        && next.is_some_and(|n| n.is_ascii_digit())))
            || (matches!(c, '+' | '#') && at > 0);
        if !inside {
            break;
        }
        end = at + c.len_utf8();
    }
    end.max(rest.chars().next().map_or(0, char::len_utf8))
}

struct Scanner {
    pieces: Vec<Piece>,
    first: bool,
}

/// Words whose full stop ends no sentence.
pub(super) const ABBREVIATIONS: [&str; 14] =
    ["dr", "mr", "mrs", "ms", "prof", "st", "no", "vs", "jr", "sr", "approx", "dept", "inc", "ltd"];

impl Scanner {
    /// Whether the stop that comes belongs to the word before it.
    fn abbreviated(&self) -> bool {
        self.pieces
            .last()
            .is_some_and(|piece| ABBREVIATIONS.contains(&piece.norm.as_str()) && (piece.norm != "no" || piece.text == "No"))
    }

    fn push(&mut self, text: impl ToString, kind: Kind) {
        let text = text.to_string();
        let norm = text.to_lowercase();
        self.put(text, norm, kind);
    }

    fn put(&mut self, text: String, norm: String, kind: Kind) {
        let (stem, entry) = (OnceCell::new(), OnceCell::new());
        self.pieces.push(Piece { text, norm, kind, first: self.first, owner: false, stem, entry });
        if kind != Kind::Mark {
            self.first = false;
        }
    }

    /// One run without white space: a word, a number, a date, a time, an identifier, or several of them.
    fn chunk(&mut self, chunk: &str) {
        let chunk = chunk.replace('’', "'");
        let lower = chunk.to_lowercase();
        if let Some((base, _)) = lower.split_once('\'') {
            return self.apostrophe(&chunk[..base.len()], &lower);
        }
        if let Some(number) = plain_number(&lower) {
            return self.put(chunk, number, Kind::Number);
        }
        if let Some((year, month, day)) = iso_date(&lower) {
            self.put(year.clone(), year, Kind::Number);
            return self.put(chunk, format!("d:{month}-{day}"), Kind::Number);
        }
        if let Some(time) = clock_time(&lower) {
            return self.put(chunk, time, Kind::Number);
        }
        if let Some((number, unit)) = number_with_unit(&lower) {
            self.put(number.clone(), number, Kind::Number);
            if !matches!(unit, "st" | "nd" | "rd" | "th") {
                self.put(unit.to_owned(), unit.to_owned(), Kind::Word);
            }
            return;
        }
        let bare = lower.strip_prefix('v').and_then(plain_number);
        if let Some(number) = bare {
            return self.put(chunk, number, Kind::Number);
        }
        if let Some(number) = english_number(&lower) {
            return self.put(chunk, number.to_string(), Kind::Number);
        }
        let compound = chunk.contains('-') && chunk.chars().all(|c| c.is_alphabetic() || c == '-');
        if compound {
            if LEXICON.word(&lower, &stem(&lower)).is_some() {
                return self.push(chunk, Kind::Word);
            }
            chunk.split('-').filter(|part| !part.is_empty()).for_each(|part| self.chunk(part));
            return;
        }
        // Several PRs are of the kind of one PR.
        if let Some(one) = chunk.strip_suffix('s').filter(|one| one.len() >= 2 && one.chars().all(|c| c.is_ascii_uppercase())) {
            let norm = one.to_lowercase();
            return self.put(chunk, norm, Kind::Word);
        }
        let plain = chunk.chars().all(char::is_alphabetic);
        let camel = chunk.chars().skip(1).any(char::is_uppercase) && chunk.chars().any(char::is_lowercase);
        self.push(chunk, if plain && !camel { Kind::Word } else { Kind::Ident });
    }

    /// `don't` is `do not`, `Ann's` owns what follows, `I'm` is `I`.
    fn apostrophe(&mut self, base: &str, lower: &str) {
        if lower == "o'clock" {
            return self.push("oclock", Kind::Word);
        }
        let after = &lower[base.len() + 1..];
        if after == "t" && base.to_lowercase().ends_with('n') {
            let stem = &base[..base.len() - 1];
            if !stem.is_empty() {
                self.push(if stem.eq_ignore_ascii_case("ca") { "can" } else { stem }, Kind::Word);
            }
            return self.push("not", Kind::Word);
        }
        self.chunk(base);
        let short = match after {
            "m" => "am",
            "re" => "are",
            "ve" => "have",
            "ll" => "will",
            "s" if IS_SHORT.contains(&base.to_lowercase().as_str()) => "is",
            _ => "",
        };
        if !short.is_empty() {
            return self.push(short, Kind::Word);
        }
        if after == "s"
            && !IS_SHORT.contains(&base.to_lowercase().as_str())
            && let Some(last) = self.pieces.last_mut()
        {
            last.owner = true;
        } else if after.len() > 2 {
            self.chunk(&lower[base.len() + 1..]);
        }
    }
}

/// Digits, grouped or not, with decimals; `1.2.3` too. Signs stay, noughts at the end of decimals go nowhere: `1.20` is a version too.
fn plain_number(text: &str) -> Option<String> {
    let unsigned = text.strip_prefix('+').unwrap_or(text);
    let digits = unsigned.strip_prefix('-').unwrap_or(unsigned);
    if !digits.starts_with(|c: char| c.is_ascii_digit()) || !digits.ends_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let grouped = digits.contains(',');
    if grouped && !digits.split(',').skip(1).all(|group| group.split('.').next().is_some_and(|g| g.len() == 3)) {
        return None;
    }
    let fits = digits.chars().all(|c| c.is_ascii_digit() || c == '.' || c == ',') && !digits.contains("..");
    fits.then(|| if text.starts_with('+') { text.replace(',', "") } else { unsigned.replace(',', "") })
}

fn iso_date(text: &str) -> Option<(String, u32, u32)> {
    let parts: Vec<&str> = text.split(['-', '/', '.']).collect();
    let [year, month, day] = parts.as_slice() else { return None };
    let (month, day): (u32, u32) = (month.parse().ok()?, day.parse().ok()?);
    (year.len() == 4 && year.chars().all(|c| c.is_ascii_digit()) && (1..=12).contains(&month) && (1..=31).contains(&day))
        .then(|| ((*year).to_owned(), month, day))
}

/// `15:00`, `3:30pm`, `3pm` as `t:15:00`.
fn clock_time(text: &str) -> Option<String> {
    let (clock, afternoon) = match (text.strip_suffix("pm"), text.strip_suffix("am")) {
        (Some(clock), _) => (clock, Some(true)),
        (_, Some(clock)) => (clock, Some(false)),
        _ => (text, None),
    };
    let (hours, minutes) = match clock.split_once(':') {
        Some((hours, minutes)) if minutes.len() == 2 => (hours.parse().ok()?, minutes.parse().ok()?),
        None if afternoon.is_some() => (clock.parse().ok()?, 0),
        _ => return None,
    };
    (hours < 25 && minutes < 60).then(|| time_form(hours, minutes, afternoon))
}

/// One form of a time of day.
pub(super) fn time_form(hours: u32, minutes: u32, afternoon: Option<bool>) -> String {
    let hours = match afternoon {
        Some(true) if hours < 12 => hours + 12,
        Some(false) if hours == 12 => 0,
        _ => hours,
    };
    format!("t:{hours}:{minutes:02}")
}

fn number_with_unit(text: &str) -> Option<(String, &str)> {
    let end = text.find(|c: char| c.is_alphabetic())?;
    let (number, unit) = text.split_at(end);
    (unit.chars().all(char::is_alphabetic) && unit.len() <= 8)
        .then(|| plain_number(number))
        .flatten()
        .map(|number| (number, unit))
}

/// The words of a Han run: as the embedder's list cuts them, joined where the lexicon has the longer word, parted before negations,
/// numbers and within names.
fn han_words(run: &str, embedder: &dyn Embedder) -> Vec<String> {
    let cut = numerals_joined(run, embedder.cut(run));
    let mut words: Vec<String> = Vec::with_capacity(cut.len());
    let mut at = 0;
    while at < cut.len() {
        let most = cut.len().min(at + 5);
        let joined = (at + 2..=most).rev().find(|end| {
            let word = cut[at..*end].concat();
            word.chars().count() <= LEXICON.han_chars_max() && LEXICON.find(&word).is_some()
        });
        if let Some(end) = joined {
            words.push(cut[at..end].concat());
            at = end;
            continue;
        }
        if cut[at] == "个人" && words.last().is_some_and(|word| han_number(word).is_some()) {
            words.push("人".to_owned());
            at += 1;
            continue;
        }
        let taken = name_words(&cut[at..]);
        if taken > 1 {
            words.push(cut[at..at + taken].concat());
            at += taken;
            continue;
        }
        part(cut[at], &mut words);
        at += 1;
    }
    words
}

/// Numerals that were cut apart are one word again.
fn numerals_joined<'a>(run: &'a str, cut: Vec<&'a str>) -> Vec<&'a str> {
    let numeral = |word: &str| word.chars().all(|c| "零〇一二两三四五六七八九十百千万亿".contains(c));
    let (mut words, mut at, mut was): (Vec<&str>, usize, bool) = (Vec::with_capacity(cut.len()), 0, false);
    for word in cut {
        let end = at + word.len();
        let is = numeral(word);
        match words.last_mut().filter(|_| was && is) {
            Some(last) => *last = &run[at - last.len()..end],
            None => words.push(&run[at..end]),
        }
        (at, was) = (end, is);
    }
    words
}

/// How many words at the start make one name of a person.
fn name_words(cut: &[&str]) -> usize {
    let mut chars = cut[0].chars();
    let (Some(first), None) = (chars.next(), chars.next()) else { return 1 };
    let within = |word: &&str| {
        let mut chars = word.chars();
        chars.next().is_some_and(|c| !NOT_IN_NAMES.contains(c)) && chars.next().is_none() && LEXICON.find(word).is_none()
    };
    let single = |word: &&str| within(word) || (word.chars().count() == 1 && han_number(word).is_some());
    if matches!(first, '小' | '老' | '阿') {
        return if cut.get(1).is_some_and(|w| single(w) || (w.chars().count() == 1 && SURNAMES.contains(*w))) { 2 } else { 1 };
    }
    if !SURNAMES.contains(first) {
        return 1;
    }
    match (cut.get(1), cut.get(2)) {
        (Some(a), Some(b)) if within(a) && within(b) && han_number(b).is_none() => 3,
        (Some(a), _) if single(a) => 2,
        _ => 1,
    }
}

/// Parts a word that the lexicon does not have before its negation or behind its number.
fn part(word: &str, words: &mut Vec<String>) {
    let mut chars = word.chars();
    let first = chars.next();
    let rest = chars.as_str();
    let known = LEXICON.find(word).is_some() || NOT_NEGATED.contains(&word);
    if !known && !rest.is_empty() {
        if first.is_some_and(|c| "不没未别勿无非".contains(c)) {
            words.extend(first.map(String::from));
            return part(rest, words);
        }
        let digits = word.find(|c: char| !"零〇一二两三四五六七八九十百千万亿".contains(c)).unwrap_or(word.len());
        if digits > 0
            && digits < word.len()
            && "个月日号点只位岁年天周楼层块元次倍人名米度小分公台套份本间".contains(word[digits..].chars().next().unwrap_or(' '))
        {
            words.push(word[..digits].to_owned());
            return part(&word[digits..], words);
        }
        if word.starts_with('第') && han_number(&word['第'.len_utf8()..]).is_some() {
            words.push(word['第'.len_utf8()..].to_owned());
            return;
        }
    }
    words.push(word.to_owned());
}
