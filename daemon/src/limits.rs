//! Every limit of the daemon: flat, named, with its unit last, grouped by the room that keeps it.
//!
//! What clients need to know of them is listed by [`table`] and sent in `initialize`. Must not know: who asks.

use std::collections::BTreeMap;

/// The limits a client can run into, by the name `initialize` gives them.
pub fn table() -> BTreeMap<String, u64> {
    let limits: &[(&str, usize)] = &[
        ("frameBytesMax", FRAME_BYTES_MAX),
        ("frameDepthMax", FRAME_DEPTH_MAX),
        ("frameElementsMax", FRAME_ELEMENTS_MAX),
        ("requestsPerConnectionMax", REQUESTS_PER_CONNECTION_MAX),
        ("connectionsMax", CONNECTIONS_MAX),
        ("outgoingBytesMax", OUTGOING_BYTES_MAX),
        ("textBytesMax", TEXT_BYTES_MAX),
        ("tagsMax", TAGS_MAX),
        ("tagBytesMax", TAG_BYTES_MAX),
        ("entitiesMax", ENTITIES_MAX),
        ("entityBytesMax", ENTITY_BYTES_MAX),
        ("sourceMemberBytesMax", SOURCE_MEMBER_BYTES_MAX),
        ("spaceNameCharsMax", SPACE_NAME_CHARS_MAX),
        ("spacesMax", SPACES_MAX),
        ("spacesPerRecallMax", SPACES_PER_RECALL_MAX),
        ("keyBytesMax", KEY_BYTES_MAX),
        ("itemsPerCallMax", ITEMS_PER_CALL_MAX),
        ("idsPerCallMax", IDS_PER_CALL_MAX),
        ("queryBytesMax", QUERY_BYTES_MAX),
        ("hitsMax", HITS_MAX as usize),
        ("filterValuesMax", FILTER_VALUES_MAX),
        ("pageItemsMax", PAGE_ITEMS_MAX as usize),
        ("forgetMemoriesMax", FORGET_MEMORIES_MAX),
        ("asOfMemoriesMax", AS_OF_MEMORIES_MAX),
    ];
    limits.iter().map(|(name, value)| ((*name).to_owned(), *value as u64)).collect()
}

// --- rpc: what a connection may do -------------------------------------------------------------------------------

/// Longest line a client may send, without its line end.
pub const FRAME_BYTES_MAX: usize = 8 << 20;
/// Deepest nesting of objects and arrays in a line.
pub const FRAME_DEPTH_MAX: usize = 64;
/// Most members and elements in a line.
pub const FRAME_ELEMENTS_MAX: usize = 131_072;
/// Bytes of unfinished and unanswered lines held for all connections together, beyond [`FRAME_BYTES_FREE`] each.
pub const FRAMES_BYTES_TOTAL_MAX: usize = 64 << 20;
/// Bytes of a line that are not counted against [`FRAMES_BYTES_TOTAL_MAX`].
pub const FRAME_BYTES_FREE: usize = 64 << 10;
/// Bytes taken from a socket at once.
pub const READ_BYTES: usize = 32 << 10;
/// Longest id of a request, as text.
pub const REQUEST_ID_BYTES_MAX: usize = 256;
/// Longest name of a client kept for the audit, in characters.
pub const CLIENT_NAME_CHARS_MAX: usize = 64;
/// Time from connecting to the end of the first line.
pub const FIRST_FRAME_MS_MAX: u64 = 10_000;
/// Time from the first byte of a line to its end.
pub const FRAME_MS_MAX: u64 = 60_000;
/// Bytes queued for a client that reads slowly; deltas beyond are dropped and told by `events/gap`.
pub const OUTGOING_BYTES_MAX: usize = 1 << 20;
/// Bytes of finished answers of one connection that wait for room in its queue; a read's answer beyond is dropped and its
/// request refused.
pub const ANSWERS_BYTES_MAX: usize = 16 << 20;
/// Bytes of finished answers that wait for room, of all connections together, beyond [`FRAME_BYTES_FREE`] each.
pub const ANSWERS_BYTES_TOTAL_MAX: usize = 64 << 20;
/// Time a client may take none of the bytes queued for it before its connection is closed.
pub const WRITE_STALL_MS_MAX: u64 = 30_000;
/// Time for the last lines of a connection that the daemon closes.
pub const LINGER_MS_MAX: u64 = 1_000;
/// Requests of one connection in flight.
pub const REQUESTS_PER_CONNECTION_MAX: usize = 64;
/// Requests of all connections in flight.
pub const REQUESTS_MAX: usize = 1_024;
/// Connections at once.
pub const CONNECTIONS_MAX: usize = 1_024;
/// Length of the kernel's queue of connections not yet accepted.
pub const ACCEPT_BACKLOG: i32 = 1_024;
/// Pause of the listener when descriptors are used up.
pub const ACCEPT_PAUSE_MS: u64 = 50;

