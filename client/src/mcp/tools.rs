//! The tools: what each takes and gives, what it does to the world, and which method of the daemon it is.
//!
//! Eight, in one order. Seven are the memory verbs a model needs; the eighth, `memory_undo`, is there because a model may forget
//! or overwrite the wrong thing, and then it can repair that in the same conversation. Must not know: how a method works.

use super::handler::Memory;
use super::link::Link;
use super::{results, schemas};
use crate::limits::{MCP_LIST_ITEMS, MCP_RECALL_TOKENS};
use rmcp::model::{CallToolResult, JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde_json::{Map, Value, json};
use std::sync::{Arc, LazyLock};
use tiro_schema::wire::memory::{
    ContextResult, ForgetParams, ForgetResult, GetParams, ListParams, ListResult, Memory as Item, RecallParams, RecallResult,
    RememberParams, RememberResult, UndoParams, UpdateParams, VersionResult,
};

/// What a tool does to what is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    Reads,
    Adds,
    Changes,
}

/// One tool.
struct Entry {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    method: &'static str,
    /// Arguments it takes: members of the method's params.
    takes: &'static [&'static str],
    /// Of these, the ones that have to be there.
    needs: &'static [&'static str],
    /// Members of the result that say nothing to a model.
    without: &'static [&'static str],
    effect: Effect,
    /// Whether the result holds texts of memories.
    tells: bool,
}

const RECALL: Entry = Entry {
    name: "memory_recall",
    title: "Recall memories",
    description: "Find what is remembered about a question, by words and by meaning, in any language. Ask before you answer anything \
                  that earlier conversations may have settled: who the user is, how they like things, names, decisions, dates. Each hit \
                  comes with its date, source and strength; no hits means that nothing relevant is known. overBudget counts hits left out \
                  for their length (8000 tokens together, unless tokenBudget says otherwise).",
    method: "memory/recall",
    takes: &["query", "limit", "filter", "asOf", "validAt", "tokenBudget"],
    needs: &["query"],
    without: &["seq", "servedBy"],
    effect: Effect::Reads,
    tells: true,
};

const CONTEXT: Entry = Entry {
    name: "memory_context",
    title: "Memories as one block",
    description: "What is remembered for a task, as one block of text within a budget of tokens: the standing instructions and \
                  preferences of the user, whatever is asked, then what fits the query. Good at the beginning of a conversation or a task.",
    method: "memory/context",
    takes: &["query", "tokenBudget"],
    needs: &["query"],
    without: &[],
    effect: Effect::Reads,
    tells: false,
};

const REMEMBER: Entry = Entry {
    name: "memory_remember",
    title: "Remember something",
    description: "Keep one fact for later conversations: a preference, a decision, a constraint, who somebody is, what happened. One \
                  sentence that stands by itself, with names and dates instead of \"it\" and \"today\". Telling the same again does no \
                  harm; a newer value takes the place of the older. Secrets are refused. Set explicit only when the user asked in their own words \
                  to remember this.",
    method: "memory/remember",
    takes: &[
        "text",
        "category",
        "kind",
        "tags",
        "entities",
        "importance",
        "pinned",
        "occurredAt",
        "validFrom",
        "validTo",
        "source",
        "explicit",
        "key",
    ],
    needs: &["text"],
    without: &["seq", "error"],
    effect: Effect::Adds,
    tells: false,
};

const GET: Entry = Entry {
    name: "memory_get",
    title: "Show one memory",
    description: "One memory, whole, by its id: its words, version, source, dates and standing.",
    method: "memory/get",
    takes: &["id"],
    needs: &["id"],
    without: &[],
    effect: Effect::Reads,
    tells: true,
};

const UPDATE: Entry = Entry {
    name: "memory_update",
    title: "Change a memory",
    description: "Correct a memory: only the members given change. When the text changes, ifVersion has to be the version that \
                  memory_get gives. For something that became different with time, call memory_remember with the new fact instead.",
    method: "memory/update",
    takes: &[
        "id",
        "ifVersion",
        "text",
        "category",
        "kind",
        "tags",
        "entities",
        "importance",
        "occurredAt",
        "validFrom",
        "validTo",
        "key",
    ],
    needs: &["id"],
    without: &["seq"],
    effect: Effect::Changes,
    tells: false,
};

