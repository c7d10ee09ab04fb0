//! Tools that play a script: for tests, replays and trials, beside the built-in ones. Named by `[agent] toolScript`.
//!
//! A script is JSON: `{"tools": [tool, …]}`. A tool is `{"name", "description"?, "parameters"?: schema, "sideEffect"?: "none" | "write" |
//! "external", "idempotent"?, "polls"?, "keyFields"?: [..], "timeoutMs"?, "results": [result, …]}`. A result is `{"text"? or "json"?, "times"?:
//! repeats the text, "isError"?, "delayMs"?, "hang"?, "append"?: file of the script's folder that gets a line with the arguments, "command"?:
//! words for `sh -c` in a process group of its own}`. `{n}` in a text is the number of the call. Results come in order, the last one again and
//! again. What it runs is what its owner wrote down: the model chooses when, never what. Must not know: models, sessions.

use super::{SideEffect, ToolResult, ToolSpec};
use crate::limits;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::process::Command;

/// A script that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ToolScriptError {
    /// The file cannot be read.
    #[error("cannot read the tool script {path}: {source}")]
    Unreadable {
        /// The file.
        path: String,
        /// The cause.
        source: std::io::Error,
    },
    /// It is no script.
    #[error("the tool script {path} is wrong: {source}")]
    Wrong {
        /// The file.
        path: String,
        /// The cause.
        source: serde_json::Error,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Script {
    tools: Vec<ScriptedTool>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ScriptedTool {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    parameters: Option<Value>,
    #[serde(default)]
    side_effect: SideEffect,
    #[serde(default)]
    idempotent: bool,
    #[serde(default)]
    polls: bool,
    #[serde(default)]
    key_fields: Vec<String>,
    #[serde(default)]
    timeout_ms: Option<u64>,
    results: Vec<ScriptedResult>,
    #[serde(skip)]
    played: AtomicUsize,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct ScriptedResult {
    text: String,
    json: Option<Value>,
    times: Option<usize>,
    is_error: bool,
    delay_ms: u64,
    hang: bool,
    append: Option<String>,
    command: Option<String>,
}

/// The tools of a script.
#[derive(Debug, Default)]
pub struct ScriptedTools {
    tools: Vec<ScriptedTool>,
    folder: PathBuf,
}

impl ScriptedTools {
    /// Reads a script.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub fn from_file(path: &Path) -> Result<ScriptedTools, ToolScriptError> {
        let shown = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|source| ToolScriptError::Unreadable { path: shown.clone(), source })?;
        let script: Script = serde_json::from_slice(&bytes).map_err(|source| ToolScriptError::Wrong { path: shown, source })?;
        Ok(ScriptedTools { tools: script.tools, folder: path.parent().unwrap_or(Path::new(".")).to_path_buf() })
    }

    /// What they are.
    pub fn specs(&self) -> Vec<ToolSpec> {
        let spec = |tool: &ScriptedTool| ToolSpec {
            name: tool.name.clone().into(),
            description: tool.description.clone().into(),
            parameters: tool.parameters.clone().unwrap_or_else(|| json!({"type": "object"})),
            side_effect: tool.side_effect,
            idempotent: tool.idempotent,
            polls: tool.polls,
            own_budget: false,
            key_fields: tool.key_fields.clone(),
            timeout: Duration::from_millis(tool.timeout_ms.unwrap_or(limits::TOOL_CALL_MS_MAX)),
        };
        self.tools.iter().map(spec).collect()
    }

    /// Plays the next result; none for a tool that is not in the script.
    pub async fn run(&self, name: &str, arguments: &Value) -> Option<ToolResult> {
        let tool = self.tools.iter().find(|tool| tool.name == name)?;
        let number = tool.played.fetch_add(1, Ordering::Relaxed);
        let result = tool.results.get(number).or_else(|| tool.results.last()).cloned().unwrap_or_default();
        Some(self.play(result, number, arguments).await)
    }

    async fn play(&self, result: ScriptedResult, number: usize, arguments: &Value) -> ToolResult {
        if let Some(file) = &result.append
            && let Err(error) = self.append(file, arguments)
        {
            return ToolResult::error(format!("The line was not written: {error}."));
        }
        tokio::time::sleep(Duration::from_millis(result.delay_ms)).await;
        if result.hang {
            std::future::pending::<()>().await;
        }
        if let Some(command) = &result.command {
            return command_run(command, &self.folder).await;
        }
        let text = match result.json {
            Some(json) => json.to_string(),
            None => result.text.replace("{n}", &number.to_string()),
        };
        ToolResult { text: text.repeat(result.times.unwrap_or(1)), is_error: result.is_error, ends: None }
    }

    fn append(&self, file: &str, arguments: &Value) -> std::io::Result<()> {
        let path = self.folder.join(Path::new(file).file_name().unwrap_or_default());
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path)?;
        writeln!(file, "{arguments}")?;
        file.sync_data()
    }
}

/// Ends a whole process group when it is dropped.
struct Group(Pid);

impl Drop for Group {
    fn drop(&mut self) {
        // An error means that nothing of it runs any more.
        let _ = killpg(self.0, Signal::SIGKILL);
    }
}

/// Runs words with `sh -c` in a process group of its own, which ends with the call.
async fn command_run(command: &str, folder: &Path) -> ToolResult {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command).current_dir(folder).process_group(0).kill_on_drop(true).stdin(std::process::Stdio::null());
    shell.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let child = match shell.spawn() {
        Ok(child) => child,
        Err(error) => return ToolResult::error(format!("The command did not start: {error}.")),
    };
    let _group = child.id().and_then(|pid| i32::try_from(pid).ok()).map(|pid| Group(Pid::from_raw(pid)));
    match child.wait_with_output().await {
        Ok(output) if output.status.success() => ToolResult::ok(String::from_utf8_lossy(&output.stdout)),
        Ok(output) => {
            ToolResult::error(format!("The command failed ({}): {}", output.status, String::from_utf8_lossy(&output.stderr)))
        }
        Err(error) => ToolResult::error(format!("The command's end is not known: {error}.")),
    }
}
