//! A model's folder: `tiro-model.toml`, the graph, the tokenizer; what is known of kinds of models, and whether the files are what they were.
//!
//! Must not know: how a model runs, or where folders are kept.

use super::pool::Pooling;
use crate::limits::{
    EMBEDDER_NAME_BYTES_MAX, ONNX_MANIFEST_BYTES_MAX, ONNX_MODEL_BYTES_MAX, ONNX_TOKENIZER_BYTES_MAX, ONNX_TOKENS_MAX,
};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

/// The file that says what a folder holds.
pub const MANIFEST_FILE: &str = "tiro-model.toml";

/// Files that are the graph, when nothing names one, in this order.
const GRAPH_FILES: &[&str] = &[
    "model.onnx",
    "model_quantized.onnx",
    "model_int8.onnx",
    "onnx/model.onnx",
    "onnx/model_quantized.onnx",
    "onnx/model_int8.onnx",
];

/// What a person's folder may say; the kind says the rest.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Given {
    /// Its name.
    pub name: Option<String>,
    /// `e5`, `minilm` or `other`.
    pub kind: Option<String>,
    /// Length of its vectors; measured where it is not said.
    pub dimension: Option<u32>,
    /// Written before what is looked for.
    pub query_prefix: Option<String>,
    /// Written before what is stored.
    pub passage_prefix: Option<String>,
    /// How the tokens' vectors become one.
    pub pooling: Option<Pooling>,
    /// Tokens of a text, at most; the rest is cut off.
    pub max_tokens: Option<u32>,
    /// Its licence, as SPDX writes it.
    pub licence: Option<String>,
    /// The graph's file.
    pub model: Option<String>,
    /// The tokenizer's file.
    pub tokenizer: Option<String>,
    /// Checksums of the files, in hexadecimal.
    pub sha256: BTreeMap<String, String>,
}

/// Everything about a model that was added.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// Its name.
    pub name: String,
    /// `e5`, `minilm` or `other`.
    pub kind: String,
    /// Length of its vectors.
    pub dimension: u32,
    /// Written before what is looked for.
    pub query_prefix: String,
    /// Written before what is stored.
    pub passage_prefix: String,
    /// How the tokens' vectors become one.
    pub pooling: Pooling,
    /// Tokens of a text, at most; the rest is cut off.
    pub max_tokens: u32,
    /// Its licence, where it is known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub licence: String,
    /// The graph's file.
    pub model: String,
    /// The tokenizer's file.
    pub tokenizer: String,
    /// Checksums of the two, in hexadecimal.
    pub sha256: BTreeMap<String, String>,
}

/// A folder and what it says.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelFolder {
    /// Where it is.
    pub path: PathBuf,
    /// What it says.
    pub manifest: Manifest,
}

/// What is known of a kind: prefixes of query and passage, pooling, tokens.
fn kind(name: &str) -> Option<(&'static str, &'static str, Pooling, u32)> {
    match name {
        "e5" => Some(("query: ", "passage: ", Pooling::Mean, 512)),
        "minilm" => Some(("", "", Pooling::Mean, 256)),
        "other" => Some(("", "", Pooling::Mean, 512)),
        _ => None,
    }
}

/// The kind that a folder's name tells.
fn kind_of(path: &Path) -> Option<&'static str> {
    let name = path.file_name()?.to_str()?.to_lowercase();
    ["e5", "minilm"].into_iter().find(|kind| name.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == *kind))
}

/// A name that can be a folder and a word on a command line.
///
/// # Errors
/// What names are.
pub fn name_of(text: &str) -> Result<String, String> {
    let is_fine = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.');
    let begins = text.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
    let reserved = ["static", "openai", "onnx"].contains(&text);
    if !begins || reserved || text.len() > EMBEDDER_NAME_BYTES_MAX || !text.chars().all(is_fine) {
        return Err(format!(
            "{text:?} is no name for a model: up to {EMBEDDER_NAME_BYTES_MAX} of a-z, 0-9, '-', '_' and '.', beginning with a letter or \
             digit, and none of static, openai, onnx"
        ));
    }
    Ok(text.to_owned())
}

