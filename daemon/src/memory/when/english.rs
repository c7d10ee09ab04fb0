//! Expressions of time in English text, and dates in digits in any.
//!
//! Words that only look like time (`may`, `march`, `second`, `sun`) count where their neighbours say that they are.
//! Must not know: calendars, instants.

use super::dates;
use super::said::{Phrase, Relation, Said, Turn, Unit};
use super::words::{Key, Name, Number, Token, What, tokens};

/// The tokens of a text.
pub(super) struct Tokens<'a> {
    text: &'a str,
    list: Vec<Token>,
}

/// What was read: what it says, and the token after it.
pub(super) type Read = Option<(Said, usize)>;

/// At most `most` expressions, in the order of the text.
pub(super) fn phrases(text: &str, most: usize) -> Vec<Phrase> {
    let tokens = Tokens { text, list: tokens(text) };
    let (mut found, mut at, mut chained) = (Vec::new(), 0, false);
    while at < tokens.list.len() && found.len() < most {
        match tokens.phrase(at, chained) {
            Some((said, next)) => {
                let (start, end) = (tokens.list[at].start, tokens.list[next - 1].end);
                let recurs = tokens.key(tokens.lead(at).0.wrapping_sub(1)) == Key::Recurring;
                found.push(Phrase { at: start..end, said, relation: tokens.relation(at), recurs });
                at = next;
                chained = tokens.joins(next);
                at += usize::from(chained);
            }
            None => {
                at += 1;
                chained = false;
            }
        }
    }
    found
}