// --- run: start and stop -----------------------------------------------------------------------------------------

/// Time between looks at whether the socket's file still stands for this daemon.
pub const SOCKET_LOOK_MS: u64 = 2_000;
/// Time a request waits for a store that is still being opened.
pub const READY_WAIT_MS_MAX: u64 = 60_000;
/// Time requests in flight get to end when the daemon stops.
pub const DRAIN_MS_MAX: u64 = 5_000;
/// Time cancelled requests and closing connections get after that.
pub const DRAIN_CANCELLED_MS_MAX: u64 = 1_500;
/// Arenas of the C library's heap.
pub const HEAP_ARENAS_MAX: i32 = 2;
/// Threads for blocking work.
pub const BLOCKING_THREADS_MAX: usize = 64;

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
/// Programs that one list of a space's rules names.
pub const PRINCIPALS_MAX: usize = 64;
/// Bytes of a path or name in it.
pub const PRINCIPAL_BYTES_MAX: usize = 4_096;
/// Days a space may keep what is not pinned, where it does not keep it for good.
pub const RETENTION_DAYS_MAX: u32 = 36_500;
/// Time between two looks at what outlived the retention of its space.
pub const RETENTION_LOOK_MS: u64 = 3_600_000;
/// Spaces with a quota whose contents are held counted.
pub const QUOTA_SPACES_KEPT_MAX: usize = 256;
/// Bytes of an idempotency key.
pub const KEY_BYTES_MAX: usize = 256;
/// Milliseconds an idempotency key is kept: 7 days.
pub const KEY_KEPT_MS: i64 = 7 * 24 * 3_600 * 1_000;
/// Items of one `memory/rememberMany` and lines of one `memory/import`.
pub const ITEMS_PER_CALL_MAX: usize = 5_000;
/// Items written in one transaction. Every transaction writes each page that it touched, and ids touch a page each: twice the items are not
/// twice the pages.
pub const ITEMS_PER_TRANSACTION: usize = 1_024;
/// Ids one call may name.
pub const IDS_PER_CALL_MAX: usize = 1_000;
/// Ids an answer or an audit row lists.
pub const IDS_LISTED_MAX: usize = 1_000;
/// Recalls that run on the threads that ask for them, at once; others are handed over.
pub const IN_PLACE_MAX: usize = 4;
/// Candidates an ambiguous prefix lists.
pub const CANDIDATES_LISTED_MAX: usize = 20;
/// Characters of an id's prefix, at least.
pub const ID_PREFIX_CHARS_MIN: usize = 8;
/// Bytes of a recall's query.
pub const QUERY_BYTES_MAX: usize = 64 * 1024;
/// Memories a text is compared with by cosine before it is kept.
pub const COMPARED_BY_VECTOR: usize = 8;
/// Memories a text is compared with by words.
pub const COMPARED_BY_WORDS: usize = 4;
/// Bytes of a text up to which it is compared: what is longer is a document, not a fact.
pub const COMPARED_BYTES_MAX: usize = 2_000;
/// Memories written to a space since a comparison that are looked at again inside the transaction.
pub const COMPARED_SINCE_MAX: usize = 1_024;
/// Neighbours an answer names.
pub const RELATED_MAX: usize = 8;
/// Conflicts of one memory that are read at once.
pub const CONFLICTS_PER_MEMORY_MAX: usize = 64;
/// Memories followed along a chain of supersessions.
pub const CHAIN_MEMORIES_MAX: usize = 64;
/// Memories of one `memory/merge`.
pub const MERGED_MEMORIES_MAX: usize = 64;
/// Rows of the audit that a history looks through.
pub const HISTORY_AUDIT_ROWS_MAX: usize = 200_000;
/// Hits of one recall.
pub const HITS_MAX: u32 = 200;
/// What one `wrong` of feedback takes from a score, as a share of it.
pub const FEEDBACK_WRONG_WEIGHT: f32 = 0.15;
/// What one `ignored` of feedback takes.
pub const FEEDBACK_IGNORED_WEIGHT: f32 = 0.02;
/// Times that `wrong` counts against one memory.
pub const FEEDBACK_WRONG_MAX: u8 = 3;
/// Times that `ignored` counts against one memory.
pub const FEEDBACK_IGNORED_MAX: u8 = 5;
/// Hits that a recall looks for beyond those wanted when feedback stands against memories.
pub const FEEDBACK_BEYOND_HITS_MAX: usize = 64;
/// Recalls whose hits are held for feedback; older ones are looked for in the audit.
pub const FEEDBACK_RECALLS_MAX: usize = 4_096;
/// Hits of these recalls together.
pub const FEEDBACK_KEYS_MAX: usize = 65_536;
/// Hits of one recall when the call does not say.
pub const HITS_DEFAULT: u32 = 5;
/// Index documents one recall asks for at most, to make up for passages of one memory.
pub const KEYS_PER_SEARCH_MAX: usize = 1_000;
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
pub const PAGE_BYTES_MAX: usize = 1024 * 1024;
/// Records one page may read, found or not; a page that reaches it is short and has a cursor.
pub const PAGE_SCAN_MAX: usize = 20_000;
/// Audit rows one page may read.
pub const AUDIT_SCAN_MAX: usize = 20_000;
/// Memories one call may forget by a filter or with their space.
pub const FORGET_MEMORIES_MAX: usize = 2_000_000;
/// Milliseconds a forgotten memory can be brought back: 7 days.
pub const UNDO_FORGET_MS: i64 = 7 * 24 * 3_600 * 1_000;
/// Versions `memory/undo` looks back through.
pub const UNDO_VERSIONS_MAX: usize = 1_000;
/// Outbox rows or memories read at a time when the index catches up.
pub const REPLAY_ROWS: usize = 1_024;
/// Milliseconds between two trims of the outbox.
pub const OUTBOX_TRIM_INTERVAL_MS: u64 = 60_000;
/// Threads that prepare the items of one call, or the index at its rebuilding.
pub const PREPARE_THREADS_MAX: usize = 4;
/// Lines of an import that one such thread takes at least.
pub const PREPARE_LINES_MIN: usize = 32;

