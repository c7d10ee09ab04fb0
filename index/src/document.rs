//! What is put into the index: documents, their analysed form, and changes. It must not know how any of it is searched.

use crate::state::tokens::Tokens;
use crate::tokenize::{count_tokens, has_unspaced, name_token};
use std::borrow::Cow;

/// Whether a document is current. What is forgotten is not in the index at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
pub enum Status {
    /// Current: searched by default, counted in the statistics of its space.
    #[default]
    Active = 0,
    /// Replaced by a later document; found only when the filter names this status.
    Superseded = 1,
    /// Put away; found only when the filter names this status.
    Archived = 2,
}

impl Status {
    /// The status with this code, if there is one.
    pub fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Active),
            1 => Some(Self::Superseded),
            2 => Some(Self::Archived),
            _ => None,
        }
    }
}

/// Who said what a document tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Voice {
    /// A person, or nobody in particular: it counts as context of its neighbours.
    #[default]
    Person,
    /// An assistant: its replies are long, repeat what they were asked, and are weak evidence beside a person's own words.
    Assistant,
}

/// A document as the caller knows it.
#[derive(Debug, Clone, Default)]
pub struct Document {
    /// Identity in the index; a second upsert with the same key replaces the first.
    pub key: u64,
    /// Store sequence of the write that made this state of the document.
    pub seq: u64,
    /// Number of the space; searches name the spaces they look into.
    pub space: u32,
    /// Whether it is current.
    pub status: Status,
    /// Kind, the caller's code.
    pub kind: u8,
    /// Category, the caller's code; decay chooses the half-life by it.
    pub category: u8,
    /// Pinned documents do not decay.
    pub pinned: bool,
    /// 0 to 1; kept for the caller, not part of the score.
    pub importance: f32,
    /// When it was recorded, unix milliseconds.
    pub created_at_ms: i64,
    /// When what it tells happened, unix milliseconds, where known.
    pub occurred_at_ms: Option<i64>,
    /// From when on what it tells holds (unix milliseconds, inclusive), where that is limited.
    pub valid_from_ms: Option<i64>,
    /// Until when what it tells holds (unix milliseconds, exclusive), where that is limited.
    pub valid_to_ms: Option<i64>,
    /// The stretch in which what it tells happened as its words have it (unix milliseconds, from inclusive to exclusive), where they do.
    pub told_ms: Option<(i64, i64)>,
    /// From when until when it held by all that is known, its words and what took its place included (unix milliseconds, inclusive and
    /// exclusive, `i64::MIN` and `i64::MAX` where not limited), where that is limited at all.
    pub held_ms: Option<(i64, i64)>,
    /// When it was last used, unix milliseconds, where it was.
    pub last_used_at_ms: Option<i64>,
    /// How often it was used.
    pub use_count: u32,
    /// Tags, compared as they are.
    pub tags: Vec<String>,
    /// Entities, compared as they are.
    pub entities: Vec<String>,
    /// Speakers, compared as they are.
    pub speakers: Vec<String>,
    /// Conversation it stems from.
    pub session: Option<String>,
    /// Position in that conversation; without one a document has no neighbours.
    pub position: Option<u64>,
    /// Who said it.
    pub voice: Voice,
    /// Name of the person who said it, as questions may use it.
    pub name: Option<String>,
    /// The text that is searched. The index keeps its tokens, not the text.
    pub text: String,
    /// Passage-role embedding (norm at most 1). One that is not finite, is zero or has the wrong length counts as absent.
    pub vector: Option<Vec<f32>>,
    /// The same by the model that is in use beside it, if one is; see [`crate::Index::use_model`].
    pub model_vector: Option<Vec<f32>>,
}

/// A document after analysis: what [`crate::Index::apply`] takes, so that the costly part happens outside its lock.
#[derive(Debug, Clone)]
pub struct Prepared {
    pub(crate) document: Document,
    pub(crate) tokens: Tokens,
    /// Whether the text holds a question mark.
    pub(crate) asks: bool,
    /// Whether the text has characters of a script written without spaces.
    pub(crate) unspaced: bool,
    /// Token of the name of who said it, 0 for none.
    pub(crate) name: u32,
}

/// Analyses a document: the tokens of its text, of its speakers' names (questions ask what somebody said), and of the tags and entities
/// that the text itself does not name. Callable from any thread; touches nothing shared.
pub fn prepare(mut document: Document) -> Prepared {
    let tokens = Tokens::pack(&count_tokens(&searched(&document)));
    let asks = document.text.contains(['?', '\u{FF1F}']);
    let unspaced = has_unspaced(&document.text);
    let name = document.name.as_deref().and_then(name_token).unwrap_or(0);
    document.text = String::new();
    Prepared { document, tokens, asks, unspaced, name }
}

/// The text whose tokens a document is found by.
fn searched(document: &Document) -> Cow<'_, str> {
    let labels = document.tags.iter().chain(&document.entities).filter(|label| !document.text.contains(label.as_str()));
    let mut around = document.speakers.iter().chain(labels).peekable();
    if around.peek().is_none() {
        return Cow::Borrowed(&document.text);
    }
    let mut text = String::new();
    for label in around {
        text.push_str(label);
        text.push('\n');
    }
    text.push_str(&document.text);
    Cow::Owned(text)
}

impl Prepared {
    /// Gives the document its place: key, sequence and space are often known only once the write that stores it has begun.
    pub fn place(&mut self, key: u64, seq: u64, space: u32) {
        self.document.key = key;
        self.document.seq = seq;
        self.document.space = space;
    }

    /// Gives the document its vector by the model in use beside the built-in one.
    pub fn set_model_vector(&mut self, vector: Vec<f32>) {
        self.document.model_vector = Some(vector);
    }

    /// Key of the document.
    pub fn key(&self) -> u64 {
        self.document.key
    }

    /// Sequence of the document.
    pub fn seq(&self) -> u64 {
        self.document.seq
    }
}

/// One change of the index.
#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant)] // nearly every change is an upsert: a box would cost one more allocation each
pub enum Change {
    /// Puts a document in, replacing an earlier state of the same key.
    Upsert(Prepared),
    /// Takes a document out. A key that is not there is no error.
    Remove {
        /// The document.
        key: u64,
        /// Store sequence of the write that removed it.
        seq: u64,
    },
}

impl Change {
    /// Store sequence of the change.
    pub fn seq(&self) -> u64 {
        match self {
            Self::Upsert(prepared) => prepared.seq(),
            Self::Remove { seq, .. } => *seq,
        }
    }
}