impl ModelFolder {
    /// A folder of a person's: what its manifest says, then its kind. The checksums are those of the files as they are.
    ///
    /// # Errors
    /// What is missing or wrong, and what to do. Blocks.
    pub fn given(path: &Path, name: Option<&str>, asked_kind: Option<&str>) -> Result<Self, String> {
        if !path.is_dir() {
            return Err(format!("{} is no folder", path.display()));
        }
        let manifest = path.join(MANIFEST_FILE);
        let given: Given = if manifest.exists() { read_toml(&manifest)? } else { Given::default() };
        let kind_name = asked_kind.or(given.kind.as_deref()).or(kind_of(path)).ok_or_else(|| {
            format!("{}: no {MANIFEST_FILE} says which kind of model it is: say it, --kind e5, minilm or other", path.display())
        })?;
        let (query, passage, pooling, tokens) =
            kind(kind_name).ok_or_else(|| format!("kind {kind_name:?} is unknown; known: e5, minilm, other"))?;
        let usual_name = || path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_lowercase();
        let model = match given.model {
            Some(model) => model,
            None => {
                (GRAPH_FILES.iter().find(|file| path.join(file).is_file()).map(|file| (*file).to_owned())).ok_or_else(|| {
                    format!("{}: no {} in it, and no `model` in {MANIFEST_FILE} names another", path.display(), GRAPH_FILES[0])
                })?
            }
        };
        let mut folder = ModelFolder {
            path: path.to_owned(),
            manifest: Manifest {
                name: name_of(&name.map(str::to_owned).or(given.name).unwrap_or_else(usual_name))?,
                kind: kind_name.to_owned(),
                dimension: given.dimension.unwrap_or(0),
                query_prefix: given.query_prefix.unwrap_or_else(|| query.to_owned()),
                passage_prefix: given.passage_prefix.unwrap_or_else(|| passage.to_owned()),
                pooling: given.pooling.unwrap_or(pooling),
                max_tokens: given.max_tokens.unwrap_or(tokens),
                licence: given.licence.unwrap_or_default(),
                model,
                tokenizer: given.tokenizer.unwrap_or_else(|| "tokenizer.json".to_owned()),
                sha256: given.sha256,
            },
        };
        folder.check_values()?;
        for (file, bytes_max) in folder.files() {
            let found = hash_of(&folder.file(&file)?, bytes_max)?;
            if let Some(said) = folder.manifest.sha256.get(&file).filter(|said| !said.eq_ignore_ascii_case(&found)) {
                return Err(format!("{file} is not what {MANIFEST_FILE} says: its sha256 is {found}, not {said}"));
            }
            folder.manifest.sha256.insert(file, found);
        }
        Ok(folder)
    }

    /// A folder that was added.
    ///
    /// # Errors
    /// What is missing or wrong. Blocks.
    pub fn added(path: &Path) -> Result<Self, String> {
        let folder = ModelFolder { path: path.to_owned(), manifest: read_toml(&path.join(MANIFEST_FILE))? };
        folder.check_values()?;
        if folder.manifest.dimension == 0 || folder.files().iter().any(|(file, _)| !folder.manifest.sha256.contains_key(file)) {
            return Err(format!("{}: its {MANIFEST_FILE} is not whole: add it again", path.display()));
        }
        Ok(folder)
    }

    fn check_values(&self) -> Result<(), String> {
        let Manifest { max_tokens, .. } = &self.manifest;
        if !(8..=ONNX_TOKENS_MAX).contains(max_tokens) {
            return Err(format!("maxTokens is {max_tokens}; it can be 8 to {ONNX_TOKENS_MAX}"));
        }
        self.files().iter().try_for_each(|(file, _)| self.file(file).map(|_| ()))
    }

    /// The files and their largest sizes, in bytes.
    pub fn files(&self) -> [(String, u64); 2] {
        [(self.manifest.model.clone(), ONNX_MODEL_BYTES_MAX), (self.manifest.tokenizer.clone(), ONNX_TOKENIZER_BYTES_MAX)]
    }

    /// The path of a file that stands below the folder.
    pub fn file(&self, name: &str) -> Result<PathBuf, String> {
        let is_below = !name.is_empty() && Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        is_below.then(|| self.path.join(name)).ok_or_else(|| format!("{name:?} is no file of the folder"))
    }

    /// A file's bytes, which are what they were when the model was added.
    ///
    /// # Errors
    /// They are not. Blocks.
    pub fn read(&self, name: &str, bytes_max: u64) -> Result<Vec<u8>, String> {
        let path = self.file(name)?;
        let bytes = read_whole(&path, bytes_max)?;
        let found = hexadecimal(&Sha256::digest(&bytes));
        match self.manifest.sha256.get(name) {
            Some(said) if said.eq_ignore_ascii_case(&found) => Ok(bytes),
            _ => Err(format!("{} changed since it was added: add the model again", path.display())),
        }
    }

    /// Names the model and all that makes its vectors what they are.
    pub fn id(&self) -> String {
        let Manifest { name, query_prefix, passage_prefix, pooling, max_tokens, sha256, .. } = &self.manifest;
        let sums: Vec<&String> = self.files().iter().filter_map(|(file, _)| sha256.get(file)).collect();
        let more = serde_json::json!([query_prefix, passage_prefix, pooling, max_tokens, sums]);
        format!("onnx/{name}#{}", &hexadecimal(&Sha256::digest(more.to_string()))[..8])
    }
}

fn read_toml<T: for<'a> Deserialize<'a>>(path: &Path) -> Result<T, String> {
    let bytes = read_whole(path, ONNX_MANIFEST_BYTES_MAX)?;
    let text = String::from_utf8(bytes).map_err(|_| format!("{} is no text", path.display()))?;
    toml::from_str(&text).map_err(|error| format!("{} is wrong: {}", path.display(), error.message()))
}

