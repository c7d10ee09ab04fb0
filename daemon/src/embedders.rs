//! Which model makes vectors beside the built-in table: as `[embedding]` says, and as `tiro model use` writes it there.
//!
//! The one place that knows the configuration's words for it and the models that were added. Must not know: how vectors serve.

use crate::config::Config;
use crate::config::file::{self, EmbeddingSection};
use crate::memory::ModelChoice;
use crate::model::onnx::{LIBRARY_VARIABLE, LibraryPlaces, OnnxEmbedder, Shelf};
use crate::model::{ApiKey, OpenAiEmbedder, OpenAiEmbedderConfig};
use crate::paths::EnvMap;
use crate::service::{Chooser, EmbedderChoice};
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Folder of the models that were added, in the data folder.
const MODELS_FOLDER: &str = "models";
/// Folder in the data folder that is looked into for libraries before the usual ones.
const LIBRARIES_FOLDER: &str = "lib";

/// Share of the lexical leg beside a model that is stronger than the built-in table, unless the configuration says otherwise.
const LEXICAL_WEIGHT_BESIDE_MODEL: f32 = 0.4;

/// The models that were added, and where their library is looked for.
pub fn shelf(config: &Config, env: &EnvMap) -> Arc<Shelf> {
    let Config { places, file, .. } = config;
    let library = LibraryPlaces {
        configured: file.embedding.library.as_ref().map(|path| places.config_dir.join(path)),
        variable: env.get(LIBRARY_VARIABLE).cloned(),
        own: Some(places.data_dir.join(LIBRARIES_FOLDER)),
    };
    Arc::new(Shelf::new(places.data_dir.join(MODELS_FOLDER), library))
}

/// What makes choices: the environment, the models, the configuration's file.
pub struct Choices {
    shelf: Arc<Shelf>,
    env: EnvMap,
    config_file: PathBuf,
    lexical_weight: f32,
}

impl Choices {
    /// In this environment.
    pub fn new(config: &Config, env: &EnvMap, shelf: Arc<Shelf>) -> Self {
        let lexical_weight = config.file.memory.lexical_weight.unwrap_or(LEXICAL_WEIGHT_BESIDE_MODEL).clamp(0.0, 1.0);
        Choices { shelf, env: env.clone(), config_file: config.places.config_file(), lexical_weight }
    }

    /// The model that a section names.
    pub fn of(&self, section: &EmbeddingSection) -> ModelChoice {
        let broken = |why: &str| ModelChoice::Broken(format!("[embedding] {why}"));
        match section.provider.as_str() {
            "static" => ModelChoice::None,
            "openai" => self.openai(section),
            "onnx" => match &section.model {
                None => broken("provider `onnx` needs `model`, the name of one that was added: tiro model list"),
                Some(name) => match self.shelf.find(name) {
                    Ok(folder) => {
                        let embedder = OnnxEmbedder::new(folder, self.shelf.library().clone());
                        ModelChoice::Embedder(Arc::new(embedder), self.lexical_weight)
                    }
                    Err(error) => broken(&format!("provider `onnx`: {error}")),
                },
            },
            other => broken(&format!("provider `{other}` is unknown; known: static, onnx, openai")),
        }
    }

    fn openai(&self, section: &EmbeddingSection) -> ModelChoice {
        let broken = |why: &str| ModelChoice::Broken(format!("[embedding] {why}"));
        let (Some(base_url), Some(model)) = (&section.base_url, &section.model) else {
            return broken("provider `openai` needs `baseUrl` and `model`");
        };
        let key = match &section.api_key_env {
            None => None,
            Some(name) => match self.env.get(name.as_str()).and_then(|value| value.to_str()) {
                Some(key) => Some(ApiKey::new(key)),
                None => return broken(&format!("takes its key from the environment variable {name}, which is not set")),
            },
        };
        let text = |prefix: &Option<String>| prefix.clone().unwrap_or_default();
        let wanted = OpenAiEmbedderConfig {
            base_url: base_url.clone(),
            model: model.clone(),
            key,
            query_prefix: text(&section.query_prefix),
            passage_prefix: text(&section.passage_prefix),
            dimension: section.dimension,
            input_type: section.input_type.unwrap_or(false),
        };
        match OpenAiEmbedder::new(wanted) {
            Ok(embedder) => ModelChoice::Embedder(Arc::new(embedder), self.lexical_weight),
            Err(error) => ModelChoice::Broken(error.message),
        }
    }
}

