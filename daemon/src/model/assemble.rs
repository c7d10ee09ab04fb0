//! Puts streamed fragments of tool calls together again, whatever a server does with indexes and ids.
//! It must not know HTTP, nor which tools exist.

use std::collections::{HashMap, HashSet};

use serde::de::IgnoredAny;
use serde_json::Value;

use super::reply::{MalformedArgs, OpaqueBlock, ToolCall};
use crate::limits;

/// One fragment of a call, as it came.
#[derive(Debug, Clone, Copy, Default)]
pub struct CallDelta<'a> {
    /// The server's index, if it gave one; some give 0 to all.
    pub index: Option<u64>,
    /// The call's id; usually with the first fragment only, sometimes never.
    pub id: Option<&'a str>,
    /// The tool's name.
    pub name: Option<&'a str>,
    /// A piece of the arguments' JSON text.
    pub arguments: Option<&'a str>,
}

#[derive(Debug, Default)]
struct OpenCall {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    opaque: Option<OpaqueBlock>,
}

/// The calls of one reply while they come in.
#[derive(Debug, Default)]
pub struct Assembler {
    calls: Vec<OpenCall>,
    touched_last_by_index: HashMap<u64, usize>,
    opened_last: Option<usize>,
    argument_bytes: usize,
}

/// Calls or arguments past the bounds of one reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AssembleError {
    /// More calls than [`limits::MODEL_CALLS_MAX`].
    #[error("more than {} calls in one reply", limits::MODEL_CALLS_MAX)]
    TooManyCalls,
    /// More bytes of arguments than [`limits::MODEL_ARGUMENT_BYTES_MAX`].
    #[error("more than {} bytes of arguments in one reply", limits::MODEL_ARGUMENT_BYTES_MAX)]
    TooLong,
}

impl Assembler {
    /// Takes a fragment. Returns the call's position and whether its name became known by this fragment.
    pub fn push(&mut self, delta: CallDelta<'_>) -> Result<(usize, bool), AssembleError> {
        let delta = CallDelta { id: non_empty(delta.id), name: non_empty(delta.name), ..delta };
        let at = match self.locate(&delta) {
            Some(at) => at,
            None => self.open()?,
        };
        self.argument_bytes += delta.arguments.map_or(0, str::len);
        if self.argument_bytes > limits::MODEL_ARGUMENT_BYTES_MAX {
            return Err(AssembleError::TooLong);
        }
        if let Some(index) = delta.index {
            self.touched_last_by_index.insert(index, at);
        }
        let call = &mut self.calls[at];
        call.index = call.index.or(delta.index);
        if let (Some(id), true) = (delta.id, call.id.is_empty()) {
            call.id = id.to_owned();
        }
        let was_named = !call.name.is_empty();
        match delta.name {
            Some(name) if !was_named => call.name = name.to_owned(),
            Some(piece) if piece != call.name && call.arguments.is_empty() => call.name.push_str(piece),
            _ => {}
        }
        call.arguments.push_str(delta.arguments.unwrap_or_default());
        Ok((at, !was_named && !call.name.is_empty()))
    }

    /// Attaches a provider-opaque companion to a call.
    pub fn attach(&mut self, position: usize, block: OpaqueBlock) {
        if let Some(call) = self.calls.get_mut(position) {
            call.opaque = Some(block);
        }
    }

    /// The name of a call so far.
    pub fn name(&self, position: usize) -> &str {
        self.calls.get(position).map_or("", |c| &c.name)
    }

    /// True if no call was opened.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// The calls, each with an id that is neither empty nor among `taken`.
    /// `was_cut`: the provider said that the output limit ended the reply.
    pub fn finish(self, was_cut: bool, taken: &HashSet<String>) -> Vec<ToolCall> {
        let mut used = taken.clone();
        let mut calls = Vec::with_capacity(self.calls.len());
        for call in self.calls {
            let id = if call.id.is_empty() || used.contains(&call.id) { mint(&used) } else { call.id };
            used.insert(id.clone());
            let arguments = parse_arguments(call.arguments, was_cut);
            calls.push(ToolCall { id, name: call.name, arguments, opaque: call.opaque });
        }
        calls
    }

    /// Which open call a fragment continues; `None` opens a new one.
    fn locate(&self, delta: &CallDelta<'_>) -> Option<usize> {
        let by_index = delta.index.and_then(|i| self.touched_last_by_index.get(&i).copied());
        if let Some(at) = by_index {
            let call = &self.calls[at];
            return match delta.id {
                Some(id) if !call.id.is_empty() && call.id != id => self.find(id, delta.index),
                None if call.is_followed_by(delta.name) => None,
                _ => Some(at),
            };
        }
        if let Some(id) = delta.id {
            return self.find(id, delta.index);
        }
        match (delta.index, delta.name) {
            (Some(_), Some(_)) => None,
            (Some(_), None) => self.opened_last.filter(|&at| self.calls[at].index.is_none()),
            (None, name) => self.opened_last.filter(|&at| !self.calls[at].is_followed_by(name)),
        }
    }

