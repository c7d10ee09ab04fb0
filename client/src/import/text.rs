//! Plain text: its paragraphs, small ones together.
//!
//! Must not know: files, what becomes of a passage.

use super::split;
use crate::limits::IMPORT_PASSAGE_BYTES_MAX;

/// The passages of a text.
pub fn passages(text: &str) -> Vec<String> {
    split::paragraphs(&text.replace("\r\n", "\n"), IMPORT_PASSAGE_BYTES_MAX / 2)
}
