//! `turn/start`, `turn/steer`, `turn/wait`, `turn/get` and `turn/interrupt`.
//!
//! Must not know: the loop that runs them.

use super::session::ContentBlock;
use super::{Open, Timestamp, params, result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a person or program says: text, or blocks of content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum TurnInput {
    /// Text.
    Text(String),
    /// Blocks; text blocks only in this protocol version.
    Blocks(Vec<ContentBlock>),
}

impl Default for TurnInput {
    fn default() -> Self {
        TurnInput::Text(String::new())
    }
}

/// What to do when the session has a running turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum IfBusy {
    /// Wait in line.
    #[default]
    Queue,
    /// Answer `sessionBusy`.
    Reject,
    /// Say it to the running turn; begin one where none runs.
    Steer,
}

/// What kind of task a turn is; it says how many steps the turn gets where its budget does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TaskKind {
    /// One look and an answer: 3 steps.
    Question,
    /// Looks that depend on each other, or one action: 8 steps.
    MultiHop,
    /// Several actions: 15 steps.
    Orchestration,
}

params! {
    /// Bounds of one turn.
    Budget {
        /// Model calls at most.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        steps: Option<u32>,
        /// Tokens at most, in and out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tokens: Option<u64>,
        /// Milliseconds at most.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ms: Option<u64>,
    }
}

params! {
    /// Params of `turn/start`.
    TurnStartParams {
        /// The session.
        session_id: String,
        /// What is said.
        input: TurnInput,
        /// What to do when a turn runs; queue when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        if_busy: Option<IfBusy>,
        /// Bounds of the turn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        budget: Option<Budget>,
        /// What kind of task it is; judged by the words of the input when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task_kind: Option<TaskKind>,
        /// Idempotency key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    }
}

result! {
    /// Result of `turn/start` and `turn/steer`.
    TurnStartResult {
        /// Random UUID.
        turn_id: String,
    }
}

params! {
    /// Params of `turn/steer`: the model reads the input before its next call.
    TurnSteerParams {
        /// The turn.
        turn_id: String,
        /// What is said.
        input: TurnInput,
        /// Idempotency key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    }
}

params! {
    /// Params of `turn/wait`.
    TurnWaitParams {
        /// The turn.
        turn_id: String,
        /// Milliseconds to wait at most; the answer is then the state so far.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout_ms: Option<u64>,
    }
}

params! {
    /// Params of `turn/get` and `turn/interrupt`.
    TurnIdParams {
        /// The turn.
        turn_id: String,
    }
}

/// Where a turn stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TurnStatus {
    /// Waits for the turn before it.
    Queued,
    /// Runs.
    Running,
    /// Ended as it should.
    Completed,
    /// Ended by its caller.
    Cancelled,
    /// Ended by a failure; `terminationReason` says which.
    Failed,
    /// Ended by a crash or stop of the daemon.
    Interrupted,
}

/// Why a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TerminationReason {
    /// The model finished.
    Completed,
    /// The model gave up.
    GaveUp,
    /// A person has to answer.
    NeedsInput,
    /// The step limit was reached.
    StepLimit,
    /// The same call again and again.
    DuplicateCall,
    /// Nothing new came in.
    NoProgress,
    /// The same error again and again.
    RepeatedError,
    /// Its caller ended it.
    Cancelled,
    /// The daemon stopped or crashed.
    Interrupted,
    /// A budget was used up.
    Budget,
    /// The model provider failed.
    ModelError,
    /// The model's output limit was reached.
    OutputLimit,
    /// The context did not fit the model.
    ContextOverflow,
    /// A rule or a person forbade it.
    PermissionDenied,
}

result! {
    /// What a turn used.
    #[derive(Default)]
    Usage {
        /// Tokens the provider counted in.
        input_tokens: u64,
        /// Tokens the provider counted out.
        output_tokens: u64,
        /// Model calls.
        model_calls: u32,
        /// Tool calls.
        tool_calls: u32,
    }
}

result! {
    /// What a part of a context took.
    ContextPart {
        /// `system`, `tools`, `memory`, `summary`, `history`, `input`, `results` or `output`.
        part: String,
        /// Tokens, estimated.
        tokens: u32,
        /// Tokens it may take.
        budget: u32,
    }
}

result! {
    /// What the largest context of a turn was made of.
    ContextReport {
        /// Tokens of the model's window.
        window: u32,
        /// Tokens of the context, estimated.
        tokens: u32,
        /// Whether it passes half of the window, as what was said newest does not fit.
        is_over: bool,
        /// Earlier turns that are whole in it.
        turns_shown: u64,
        /// Earlier turns that stand in the summary.
        turns_folded: u64,
        /// Results of tools that were left out to make room.
        results_left_out: u32,
        /// Its parts, in their order.
        parts: Vec<ContextPart>,
    }
}

result! {
    /// A turn: result of `turn/wait`, `turn/get` and `turn/interrupt`.
    Turn {
        /// Random UUID.
        turn_id: String,
        /// Its session.
        session_id: String,
        /// Where it stands.
        status: Open<TurnStatus>,
        /// Why it ended; absent while it runs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        termination_reason: Option<Open<TerminationReason>>,
        /// The last text of the model.
        text: String,
        /// What it used.
        usage: Usage,
        /// Model calls so far.
        steps: u32,
        /// Model calls with tools at most.
        #[serde(default)]
        steps_max: u32,
        /// What kind of task it is taken for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task_kind: Option<Open<TaskKind>>,
        /// Who said so: `caller`, or the rule.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task_kind_by: Option<String>,
        /// What its largest context was made of; absent before its first model call ends.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context: Option<ContextReport>,
        /// What failed, when something did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<crate::error::ErrorObject>,
        /// Ids of the memories put into its context.
        #[serde(default)]
        recalled: Vec<String>,
        /// When it was started.
        created_at: Timestamp,
        /// When it ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ended_at: Option<Timestamp>,
    }
}
