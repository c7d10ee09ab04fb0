//! Expressions of time in Chinese text.
//!
//! Must not know: calendars, instants.

use super::chinese_number::{Numeral, is_numeral, numeral};
use super::english::units;
use super::said::{Phrase, Relation, Said, Unit, Year};

/// What was read: what it says, and how many bytes it takes.
type Read = Option<(Said, usize)>;

/// Characters that an expression begins with.
fn begins(c: char) -> bool {
    matches!(
        c,
        '昨' | '今' | '明' | '前' | '后' | '大' | '去' | '上' | '下' | '这' | '本' | '过' | '最' | '近' | '未' | '几' | '半'
    ) || is_numeral(c)
}

/// At most `most` expressions, in the order of the text.
pub(super) fn phrases(text: &str, most: usize) -> Vec<Phrase> {
    let mut found = Vec::new();
    if text.is_ascii() {
        return found;
    }
    let (mut at, mut before) = (0, ' ');
    while let Some(c) = text[at..].chars().next() {
        if found.len() == most {
            break;
        }
        let read = if begins(c) { phrase(&text[at..], c, before) } else { None };
        let bytes = match read {
            Some((said, bytes)) => {
                let (relation, recurs) = (relation(text, at, at + bytes), text[..at].ends_with('每'));
                found.push(Phrase { at: at..at + bytes, said, relation, recurs });
                bytes
            }
            // A number is read whole or not at all.
            None if is_numeral(c) => text[at..].chars().take_while(|c| is_numeral(*c)).map(char::len_utf8).sum(),
            None => c.len_utf8(),
        };
        before = text[..at + bytes].chars().next_back().unwrap_or(' ');
        at += bytes;
    }
    found
}

fn phrase(rest: &str, first: char, before: char) -> Read {
    if is_numeral(first) || matches!(first, '几' | '半') {
        // After the year of another calendar, a month is not of ours: 元年（265年）七月.
        return if matches!(before, '年' | '）' | ')' | '第' | '.' | '-' | '/' | '_' | '#') { None } else { numbered(rest) };
    }
    year_word(rest, before)
        .or_else(|| day_word(rest, before))
        .or_else(|| week(rest, before))
        .or_else(|| month(rest, before))
        .or_else(|| half_year(rest))
        .or_else(|| rolling(rest))
}

/// The first of the words that a text begins with, its value and its bytes.
fn word<T: Copy>(rest: &str, words: &[(&str, T)]) -> Option<(T, usize)> {
    words.iter().find(|(word, _)| rest.starts_with(word)).map(|(word, value)| (*value, word.len()))
}

/// Bytes of white space at the beginning.
fn space(rest: &str) -> usize {
    rest.len() - rest.trim_start_matches(' ').len()
}

fn next(rest: &str) -> char {
    rest.chars().next().unwrap_or(' ')
}

/// `去年`, `明年五月`, `前年夏天`.
fn year_word(rest: &str, before: char) -> Read {
    const WORDS: &[(&str, i32)] =
        &[("大前年", -3), ("前年", -2), ("去年", -1), ("今年", 0), ("本年", 0), ("明年", 1), ("大后年", 3), ("后年", 2)];
    let (by, bytes) = word(rest, WORDS)?;
    let taken = rest.starts_with('前') && joins_front(before) || rest.starts_with('后') && joins_back(before);
    if taken {
        return None;
    }
    let skipped = bytes + rest[bytes..].strip_prefix('的').map_or(0, |_| '的'.len_utf8());
    let year = Year::Counted(by);
    let inner = within_year(&rest[skipped..], year).map(|(said, n)| (said, skipped + n));
    inner.or(Some((units(Unit::Year, by, by), bytes)))
}

/// Characters that make a word with a following 前: 目前, 之前, 三天前.
fn joins_front(c: char) -> bool {
    matches!(c, '目' | '之' | '以' | '此' | '当' | '眼' | '面' | '提' | '年' | '月' | '周' | '天' | '日' | '生' | '从')
        || is_numeral(c)
}

/// Characters that make a word with a following 后: 然后, 以后, 今后.
fn joins_back(c: char) -> bool {
    matches!(c, '然' | '以' | '之' | '最' | '今' | '此' | '随' | '先' | '前' | '年' | '月' | '周' | '天' | '日')
}

