//! Stretches of time laid on the calendar, as seen from one instant at one offset from UTC.
//!
//! Weeks begin on Monday, seasons are those of the northern half: spring from March, summer from June, autumn from September,
//! winter from December. Must not know: languages.

use super::said::{Said, Turn, Unit, Year};
use jiff::civil::{Date, Weekday};
use jiff::tz::Offset;
use jiff::{SignedDuration, Span as Length, Timestamp, ToSpan};

/// The earliest instant an interval names: the first of January of the year 1, in Unix milliseconds.
pub(super) const EARLIEST_MS: i64 = -62_135_596_800_000;
/// The instant no interval passes: the end of the year 9999, in Unix milliseconds.
pub(super) const LATEST_MS: i64 = 253_402_300_800_000;

/// The day everything relative counts from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Anchor {
    at: Timestamp,
    offset: Offset,
    pub today: Date,
}

/// Days from the first to before the second.
pub(super) type Days = (Date, Date);

/// Which year a month or a day without one is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unsaid {
    /// The newest that has begun.
    Latest,
    /// The one nearest to the anchor, before or after.
    Nearest,
}

impl Anchor {
    /// The day of an instant, at an offset in minutes east of UTC. Instants beyond the calendar count as its ends.
    pub fn new(at_ms: i64, offset_min: Option<i16>) -> Anchor {
        let at_ms = at_ms.clamp(EARLIEST_MS, LATEST_MS - 1);
        let at = Timestamp::from_millisecond(at_ms).unwrap_or(Timestamp::UNIX_EPOCH);
        let offset = Offset::from_seconds(i32::from(offset_min.unwrap_or(0)) * 60).unwrap_or(Offset::UTC);
        Anchor { at, offset, today: offset.to_datetime(at).date() }
    }

    /// The same offset, seen from another day.
    pub fn on(&self, day: Date) -> Anchor {
        Anchor { at: self.offset.to_timestamp(day.at(0, 0, 0, 0)).unwrap_or(self.at), offset: self.offset, today: day }
    }

    /// The instant at which a day begins, Unix milliseconds.
    pub fn begin_ms(&self, day: Date) -> i64 {
        self.offset.to_timestamp(day.at(0, 0, 0, 0)).map_or(LATEST_MS, |t| t.as_millisecond()).clamp(EARLIEST_MS, LATEST_MS)
    }

    /// Days of a stretch; none where it names no day of the calendar.
    pub fn days(&self, said: Said, unsaid: Unsaid) -> Option<Days> {
        match said {
            Said::Day { year, .. } | Said::Months { year, .. } => self.of_year(said, year, unsaid),
            Said::Years { first, count } => {
                let first = Date::new(first, 1, 1).ok()?;
                Some((first, first.checked_add(i32::from(count).years()).ok()?))
            }
            Said::Units { unit, from, to } => self.units(unit, from, to),
            Said::Rolling { unit, count } => {
                let tomorrow = self.today.tomorrow().ok()?;
                let from = tomorrow.checked_sub(length(unit, count.unsigned_abs().min(100_000) as i32)).ok()?;
                if count >= 0 { Some((from, tomorrow)) } else { Some((self.today, self.shift(unit, count.checked_neg()?)?)) }
            }
            Said::Weekday { weekday, turn } => {
                let weekday = Weekday::from_monday_one_offset(weekday).ok()?;
                let day = match turn {
                    Turn::Last => self.today.nth_weekday(-1, weekday).ok()?,
                    Turn::Next => self.today.nth_weekday(1, weekday).ok()?,
                    Turn::This => {
                        return self.days(Said::WeekdayOf { weeks: 0, weekday: weekday.to_monday_one_offset() }, unsaid);
                    }
                };
                one(day)
            }
            Said::WeekdayOf { weeks, weekday } => one(self.monday(weeks)?.checked_add(i32::from(weekday - 1).days()).ok()?),
            Said::Weekend { weeks } => {
                let saturday = self.monday(weeks)?.checked_add(5.days()).ok()?;
                Some((saturday, saturday.checked_add(2.days()).ok()?))
            }
            Said::DayOf { months, day } => {
                let first = self.today.first_of_month().checked_add(months.months()).ok()?;
                one(Date::new(first.year(), first.month(), day).ok()?)
            }
        }
    }

