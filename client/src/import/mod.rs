//! Imports of what people already have: one file a format, each a reader that turns a stream into lines for `memory/import`.
//!
//! A reader holds one conversation, one line or one passage at a time, whatever the size of what it reads; it knows no daemon and no
//! terminal. Every line has an id made of where it comes from ([`id`]), so that the same source told again adds nothing and a source that
//! changed changes what it brought. Must not know: how lines are sent, or what is shown meanwhile.

pub mod chatgpt;
pub mod claude;
pub mod claude_code;
pub mod codex;
pub mod document;
pub mod elements;
pub mod folder;
pub mod front_matter;
pub mod graph;
pub mod id;
pub mod lines;
pub mod markdown;
pub mod mem0;
pub mod native;
pub mod noise;
pub mod recognise;
pub mod said;
pub mod sink;
pub mod split;
pub mod talk;
pub mod text;
pub mod time;

pub use sink::{Place, Sink, Stop};

use std::io::BufRead;

/// What a stream holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON Lines as `tiro export` writes them.
    Native,
    /// `conversations.json` of a ChatGPT export.
    ChatGpt,
    /// `conversations.json` of a Claude export.
    Claude,
    /// A session transcript of Claude Code.
    ClaudeCode,
    /// A session (rollout) of Codex.
    Codex,
    /// Markdown.
    Markdown,
    /// A dump of mem0.
    Mem0,
    /// `memory.jsonl` of the MCP memory server.
    McpMemory,
    /// Plain text.
    Text,
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 9] = [
        Format::Native,
        Format::ChatGpt,
        Format::Claude,
        Format::ClaudeCode,
        Format::Codex,
        Format::Markdown,
        Format::Mem0,
        Format::McpMemory,
        Format::Text,
    ];

    /// Its name: of the option `--format`, and what `source.program` says of each memory that it brought.
    pub fn name(self) -> &'static str {
        match self {
            Format::Native => "native",
            Format::ChatGpt => "chatgpt",
            Format::Claude => "claude",
            Format::ClaudeCode => "claude-code",
            Format::Codex => "codex",
            Format::Markdown => "markdown",
            Format::Mem0 => "mem0",
            Format::McpMemory => "mcp-memory",
            Format::Text => "text",
        }
    }

    /// What one item of it is called, and many.
    pub fn items(self) -> (&'static str, &'static str) {
        match self {
            Format::Native => ("line", "lines"),
            Format::ChatGpt | Format::Claude | Format::ClaudeCode | Format::Codex => ("turn", "turns"),
            Format::Markdown | Format::Text => ("passage", "passages"),
            Format::Mem0 => ("memory", "memories"),
            Format::McpMemory => ("fact", "facts"),
        }
    }

    /// Whether it is a document that is kept in step: what a later run does not find in it is retired.
    pub fn is_document(self) -> bool {
        matches!(self, Format::Markdown | Format::Text)
    }
}

/// Which branches of a conversation count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Branches {
    /// The one that the conversation shows; what stands beside it is counted as skipped.
    #[default]
    Current,
    /// The others too, each as a conversation of its own.
    All,
}

/// What holds for every line of an import.
#[derive(Debug, Clone)]
pub struct Setting {
    /// The space everything goes into; part of every id.
    pub space: String,
    /// Which branches count.
    pub branches: Branches,
    /// The name of the stream where it is known (a file's path), for formats that do not name their conversations.
    pub name: String,
}

/// Reads a stream to its end.
///
/// # Errors
/// [`Stop`]: nobody takes the lines any more, or the stream cannot be read.
pub fn read(format: Format, input: &mut dyn BufRead, setting: &Setting, sink: &mut Sink) -> Result<(), Stop> {
    match format {
        Format::Native => native::read(input, sink),
        Format::ChatGpt => chatgpt::read(input, setting, sink),
        Format::Claude => claude::read(input, setting, sink),
        Format::ClaudeCode => claude_code::read(input, setting, sink),
        Format::Codex => codex::read(input, setting, sink),
        Format::Mem0 => mem0::read(input, setting, sink),
        Format::McpMemory => graph::read(input, setting, sink),
        Format::Markdown | Format::Text => document::read(format, input, setting, sink),
    }
}
