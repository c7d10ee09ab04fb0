//! Which model is used, and why: the configuration, then the environment, then servers on loopback.
//! It must not read the process's environment itself: it is given a map.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::openai::{OpenAi, OpenAiConfig, http_client};
use super::provider::Provider;
use super::retry::Backoff;
use super::scripted::Scripted;
use super::secret::{ApiKey, display_url};
use crate::limits;

/// The model asked for when only `OPENAI_API_KEY` is set.
pub const OPENAI_MODEL_DEFAULT: &str = "gpt-4.1-mini";
const OPENAI_BASE_URL: &str = "https://api.openai.com/v1";

/// The `[model]` table of the configuration.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ModelConfig {
    /// `openai`, `anthropic`, `scripted`, or `none` for no model at all.
    pub provider: Option<String>,
    /// Such as `http://127.0.0.1:11434/v1`.
    pub base_url: Option<String>,
    /// The model's name.
    pub name: Option<String>,
    /// The environment variable that holds the key; the key itself never stands in the configuration.
    pub api_key_env: Option<String>,
    /// The key itself, where the configuration holds it against advice.
    #[serde(skip)]
    pub api_key: Option<ApiKey>,
    /// The script of the scripted provider.
    pub script: Option<PathBuf>,
    /// The model's context window in tokens.
    pub context_tokens: Option<u32>,
    /// Most tokens of one reply.
    pub max_output_tokens: Option<u32>,
}

/// What was found.
#[derive(Clone, Default)]
pub struct Selection {
    /// The model, if there is one.
    pub provider: Option<Arc<dyn Provider>>,
    /// Where it is, shown without secrets; empty for none.
    pub location: String,
    /// Which was taken and why, or why none was: one line for `daemon/status`.
    pub reason: String,
    /// What was looked at and passed over, in order.
    pub notes: Vec<String>,
    /// True if the configuration or the environment names a model that cannot be used.
    pub is_broken: bool,
}

impl std::fmt::Debug for Selection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let model = self.provider.as_ref().map(|p| p.model());
        f.debug_struct("Selection").field("model", &model).field("reason", &self.reason).finish_non_exhaustive()
    }
}

/// A loopback server worth asking.
#[derive(Debug, Clone)]
pub struct Probe {
    /// Its name for people.
    pub name: &'static str,
    /// Its OpenAI-compatible base URL.
    pub base_url: String,
}

/// Ollama's and llama.cpp's usual places.
pub fn usual_probes() -> Vec<Probe> {
    vec![
        Probe { name: "Ollama", base_url: "http://127.0.0.1:11434/v1".to_owned() },
        Probe { name: "llama.cpp", base_url: "http://127.0.0.1:8080/v1".to_owned() },
    ]
}

/// Picks the model: `config`, then `TIRO_MODEL_*`, then `OPENAI_API_KEY`, `ANTHROPIC_API_KEY`, then `probes` in order.
/// A choice a person made that cannot be used ends the search: prompts must not go elsewhere instead. May read a
/// script from disk (tests and trials only). `seed` is that of the jitter of retries.
pub async fn discover(config: &ModelConfig, env: &BTreeMap<String, String>, probes: &[Probe], seed: u64) -> Selection {
    let set = |name: &str| env.get(name).map(|v| v.trim()).filter(|v| !v.is_empty());
    if *config != ModelConfig::default() && (config.provider.is_some() || config.base_url.is_some() || config.name.is_some()) {
        return from_config(config, env, seed);
    }
    let mut notes = Vec::new();
    match (set("TIRO_MODEL_BASE_URL"), set("TIRO_MODEL_NAME")) {
        (Some(url), Some(name)) => {
            let key = set("TIRO_MODEL_API_KEY").map(ApiKey::new);
            return openai(url, name, key, "from TIRO_MODEL_BASE_URL and TIRO_MODEL_NAME", seed);
        }
        (Some(_), None) => return broken("TIRO_MODEL_BASE_URL is set but TIRO_MODEL_NAME is not"),
        _ => notes.push("TIRO_MODEL_BASE_URL is not set".to_owned()),
    }
    if let Some(key) = set("OPENAI_API_KEY") {
        let name = set("TIRO_MODEL_NAME").unwrap_or(OPENAI_MODEL_DEFAULT);
        return openai(OPENAI_BASE_URL, name, Some(ApiKey::new(key)), "from OPENAI_API_KEY", seed);
    }
    notes.push("OPENAI_API_KEY is not set".to_owned());
    notes.push(match set("ANTHROPIC_API_KEY") {
        Some(_) => "ANTHROPIC_API_KEY is set, but the anthropic provider is not supported yet".to_owned(),
        None => "ANTHROPIC_API_KEY is not set".to_owned(),
    });
    for probe in probes {
        match ask(probe).await {
            Ok(name) => {
                let why = format!("{} answers on loopback", probe.name);
                return Selection { notes, ..openai(&probe.base_url, &name, None, &why, seed) };
            }
            Err(why) => notes.push(format!("{} at {}: {why}", probe.name, probe.base_url)),
        }
    }
    Selection { reason: "no model: nothing is configured and none answers on loopback".to_owned(), notes, ..Selection::default() }
}