    fn units(&self, unit: Unit, from: i32, to: i32) -> Option<Days> {
        let first = |by: i32| {
            let day = self.shift(unit, by)?;
            match unit {
                Unit::Week => self.monday(by),
                Unit::Month => Some(self.today.first_of_month().checked_add(by.months()).ok()?),
                Unit::Year => Some(self.today.first_of_year().checked_add(by.years()).ok()?),
                Unit::Day | Unit::Hour | Unit::Minute | Unit::Second => Some(day),
            }
        };
        let end = match unit {
            Unit::Hour | Unit::Minute | Unit::Second => first(to)?.tomorrow().ok()?,
            _ => first(to.checked_add(1)?)?,
        };
        Some((first(from)?, end))
    }

    /// The day so many units from the anchor.
    fn shift(&self, unit: Unit, by: i32) -> Option<Date> {
        let seconds = |each: i64| {
            let at = self.at.checked_add(SignedDuration::from_secs(i64::from(by) * each)).ok()?;
            Some(self.offset.to_datetime(at).date())
        };
        match unit {
            Unit::Second => seconds(1),
            Unit::Minute => seconds(60),
            Unit::Hour => seconds(3_600),
            _ if by.unsigned_abs() > 100_000 => None,
            _ => self.today.checked_add(length(unit, by)).ok(),
        }
    }

    fn monday(&self, weeks: i32) -> Option<Date> {
        let back = i32::from(self.today.weekday().to_monday_zero_offset());
        if weeks.unsigned_abs() > 100_000 {
            return None;
        }
        self.today.checked_sub(back.days()).ok()?.checked_add(weeks.weeks()).ok()
    }

    fn of_year(&self, said: Said, year: Year, unsaid: Unsaid) -> Option<Days> {
        let present = self.today.year();
        let near = |years: std::ops::RangeInclusive<i16>| years.filter_map(|y| month_days(said, present.checked_add(y)?));
        match year {
            Year::Given(year) => month_days(said, year),
            Year::Counted(by) => month_days(said, i16::try_from(i32::from(present) + by).ok()?),
            Year::Turn(Turn::Last) => near(-9..=0).rfind(|(_, end)| *end <= self.today),
            Year::Turn(Turn::Next) => near(0..=9).find(|(first, _)| *first > self.today),
            Year::Turn(Turn::This) => near(-1..=0).find(|(_, end)| *end > self.today).or_else(|| month_days(said, present)),
            Year::Any if unsaid == Unsaid::Latest => near(-9..=0).rfind(|(first, _)| *first <= self.today),
            Year::Any => near(-4..=4).min_by_key(|(first, end)| self.distance_days(*first, *end)),
        }
    }

    /// Days between the anchor and a stretch, 0 inside it.
    fn distance_days(&self, first: Date, end: Date) -> i64 {
        let between = |a: Date, b: Date| (b - a).get_days().into();
        if self.today < first {
            between(self.today, first)
        } else if self.today < end {
            0
        } else {
            between(end, self.today)
        }
    }
}

fn one(day: Date) -> Option<Days> {
    Some((day, day.tomorrow().ok()?))
}

/// A month or a day in a year; none where the year has no such day.
pub(super) fn month_days(said: Said, year: i16) -> Option<Days> {
    match said {
        Said::Day { month, day, until, .. } => {
            let last = Date::new(year, month, until.max(day)).ok()?;
            Some((Date::new(year, month, day).ok()?, last.tomorrow().ok()?))
        }
        Said::Months { month, count, .. } => {
            let first = Date::new(year, month, 1).ok()?;
            Some((first, first.checked_add(i32::from(count).months()).ok()?))
        }
        _ => None,
    }
}

fn length(unit: Unit, count: i32) -> Length {
    match unit {
        Unit::Week => count.weeks(),
        Unit::Month => count.months(),
        Unit::Year => count.clamp(-19_998, 19_998).years(),
        _ => count.days(),
    }
}