/// Memories of the spaces of one recall as of an instant, and of all such views that are kept.
pub const AS_OF_MEMORIES_MAX: usize = 200_000;
/// Views of the past that are kept.
pub const AS_OF_VIEWS_MAX: usize = 2;
/// Milliseconds that a view of the past is kept after it was last asked for.
pub const AS_OF_IDLE_MS: u64 = 60_000;
/// Bytes at the beginning of a text in which expressions of time are looked for.
pub const WHEN_BYTES_MAX: usize = 1_024;
/// Expressions of time that count in one text.
pub const WHEN_PHRASES_MAX: usize = 8;
/// Years before the present one in which a month or a day without a year may be meant.
pub const WHEN_YEARS_BACK: i16 = 30;

// Model.

/// Events of one model call that wait for a slow reader.
pub const MODEL_EVENTS_QUEUED_MAX: usize = 64;
/// Longest line, and longest data of one event, of a model's stream.
pub const MODEL_SSE_LINE_BYTES_MAX: usize = 4 << 20;
/// Longest stream of one model call: an endless one ends here.
pub const MODEL_STREAM_BYTES_MAX: usize = 64 << 20;
/// Longest text, and longest thinking, of one reply.
pub const MODEL_TEXT_BYTES_MAX: usize = 512 << 10;
/// Longest arguments of all calls of one reply together.
pub const MODEL_ARGUMENT_BYTES_MAX: usize = 512 << 10;
/// Most calls in one reply.
pub const MODEL_CALLS_MAX: usize = 64;
/// Most bytes of provider-opaque blocks in one reply.
pub const MODEL_OPAQUE_BYTES_MAX: usize = 512 << 10;
/// How much of an error's body is read.
pub const MODEL_ERROR_BODY_BYTES_MAX: usize = 16 << 10;
/// How much of what a server said about an error is passed on.
pub const MODEL_ERROR_MESSAGE_CHARS_MAX: usize = 300;
/// Most retries of one model call.
pub const MODEL_RETRIES_MAX: u32 = 3;
/// Wait before the first retry.
pub const MODEL_BACKOFF_BASE_MS: u64 = 500;
/// Longest wait between retries.
pub const MODEL_BACKOFF_CAP_MS: u64 = 8_000;
/// Longest `Retry-After` that is waited for.
pub const MODEL_RETRY_AFTER_MS_MAX: u64 = 30_000;
/// Time to connect to a model server.
pub const MODEL_CONNECT_TIMEOUT_MS: u64 = 10_000;
/// Time to the first event of a reply; local servers read long prompts slowly.
pub const MODEL_FIRST_EVENT_TIMEOUT_MS: u64 = 120_000;
/// Longest silence inside a stream.
pub const MODEL_IDLE_TIMEOUT_MS: u64 = 30_000;
/// Longest model call in all, retries included.
pub const MODEL_WHOLE_TIMEOUT_MS: u64 = 600_000;
/// Time a local server has to answer the probe at start.
pub const MODEL_PROBE_TIMEOUT_MS: u64 = 300;
/// How much of a probe's answer is read.
pub const MODEL_PROBE_BYTES_MAX: usize = 256 << 10;
/// Largest script of the scripted model.
pub const MODEL_SCRIPT_BYTES_MAX: u64 = 8 << 20;

