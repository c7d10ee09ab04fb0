//! Every limit of the index, named, with its unit. It must not know what a limit is used for beyond its line here.

/// Distinct tokens of a query that are looked at; the rest of a very long query is left out.
pub const QUERY_TOKENS_MAX: usize = 256;
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
/// Characters of a text that the embedder reads; a longer text is embedded by its beginning.
pub const EMBED_CHARS_MAX: usize = 16_384;
