//! Requests of which `rmcp` can make nothing: a method that is not there, or one whose params do not fit.
//!
//! `rmcp` takes both for a request of somebody else's and says that there is no such method. Must not know: how a request that
//! fits is answered.

use super::results;
use rmcp::model::{
    CallToolRequestParams, CustomRequest, CustomResult, ErrorCode, ErrorData, GetPromptRequestParams, InitializeRequestParams,
    ProtocolVersion, ReadResourceRequestParams, SubscribeRequestParams,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The answer: what does not fit. Arguments of a tool that are no object are told as the tool's result.
///
/// # Errors
/// Always, but for those.
pub fn answer(request: &CustomRequest, version: Option<&ProtocolVersion>) -> Result<CustomResult, ErrorData> {
    let params = request.params.clone().unwrap_or(json!({}));
    let is_stateless = version.is_some_and(|version| *version >= ProtocolVersion::V_2026_07_28);
    let why = match request.method.as_str() {
        "tools/call" if params.get("name").is_some_and(Value::is_string) && !fits_object(params.get("arguments")) => {
            return Ok(CustomResult(no_object(is_stateless)));
        }
        "tools/call" => why::<CallToolRequestParams>(params),
        "prompts/get" => why::<GetPromptRequestParams>(params),
        "resources/read" => why::<ReadResourceRequestParams>(params),
        "resources/subscribe" | "resources/unsubscribe" if !is_stateless => why::<SubscribeRequestParams>(params),
        "initialize" if !is_stateless => why::<InitializeRequestParams>(params),
        method => return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("no method {method:?}"), None)),
    };
    Err(ErrorData::invalid_params(format!("the params of {} do not fit: {why}", request.method), None))
}

fn fits_object(arguments: Option<&Value>) -> bool {
    arguments.is_none_or(|arguments| arguments.is_object() || arguments.is_null())
}

fn no_object(is_stateless: bool) -> Value {
    let mut result =
        results::failed("arguments: not an object\nWhat to do: give the arguments as an object, by the tool's input schema.");
    if !is_stateless {
        result.result_type = None;
    }
    json!(result)
}

fn why<P: DeserializeOwned>(params: Value) -> String {
    match serde_json::from_value::<P>(params) {
        Ok(_) => "one of its members has the wrong type".to_owned(),
        Err(error) => error.to_string(),
    }
}
