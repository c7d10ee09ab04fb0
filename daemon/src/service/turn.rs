//! `turn/*`: which method is which verb.
//!
//! Must not know: what the verbs do.

use super::call::call;
use super::error::method_not_found;
use super::no_secret::without_secrets;
use crate::caller::Caller;
use crate::harness::Harness;
use serde_json::Value;
use tiro_schema::ErrorObject;
use tiro_schema::wire::turn::{TurnIdParams, TurnSteerParams, TurnWaitParams};

/// Answers a method of the group `turn`.
///
/// # Errors
/// What the verb says; `methodNotFound` for a name that is not built.
pub async fn dispatch(harness: &Harness, method: &str, params: Value, caller: Caller) -> Result<Value, ErrorObject> {
    match method {
        "turn/start" => call(without_secrets(params)?, |p| harness.start(caller, p)).await,
        "turn/steer" => call(without_secrets(params)?, |p: TurnSteerParams| harness.steer(p)).await,
        "turn/wait" => call(params, |p: TurnWaitParams| async move { harness.wait(&p.turn_id, p.timeout_ms).await }).await,
        "turn/get" => call(params, |p: TurnIdParams| async move { harness.sessions().describe_turn(&p.turn_id) }).await,
        "turn/interrupt" => call(params, |p: TurnIdParams| async move { harness.interrupt(&p.turn_id).await }).await,
        _ => Err(method_not_found(method)),
    }
}
