//! What a text says, as far as rules can tell: its content words with what they mean, what is negated, who stands where, what changed.
//!
//! Must not know: a second text.

use super::lexicon::{Entry, LEXICON, does};
use super::numerals::{han_number, month, weekday};
use super::said::{Said, Written, say, trim, turn_money};
use super::scan::{Kind, Piece, is_han, scan, time_form};
use std::sync::OnceLock;
use tiro_index::embed::{Embedder, Role as EmbedRole};

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Word,
    /// Amounts, numbers of things, versions of digits alone.
    Number,
    /// Days, months, dates, times of day.
    Time,
    /// As machines write it.
    Ident,
    /// Of a person, place or thing.
    Name,
}

/// One word of content.
#[derive(Debug)]
pub(super) struct Token {
    /// What is compared first.
    pub key: String,
    pub text: String,
    pub class: Class,
    /// Says the opposite of its group.
    pub opposite: bool,
    /// A negation stands before it.
    pub negated: bool,
    pub entry: Entry,
    /// The preposition before it, or nothing.
    pub role: &'static str,
    /// It owns what follows.
    pub owner: bool,
    /// A negation stands somewhere before it in its clause.
    pub scoped: bool,
    /// Stands behind an exception word.
    pub excepted: bool,
    /// Place among all pieces.
    pub at: usize,
    /// Place right behind the content before it, with nothing between.
    pub joined: bool,
    /// A past form that is no participle.
    pub past: bool,
    vector: OnceLock<Option<Vec<f32>>>,
}

impl Token {
    pub fn does(&self, bits: u32) -> bool {
        self.entry.does & bits != 0
    }

    /// Numbers, times, identifiers and names are equal or different, never alike.
    pub fn exact(&self) -> bool {
        self.class != Class::Word
    }

    pub fn han(&self) -> bool {
        self.text.chars().next().is_some_and(is_han)
    }

    /// The vector of the word alone.
    pub fn vector(&self, embedder: &dyn Embedder) -> Option<&[f32]> {
        self.vector.get_or_init(|| embedder.embed(EmbedRole::Query, &self.text)).as_deref()
    }
}

/// A text, read.
#[derive(Debug, Default)]
pub(super) struct Reading {
    pub tokens: Vec<Token>,
    /// Every word in its order.
    pub said: Vec<Said>,
    pub written: Written,
    /// Tokens before this index are the subject; none when no verb was found.
    pub verb_at: Option<usize>,
    /// A verb was found.
    pub has_verb: bool,
    /// The verb is a form of to be.
    pub copula: bool,
    /// Words that say something is otherwise now.
    pub change: bool,
    /// Words of moving house.
    pub moved: bool,
    /// Words that say something is over.
    pub stopper: bool,
    pub exception: bool,
    pub again: bool,
    pub hedge: bool,
    pub must: bool,
    pub may: bool,
    pub passive: bool,
    pub symmetric: bool,
    pub past: bool,
    pub question: bool,
    /// Negations in all.
    pub negations: usize,
    pub sentences: usize,
    pub clauses: usize,
    /// The subject is `the`, `my`, `our` or somebody's.
    pub definite_end: bool,
}

/// English prepositions that say what part a word plays.
pub(super) const ROLES: [&str; 17] = [
    "to", "from", "by", "with", "for", "of", "in", "at", "on", "under", "over", "into", "against", "than", "about", "as",
    "through",
];
/// The Han ones, with the English that means the same.
const HAN_ROLES: [(&str, &str); 13] = [
    ("给", "to"),
    ("向", "to"),
    ("对", "to"),
    ("从", "from"),
    ("到", "into"),
    ("被", "by"),
    ("由", "by"),
    ("在", "in"),
    ("跟", "with"),
    ("和", "and"),
    ("与", "and"),
    ("比", "than"),
    ("为", "for"),
];
const COPULAS: [&str; 9] = ["is", "are", "was", "were", "am", "be", "=", "是", "为"];
const DETERMINERS: [&str; 14] =
    ["the", "a", "an", "my", "our", "your", "his", "her", "their", "its", "this", "that", "new", "no"];
const DEFINITE: [&str; 6] = ["the", "my", "our", "your", "his", "their"];

