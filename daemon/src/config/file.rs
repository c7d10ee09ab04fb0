//! `config.toml`: its sections, their defaults, and what is said about what does not belong there.
//!
//! A value of the wrong type is refused with its place; a name nobody knows is a warning with its path, as it may be
//! an older or newer daemon's. Must not know: what the settings do.

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use tiro_schema::settings::{unknown_section, unknown_setting};

/// Why the file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It cannot be read.
    #[error("cannot read {path}: {source}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The answer of the system.
        source: std::io::Error,
    },
    /// It is not TOML, or a value is of the wrong kind.
    #[error("{path} is wrong: {message}")]
    Wrong {
        /// The file.
        path: PathBuf,
        /// What and where.
        message: String,
    },
}

/// The whole file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FileConfig {
    /// `[model]`.
    pub model: ModelSection,
    /// `[embedding]`.
    pub embedding: EmbeddingSection,
    /// `[reranker]`.
    pub reranker: RerankerSection,
    /// `[memory]`.
    pub memory: MemorySection,
    /// `[agent]`.
    pub agent: AgentSection,
    /// `[audit]`.
    pub audit: AuditSection,
    /// `[limits]`.
    pub limits: LimitsSection,
}

/// Which model answers prompts.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ModelSection {
    /// `openai` or `scripted`.
    pub provider: Option<String>,
    /// Address of the server, up to `/v1`.
    pub base_url: Option<String>,
    /// Name of the model.
    pub name: Option<String>,
    /// Environment variable that holds the key.
    pub api_key_env: Option<String>,
    /// The key itself; warned about.
    #[serde(skip_serializing)]
    pub api_key: Option<String>,
    /// `scripted`: the file that says what the model answers.
    pub script: Option<PathBuf>,
    /// Tokens of the model's window.
    pub context_tokens: Option<u32>,
    /// Tokens of one reply, at most.
    pub max_output_tokens: Option<u32>,
}

impl std::fmt::Debug for ModelSection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelSection")
            .field("provider", &self.provider)
            .field("base_url", &self.base_url)
            .field("name", &self.name)
            .field("api_key_env", &self.api_key_env)
            .field("api_key", &self.api_key.as_ref().map(|_| "(hidden)"))
            .field("script", &self.script)
            .finish()
    }
}

/// Which embedder makes vectors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EmbeddingSection {
    /// `static`: the table compiled in alone. `openai`: a server's model beside it. `onnx`: one that was added and runs here.
    pub provider: String,
    /// Address of the server, up to `/v1`.
    pub base_url: Option<String>,
    /// Name of the model.
    pub model: Option<String>,
    /// Environment variable that holds the key.
    pub api_key_env: Option<String>,
    /// Written before what is looked for.
    pub query_prefix: Option<String>,
    /// Written before what is stored.
    pub passage_prefix: Option<String>,
    /// Length of vectors asked for.
    pub dimension: Option<u32>,
    /// Whether the server is told which side a text is (`input_type`).
    pub input_type: Option<bool>,
    /// `onnx`: the file of ONNX Runtime's library.
    pub library: Option<PathBuf>,
}

impl Default for EmbeddingSection {
    fn default() -> Self {
        EmbeddingSection {
            provider: "static".to_owned(),
            base_url: None,
            model: None,
            api_key_env: None,
            query_prefix: None,
            passage_prefix: None,
            dimension: None,
            input_type: None,
            library: None,
        }
    }
}

/// What orders the best hits anew.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RerankerSection {
    /// `scripted`, for tests and trials; none when absent. No weights of a real one come with this build.
    pub provider: Option<String>,
    /// `scripted`: the file that maps words to scores.
    pub script: Option<PathBuf>,
}

/// How memory is searched.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MemorySection {
    /// Share of the lexical leg, 0 to 1; the embedder's own when absent.
    pub lexical_weight: Option<f32>,
    /// Vectors of one space from which hnsw_rs serves it.
    pub hnsw_from: Option<usize>,
}

/// How turns run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentSection {
    /// Model calls with tools of one turn, at most; by the kind of its task when absent.
    pub steps: Option<u32>,
    /// A file of tools that play a script, for tests and trials.
    pub tool_script: Option<PathBuf>,
}

/// How long the audit is kept.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AuditSection {
    /// Rows kept: 200,000 when absent, 1,000 at least.
    pub rows: Option<u64>,
    /// Days a row is kept; any age when absent.
    pub days: Option<u32>,
}

