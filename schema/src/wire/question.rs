//! `question/*`: what a turn asks a person, kept until somebody answers.
//!
//! Must not know: who can answer.

use super::{Open, Timestamp, params, result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum QuestionKind {
    /// Words: the model needs to know something.
    AskUser,
    /// Leave to do something.
    Approval,
}

/// Where a question stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum QuestionState {
    /// Nobody answered yet.
    Pending,
    /// Somebody did.
    Answered,
    /// Its turn was cancelled.
    Withdrawn,
}

result! {
    /// A question of a turn.
    Question {
        /// Random UUID.
        question_id: String,
        /// Its session.
        session_id: String,
        /// The turn that asked.
        turn_id: String,
        /// The call that asked.
        call_id: String,
        /// What is asked for.
        kind: Open<QuestionKind>,
        /// The question, in the model's words.
        prompt: String,
        /// Answers that suggest themselves; another is possible.
        options: Vec<String>,
        /// Where it stands.
        state: Open<QuestionState>,
        /// What was answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<String>,
        /// When it was asked.
        created_at: Timestamp,
        /// When it was settled.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        settled_at: Option<Timestamp>,
    }
}

params! {
    /// Params of `question/list`: of a session, all; of a space, those that wait for an answer.
    QuestionListParams {
        /// The session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session_id: Option<String>,
        /// The space, where no session is named; `personal` when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        space: Option<String>,
    }
}

result! {
    /// Result of `question/list`, oldest first.
    QuestionListResult {
        /// The questions.
        items: Vec<Question>,
    }
}

params! {
    /// Params of `question/respond`.
    QuestionRespondParams {
        /// The question.
        question_id: String,
        /// The answer.
        answer: String,
        /// Idempotency key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    }
}

result! {
    /// Result of `question/respond`.
    QuestionRespondResult {
        /// The turn that goes on with the answer: the one that asked, or a new one where that had ended.
        turn_id: String,
    }
}

result! {
    /// Params of `question/pending` and `question/resolved`.
    QuestionEvent {
        /// The session.
        session_id: String,
        /// Number of this event in its session, from 1; 0 where it is offered to a client that does not follow the session.
        event_seq: u64,
        /// When.
        at: Timestamp,
        /// The question as it stands.
        question: Question,
    }
}
