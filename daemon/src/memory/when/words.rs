//! The words and numbers of a text in Latin letters, and which of them speak of time.
//!
//! Must not know: what they mean together.

use super::said::{Turn, Unit};

/// What a word may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    /// A word that says nothing of time.
    Other,
    Month(i8, Name),
    Weekday(i8, Name),
    /// First month of a season, and whether its name is always that of a season.
    Season(i8, bool),
    Unit(Unit, Number),
    Turn(Turn),
    /// `past`: of units only.
    Past,
    Today,
    Tonight,
    Yesterday,
    Tomorrow,
    Weekend,
    /// `night`, `morning`, `afternoon`, `evening`.
    PartOfDay,
    Count(i32),
    /// `a`, `an`, `one`.
    A,
    Couple,
    /// `few`, `several`.
    Few,
    Ago,
    The,
    Of,
    On,
    In,
    /// `during`, `throughout`.
    During,
    Since,
    Before,
    Prior,
    After,
    Until,
    From,
    Between,
    To,
    Through,
    And,
    By,
    Now,
    /// `early`, `late`, `mid`, `around`, `about`, `beginning`, `start`, `middle`.
    Part,
    /// `end`.
    End,
    /// `every`, `each`, `usually`, `always`.
    Recurring,
}

/// How sure a name is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    /// Nothing else is called so.
    Sure,
    /// People and other things are called so, too: `April`, `May`, `march`.
    Shared,
    /// An abbreviation.
    Short,
}

/// Grammatical number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Number {
    One,
    Many,
}

/// What stands at a place of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// A word; whether it begins with a capital.
    Word(Key, bool),
    /// Digits: their value, how many they are, and whether `st`, `nd`, `rd` or `th` follows.
    Digits(i32, u8, bool),
    /// Digits of a decade: `1990s`.
    Decade(i16),
    /// One mark.
    Mark(char),
    /// Letters and digits mixed, or a character of another script.
    Foreign,
}

/// One token: where it stands, in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub start: usize,
    pub end: usize,
    pub what: What,
}

/// Longest word that speaks of time, in bytes.
const WORD_BYTES_MAX: usize = 10;

/// The tokens of a text; none when no word or number of it speaks of time.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut list: Vec<Token> = Vec::with_capacity(text.len() / 4 + 4);
    let (mut at, mut speaks) = (0, false);
    while let Some(c) = text[at..].chars().next() {
        let start = at;
        at += c.len_utf8();
        if c.is_ascii_alphanumeric() || c == '_' {
            let bytes = text.as_bytes();
            while bytes.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_') {
                at += 1;
            }
            at = before_time_of_day(&text[start..at]).map_or(at, |n| start + n);
            let what = what(&text[start..at]);
            speaks |=
                !matches!(what, What::Word(Key::Other | Key::A | Key::The | Key::Of | Key::To | Key::And, _) | What::Foreign);
            list.push(Token { start, end: at, what });
        } else if !c.is_whitespace() {
            let what = if c.is_alphanumeric() { What::Foreign } else { What::Mark(c) };
            list.push(Token { start, end: at, what });
        }
    }
    if speaks { list } else { Vec::new() }
}

/// The length of the day in `24T10`.
fn before_time_of_day(run: &str) -> Option<usize> {
    let b = run.as_bytes();
    let splits = b.len() > 3 && b[..2].iter().all(u8::is_ascii_digit) && b[2] == b'T' && b[3].is_ascii_digit();
    splits.then_some(2)
}

fn what(run: &str) -> What {
    let digits = run.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 {
        let capital = run.as_bytes()[0].is_ascii_uppercase();
        return if run.bytes().all(|b| b.is_ascii_alphabetic()) { What::Word(key(run), capital) } else { What::Foreign };
    }
    let Some(value) = run.get(..digits).filter(|d| d.len() <= 6).and_then(|d| d.parse::<i32>().ok()) else {
        return What::Foreign;
    };
    match &run[digits..] {
        "" => What::Digits(value, digits as u8, false),
        "st" | "nd" | "rd" | "th" => What::Digits(value, digits as u8, true),
        "s" if digits == 4 && (1900..2100).contains(&value) && value % 10 == 0 => What::Decade(value as i16),
        _ => What::Foreign,
    }
}

