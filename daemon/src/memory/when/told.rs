//! What a text tells of time: when what it tells happened, and from when until when it holds.
//!
//! Relative words count from the anchor: when it happened as its teller said, else when it was recorded. A text that names several
//! times which do not lie within each other tells none: which one is meant is not guessed. Must not know: memories.

use super::calendar::{Anchor, Days, Unsaid};
use super::said::{Phrase, Relation, Said, Turn, Unit, Year};
use super::{Span, phrases, range};

/// Times that a text tells, Unix milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::memory) struct Told {
    /// When what it tells happened, or is to happen.
    pub occurred: Option<Span>,
    /// It holds from then on.
    pub valid_from_ms: Option<i64>,
    /// It holds until then, exclusive.
    pub valid_to_ms: Option<i64>,
}

/// Reads a text. `anchor_ms` is what relative words count from; without it only dates with a year tell something. A stretch that
/// holds the anchor (`today`, `this year`) says no more than is known and tells nothing.
pub(in crate::memory) fn told(text: &str, anchor_ms: Option<i64>, offset_min: Option<i16>) -> Told {
    let mut told = Told::default();
    let found = phrases(text);
    if found.is_empty() {
        return told;
    }
    let anchor = Anchor::new(anchor_ms.unwrap_or(0), offset_min);
    let recurs = found.iter().any(|p| p.recurs) || says_recurring(text);
    let (mut stretches, mut several) = (Vec::new(), false);
    for phrase in found.iter().filter(|p| anchor_ms.is_some() || is_absolute(p.said)) {
        if recurs && !is_absolute(phrase.said) || is_after_something(phrase, text) {
            continue;
        }
        match phrase.relation {
            Relation::During => stretches.extend(happened(phrase.said, &anchor)),
            Relation::Off(said) => {
                let day = happened(phrase.said, &anchor);
                stretches.extend(day.and_then(|(day, _)| anchor.on(day).days(said, Unsaid::Nearest)));
            }
            Relation::To(last) if is_between(text, phrase) => {
                stretches.extend(
                    range(&anchor, Unsaid::Nearest, phrase.said, last).filter(|_| anchor_ms.is_some() || is_absolute(last)),
                );
            }
            Relation::To(last) if anchor_ms.is_some() || is_absolute(last) => {
                if let Some((from, to)) = range(&anchor, Unsaid::Nearest, phrase.said, last) {
                    several |= told.valid_from_ms.is_some() || told.valid_to_ms.is_some();
                    (told.valid_from_ms, told.valid_to_ms) = (Some(anchor.begin_ms(from)), Some(anchor.begin_ms(to)));
                }
            }
            Relation::Since => {
                several |= told.valid_from_ms.is_some();
                told.valid_from_ms = anchor.days(phrase.said, Unsaid::Latest).map(|(from, _)| anchor.begin_ms(from));
            }
            Relation::Until | Relation::Through if !denies(text, phrase) => {
                several |= told.valid_to_ms.is_some();
                told.valid_to_ms = until(phrase, &anchor);
            }
            _ => {}
        }
    }
    if several || told.valid_from_ms.zip(told.valid_to_ms).is_some_and(|(from, to)| to <= from) {
        (told.valid_from_ms, told.valid_to_ms) = (None, None);
    }
    told.occurred = innermost(stretches).map(|(from, to)| Span { from_ms: anchor.begin_ms(from), to_ms: anchor.begin_ms(to) });
    if anchor_ms.is_some_and(|at| told.occurred.is_some_and(|span| span.from_ms <= at && at < span.to_ms)) {
        told.occurred = None;
    }
    told
}

/// The days of what happened then; none of seasons and spans that say how long something has gone on.
fn happened(said: Said, anchor: &Anchor) -> Option<Days> {
    let is_vague = matches!(said, Said::Rolling { .. } | Said::Months { year: Year::Any, count: 2.., .. });
    (!is_vague).then(|| anchor.days(said, Unsaid::Nearest)).flatten()
}

