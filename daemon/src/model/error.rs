//! How a model call fails, by class. No message here ever holds a key, a URL's userinfo or prompt text of ours.

use serde::{Deserialize, Serialize};

/// The class of a failure; decides about retries and what a person is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ErrorClass {
    /// 5xx: the server cannot serve now.
    Overloaded,
    /// 429.
    RateLimited,
    /// Other 4xx: the request itself is wrong.
    BadRequest,
    /// 401 or 403.
    Unauthorized,
    /// The prompt does not fit the model's window.
    ContextOverflow,
    /// No connection, or it broke before anything came.
    Network,
    /// Silence longer than allowed, or the whole call took too long.
    Timeout,
    /// The answer is not what the protocol says.
    Malformed,
    /// The stream ended before its end, or passed a limit of size.
    CutShort,
    /// The model answered neither text nor call.
    Empty,
}

impl ErrorClass {
    /// Whether trying again may help (only before anything was shown).
    pub fn is_transient(self) -> bool {
        matches!(self, ErrorClass::Overloaded | ErrorClass::RateLimited | ErrorClass::Network | ErrorClass::CutShort)
    }

    /// The class as the wire spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            ErrorClass::Overloaded => "overloaded",
            ErrorClass::RateLimited => "rateLimited",
            ErrorClass::BadRequest => "badRequest",
            ErrorClass::Unauthorized => "unauthorized",
            ErrorClass::ContextOverflow => "contextOverflow",
            ErrorClass::Network => "network",
            ErrorClass::Timeout => "timeout",
            ErrorClass::Malformed => "malformed",
            ErrorClass::CutShort => "cutShort",
            ErrorClass::Empty => "empty",
        }
    }
}

/// A model call that failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{}: {message}", class.as_str())]
pub struct ModelError {
    /// Its class.
    pub class: ErrorClass,
    /// What failed, in one line; what the server said is capped and stripped of keys.
    pub message: String,
    /// HTTP status, if one came.
    pub status: Option<u16>,
    /// How long the server asks to wait, milliseconds.
    pub retry_after_ms: Option<u64>,
    /// Whether this failure must not be retried though its class would allow it.
    pub is_final: bool,
    /// Visible text that had come before the failure: partial, never a finished answer.
    pub partial_text: String,
    /// How many attempts were made.
    pub attempts: u32,
}

impl ModelError {
    /// A failure of `class` with a message.
    pub fn new(class: ErrorClass, message: impl Into<String>) -> ModelError {
        ModelError {
            class,
            message: message.into(),
            status: None,
            retry_after_ms: None,
            is_final: false,
            partial_text: String::new(),
            attempts: 1,
        }
    }

    /// The same failure, never to be retried.
    pub fn into_final(mut self) -> ModelError {
        self.is_final = true;
        self
    }

    /// Whether another attempt may help, by itself (who asks must know that nothing was shown yet).
    pub fn is_retryable(&self) -> bool {
        self.class.is_transient() && !self.is_final
    }
}
