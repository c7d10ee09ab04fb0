//! What an expression of time says, before it is laid on a calendar.
//!
//! Must not know: languages, calendars, instants.

use std::ops::Range;

/// A unit that is counted from the present one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Second,
    Minute,
    Hour,
    Day,
    /// Monday to Sunday.
    Week,
    Month,
    Year,
}

/// Which one of those that come again and again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// The last one that is over.
    Last,
    /// The present one.
    This,
    /// The first one that has not begun.
    Next,
}

/// The year of a month or a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Year {
    Given(i16),
    /// Counted from the present year.
    Counted(i32),
    /// `last May`, `next summer`.
    Turn(Turn),
    /// Nobody said.
    Any,
}

/// A stretch of time as it was said. Months count from 1, weekdays from 1 for Monday.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    /// A day, and those that follow it up to `until`.
    Day { year: Year, month: i8, day: i8, until: i8 },
    /// Months, seasons and quarters: the first month and how many there are.
    Months { year: Year, month: i8, count: i8 },
    /// Years: the first and how many there are.
    Years { first: i16, count: i16 },
    /// Calendar units counted from the present one: `last week` is -1 to -1.
    Units { unit: Unit, from: i32, to: i32 },
    /// So many units that end with the present day.
    Rolling { unit: Unit, count: i32 },
    /// The nearest such day before or after the present day.
    Weekday { weekday: i8, turn: Turn },
    /// A day of a week counted from the present one.
    WeekdayOf { weeks: i32, weekday: i8 },
    /// Saturday and Sunday of a week counted from the present one.
    Weekend { weeks: i32 },
    /// A day of a month counted from the present one.
    DayOf { months: i32, day: i8 },
}

impl Said {
    /// Its year, where it is a month or a day of one.
    pub fn year(&self) -> Option<Year> {
        match self {
            Said::Day { year, .. } | Said::Months { year, .. } => Some(*year),
            _ => None,
        }
    }

    /// The same in another year.
    pub fn with_year(mut self, other: Year) -> Said {
        if let Said::Day { year, .. } | Said::Months { year, .. } = &mut self {
            *year = other;
        }
        self
    }

    /// Whether its year is not said.
    pub fn is_yearless(&self) -> bool {
        self.year() == Some(Year::Any)
    }
}

/// How a stretch bounds what is spoken of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    /// Within it.
    During,
    /// From its beginning on.
    Since,
    /// Before its beginning.
    Before,
    /// After its end.
    After,
    /// Up to its beginning; of a day, up to its end.
    Until,
    /// Up to its end.
    Through,
    /// From its beginning to the end of a second one.
    To(Said),
    /// What is counted from its first day: `the week before May 8`.
    Off(Said),
}

/// An expression found in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Phrase {
    /// Where its own words stand, in bytes, without those of its relation.
    pub at: Range<usize>,
    pub said: Said,
    pub relation: Relation,
    /// Whether it is said to come again and again.
    pub recurs: bool,
}