/// Reads a text.
pub(super) fn read(text: &str, embedder: &dyn Embedder) -> Reading {
    let pieces = scan(text, embedder);
    let mut reader = Reader {
        pieces: &pieces,
        reading: Reading::default(),
        negated: 0,
        role: "",
        excepted: false,
        scoped: false,
        last_at: None,
        negated_from: 0,
    };
    reader.run();
    let mut reading = reader.reading;
    reading.question = text.trim_end().ends_with(['?', '？']);
    reading.sentences = reading.sentences.max(1);
    reading.written = Written::new(text);
    trim(&mut reading.said);
    find_verb(&pieces, &mut reading);
    // Of several forms only that of the first verb tells the tense: `a dog named Rex` is not past.
    reading.past |= !reading.has_verb && reading.tokens.iter().any(|t| t.past);
    reading.past |= reading.verb_at.and_then(|verb| reading.tokens.get(verb)).is_some_and(|t| t.past);
    reading.past &= !reading.tokens.iter().any(|t| t.does(does::FIXED));
    reading
}

struct Reader<'a> {
    pieces: &'a [Piece],
    reading: Reading,
    /// Negations waiting for their word.
    negated: usize,
    negated_from: usize,
    role: &'static str,
    excepted: bool,
    scoped: bool,
    last_at: Option<usize>,
}