/// A month, a day, a season or a half of a year.
fn within_year(rest: &str, year: Year) -> Read {
    const SEASONS: &[(&str, i8)] =
        &[("春天", 3), ("春季", 3), ("夏天", 6), ("夏季", 6), ("秋天", 9), ("秋季", 9), ("冬天", 12), ("冬季", 12)];
    const HALVES: &[(&str, i8)] = &[("上半年", 1), ("下半年", 7)];
    if let Some((month, bytes)) = word(rest, SEASONS) {
        return Some((Said::Months { year, month, count: 3 }, bytes));
    }
    if let Some((month, bytes)) = word(rest, HALVES) {
        return Some((Said::Months { year, month, count: 6 }, bytes));
    }
    let skipped = space(rest);
    month_of_year(&rest[skipped..], year).map(|(said, bytes)| (said, skipped + bytes))
}

/// `5月`, `五月份`, `5月8日`, `5月8日至10日`.
fn month_of_year(rest: &str, year: Year) -> Read {
    let number = numeral(rest).filter(|n| (1..=12).contains(&n.value) && n.chars <= 2)?;
    let mut at = number.bytes + space(&rest[number.bytes..]);
    at += rest[at..].strip_prefix('月').map(|_| '月'.len_utf8())?;
    let month = number.value as i8;
    if matches!(next(&rest[at..]), '球' | '亮' | '饼' | '光' | '票' | '薪') {
        return None;
    }
    let skipped = at + space(&rest[at..]);
    if let Some((day, bytes)) = day_of_month(&rest[skipped..]) {
        let end = skipped + bytes;
        let last = ["到", "至", "-", "~", "—", "–", "～"].iter().find_map(|joiner| {
            let (last, bytes) = day_of_month(rest[end..].strip_prefix(joiner)?)?;
            (last > day).then_some((last, end + joiner.len() + bytes))
        });
        let (until, end) = last.unwrap_or((day, end));
        return Some((Said::Day { year, month, day, until }, end));
    }
    at += rest[at..].strip_prefix('份').map_or(0, |_| '份'.len_utf8());
    Some((Said::Months { year, month, count: 1 }, at))
}

/// `8日`, `八号`.
fn day_of_month(rest: &str) -> Option<(i8, usize)> {
    let number = numeral(rest).filter(|n| (1..=31).contains(&n.value) && n.chars <= 3)?;
    let at = number.bytes + space(&rest[number.bytes..]);
    let (_, bytes) = word(&rest[at..], &[("日", ()), ("号", ())])?;
    Some((number.value as i8, at + bytes))
}

/// `昨天`, `大前天`, `今晚`.
fn day_word(rest: &str, before: char) -> Read {
    const WORDS: &[(&str, i32)] = &[
        ("大前天", -3),
        ("前天", -2),
        ("前日", -2),
        ("前晚", -2),
        ("昨天", -1),
        ("昨日", -1),
        ("昨晚", -1),
        ("昨夜", -1),
        ("今天", 0),
        ("今日", 0),
        ("今晚", 0),
        ("今早", 0),
        ("今晨", 0),
        ("明天", 1),
        ("明日", 1),
        ("明晚", 1),
        ("明早", 1),
        ("大后天", 3),
        ("后天", 2),
    ];
    let (by, bytes) = word(rest, WORDS)?;
    let is_other = rest.starts_with('前') && joins_front(before)
        || rest.starts_with('后') && (joins_back(before) || matches!(next(&rest[bytes..]), '性' | '因' | '教'))
        || rest[bytes..].starts_with("头条");
    (!is_other).then(|| (units(Unit::Day, by, by), bytes))
}

/// Which one of weeks and months: `上`, `这`, `下下`.
const TURNS: &[(&str, i32)] = &[("上上", -2), ("上", -1), ("这", 0), ("本", 0), ("下下", 2), ("下", 1)];

/// The characters after which 上 and 下 belong to the word before: 早上, 以下.
fn joins_turn(c: char) -> bool {
    matches!(c, '早' | '晚' | '以' | '马' | '网' | '身' | '线' | '楼' | '路' | '资' | '日' | '成' | '基' | '根')
}

