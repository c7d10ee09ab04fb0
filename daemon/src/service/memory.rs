//! `memory/*` and `space/*`: which method is which verb.
//!
//! Must not know: what the verbs do.

use super::call::call;
use super::error::method_not_found;
use crate::caller::Caller;
use crate::memory::Memory;
use serde_json::Value;
use tiro_schema::ErrorObject;

/// Answers a method of the groups `memory` and `space`.
///
/// # Errors
/// What the verb says; `methodNotFound` for a name that is not built.
pub async fn dispatch(memory: &Memory, method: &str, params: Value, caller: Caller) -> Result<Value, ErrorObject> {
    let by = &caller;
    match method {
        "memory/remember" => call(params, |p| memory.remember(by, p)).await,
        "memory/rememberMany" => call(params, |p| memory.remember_many(by, p)).await,
        "memory/recall" => call(params, |p| memory.recall(by, p)).await,
        "memory/context" => call(params, |p| memory.context(by, p)).await,
        "memory/get" => call(params, |p| memory.get(by, p)).await,
        "memory/list" => call(params, |p| memory.list(by, p)).await,
        "memory/update" => call(params, |p| memory.update(by, p)).await,
        "memory/supersede" => call(params, |p| memory.supersede(by, p)).await,
        "memory/pin" => call(params, |p| memory.pin(by, p)).await,
        "memory/archive" => call(params, |p| memory.archive(by, p)).await,
        "memory/restore" => call(params, |p| memory.restore(by, p)).await,
        "memory/forget" => call(params, |p| memory.forget(by, p)).await,
        "memory/receipts" => call(params, |p| memory.receipts(by, p)).await,
        "memory/undo" => call(params, |p| memory.undo(by, p)).await,
        "memory/history" => call(params, |p| memory.history(by, p)).await,
        "memory/conflicts" => call(params, |p| memory.conflicts(by, p)).await,
        "memory/resolve" => call(params, |p| memory.resolve(by, p)).await,
        "memory/feedback" => call(params, |p| memory.feedback(by, p)).await,
        "memory/merge" => call(params, |p| memory.merge(by, p)).await,
        "memory/stats" => call(params, |p| memory.stats(by, p)).await,
        "memory/audit" => call(params, |p| memory.audit(by, p)).await,
        "memory/export" => call(params, |p| memory.export(by, p)).await,
        "memory/import" => call(params, |p| memory.import(by, p)).await,
        "space/list" => call(params, |p| memory.space_list(by, p)).await,
        "space/update" => call(params, |p| memory.space_update(by, p)).await,
        "space/delete" => call(params, |p| memory.space_delete(by, p)).await,
        _ => Err(method_not_found(method)),
    }
}