const FORGET: Entry = Entry {
    name: "memory_forget",
    title: "Forget memories",
    description: "Hide memories everywhere at once, by their ids. Only when the user asks for it, or when a memory is plainly wrong. \
                  memory_undo brings one back until undoUntil.",
    method: "memory/forget",
    takes: &["ids", "dryRun", "key"],
    needs: &["ids"],
    without: &["seq"],
    effect: Effect::Changes,
    tells: false,
};

const LIST: Entry = Entry {
    name: "memory_list",
    title: "List memories",
    description: "Memories page by page (20, unless limit says otherwise), newest first; with text, only those that contain it. To find what fits a question use \
                  memory_recall.",
    method: "memory/list",
    takes: &["text", "filter", "order", "limit", "cursor"],
    needs: &[],
    without: &[],
    effect: Effect::Reads,
    tells: true,
};

const UNDO: Entry = Entry {
    name: "memory_undo",
    title: "Undo a change",
    description: "Take back the last change of one memory: an update, a memory_forget (by the whole id), a memory that took its place.",
    method: "memory/undo",
    takes: &["id", "key"],
    needs: &["id"],
    without: &["seq"],
    effect: Effect::Changes,
    tells: false,
};

/// Every tool, in the order in which they are listed.
const ENTRIES: [&Entry; 8] = [&RECALL, &CONTEXT, &REMEMBER, &GET, &UPDATE, &FORGET, &LIST, &UNDO];

impl Entry {
    fn tool(&self) -> Tool {
        let annotations = ToolAnnotations::with_title(self.title)
            .read_only(self.effect == Effect::Reads)
            .destructive(self.effect == Effect::Changes)
            // An undo takes back one change more each time.
            .idempotent(self.name != UNDO.name)
            .open_world(false);
        let (input, output) = self.schemas();
        Tool::new(self.name, self.description, Arc::new(input))
            .with_title(self.title)
            .with_raw_output_schema(Arc::new(output))
            .with_annotations(annotations)
    }

    fn schemas(&self) -> (JsonObject, JsonObject) {
        match self.method {
            "memory/recall" => self.pair::<RecallParams, RecallResult>(),
            "memory/context" => self.pair::<RecallParams, ContextResult>(),
            "memory/remember" => self.pair::<RememberParams, RememberResult>(),
            "memory/get" => self.pair::<GetParams, Item>(),
            "memory/update" => self.pair::<UpdateParams, VersionResult>(),
            "memory/forget" => self.pair::<ForgetParams, ForgetResult>(),
            "memory/list" => self.pair::<ListParams, ListResult>(),
            _ => self.pair::<UndoParams, VersionResult>(),
        }
    }

    fn pair<P: JsonSchema, R: JsonSchema>(&self) -> (JsonObject, JsonObject) {
        (schemas::input::<P>(self.takes, self.needs), schemas::output::<R>(self.without, self.tells))
    }

    /// The arguments as params of the method, with what the host does not choose; else what is wrong with them.
    fn params(&self, memory: &Memory, link: &Link, arguments: Map<String, Value>) -> Result<Value, String> {
        if let Some(name) = arguments.keys().find(|name| !self.takes.contains(&name.as_str())) {
            return Err(format!("{name}: not an argument of {}; it takes {}", self.name, self.takes.join(", ")));
        }
        if let Some(name) = self.needs.iter().find(|name| arguments.get(**name).is_none_or(Value::is_null)) {
            return Err(format!("{name}: missing; {} needs it", self.name));
        }
        let mut params = arguments;
        match self.method {
            "memory/recall" => {
                memory.read_in(&mut params);
                given_or(&mut params, "tokenBudget", MCP_RECALL_TOKENS);
            }
            "memory/context" => memory.read_in(&mut params),
            "memory/list" => {
                params.insert("space".to_owned(), json!(memory.space()));
                given_or(&mut params, "limit", MCP_LIST_ITEMS);
            }
            "memory/remember" => {
                params.insert("space".to_owned(), json!(memory.space()));
                from_host(&mut params, link.host());
            }
            _ => {}
        }
        if self.effect != Effect::Reads && params.get("key").is_none_or(Value::is_null) {
            // A call that is repeated over a restart of the daemon then happens once.
            params.insert("key".to_owned(), json!(uuid::Uuid::new_v4().to_string()));
        }
        Ok(Value::Object(params))
    }

