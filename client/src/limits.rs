//! Every limit of the client, named, with its unit.
//!
//! Must not know: what the limits protect in the daemon; those come with `initialize`.

use std::time::Duration;

/// Bytes of one line the client reads from the daemon at most; a longer one ends the connection.
pub const FRAME_BYTES_MAX: usize = 64 << 20;
/// Frames that may wait to be written.
pub const OUTGOING_FRAMES_MAX: usize = 64;
/// Notifications that may wait to be taken; the daemon is then read no further until some are.
pub const NOTIFICATIONS_MAX: usize = 1024;
/// How long a daemon that was started, or is starting, may take until it answers.
pub const START_MAX: Duration = Duration::from_secs(120);
/// How often a daemon is started while one that is ending still holds its lock.
pub const START_TRIES_MAX: u32 = 12;
/// Longest wait before it is started again.
pub const START_PAUSE_MAX: Duration = Duration::from_secs(1);
/// How long the first answer of a daemon that runs may take.
pub const HANDSHAKE_MAX: Duration = Duration::from_secs(60);
/// How long the daemon may keep a person waiting before that is told.
pub const WAIT_TOLD: Duration = Duration::from_millis(700);
/// How long a daemon that was told to stop may take.
pub const STOP_MAX: Duration = Duration::from_secs(30);
/// How long a daemon that holds the store, and answers nowhere, may take until it answers or lets go.
pub const HELD_MAX: Duration = Duration::from_secs(15);
/// The same for a command that only looks at the daemon or stops it: longer than the daemon takes to see that its socket is gone.
pub const UNREACHED_MAX: Duration = Duration::from_secs(6);
/// First wait between two looks at a socket that is not there yet.
pub const PROBE_MIN: Duration = Duration::from_millis(2);
/// Longest wait between two looks.
pub const PROBE_MAX: Duration = Duration::from_millis(50);
/// How long the last events of a turn may come behind its end.
pub const LAST_EVENTS_MAX: Duration = Duration::from_secs(2);
/// Bytes of the daemon's log above which a new start begins a new file and keeps one old one.
pub const LOG_BYTES_MAX: u64 = 8 << 20;
/// Lines of the daemon's log shown when it ends early.
pub const LOG_TAIL_LINES: usize = 12;
/// Bytes read from the end of a log to find its last lines.
pub const LOG_TAIL_BYTES: u64 = 256 << 10;
/// Bytes taken from standard input as one text.
pub const STDIN_BYTES_MAX: u64 = 4 << 20;
/// Lines of one batch of an import.
pub const IMPORT_BATCH_LINES: usize = 500;
/// Bytes of one batch of an import.
pub const IMPORT_BATCH_BYTES: usize = 1 << 20;
/// Bytes of one line of an import.
pub const IMPORT_LINE_BYTES_MAX: usize = 1 << 20;
/// Refused lines an import keeps for its report.
pub const IMPORT_REFUSED_MAX: usize = 1000;
/// Pages in which one command forgets what a filter fits.
pub const FORGET_PAGES_MAX: usize = 2_000;
/// Items asked for in one page of a list or an export.
pub const PAGE_ITEMS: u32 = 200;

/// Between two looks at how far a model's vectors are.
pub const EMBEDDING_LOOK: Duration = Duration::from_millis(200);
/// Bytes of a `.tiro.toml` at most.
pub const WORKSPACE_FILE_BYTES_MAX: u64 = 64 << 10;
/// Folders looked into for a `.tiro.toml`: the working folder and those above it.
pub const WORKSPACE_PARENTS_MAX: usize = 64;