fn from_config(config: &ModelConfig, env: &BTreeMap<String, String>, seed: u64) -> Selection {
    match config.provider.as_deref().unwrap_or("openai") {
        "none" => Selection { reason: "no model: the configuration says so".to_owned(), ..Selection::default() },
        "openai" => {
            let base_url = config.base_url.as_deref().unwrap_or(OPENAI_BASE_URL);
            let Some(name) = config.name.as_deref() else {
                return broken("[model] needs `name`");
            };
            let default_variable = (base_url == OPENAI_BASE_URL).then_some("OPENAI_API_KEY");
            let variable = config.api_key_env.as_deref().or(default_variable);
            let key = match variable.map(|v| (v, env.get(v))) {
                Some((_, Some(key))) => Some(ApiKey::new(key)),
                Some((name, None)) => {
                    return broken(&format!("[model] takes its key from the environment variable {name}, which is not set"));
                }
                None => config.api_key.clone(),
            };
            openai(base_url, name, key, "from the configuration", seed)
        }
        "scripted" => match config.script.as_deref().map(Scripted::from_file) {
            Some(Ok(model)) => Selection {
                location: "a script".to_owned(),
                reason: format!("scripted model {}: from the configuration", model.model()),
                provider: Some(Arc::new(model)),
                ..Selection::default()
            },
            Some(Err(error)) => broken(&error.to_string()),
            None => broken("[model] provider `scripted` needs `script`, the path of a script"),
        },
        "anthropic" => broken("the anthropic provider is not supported yet; `openai` works with every compatible server"),
        other => broken(&format!("[model] provider `{other}` is unknown; known: openai, scripted, none")),
    }
}

fn openai(base_url: &str, name: &str, key: Option<ApiKey>, why: &str, seed: u64) -> Selection {
    let config = OpenAiConfig { backoff: Backoff::new(seed), ..OpenAiConfig::new(base_url, name, key) };
    match OpenAi::new(config) {
        Ok(model) => {
            let location = display_url(base_url);
            let reason = format!("openai model {name} at {location}: {why}");
            Selection { provider: Some(Arc::new(model)), location, reason, ..Selection::default() }
        }
        Err(error) => broken(&error.message),
    }
}

fn broken(why: &str) -> Selection {
    Selection { reason: format!("no model: {why}"), is_broken: true, ..Selection::default() }
}

/// The first chat model a server lists, or why there is none.
async fn ask(probe: &Probe) -> Result<String, String> {
    let limit = Duration::from_millis(limits::MODEL_PROBE_TIMEOUT_MS);
    tokio::time::timeout(limit, list_models(&probe.base_url, limit)).await.unwrap_or_else(|_| Err("no answer in time".to_owned()))
}

