//! `question/*`: which method is which verb.
//!
//! Must not know: what the verbs do.

use super::call::call;
use super::error::method_not_found;
use super::no_secret::without_secrets;
use crate::caller::Caller;
use crate::harness::Harness;
use serde_json::Value;
use tiro_schema::ErrorObject;
use tiro_schema::wire::question::{QuestionListParams, QuestionRespondParams};

/// Answers a method of the group `question`.
///
/// # Errors
/// What the verb says; `methodNotFound` for a name that is not built.
pub async fn dispatch(harness: &Harness, method: &str, params: Value, caller: Caller) -> Result<Value, ErrorObject> {
    match method {
        "question/list" => call(params, |p: QuestionListParams| async move { harness.questions(&p) }).await,
        "question/respond" => call(without_secrets(params)?, |p: QuestionRespondParams| harness.respond(caller, p)).await,
        _ => Err(method_not_found(method)),
    }
}