/// Bytes of one line that a host of MCP may send; a longer one is answered with an error and skipped.
pub const MCP_LINE_BYTES_MAX: usize = 1 << 20;
/// Bytes kept of both ends of a line that is too long, to find the id of its request.
pub const MCP_LINE_ENDS_BYTES: usize = 512;
/// Requests of one host that may be unanswered; the next line is read when one is answered.
pub const MCP_REQUESTS_MAX: usize = 256;
/// Answers and notifications that may wait to be written to a host.
pub const MCP_OUTGOING_MAX: usize = 64;
/// Calls of one host that may be with the daemon at a time; further ones wait their turn.
pub const MCP_CALLS_MAX: usize = 32;
/// How long one call of a host may take, its turn and a start of the daemon included.
pub const MCP_CALL_MAX: Duration = Duration::from_secs(120);
/// Names of hosts with a connection of their own to the daemon; the least recently used gives way.
pub const MCP_HOSTS_MAX: usize = 32;
/// How long answers that are on their way may take after the host is gone.
pub const MCP_HOST_GONE_MAX: Duration = Duration::from_millis(600);
/// Resources that one host may be subscribed to.
pub const MCP_SUBSCRIPTIONS_MAX: usize = 64;
/// Streams of changes that one host may listen to at a time.
pub const MCP_LISTENS_MAX: usize = 16;
/// Between two looks for changes while somebody is subscribed.
pub const MCP_CHANGE_LOOK: Duration = Duration::from_millis(500);
/// Tokens of the texts of one recall, where the host does not say.
pub const MCP_RECALL_TOKENS: u32 = 8_000;
/// Memories of one page of a list, where the host does not say.
pub const MCP_LIST_ITEMS: u32 = 20;
/// Resources of one page of a list.
pub const MCP_PAGE_RESOURCES: u32 = 100;
/// Characters of a memory's words that name its resource.
pub const MCP_RESOURCE_NAME_CHARS: usize = 60;
/// Characters of a host's name, and of its version.
pub const MCP_HOST_NAME_CHARS_MAX: usize = 48;
/// Bytes of the token of the HTTP transport, at least.
pub const MCP_TOKEN_BYTES_MIN: usize = 16;
/// Bytes of that token, at most.
pub const MCP_TOKEN_BYTES_MAX: usize = 512;
/// Connections over HTTP at a time; further ones wait to be accepted.
pub const MCP_HTTP_CONNECTIONS_MAX: usize = 64;
/// Sessions of hosts of the older era over HTTP.
pub const MCP_HTTP_SESSIONS_MAX: usize = 32;
/// How long such a session may say nothing before it ends.
pub const MCP_HTTP_SESSION_IDLE_MAX: Duration = Duration::from_secs(30 * 60);
/// Bytes of the body of a request.
pub const MCP_HTTP_BODY_BYTES_MAX: usize = 1 << 20;
/// Bytes of the head of a request.
pub const MCP_HTTP_HEAD_BYTES_MAX: usize = 32 << 10;
/// How long the head of a request may take, and a connection may stand idle.
pub const MCP_HTTP_HEAD_MAX: Duration = Duration::from_secs(30);
/// How long the body of a request and what answers it may take; a stream goes on after its first byte.
pub const MCP_HTTP_REQUEST_MAX: Duration = Duration::from_secs(150);

/// Bytes looked at to know the format of a stream.
pub const IMPORT_LOOK_BYTES: usize = 64 << 10;
/// Bytes of one conversation of an export, or of one line of a transcript.
pub const IMPORT_ELEMENT_BYTES_MAX: usize = 64 << 20;
/// Bytes of one document.
pub const IMPORT_DOCUMENT_BYTES_MAX: u64 = 8 << 20;
/// Bytes of a turn above which it becomes several; well within what the daemon takes as one text.
pub const IMPORT_TEXT_BYTES_MAX: usize = 32 << 10;
/// Bytes of a document's passage.
pub const IMPORT_PASSAGE_BYTES_MAX: usize = 4 << 10;
/// Bytes of a tag that an import makes; what the daemon takes.
pub const IMPORT_TAG_BYTES_MAX: usize = 128;
/// Tags of one passage.
pub const IMPORT_TAGS_MAX: usize = 60;
/// Conversations of one transcript whose positions are remembered at a time.
pub const IMPORT_TALKS_OPEN_MAX: usize = 4_096;
/// Batches that may wait to be sent.
pub const IMPORT_BATCHES_WAITING_MAX: usize = 2;
/// Files of one folder.
pub const IMPORT_FILES_MAX: usize = 200_000;
/// Folders within folders.
pub const IMPORT_FOLDERS_DEEP_MAX: usize = 64;
/// Ids of one call that retires.
pub const IMPORT_RETIRE_IDS: usize = 1_000;
/// Between two notes of how far an import is.
pub const IMPORT_NOTE_EVERY: Duration = Duration::from_millis(500);
/// How often a batch is sent that the daemon has no room for.
pub const IMPORT_TRIES_MAX: u32 = 8;
/// First wait before it is sent again; doubled each time.
pub const IMPORT_PAUSE: Duration = Duration::from_millis(200);
/// Changes of a watched folder that may wait; with more the whole folder is looked through.
pub const WATCH_EVENTS_MAX: usize = 4_096;
/// How long a watched folder has to be quiet before its changes are taken.
pub const WATCH_QUIET: Duration = Duration::from_millis(300);
/// How long its changes wait at most, quiet or not.
pub const WATCH_PATIENCE: Duration = Duration::from_secs(3);
/// Between two looks through a whole watched folder, for changes that were not told (of a network's file system).
pub const WATCH_ROUND: Duration = Duration::from_secs(600);
/// First wait before a daemon that did not answer is tried again, and the longest.
pub const WATCH_PAUSE_MIN: Duration = Duration::from_millis(500);
/// The longest such wait.
pub const WATCH_PAUSE_MAX: Duration = Duration::from_secs(30);
/// How long a hook waits for the daemon and its answer when it is not told otherwise.
pub const HOOK_WAIT: Duration = Duration::from_millis(500);
/// Bytes of what a host tells a hook.
pub const HOOK_BYTES_MAX: u64 = 4 << 20;