impl Reader<'_> {
    fn run(&mut self) {
        let mut at = 0;
        while at < self.pieces.len() {
            let before = self.reading.tokens.len();
            let taken = self.take(at).max(1);
            self.say(at, taken, before);
            at += taken;
        }
        if self.negated % 2 == 1
            && let Some(last) = self.reading.tokens.last_mut()
        {
            last.negated ^= true;
        }
    }

    /// Notes what was taken in its order: dates and numbers in their one form, everything else as it stands.
    fn say(&mut self, at: usize, taken: usize, before: usize) {
        let reading = &mut self.reading;
        let last = reading.tokens.len().checked_sub(1);
        let exact = |t: &Token| t.at == at && matches!(t.class, Class::Number | Class::Time);
        if let Some((index, token)) = last.and_then(|last| Some((last, reading.tokens.get(last).filter(|t| exact(t))?))) {
            if index + 1 == before {
                // Morning or evening went into the time of day.
                reading.said.pop();
            }
            reading.said.push(Said { text: token.key.clone(), token: last });
            return turn_money(&mut reading.said);
        }
        let index = last.filter(|last| *last >= before);
        for at in at..(at + taken).min(self.pieces.len()) {
            say(&mut reading.said, &self.pieces[at], self.pieces.get(at + 1), index);
        }
    }

    /// Takes what begins at a piece; gives how many pieces that were.
    fn take(&mut self, at: usize) -> usize {
        let piece = &self.pieces[at];
        match piece.kind {
            Kind::Mark => {
                self.mark(&piece.norm);
                1
            }
            Kind::Number => self.number(at),
            Kind::Ident => {
                self.exact(at, piece.norm.clone(), Class::Ident);
                1
            }
            Kind::Word | Kind::Han => self.time(at).or_else(|| self.phrase(at)).unwrap_or_else(|| self.word(at)),
        }
    }

    fn mark(&mut self, mark: &str) {
        let ends = matches!(mark, "." | "!" | "?" | "。" | "！" | "？" | ";" | "；" | "\n");
        if ends {
            self.reading.sentences += 1;
            self.excepted = false;
        }
        if ends || matches!(mark, "," | "，") {
            self.reading.clauses += 1;
            self.role = "";
            self.scoped = false;
        }
    }

    fn norm(&self, at: usize) -> &str {
        self.pieces.get(at).map_or("", |piece| piece.norm.as_str())
    }

    fn exact(&mut self, at: usize, key: String, class: Class) {
        self.push(at, key, class, Entry::default());
    }

    fn push(&mut self, at: usize, key: String, class: Class, entry: Entry) {
        let piece = &self.pieces[at];
        let negated = self.negated % 2 == 1;
        if negated && (entry.does & (does::LIGHT | does::ATTRIBUTE) == 0 || at > self.negated_from + 2) {
            self.negated = 0;
        }
        let joined = self.last_at.is_some_and(|last| last + 1 == at);
        // `on Main Street`: the whole name plays one part.
        let before = self.reading.tokens.last().filter(|last| joined && last.class == Class::Name).map_or("", |last| last.role);
        let role = if self.role.is_empty() { before } else { self.role };
        self.reading.tokens.push(Token {
            key,
            text: piece.text.clone(),
            class,
            opposite: entry.opposite,
            negated: negated && self.negated == 0,
            entry,
            role,
            owner: piece.owner || (piece.kind == Kind::Han && self.norm(at + 1) == "的"),
            scoped: self.scoped,
            excepted: self.excepted,
            at,
            joined,
            past: false,
            vector: OnceLock::new(),
        });
        self.last_at = Some(at);
        self.role = "";
    }

    /// A number with what makes it a date or a time of day.
    fn number(&mut self, at: usize) -> usize {
        let norm = self.norm(at).to_owned();
        if let Some(time) = norm.strip_prefix("t:") {
            let after = self.norm(at + 1);
            let half = if after == "pm" || after == "p" {
                Some(true)
            } else if after == "am" {
                Some(false)
            } else {
                None
            };
            if let (Some(_), Some((hours, minutes))) = (half, time.split_once(':')) {
                let form = time_form(hours.parse().unwrap_or(0), minutes.parse().unwrap_or(0), half);
                self.exact(at, form, Class::Time);
                return 2;
            }
            self.exact(at, norm, Class::Time);
            return 1;
        }
        if norm.starts_with("d:") {
            self.exact(at, norm, Class::Time);
            return 1;
        }
        self.dated(at, &norm, 1)
    }

    /// What follows a number of `taken` pieces.
    fn dated(&mut self, at: usize, number: &str, taken: usize) -> usize {
        let (next, value) = (at + taken, number.parse::<u32>().ok());
        match (self.norm(next), value) {
            ("年", Some(1_000..=2_100)) => {
                self.exact(at, format!("n:{number}"), Class::Time);
                taken + 1
            }
            ("月" | "月份", Some(month @ 1..=12)) => {
                let (day, more) = self.day_after(next + 1);
                self.exact(at, day.map_or(format!("d:{month}"), |day| format!("d:{month}-{day}")), Class::Time);
                taken + 1 + more
            }
            ("日" | "号", Some(1..=31)) if !self.reading.tokens.last().is_some_and(|t| t.class == Class::Name) => {
                self.exact(at, format!("day:{number}"), Class::Time);
                taken + 1
            }
            ("点" | "点钟" | "时" | "點", Some(hours @ 0..=24)) => self.han_time(at, hours, taken),
            ("am" | "pm" | "p" | "a" | "oclock", Some(hours @ 0..=24)) => {
                let half = match self.norm(next) {
                    "am" | "a" => Some(false),
                    "pm" | "p" => Some(true),
                    _ => None,
                };
                self.exact(at, time_form(hours, 0, half), Class::Time);
                // p.m. is two letters with marks between.
                let dotted = matches!(self.norm(next), "p" | "a") && self.norm(next + 1) == "." && self.norm(next + 2) == "m";
                taken + if dotted { 3 } else { 1 }
            }
            (word, Some(day @ 1..=31)) if month(word).is_some() => {
                self.exact(at, format!("d:{}-{day}", month(word).unwrap_or(0)), Class::Time);
                taken + 1
            }
            ("of", Some(day @ 1..=31)) if month(self.norm(next + 1)).is_some() => {
                self.exact(at, format!("d:{}-{day}", month(self.norm(next + 1)).unwrap_or(0)), Class::Time);
                taken + 2
            }
            (_, Some(1_900..=2_100)) if self.role == "in" => {
                self.exact(at, format!("n:{number}"), Class::Time);
                taken
            }
            _ => {
                self.exact(at, format!("n:{number}"), Class::Number);
                taken
            }
        }
    }

    /// The day of a month, where one follows; the pieces it takes.
    fn day_after(&self, at: usize) -> (Option<u64>, usize) {
        let Some(piece) = self.pieces.get(at) else { return (None, 0) };
        let day = piece.norm.parse().ok().or_else(|| han_number(&piece.norm));
        match day {
            Some(day @ 1..=31) => (Some(day), 1 + usize::from(matches!(self.norm(at + 1), "日" | "号"))),
            _ => (None, 0),
        }
    }

    fn han_time(&mut self, at: usize, hours: u32, taken: usize) -> usize {
        let next = at + taken + 1;
        let (minutes, more) = match self.norm(next) {
            "半" => (30, 1),
            "一刻" => (15, 1),
            text => {
                let minutes = text.parse().ok().or_else(|| han_number(text)).and_then(|m| u32::try_from(m).ok());
                match minutes.filter(|_| self.norm(next + 1) == "分") {
                    Some(minutes) => (minutes, 2),
                    None => (0, 0),
                }
            }
        };
        let before = at.checked_sub(1).map_or("", |before| self.norm(before));
        let half = match before {
            "下午" | "晚上" | "傍晚" | "晚" => Some(true),
            "早上" | "上午" | "凌晨" | "清晨" | "早晨" | "早" => Some(false),
            _ => None,
        };
        if half.is_some() && self.reading.tokens.last().is_some_and(|last| last.at + 1 == at) {
            self.reading.tokens.pop();
        }
        self.exact(at, time_form(hours, minutes, half), Class::Time);
        taken + 1 + more
    }

    /// Weekdays, months and Han numerals.
    fn time(&mut self, at: usize) -> Option<usize> {
        let piece = &self.pieces[at];
        let norm = piece.norm.as_str();
        if let Some(day) = weekday(norm) {
            self.exact(at, format!("w:{day}"), Class::Time);
            return Some(1);
        }
        if piece.kind == Kind::Han {
            let number = han_number(norm)?;
            if norm == "一" && !matches!(self.norm(at + 1), "月" | "日" | "号" | "点" | "楼" | "层") {
                return Some(1);
            }
            return Some(self.dated(at, &number.to_string(), 1));
        }
        let month = month(norm)?;
        let named = norm != "may" && norm != "mar" && norm != "march" && norm.len() > 3
            || piece.text.starts_with(char::is_uppercase)
                && !piece.first
                && (norm != "mar" || self.norm(at + 1).parse::<u32>().is_ok());
        let day = self.norm(at + 1).parse::<u32>().ok().filter(|day| (1..=31).contains(day));
        match day {
            Some(day) => {
                self.exact(at, format!("d:{month}-{day}"), Class::Time);
                Some(2)
            }
            None if named => {
                self.exact(at, format!("d:{month}"), Class::Time);
                Some(1)
            }
            None => None,
        }
    }

    /// A phrase of the lexicon.
    fn phrase(&mut self, at: usize) -> Option<usize> {
        if self.pieces[at].kind != Kind::Word {
            return None;
        }
        let most = LEXICON.phrase_words(self.pieces[at].stem());
        for words in (2..=most).rev() {
            let pieces = self.pieces.get(at..at + words);
            let Some(pieces) = pieces.filter(|pieces| pieces.iter().all(|p| matches!(p.kind, Kind::Word | Kind::Number))) else {
                continue;
            };
            let key = pieces.iter().map(Piece::stem).collect::<Vec<_>>().join(" ");
            if let Some(entry) = LEXICON.find(&key) {
                self.known(at, words, key, entry);
                return Some(words);
            }
        }
        None
    }

    fn word(&mut self, at: usize) -> usize {
        let piece = &self.pieces[at];
        let norm = piece.norm.clone();
        let key = if piece.kind == Kind::Han { norm.clone() } else { piece.stem().to_owned() };
        if ROLES.contains(&norm.as_str()) {
            self.role = ROLES.iter().find(|role| **role == norm).copied().unwrap_or("");
        } else if let Some((_, role)) = HAN_ROLES.iter().find(|(han, _)| *han == norm) {
            self.role = role;
        }
        let timed = |at: usize| {
            let next = self.norm(at);
            next.parse::<u32>().is_ok() || month(next).is_some() || weekday(next).is_some() || next.starts_with("d:")
        };
        if norm == "since" && timed(at + 1)
            || matches!(norm.as_str(), "起" | "开始")
                && self.reading.tokens.last().is_some_and(|t| t.class == Class::Time && t.at + 2 >= at)
        {
            self.reading.change = true;
            return 1;
        }
        if matches!(norm.as_str(), "by" | "被" | "由") {
            self.reading.passive = true;
        }
        if matches!(norm.as_str(), "was" | "were" | "did" | "had") {
            self.reading.past = true;
        }
        let entry = piece.entry().unwrap_or_default();
        let letter =
            piece.text.len() == 1 && piece.text.starts_with(|c: char| c.is_ascii_uppercase() && c != 'I') && !piece.first;
        if letter {
            self.exact(at, norm, Class::Ident);
            return 1;
        }
        let capital = piece.kind == Kind::Word && piece.text.chars().next().is_some_and(char::is_uppercase) && norm != "i";
        if self.role == norm && entry.group == 0 {
            return 1;
        }
        if capital && entry.group == 0 && entry.does & !(does::LIGHT) == 0 && self.is_name(at) {
            self.exact(at, piece.stem().to_owned(), Class::Name);
            return 1;
        }
        if piece.kind == Kind::Han && entry == Entry::default() && norm.chars().count() >= 2 && is_person(&norm) {
            self.exact(at, norm, Class::Name);
            return 1;
        }
        self.known(at, 1, key, entry);
        1
    }

    /// A word with a capital that is a name: not at the start of a sentence, or there with somebody's verb behind it.
    fn is_name(&self, at: usize) -> bool {
        let piece = &self.pieces[at];
        if !piece.first || piece.owner || piece.text.chars().skip(1).any(char::is_uppercase) {
            return true;
        }
        let next = self.norm(at + 1);
        let does_next =
            self.pieces.get(at + 1).and_then(|next| LEXICON.word(&next.norm, next.stem())).map_or(0, |entry| entry.does);
        matches!(
            next,
            "is" | "was" | "has" | "will" | "does" | "and" | "can" | "had" | "now" | "no" | "never" | "not" | "also" | "recently"
        ) || (does_next & (does::VERB | does::CHANGE | does::STOPPER) != 0
            && !next.ends_with("ing")
            && !piece.norm.ends_with('s'))
            || self.pieces.get(at + 1).is_some_and(|p| p.kind == Kind::Word && p.text.starts_with(char::is_uppercase))
    }

    /// A word or phrase with what the lexicon says of it.
    fn known(&mut self, at: usize, words: usize, key: String, entry: Entry) {
        let reading = &mut self.reading;
        let has = |bits| entry.does & bits != 0;
        reading.hedge |= has(does::HEDGE);
        reading.must |= has(does::MUST);
        reading.may |= has(does::MAY);
        reading.symmetric |= has(does::SYMMETRIC);
        reading.again |= has(does::AGAIN);
        reading.stopper |= has(does::STOPPER);
        reading.change |= has(does::CHANGE | does::STOPPER);
        reading.moved |= matches!(key.as_str(), "move" | "reloc" | "搬" | "搬到" | "搬去" | "搬家" | "搬至" | "迁到" | "迁至");
        if matches!(key.as_str(), "replac" | "succeed" | "接替" | "取代" | "顶替") {
            self.role = "from";
            reading.change = true;
        }
        if matches!(key.as_str(), "instead of" | "rather than" | "in place of" | "而不是" | "代替" | "取代") {
            self.role = "from";
            return;
        }
        if has(does::EXCEPTION) {
            reading.exception = true;
            self.excepted = true;
            return;
        }
        if has(does::NEGATOR | does::STOPPER) {
            reading.negations += 1;
            self.scoped = true;
            self.negated += 1;
            self.negated_from = at + words - 1;
            return;
        }
        let silent = has(does::STOP) || (has(does::CHANGE) && entry.group == 0) || (has(does::LIGHT) && entry.group == 0);
        if silent {
            return;
        }
        let key = if entry.group == 0 { key } else { format!("g{}", entry.group) };
        self.push(at + words - 1, key, Class::Word, entry);
        let text: Vec<&str> = self.pieces[at..at + words].iter().map(|p| p.text.as_str()).collect();
        let past = self.pieces[at].kind == Kind::Word && is_past(&self.pieces[at].norm);
        let aux = at.checked_sub(1).map_or("", |before| self.norm(before)).to_owned();
        if let Some(token) = self.reading.tokens.last_mut() {
            token.text = text.join(" ");
            token.past =
                past && !matches!(aux.as_str(), "is" | "are" | "am" | "be" | "been" | "being" | "has" | "have" | "get" | "not");
        }
    }
}

