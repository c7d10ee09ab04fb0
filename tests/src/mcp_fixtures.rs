//! The tools, resources and prompts that the protocol's conformance suite prescribes, served through the client's own HTTP door.
//!
//! They are of the tests alone: what they hold is the door, its streams and its sessions, with more kinds of content than a memory
//! has. Must not know: memory.
#![expect(deprecated, reason = "the older era logs and samples, and the suite asks for it")]

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult, ErrorData,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, LoggingLevel, LoggingMessageNotificationParam, PaginatedRequestParams,
    ProgressNotificationParam, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ServerCapabilities,
    ServerConfig, ServerRequest, SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// One pixel, and a sound of no length.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";
const PLAIN_TOOLS: [&str; 12] = [
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_error_handling",
    "test_tool_with_progress",
    "test_tool_with_logging",
    "test_sampling",
    "test_elicitation",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
];

/// The fixtures as a server.
#[derive(Debug, Clone, Default)]
pub struct Fixtures;

fn made<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn image() -> Value {
    json!({"type": "image", "data": PNG, "mimeType": "image/png"})
}

fn embedded(uri: &str, kind: &str, text: &str) -> Value {
    json!({"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": text}})
}

/// Asks the host something, and tells what it answered.
async fn ask(context: &RequestContext<RoleServer>, method: &str, params: Value) -> Result<Value, ErrorData> {
    let request: ServerRequest = made(json!({"method": method, "params": params}))?;
    let answer = context.peer.send_request(request).await.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    Ok(text(&format!("answer: {}", json!(answer))))
}

/// The form that a tool asks the user to fill in.
fn form(tool: &str) -> Value {
    let options = json!(["option1", "option2", "option3"]);
    let titled = json!([{"const": "value1", "title": "First"}, {"const": "value2", "title": "Second"}, {"const": "value3", "title": "Third"}]);
    let properties = match tool {
        "test_elicitation" => json!({"username": {"type": "string"}, "email": {"type": "string"}}),
        "test_elicitation_sep1034_defaults" => json!({
            "name": {"type": "string", "default": "John Doe"}, "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5}, "verified": {"type": "boolean", "default": true},
            "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        }),
        _ => json!({
            "untitledSingle": {"type": "string", "enum": options}, "titledSingle": {"type": "string", "oneOf": titled},
            "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"]},
            "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
            "titledMulti": {"type": "array", "items": {"anyOf": titled}},
        }),
    };
    json!({"type": "object", "properties": properties, "required": []})
}

async fn call(name: &str, arguments: &Value, context: &RequestContext<RoleServer>) -> Result<Value, ErrorData> {
    let content = match name {
        "test_simple_text" => vec![text("This is a simple text response for testing.")],
        "test_image_content" => vec![image()],
        "test_audio_content" => vec![json!({"type": "audio", "data": WAV, "mimeType": "audio/wav"})],
        "test_embedded_resource" => {
            vec![embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")]
        }
        "test_multiple_content_types" => vec![
            text("Multiple content types test:"),
            image(),
            embedded("test://mixed-content-resource", "application/json", "{\"test\":\"data\",\"value\":123}"),
        ],
        "test_error_handling" => {
            return Ok(json!({"isError": true, "content": [text("This tool intentionally returns an error for testing")]}));
        }
        "test_tool_with_progress" => {
            if let Some(token) = context.meta.get_progress_token() {
                for progress in [0.0, 50.0, 100.0] {
                    let told = ProgressNotificationParam::new(token.clone(), progress).with_total(100.0);
                    let _ = context.peer.notify_progress(told).await;
                    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                }
            }
            vec![text("done")]
        }
        "test_tool_with_logging" => {
            for said in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
                let _ = context
                    .peer
                    .notify_logging_message(LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(said)))
                    .await;
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            }
            vec![text("done")]
        }
        "test_sampling" => {
            let message = json!({"role": "user", "content": text(arguments["prompt"].as_str().unwrap_or_default())});
            vec![ask(context, "sampling/createMessage", json!({"messages": [message], "maxTokens": 100})).await?]
        }
        "test_elicitation" | "test_elicitation_sep1034_defaults" | "test_elicitation_sep1330_enums" => {
            let message = arguments["message"].as_str().unwrap_or("Please fill in the form.");
            vec![ask(context, "elicitation/create", json!({"message": message, "requestedSchema": form(name)})).await?]
        }
        "json_schema_2020_12_tool" => vec![text("done")],
        other => return Err(ErrorData::invalid_params(format!("no tool {other:?}"), None)),
    };
    Ok(json!({"content": content}))
}

fn tools() -> Value {
    let mut tools: Vec<Value> = PLAIN_TOOLS
        .iter()
        .map(|name| json!({"name": name, "description": "A fixture.", "inputSchema": {"type": "object", "properties": {}}}))
        .collect();
    let address = json!({"$anchor": "addressDef", "type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}});
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "$defs": {"address": address},
        "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}}, "additionalProperties": false,
        "allOf": [{"anyOf": [{"required": ["name"]}, {"required": ["address"]}]}],
        "if": {"required": ["name"]}, "then": {"required": ["name"]}, "else": {"required": ["address"]},
    });
    tools.push(json!({"name": "json_schema_2020_12_tool", "description": "A fixture.", "inputSchema": schema}));
    json!(tools)
}

