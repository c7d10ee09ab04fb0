//! What a server's refusal means: class by status, code and words. It must not know retries.

use serde_json::Value;

use crate::limits;
use crate::model::error::{ErrorClass, ModelError};

/// A failed HTTP answer: status, `Retry-After` and as much of the body as was read.
pub(in crate::model) fn from_response(status: u16, retry_after: Option<&str>, body: &[u8]) -> ModelError {
    let text = String::from_utf8_lossy(body);
    let parsed = serde_json::from_str::<Value>(&text).unwrap_or(Value::Null);
    let inner = parsed.get("error").filter(|e| !e.is_null()).unwrap_or(&parsed);
    let mut error = from_body(Some(status), inner);
    error.retry_after_ms = retry_after.and_then(retry_after_ms);
    error
}

/// An error object, alone (inside a stream) or under a status.
pub(super) fn from_body(status: Option<u16>, body: &Value) -> ModelError {
    let said = body.as_str().or_else(|| body.get("message")?.as_str()).unwrap_or_default();
    let code = word(body, "code") + " " + &word(body, "type");
    let number = body.get("code").and_then(Value::as_u64).and_then(|n| u16::try_from(n).ok());
    let status = status.or(number.filter(|n| (400..600).contains(n)));
    let class = classify(status, &code, said);
    let message = match class {
        // A server may repeat part of the key.
        ErrorClass::Unauthorized => "the model server refused the key; check the variable named by `apiKeyEnv`".to_owned(),
        _ if said.is_empty() => format!("the model server answered {}", status.map_or("an error".into(), |s| s.to_string())),
        _ => format!("the model server said: {}", capped(said)),
    };
    let mut error = ModelError::new(class, message);
    error.status = status;
    // Money does not come back by waiting.
    error.is_final = code.contains("insufficient_quota");
    error
}

fn word(body: &Value, field: &str) -> String {
    body.get(field).and_then(Value::as_str).unwrap_or_default().to_lowercase()
}

fn classify(status: Option<u16>, code: &str, said: &str) -> ErrorClass {
    let said = said.to_lowercase();
    let is_window = ["context length", "context size", "context window", "maximum context", "prompt is too long"];
    if code.contains("context_length") || code.contains("context_size") || is_window.iter().any(|w| said.contains(w)) {
        return ErrorClass::ContextOverflow;
    }
    match status {
        Some(401 | 403) => ErrorClass::Unauthorized,
        Some(429) => ErrorClass::RateLimited,
        Some(408) => ErrorClass::Timeout,
        Some(413) => ErrorClass::ContextOverflow,
        Some(500..) => ErrorClass::Overloaded,
        Some(_) => ErrorClass::BadRequest,
        None if code.contains("rate_limit") => ErrorClass::RateLimited,
        None if code.contains("invalid") => ErrorClass::BadRequest,
        None => ErrorClass::Overloaded,
    }
}

/// Seconds, or nothing: the date form is rare and would need the wall clock.
fn retry_after_ms(header: &str) -> Option<u64> {
    let seconds: f64 = header.trim().parse().ok()?;
    (seconds.is_finite() && seconds >= 0.0).then_some((seconds * 1000.0) as u64)
}

/// One line, capped, with what looks like a key replaced.
fn capped(said: &str) -> String {
    let words = said.split_whitespace().map(|w| if w.contains("sk-") { "[redacted]" } else { w });
    let line = words.collect::<Vec<_>>().join(" ");
    line.chars().take(limits::MODEL_ERROR_MESSAGE_CHARS_MAX).collect()
}

/// A failure below HTTP. `url` is the shown form.
pub(in crate::model) fn from_transport(error: &reqwest::Error, url: &str) -> ModelError {
    let (class, what) = if error.is_timeout() {
        (ErrorClass::Timeout, "timed out")
    } else if error.is_builder() {
        (ErrorClass::BadRequest, "the request cannot be built")
    } else if error.is_connect() {
        (ErrorClass::Network, "cannot connect")
    } else if error.is_body() || error.is_decode() {
        (ErrorClass::CutShort, "the connection broke inside the answer")
    } else {
        (ErrorClass::Network, "the connection broke")
    };
    let cause = innermost(error).map(|c| format!(" ({c})")).unwrap_or_default();
    ModelError::new(class, format!("{what}: {url}{cause}"))
}

/// The operating system's word on it, which holds no URL.
fn innermost(error: &reqwest::Error) -> Option<String> {
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        if let Some(io) = cause.downcast_ref::<std::io::Error>()
            && io.raw_os_error().is_some()
        {
            return Some(io.kind().to_string());
        }
        source = cause.source();
    }
    None
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    // A8, MEM-10
    #[test]
    fn refusals_have_a_class() {
        let table: &[(u16, &str, ErrorClass)] = &[
            (429, r#"{"error":{"message":"slow down"}}"#, ErrorClass::RateLimited),
            (500, "oops", ErrorClass::Overloaded),
            (503, "", ErrorClass::Overloaded),
            (529, "{}", ErrorClass::Overloaded),
            (401, r#"{"error":{"message":"Incorrect API key provided: sk-abc"}}"#, ErrorClass::Unauthorized),
            (404, r#"{"error":"model not found"}"#, ErrorClass::BadRequest),
            (400, r#"{"error":{"code":"context_length_exceeded","message":"x"}}"#, ErrorClass::ContextOverflow),
            (400, r#"{"error":{"code":400,"type":"exceed_context_size_error","message":"x"}}"#, ErrorClass::ContextOverflow),
            (400, r#"{"error":{"message":"bad temperature"}}"#, ErrorClass::BadRequest),
        ];
        for (status, body, class) in table {
            let error = from_response(*status, None, body.as_bytes());
            assert_eq!(error.class, *class, "{status} {body}");
            assert!(!error.to_string().contains("sk-"), "{error}");
        }
        assert_eq!(from_response(429, Some("2"), b"").retry_after_ms, Some(2_000));
        assert_eq!(from_response(429, Some("Wed, 21 Oct"), b"").retry_after_ms, None);
        assert!(!from_response(429, None, br#"{"error":{"code":"insufficient_quota"}}"#).is_retryable());
        let echoed = from_response(400, None, br#"{"error":{"message":"key sk-abc is odd"}}"#);
        assert!(!echoed.message.contains("sk-abc"));
    }
}
