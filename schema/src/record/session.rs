//! Sessions, their messages, turns and events.
//!
//! Must not know: how a turn runs.

use serde::{Deserialize, Serialize};

/// Metadata of a session, apart from its messages.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRecord {
    /// Internal key: the store sequence at which it was made.
    pub key: u64,
    /// Random UUID.
    pub id: [u8; 16],
    /// Space id.
    pub space: u32,
    /// Title.
    pub title: String,
    /// Working folder.
    pub cwd: Option<String>,
    /// Model named for it.
    pub model: Option<String>,
    /// Names of the spaces read beside its own.
    pub also_read: Vec<String>,
    /// When it was made, Unix ms.
    pub created_at_ms: i64,
    /// When something was last added, Unix ms.
    pub updated_at_ms: i64,
    /// Messages stored; the next position.
    pub message_count: u64,
    /// Turns stored.
    pub turn_count: u64,
    /// Number of the newest event.
    pub event_seq: u64,
}

/// One message. Its content is the wire's JSON, kept as text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageRecord {
    /// Place in the session, from 0.
    pub position: u64,
    /// Turn it belongs to.
    pub turn: [u8; 16],
    /// 0 user, 1 assistant, 2 tool.
    pub role: u8,
    /// JSON array of content blocks.
    pub content_json: String,
    /// When it was stored, Unix ms.
    pub created_at_ms: i64,
    /// The stream ended before the message did.
    pub partial: bool,
}

/// One turn.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnRecord {
    /// Random UUID.
    pub id: [u8; 16],
    /// Key of its session.
    pub session: u64,
    /// See `convert::turn_status_code`.
    pub status: u8,
    /// See `convert::termination_code`; none while it runs.
    pub termination: Option<u8>,
    /// Last text of the model.
    pub text: String,
    /// Error object as JSON, when something failed.
    pub error_json: Option<String>,
    /// Tokens in.
    pub input_tokens: u64,
    /// Tokens out.
    pub output_tokens: u64,
    /// Model calls.
    pub model_calls: u32,
    /// Tool calls.
    pub tool_calls: u32,
    /// Limit of model calls.
    pub steps_max: u32,
    /// Limit of tokens; 0 is none.
    pub tokens_max: u64,
    /// Limit of time in ms; 0 is none.
    pub time_ms_max: u64,
    /// Keys of the memories put into its context.
    pub recalled: Vec<u64>,
    /// What was said, a JSON array of content blocks, while the turn waits in line; empty once it is a message.
    pub input_json: String,
    /// When it was started, Unix ms.
    pub created_at_ms: i64,
    /// When it ended, Unix ms.
    pub ended_at_ms: Option<i64>,
}

/// What is told of a turn beside its row. JSON, so that it can grow without a new record.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnDetailsRecord {
    /// A JSON object.
    pub details_json: String,
}

/// A result of a tool, or text that a person pasted, kept whole apart from its message.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultRecord {
    /// Number in its session, from 1.
    pub number: u64,
    /// Turn it belongs to.
    pub turn: [u8; 16],
    /// The call it answers; empty for what a person pasted.
    pub call_id: String,
    /// The tool; empty for what a person pasted.
    pub tool: String,
    /// 0 text, 1 JSON.
    pub format: u8,
    /// The tool failed.
    pub is_error: bool,
    /// Characters of the whole.
    pub chars: u64,
    /// Tokens of the whole, estimated.
    pub tokens: u64,
    /// Parts it lies in.
    pub parts: u32,
    /// One line about it.
    pub brief: String,
    /// When it was stored, Unix ms.
    pub created_at_ms: i64,
}

/// A part of such a text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultPartRecord {
    /// The text.
    pub text: String,
}

/// A question of a turn to a person.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionRecord {
    /// Random UUID.
    pub id: [u8; 16],
    /// Key of its session.
    pub session: u64,
    /// The turn that asked.
    pub turn: [u8; 16],
    /// The call that asked.
    pub call_id: String,
    /// 0 words, 1 leave to do something.
    pub kind: u8,
    /// The question.
    pub prompt: String,
    /// Answers that suggest themselves.
    pub options: Vec<String>,
    /// SHA-256 of the call's arguments as canonical JSON.
    pub arguments_hash: [u8; 32],
    /// 0 pending, 1 answered, 2 withdrawn.
    pub state: u8,
    /// What was answered.
    pub answer: Option<String>,
    /// When it was asked, Unix ms.
    pub created_at_ms: i64,
    /// When it was settled, Unix ms.
    pub settled_at_ms: Option<i64>,
}

/// What is known of a session's task beside its messages. JSON, so that it can grow without a new record.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionStateRecord {
    /// A JSON object.
    pub state_json: String,
}

/// One durable event of a session. Its params are the wire's JSON, kept as text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventRecord {
    /// Number in its session, from 1.
    pub event_seq: u64,
    /// Name of the notification.
    pub method: String,
    /// Its params as JSON.
    pub params_json: String,
}