    /// The daemon's result as the tool gives it.
    fn result(&self, mut value: Value) -> CallToolResult {
        if self.method == "memory/remember" && value.get("outcome") == Some(&json!("refused")) {
            return results::failed(results::not_kept(
                value.get("reason").and_then(Value::as_str).unwrap_or("a rule refused it"),
            ));
        }
        if let Value::Object(members) = &mut value {
            for name in self.without {
                members.shift_remove(*name);
            }
        }
        results::shorten(&mut value);
        results::done(if self.tells { results::with_note(value) } else { value })
    }
}

/// What a caller left open. A model reads all it gets, so an answer is kept short unless more is asked for.
fn given_or(params: &mut Map<String, Value>, name: &str, otherwise: u32) {
    if params.get(name).is_none_or(Value::is_null) {
        params.insert(name.to_owned(), json!(otherwise));
    }
}

/// Says which program brought a text, where the caller said nothing.
fn from_host(params: &mut Map<String, Value>, host: &str) {
    let source = params.entry("source").or_insert(Value::Null);
    if source.is_null() {
        *source = json!({});
    }
    if let Value::Object(source) = source
        && !host.is_empty()
        && source.get("program").is_none_or(Value::is_null)
    {
        source.insert("program".to_owned(), json!(host));
    }
}

/// Every tool; made once.
pub fn list() -> Vec<Tool> {
    static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| ENTRIES.iter().map(|entry| entry.tool()).collect());
    TOOLS.clone()
}

/// The names of all, for a message.
pub fn names() -> String {
    ENTRIES.map(|entry| entry.name).join(", ")
}

/// Calls a tool; none where there is no such tool. What fails is a result for the model to read.
pub async fn call(memory: &Memory, link: &Link, name: &str, arguments: Map<String, Value>) -> Option<CallToolResult> {
    let entry = ENTRIES.iter().find(|entry| entry.name == name)?;
    let params = match entry.params(memory, link, arguments) {
        Ok(params) => params,
        Err(wrong) => {
            return Some(results::failed(format!("{wrong}\nWhat to do: correct the arguments by the tool's input schema.")));
        }
    };
    Some(match link.call(entry.method, params).await {
        Ok(value) => entry.result(value),
        Err(error) => results::failed(results::trouble(&error)),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn there_are_eight_tools_in_one_order_and_each_says_what_it_does() {
        let tools = list();
        let names: Vec<_> = tools.iter().map(|tool| tool.name.to_string()).collect();
        assert_eq!(
            names,
            [
                "memory_recall",
                "memory_context",
                "memory_remember",
                "memory_get",
                "memory_update",
                "memory_forget",
                "memory_list",
                "memory_undo"
            ]
        );
        for (tool, entry) in tools.iter().zip(ENTRIES) {
            let properties = tool.input_schema["properties"].as_object().unwrap();
            assert!(properties.keys().eq(entry.takes.iter()), "{}: {properties:?}", tool.name);
            assert!(entry.needs.iter().all(|name| entry.takes.contains(name)));
            assert_eq!(tool.output_schema.as_ref().unwrap()["type"], "object", "{}", tool.name);
            assert!(tool.annotations.as_ref().unwrap().open_world_hint == Some(false));
        }
        assert_eq!(serde_json::to_string(&tools).unwrap(), serde_json::to_string(&list()).unwrap());
    }

    #[test]
    fn a_text_says_which_program_brought_it() {
        let mut params = Map::new();
        from_host(&mut params, "some-host");
        assert_eq!(params["source"], json!({"program": "some-host"}));
        let mut given =
            serde_json::from_value::<Map<String, Value>>(json!({"source": {"program": "x", "speaker": "Ann"}})).unwrap();
        from_host(&mut given, "some-host");
        assert_eq!(given["source"]["program"], "x");
    }
}
