//! `memory/feedback`.
//!
//! Must not know: what it does to scores.

use super::Feature;
use crate::wire::{params, result};

params! {
    /// Params of `memory/feedback`: what became of the hits of a recall. Another word on the same recall takes the first back.
    FeedbackParams {
        /// The recall, as `memory/recall` and `memory/context` name it.
        recall_id: String,
        /// Memories that were put to use.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        used: Option<Vec<String>>,
        /// Memories that were of no use.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ignored: Option<Vec<String>>,
        /// Memories that were wrong.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wrong: Option<Vec<String>>,
        /// Idempotency key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    }
}

result! {
    /// What feedback does to a score.
    ExplainFeedback {
        /// What the score is multiplied with: 1 and the features, values times weights, between 0.45 and 1.
        factor: f32,
        /// `wrong` and `ignored`: how often, and what one of them weighs.
        features: Vec<Feature>,
    }
}
