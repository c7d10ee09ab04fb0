//! From an id, or a prefix that fits one memory, to the memory.
//!
//! Forgotten memories are not found here. Must not know: verbs.

use super::error::MemoryError;
use crate::limits::{CANDIDATES_LISTED_MAX, ID_PREFIX_CHARS_MIN, IDS_PER_CALL_MAX};
use crate::store::Reads;
use tiro_schema::convert::STATUS_FORGOTTEN;
use tiro_schema::record::MemoryRecord;
use uuid::Uuid;

/// Ids that a prefix may fit before the search ends.
const PREFIX_SCAN_MAX: usize = 1_000;

/// An id as the wire writes it.
pub(super) fn id_text(id: &[u8; 16]) -> String {
    Uuid::from_bytes(*id).hyphenated().to_string()
}

/// The id, when the text is a whole one.
pub(super) fn whole_id(text: &str) -> Option<[u8; 16]> {
    let text = text.trim();
    (text.len() >= 32).then(|| Uuid::parse_str(text).ok()).flatten().map(Uuid::into_bytes)
}

/// The memory of an id or prefix.
pub(super) fn resolve(tx: &impl Reads, text: &str, path: &str) -> Result<MemoryRecord, MemoryError> {
    let text = text.trim();
    let not_found = || MemoryError::NotFound { id: text.chars().take(64).collect() };
    if let Some(id) = whole_id(text) {
        let key = tx.key_of_id(&id)?.ok_or_else(not_found)?;
        return tx.memory(key)?.filter(|r| r.status != STATUS_FORGOTTEN).ok_or_else(not_found);
    }
    let digits = text.chars().filter(|c| *c != '-').count();
    if !(ID_PREFIX_CHARS_MIN..=32).contains(&digits) || !text.chars().all(|c| c == '-' || c.is_ascii_hexdigit()) {
        return Err(MemoryError::invalid(path, format!("an id, or its first {ID_PREFIX_CHARS_MIN} characters or more")));
    }
    let mut found = Vec::new();
    for (_, key) in tx.keys_by_id_prefix(&text.to_ascii_lowercase(), PREFIX_SCAN_MAX)? {
        if let Some(record) = tx.memory(key)?.filter(|r| r.status != STATUS_FORGOTTEN) {
            found.push(record);
        }
    }
    match found.len() {
        0 => Err(not_found()),
        1 => found.pop().ok_or_else(not_found),
        _ => Err(MemoryError::Ambiguous {
            prefix: text.to_owned(),
            candidates: found.iter().take(CANDIDATES_LISTED_MAX).map(|r| id_text(&r.id)).collect(),
        }),
    }
}

/// The memories of several ids or prefixes, without repeats, in their order; forgotten ones too, by their whole ids, where that is
/// asked for.
pub(super) fn resolve_all(tx: &impl Reads, ids: &[String], forgotten_too: bool) -> Result<Vec<MemoryRecord>, MemoryError> {
    check_ids(ids)?;
    let mut records: Vec<MemoryRecord> = Vec::with_capacity(ids.len());
    let mut seen = std::collections::HashSet::new();
    for (i, id) in ids.iter().enumerate() {
        let whole = whole_id(id).filter(|_| forgotten_too);
        let known = whole.map(|whole| tx.key_of_id(&whole)).transpose()?.flatten();
        let record = match known.map(|key| tx.memory(key)).transpose()?.flatten() {
            Some(record) => record,
            None => resolve(tx, id, &format!("ids[{i}]"))?,
        };
        if seen.insert(record.key) {
            records.push(record);
        }
    }
    Ok(records)
}

/// Checks how many ids a call names.
pub(super) fn check_ids(ids: &[String]) -> Result<(), MemoryError> {
    if ids.is_empty() {
        return Err(MemoryError::invalid("ids", "name at least one memory"));
    }
    if ids.len() > IDS_PER_CALL_MAX {
        return Err(MemoryError::too_large("ids", "idsPerCallMax", IDS_PER_CALL_MAX));
    }
    Ok(())
}
