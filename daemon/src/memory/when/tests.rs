//! Expressions of time in both languages, what only looks like one, and texts cut anywhere.
#![allow(clippy::unwrap_used)]

use super::*;
use proptest::prelude::*;

/// A Thursday.
const NOW: &str = "2023-08-10T12:00:00Z";

pub(super) fn ms(text: &str) -> i64 {
    let text = if text.len() == 10 { format!("{text}T00:00:00Z") } else { text.to_owned() };
    crate::clock::parse(&text).unwrap().0
}

/// The day of an instant in UTC; `..` at the ends of the calendar.
pub(super) fn day_of(at_ms: i64) -> String {
    match at_ms {
        EARLIEST_MS | LATEST_MS => "..".to_owned(),
        at => crate::clock::format(at, None).0[..10].to_owned(),
    }
}

fn days(spans: &[Span]) -> Vec<String> {
    spans.iter().map(|s| format!("{} {}", day_of(s.from_ms), day_of(s.to_ms))).collect()
}

#[track_caller]
fn check(question: &str, expected: &[&str]) {
    assert_eq!(days(&spans(question, ms(NOW), None)), expected, "{question:?}");
}

#[track_caller]
fn check_every_year(question: &str, newest: &str) {
    let spans = spans(question, ms(NOW), None);
    assert_eq!(days(&spans).last().unwrap(), newest, "{question:?}");
    assert_eq!(spans.len(), usize::try_from(WHEN_YEARS_BACK).unwrap() + 1, "{question:?}");
}

// MEM-4
#[test]
fn a_question_in_english_names_its_time() {
    for (question, from_to) in [
        ("What did we do today?", "2023-08-10 2023-08-11"),
        ("Who called yesterday?", "2023-08-09 2023-08-10"),
        ("Who called the day before yesterday?", "2023-08-08 2023-08-09"),
        ("what is planned for the day after tomorrow", "2023-08-12 2023-08-13"),
        ("What did Ann say last night?", "2023-08-09 2023-08-10"),
        ("What did I read last week?", "2023-07-31 2023-08-07"),
        ("what happened two weeks ago", "2023-07-24 2023-07-31"),
        ("what happened the week before last?", "2023-07-24 2023-07-31"),
        ("What was decided 3 days ago?", "2023-08-07 2023-08-08"),
        ("a few days ago", "2023-08-05 2023-08-09"),
        ("a couple of months ago", "2023-06-01 2023-07-01"),
        ("Where did I live ten years ago?", "2013-01-01 2014-01-01"),
        ("in the past two weeks", "2023-07-28 2023-08-11"),
        ("over the last 3 months", "2023-05-11 2023-08-11"),
        ("this month", "2023-08-01 2023-09-01"),
        ("Plans for next month?", "2023-09-01 2023-10-01"),
        ("last weekend", "2023-08-05 2023-08-07"),
        ("What about last Friday?", "2023-08-04 2023-08-05"),
        ("the meeting next Tuesday", "2023-08-15 2023-08-16"),
        ("this Friday", "2023-08-11 2023-08-12"),
        ("Monday of last week", "2023-07-31 2023-08-01"),
        ("Where was I last May?", "2023-05-01 2023-06-01"),
        ("where was I last september", "2022-09-01 2022-10-01"),
        ("last may", "2023-05-01 2023-06-01"),
        ("what did we do this summer", "2023-06-01 2023-09-01"),
        ("last summer", "2022-06-01 2022-09-01"),
        ("in the summer of 2021", "2021-06-01 2021-09-01"),
        ("What did Ann do in May 2023?", "2023-05-01 2023-06-01"),
        ("in may 2023", "2023-05-01 2023-06-01"),
        ("May, 2023", "2023-05-01 2023-06-01"),
        ("in May of last year", "2022-05-01 2022-06-01"),
        ("on 8 May, 2023", "2023-05-08 2023-05-09"),
        ("on the 8th of May 2023", "2023-05-08 2023-05-09"),
        ("on May 8th, 2023", "2023-05-08 2023-05-09"),
        ("Sept. 3, 2022", "2022-09-03 2022-09-04"),
        ("May 8-10, 2023", "2023-05-08 2023-05-11"),
        ("on 2023-05-24", "2023-05-24 2023-05-25"),
        ("at 2023-05-24T10:00:00Z", "2023-05-24 2023-05-25"),
        ("notes of 2023/5/24", "2023-05-24 2023-05-25"),
        ("24/05/2023", "2023-05-24 2023-05-25"),
        ("in 2023-05", "2023-05-01 2023-06-01"),
        ("Where did she work in 2022?", "2022-01-01 2023-01-01"),
        ("in the 1990s", "1990-01-01 2000-01-01"),
        ("since March", "2023-03-01 2023-08-11"),
        ("since last week", "2023-07-31 2023-08-11"),
        ("before June", ".. 2023-06-01"),
        ("prior to 2020", ".. 2020-01-01"),
        ("after May 8", "2023-05-09 .."),
        ("until the end of June", ".. 2023-07-01"),
        ("from May to July 2022", "2022-05-01 2022-08-01"),
        ("between 2019 and 2021", "2019-01-01 2022-01-01"),
        ("from November 2022 to February", "2022-11-01 2023-03-01"),
        ("2024-01 to 2024-06", "2024-01-01 2024-07-01"),
        ("in the week before August 3, 2023", "2023-07-24 2023-07-31"),
        ("two days after May 8, 2023", "2023-05-10 2023-05-11"),
        ("on the Sunday before October 25, 2022", "2022-10-23 2022-10-24"),
    ] {
        check(question, &[from_to]);
    }
    check("last week or in May 2021?", &["2021-05-01 2021-06-01", "2023-07-31 2023-08-07"]);
}