    fn find(&self, id: &str, index: Option<u64>) -> Option<usize> {
        self.calls.iter().position(|call| call.id == id && (index.is_none() || call.index.is_none() || call.index == index))
    }

    fn open(&mut self) -> Result<usize, AssembleError> {
        if self.calls.len() >= limits::MODEL_CALLS_MAX {
            return Err(AssembleError::TooManyCalls);
        }
        self.calls.push(OpenCall::default());
        let at = self.calls.len() - 1;
        self.opened_last = Some(at);
        Ok(at)
    }
}

impl OpenCall {
    /// True if a fragment without id that names `name` belongs to a new call rather than to this one. Servers
    /// that give ids give them to every call, so only a call without id can be followed that way.
    fn is_followed_by(&self, name: Option<&str>) -> bool {
        let Some(name) = name else { return false };
        if !self.id.is_empty() || self.name.is_empty() {
            return false;
        }
        name != self.name || serde_json::from_str::<IgnoredAny>(&self.arguments).is_ok()
    }
}

fn non_empty(text: Option<&str>) -> Option<&str> {
    text.filter(|t| !t.is_empty())
}

fn mint(used: &HashSet<String>) -> String {
    let mut number = used.len();
    loop {
        let id = format!("call_{number}");
        if !used.contains(&id) {
            return id;
        }
        number += 1;
    }
}

