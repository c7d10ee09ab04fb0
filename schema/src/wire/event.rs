//! Notifications of the daemon.
//!
//! Started, completed and turn events carry the durable `eventSeq` of their session; deltas carry `(itemId, offset)`
//! and are not stored. Must not know: who listens.

use super::session::ContentBlock;
use super::turn::Turn;
use super::{Open, Timestamp, result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ItemKind {
    /// Text of the model.
    Text,
    /// Thinking of the model.
    Thinking,
    /// A tool call.
    ToolCall,
    /// A tool result.
    ToolResult,
    /// Something the caller should know.
    Notice,
}

result! {
    /// Params of `turn/started` and `turn/completed`.
    TurnEvent {
        /// The session.
        session_id: String,
        /// Number of this event in its session, from 1.
        event_seq: u64,
        /// When.
        at: Timestamp,
        /// The turn as it stands.
        turn: Turn,
    }
}

result! {
    /// Params of `item/started` and `item/completed`.
    ItemEvent {
        /// The session.
        session_id: String,
        /// Number of this event in its session, from 1.
        event_seq: u64,
        /// When.
        at: Timestamp,
        /// The turn.
        turn_id: String,
        /// Unique in the session.
        item_id: String,
        /// What it is.
        kind: Open<ItemKind>,
        /// Whole content; absent on `item/started` of a stream.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<ContentBlock>,
    }
}

result! {
    /// Params of `item/delta`: `text` belongs at character `offset` of the item.
    ItemDelta {
        /// The session.
        session_id: String,
        /// The turn.
        turn_id: String,
        /// The item.
        item_id: String,
        /// Place of the text in the item, in Unicode scalar values.
        offset: u64,
        /// The text.
        text: String,
    }
}

result! {
    /// Params of `events/gap`: the client read too slowly and missed live events.
    EventsGap {
        /// The session.
        session_id: String,
        /// Attach again from the last `eventSeq` seen.
        reason: String,
    }
}

result! {
    /// Params of `daemon/draining`.
    Draining {
        /// Why the daemon stops.
        reason: String,
    }
}
