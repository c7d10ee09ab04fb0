//! What the store's errors are on the wire, and what a write that failed says of its outcome.
//!
//! Must not know: which verb failed.

use crate::store::{StoreError, WriteFailure};
use tiro_schema::{ErrorKind, ErrorObject, WriteOutcome};

impl From<StoreError> for ErrorObject {
    fn from(error: StoreError) -> Self {
        let message = error.to_string();
        match error {
            StoreError::Damaged { .. } => ErrorObject::new(ErrorKind::StoreDamaged, message),
            StoreError::Full { free_bytes, reserve_bytes } => ErrorObject::new(ErrorKind::StorageFull, message)
                .with("freeBytes", free_bytes)
                .with("reserveBytes", reserve_bytes),
            StoreError::ReadOnly { .. } | StoreError::Io { .. } => ErrorObject::new(ErrorKind::StoreReadOnly, message),
            StoreError::Closed => ErrorObject::new(ErrorKind::Draining, message),
            StoreError::TooLarge { limit_bytes, .. } => ErrorObject::new(ErrorKind::TooLarge, message).with("max", limit_bytes),
            StoreError::Busy => ErrorObject::new(ErrorKind::Overloaded, message),
            StoreError::Missing(_) => ErrorObject::new(ErrorKind::NotFound, message),
            StoreError::Interrupted => ErrorObject::new(ErrorKind::Cancelled, message),
            StoreError::JobPanicked { .. } | StoreError::Invalid(_) | StoreError::Engine(_) => {
                ErrorObject::new(ErrorKind::Internal, message)
            }
        }
    }
}

impl<E: Into<ErrorObject>> From<WriteFailure<E>> for ErrorObject {
    fn from(failure: WriteFailure<E>) -> Self {
        let message = |what: &dyn std::fmt::Display| what.to_string();
        match failure {
            WriteFailure::Job(error) => error.into().with_outcome(WriteOutcome::NotDone),
            WriteFailure::NotDone(error) => ErrorObject::from(error).with_outcome(WriteOutcome::NotDone),
            WriteFailure::Unknown(error) => {
                let text = format!("it is not known whether this was written: {error}");
                let mut object = ErrorObject::from(error).with_outcome(WriteOutcome::Unknown);
                object.message = text;
                object
            }
            WriteFailure::ReadOnly { cause } => {
                ErrorObject::from(StoreError::ReadOnly { cause }).with_outcome(WriteOutcome::NotDone)
            }
            WriteFailure::Full { free_bytes, reserve_bytes } => {
                ErrorObject::from(StoreError::Full { free_bytes, reserve_bytes }).with_outcome(WriteOutcome::NotDone)
            }
            WriteFailure::Overloaded => {
                ErrorObject::new(ErrorKind::Overloaded, message(&"too many writes wait")).with_outcome(WriteOutcome::NotDone)
            }
            WriteFailure::Closed => ErrorObject::from(StoreError::Closed).with_outcome(WriteOutcome::NotDone),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    // STORE-2, API-1
    #[test]
    fn a_failed_write_says_whether_it_was_done() {
        let of = |failure: WriteFailure<StoreError>| {
            let object = ErrorObject::from(failure);
            (object.kind().unwrap(), object.data.unwrap().outcome.unwrap())
        };
        let io = || StoreError::Io { kind: std::io::ErrorKind::Other, message: "gone".into() };
        assert_eq!(of(WriteFailure::NotDone(io())), (ErrorKind::StoreReadOnly, WriteOutcome::NotDone));
        assert_eq!(of(WriteFailure::Unknown(io())), (ErrorKind::StoreReadOnly, WriteOutcome::Unknown));
        assert_eq!(of(WriteFailure::Full { free_bytes: 1, reserve_bytes: 2 }), (ErrorKind::StorageFull, WriteOutcome::NotDone));
        assert_eq!(of(WriteFailure::Overloaded), (ErrorKind::Overloaded, WriteOutcome::NotDone));
        assert_eq!(of(WriteFailure::Closed), (ErrorKind::Draining, WriteOutcome::NotDone));
    }
}
