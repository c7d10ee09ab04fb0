//! The rolling summary of a conversation: what a person stated, decided and left to do, each sentence word for word. Pure, by rules in English
//! and Chinese, so that it waits for no model.
//!
//! A turn that leaves the context is folded in once. Small talk, questions without a value and the replies of the model are left out; what
//! repeats stands once. Must not know: budgets, sessions.

use super::fields::fields;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A sentence as it was said, and in which turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// The sentence.
    pub text: String,
    /// The turn, from 1.
    pub turn: u64,
}

/// The value of a field, and in which turn it was stated.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FieldValue {
    /// The value, word for word.
    pub value: String,
    /// The turn, from 1.
    pub turn: u64,
}

/// What is kept of the turns that are no longer in the context.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Summary {
    /// What a person stated: values, constraints, wishes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<Item>,
    /// What was decided.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Item>,
    /// What is left to do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub todos: Vec<Item>,
    /// Turns that are folded in.
    pub turns: u64,
    /// Messages before this position are folded in.
    pub until: u64,
}

/// What a sentence is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    Parameter,
    Decision,
    Todo,
    Done,
    Nothing,
}

impl Summary {
    /// Folds a turn in: what the person said in it, and the position after it.
    pub fn fold(&mut self, number: u64, said: &str, until: u64) {
        for sentence in sentences(said) {
            let item = Item { text: sentence.to_owned(), turn: number };
            match sort_of(sentence) {
                Sort::Parameter => add(&mut self.parameters, item),
                Sort::Decision => add(&mut self.decisions, item),
                Sort::Todo => add(&mut self.todos, item),
                Sort::Done => self.todos.retain(|todo| !is_about(&todo.text, sentence)),
                Sort::Nothing => {}
            }
        }
        self.turns = number;
        self.until = until;
    }
}

/// Takes the fields of what a person said.
pub fn note_fields(known: &mut BTreeMap<String, FieldValue>, number: u64, said: &str) {
    for (name, value) in fields(said) {
        if known.len() < crate::limits::SESSION_FIELDS_MAX || known.contains_key(&name) {
            known.insert(name, FieldValue { value, turn: number });
        }
    }
}

fn add(items: &mut Vec<Item>, item: Item) {
    let folded = fold(&item.text);
    items.retain(|other| fold(&other.text) != folded);
    items.push(item);
}

fn fold(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Whether most words of a thing to do stand in what is said to be done.
fn is_about(todo: &str, done: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let mut words: Vec<String> = text.to_lowercase().split(|c: char| !c.is_alphanumeric()).map(str::to_owned).collect();
        words.extend(text.chars().filter(|c| (*c as u32) >= 0x2E80).map(String::from));
        words.retain(|word| word.chars().count() > 3 || word.chars().any(|c| (c as u32) >= 0x2E80));
        words
    };
    let (todo, done) = (words(todo), words(done));
    let shared = todo.iter().filter(|word| done.contains(word)).count();
    !todo.is_empty() && shared * 2 > todo.len()
}

/// The sentences of a text; lines end one. A point inside a number or a name is no end.
fn sentences(text: &str) -> Vec<&str> {
    let (mut out, mut begin) = (Vec::new(), 0);
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let is_end = match c {
            '\n' | '。' | '！' | '？' | '；' => true,
            '.' | '!' | '?' | ';' => chars.peek().is_none_or(|(_, next)| next.is_whitespace()),
            _ => false,
        };
        if is_end {
            let end = at + c.len_utf8();
            out.push(text[begin..end].trim());
            begin = end;
        }
    }
    out.push(text[begin..].trim());
    out.retain(|sentence| {
        sentence.chars().any(char::is_alphanumeric) && sentence.len() <= crate::limits::SUMMARY_SENTENCE_BYTES_MAX
    });
    out
}

const DONE: &[&str] = &["is done", "are done", "finished", "already did", "completed", "完成了", "做完了", "已经完成", "搞定"];
const TODOS: &[&str] = &[
    "todo",
    "to-do",
    "to do:",
    "need to",
    "needs to",
    "have to",
    "remember to",
    "don't forget",
    "do not forget",
    "later we",
    "next step",
    "still open",
    "follow up",
    "待办",
    "别忘",
    "还要",
    "需要做",
    "下一步",
    "记得",
    "之后再",
    "待会",
];
const DECISIONS: &[&str] = &[
    "decide",
    "we will",
    "we'll",
    "let's",
    "go with",
    "going with",
    "agreed",
    "settled on",
    "instead of",
    "choose",
    "chose",
    "决定",
    "就用",
    "确定用",
    "采用",
    "改用",
    "选择",
    "定为",
    "同意",
    "不再",
];
const CONSTRAINTS: &[&str] = &[
    "must",
    "never",
    "always",
    "only ",
    "at most",
    "at least",
    "no more than",
    "not allowed",
    "allergic",
    "prefer",
    "without ",
    "make sure",
    "use ",
    "keep ",
    "don't",
    "do not",
    "should",
    "必须",
    "不要",
    "不能",
    "只能",
    "最多",
    "至少",
    "喜欢",
    "过敏",
    "务必",
    "使用",
    "不得",
    "禁止",
    "我要",
    "应该",
];

fn sort_of(sentence: &str) -> Sort {
    let lower = sentence.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let is_question = sentence.ends_with(['?', '？']);
    if has(DONE) && !is_question {
        return Sort::Done;
    }
    if has(TODOS) && !is_question {
        return Sort::Todo;
    }
    if has(DECISIONS) && !is_question {
        return Sort::Decision;
    }
    let has_value =
        sentence.chars().any(|c| c.is_numeric()) || !fields(sentence).is_empty() || sentence.contains(['@', '"', '“', '`']);
    if has_value || has(CONSTRAINTS) && !is_question { Sort::Parameter } else { Sort::Nothing }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(items: &[Item]) -> Vec<&str> {
        items.iter().map(|item| item.text.as_str()).collect()
    }

    // SES-4, SES-6: fixed sections, word for word; small talk and repeats go, what is done is no longer to do
    #[test]
    fn what_a_person_stated_stands_word_for_word() {
        let mut summary = Summary::default();
        summary.fold(1, "Hello there! How are you today?", 2);
        summary.fold(2, "The ceiling is 41.7 degrees. Nice weather, by the way.\nWe need to update the runbook.", 4);
        summary.fold(3, "Let's go with Postgres. the ceiling is 41.7 degrees!", 6);
        summary.fold(4, "报告必须用中文写。今天天气真好。别忘了通知财务。", 8);
        assert_eq!(texts(&summary.parameters), ["the ceiling is 41.7 degrees!", "报告必须用中文写。"]);
        assert_eq!(texts(&summary.decisions), ["Let's go with Postgres."]);
        assert_eq!(texts(&summary.todos), ["We need to update the runbook.", "别忘了通知财务。"]);
        summary.fold(5, "The update of the runbook is done.", 10);
        assert_eq!(texts(&summary.todos), ["别忘了通知财务。"]);
        assert_eq!((summary.turns, summary.until), (5, 10));
    }

    // SES-3
    #[test]
    fn a_later_value_of_a_field_takes_its_place() {
        let mut known = BTreeMap::new();
        note_fields(&mut known, 1, "my order number is OD2024001");
        note_fields(&mut known, 3, "sorry, the order number is OD2024002");
        assert_eq!(known["order_number"], FieldValue { value: "OD2024002".to_owned(), turn: 3 });
    }
}