async fn list_models(base_url: &str, limit: Duration) -> Result<String, String> {
    let client = http_client(limit).map_err(|e| e.message)?;
    let sent = client.get(format!("{base_url}/models")).send().await;
    let mut response = sent.map_err(|_| "does not answer".to_owned())?;
    let mut body = Vec::new();
    while let Some(bytes) = response.chunk().await.map_err(|_| "broke off".to_owned())? {
        body.extend_from_slice(&bytes);
        if body.len() > limits::MODEL_PROBE_BYTES_MAX {
            return Err("answers too much".to_owned());
        }
    }
    let list: Value = serde_json::from_slice(&body).map_err(|_| "is no model server".to_owned())?;
    if !response.status().is_success() || list["object"] != "list" {
        return Err("is no model server".to_owned());
    }
    let ids = list["data"].as_array().into_iter().flatten().filter_map(|m| m["id"].as_str());
    let chat = ids.filter(|id| !id.is_empty() && !id.contains("embed")).map(str::to_owned).next();
    chat.ok_or_else(|| "answers, but has no chat model".to_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    fn env(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    }

    async fn reason(config: &ModelConfig, pairs: &[(&str, &str)]) -> String {
        discover(config, &env(pairs), &[], 1).await.reason
    }

    // LOOP-5, LOOP-6: the order, and what a person is told
    #[tokio::test]
    async fn the_order_is_config_then_environment() {
        let none = ModelConfig::default();
        let own = [("TIRO_MODEL_BASE_URL", "http://u:secret@h:1/v1"), ("TIRO_MODEL_NAME", "m")];
        let all = [&own[..], &[("OPENAI_API_KEY", "sk-x"), ("ANTHROPIC_API_KEY", "y")]].concat();
        let configured =
            ModelConfig { base_url: Some("http://c/v1".to_owned()), name: Some("cm".to_owned()), ..ModelConfig::default() };
        assert_eq!(reason(&configured, &all).await, "openai model cm at http://c/v1: from the configuration");
        let taken = reason(&none, &all).await;
        assert_eq!(taken, "openai model m at http://h:1/v1: from TIRO_MODEL_BASE_URL and TIRO_MODEL_NAME");
        assert!(reason(&none, &all[2..]).await.contains("from OPENAI_API_KEY"));
        let anthropic = discover(&none, &env(&all[3..]), &[], 1).await;
        assert!(anthropic.provider.is_none() && anthropic.notes.iter().any(|n| n.contains("not supported yet")));
    }

    // LOOP-6
    #[tokio::test]
    async fn a_broken_choice_is_said_and_nothing_else_is_taken() {
        let key = [("OPENAI_API_KEY", "sk-x"), ("TIRO_MODEL_BASE_URL", "http://h/v1")];
        let selection = discover(&ModelConfig::default(), &env(&key), &[], 1).await;
        assert!(selection.is_broken && selection.provider.is_none() && selection.reason.contains("TIRO_MODEL_NAME"));
        for (provider, word) in
            [("anthropic", "not supported yet"), ("gpt", "unknown"), ("scripted", "script"), ("openai", "name")]
        {
            let config = ModelConfig { provider: Some(provider.to_owned()), ..ModelConfig::default() };
            let selection = discover(&config, &env(&key), &[], 1).await;
            assert!(selection.is_broken && selection.reason.contains(word), "{}", selection.reason);
        }
        let config = ModelConfig { api_key_env: Some("MY_KEY".to_owned()), name: Some("m".to_owned()), ..ModelConfig::default() };
        assert!(reason(&config, &[]).await.contains("MY_KEY"));
    }

    async fn serve_once(body: &'static str) -> Probe {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        tokio::spawn(async move {
            let (mut peer, _) = listener.accept().await.unwrap();
            let _ = peer.read(&mut [0; 1024]).await.unwrap();
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
            peer.write_all(head.as_bytes()).await.unwrap();
        });
        Probe { name: "Ollama", base_url }
    }

    // LOOP-5
    #[tokio::test]
    async fn a_server_on_loopback_is_found_and_a_web_server_is_not_one() {
        let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let dead = Probe { name: "llama.cpp", base_url: format!("http://{}/v1", closed.local_addr().unwrap()) };
        drop(closed);
        let web = serve_once("<html></html>").await;
        let empty = serve_once(r#"{"object":"list","data":null}"#).await;
        let good = serve_once(r#"{"object":"list","data":[{"id":"nomic-embed"},{"id":"qwen"}]}"#).await;
        let selection = discover(&ModelConfig::default(), &env(&[]), &[dead, web, empty, good], 1).await;
        assert_eq!(selection.provider.as_ref().unwrap().model(), "qwen");
        assert!(selection.reason.ends_with("Ollama answers on loopback"), "{}", selection.reason);
        let notes = selection.notes.join("\n");
        for word in ["does not answer", "is no model server", "has no chat model"] {
            assert!(notes.contains(word), "{word}: {notes}");
        }
    }
}
