//! What the full-text index is made of: its fields, how a token of a space becomes a term, and what each commit says about itself.
//! It must not know how it is read or written.

use crate::settings::Identity;
use crate::tokenize::TOKENIZER_VERSION;
use tantivy::schema::{FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};

/// Version of fields and terms. A folder of another version is built anew.
const SCHEMA_VERSION: u32 = 1;
/// Characters of a term: six for the space, six for the token, so that the terms of a space stand together.
const TERM_CHARS: usize = 12;
/// Digits of terms, in the order of their bytes.
const DIGITS: &[u8; 64] = b"-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";

/// The fields.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields {
    /// Terms of the document, with frequencies.
    pub(super) terms: Field,
    /// Key of the document.
    pub(super) key: Field,
    /// Sequence of its state.
    pub(super) seq: Field,
}

/// Names of the columns that are read directly.
pub(super) const KEY: &str = "key";
/// As [`KEY`], for the sequence.
pub(super) const SEQ: &str = "seq";

/// The schema and its fields.
pub(super) fn schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    let indexing = TextFieldIndexing::default()
        .set_tokenizer("whitespace")
        .set_index_option(IndexRecordOption::WithFreqs)
        .set_fieldnorms(true);
    let fields = Fields {
        terms: builder.add_text_field("terms", TextOptions::default().set_indexing_options(indexing)),
        key: builder.add_u64_field(KEY, INDEXED | FAST),
        seq: builder.add_u64_field(SEQ, FAST),
    };
    (builder.build(), fields)
}

/// Appends the term of a token in a space. Every space has its own terms, so that no posting list crosses spaces.
pub(super) fn push_term(out: &mut String, space: u32, token: u32) {
    for half in [space, token] {
        for digit in 0..TERM_CHARS / 2 {
            let shift = 6 * (TERM_CHARS / 2 - 1 - digit);
            out.push(char::from(DIGITS[(u64::from(half) >> shift) as usize & 63]));
        }
    }
}

/// The token of a term, from its bytes.
pub(super) fn token_of(term: &[u8]) -> Option<u32> {
    let digits = term.get(TERM_CHARS / 2..TERM_CHARS)?;
    let value = digits.iter().try_fold(0_u64, |value, byte| Some(value << 6 | DIGITS.iter().position(|d| d == byte)? as u64))?;
    u32::try_from(value).ok()
}

/// What a commit says about itself.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Payload {
    store: String,
    epoch: u64,
    schema: u32,
    tokenizer: u32,
    /// Store sequence up to which everything is in; 0 while it is being built.
    pub(super) seq: u64,
}

impl Payload {
    /// The payload of an index of this identity.
    pub(super) fn of(identity: &Identity, seq: u64) -> Self {
        let store = identity.store_id.iter().map(|byte| format!("{byte:02x}")).collect();
        Self { store, epoch: identity.epoch, schema: SCHEMA_VERSION, tokenizer: TOKENIZER_VERSION, seq }
    }

    /// Reads the payload of a commit.
    pub(super) fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// The payload as text.
    pub(super) fn to_text(&self) -> String {
        // Invariant: numbers and strings always serialise.
        serde_json::to_string(self).expect("invariant: a payload serialises")
    }

    /// Why this payload is not of `wanted` identity and versions, if it is not.
    pub(super) fn foreign(&self, wanted: &Self) -> Option<&'static str> {
        match () {
            () if self.store != wanted.store => Some("it belongs to another store"),
            () if self.epoch != wanted.epoch => Some("it belongs to another epoch of the store"),
            () if self.schema != wanted.schema => Some("its schema has another version"),
            () if self.tokenizer != wanted.tokenizer => Some("its tokenizer has another version"),
            () => None,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn terms_keep_space_and_token_apart() {
        let term = |space, token| {
            let mut out = String::new();
            push_term(&mut out, space, token);
            out
        };
        assert_eq!(term(0, 0).len(), TERM_CHARS);
        assert!(term(1, u32::MAX) < term(2, 0));
        for token in [0, 1, 63, 64, 0xDEAD_BEEF, u32::MAX] {
            assert_eq!(token_of(term(7, token).as_bytes()), Some(token));
        }
        assert_eq!(token_of(b"short"), None);
    }

    #[test]
    fn payloads_say_what_they_belong_to() {
        let identity = Identity { store_id: [7; 16], epoch: 3, model_id: "m".into(), dim: 4 };
        let payload = Payload::of(&identity, 9);
        assert_eq!(Payload::parse(&payload.to_text()).unwrap(), payload);
        assert_eq!(payload.foreign(&Payload::of(&identity, 0)), None);
        let other = Identity { epoch: 4, ..identity };
        assert!(payload.foreign(&Payload::of(&other, 0)).is_some());
        assert_eq!(Payload::parse("{}"), None);
    }
}