/// The stretch that lies within all others.
fn innermost(stretches: Vec<Days>) -> Option<Days> {
    let inner = *stretches.iter().min_by_key(|(from, to)| (*to - *from).get_days())?;
    stretches.iter().all(|(from, to)| *from <= inner.0 && inner.1 <= *to).then_some(inner)
}

/// Until a month is until it begins; until a day, or the end of anything, is until that is over.
fn until(phrase: &Phrase, anchor: &Anchor) -> Option<i64> {
    let (from, to) = anchor.days(upcoming(phrase.said), Unsaid::Nearest)?;
    let whole = phrase.relation == Relation::Through
        || matches!(phrase.said, Said::Day { .. } | Said::Weekday { .. } | Said::WeekdayOf { .. } | Said::DayOf { .. })
        || matches!(phrase.said, Said::Units { unit: Unit::Day, .. });
    Some(anchor.begin_ms(if whole { to } else { from }))
}

/// A month or a day without a year, as the end of something: the next one.
fn upcoming(said: Said) -> Said {
    if said.is_yearless() { said.with_year(Year::Turn(Turn::Next)) } else { said }
}

/// `between May 3 and May 8`: something happened at some time of it, and nothing is said to have held all the while.
fn is_between(text: &str, phrase: &Phrase) -> bool {
    text[..phrase.at.start].trim_end().to_ascii_lowercase().ends_with("between") || text[phrase.at.end..].starts_with("之间")
}

/// Whether it names its year itself.
fn is_absolute(said: Said) -> bool {
    matches!(said.year(), Some(Year::Given(_))) || matches!(said, Said::Years { .. })
}

/// Whether a text speaks of what comes again and again.
fn says_recurring(text: &str) -> bool {
    const WORDS: [&str; 6] = ["每", "通常", "往年", "总是", "常常", "经常"];
    const ENGLISH: [&str; 7] = ["every", "each", "usually", "always", "often", "annually", "yearly"];
    let is_word = |word: &str| ENGLISH.iter().any(|w| word.eq_ignore_ascii_case(w));
    WORDS.iter().any(|w| text.contains(w)) || text.split(|c: char| !c.is_ascii_alphabetic()).any(is_word)
}

/// `三天后`: so long after what the text told before, not after now.
fn is_after_something(phrase: &Phrase, text: &str) -> bool {
    let words = &text[phrase.at.clone()];
    matches!(phrase.said, Said::Units { from: 1.., .. }) && (words.ends_with('后') || words.ends_with("以后"))
}

