//! `embedder/list`, `embedder/add`, `embedder/check`, `embedder/use` and `embedder/remove`: models that make vectors.
//!
//! Must not know: how a model runs.

use super::daemon::EmbeddingState;
use super::{params, result};

result! {
    /// One embedder.
    #[derive(Default)]
    EmbedderItem {
        /// Its name: `static`, `openai`, or that of a model that was added.
        name: String,
        /// `static` (compiled in), `onnx` (runs in the daemon), `openai` (a server's).
        provider: String,
        /// Whether it is the chosen one.
        in_use: bool,
        /// Length of its vectors; absent where it is not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        dimension: Option<u32>,
        /// `onnx`: `e5`, `minilm`, `other`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<String>,
        /// `onnx`: its licence, where it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        licence: Option<String>,
        /// `onnx`: tokens of a text, at most.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_tokens: Option<u32>,
        /// `onnx`: bytes of its files.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bytes: Option<u64>,
        /// Its folder, or where it answers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        location: Option<String>,
        /// Why it cannot be used.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trouble: Option<String>,
    }
}

result! {
    /// Result of `embedder/list`.
    EmbedderListResult {
        /// The built-in table first, then those that were added by name, then the server's.
        items: Vec<EmbedderItem>,
        /// How far the chosen one's vectors are; absent where the table serves alone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        embedding: Option<EmbeddingState>,
    }
}

params! {
    /// Params of `embedder/add`.
    EmbedderAddParams {
        /// The folder that holds the model, absolute.
        path: String,
        /// Its name here; what its `tiro-model.toml` says, else the folder's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// `e5`, `minilm` or `other`; what its `tiro-model.toml` says, else what the folder's name tells.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<String>,
    }
}

params! {
    /// Params of `embedder/check` and `embedder/remove`.
    EmbedderNameParams {
        /// A model that was added.
        name: String,
    }
}

result! {
    /// Result of `embedder/add` and `embedder/check`: the model was tried out and does what it should.
    EmbedderReport {
        /// The model.
        item: EmbedderItem,
        /// Short sentences a second, many at a time.
        sentences_per_s: f64,
        /// One short query, milliseconds.
        query_ms: f64,
        /// The library it ran by: its file.
        library: String,
        /// The library's version.
        library_version: String,
    }
}

params! {
    /// Params of `embedder/use`.
    EmbedderUseParams {
        /// `static`, `openai`, or a model that was added.
        name: String,
        /// `openai`: address of the server, up to `/v1`; what the configuration says when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base_url: Option<String>,
        /// `openai`: name of the server's model; what the configuration says when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    }
}

result! {
    /// Result of `embedder/use`: the configuration says so now, and vectors follow behind the answers.
    EmbedderUseResult {
        /// The embedder.
        name: String,
        /// Where its vectors stand; absent where the table serves alone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        embedding: Option<EmbeddingState>,
    }
}

result! {
    /// Result of `embedder/remove`.
    EmbedderRemoveResult {
        /// The model that is gone.
        name: String,
    }
}
