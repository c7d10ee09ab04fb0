//! What every verb group's error becomes on the wire, and what a failed write says of its outcome.
//!
//! Each room states its own errors as `impl From<RoomError> for ErrorObject`; what they share stands here.
//! Must not know: connections.

use tiro_schema::{ErrorKind, ErrorObject, WriteOutcome};

/// The answer to a method that this build does not have.
pub fn method_not_found(method: &str) -> ErrorObject {
    let shown: String = method.chars().take(64).collect();
    ErrorObject::new(ErrorKind::MethodNotFound, format!("there is no method {shown:?}"))
}

/// The answer to params that do not fit; `path` leads to the member, as `filter.tags[2]`; empty for the whole.
pub fn invalid_params(path: &str, message: &str) -> ErrorObject {
    let text = if path.is_empty() { message.to_owned() } else { format!("{path}: {message}") };
    ErrorObject::new(ErrorKind::InvalidParams, text).with("path", path)
}

/// The error of a write with its outcome: what the room said, else what the kind implies.
///
/// Everything found out before the write transaction is `notDone`; a fault, a timeout or a cancellation in the middle
/// leaves it `unknown`.
pub fn with_write_outcome(error: ErrorObject) -> ErrorObject {
    if error.data.as_ref().is_some_and(|data| data.outcome.is_some()) {
        return error;
    }
    let outcome = match error.kind() {
        Some(ErrorKind::Internal | ErrorKind::Timeout | ErrorKind::Cancelled) | None => WriteOutcome::Unknown,
        Some(_) => WriteOutcome::NotDone,
    };
    error.with_outcome(outcome)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_failed_write_says_not_done_or_unknown() {
        // API-1
        let outcome = |kind| with_write_outcome(ErrorObject::new(kind, "x")).data.unwrap().outcome;
        assert_eq!(outcome(ErrorKind::InvalidParams), Some(WriteOutcome::NotDone));
        assert_eq!(outcome(ErrorKind::Cancelled), Some(WriteOutcome::Unknown));
        let said = ErrorObject::new(ErrorKind::Internal, "x").with_outcome(WriteOutcome::NotDone);
        assert_eq!(with_write_outcome(said).data.unwrap().outcome, Some(WriteOutcome::NotDone));
    }
}
