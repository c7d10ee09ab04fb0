//! What stands in a context, in which order, and what gives way.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::model::ToolCall;
use proptest::prelude::*;
use serde_json::json;

fn user(text: &str) -> ChatMessage {
    ChatMessage::User(text.to_owned())
}

fn said(text: &str) -> ChatMessage {
    ChatMessage::Assistant { text: text.to_owned(), tool_calls: vec![], opaque: vec![] }
}

fn batch(ids: &[String], result: &str) -> Vec<ChatMessage> {
    let call = |id: &String| ToolCall { id: id.clone(), name: "f".to_owned(), arguments: Ok(json!({"q": "x"})), opaque: None };
    let mut out =
        vec![ChatMessage::Assistant { text: String::new(), tool_calls: ids.iter().map(call).collect(), opaque: vec![] }];
    let result = |id: &String| ChatMessage::ToolResult { call_id: id.clone(), name: "f".to_owned(), text: result.to_owned() };
    out.extend(ids.iter().map(result));
    out
}

fn turn(number: u64, messages: Vec<ChatMessage>) -> HistoryTurn {
    HistoryTurn { number, until: number * 2, messages }
}

fn texts(messages: &[ChatMessage]) -> Vec<&str> {
    fn text(message: &ChatMessage) -> &str {
        match message {
            ChatMessage::System(text)
            | ChatMessage::User(text)
            | ChatMessage::Assistant { text, .. }
            | ChatMessage::ToolResult { text, .. } => text,
        }
    }
    messages.iter().map(text).collect()
}

// SES-7, MEM-13
#[test]
fn the_parts_stand_in_order_and_the_newest_input_last() {
    let mut state = SessionState::default();
    state.fold(&turn(1, vec![user("The port must be 8080."), said("ok")]));
    let parts = Parts {
        system: "system".to_owned(),
        memory: "memory".to_owned(),
        state,
        history: vec![turn(2, vec![user("before"), said("answer")])],
        turn: vec![user("now")],
        ..Parts::default()
    };
    let made = assemble(&parts, Budget { window: 8_000 }, 100);
    let told = texts(&made.messages);
    assert_eq!((told[0], told[1], &told[3..]), ("system", "memory", &["before", "answer", "now"][..]));
    assert!(told[2].contains("The port must be 8080."), "{}", told[2]);
    let names: Vec<&str> = made.report.parts.iter().map(|part| part.part.as_str()).collect();
    assert_eq!(names, ["system", "tools", "memory", "summary", "history", "input", "results", "output"]);
    assert_eq!(made.report.tokens, made.report.parts.iter().map(|part| part.tokens).sum::<u32>());
}

// SES-3, SES-6: five turns whole, older ones by what was stated in them; what does not fit is folded in, not lost
#[test]
fn turns_that_do_not_fit_are_folded_in() {
    let history: Vec<HistoryTurn> =
        (1..=9).map(|n| turn(n, vec![user(&format!("Value number {n} is {n}{n}.")), said(&"long talk ".repeat(200))])).collect();
    let parts = Parts { history, turn: vec![user("now")], ..Parts::default() };
    let made = assemble(&parts, Budget { window: 16_000 }, 0);
    assert_eq!((made.turns, made.report.turns_shown, made.report.turns_folded), (5, 5, 4));
    let small = assemble(&parts, Budget { window: 3_000 }, 0);
    assert!(small.turns < 5 && small.report.tokens <= 1_500, "{:?}", small.report);
    let told = texts(&small.messages).join("\n");
    assert!((1..=9).all(|n| told.contains(&format!("Value number {n} is {n}{n}."))), "{told}");
}

// A15: 40 calls in one turn pass the threshold: earlier results give way between the steps, the newest stays, and every call keeps a result
#[test]
fn results_of_earlier_steps_give_way() {
    let mut messages = vec![user("do it")];
    for n in 0..40 {
        messages.extend(batch(&[format!("c{n}")], &format!("[r{n}: 600 tokens of text] {}", "result words ".repeat(60))));
    }
    let parts = Parts { turn: messages, ..Parts::default() };
    let made = assemble(&parts, Budget { window: 8_000 }, 300);
    assert!(made.report.tokens <= 4_000 && !made.report.is_over, "{:?}", made.report);
    let told = texts(&made.messages);
    assert!(told.last().unwrap().contains("result words") && told.iter().any(|text| text.contains("result_read reads r0")));
    assert_eq!(crate::session::with_every_call_answered(made.messages.clone()), made.messages);
}

// A14: the newest turn alone is over: it is sent as it is, and said so
#[test]
fn a_turn_that_is_over_the_budget_by_itself_is_said_so() {
    let parts = Parts {
        history: vec![turn(1, vec![user("before"), said("answer")])],
        turn: vec![user(&"word ".repeat(5_000))],
        ..Parts::default()
    };
    let made = assemble(&parts, Budget { window: 4_000 }, 0);
    assert!(made.report.is_over && made.turns == 0);
    assert_eq!(texts(&made.messages).last().unwrap().len(), 25_000);
}

// SES-6: CJK counts a token a character, so that a window is not overrun
#[test]
fn what_a_message_weighs_follows_its_script() {
    assert_eq!(weight(&user(&"记".repeat(100))), 100 + limits::CONTEXT_MESSAGE_FRAME_TOKENS);
    assert!(weight(&user(&"word ".repeat(100))) <= 110);
}

proptest! {
    // A17, SES-6: wherever the budget cuts, every call keeps its results and every result its call, and what fits by itself keeps to the aim
    #[test]
    fn calls_and_results_are_never_parted(turns in prop::collection::vec(prop::collection::vec(0..4usize, 0..4), 0..8), window in 200..4_000u32) {
        let mut history = Vec::new();
        let mut minted = 0;
        for (n, batches) in turns.iter().enumerate() {
            let mut messages = vec![user(&format!("question {n}"))];
            for calls in batches {
                let ids: Vec<String> = (0..*calls).map(|n| format!("c{}", minted + n)).collect();
                minted += calls;
                if !ids.is_empty() {
                    messages.extend(batch(&ids, &"r ".repeat(200)));
                }
            }
            messages.push(said("done"));
            history.push(turn(n as u64 + 1, messages));
        }
        let parts = Parts { history, turn: vec![user("now")], ..Parts::default() };
        let made = assemble(&parts, Budget { window }, 0);
        prop_assert!(!made.report.is_over, "{:?}", made.report);
        prop_assert_eq!(&crate::session::with_every_call_answered(made.messages.clone()), &made.messages);
    }
}