/// Nothing at all means no arguments, but only in a reply that ended well; text that merely ends too early is
/// told apart from text that is wrong.
fn parse_arguments(raw: String, was_cut: bool) -> Result<Value, MalformedArgs> {
    if raw.trim().is_empty() {
        return if was_cut {
            let reason = "truncated: the output limit was hit before the arguments came".to_owned();
            Err(MalformedArgs { reason, raw, truncated: true })
        } else {
            Ok(Value::Object(serde_json::Map::new()))
        };
    }
    match serde_json::from_str::<Value>(&raw) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(other) => {
            let kind = match other {
                Value::Null => "null",
                Value::Bool(_) => "a boolean",
                Value::Number(_) => "a number",
                Value::String(_) => "a string",
                _ => "an array",
            };
            let reason = format!("the arguments must be one JSON object, not {kind}");
            Err(MalformedArgs { reason, raw, truncated: false })
        }
        Err(error) if error.is_eof() => {
            let reason = "truncated: the arguments end in the middle of their JSON".to_owned();
            Err(MalformedArgs { reason, raw, truncated: true })
        }
        Err(error) => {
            let reason = format!("the arguments are not valid JSON: {error}");
            Err(MalformedArgs { reason, raw, truncated: false })
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    type Row<'a> = (Option<u64>, Option<&'a str>, Option<&'a str>, Option<&'a str>);

    fn assemble(rows: &[Row<'_>]) -> Vec<ToolCall> {
        let mut assembler = Assembler::default();
        for &(index, id, name, arguments) in rows {
            assembler.push(CallDelta { index, id, name, arguments }).unwrap();
        }
        assembler.finish(false, &HashSet::new())
    }

    fn seen(calls: &[ToolCall]) -> Vec<(&str, &str, String)> {
        let text = |c: &ToolCall| c.arguments.as_ref().map_or_else(|e| e.reason.clone(), Value::to_string);
        calls.iter().map(|c| (c.id.as_str(), c.name.as_str(), text(c))).collect()
    }

    fn two(a: &str, b: &str) -> Vec<(&'static str, &'static str, String)> {
        vec![("a", "f", a.to_owned()), ("b", "g", b.to_owned())]
    }

    // A1: all indexes 0, different ids, whole arguments
    #[test]
    fn one_index_for_two_ids_is_two_calls() {
        let calls =
            assemble(&[(Some(0), Some("a"), Some("f"), Some("{\"x\":1}")), (Some(0), Some("b"), Some("g"), Some("{\"y\":2}"))]);
        assert_eq!(seen(&calls), two("{\"x\":1}", "{\"y\":2}"));
    }

    // A2: fragments without index mixed with indexed ones, and interleaved
    #[test]
    fn fragments_find_their_call() {
        let tables: &[&[Row<'_>]] = &[
            &[
                (Some(0), Some("a"), Some("f"), Some("")),
                (Some(1), Some("b"), Some("g"), Some("")),
                (Some(0), None, None, Some("{\"x\"")),
                (Some(1), None, None, Some("{\"y\"")),
                (Some(0), None, None, Some(":1}")),
                (Some(1), None, None, Some(":2}")),
            ],
            &[
                (None, Some("a"), Some("f"), Some("{\"x\"")),
                (None, None, None, Some(":1}")),
                (None, Some("b"), Some("g"), Some("{\"y\"")),
                (None, None, None, Some(":2}")),
            ],
            &[
                (None, Some("a"), Some("f"), Some("{\"x\"")),
                (Some(1), Some("b"), Some("g"), Some("{\"y\"")),
                (None, Some("a"), None, Some(":1}")),
                (Some(1), None, None, Some(":2}")),
            ],
            &[
                (None, Some("a"), Some("f"), None),
                (Some(0), None, None, Some("{\"x\":1}")),
                (Some(1), Some("b"), Some("g"), Some("{\"y\":2}")),
            ],
            &[
                (Some(0), Some("a"), Some("f"), Some("{\"x\"")),
                (Some(0), Some("b"), Some("g"), Some("{\"y\"")),
                (Some(0), Some("a"), None, Some(":1}")),
                (Some(0), Some("b"), None, Some(":2}")),
            ],
            &[
                (Some(0), Some("a"), Some("f"), Some("{\"x\":")),
                (Some(0), Some("a"), Some("f"), Some("1}")),
                (Some(0), Some(""), Some(""), Some("")),
                (Some(1), Some("b"), Some("g"), Some("{\"y\":2}")),
            ],
        ];
        for (number, table) in tables.iter().enumerate() {
            assert_eq!(seen(&assemble(table)), two("{\"x\":1}", "{\"y\":2}"), "table {number}");
        }
    }

    // A2, A9: whole calls with neither index nor id
    #[test]
    fn calls_without_id_are_told_apart_and_get_one() {
        let calls = assemble(&[
            (Some(0), None, Some("f"), Some("{\"x\":1}")),
            (Some(0), None, Some("f"), Some("{\"x\":2}")),
            (None, None, Some("g"), Some("{}")),
        ]);
        let names: Vec<_> = calls.iter().map(|c| (c.name.as_str(), c.arguments.clone().unwrap())).collect();
        assert_eq!(names, [("f", json!({"x": 1})), ("f", json!({"x": 2})), ("g", json!({}))]);
        let ids: HashSet<_> = calls.iter().map(|c| c.id.clone()).collect();
        assert!(ids.len() == 3 && !ids.contains(""), "{ids:?}");
    }

    // A9: unique in the context, and also where a server numbers the calls of every reply from 0
    #[test]
    fn an_id_that_is_taken_is_replaced() {
        let mut assembler = Assembler::default();
        let call = CallDelta { index: Some(0), id: Some("call_0"), name: Some("f"), arguments: None };
        assembler.push(call).unwrap();
        assembler.push(CallDelta { index: Some(1), ..call }).unwrap();
        let taken: HashSet<_> = ["call_0".to_owned(), "call_1".to_owned()].into();
        let calls = assembler.finish(false, &taken);
        assert_eq!(calls.len(), 2);
        assert!(calls.iter().all(|c| !taken.contains(&c.id)) && calls[0].id != calls[1].id);
    }

    // A3, A5
    #[test]
    fn arguments_are_an_object_or_an_error() {
        let parse = |text: &str, cut| parse_arguments(text.to_owned(), cut);
        for empty in ["", "  ", "{}"] {
            assert_eq!(parse(empty, false).unwrap(), json!({}));
        }
        assert!(parse("", true).unwrap_err().truncated);
        for broken in ["{\"a\":}", "let me look", "null", "[1]", "\"x\"", "{} {}", "{'a':1}"] {
            assert!(!parse(broken, false).unwrap_err().truncated, "{broken}");
        }
        for cut in ["{\"a\":", "{\"a\":\"b", "{", "{\"a\":1"] {
            assert!(parse(cut, false).unwrap_err().truncated, "{cut}");
        }
    }

    // A4
    #[test]
    fn long_arguments_in_many_chunks_come_out_whole() {
        let text = serde_json::to_string(&json!({"text": "记".repeat(20_000)})).unwrap();
        assert!(text.len() > 60_000);
        let mut assembler = Assembler::default();
        assembler.push(CallDelta { index: Some(0), id: Some("a"), name: Some("f"), arguments: None }).unwrap();
        let chars: Vec<char> = text.chars().collect();
        for piece in chars.chunks(7) {
            let piece: String = piece.iter().collect();
            assembler.push(CallDelta { index: Some(0), arguments: Some(&piece), ..CallDelta::default() }).unwrap();
        }
        let calls = assembler.finish(false, &HashSet::new());
        assert_eq!(calls[0].arguments.as_ref().unwrap().to_string(), text);
    }

    #[test]
    fn a_flood_of_calls_is_refused() {
        let mut assembler = Assembler::default();
        let flood = (0..=limits::MODEL_CALLS_MAX as u64)
            .map(|n| assembler.push(CallDelta { index: Some(n), name: Some("f"), ..CallDelta::default() }).map(|_| ()));
        assert_eq!(flood.collect::<Result<Vec<()>, _>>().unwrap_err(), AssembleError::TooManyCalls);
    }
}
