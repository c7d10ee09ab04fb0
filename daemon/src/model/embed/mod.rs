//! Embedding models that take time or can fail: one trait, the OpenAI dialect of it, and models that run here.
//!
//! Must not know: memories, indexes, what a vector is compared with.

pub mod onnx;
mod openai;

use super::error::ModelError;
use std::pin::Pin;

pub use openai::{OpenAiEmbedder, OpenAiEmbedderConfig};

/// What a text is to the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TextSide {
    /// What is looked for.
    Query,
    /// What is stored.
    Passage,
}

/// What comes of an embedding call: one vector a text, in order, as the model gave them: neither their length nor their values are checked.
pub type Embedding<'a> = Pin<Box<dyn Future<Output = Result<Vec<Vec<f32>>, ModelError>> + Send + 'a>>;

/// A model that turns texts into vectors, later, or fails. Calls are made by one that waits, so a call does not retry by itself.
pub trait TextEmbedder: Send + Sync {
    /// Names provider, model, prefixes and dimension asked for; vectors of different ids are never compared.
    fn id(&self) -> &str;

    /// Where it is, shown without secrets.
    fn location(&self) -> &str;

    /// Embeds texts. A reply of another number of vectors than texts is a failure.
    fn embed<'a>(&'a self, side: TextSide, texts: &'a [String]) -> Embedding<'a>;
}
