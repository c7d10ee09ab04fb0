//! Fields that a person states in a conversation, by rules in English and Chinese: `order_id: OD2024001`. Pure.
//!
//! A value stands word for word; it has a digit, an at sign, a slash or quotes about it, or it is none: names of things are for the memory
//! room. Must not know: sessions, models.

use regex::Regex;
use std::sync::LazyLock;

/// Words that are no name of a field by themselves.
const NO_NAMES: &[&str] = &[
    "and", "are", "but", "he", "here", "how", "i", "it", "one", "or", "she", "so", "that", "there", "these", "they", "this",
    "those", "we", "what", "when", "where", "which", "who", "you",
];

/// `the order number is OD2024001`, `budget: 3000 euros`, `port = 8080`.
static STATED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let value = r#""[^"\n]{1,80}"|`[^`\n]{1,80}`|[^\s,;，。；"'()]{1,80}"#;
    let unit = r"(?: ?(?:%|€|\$|(?:euros?|dollars?|usd|eur|gbp|cny|rmb|ms|s|sec|seconds?|min|minutes?|hours?|days?|weeks?|months?|gb|mb|kg|km|people|persons|guests)\b))?";
    let name = r"(?:\b(?:my|the|our|your|his|her|its|a|an|new)\s+)*\b([a-z][a-z]*(?:[ _-][a-z]+){0,2}?)";
    Regex::new(&format!(r"(?i){name}\s*(?:\bis(?: now)?\b|\bare\b|=|:)\s*((?:{value}){unit})")).ok()
});
/// `order OD2024001`, `ticket REQ-2041`.
static NAMED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\b([A-Za-z]{3,20})\s+(?:(?:number|no\.?|id|#)\s*)?([A-Z]{2,6}-?\d{2,}[A-Z0-9-]*)\b").ok());
/// `订单号是 OD2024001`, `预算：3000元`.
static STATED_ZH: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let name = "订单号|订单编号|单号|编号|号码|电话|手机号|邮箱|地址|预算|金额|价格|数量|截止日期|日期|时间|端口|版本|城市|航班号|航班|座位|房间号|房间|账号|人数";
    Regex::new(&format!(r"({name})\s*(?:是|为|改为|改成|：|:|=)\s*([^，。；、\s]{{1,40}})")).ok()
});
/// `订单 OD2024001`.
static NAMED_ZH: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(订单|工单|航班|快递|案件|合同)\s*([A-Z]{1,6}-?\d{2,}[A-Z0-9-]*)").ok());
/// What Chinese names are called.
const NAMES_ZH: &[(&str, &str)] = &[
    ("订单", "order_id"),
    ("工单", "ticket_id"),
    ("航班", "flight_id"),
    ("快递", "parcel_id"),
    ("案件", "case_id"),
    ("合同", "contract_id"),
];

/// The fields of a text, in order; of two with one name the later one counts.
pub fn fields(text: &str) -> Vec<(String, String)> {
    let mut found: Vec<(usize, String, String)> = Vec::new();
    let mut take = |at: usize, name: String, value: &str| {
        let value = value.trim_matches(['"', '`', '\'']).trim_end_matches(['.', '!', '?', ':', '。']).trim();
        if !name.is_empty() && is_value(value) {
            found.push((at, name, value.to_owned()));
        }
    };
    each(&STATED, text, |at, name, value| {
        let quoted = value.starts_with(['"', '`']);
        if quoted || value.contains(|c: char| c.is_ascii_digit()) || value.contains(['@', '/']) {
            take(at, name_of(name), value);
        }
    });
    each(&NAMED, text, |at, name, value| take(at, id_name(name), value));
    each(&STATED_ZH, text, |at, name, value| take(at, name.to_owned(), value));
    each(&NAMED_ZH, text, |at, name, value| {
        let known = NAMES_ZH.iter().find(|(zh, _)| *zh == name).map_or(name, |(_, id)| id);
        take(at, known.to_owned(), value);
    });
    found.sort_by_key(|(at, ..)| *at);
    found.into_iter().map(|(_, name, value)| (name, value)).collect()
}

fn each(pattern: &LazyLock<Option<Regex>>, text: &str, mut sink: impl FnMut(usize, &str, &str)) {
    let Some(pattern) = pattern.as_ref() else { return };
    for found in pattern.captures_iter(text) {
        if let (Some(name), Some(value)) = (found.get(1), found.get(2)) {
            sink(value.start(), name.as_str(), value.as_str());
        }
    }
}

fn is_value(value: &str) -> bool {
    !value.is_empty() && value.chars().count() <= 80 && value.contains(|c: char| c.is_alphanumeric())
}

/// The last words of a phrase, as the name of a field.
fn name_of(phrase: &str) -> String {
    let words: Vec<String> = phrase.split([' ', '_', '-']).map(str::to_lowercase).filter(|word| !word.is_empty()).collect();
    let begin = words
        .iter()
        .rposition(|word| NO_NAMES.contains(&word.as_str()) || ARTICLES.contains(&word.as_str()))
        .map_or(0, |at| at + 1);
    words[begin..].join("_")
}

const ARTICLES: &[&str] =
    &["a", "an", "her", "his", "its", "my", "new", "our", "the", "their", "your", "of", "for", "with", "in", "at", "to"];

fn id_name(word: &str) -> String {
    let word = word.to_lowercase();
    let is_name = !NO_NAMES.contains(&word.as_str())
        && !ARTICLES.contains(&word.as_str())
        && !["number", "for", "see", "about"].contains(&word.as_str());
    if is_name { format!("{word}_id") } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    // SES-3: what programs read exactly
    #[test]
    fn stated_fields_are_read_word_for_word() {
        let table: &[(&str, &[(&str, &str)])] = &[
            ("My order number is OD2024001.", &[("order_number", "OD2024001")]),
            ("please look at order OD2024001 again", &[("order_id", "OD2024001")]),
            ("The budget is 3000 euros, and the port = 8080", &[("budget", "3000 euros"), ("port", "8080")]),
            ("email: ann@example.org", &[("email", "ann@example.org")]),
            ("the code word is \"blue heron\"", &[("code_word", "blue heron")]),
            ("deploy path: /srv/app/v2", &[("deploy_path", "/srv/app/v2")]),
            ("ticket REQ-2041 is urgent", &[("ticket_id", "REQ-2041")]),
            ("我的订单号是OD2024001，预算：3000元。", &[("订单号", "OD2024001"), ("预算", "3000元")]),
            ("帮我看一下订单 OD2024001", &[("order_id", "OD2024001")]),
            ("the deadline is now 14 March", &[("deadline", "14")]),
            ("It is 5 o'clock", &[]),
            ("the weather is nice", &[]),
            ("你好，今天天气不错", &[]),
        ];
        for (text, expected) in table {
            let found = fields(text);
            let found: Vec<(&str, &str)> = found.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            assert_eq!(found, *expected, "{text}");
        }
    }
}
