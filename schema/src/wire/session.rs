//! `session/*`: metadata, kept apart from the messages.
//!
//! Must not know: how a turn runs.

use super::{Open, Page, Timestamp, params, result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

params! {
    /// Params of `session/new`.
    SessionNewParams {
        /// Space it belongs to; `personal` when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        space: Option<String>,
        /// Title.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// Working folder of the client, absolute.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cwd: Option<String>,
        /// Model for its turns; the configured one when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// Spaces it reads beside its own; `personal` when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        also_read: Option<Vec<String>>,
        /// Idempotency key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    }
}

result! {
    /// Result of `session/new`.
    SessionNewResult {
        /// Random UUID.
        session_id: String,
    }
}

params! {
    /// Names one session, by id or a unique prefix of 8 characters or more.
    SessionIdParams {
        /// The session.
        session_id: String,
    }
}

result! {
    /// Metadata of a session.
    Session {
        /// Random UUID.
        session_id: String,
        /// Space it belongs to.
        space: String,
        /// Title; empty until one is given.
        title: String,
        /// `idle` or `running`.
        state: String,
        /// Spaces it reads beside its own.
        also_read: Vec<String>,
        /// Working folder, when one was given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cwd: Option<String>,
        /// Model, when one was named.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// When it was made.
        created_at: Timestamp,
        /// When something was last added.
        updated_at: Timestamp,
        /// Messages in it.
        message_count: u64,
        /// Turns in it.
        turn_count: u64,
        /// Number of its newest durable event; 0 before the first.
        event_seq: u64,
    }
}

params! {
    /// Params of `session/list`.
    SessionListParams {
        /// Space; `personal` when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        space: Option<String>,
        /// From the page before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cursor: Option<String>,
        /// Items at most; 50 when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    }
}

/// Result of `session/list`, newest first.
pub type SessionListResult = Page<Session>;

params! {
    /// Params of `session/update`.
    SessionUpdateParams {
        /// The session.
        session_id: String,
        /// New title.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// New model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// New spaces to read beside its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        also_read: Option<Vec<String>>,
        /// Idempotency key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    }
}

params! {
    /// Params of `session/delete`: the session with its messages, turns and events.
    SessionDeleteParams {
        /// The session.
        session_id: String,
        /// Idempotency key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    }
}

result! {
    /// Result of `session/delete`.
    SessionDeleteResult {
        /// Messages removed.
        messages: u64,
    }
}

params! {
    /// Params of `session/messages`.
    SessionMessagesParams {
        /// The session.
        session_id: String,
        /// From the page before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cursor: Option<String>,
        /// Items at most; 50 when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    }
}

/// Who a message is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Role {
    /// The person or program.
    User,
    /// The model.
    Assistant,
    /// A tool's result.
    Tool,
}

/// A block of content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ContentBlock {
    /// Words.
    Text {
        /// The words.
        text: String,
    },
    /// What a model thought, opaque to Tiro.
    Thinking {
        /// Readable part, may be empty.
        text: String,
        /// The provider's own block, byte for byte.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        opaque: Option<String>,
    },
    /// A tool call.
    ToolCall {
        /// The model's id of the call.
        call_id: String,
        /// Tool.
        name: String,
        /// Arguments; a string where they were not valid JSON.
        arguments: Value,
    },
    /// The result of a tool call.
    ToolResult {
        /// The call it answers.
        call_id: String,
        /// Tool.
        name: String,
        /// What came back.
        text: String,
        /// True when the tool failed.
        is_error: bool,
        /// Where the whole is kept, when `text` is not all of it.
        #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
        reference: Option<String>,
    },
    /// Long text of a person that is kept whole apart.
    Stored {
        /// What the model reads of it.
        text: String,
        /// Where the whole is kept.
        #[serde(rename = "ref")]
        reference: String,
    },
}

result! {
    /// One message of a session.
    Message {
        /// Place in the session, from 0.
        position: u64,
        /// Turn it belongs to.
        turn_id: String,
        /// Who it is from.
        role: Open<Role>,
        /// Its content.
        content: Vec<ContentBlock>,
        /// When it was stored.
        created_at: Timestamp,
        /// True when a stream ended before the message did.
        partial: bool,
    }
}

/// Result of `session/messages`, oldest first.
pub type SessionMessagesResult = Page<Message>;

params! {
    /// Params of `session/fork`: a new session with what was said up to the end of a turn.
    SessionForkParams {
        /// The session.
        session_id: String,
        /// The last turn that goes along; all that have ended when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn_id: Option<String>,
        /// Title of the new one; the same when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// Idempotency key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    }
}

params! {
    /// Params of `session/export`.
    SessionExportParams {
        /// The session.
        session_id: String,
        /// From the page before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cursor: Option<String>,
        /// Lines at most; 50 when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    }
}

result! {
    /// Result of `session/export`: one line about the session, then one a message.
    SessionExportResult {
        /// The lines.
        lines: Vec<Value>,
        /// For the next page.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next_cursor: Option<String>,
    }
}

params! {
    /// Params of `session/search`.
    SessionSearchParams {
        /// Words looked for.
        query: String,
        /// Space; `personal` when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        space: Option<String>,
        /// Messages at most; 5 when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    }
}

result! {
    /// A message that fits.
    SessionFound {
        /// Its session.
        session_id: String,
        /// Title of the session.
        title: String,
        /// Its place in the session.
        position: u64,
        /// Its turn.
        turn_id: String,
        /// Who it is from.
        role: Open<Role>,
        /// When it was stored.
        created_at: Timestamp,
        /// The passage that fits best.
        text: String,
        /// Share of the words that stand in it, by their weight.
        score: f32,
    }
}

result! {
    /// Result of `session/search`, best first.
    SessionSearchResult {
        /// The messages.
        items: Vec<SessionFound>,
    }
}

result! {
    /// A field that was stated in a session.
    SessionField {
        /// Its name.
        name: String,
        /// Its value, word for word.
        value: String,
        /// The turn it was stated in, from 1.
        turn: u64,
    }
}

result! {
    /// Result of `session/fields`: what was stated, and where the task stands.
    SessionFieldsResult {
        /// `working`, `awaiting` or `done`.
        task: String,
        /// What is being done.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        doing: Option<String>,
        /// What is missing for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        awaiting: Option<String>,
        /// The fields, by name.
        items: Vec<SessionField>,
    }
}

params! {
    /// Params of `session/attach`.
    SessionAttachParams {
        /// The session.
        session_id: String,
        /// Replay events after this number; only live ones when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from_event: Option<u64>,
    }
}

result! {
    /// Result of `session/attach`: replayed events follow as notifications, then live ones.
    SessionAttachResult {
        /// Number of the newest durable event at this moment.
        event_seq: u64,
        /// The turn that is running, if one is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        running_turn: Option<String>,
    }
}

result! {
    /// An empty result.
    Empty {}
}
