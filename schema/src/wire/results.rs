//! `result/get` and `result/search`: what tools answered, whole.
//!
//! A reference is the session's id and the result's number in it: `<session>:r<number>`. Must not know: what a model read of it.

use super::{Open, Timestamp, params, result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a stored text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ResultFormat {
    /// Words.
    Text,
    /// A JSON object or array.
    Json,
}

params! {
    /// A stretch of a text, in Unicode scalar values.
    ResultRange {
        /// The first.
        from: u64,
        /// One past the last; to the end, or as much as one answer holds, when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<u64>,
    }
}

params! {
    /// Params of `result/get`.
    ResultGetParams {
        /// The reference.
        #[serde(rename = "ref")]
        reference: String,
        /// The stretch wanted; from the beginning when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        range: Option<ResultRange>,
        /// Of JSON: the value at this place (JSON Pointer, RFC 6901); `range` is then within it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
    }
}

result! {
    /// Result of `result/get`.
    StoredResult {
        /// The reference.
        #[serde(rename = "ref")]
        reference: String,
        /// The session.
        session_id: String,
        /// The turn.
        turn_id: String,
        /// The call it answers; absent for what a person pasted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call_id: Option<String>,
        /// The tool; absent for what a person pasted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool: Option<String>,
        /// What it is.
        format: Open<ResultFormat>,
        /// Whether the tool failed.
        is_error: bool,
        /// Characters of what is asked for, whole.
        chars: u64,
        /// Tokens of the stored text, estimated.
        tokens: u64,
        /// When it was stored.
        created_at: Timestamp,
        /// Place of `text` in it.
        from: u64,
        /// The text.
        text: String,
        /// Where the next part begins, if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next_from: Option<u64>,
    }
}

params! {
    /// Params of `result/search`: within one result, or within all of a session.
    ResultSearchParams {
        /// The result.
        #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
        reference: Option<String>,
        /// The session, where no result is named.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session_id: Option<String>,
        /// Words looked for; the newest come first when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        query: Option<String>,
        /// Stored after this instant.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<Timestamp>,
        /// Stored before this instant.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<Timestamp>,
        /// Passages at most; 5 when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    }
}

result! {
    /// A passage of a result.
    ResultPassage {
        /// The reference; absent where the result is short and stands in its message.
        #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
        reference: Option<String>,
        /// The call it answers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call_id: Option<String>,
        /// The tool.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool: Option<String>,
        /// The turn.
        turn_id: String,
        /// When it was stored.
        created_at: Timestamp,
        /// Place of the passage, in Unicode scalar values.
        from: u64,
        /// The passage.
        text: String,
        /// How well it fits; 0 where nothing was asked.
        score: f32,
    }
}

result! {
    /// Result of `result/search`.
    ResultSearchResult {
        /// Best first, or newest first.
        items: Vec<ResultPassage>,
    }
}
