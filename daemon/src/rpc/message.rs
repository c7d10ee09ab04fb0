//! From one line to one JSON-RPC 2.0 message, or to the error that answers it.
//!
//! Pure. Must not know: which methods there are, or the connection.

use super::scan;
use crate::limits::{FRAME_DEPTH_MAX, FRAME_ELEMENTS_MAX, REQUEST_ID_BYTES_MAX};
use serde_json::{Map, Value};
use tiro_schema::wire::{JSONRPC, RequestId};
use tiro_schema::{ErrorKind, ErrorObject};

/// What a client sent.
#[derive(Debug, PartialEq)]
pub enum Incoming {
    /// It wants an answer.
    Request(Request),
    /// It wants none.
    Notification {
        /// Its name.
        method: String,
        /// Its params.
        params: Map<String, Value>,
    },
    /// An answer to a request of the daemon.
    Response,
}

/// A request.
#[derive(Debug, PartialEq)]
pub struct Request {
    /// To be echoed.
    pub id: RequestId,
    /// Name of the method.
    pub method: String,
    /// Params by name, without `_meta`.
    pub params: Map<String, Value>,
    /// `_meta`, when it is an object.
    pub meta: Map<String, Value>,
}

/// A line that is no message.
#[derive(Debug, PartialEq)]
pub struct Refusal {
    /// The request's id, where it could be read.
    pub id: Option<RequestId>,
    /// What is wrong.
    pub error: ErrorObject,
    /// Whether the connection has to end: the line was over a limit.
    pub fatal: bool,
}

impl Refusal {
    fn new(id: Option<RequestId>, kind: ErrorKind, message: impl Into<String>) -> Self {
        Refusal { id, error: ErrorObject::new(kind, message), fatal: false }
    }
}

/// The error for something over the limit of this name, after which the connection ends.
pub fn over_limit(message: impl Into<String>, limit: &str, max: usize) -> Refusal {
    let error = ErrorObject::new(ErrorKind::TooLarge, message).with("limit", limit).with("max", max);
    Refusal { id: None, error, fatal: true }
}

/// Reads one line.
///
/// # Errors
/// The answer to a line that is no message.
pub fn read(line: &[u8]) -> Result<Incoming, Refusal> {
    match scan::scan(line) {
        Ok(()) => {}
        Err(scan::ScanFault::Depth) => {
            return Err(over_limit(format!("the line nests deeper than {FRAME_DEPTH_MAX}"), "frameDepthMax", FRAME_DEPTH_MAX));
        }
        Err(scan::ScanFault::Elements) => {
            return Err(over_limit(
                format!("the line holds more than {FRAME_ELEMENTS_MAX} values"),
                "frameElementsMax",
                FRAME_ELEMENTS_MAX,
            ));
        }
    }
    let parsed = tiro_schema::strict::parse(line).map_err(|error| {
        let message = if std::str::from_utf8(line).is_err() {
            "the line is not UTF-8".to_owned()
        } else {
            format!("the line is not JSON: {}", place_of(&error))
        };
        Refusal::new(None, ErrorKind::ParseError, message)
    })?;
    let members = match parsed.value {
        Value::Object(members) => members,
        Value::Array(_) => {
            return Err(Refusal::new(None, ErrorKind::InvalidRequest, "batches are not taken: send one object a line"));
        }
        _ => return Err(Refusal::new(None, ErrorKind::InvalidRequest, "the line is not a JSON object")),
    };
    message(members, parsed.duplicate)
}

/// What serde_json says is wrong, without any of the line's own text.
fn place_of(error: &serde_json::Error) -> String {
    match error.classify() {
        serde_json::error::Category::Eof => "it ends too early".to_owned(),
        _ => format!("wrong at column {}", error.column()),
    }
}

/// Reads the members of one message.
fn message(mut members: Map<String, Value>, duplicate: Option<String>) -> Result<Incoming, Refusal> {
    let id = read_id(members.get("id"));
    let known_id = id.as_ref().ok().cloned().flatten();
    let invalid = |message: &str| Refusal::new(known_id.clone(), ErrorKind::InvalidRequest, message);
    if let Some(name) = duplicate {
        // The id itself may be what stands twice.
        let id = if name == "id" { None } else { known_id.clone() };
        return Err(Refusal::new(
            id,
            ErrorKind::InvalidRequest,
            format!("the name {:?} stands twice in one object", shorten(&name, 64)),
        ));
    }
    if members.get("jsonrpc").and_then(Value::as_str) != Some(JSONRPC) {
        return Err(invalid("jsonrpc is not \"2.0\""));
    }
    if !members.contains_key("method") && (members.contains_key("result") || members.contains_key("error")) {
        return Ok(Incoming::Response);
    }
    let id = id.map_err(|message| Refusal::new(None, ErrorKind::InvalidRequest, message))?;
    let Some(Value::String(method)) = members.remove("method") else {
        return Err(invalid("method is not a string"));
    };
    let mut params = match members.remove("params") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(params)) => params,
        Some(_) => {
            let error = ErrorObject::new(ErrorKind::InvalidParams, "params is not an object: params are given by name")
                .with("path", "params");
            return if known_id.is_some() { Err(Refusal { id: known_id, error, fatal: false }) } else { Ok(Incoming::Response) };
        }
    };
    let meta = match params.remove("_meta") {
        Some(Value::Object(meta)) => meta,
        _ => Map::new(),
    };
    Ok(match id {
        Some(id) => Incoming::Request(Request { id, method, params, meta }),
        None => Incoming::Notification { method, params },
    })
}