// Embedding by a model beside the built-in table.

/// Time to connect to an embedder.
pub const EMBED_CONNECT_MS_MAX: u64 = 5_000;
/// Time one call for stored texts may take.
pub const EMBED_BATCH_MS_MAX: u64 = 30_000;
/// Time a recall waits for the vector of its query; after it, it is answered without.
pub const EMBED_QUERY_MS_MAX: u64 = 800;
/// Time in which recalls do not ask an embedder that just failed one.
pub const EMBED_QUERY_REST_MS: u64 = 5_000;
/// Vectors of recent queries that are kept.
pub const EMBED_QUERIES_KEPT_MAX: usize = 256;
/// Characters of a text that is embedded; a longer one is embedded by its beginning.
pub const EMBED_TEXT_CHARS_MAX: usize = 8_000;
/// Fewest and most texts of one call for stored texts; between them the number follows from how long a call takes.
pub const EMBED_BATCH_TEXTS_MIN: usize = 4;
/// See [`EMBED_BATCH_TEXTS_MIN`].
pub const EMBED_BATCH_TEXTS_MAX: usize = 64;
/// Characters of one call for stored texts, at most, beyond its first text.
pub const EMBED_BATCH_CHARS_MAX: usize = 64_000;
/// A call for stored texts that takes less is followed by a larger one, one that takes twice as much by a smaller one: a query waits no longer.
pub const EMBED_BATCH_AIM_MS: u64 = 200;
/// First and longest wait after an embedder failed.
pub const EMBED_BACKOFF_MS_MIN: u64 = 250;
/// See [`EMBED_BACKOFF_MS_MIN`].
pub const EMBED_BACKOFF_MS_MAX: u64 = 30_000;
/// Bytes of an embedder's answer.
pub const EMBED_ANSWER_BYTES_MAX: usize = 64 << 20;
/// Length of vectors that an embedder may give.
pub const EMBED_DIMENSIONS_MAX: usize = 8_192;
/// Memories whose vectors were refused at the door, after which the embedder is given up until the next start.
pub const EMBED_REFUSED_MAX: usize = 1_000;
/// Threads of one call of a model that runs in the daemon; it takes half of the cores, and never more.
pub const ONNX_THREADS_MAX: usize = 4;
/// Tokens of one call of such a model, padding counted, unless one text alone is longer: a query waits for one call at most.
pub const ONNX_CALL_TOKENS_MAX: usize = 256;
/// Texts of one call of such a model.
pub const ONNX_CALL_TEXTS_MAX: usize = 32;
/// Tokens of a text that such a model may ask for.
pub const ONNX_TOKENS_MAX: u32 = 8_192;
/// Bytes of such a model's graph.
pub const ONNX_MODEL_BYTES_MAX: u64 = 4 << 30;
/// Bytes of its tokenizer.
pub const ONNX_TOKENIZER_BYTES_MAX: u64 = 128 << 20;
/// Bytes of the file that says what its folder holds.
pub const ONNX_MANIFEST_BYTES_MAX: u64 = 64 << 10;
/// Models that can be added.
pub const EMBEDDERS_MAX: usize = 64;
/// Bytes of a model's name.
pub const EMBEDDER_NAME_BYTES_MAX: usize = 64;
/// Time that a look at a model's speed takes, at most about this.
pub const EMBEDDER_CHECK_MS: u64 = 3_000;
/// Texts of one step of that look.
pub const EMBEDDER_CHECK_TEXTS: usize = 16;
/// Vectors refused one after another, without a good one between them, beyond which it is the embedder that is waited for.
pub const EMBED_REFUSED_IN_A_ROW_MAX: usize = 8;
/// First and longest wait before refused ones are asked for again.
pub const EMBED_REFUSED_AGAIN_MS_MIN: u64 = 2_000;
/// See [`EMBED_REFUSED_AGAIN_MS_MIN`].
pub const EMBED_REFUSED_AGAIN_MS_MAX: u64 = 10 * 60 * 1_000;
/// Changed memories that wait for new vectors, beyond which all are looked through again.
pub const EMBED_CHANGED_MAX: usize = 10_000;
/// Memories looked at in one step of the catching up, whether they have vectors or not.
pub const EMBED_SCAN_MEMORIES: usize = 256;
/// Rows of a model that is no longer used taken out in one commit.
pub const EMBED_REMOVED_ROWS: usize = 2_048;

