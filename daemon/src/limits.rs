//! Every limit of the daemon, named, with its unit. Nothing a client sends takes the daemon past them.
//!
//! Must not know: who keeps them.

// Memory.

/// Bytes of one memory's text.
pub const TEXT_BYTES_MAX: usize = 64 * 1024;
/// Characters above which a text is cut into passages for the index.
pub const PASSAGE_THRESHOLD_CHARS: usize = 4_000;
/// Characters of one passage, at most.
pub const PASSAGE_CHARS_MAX: usize = 2_000;
/// Passages of one text, at most: every passage but the last has at least half its characters.
pub const PASSAGES_MAX: usize = 2 * TEXT_BYTES_MAX / PASSAGE_CHARS_MAX + 2;
/// Tags of one memory.
pub const TAGS_MAX: usize = 64;
/// Bytes of one tag.
pub const TAG_BYTES_MAX: usize = 128;
/// Entities of one memory.
pub const ENTITIES_MAX: usize = 64;
/// Bytes of one entity's name.
pub const ENTITY_BYTES_MAX: usize = 256;
/// Bytes of one member of a source.
pub const SOURCE_MEMBER_BYTES_MAX: usize = 2_048;
/// Sources kept of one memory: the first and the newest.
pub const SOURCES_MAX: usize = 64;
/// Characters of a space's name.
pub const SPACE_NAME_CHARS_MAX: usize = 64;
/// Spaces one recall may name.
pub const SPACES_PER_RECALL_MAX: usize = 64;
/// Spaces of one store.
pub const SPACES_MAX: usize = 10_000;
/// Bytes of an idempotency key.
pub const KEY_BYTES_MAX: usize = 256;
/// Milliseconds an idempotency key is kept: 7 days.
pub const KEY_KEPT_MS: i64 = 7 * 24 * 3_600 * 1_000;
/// Items of one `memory/rememberMany` and lines of one `memory/import`.
pub const ITEMS_PER_CALL_MAX: usize = 5_000;
/// Items written in one transaction.
pub const ITEMS_PER_TRANSACTION: usize = 512;
/// Ids one call may name.
pub const IDS_PER_CALL_MAX: usize = 1_000;
/// Ids an answer or an audit row lists.
pub const IDS_LISTED_MAX: usize = 1_000;
/// Candidates an ambiguous prefix lists.
pub const CANDIDATES_LISTED_MAX: usize = 20;
/// Characters of an id's prefix, at least.
pub const ID_PREFIX_CHARS_MIN: usize = 8;
/// Bytes of a recall's query.
pub const QUERY_BYTES_MAX: usize = 64 * 1024;
/// Hits of one recall.
pub const HITS_MAX: u32 = 200;
/// Hits of one recall when the call does not say.
pub const HITS_DEFAULT: u32 = 5;
/// Hits a context may hold when the call does not say.
pub const CONTEXT_HITS_DEFAULT: u32 = 20;
/// Tokens of a context when the call does not say.
pub const CONTEXT_TOKENS_DEFAULT: u32 = 2_000;
/// Values one member of a filter may list.
pub const FILTER_VALUES_MAX: usize = 256;
/// Items of one page.
pub const PAGE_ITEMS_MAX: u32 = 500;
/// Items of one page of a list or of the audit when the call does not say.
pub const PAGE_ITEMS_DEFAULT: u32 = 50;
/// Lines of one page of an export when the call does not say.
pub const EXPORT_LINES_DEFAULT: u32 = 200;
/// Bytes of text in one page, beyond which it ends early.
pub const PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Records one page may read, found or not; a page that reaches it is short and has a cursor.
pub const PAGE_SCAN_MAX: usize = 20_000;
/// Audit rows one page may read.
pub const AUDIT_SCAN_MAX: usize = 20_000;
/// Milliseconds a forgotten memory can be brought back: 7 days.
pub const UNDO_FORGET_MS: i64 = 7 * 24 * 3_600 * 1_000;
/// Versions `memory/undo` looks back through.
pub const UNDO_VERSIONS_MAX: usize = 1_000;
/// Outbox rows read at a time when the index catches up.
pub const REPLAY_ROWS: usize = 1_024;
