//! Text to vectors. The trait that every local model implements, and the static table that is compiled in.
//! It must not know of spaces, memories or indexes.
//!
//! What stands here is synchronous and cannot fail: models that embed in microseconds, within a write or a query. Embedders behind a network or a
//! long computation have an asynchronous seam of the daemon's (they fail, they lag, their vectors follow the write); they hand over vectors
//! of the same shape with the same three facts beside them: model id, dimension, background. See [`crate::ModelLeg`].

mod background;
mod ranges;
mod segment;
mod table;
mod wordpiece;
mod words;

use std::borrow::Cow;

pub use background::{Background, ScriptBackgrounds, ScriptScales, ZScale};
pub use table::{StaticTable, TableError};

/// What a text is to the search; models treat the sides differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// What is looked for: a vector of norm 1.
    Query,
    /// What is stored: a vector of norm at most 1.
    Passage(PassageKind),
}

/// How a stored text came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PassageKind {
    /// A turn of a conversation: short filler ("ok, thanks!") loses weight, so norms lie below 1.
    Turn,
    /// An extracted fact: full weight however short; norm 1.
    Fact,
}

/// A model that turns texts into vectors, at once and without fail.
pub trait Embedder: Send + Sync {
    /// Names model, version and dimension; vectors of different ids are never compared.
    fn model_id(&self) -> &str;

    /// Length of every vector.
    fn dimension(&self) -> usize;

    /// The vector of `text`: finite, of norm 1 (query) or at most 1 (passage). `None` when the model knows nothing of the text:
    /// it then has no vector leg. Only the first [`EMBED_CHARS_MAX`](crate::limits::EMBED_CHARS_MAX) characters are read.
    fn embed(&self, role: Role, text: &str) -> Option<Vec<f32>>;

    /// As [`embed`](Self::embed) for several texts, in order. Models that gain from batches override it.
    fn embed_many(&self, role: Role, texts: &[&str]) -> Vec<Option<Vec<f32>>> {
        texts.iter().map(|text| self.embed(role, text)).collect()
    }

    /// The text without the words the model does not know: what it would make of their letters means nothing, and a question of nonsense would
    /// be near to something. To judge questions by; models that read every word leave it as it is.
    fn known<'t>(&self, text: &'t str) -> Cow<'t, str> {
        Cow::Borrowed(text)
    }

    /// Cuts a run of Han characters into the words this model knows, in order, nothing left out; single characters where it has no list.
    fn cut<'a>(&self, run: &'a str) -> Vec<&'a str> {
        let ends = run.char_indices().map(|(at, c)| (at, at + c.len_utf8()));
        ends.map(|(from, to)| &run[from..to]).collect()
    }

    /// How this model scores texts that have nothing to do with a query.
    fn background(&self) -> &Background;
}