/// Hits that a re-ranker orders anew.
pub const RERANK_HITS_MAX: usize = 20;
/// Time a recall waits for a re-ranker; after it, the hits stay in their own order.
pub const RERANK_MS_MAX: u64 = 500;

// Agent.

/// Model calls with tools in a turn that is a question, unless its budget or the configuration says otherwise.
pub const AGENT_STEPS_QUESTION: u32 = 3;
/// The same where looks depend on each other, or one thing is to be done.
pub const AGENT_STEPS_MULTI_HOP: u32 = 8;
/// The same where several things are to be done.
pub const AGENT_STEPS_ORCHESTRATION: u32 = 15;
/// Bytes of a prompt by which its kind is judged.
pub const AGENT_KIND_BYTES_MAX: usize = 8 * 1024;
/// Items of a list in a prompt, from which on it is an orchestration.
pub const AGENT_KIND_LIST_ITEMS: usize = 2;
/// Actions in a prompt, from which on it is an orchestration.
pub const AGENT_KIND_ACTIONS: usize = 3;
/// Tokens of a prompt above which it is no mere question.
pub const AGENT_KIND_LONG_TOKENS: u32 = 120;
/// Calls and answers of a turn that its guards look back on.
pub const AGENT_GUARD_CALLS: usize = 20;
/// Calls that may take turns for their cycle to be seen.
pub const AGENT_CYCLE_CALLS_MAX: usize = 4;
/// Rounds of such a cycle after which the turn ends.
pub const AGENT_CYCLE_ROUNDS: usize = 3;
/// Share of word pairs in common (Dice coefficient) from which two answers are alike.
pub const AGENT_ALIKE: f32 = 0.85;
/// Words of an answer that are compared.
pub const AGENT_ALIKE_WORDS_MAX: usize = 2_000;
/// Steps in a row that tell nothing new after which the turn ends.
pub const AGENT_STALE_STEPS_MAX: u32 = 2;
/// Steps with the same failure after which the turn ends.
pub const AGENT_SAME_ERROR_STEPS_MAX: u32 = 3;
/// Most steps a turn's budget may ask for.
pub const AGENT_STEPS_MAX: u32 = 100;
/// How often an empty answer is asked for again in a turn.
pub const AGENT_EMPTY_RETRIES_MAX: u32 = 2;
/// How often a reply cut by the output limit is answered with advice before the turn ends.
pub const AGENT_CUT_RETRIES_MAX: u32 = 1;
/// How many near names an unknown tool's error lists.
pub const AGENT_NEAR_NAMES_MAX: usize = 3;

// Questions and steering.

/// Longest wait of a call for an answer of a person; the question outlives it.
pub const QUESTION_WAIT_MS_MAX: u64 = 10 * 60 * 1_000;
/// Things said to a turn that wait to be read.
pub const TURN_STEERS_MAX: usize = 16;
/// Notes of a session's scratchpad.
pub const SCRATCHPAD_NOTES_MAX: usize = 64;

// Results.

