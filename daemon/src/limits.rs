//! Every limit of the daemon as a named constant with its unit, grouped by room. It must not hold logic.

// ---- model ----

/// Events of one model call that wait for a slow reader.
pub const MODEL_EVENTS_QUEUED_MAX: usize = 64;
/// Longest line, and longest data of one event, of a model's stream.
pub const MODEL_SSE_LINE_BYTES_MAX: usize = 4 << 20;
/// Longest stream of one model call: an endless one ends here.
pub const MODEL_STREAM_BYTES_MAX: usize = 64 << 20;
/// Longest text, and longest thinking, of one reply.
pub const MODEL_TEXT_BYTES_MAX: usize = 4 << 20;
/// Longest arguments of all calls of one reply together.
pub const MODEL_ARGUMENT_BYTES_MAX: usize = 4 << 20;
/// Most calls in one reply.
pub const MODEL_CALLS_MAX: usize = 64;
/// Most bytes of provider-opaque blocks in one reply.
pub const MODEL_OPAQUE_BYTES_MAX: usize = 4 << 20;
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

// ---- agent ----

/// Model calls with tools in one turn, unless the turn's budget says otherwise.
pub const AGENT_STEPS_DEFAULT: u32 = 8;
/// Most steps a turn's budget may ask for.
pub const AGENT_STEPS_MAX: u32 = 100;
/// How often an empty answer is asked for again in a turn.
pub const AGENT_EMPTY_RETRIES_MAX: u32 = 2;
/// How often a reply cut by the output limit is answered with advice before the turn ends.
pub const AGENT_CUT_RETRIES_MAX: u32 = 1;
/// How many near names an unknown tool's error lists.
pub const AGENT_NEAR_NAMES_MAX: usize = 3;