/// Limits a person may set.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LimitsSection {
    /// Megabytes (2^20 bytes) redb may cache.
    pub store_cache_mib: Option<usize>,
}

/// Reads the file; one that is not there is empty. Gives what it says and what a person should know about it.
///
/// # Errors
/// Says what is wrong and where; never repeats a value.
pub fn load(path: &Path) -> Result<(FileConfig, Vec<String>), FileError> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok((FileConfig::default(), Vec::new())),
        Err(source) => return Err(FileError::Unreadable { path: path.into(), source }),
    };
    let (config, mut warnings) = read(&text).map_err(|message| FileError::Wrong { path: path.into(), message })?;
    for warning in &mut warnings {
        *warning = format!("{}: {warning}", path.display());
    }
    Ok((config, warnings))
}

/// Reads the text of the file; gives what a person should know about it too.
///
/// # Errors
/// Line and message.
pub fn read(text: &str) -> Result<(FileConfig, Vec<String>), String> {
    let table: toml::Table = toml::from_str(text).map_err(|error| place(text, &error))?;
    let mut warnings = Vec::new();
    for (section, value) in &table {
        warnings.extend(unknown_section(section));
        let names = value.as_table().into_iter().flat_map(toml::Table::keys);
        warnings.extend(names.filter_map(|name| unknown_setting(section, name)));
    }
    let config: FileConfig = toml::from_str(text).map_err(|error| place(text, &error))?;
    if config.model.api_key.is_some() {
        warnings
            .push("model.apiKey holds a key in plain text: name an environment variable in model.apiKeyEnv instead".to_owned());
    }
    Ok((config, warnings))
}

/// Line and message of an error, without the text around it.
fn place(text: &str, error: &toml::de::Error) -> String {
    let line = error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
    let message = error.message().lines().next().unwrap_or_default();
    line.map_or_else(|| message.to_owned(), |line| format!("line {line}: {message}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn unknown_names_are_warned_about_with_their_path() {
        let (config, warnings) = read("[model]\nname = \"m\"\ncolour = 1\n[colour]\nx = 1\n").unwrap();
        assert_eq!(config.model.name.as_deref(), Some("m"));
        assert_eq!(warnings.len(), 2, "{warnings:?}");
        assert!(warnings.iter().any(|warning| warning.starts_with("model.colour ")), "{warnings:?}");
        assert!(warnings.iter().any(|warning| warning.starts_with("colour ")), "{warnings:?}");
    }

    #[test]
    fn a_key_written_plainly_is_warned_about_and_never_shown() {
        // MEM-10
        let (config, warnings) = read("[model]\napiKey = \"sk-very-secret\"\n").unwrap();
        assert!(warnings[0].contains("model.apiKey"));
        let shown = format!("{config:?} {} {warnings:?}", toml::to_string(&config).unwrap());
        assert!(!shown.contains("sk-very"), "{shown}");
    }

    #[test]
    fn a_value_of_the_wrong_kind_is_refused_with_its_line() {
        let message = read("[memory]\nlexicalWeight = \"high\"\n").unwrap_err();
        assert!(message.starts_with("line 2"), "{message}");
        assert!(read("[model\n").unwrap_err().starts_with("line 1"));
    }

    #[test]
    fn every_setting_is_known() {
        let all = FileConfig {
            model: ModelSection {
                provider: Some("p".into()),
                base_url: Some("b".into()),
                name: Some("n".into()),
                api_key_env: Some("e".into()),
                api_key: None,
                script: Some("s".into()),
                context_tokens: Some(1),
                max_output_tokens: Some(1),
            },
            embedding: EmbeddingSection {
                provider: "p".into(),
                base_url: Some("b".into()),
                model: Some("m".into()),
                api_key_env: Some("e".into()),
                query_prefix: Some("q".into()),
                passage_prefix: Some("p".into()),
                dimension: Some(1),
                input_type: Some(true),
                library: Some("l".into()),
            },
            reranker: RerankerSection { provider: Some("p".into()), script: Some("s".into()) },
            memory: MemorySection { lexical_weight: Some(0.5), hnsw_from: Some(1) },
            agent: AgentSection { steps: Some(1), tool_script: Some("t".into()) },
            audit: AuditSection { rows: Some(1), days: Some(1) },
            limits: LimitsSection { store_cache_mib: Some(1) },
        };
        let (again, warnings) = read(&toml::to_string(&all).unwrap()).unwrap();
        assert_eq!(again, all);
        assert!(warnings.is_empty(), "{warnings:?}");
    }
}