/// Tokens of a result below which a model reads it whole.
pub const RESULT_WHOLE_TOKENS_MAX: u32 = 500;
/// Tokens of a result up to which a model reads a part of it; of a longer one a brief.
pub const RESULT_DIGEST_TOKENS_MAX: u32 = 2_000;
/// Which part that is: a fifth.
pub const RESULT_DIGEST_DIVISOR: u32 = 5;
/// Tokens of a brief.
pub const RESULT_BRIEF_TOKENS: u32 = 160;
/// Characters of the one line that is kept about a result.
pub const RESULT_BRIEF_CHARS_MAX: usize = 160;
/// Tokens at the beginning, and at the end, of long pasted text that stand as they are.
pub const INPUT_EDGE_TOKENS: u32 = 300;
/// Tokens of what stands of the rest of it.
pub const INPUT_DIGEST_TOKENS: u32 = 400;
/// Bytes of a line above which it is taken by sentences, and of a sentence above which it is taken by words.
pub const DIGEST_UNIT_BYTES_MAX: usize = 400;
/// Characters of a key member up to which it stands whole.
pub const DIGEST_KEY_CHARS_MAX: usize = 2_000;
/// Characters of one stored part of a result.
pub const RESULT_PART_CHARS: usize = 64 * 1024;
/// Characters of one answer of `result/get`.
pub const RESULT_ANSWER_CHARS_MAX: u64 = 256 * 1024;
/// Characters of one answer of the tool `result_read`.
pub const RESULT_READ_CHARS: u64 = 4_000;
/// Passages of one answer of the tool `result_read`.
pub const RESULT_READ_PASSAGES: u32 = 5;
/// References told where one is wrong.
pub const RESULTS_TOLD_MAX: usize = 8;
/// Characters of one passage of a search.
pub const RESULT_PASSAGE_CHARS: usize = 600;
/// Passages of one search when the call does not say.
pub const RESULT_PASSAGES_DEFAULT: u32 = 5;
/// Passages of one search, at most.
pub const RESULT_PASSAGES_MAX: u32 = 50;
/// Newest results of a session that one search reads.
pub const RESULTS_SEARCHED_MAX: usize = 500;
/// Characters that one search through a session reads, beyond its newest result.
pub const RESULT_SEARCHED_CHARS_MAX: u64 = 32 << 20;

// Store.

/// Bytes redb may keep of the store's pages in memory.
pub const STORE_CACHE_BYTES: usize = 24 << 20;
/// Writes that may wait for the writer.
pub const WRITE_QUEUE_MAX: usize = 1_024;
/// Writes put into one transaction.
pub const WRITE_BATCH_MAX: usize = 256;
/// Bytes of rows that one transaction gathers before it puts them into their tables.
pub const WRITE_GATHERED_BYTES_MAX: usize = 8 << 20;
/// Bytes of one encoded record.
pub const RECORD_BYTES_MAX: u64 = 4 << 20;
/// Least and most of the disk kept free of writes, and the share of the volume it is in between.
pub const DISK_RESERVE_BYTES_MIN: u64 = 1 << 20;
/// See [`DISK_RESERVE_BYTES_MIN`].
pub const DISK_RESERVE_BYTES_MAX: u64 = 32 << 20;
/// See [`DISK_RESERVE_BYTES_MIN`].
pub const DISK_RESERVE_DIVISOR: u64 = 16;
/// First and longest pause between attempts to reopen a store that a full disk stopped, in ms.
pub const REOPEN_BACKOFF_MS_MIN: u64 = 50;
/// See [`REOPEN_BACKOFF_MS_MIN`].
pub const REOPEN_BACKOFF_MS_MAX: u64 = 5_000;
/// A store file up to this size is checked whole before the first answer; a larger one behind it, and its commits record what a quick
/// start needs.
pub const INTEGRITY_AT_OPEN_BYTES_MAX: u64 = 512 << 20;
/// Lapsed idempotency keys taken out in one commit.
pub const IDEMPOTENCY_SWEEP_ROWS_MAX: usize = 64;
/// Outbox rows taken out in one commit.
pub const OUTBOX_TRIM_ROWS_MAX: usize = 4_096;
/// Rows of the audit kept when the configuration does not say.
pub const AUDIT_ROWS_DEFAULT: u64 = 200_000;
/// Fewest rows of the audit that the configuration may ask for.
pub const AUDIT_ROWS_MIN: u64 = 1_000;
/// Rows of the audit taken out at a time, in one commit: so many over the limit wait until it is worth a row that tells of it.
pub const AUDIT_CUT_ROWS: u64 = 256;
/// Bytes of what an audit row says of a call's outcome.
pub const AUDIT_OUTCOME_BYTES_MAX: usize = 128;
/// Reads of memory that may wait to be written to the audit.
pub const AUDIT_QUEUE_MAX: usize = 8_192;
/// Longest time a read waits to be written to the audit, in ms.
pub const AUDIT_FLUSH_MS: u64 = 500;
/// Rows read in one step of a scan.
pub const SCAN_ROWS: usize = 256;
/// Daily backups kept.
pub const BACKUPS_KEPT: usize = 7;
/// Age at which a store without a backup gets its first, in ms.
pub const BACKUP_FIRST_MS: i64 = 10 * 60 * 1_000;
/// Files set aside by restores that are kept.
pub const SET_ASIDE_KEPT: usize = 3;
/// Time that a backup, check or restore somebody asked for waits for one under way, which gives way where it can, in ms.
pub const LONG_WORK_WAIT_MS: u64 = 30_000;
/// Time between backups, in ms.
pub const BACKUP_INTERVAL_MS: i64 = 24 * 60 * 60 * 1_000;
/// Problems that a check of the store lists.
pub const VERIFY_PROBLEMS_MAX: usize = 100;
/// Bytes redb may keep of a backup's pages in memory while it is made.
pub const BACKUP_CACHE_BYTES: usize = 8 << 20;
/// Bytes copied into a backup in one transaction.
pub const BACKUP_COMMIT_BYTES: usize = 8 << 20;
/// Time between looks at whether a backup is due, in ms.
pub const BACKUP_LOOK_MS: u64 = 10 * 60 * 1_000;

