//! From params as JSON to a typed call and back: the one place where a verb's types meet the wire.
//!
//! Must not know: any verb.

use super::error::invalid_params;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tiro_schema::{ErrorKind, ErrorObject};

/// Reads the params of a verb; `_meta` is left out, wherever it stands.
///
/// # Errors
/// `invalidParams` with the path to what does not fit.
pub fn read_params<P: DeserializeOwned>(mut params: Value) -> Result<P, ErrorObject> {
    if params.is_null() {
        params = Value::Object(serde_json::Map::new());
    }
    leave_meta_out(&mut params);
    crate::params::read(params).map_err(|misfit| invalid_params(&misfit.path, &misfit.message))
}

/// Takes every `_meta` out. Nesting is bounded where frames are read.
fn leave_meta_out(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.shift_remove("_meta");
            members.values_mut().for_each(leave_meta_out);
        }
        Value::Array(items) => items.iter_mut().for_each(leave_meta_out),
        _ => {}
    }
}

/// Writes the result of a verb.
///
/// # Errors
/// `internal` when it has no JSON form.
pub fn write_result<R: Serialize>(result: R) -> Result<Value, ErrorObject> {
    serde_json::to_value(result)
        .map_err(|error| ErrorObject::new(ErrorKind::Internal, format!("the result has no JSON form: {error}")))
}

/// Calls a verb: params in, result or error out.
///
/// # Errors
/// `invalidParams`, or what the verb says.
pub async fn call<P, R, E, F>(params: Value, verb: impl FnOnce(P) -> F) -> Result<Value, ErrorObject>
where
    P: DeserializeOwned,
    R: Serialize,
    E: Into<ErrorObject>,
    F: Future<Output = Result<R, E>>,
{
    let params = read_params(params)?;
    // On the heap: one task a call would else be as large as the largest verb.
    write_result(Box::pin(verb(params)).await.map_err(Into::into)?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;
    use tiro_schema::wire::InitializeParams;

    fn path(params: Value) -> String {
        let error = read_params::<InitializeParams>(params).unwrap_err();
        assert_eq!(error.code, -32602);
        error.data.unwrap().details["path"].as_str().unwrap().to_owned()
    }

    #[test]
    fn params_that_do_not_fit_name_their_path() {
        // API-1
        let good = json!({"protocol": {"min": 1, "max": 1}, "client": {"name": "a", "_meta": {"y": 1}}, "_meta": {"x": 1}});
        assert!(read_params::<InitializeParams>(good.clone()).is_ok());
        let mut wrong = good.clone();
        wrong["protocol"]["max"] = json!("one");
        assert_eq!(path(wrong), "protocol.max");
        let mut unknown = good.clone();
        unknown["colour"] = json!(1);
        assert_eq!(path(unknown), "colour");
        let mut nested = good;
        nested["client"]["colour"] = json!(1);
        assert_eq!(path(nested), "client.colour");
        assert_eq!(path(json!({"protocol": {"min": 1, "max": 1}})), "client");
        assert_eq!(path(json!({"protocol": {"min": 1}, "client": {"name": "a"}})), "protocol.max");
        assert_eq!(path(Value::Null), "protocol");
    }
}