/// `not until March` says when something begins.
fn denies(text: &str, phrase: &Phrase) -> bool {
    let before = text[..phrase.at.start].trim_end();
    let words: Vec<&str> = before.rsplit(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).take(3).collect();
    words.iter().any(|w| w.eq_ignore_ascii_case("not"))
        || before.ends_with("不到")
        || before.ends_with("直到") && text.contains('才')
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::tests::{day_of, ms};
    use super::*;
    use proptest::prelude::*;

    /// A Wednesday, the day of the case.
    const WHEN: &str = "2023-05-24T15:00:00Z";

    fn at(text: &str) -> Told {
        told(text, Some(ms(WHEN)), None)
    }

    #[track_caller]
    fn check(text: &str, from: &str, to: &str) {
        let span = at(text).occurred.unwrap_or_else(|| panic!("{text:?} tells nothing"));
        assert_eq!((day_of(span.from_ms), day_of(span.to_ms)), (from.to_owned(), to.to_owned()), "{text:?}");
    }

    // M10
    #[test]
    fn relative_words_count_from_when_it_happened() {
        check("went to Paris last week", "2023-05-15", "2023-05-22");
        check("Yesterday we painted the fence", "2023-05-23", "2023-05-24");
        check("I saw Ann last Friday.", "2023-05-19", "2023-05-20");
        check("moved here two months ago", "2023-03-01", "2023-04-01");
        check("the dentist is next Tuesday", "2023-05-30", "2023-05-31");
        check("we signed on May 8", "2023-05-08", "2023-05-09");
        check("the party was on December 30", "2022-12-30", "2022-12-31");
        check("last weekend, on Saturday, we hiked", "2023-05-20", "2023-05-22");
        check("昨天去了医院", "2023-05-23", "2023-05-24");
        check("上周五见了小林", "2023-05-19", "2023-05-20");
        check("we met the week before May 8", "2023-05-01", "2023-05-08");
        check("下个月搬家", "2023-06-01", "2023-07-01");
        check("三天前换了手机", "2023-05-21", "2023-05-22");
        check("去年五月去了北京", "2022-05-01", "2022-06-01");
    }

    // M10
    #[test]
    fn a_date_with_its_year_needs_no_anchor() {
        for (text, from, to) in [
            ("The contract was signed on 2024-03-05.", "2024-03-05", "2024-03-06"),
            ("合同于2024年3月5日签订", "2024-03-05", "2024-03-06"),
            ("born in 1998", "1998-01-01", "1999-01-01"),
        ] {
            check(text, from, to);
            let span = told(text, None, None).occurred.unwrap();
            assert_eq!((day_of(span.from_ms), day_of(span.to_ms)), (from.to_owned(), to.to_owned()), "{text:?}");
        }
        assert_eq!(told("went to Paris last week", None, None), Told::default());
    }

    // M10, M12
    #[test]
    fn what_is_not_told_is_not_invented() {
        for text in [
            "likes green tea",
            "today we met",
            "this year is busy",
            "You may call the second one",
            "We deploy every Friday, and each May we take stock",
            "goes to the sea every summer, last year too",
            "moved the release from Tuesday to 2024-05-01, then to 2024-06-01",
            "went to Paris last week and to Rome in 2019",
            "I have run a lot in the past two weeks",
            "reads a lot in summer",
            "the tests took 5 seconds",
            "每年五月去旅行",
            "目前天气很好",
            "出发三天后到了",
            "使用端口 2022",
            "甘露元年（265年）七月即位",
        ] {
            assert_eq!(at(text).occurred, None, "{text:?}");
        }
    }

    #[test]
    fn how_long_it_holds() {
        let span = |text: &str| {
            let told = at(text);
            (told.valid_from_ms.map(day_of).unwrap_or_default(), told.valid_to_ms.map(day_of).unwrap_or_default())
        };
        for (text, from, to) in [
            ("in Berlin until March", "", "2024-03-01"),
            ("on leave until the end of June", "", "2023-07-01"),
            ("the code freeze holds until 2023-06-02", "", "2023-06-03"),
            ("the lease runs from 2024-01 to 2024-06", "2024-01-01", "2024-07-01"),
            ("works at Acme since March 2021", "2021-03-01", ""),
            ("休假直到六月", "", "2023-06-01"),
            ("合同从2024年1月到2024年6月", "2024-01-01", "2024-07-01"),
            ("自从去年五月住在上海", "2022-05-01", ""),
            ("有效期至2024年12月31日", "", "2025-01-01"),
            ("we do not ship until March", "", ""),
            ("finish before June", "", ""),
            ("had three interviews between April 25 and May 1", "", ""),
        ] {
            assert_eq!(span(text), (from.to_owned(), to.to_owned()), "{text:?}");
        }
    }

    // M11
    #[test]
    fn days_are_those_of_the_teller() {
        let span = told("yesterday", Some(ms("2023-05-24T20:45:00Z")), Some(480)).occurred.unwrap();
        assert_eq!(span.from_ms, ms("2023-05-23T16:00:00Z"));
    }

    proptest! {
        // M21, M34
        #[test]
        fn no_text_is_too_strange(text in any::<String>(), at in any::<Option<i64>>(), offset in any::<Option<i16>>()) {
            let told = told(&text, at, offset);
            prop_assert!(told.occurred.is_none_or(|span| span.from_ms < span.to_ms));
        }
    }
}
