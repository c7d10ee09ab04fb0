//! The tables of the store: names, tags, record versions.
//!
//! Keys are byte strings whose order is the order of their parts (big-endian integers), values are sealed records:
//! no other types, so that a later redb reads them unchanged. Must not know: what the records mean.

use redb::TableDefinition;

/// How every table looks to redb.
pub(super) type Definition = TableDefinition<'static, &'static [u8], &'static [u8]>;

/// One table. `tag` and `version` go into every checksum; neither is ever reused for something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Table {
    /// Its name in the file.
    pub name: &'static str,
    /// Its mark in the checksums; [`ALL`] is in the order of tags.
    pub tag: u8,
    /// Version of its records.
    pub version: u8,
}

impl Table {
    /// Whether a file of an earlier build may be without it.
    pub(super) const fn is_added(self) -> bool {
        self.tag > FIRST_TABLES_TAG_MAX
    }

    /// Its place in [`ALL`].
    pub(super) fn place(self) -> Option<usize> {
        let first = usize::from(self.tag);
        if !self.is_added() { Some(first) } else { ALL.iter().position(|table| table.tag == self.tag) }
    }

    /// The table with the record version that a row of it was written in, where this build reads that version still; else itself.
    pub fn as_written(self, value: &[u8]) -> Table {
        match (self.tag, value.first()) {
            (17, Some(1)) => Table { version: 1, ..self },
            _ => self,
        }
    }

    /// Its redb definition.
    pub(super) const fn definition(self) -> Definition {
        TableDefinition::new(self.name)
    }
}

macro_rules! tables {
    ($($(#[$doc:meta])* $id:ident = $tag:literal, $name:literal, $version:literal;)*) => {
        $($(#[$doc])* pub const $id: Table = Table { name: $name, tag: $tag, version: $version };)*
        /// Every table, by tag.
        pub const ALL: &[Table] = &[$($id),*];
    };
}

tables! {
    /// Name → bytes: the store's identity, its sequence, head of the audit, and what rooms keep about themselves.
    SETTINGS = 0, "settings", 1;
    /// (memory key u64, version u32) → `MemoryRecord`.
    MEMORIES = 1, "memories", 1;
    /// Memory key u64 → u32, its current version.
    MEMORY_CURRENT = 2, "memory_current", 1;
    /// Id (16 bytes) → u64, the memory's key.
    MEMORY_IDS = 3, "memory_ids", 1;
    /// (space u32, memory key u64) → u8, the status of the current version.
    MEMORY_SPACES = 4, "memory_spaces", 1;
    /// (space u32, fingerprint 16 bytes) → u64, the memory's key.
    FINGERPRINTS = 5, "fingerprints", 1;
    /// (memory key u64, version u32, passage u16) → `VectorRecord`.
    VECTORS = 6, "vectors", 1;
    /// Memory key u64 → `UseRecord`.
    USAGE = 7, "usage", 1;
    /// Space u32 → `SpaceRecord`.
    SPACES = 8, "spaces", 1;
    /// Name of a space → u32, its id.
    SPACE_NAMES = 9, "space_names", 1;
    /// Session key u64 → `SessionRecord`.
    SESSIONS = 10, "sessions", 1;
    /// Id (16 bytes) → u64, the session's key.
    SESSION_IDS = 11, "session_ids", 1;
    /// (space u32, session key u64) → nothing.
    SESSION_SPACES = 12, "session_spaces", 1;
    /// (session key u64, position u64) → `MessageRecord`.
    MESSAGES = 13, "messages", 1;
    /// Turn id (16 bytes) → `TurnRecord`.
    TURNS = 14, "turns", 1;
    /// (session key u64, created at i64, turn id) → nothing.
    SESSION_TURNS = 15, "session_turns", 1;
    /// (session key u64, event number u64) → `EventRecord`.
    EVENTS = 16, "events", 1;
    /// Row u64 → `AuditRecord`.
    AUDIT = 17, "audit", 2;
    /// Sequence u64 → `OutboxRecord`.
    OUTBOX = 18, "outbox", 1;
    /// SHA-256 of scope and key → `IdempotencyRecord`.
    IDEMPOTENCY = 19, "idempotency", 1;
    /// (expires at i64, SHA-256 of scope and key) → nothing.
    IDEMPOTENCY_EXPIRY = 20, "idempotency_expiry", 1;
    /// (space u32, conflict key u64) → `ConflictRecord`.
    CONFLICTS = 21, "conflicts", 1;
    /// (memory key u64, conflict key u64) → u32, the space of the conflict.
    CONFLICT_MEMORIES = 22, "conflict_memories", 1;
    /// (model u32, memory key u64, version u32, passage u16) → `VectorRecord`: what a model beside the built-in table made of a passage.
    MODEL_VECTORS = 40, "model_vectors", 1;
    /// Number of a model u32 → `EmbedderRecord`.
    EMBEDDERS = 41, "embedders", 1;
    /// (model u32, place u32) → `VectorRecord`: what the model made of the background sample's texts, in their order.
    MODEL_BACKGROUNDS = 42, "model_backgrounds", 1;
    /// Memory key u64 → `FeedbackRecord`.
    FEEDBACK = 60, "feedback", 1;
    /// Space u32 → `SpaceRulesRecord`.
    SPACE_RULES = 61, "space_rules", 1;
    /// Purge key u64 → `PurgeRecord`.
    PURGES = 62, "purges", 1;
    /// Id of a memory that was purged, or is to be (16 bytes) → `PurgedRecord`.
    PURGED = 63, "purged", 1;
    /// (purge key u64, id of a memory 16 bytes) → nothing.
    PURGED_BY = 64, "purged_by", 1;
    /// Turn id (16 bytes) → `TurnDetailsRecord`.
    TURN_DETAILS = 80, "turn_details", 1;
    /// (session key u64, number u64) → `ResultRecord`.
    RESULTS = 81, "results", 1;
    /// (session key u64, number u64, part u32) → `ResultPartRecord`.
    RESULT_PARTS = 82, "result_parts", 1;
    /// Id (16 bytes) → `QuestionRecord`.
    QUESTIONS = 83, "questions", 1;
    /// (session key u64, question id) → u8, its state.
    SESSION_QUESTIONS = 84, "session_questions", 1;
    /// Session key u64 → `SessionStateRecord`.
    SESSION_STATES = 85, "session_states", 1;
}

/// Tag of the newest table that every store file ever made has. A file without a later one has never had a row of it.
pub const FIRST_TABLES_TAG_MAX: u8 = 20;

/// Setting under which the `StoreRecord` stands.
pub const SETTING_STORE: &str = "store";
/// Setting under which the newest sequence stands.
pub const SETTING_SEQ: &str = "seq";
/// Setting that holds the number of the model whose vectors are in use beside the built-in table's (u32, big-endian); empty for none.
pub const SETTING_EMBEDDER: &str = "embedder";
/// Setting under which the `AuditHeadRecord` stands.
pub const SETTING_AUDIT: &str = "audit";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_rise_and_names_are_apart() {
        for (i, a) in ALL.iter().enumerate() {
            assert!(a.is_added() || usize::from(a.tag) == i);
            assert_eq!(a.place(), Some(i));
            assert!(ALL[i + 1..].iter().all(|b| b.name != a.name && b.tag > a.tag), "{}", a.name);
        }
    }
}