// MEM-4
#[test]
fn a_question_in_chinese_names_its_time() {
    for (question, from_to) in [
        ("昨天说了什么", "2023-08-09 2023-08-10"),
        ("大前天谁来过", "2023-08-07 2023-08-08"),
        ("前天的会议", "2023-08-08 2023-08-09"),
        ("上周我们决定了什么？", "2023-07-31 2023-08-07"),
        ("上个星期", "2023-07-31 2023-08-07"),
        ("上上周", "2023-07-24 2023-07-31"),
        ("上周五的晚饭", "2023-08-04 2023-08-05"),
        ("下周二", "2023-08-15 2023-08-16"),
        ("这周末", "2023-08-12 2023-08-14"),
        ("上个月去了哪里", "2023-07-01 2023-08-01"),
        ("上个月5号", "2023-07-05 2023-07-06"),
        ("去年五月", "2022-05-01 2022-06-01"),
        ("去年的5月8日", "2022-05-08 2022-05-09"),
        ("去年夏天", "2022-06-01 2022-09-01"),
        ("今年上半年", "2023-01-01 2023-07-01"),
        ("去年", "2022-01-01 2023-01-01"),
        ("2023年5月", "2023-05-01 2023-06-01"),
        ("2023 年 5 月 8 日", "2023-05-08 2023-05-09"),
        ("二〇二三年五月八号", "2023-05-08 2023-05-09"),
        ("２０２３年", "2023-01-01 2024-01-01"),
        ("1806年9月", "1806-09-01 1806-10-01"),
        ("三天前", "2023-08-07 2023-08-08"),
        ("两周前", "2023-07-24 2023-07-31"),
        ("3个月之前", "2023-05-01 2023-06-01"),
        ("半年前", "2023-02-01 2023-03-01"),
        ("几天前", "2023-08-05 2023-08-09"),
        ("最近三天", "2023-08-08 2023-08-11"),
        ("过去两个月里", "2023-06-11 2023-08-11"),
        ("三月以来", "2023-03-01 2023-08-11"),
        ("自从去年五月", "2022-05-01 2023-08-11"),
        ("六月之前", ".. 2023-06-01"),
        ("5月8日前", ".. 2023-05-08"),
        ("2023-05-24之后", "2023-05-25 .."),
        ("从2022年11月到2023年2月", "2022-11-01 2023-03-01"),
        ("2024年1月至6月", "2024-01-01 2024-07-01"),
        ("2023年5月8日到10日", "2023-05-08 2023-05-11"),
    ] {
        check(question, &[from_to]);
    }
}

#[test]
fn a_month_without_a_year_is_meant_in_every_year() {
    check_every_year("What did Ann do in May?", "2023-05-01 2023-06-01");
    check_every_year("May 8th", "2023-05-08 2023-05-09");
    check_every_year("on 8 may", "2023-05-08 2023-05-09");
    check_every_year("Is there anything in December?", "2023-12-01 2024-01-01");
    check_every_year("五月去了哪里", "2023-05-01 2023-06-01");
    check_every_year("5月8日", "2023-05-08 2023-05-09");
    check_every_year("十一月份", "2023-11-01 2023-12-01");
    check_every_year("from May to July", "2023-05-01 2023-08-01");
    assert_eq!(spans("on February 29", ms(NOW), None).len(), 7, "only leap years have the day");
}

