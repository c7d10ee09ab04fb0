//! Every limit of the index, named, with its unit. It must not know what a limit is used for beyond its line here.

/// Distinct tokens of a query that are looked at; the rest of a very long query is left out.
pub const QUERY_TOKENS_MAX: usize = 256;
/// Tokens of a text about to be kept, the rarest, by which its nearest are looked for.
pub const NEAR_TOKENS_MAX: usize = 8;
/// Bytes of a query's text that are analysed.
pub const QUERY_BYTES_MAX: usize = 64 * 1024;
/// Bytes of a document's text that are analysed.
pub const DOCUMENT_BYTES_MAX: usize = 1024 * 1024;
/// Fewest candidates that a leg of a search brings.
pub const CANDIDATES_MIN: usize = 20;
/// Most candidates that a leg of a search brings.
pub const CANDIDATES_MAX: usize = 1_000;
/// Hits that one search returns at most.
pub const HITS_MAX: usize = 1_000;
/// Documents in one commit of the full-text index at most; below the length of its queue, so that adding never blocks.
pub const LEXICAL_BATCH_DOCUMENTS_MAX: usize = 8_192;
/// Memory that the full-text writer gathers documents in, bytes.
pub const LEXICAL_WRITER_BYTES: usize = 24 * 1024 * 1024;
/// Times that the full-text index is opened and written before that is a failure.
pub const LEXICAL_ATTEMPTS_MAX: u32 = 4;
/// Wait before the second of them, milliseconds, halved; doubles with each.
pub const LEXICAL_ATTEMPT_MS: u64 = 5;
/// Wait before the full-text index is tried again after a failure, milliseconds; doubles up to the next limit.
pub const LEXICAL_RETRY_MS_MIN: u64 = 250;
/// Longest wait before the full-text index is tried again, milliseconds.
pub const LEXICAL_RETRY_MS_MAX: u64 = 15_000;
/// Failures in a row after which the full-text index is built anew.
pub const LEXICAL_FAILURES_MAX: u32 = 4;
/// Least time from one commit of the full-text index to the next that is due only because many documents wait, milliseconds. Each commit
/// makes a segment, and segments are merged: under a stream of writes fewer and larger ones are half the work.
pub const LEXICAL_REST_MS: u64 = 250;
/// Documents that wait for the full-text index from which it is committed without that rest: they are read one by one meanwhile.
pub const LEXICAL_WAITING_DOCUMENTS_MAX: usize = 4_096;
/// Idle time after which the full-text writer gives its memory back, milliseconds.
pub const LEXICAL_IDLE_MS: u64 = 20_000;
/// Documents whose postings are looked up when the full-text index is opened.
pub const LEXICAL_SAMPLE_DOCUMENTS: usize = 64;
/// Longest wait for a flush, milliseconds.
pub const FLUSH_WAIT_MS: u64 = 120_000;
/// Time that a purge of the full-text index may take, in ms: all of it may have to be merged.
pub const PURGE_WAIT_MS: u64 = 30 * 60 * 1_000;
/// Eligible documents of a space up to which every one is scored from memory, without the full-text index.
pub const DIRECT_DOCUMENTS_MAX: usize = 2_000;
/// Bytes of a speaker's name that are read for the token questions name them by.
pub const NAME_BYTES_MAX: usize = 256;
/// Candidates of a space whose neighbours in the conversation are looked at, best first.
pub const CONTEXT_CANDIDATES_MAX: usize = 128;
/// Best candidates whose next neighbours become candidates too.
pub const CONTEXT_SEEDS_MAX: usize = 50;
/// Documents of one thread looked at on one side of a candidate: passages of a long text share a place.
pub const CONTEXT_STEPS_MAX: usize = 32;
/// Spans of time in a question that are compared.
pub const QUERY_SPANS_MAX: usize = 64;
/// Characters of a text that the embedder reads; a longer text is embedded by its beginning.
pub const EMBED_CHARS_MAX: usize = 16_384;
/// Nodes that one search of the graph looks at, at most.
pub const GRAPH_FETCH_MAX: usize = 4_096;
/// Documents that one space of a snapshot may have held at once.
pub const SPACE_SLOTS_MAX: usize = 1 << 26;
/// Vectors put into graphs before the thread looks at its other work again.
pub const GRAPH_ROUND_VECTORS_MAX: usize = 512;
/// Nodes that a walk of the graph keeps at least.
pub const GRAPH_WALK_NODES: usize = 256;
/// Vectors of one space from which a graph serves unless the settings say otherwise: none. Up to 300,000 it was measured slower than the exact
/// scan where it finds 95 of 100, and it takes an hour of a core and three times the memory (the table of the `vectors` bench).
pub const GRAPH_VECTORS_NEVER: usize = usize::MAX;
/// Vectors of one space above which it has no graph: about 4 GiB.
pub const GRAPH_VECTORS_MAX: usize = 1_000_000;
/// Memory of all graphs together, one under way counted, bytes. Where an old one and its successor do not fit, the old one goes first and
/// vectors are compared exactly meanwhile.
pub const GRAPHS_BYTES_MAX: usize = 6 << 30;
/// Graphs under way at once: each keeps a core busy.
pub const GRAPH_BUILDS_MAX: usize = 1;
/// Longest time that a build may take, milliseconds; after that the space goes on without a graph until the next start.
pub const GRAPH_BUILD_MS_MAX: u64 = 6 * 3_600_000;
/// Best hits among which near-duplicates give way to others.
pub const DIVERSITY_HITS_MAX: usize = 200;
/// Best candidates of a search among which what was told again later comes before what it was told instead of.
pub const LATER_CANDIDATES_MAX: usize = 24;