fn is_past(norm: &str) -> bool {
    norm.len() > 3 && norm.ends_with("ed") && !norm.ends_with("eed")
        || matches!(
            norm,
            "ran"
                | "went"
                | "ate"
                | "drank"
                | "took"
                | "met"
                | "saw"
                | "wrote"
                | "bought"
                | "sold"
                | "lived"
                | "began"
                | "left"
                | "won"
                | "lost"
                | "had"
        )
}

/// A Chinese name of a person: what the scanner joined behind a surname, `小` or `老`.
fn is_person(norm: &str) -> bool {
    let first = norm.chars().next().unwrap_or(' ');
    norm.chars().count() <= 3 && "王李张刘陈杨黄赵吴周徐孙马朱胡郭何林罗郑梁谢宋唐许韩冯邓曹彭曾肖董袁潘蒋蔡余杜叶程苏魏吕丁沈姚卢姜崔钟谭陆汪范石廖贾夏韦邹孟熊秦邱江尹薛闫段雷侯龙陶贺顾毛郝龚邵钱严覃武戴莫孔汤小老阿".contains(first)
}

/// Where the subject ends: before the first verb, to be, or word of change.
fn find_verb(pieces: &[Piece], reading: &mut Reading) {
    let copula = |piece: &Piece| COPULAS.contains(&piece.norm.as_str());
    let copula_at = pieces.iter().position(copula);
    let change_at = pieces.iter().enumerate().skip(1).position(|(at, p)| {
        let now = matches!(p.norm.as_str(), "now" | "currently" | "现在" | "目前" | "如今" | "最近" | "new" | "latest");
        at > 0 && !now && p.entry().is_some_and(|e| e.does & (does::CHANGE | does::STOPPER) != 0)
    });
    let change_at = change_at.map(|at| at + 1);
    let noun = |token: &Token| {
        let before = token.at.checked_sub(1).map(|before| &pieces[before]);
        before.is_some_and(|b| DETERMINERS.contains(&b.norm.as_str()) || b.owner)
    };
    let first_of = |reading: &Reading| {
        reading.tokens.iter().position(|t| t.does(does::VERB) && !noun(t)).map(|index| reading.tokens[index].at)
    };
    let mut verb_at = first_of(reading);
    if let (Some(verb), Some(copula)) = (verb_at, copula_at)
        && verb < copula
        && (reading.tokens.first().is_some_and(|t| t.at == verb)
            || pieces[verb].kind == Kind::Word && !pieces[verb].norm.ends_with('s') && copula - verb <= 3)
    {
        verb_at = Some(copula);
    }
    let earliest = [verb_at, copula_at, change_at].into_iter().flatten().min();
    let Some(piece_at) = earliest else {
        // A word in -s behind the first is a verb that no list knows: `the service exposes`.
        let unlisted = reading.tokens.get(1).is_some_and(|t| {
            t.class == Class::Word
                && t.joined
                && !t.han()
                && t.text.ends_with('s')
                && !t.text.ends_with("ss")
                && reading.tokens.len() > 2
        });
        if unlisted {
            (reading.verb_at, reading.has_verb) = (Some(1), true);
            return;
        }
        // Without a verb the last word is the value, or the last two where it is a unit.
        let unit = reading.tokens.last().is_some_and(|t| t.entry.apart != 0 || t.does(does::ATTRIBUTE) || t.han() && !t.exact())
            && reading.tokens.iter().rev().nth(1).is_some_and(|t| t.class == Class::Number);
        reading.verb_at = Some(reading.tokens.len().saturating_sub(if unit { 2 } else { 1 }));
        return;
    };
    reading.has_verb = true;
    reading.copula = Some(piece_at) == copula_at;
    reading.verb_at = Some(reading.tokens.iter().take_while(|t| t.at < piece_at).count());
    if reading.copula {
        let behind = pieces.get(piece_at + 1);
        reading.definite_end = behind
            .is_some_and(|p| DEFINITE.contains(&p.norm.as_str()) || p.owner || matches!(p.norm.as_str(), "我" | "我的" | "我们"))
            || pieces.get(piece_at + 2).is_some_and(|p| p.norm == "的");
    }
}