/// `上周`, `这个星期`, `下周二`, `上周末`.
fn week(rest: &str, before: char) -> Read {
    let (weeks, mut at) = word(rest, TURNS).filter(|_| !joins_turn(before))?;
    at += rest[at..].strip_prefix('个').map_or(0, |_| '个'.len_utf8());
    let (_, bytes) = word(&rest[at..], &[("星期", ()), ("礼拜", ()), ("周", ())])?;
    at += bytes;
    const DAYS: &[(&str, i8)] = &[("一", 1), ("二", 2), ("三", 3), ("四", 4), ("五", 5), ("六", 6), ("日", 7), ("天", 7)];
    if let Some((weekday, bytes)) = word(&rest[at..], DAYS) {
        return Some((Said::WeekdayOf { weeks, weekday }, at + bytes));
    }
    if rest[at..].starts_with('末') {
        return Some((Said::Weekend { weeks }, at + '末'.len_utf8()));
    }
    let is_other = matches!(next(&rest[at..]), '期' | '围' | '边' | '长' | '折' | '全' | '岁' | '年' | '转' | '易' | '身');
    (!is_other).then(|| (units(Unit::Week, weeks, weeks), at))
}

/// `上个月`, `本月`, `下个月5号`.
fn month(rest: &str, before: char) -> Read {
    let (months, mut at) = word(rest, TURNS).filter(|_| !joins_turn(before))?;
    at += rest[at..].strip_prefix('个').map_or(0, |_| '个'.len_utf8());
    at += rest[at..].strip_prefix('月').map(|_| '月'.len_utf8())?;
    if let Some((day, bytes)) = day_of_month(&rest[at..]) {
        return Some((Said::DayOf { months, day }, at + bytes));
    }
    let is_other = matches!(next(&rest[at..]), '球' | '亮' | '饼' | '光' | '经' | '薪' | '台');
    (!is_other).then(|| (units(Unit::Month, months, months), at))
}

/// `上半年`: of the present year.
fn half_year(rest: &str) -> Read {
    let (month, bytes) = word(rest, &[("上半年", 1), ("下半年", 7)])?;
    Some((Said::Months { year: Year::Counted(0), month, count: 6 }, bytes))
}

/// `过去三天`, `最近两个月`, `前几天`, `未来一周`.
fn rolling(rest: &str) -> Read {
    const FEW_DAYS: &[(&str, i32)] = &[("前几天", -5), ("前些天", -7), ("前两天", -3), ("这几天", -2), ("最近几天", -5)];
    if let Some((from, bytes)) = word(rest, FEW_DAYS) {
        let to = if rest.starts_with('前') { -1 } else { 0 };
        return Some((units(Unit::Day, from, to), bytes));
    }
    let (sign, mut at) = word(rest, &[("过去的", 1), ("过去", 1), ("最近的", 1), ("最近", 1), ("近", 1), ("未来", -1)])?;
    at += space(&rest[at..]);
    let (_, most, bytes) = count(&rest[at..])?;
    at += bytes;
    let (unit, bytes) = unit(&rest[at..])?;
    let is_short = matches!(unit, Unit::Second | Unit::Minute | Unit::Hour);
    let said = match (is_short, sign) {
        (true, 1) => units(unit, -most, 0),
        (true, _) => units(unit, 0, most),
        (false, sign) => Said::Rolling { unit, count: most * sign },
    };
    Some((said, at + bytes))
}

/// How many: least, most, bytes.
fn count(rest: &str) -> Option<(i32, i32, usize)> {
    if let Some(Numeral { value, bytes, .. }) = numeral(rest).filter(|n| n.value > 0) {
        return Some((value, value, bytes));
    }
    rest.starts_with('几').then_some((2, 5, '几'.len_utf8()))
}

