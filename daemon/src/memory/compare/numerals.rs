//! Numbers written as words, in both languages.
//!
//! Pure. Must not know: sentences.

/// The number of an English number word or ordinal, up to ninety.
pub(super) fn english_number(word: &str) -> Option<u32> {
    const WORDS: [(&str, u32); 41] = [
        ("zero", 0),
        ("two", 2),
        ("three", 3),
        ("four", 4),
        ("five", 5),
        ("six", 6),
        ("seven", 7),
        ("eight", 8),
        ("nine", 9),
        ("ten", 10),
        ("eleven", 11),
        ("twelve", 12),
        ("thirteen", 13),
        ("fourteen", 14),
        ("fifteen", 15),
        ("sixteen", 16),
        ("seventeen", 17),
        ("eighteen", 18),
        ("nineteen", 19),
        ("twenty", 20),
        ("thirty", 30),
        ("forty", 40),
        ("fifty", 50),
        ("sixty", 60),
        ("seventy", 70),
        ("eighty", 80),
        ("ninety", 90),
        ("third", 3),
        ("fourth", 4),
        ("fifth", 5),
        ("sixth", 6),
        ("seventh", 7),
        ("eighth", 8),
        ("ninth", 9),
        ("tenth", 10),
        ("twice", 2),
        ("one", 1),
        ("once", 1),
        ("eleventh", 11),
        ("twelfth", 12),
        ("hundred", 100),
    ];
    WORDS.iter().find(|(name, _)| *name == word).map(|(_, number)| *number)
}

/// The number of a Han numeral, up to the hundred millions.
pub(super) fn han_number(text: &str) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    let digit = |c: char| {
        "零一二三四五六七八九".chars().position(|d| d == c).map(|d| d as u64).or(match c {
            '〇' => Some(0),
            '两' => Some(2),
            _ => None,
        })
    };
    let places = |c: char| match c {
        '十' => Some(10),
        '百' => Some(100),
        '千' => Some(1_000),
        _ => None,
    };
    if text.chars().count() > 1 && text.chars().all(|c| digit(c).is_some()) {
        return text.chars().try_fold(0_u64, |sum, c| Some(sum.checked_mul(10)? + digit(c)?));
    }
    let (mut total, mut section, mut last): (u64, u64, Option<u64>) = (0, 0, None);
    for c in text.chars() {
        if let Some(d) = digit(c) {
            last = Some(d);
        } else if let Some(place) = places(c) {
            section += last.take().unwrap_or(1) * place;
        } else {
            let large = match c {
                '万' => 10_000,
                '亿' => 100_000_000,
                _ => return None,
            };
            total += (section + last.take().unwrap_or(0)).max(1) * large;
            section = 0;
        }
    }
    Some(total + section + last.unwrap_or(0))
}

/// The month of its English name, from 1.
pub(super) fn month(word: &str) -> Option<u32> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let found = MONTHS.iter().position(|name| *name == word || (word.len() >= 3 && word.len() <= 4 && name.starts_with(word)))?;
    u32::try_from(found + 1).ok()
}

/// The day of the week, from 1 for Monday.
pub(super) fn weekday(word: &str) -> Option<u32> {
    const DAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    let english = DAYS.iter().position(|name| *name == word.strip_suffix('s').unwrap_or(word));
    if let Some(found) = english {
        return u32::try_from(found + 1).ok();
    }
    let day = word.strip_prefix("星期").or_else(|| word.strip_prefix("礼拜")).or_else(|| word.strip_prefix('周'))?;
    match day {
        "日" | "天" => Some(7),
        day => "一二三四五六".find(day).filter(|_| day.chars().count() == 1).and_then(|at| u32::try_from(at / 3 + 1).ok()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn numerals_are_read() {
        for (text, number) in [
            ("三", 3),
            ("十", 10),
            ("十五", 15),
            ("二十三", 23),
            ("一百零五", 105),
            ("两千", 2_000),
            ("三万", 30_000),
            ("二〇二四", 2_024),
        ] {
            assert_eq!(han_number(text), Some(number), "{text}");
        }
        assert_eq!(han_number("三月"), None);
        assert_eq!((english_number("fifteen"), english_number("fifth"), english_number("fifty")), (Some(15), Some(5), Some(50)));
        assert_eq!((month("sept"), month("may"), month("ma"), month("monday")), (Some(9), Some(5), None, None));
        assert_eq!((weekday("mondays"), weekday("周日"), weekday("星期三"), weekday("周末")), (Some(1), Some(7), Some(3), None));
    }
}
