//! What a search for traces of a memory looks for: its texts while they are known, else its id; and what the index's files hold.
//!
//! Must not know: where it is looked for.

use super::super::resolve::{resolve, whole_id};
use super::super::{Memory, MemoryError};
use crate::limits::{ABSENT_BYTES_MIN, ABSENT_TEXTS_MAX, ID_PREFIX_CHARS_MIN};
use crate::store::Reads;

impl Memory {
    /// The texts and byte strings that stand for what was asked: the texts of every version of the memory with this id; the id itself
    /// where the store knows no such memory (any more); else the text that was asked for.
    ///
    /// # Errors
    /// `Invalid` when the memory's texts are too short to be looked for; the store's.
    pub fn looked_for(&self, asked: &str) -> Result<(Vec<String>, Vec<Vec<u8>>), MemoryError> {
        let id = whole_id(asked);
        let is_prefix =
            |text: &str| text.len() >= ID_PREFIX_CHARS_MIN && text.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit());
        self.store().read(|tx| {
            let key = match id {
                Some(id) => tx.key_of_id(&id)?,
                None if is_prefix(asked) => resolve(tx, asked, "absent").ok().map(|record| record.key),
                None => None,
            };
            let Some(key) = key else {
                return Ok(match id {
                    Some(id) => (Vec::new(), vec![id.to_vec(), uuid::Uuid::from_bytes(id).to_string().into_bytes()]),
                    None => (vec![asked.to_owned()], Vec::new()),
                });
            };
            let mut texts: Vec<String> = tx.memory_versions(key)?.into_iter().map(|version| version.text).collect();
            texts.sort_unstable();
            texts.dedup();
            texts.retain(|text| text.len() >= ABSENT_BYTES_MIN);
            texts.truncate(ABSENT_TEXTS_MAX);
            match texts.is_empty() {
                true => Err(MemoryError::invalid("absent", "what this memory says is too short to be looked for")),
                false => Ok((texts, Vec::new())),
            }
        })
    }

    /// Shows what the compressed files of the full-text index hold.
    ///
    /// # Errors
    /// `Index` when they cannot be read.
    pub fn index_stored(&self, show: &mut dyn FnMut(&[u8]) -> bool) -> Result<(), MemoryError> {
        Ok(self.index().stored(show)?)
    }
}