fn open_file(path: &Path, bytes_max: u64) -> Result<File, String> {
    let unreadable = |error: std::io::Error| format!("cannot read {}: {error}", path.display());
    let file = File::open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    if !metadata.is_file() || metadata.len() > bytes_max {
        return Err(format!("{} is no file of at most {bytes_max} bytes", path.display()));
    }
    Ok(file)
}

fn read_whole(path: &Path, bytes_max: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let file = open_file(path, bytes_max)?;
    file.take(bytes_max).read_to_end(&mut bytes).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    Ok(bytes)
}

fn hash_of(path: &Path, bytes_max: u64) -> Result<String, String> {
    let mut file = open_file(path, bytes_max)?;
    let mut sum = Sha256::new();
    std::io::copy(&mut file, &mut sum).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    Ok(hexadecimal(&sum.finalize()))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn folder(name: &str, manifest: Option<&str>, files: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let above = tempfile::tempdir().unwrap();
        let path = above.path().join(name);
        std::fs::create_dir_all(path.join("onnx")).unwrap();
        files.iter().for_each(|file| std::fs::write(path.join(file), file).unwrap());
        manifest.iter().for_each(|text| std::fs::write(path.join(MANIFEST_FILE), text).unwrap());
        (above, path)
    }

    #[test]
    fn the_kind_says_what_the_folder_does_not() {
        let files = ["onnx/model.onnx", "tokenizer.json"];
        let (_above, path) = folder("multilingual-e5-small", None, &files);
        let e5 = ModelFolder::given(&path, None, None).unwrap().manifest;
        assert_eq!((e5.name.as_str(), e5.kind.as_str(), e5.max_tokens), ("multilingual-e5-small", "e5", 512));
        assert_eq!((e5.query_prefix.as_str(), e5.passage_prefix.as_str()), ("query: ", "passage: "));
        assert_eq!((e5.model.as_str(), e5.sha256.len()), ("onnx/model.onnx", 2));
        let (_above, path) = folder("all-MiniLM-L6-v2", None, &files);
        let minilm = ModelFolder::given(&path, Some("mini"), None).unwrap().manifest;
        assert_eq!((minilm.name.as_str(), minilm.query_prefix.as_str(), minilm.max_tokens), ("mini", "", 256));
        let said = "kind = \"other\"\nqueryPrefix = \"q \"\npooling = \"cls\"\nmaxTokens = 100\nlicence = \"MIT\"\n";
        let (_above, path) = folder("thing", Some(said), &files);
        let other = ModelFolder::given(&path, None, None).unwrap().manifest;
        assert_eq!((other.query_prefix.as_str(), other.pooling, other.max_tokens), ("q ", Pooling::Cls, 100));
    }

    #[test]
    fn what_is_missing_or_wrong_is_said_with_what_to_do() {
        let files = ["model.onnx", "tokenizer.json"];
        let said = |name: &str, manifest: Option<&str>, files: &[&str]| {
            let (_above, path) = folder(name, manifest, files);
            ModelFolder::given(&path, None, None).unwrap_err()
        };
        for (name, manifest, files, word) in [
            ("thing", None, &files[..], "--kind"),
            ("e5", None, &files[1..], "no model.onnx"),
            ("e5", None, &files[..1], "tokenizer.json"),
            ("e5", Some("kind = \"gpt\""), &files[..], "known: e5"),
            ("e5", Some("colour = 1"), &files[..], "colour"),
            ("e5", Some("maxTokens = 1"), &files[..], "maxTokens"),
            ("e5", Some("model = \"../model.onnx\""), &files[..], "no file of the folder"),
            ("e5", Some("model = \"/etc/passwd\""), &files[..], "no file of the folder"),
            ("e5", Some("[sha256]\n\"model.onnx\" = \"00\""), &files[..], "not what"),
            ("e5", Some("name = \"static\""), &files[..], "no name"),
            ("e5", Some("name = \"A b\""), &files[..], "no name"),
        ] {
            let said = said(name, manifest, files);
            assert!(said.contains(word), "{word}: {said}");
        }
        assert!(ModelFolder::given(Path::new("/nowhere/e5"), None, None).unwrap_err().contains("no folder"));
    }

    #[test]
    fn a_file_that_changed_is_not_read_and_changes_the_id() {
        let (_above, path) = folder("e5", None, &["model.onnx", "tokenizer.json"]);
        let before = ModelFolder::given(&path, None, None).unwrap();
        assert!(before.read("model.onnx", 100).is_ok());
        std::fs::write(path.join("model.onnx"), "another").unwrap();
        assert!(before.read("model.onnx", 100).unwrap_err().contains("changed"));
        let after = ModelFolder::given(&path, None, None).unwrap();
        assert!(before.id() != after.id() && after.id().starts_with("onnx/e5#"), "{}", after.id());
        std::fs::write(path.join(MANIFEST_FILE), "kind = \"e5\"\nqueryPrefix = \"other: \"").unwrap();
        assert_ne!(ModelFolder::given(&path, None, None).unwrap().id(), after.id());
    }
}