/// Rounds in which a rewriting of the store copies what was written meanwhile, before writes wait for the last of it.
pub const REWRITE_ROUNDS_MAX: usize = 16;
/// Rows with which that is left to the last round.
pub const REWRITE_LAST_ROWS: usize = 64;
/// Bytes of keys touched by writes that a rewriting holds; beyond, it is put off.
pub const REWRITE_TOUCHED_BYTES_MAX: usize = 64 << 20;
/// Time that a rewritten file waits for a moment without reads to take its place, in ms. Writes wait meanwhile.
pub const SWAP_WAIT_MS_MAX: u64 = 250;
/// Times that it is tried, writes going on in between.
pub const SWAP_TRIES_MAX: usize = 64;
/// Memories whose rows a purge takes out in one transaction.
pub const PURGE_STEP_MEMORIES: usize = 128;
/// Messages or events that a purge reads, or changes, in one step.
pub const PURGE_STEP_SPOKEN: usize = 64;
/// Rows a purge looks at in one step of a walk through a table.
pub const PURGE_STEP_ROWS: usize = 1_024;
/// Purges among which those are looked for that are not over, the newest.
pub const PURGE_OPEN_MAX: usize = 256;
/// Fewest bytes of a text that is looked for in every file: a shorter one stands everywhere by chance.
pub const ABSENT_BYTES_MIN: usize = 4;
/// Versions of a memory whose texts are looked for at once.
pub const ABSENT_TEXTS_MAX: usize = 64;
/// Bytes of a file read at once in such a search.
pub const ABSENT_READ_BYTES: usize = 1 << 20;
/// Files that such a search reads.
pub const ABSENT_FILES_MAX: usize = 100_000;
/// Places that it names.
pub const ABSENT_PLACES_MAX: usize = 100;
/// How far it counts in one file.
pub const ABSENT_COUNT_MAX: u64 = 1_000;
/// Receipts of purges that are kept, the newest.
pub const PURGE_RECEIPTS_MAX: u64 = 10_000;
/// Time from the start to the first look at what can be purged, in ms.
pub const PURGE_FIRST_LOOK_MS: u64 = 5_000;
/// Time between two looks, in ms: what was put off is taken up again.
pub const PURGE_LOOK_MS: u64 = 60 * 1_000;
/// Looks from one to the next that goes through all memories for what cannot be undone any more.
pub const PURGE_SCAN_LOOKS: u32 = 10;
/// Time between two purges by the daemon itself, in ms: each rewrites the store.
pub const PURGE_INTERVAL_MS: i64 = 24 * 60 * 60 * 1_000;

// Sessions.

/// Bytes of a session's title, and of a model's name.
pub const SESSION_TITLE_BYTES_MAX: usize = 1_024;
/// Bytes of a session's working folder.
pub const SESSION_CWD_BYTES_MAX: usize = 4_096;
/// Connections that may follow one session.
pub const SESSION_FOLLOWERS_MAX: usize = 64;
/// Stored events read in one go for a follower that catches up.
pub const SESSION_REPLAY_EVENTS: usize = 100;
/// Bytes of merged text that a follower may be sent in the step in which it becomes live.
pub const SESSION_MERGED_DELTA_BYTES: usize = 64 * 1024;

// Context.