fn key(word: &str) -> Key {
    let mut small = [0; WORD_BYTES_MAX];
    let Some(small) = small.get_mut(..word.len()) else { return Key::Other };
    small.copy_from_slice(word.as_bytes());
    small.make_ascii_lowercase();
    let word = std::str::from_utf8(small).unwrap_or_default();
    if let Some(key) = name(word) {
        return key;
    }
    match word {
        "last" | "previous" => Key::Turn(Turn::Last),
        "this" | "current" => Key::Turn(Turn::This),
        "next" | "coming" => Key::Turn(Turn::Next),
        "past" => Key::Past,
        "today" => Key::Today,
        "tonight" => Key::Tonight,
        "yesterday" => Key::Yesterday,
        "tomorrow" => Key::Tomorrow,
        "weekend" => Key::Weekend,
        "night" | "morning" | "afternoon" | "evening" => Key::PartOfDay,
        "a" | "an" | "one" => Key::A,
        "couple" => Key::Couple,
        "few" | "several" => Key::Few,
        "ago" => Key::Ago,
        "the" => Key::The,
        "of" => Key::Of,
        "on" => Key::On,
        "in" => Key::In,
        "during" | "throughout" => Key::During,
        "since" => Key::Since,
        "before" => Key::Before,
        "prior" => Key::Prior,
        "after" => Key::After,
        "until" | "till" => Key::Until,
        "from" => Key::From,
        "between" => Key::Between,
        "to" => Key::To,
        "through" => Key::Through,
        "and" => Key::And,
        "by" => Key::By,
        "now" => Key::Now,
        "early" | "late" | "mid" | "around" | "about" | "beginning" | "start" | "middle" | "earlier" | "later" => Key::Part,
        "end" => Key::End,
        "every" | "each" | "usually" | "always" => Key::Recurring,
        _ => count_word(word).map_or(Key::Other, Key::Count),
    }
}

/// Names of months, weekdays, seasons and units.
fn name(word: &str) -> Option<Key> {
    use Name::{Shared, Short, Sure};
    let unit = |unit, number| Some(Key::Unit(unit, number));
    let (one, many) = (Number::One, Number::Many);
    Some(match word {
        "january" => Key::Month(1, Sure),
        "february" => Key::Month(2, Sure),
        "march" => Key::Month(3, Shared),
        "april" => Key::Month(4, Shared),
        "may" => Key::Month(5, Shared),
        "june" => Key::Month(6, Shared),
        "july" => Key::Month(7, Sure),
        "august" => Key::Month(8, Shared),
        "september" => Key::Month(9, Sure),
        "october" => Key::Month(10, Sure),
        "november" => Key::Month(11, Sure),
        "december" => Key::Month(12, Sure),
        "jan" => Key::Month(1, Short),
        "feb" => Key::Month(2, Short),
        "mar" => Key::Month(3, Short),
        "apr" => Key::Month(4, Short),
        "jun" => Key::Month(6, Short),
        "jul" => Key::Month(7, Short),
        "aug" => Key::Month(8, Short),
        "sep" | "sept" => Key::Month(9, Short),
        "oct" => Key::Month(10, Short),
        "nov" => Key::Month(11, Short),
        "dec" => Key::Month(12, Short),
        "monday" => Key::Weekday(1, Sure),
        "tuesday" => Key::Weekday(2, Sure),
        "wednesday" => Key::Weekday(3, Sure),
        "thursday" => Key::Weekday(4, Sure),
        "friday" => Key::Weekday(5, Sure),
        "saturday" => Key::Weekday(6, Sure),
        "sunday" => Key::Weekday(7, Sure),
        "mon" => Key::Weekday(1, Short),
        "tue" | "tues" => Key::Weekday(2, Short),
        "wed" => Key::Weekday(3, Short),
        "thu" | "thur" | "thurs" => Key::Weekday(4, Short),
        "fri" => Key::Weekday(5, Short),
        "sat" => Key::Weekday(6, Short),
        "sun" => Key::Weekday(7, Short),
        "spring" => Key::Season(3, false),
        "summer" => Key::Season(6, true),
        "autumn" => Key::Season(9, true),
        "fall" => Key::Season(9, false),
        "winter" => Key::Season(12, true),
        "second" => return unit(Unit::Second, one),
        "seconds" => return unit(Unit::Second, many),
        "minute" => return unit(Unit::Minute, one),
        "minutes" => return unit(Unit::Minute, many),
        "hour" => return unit(Unit::Hour, one),
        "hours" => return unit(Unit::Hour, many),
        "day" => return unit(Unit::Day, one),
        "days" => return unit(Unit::Day, many),
        "week" => return unit(Unit::Week, one),
        "weeks" => return unit(Unit::Week, many),
        "month" => return unit(Unit::Month, one),
        "months" => return unit(Unit::Month, many),
        "year" => return unit(Unit::Year, one),
        "years" => return unit(Unit::Year, many),
        _ => return None,
    })
}

fn count_word(word: &str) -> Option<i32> {
    const WORDS: [&str; 12] =
        ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen"];
    WORDS.iter().position(|w| *w == word).map(|n| n as i32 + 2)
}