impl Chooser for Choices {
    fn choose(&self, choice: &EmbedderChoice) -> Result<ModelChoice, String> {
        let shown = self.config_file.display();
        let text = match fs::read_to_string(&self.config_file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(format!("cannot read {shown}: {error}")),
        };
        let text = edited(&text, choice).map_err(|why| format!("{shown} is wrong: {why}"))?;
        let (config, _) = file::read(&text).map_err(|why| format!("{shown} is wrong: {why}"))?;
        let chosen = self.of(&config.embedding);
        if let ModelChoice::Broken(why) = chosen {
            return Err(why);
        }
        write_whole(&self.config_file, &text).map_err(|error| {
            format!("cannot write {shown} ({error}): nothing was changed; write it there by hand, [embedding] {}", lines(choice))
        })?;
        Ok(chosen)
    }
}

/// The members of `[embedding]` that a choice sets.
fn members(choice: &EmbedderChoice) -> Vec<(&'static str, String)> {
    let openai = [("baseUrl", &choice.base_url), ("model", &choice.model)];
    let given = openai.into_iter().filter_map(|(name, value)| Some((name, value.clone()?)));
    std::iter::once(("provider", choice.provider.clone())).chain(given).collect()
}

fn lines(choice: &EmbedderChoice) -> String {
    members(choice).iter().map(|(name, value)| format!("{name} = {value:?}")).collect::<Vec<_>>().join(", ")
}

/// The file's text with another choice: everything else, comments too, stays as it is.
fn edited(text: &str, choice: &EmbedderChoice) -> Result<String, String> {
    let mut document: toml_edit::DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.message().to_owned())?;
    let section = document.entry("embedding").or_insert_with(toml_edit::table);
    let section = section.as_table_like_mut().ok_or("embedding is no section")?;
    for (name, value) in members(choice) {
        // The comment behind a value stays behind it.
        let behind = section.get(name).and_then(toml_edit::Item::as_value).map(|value| value.decor().clone());
        let mut value = toml_edit::Value::from(value);
        if let Some(behind) = behind {
            *value.decor_mut() = behind;
        }
        section.insert(name, toml_edit::Item::Value(value));
    }
    Ok(document.to_string())
}

/// Puts the text into the file, whole or not at all; a link goes on leading where it leads.
fn write_whole(path: &Path, text: &str) -> std::io::Result<()> {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mode = fs::metadata(&path).map(|metadata| metadata.permissions()).ok();
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let fresh = path.with_file_name(name);
    let _ = fs::remove_file(&fresh);
    let written = (|| {
        let mut file = File::options().write(true).create_new(true).mode(0o600).open(&fresh)?;
        if let Some(mode) = mode {
            file.set_permissions(mode)?;
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&fresh, &path)?;
        path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
    })();
    if written.is_err() {
        let _ = fs::remove_file(&fresh);
    }
    written
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn onnx(name: &str) -> EmbedderChoice {
        EmbedderChoice { provider: "onnx".into(), base_url: None, model: Some(name.into()) }
    }

    #[test]
    fn a_choice_changes_its_own_lines_alone() {
        let text = "# mine\n[model]\nname = \"qwen\" # good\n\n[embedding]\nprovider = \"openai\" # was it\nbaseUrl = \"http://h/v1\"\nmodel = \"m\"\n[memory]\n";
        let after = edited(text, &onnx("e5")).unwrap();
        assert_eq!(after, text.replace("\"openai\"", "\"onnx\"").replace("\"m\"", "\"e5\""));
        let back = EmbedderChoice { provider: "static".into(), base_url: None, model: None };
        assert!(edited(&after, &back).unwrap().contains("provider = \"static\" # was it"));
        let fresh = edited("", &onnx("e5")).unwrap();
        assert_eq!(file::read(&fresh).unwrap().0.embedding.model.as_deref(), Some("e5"));
        assert!(edited("[embedding", &onnx("e5")).is_err() && edited("embedding = 1", &onnx("e5")).is_err());
    }

    #[test]
    fn the_file_is_replaced_whole_and_a_link_stays_one() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real.toml"), folder.path().join("config.toml"));
        fs::write(&real, "old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        write_whole(&link, "new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&real).unwrap(), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
        assert!(write_whole(Path::new("/dev/null/config.toml"), "x").is_err());
    }
}