/// Tokens of a model's window when the configuration does not say.
pub const CONTEXT_WINDOW_TOKENS_DEFAULT: u32 = 16_384;
/// Least window that is believed.
pub const CONTEXT_WINDOW_TOKENS_MIN: u32 = 1_024;
/// Percent of the window for the daemon's instructions.
pub const CONTEXT_SHARE_SYSTEM_PERCENT: u32 = 10;
/// Percent of the window for the definitions of tools.
pub const CONTEXT_SHARE_TOOLS_PERCENT: u32 = 15;
/// Percent of the window for recalled memory, summary and fields.
pub const CONTEXT_SHARE_MEMORY_PERCENT: u32 = 15;
/// Percent of the window for what was said.
pub const CONTEXT_SHARE_HISTORY_PERCENT: u32 = 20;
/// Percent of the window for results of tools.
pub const CONTEXT_SHARE_RESULTS_PERCENT: u32 = 30;
/// Percent of the window for the reply.
pub const CONTEXT_SHARE_OUTPUT_PERCENT: u32 = 10;
/// Percent of the window that a context is kept under.
pub const CONTEXT_AIM_PERCENT: u32 = 50;
/// Earlier turns that stay whole when older ones are folded into the summary.
pub const CONTEXT_TURNS_WHOLE: usize = 5;
/// Earlier turns above which they are.
pub const CONTEXT_TURNS_MAX: usize = 8;
/// Tokens of a result up to which nothing is won by leaving it out.
pub const CONTEXT_PRUNED_TOKENS: u32 = 30;
/// Newest results of a session that are named in a context which does not show them.
pub const SHORT_TERM_RESULTS: usize = 5;
/// Fields kept of a session.
pub const SESSION_FIELDS_MAX: usize = 200;
/// Characters of what stands for the task of a session.
pub const SESSION_TASK_CHARS_MAX: usize = 160;
/// Bytes of a sentence above which the summary does not keep it.
pub const SUMMARY_SENTENCE_BYTES_MAX: usize = 1_000;
/// Sessions of a space that one search looks through, newest first.
pub const SESSIONS_SEARCHED_MAX: usize = 1_000;
/// Messages that one search looks through.
pub const MESSAGES_SEARCHED_MAX: usize = 20_000;
/// Share of the words of a search that a message holds at least.
pub const SESSION_SEARCH_SHARE_MIN: f32 = 0.5;
/// Tokens a message costs beside its text.
pub const CONTEXT_MESSAGE_FRAME_TOKENS: u32 = 4;
/// Messages of a session that are looked at for a context.
pub const AGENT_HISTORY_MESSAGES_MAX: usize = 400;
/// Bytes of what a user says in one turn.
pub const TURN_INPUT_BYTES_MAX: usize = 256 * 1024;
/// Turns of one session that may wait in line.
pub const TURNS_QUEUED_MAX: usize = 32;
/// Turns that run at once, of all sessions.
pub const TURNS_RUNNING_MAX: usize = 32;
/// Longest turn, unless its budget says less.
pub const TURN_TIME_MS_MAX: u64 = 30 * 60 * 1_000;
/// Longest wait of one `turn/wait`.
pub const TURN_WAIT_MS_MAX: u64 = 10 * 60 * 1_000;
/// Wait of a `turn/wait` that does not say.
pub const TURN_WAIT_MS_DEFAULT: u64 = 60 * 1_000;
/// How long `turn/interrupt` waits for the end it asked for.
pub const TURN_INTERRUPT_MS_MAX: u64 = 2_000;
/// Time of one call of a tool.
pub const TOOL_CALL_MS_MAX: u64 = 8_000;
/// Tokens of what `memory_recall` gives a model.
pub const TOOL_RECALL_TOKENS_MAX: u32 = 1_500;
/// Least time between two looks for a model while there is none.
pub const MODEL_LOOK_AGAIN_MS: u64 = 5_000;
/// Time the recall for a turn's context may take.
pub const TURN_RECALL_MS_MAX: u64 = 3_000;
/// How often a context that does not fit the model is shortened and sent again.
pub const CONTEXT_SHORTENED_MAX: u32 = 2;
/// Temperature of calls that choose what to do.
pub const AGENT_TEMPERATURE_CHOOSING: f32 = 0.5;
/// Texts of recent recalls by which the write gate knows what comes back.
pub const GATE_RECALLED_TEXTS_MAX: usize = 256;
/// Texts of recent recalls that wait, before they are taken up behind an answer.
pub const GATE_RECALLED_WAITING_MAX: usize = 64;
/// Words of one such text that are held; a Han character is one.
pub const GATE_RECALLED_WORDS_MAX: usize = 256;
/// Words of a recalled text in a row that count as recalled where they are not the whole of it.
pub const GATE_RECALLED_RUN_WORDS_MIN: usize = 16;
/// Spaces whose refusals are counted.
pub const GATE_SPACES_COUNTED_MAX: usize = 1_024;
/// Memories among which those are chosen that stand in a context whatever is asked.
pub const STANDING_CANDIDATES_MAX: usize = 128;
/// Percent of a context's tokens for what stands whatever is asked.
pub const CONTEXT_SHARE_STANDING_PERCENT: u32 = 33;