#[test]
fn words_that_only_look_like_time_do_not_count() {
    for text in [
        "You may march on; it may be May's idea",
        "This may be the second sun of the march",
        "Where did April go, and what does June like?",
        "a present for August",
        "On which days do we deploy?",
        "Deploys on Friday are not allowed",
        "use port 2022 and 2023 workers",
        "it took 2.5 years ago.",
        "in 2000 requests",
        "version 2023.05.24 of CVE-2023-05 and REQ-2023-05-24-x",
        "a/2023/05/24/b",
        "10:30 or 5/8/2023",
        "the last day of school, the next time",
        "second try in 5 seconds",
        "every day, each week",
        "Spring Boot in spring boots",
        "2023-13 and 2023-02-30",
        "目前天气很好，然后天黑了",
        "早上周围没有人，以下周期不变",
        "前端和后端，第三天前台",
        "5个月大，三周岁，第二月球",
        "今日头条 三年级 一下子 十分",
        "资本月报",
    ] {
        check(text, &[]);
    }
}

// M11
#[test]
fn days_begin_where_the_caller_is() {
    let spans = |offset| spans("yesterday", ms("2023-08-09T20:00:00Z"), offset);
    assert_eq!(spans(None)[0].from_ms, ms("2023-08-08"));
    assert_eq!(spans(Some(480))[0], Span { from_ms: ms("2023-08-08T16:00:00Z"), to_ms: ms("2023-08-09T16:00:00Z") });
    assert_eq!(spans(Some(i16::MAX)), spans(None), "an offset that cannot be counts as none");
}

// M34
#[test]
fn a_clock_anywhere_gives_sound_spans() {
    for now in [i64::MIN, EARLIEST_MS, -1, 0, LATEST_MS, i64::MAX] {
        for text in ["yesterday, in May, since 2022, 100000 years ago, 三天前, 去年五月, next 100000 months, next May"] {
            for span in spans(text, now, Some(-720)) {
                assert!(span.from_ms < span.to_ms && span.from_ms >= EARLIEST_MS && span.to_ms <= LATEST_MS, "{span:?}");
            }
        }
    }
}

#[test]
fn many_expressions_are_bounded() {
    let text = "in May, in June, in July, ".repeat(100);
    assert!(spans(&text, ms(NOW), None).len() <= WHEN_PHRASES_MAX * (usize::try_from(WHEN_YEARS_BACK).unwrap() + 1));
}

const MIXED: &str =
    "on 8 May, 2023 上周五 👨‍👩‍👧 \u{200B}last week 2023-05-24T10:00 去年五月8号—10号 since March 三天前 从2023年1月到6月";

// M21
#[test]
fn every_cut_of_a_mixed_text_is_read() {
    for (from, _) in MIXED.char_indices() {
        for (to, _) in MIXED[from..].char_indices() {
            for span in spans(&MIXED[from..from + to], ms(NOW), Some(480)) {
                assert!(span.from_ms < span.to_ms);
            }
        }
    }
}

proptest! {
    #[test]
    fn no_text_is_too_strange(text in any::<String>(), now in any::<i64>(), offset in any::<Option<i16>>()) {
        spans(&text, now, offset);
    }

    #[test]
    fn no_mixture_is_too_strange(
        parts in proptest::collection::vec(proptest::sample::select(vec![
            "may", "May", "last", "week", "8", "2023", "-", "/", ",", "of", "the", "ago", "年", "月", "日", "上", "周", "前", "五", "十",
            "to", "到", "since", "in", " ", " ", "999999", "天", "个", "th", "T", "past", "few", "from", "now", "years",
        ]), 0..24),
        now in any::<i64>(),
    ) {
        for span in spans(&parts.concat(), now, None) {
            prop_assert!(span.from_ms < span.to_ms);
        }
    }
}

#[test]
fn thirty_words_take_microseconds() {
    let question = "When did Caroline and her friends go to the support group in May 2023 or was it last week that they told us \
                    about the two trips to the mountains and lakes";
    for text in [question, "我们上周和去年五月在会议上决定了什么，三天前谁又改了部署的时间，后来为什么没有告诉大家"]
    {
        let runs = 2_000;
        let began = std::time::Instant::now();
        for _ in 0..runs {
            std::hint::black_box(spans(std::hint::black_box(text), 1_691_668_800_000, None));
        }
        let each_us = began.elapsed().as_secs_f64() * 1e6 / f64::from(runs);
        assert!(each_us < 500.0, "{each_us} us without optimisation");
        eprintln!("{each_us:.1} us");
    }
}