impl Tokens<'_> {
    /// What the word at a place is; `Other` for everything that is no word.
    pub fn key(&self, at: usize) -> Key {
        match self.list.get(at).map(|t| t.what) {
            Some(What::Word(key, _)) => key,
            _ => Key::Other,
        }
    }

    /// Whether the word at a place begins with a capital.
    pub fn is_capital(&self, at: usize) -> bool {
        matches!(self.list.get(at).map(|t| t.what), Some(What::Word(_, true)))
    }

    /// The number at a place: its value, how many digits, and whether it is an ordinal. None for a part of a larger number.
    pub fn digits(&self, at: usize) -> Option<(i32, u8, bool)> {
        let Some(What::Digits(value, digits, ordinal)) = self.list.get(at).map(|t| t.what) else { return None };
        let number_at = |i: usize| matches!(self.list.get(i).map(|t| t.what), Some(What::Digits(..)));
        let within = |mark: usize, beyond: usize| {
            matches!(self.mark(mark), Some('.' | ':')) && number_at(beyond) && self.touches(mark) && self.touches(mark + 1)
        };
        let sign = at.checked_sub(1).filter(|i| self.touches(i + 1)).and_then(|i| self.mark(i));
        let is_part = within(at + 1, at + 2)
            || at >= 2 && within(at - 1, at - 2)
            || matches!(sign, Some('#' | '$' | '€' | '£' | '/' | '@' | '='))
            || self.touches(at + 1) && matches!(self.mark(at + 1), Some('%' | '/' | '°'))
            || self.touches(at + 1) && self.list.get(at + 1).is_some_and(|t| matches!(t.what, What::Word(..)));
        (!is_part).then_some((value, digits, ordinal))
    }

    /// The mark at a place.
    pub fn mark(&self, at: usize) -> Option<char> {
        match self.list.get(at)?.what {
            What::Mark(c) => Some(c),
            _ => None,
        }
    }

    /// Whether nothing stands between a token and the one before it.
    pub fn touches(&self, at: usize) -> bool {
        at > 0 && self.list.get(at).is_some_and(|t| self.list[at - 1].end == t.start)
    }

    /// What stands at a place.
    pub fn what(&self, at: usize) -> Option<What> {
        self.list.get(at).map(|t| t.what)
    }

    /// The words of a place.
    pub fn text(&self, at: usize) -> &str {
        self.list.get(at).map_or("", |t| &self.text[t.start..t.end])
    }

    /// Where the words that only shade an expression begin (`the`, `early`, `the end of`), and whether `end` is among them.
    pub fn lead(&self, at: usize) -> (usize, bool) {
        let (mut first, mut is_end) = (at, false);
        while first > 0 && at - first < 6 {
            let key = self.key(first - 1);
            let of = key == Key::Of && first > 1 && matches!(self.key(first - 2), Key::Part | Key::End);
            let hyphen = self.mark(first - 1) == Some('-') && first > 1 && self.key(first - 2) == Key::Part;
            if of || hyphen {
                is_end |= self.key(first - 2) == Key::End;
                first -= 2;
            } else if matches!(key, Key::The | Key::Part) {
                first -= 1;
            } else {
                break;
            }
        }
        (first, is_end)
    }

    /// The word before an expression, and before what only shades it.
    pub fn before(&self, at: usize) -> Key {
        let (first, _) = self.lead(at);
        let back = |n: usize| first.checked_sub(n).map_or(Key::Other, |i| self.key(i));
        if back(1) == Key::To && back(2) == Key::Prior { Key::Before } else { back(1) }
    }

    /// Whether a second expression may follow at this place: `to`, `through`, a dash.
    pub fn joins(&self, at: usize) -> bool {
        matches!(self.key(at), Key::To | Key::Through | Key::And | Key::Until)
            || matches!(self.mark(at), Some('-' | '–' | '—' | '~'))
    }

    fn relation(&self, at: usize) -> Relation {
        let (first, is_end) = self.lead(at);
        if let Some(said) = self.off(first) {
            return Relation::Off(said);
        }
        match self.before(at) {
            Key::Since => Relation::Since,
            Key::Before | Key::By => Relation::Before,
            Key::After => Relation::After,
            Key::Until if !is_end => Relation::Until,
            Key::Until | Key::Through => Relation::Through,
            _ => Relation::During,
        }
    }

    /// `the week before`, `two days after`, `the Sunday before`: what the words that end before a place count from a day.
    fn off(&self, end: usize) -> Option<Said> {
        let sign = match self.key(end.checked_sub(1)?) {
            Key::Before => -1,
            Key::After => 1,
            _ => return None,
        };
        let last = end.checked_sub(2)?;
        Some(match self.key(last) {
            Key::Unit(Unit::Second | Unit::Minute | Unit::Hour, _) => return None,
            Key::Unit(unit, Number::One) => units(unit, sign, sign),
            Key::Unit(unit, Number::Many) => {
                let (least, most, next) = self.count(last.checked_sub(1)?)?;
                let (from, to) = if sign < 0 { (-most, -least) } else { (least, most) };
                (next == last).then_some(units(unit, from, to))?
            }
            Key::Weekend => Said::Weekend { weeks: sign },
            Key::Weekday(weekday, Name::Sure) => Said::Weekday { weekday, turn: if sign < 0 { Turn::Last } else { Turn::Next } },
            _ => return None,
        })
    }

    /// The expression that begins at a place. `chained`: the one before it is joined with this.
    fn phrase(&self, at: usize, chained: bool) -> Read {
        match self.what(at)? {
            What::Word(Key::Month(month, name), _) => dates::month_first(self, at, month, name, chained),
            What::Word(Key::Season(month, is_sure), _) => dates::season(self, at, month, is_sure),
            What::Word(Key::Turn(turn), _) => self.turn(at, turn),
            What::Word(Key::Past, _) => self.past(at),
            What::Word(Key::Weekday(weekday, Name::Sure), _) => self.weekday(at, weekday),
            What::Word(Key::Count(_) | Key::A | Key::Couple | Key::Few, _) => self.ago(at),
            What::Word(key, _) => self.near(at, key),
            What::Decade(first) => Some((Said::Years { first, count: 10 }, at + 1)),
            What::Digits(..) => dates::numeric(self, at)
                .or_else(|| self.ago(at))
                .or_else(|| dates::day_first(self, at))
                .or_else(|| dates::year(self, at, chained)),
            What::Mark(_) | What::Foreign => None,
        }
    }

    /// `today`, `yesterday`, `the day before yesterday`, `the week before last`.
    fn near(&self, at: usize, key: Key) -> Read {
        let day = |by| Some(units(Unit::Day, by, by));
        let (said, next) = match (key, self.key(at + 1), self.key(at + 2)) {
            (Key::Today | Key::Tonight, ..) => (day(0)?, at + 1),
            (Key::Yesterday, ..) => (day(-1)?, at + 1),
            (Key::Tomorrow, ..) => (day(1)?, at + 1),
            (Key::Unit(Unit::Day, _), Key::Before, Key::Yesterday) => (day(-2)?, at + 3),
            (Key::Unit(Unit::Day, _), Key::After, Key::Tomorrow) => (day(2)?, at + 3),
            (Key::Unit(unit @ (Unit::Week | Unit::Month | Unit::Year), Number::One), Key::Before, Key::Turn(Turn::Last))
                if self.key(at + 3) == Key::Other =>
            {
                (units(unit, -2, -2), at + 3)
            }
            _ => return None,
        };
        Some((said, next))
    }

    /// How many: least, most, and the token after it.
    fn count(&self, at: usize) -> Option<(i32, i32, usize)> {
        let skip_of = |at: usize| at + usize::from(self.key(at) == Key::Of);
        match (self.key(at), self.key(at + 1)) {
            (Key::A, Key::Couple) => Some((2, 2, skip_of(at + 2))),
            (Key::A, Key::Few) => Some((2, 5, at + 2)),
            (Key::Couple, _) => Some((2, 2, skip_of(at + 1))),
            (Key::Few, _) => Some((2, 5, at + 1)),
            (Key::A, _) => Some((1, 1, at + 1)),
            (Key::Count(n), _) => Some((n, n, at + 1)),
            _ => self.digits(at).filter(|(n, _, ordinal)| !ordinal && *n > 0).map(|(n, ..)| (n, n, at + 1)),
        }
    }

    /// `two weeks ago`, `three days from now`.
    fn ago(&self, at: usize) -> Read {
        let (least, most, next) = self.count(at)?;
        let Key::Unit(unit, _) = self.key(next) else { return None };
        match (self.key(next + 1), self.key(next + 2)) {
            (Key::Ago, _) => Some((units(unit, -most, -least), next + 2)),
            (Key::From, Key::Now) => Some((units(unit, least, most), next + 3)),
            _ => None,
        }
    }

    /// `the past week`, `the past three months`.
    fn past(&self, at: usize) -> Read {
        if let Key::Unit(unit @ (Unit::Day | Unit::Week | Unit::Month | Unit::Year), Number::One) = self.key(at + 1) {
            return Some((Said::Rolling { unit, count: 1 }, at + 2));
        }
        self.rolling(at + 1, 1)
    }

    /// `three months` of `the last three months`.
    fn rolling(&self, at: usize, sign: i32) -> Read {
        let (_, most, next) = self.count(at)?;
        let Key::Unit(unit, Number::Many) = self.key(next) else { return None };
        if self.key(next + 1) == Key::Of {
            return None;
        }
        let said = match unit {
            Unit::Second | Unit::Minute | Unit::Hour if sign > 0 => units(unit, -most, 0),
            Unit::Second | Unit::Minute | Unit::Hour => units(unit, 0, most),
            _ => Said::Rolling { unit, count: most.saturating_mul(sign) },
        };
        Some((said, next + 1))
    }

    /// `last week`, `this summer`, `next Tuesday`, `last May`.
    fn turn(&self, at: usize, turn: Turn) -> Read {
        let by = match turn {
            Turn::Last => -1,
            Turn::This => 0,
            Turn::Next => 1,
        };
        let after_the = at > 0 && self.key(at - 1) == Key::The;
        let is_part_of = self.key(at + 2) == Key::Of;
        let said = match self.key(at + 1) {
            Key::Unit(Unit::Week | Unit::Month | Unit::Year, Number::One) if is_part_of && turn != Turn::This => return None,
            Key::Unit(unit @ (Unit::Week | Unit::Month | Unit::Year), Number::One) if after_the => match turn {
                Turn::Last => Said::Rolling { unit, count: 1 },
                Turn::This => units(unit, 0, 0),
                Turn::Next => return None,
            },
            Key::Unit(unit @ (Unit::Week | Unit::Month | Unit::Year), Number::One) => units(unit, by, by),
            Key::Weekend if !is_part_of => Said::Weekend { weeks: by },
            Key::PartOfDay if turn != Turn::Next && !is_part_of => units(Unit::Day, by, by),
            Key::Weekday(weekday, name) if !is_part_of && (name == Name::Sure || self.is_capital(at + 1)) => {
                Said::Weekday { weekday, turn }
            }
            Key::Month(month, name) => return dates::turned_month(self, at + 1, month, name, turn),
            Key::Season(month, is_sure) => return dates::turned_season(self, at + 1, month, is_sure, turn),
            _ if turn == Turn::This => return None,
            _ => return self.rolling(at + 1, -by),
        };
        Some((said, at + 2))
    }

    /// `Monday of last week`, `Friday next week`.
    fn weekday(&self, at: usize, weekday: i8) -> Read {
        let next = at + 1 + usize::from(self.key(at + 1) == Key::Of);
        let (Key::Turn(turn), Key::Unit(Unit::Week, Number::One)) = (self.key(next), self.key(next + 1)) else { return None };
        let weeks = match turn {
            Turn::Last => -1,
            Turn::This => 0,
            Turn::Next => 1,
        };
        Some((Said::WeekdayOf { weeks, weekday }, next + 2))
    }
}

/// Calendar units counted from the present one.
pub(super) fn units(unit: Unit, from: i32, to: i32) -> Said {
    Said::Units { unit, from, to }
}