fn read(uri: &str) -> Result<Value, ErrorData> {
    let content = match uri {
        "test://static-text" => {
            json!({"uri": uri, "mimeType": "text/plain", "text": "This is the content of the static text resource."})
        }
        "test://static-binary" => json!({"uri": uri, "mimeType": "image/png", "blob": PNG}),
        "test://watched-resource" => json!({"uri": uri, "mimeType": "text/plain", "text": "Watched resource content"}),
        _ => {
            let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
            let id =
                id.ok_or_else(|| ErrorData::resource_not_found(format!("no resource {uri:?}"), Some(json!({"uri": uri}))))?;
            let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
            json!({"uri": uri, "mimeType": "application/json", "text": data.to_string()})
        }
    };
    Ok(json!({"resultType": "complete", "contents": [content]}))
}

fn prompts() -> Value {
    let argument = |name: &str| json!({"name": name, "description": "A fixture.", "required": true});
    json!([
        {"name": "test_simple_prompt", "description": "A fixture."},
        {"name": "test_prompt_with_arguments", "description": "A fixture.", "arguments": [argument("arg1"), argument("arg2")]},
        {"name": "test_prompt_with_embedded_resource", "description": "A fixture.", "arguments": [argument("resourceUri")]},
        {"name": "test_prompt_with_image", "description": "A fixture."},
    ])
}

fn prompt(name: &str, arguments: &Value) -> Result<Value, ErrorData> {
    let argument = |name: &str| arguments[name].as_str().unwrap_or_default().to_owned();
    let content = match name {
        "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => {
            vec![text(&format!("Prompt with arguments: arg1='{}', arg2='{}'", argument("arg1"), argument("arg2")))]
        }
        "test_prompt_with_embedded_resource" => vec![
            embedded(&argument("resourceUri"), "text/plain", "Embedded resource content for testing."),
            text("Please process the embedded resource above."),
        ],
        "test_prompt_with_image" => vec![image(), text("Please analyze the image above.")],
        other => return Err(ErrorData::invalid_params(format!("no prompt {other:?}"), None)),
    };
    let messages: Vec<Value> = content.into_iter().map(|content| json!({"role": "user", "content": content})).collect();
    Ok(json!({"resultType": "complete", "messages": messages}))
}

type Context = RequestContext<RoleServer>;

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        let capabilities =
            json!({"tools": {}, "prompts": {}, "resources": {"subscribe": true}, "completions": {}, "logging": {}});
        ServerConfig::new(serde_json::from_value::<ServerCapabilities>(capabilities).unwrap_or_default())
    }

    async fn list_tools(&self, _: Option<PaginatedRequestParams>, _: Context) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(made(tools())?))
    }

    async fn call_tool(&self, request: CallToolRequestParams, context: Context) -> Result<CallToolResponse, ErrorData> {
        let mut result = call(&request.name, &json!(request.arguments), &context).await?;
        result["resultType"] = json!("complete");
        Ok(made::<CallToolResult>(result)?.into())
    }

    async fn list_resources(&self, _: Option<PaginatedRequestParams>, _: Context) -> Result<ListResourcesResult, ErrorData> {
        let uris = ["test://static-text", "test://static-binary", "test://watched-resource"];
        let resources: Vec<Value> =
            uris.iter().map(|uri| json!({"uri": uri, "name": uri, "description": "A fixture."})).collect();
        Ok(ListResourcesResult::with_all_items(made(json!(resources))?))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let templates = json!([{"uriTemplate": "test://template/{id}/data", "name": "template", "mimeType": "application/json"}]);
        Ok(ListResourceTemplatesResult::with_all_items(made(templates)?))
    }

    async fn read_resource(&self, request: ReadResourceRequestParams, _: Context) -> Result<ReadResourceResponse, ErrorData> {
        Ok(made::<ReadResourceResult>(read(&request.uri)?)?.into())
    }

    async fn list_prompts(&self, _: Option<PaginatedRequestParams>, _: Context) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(made(prompts())?))
    }

    async fn get_prompt(&self, request: GetPromptRequestParams, _: Context) -> Result<GetPromptResponse, ErrorData> {
        Ok(made::<GetPromptResult>(prompt(&request.name, &json!(request.arguments))?)?.into())
    }

    async fn complete(&self, _: CompleteRequestParams, _: Context) -> Result<CompleteResult, ErrorData> {
        made(json!({"resultType": "complete", "completion": {"values": ["one", "two"], "total": 2, "hasMore": false}}))
    }

    async fn set_level(&self, _: SetLevelRequestParams, _: Context) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn subscribe(&self, _: SubscribeRequestParams, _: Context) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(&self, _: UnsubscribeRequestParams, _: Context) -> Result<(), ErrorData> {
        Ok(())
    }
}