/// The id: none for a notification; the error says what is wrong with it.
fn read_id(value: Option<&Value>) -> Result<Option<RequestId>, &'static str> {
    match value {
        None => Ok(None),
        Some(Value::String(text)) if text.len() <= REQUEST_ID_BYTES_MAX => Ok(Some(RequestId::Text(text.clone()))),
        Some(Value::String(_)) => Err("id is too long"),
        Some(Value::Number(number)) => match number.as_i64() {
            Some(number) => Ok(Some(RequestId::Number(number))),
            None => Err("id is not an integer of 64 bits"),
        },
        Some(_) => Err("id is neither string nor integer"),
    }
}

/// The first `chars_max` characters of a text that is not ours, to be shown in a message.
pub fn shorten(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn refusal(line: &str) -> (i32, Option<RequestId>) {
        let refusal = read(line.as_bytes()).expect_err(line);
        (refusal.error.code, refusal.id)
    }

    #[test]
    fn requests_and_notifications_are_told_apart_by_their_id() {
        // API-1
        let request = read(br#"{"jsonrpc":"2.0","id":"a","method":"m","params":{"x":1,"_meta":{"progressToken":7}}}"#).unwrap();
        let Incoming::Request(request) = request else { panic!("{request:?}") };
        assert_eq!(request.id, RequestId::Text("a".into()));
        assert_eq!(Value::Object(request.params), serde_json::json!({"x": 1}));
        assert_eq!(request.meta["progressToken"], 7);
        assert!(matches!(read(br#"{"jsonrpc":"2.0","method":"m"}"#), Ok(Incoming::Notification { .. })));
        assert_eq!(read(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#), Ok(Incoming::Response));
    }

    #[test]
    fn what_is_no_request_is_refused_with_its_id_where_there_is_one() {
        // API-1
        let one = Some(RequestId::Number(1));
        assert_eq!(refusal("nonsense"), (-32700, None));
        assert_eq!(refusal("[]"), (-32600, None));
        assert_eq!(refusal("7"), (-32600, None));
        assert_eq!(refusal(r#"{"id":1,"method":"m"}"#), (-32600, one.clone()));
        assert_eq!(refusal(r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#), (-32600, one.clone()));
        assert_eq!(refusal(r#"{"jsonrpc":"2.0","id":1}"#), (-32600, one.clone()));
        assert_eq!(refusal(r#"{"jsonrpc":"2.0","id":1,"method":2}"#), (-32600, one.clone()));
        assert_eq!(refusal(r#"{"jsonrpc":"2.0","id":1,"method":"m","params":[1]}"#), (-32602, one.clone()));
        assert_eq!(refusal(r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1,"a":2}}"#), (-32600, one));
        for id in ["null", "1.5", "true", "{}", "[]", "18446744073709551615"] {
            assert_eq!(refusal(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#)), (-32600, None), "{id}");
        }
        assert_eq!(refusal(r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}"#), (-32600, None));
    }

    #[test]
    fn bytes_that_are_not_utf8_are_a_parse_error_and_nothing_of_the_line_is_repeated() {
        let error = read(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}").unwrap_err().error;
        assert_eq!(error.code, -32700);
        assert!(error.message.contains("UTF-8"));
        let error = read(b"{\"my secret\" 1}").unwrap_err().error;
        assert!(!error.message.contains("secret"), "{}", error.message);
    }

    #[test]
    fn text_is_cut_between_characters_at_every_length() {
        // M21
        let text = "第二章 👩‍👩‍👧‍👦 z\u{200b}w\u{200d}e\u{301} — конец, 終わり 🇨🇳";
        for chars in 1..=64 {
            let cut = shorten(text, chars);
            assert!(text.starts_with(cut.trim_end_matches('…')));
            assert!(cut.chars().count() <= chars + 1);
        }
    }
}