/// A unit and its bytes.
fn unit(rest: &str) -> Option<(Unit, usize)> {
    const UNITS: &[(&str, Unit)] = &[
        ("个多月", Unit::Month),
        ("个月", Unit::Month),
        ("个星期", Unit::Week),
        ("个礼拜", Unit::Week),
        ("星期", Unit::Week),
        ("礼拜", Unit::Week),
        ("周", Unit::Week),
        ("天", Unit::Day),
        ("日", Unit::Day),
        ("年", Unit::Year),
        ("个小时", Unit::Hour),
        ("小时", Unit::Hour),
        ("分钟", Unit::Minute),
        ("秒", Unit::Second),
    ];
    let skipped = space(rest);
    let (unit, bytes) = word(&rest[skipped..], UNITS)?;
    Some((unit, skipped + bytes))
}

/// What begins with a number: `2023年5月`, `5月8日`, `三天前`, `半年前`.
fn numbered(rest: &str) -> Read {
    if let Some((said, bytes)) = word(rest, &[("半年", units(Unit::Month, -6, -6)), ("半个月", units(Unit::Day, -15, -15))])
    {
        return ago(&rest[bytes..]).filter(|(sign, _)| *sign < 0).map(|(_, n)| (said, bytes + n));
    }
    let number = numeral(rest);
    if let Some(year) = number.filter(|n| n.chars == 4 && (1600..2100).contains(&n.value)) {
        let at = year.bytes + space(&rest[year.bytes..]);
        if rest[at..].starts_with('年') {
            let at = at + '年'.len_utf8();
            let given = Year::Given(year.value as i16);
            let inner = within_year(&rest[at..], given).map(|(said, bytes)| (said, at + bytes));
            return inner.or(Some((Said::Years { first: year.value as i16, count: 1 }, at)));
        }
    }
    month_of_year(rest, Year::Any).or_else(|| {
        let (least, most, mut at) = count(rest)?;
        let (unit, bytes) = unit(&rest[at..])?;
        at += bytes;
        let (sign, bytes) = ago(&rest[at..])?;
        let said = if sign < 0 { units(unit, -most, -least) } else { units(unit, least, most) };
        Some((said, at + bytes))
    })
}

/// `前`, `之后`: back or forth, and its bytes.
fn ago(rest: &str) -> Option<(i32, usize)> {
    const WORDS: &[(&str, i32)] = &[("之前", -1), ("以前", -1), ("前", -1), ("之后", 1), ("以后", 1), ("后", 1)];
    let (sign, bytes) = word(rest, WORDS)?;
    (!joins_on(&rest[..bytes], next(&rest[bytes..]))).then_some((sign, bytes))
}

/// Whether 前 and 后 make a word with the character after them: 前端, 后台.
fn joins_on(word: &str, after: char) -> bool {
    match word {
        "前" => matches!(after, '端' | '台' | '面' | '后' | '往' | '期' | '提' | '景' | '列' | '缀' | '进' | '任' | '十' | '三'),
        "后" => matches!(after, '端' | '台' | '来' | '面' | '勤' | '续' | '缀' | '期'),
        _ => false,
    }
}

/// How the characters around an expression bind it.
pub(super) fn relation(text: &str, start: usize, end: usize) -> Relation {
    const AFTER: &[(&str, Relation)] = &[
        ("以来", Relation::Since),
        ("起", Relation::Since),
        ("开始", Relation::Since),
        ("之前", Relation::Before),
        ("以前", Relation::Before),
        ("前", Relation::Before),
        ("之后", Relation::After),
        ("以后", Relation::After),
        ("后", Relation::After),
        ("为止", Relation::Through),
        ("底为止", Relation::Through),
    ];
    const BEFORE: &[(&str, Relation)] = &[
        ("直到", Relation::Until),
        ("截至", Relation::Through),
        ("截止到", Relation::Through),
        ("截止", Relation::Through),
        ("持续到", Relation::Until),
        ("有效期到", Relation::Through),
        ("有效期至", Relation::Through),
        ("自从", Relation::Since),
        ("自", Relation::Since),
        ("从", Relation::Since),
    ];
    let after = text[end..].trim_start_matches(' ');
    if let Some((relation, bytes)) = word(after, AFTER)
        && !joins_on(&after[..bytes], next(&after[bytes..]))
    {
        return relation;
    }
    let before = text[..start].trim_end_matches(' ');
    BEFORE.iter().find(|(word, _)| before.ends_with(word)).map_or(Relation::During, |(_, relation)| *relation)
}
