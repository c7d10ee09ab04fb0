//! A memory as the wire shows it, and the sets its members come from.
//!
//! Must not know: how it is found or changed.

use crate::wire::{Open, Timestamp, params, result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What sort of knowledge a memory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    /// Facts and events.
    Episodic,
    /// Preferences and profile.
    Semantic,
    /// Conclusions that can be used again.
    Procedural,
}

/// What a memory is about; decides its half-life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Category {
    /// Who somebody is.
    Identity,
    /// What somebody likes.
    Preference,
    /// What must or must not be.
    Constraint,
    /// What is aimed at.
    Goal,
    /// What is so.
    Fact,
    /// What happened.
    Event,
    /// What was found out.
    Conclusion,
    /// None of these.
    Other,
}

/// Where a memory stands in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Status {
    /// Current, and found by default.
    Active,
    /// A later memory took its place.
    Superseded,
    /// Put away; found only when asked for.
    Archived,
}

params! {
    /// Where a memory comes from. Every member is the caller's own text.
    #[derive(Eq)]
    Source {
        /// Conversation or document.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
        /// Place in it, counted from 0.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        position: Option<u64>,
        /// Who said it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        speaker: Option<String>,
        /// Which program brought it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        program: Option<String>,
        /// Where it can be read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        uri: Option<String>,
    }
}

/// How `occurredAt` was known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum OccurredAtSource {
    /// The caller gave it.
    Given,
    /// Nothing was given: it is the time of recording.
    Recorded,
    /// Nothing was given, and the words themselves tell it: the beginning of `told.occurredFrom`.
    Text,
}

result! {
    /// What the words of a memory tell of time: derived whenever it is read, the words stay as they were said. Relative words count
    /// from `occurredAt` as given, else from the time of recording, at the caller's offset. Ends are exclusive.
    #[derive(Eq, Default)]
    Told {
        /// When what they tell happened, or is to happen: from then,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        occurred_from: Option<Timestamp>,
        /// to then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        occurred_to: Option<Timestamp>,
        /// They hold from then on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        valid_from: Option<Timestamp>,
        /// They hold until then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        valid_to: Option<Timestamp>,
    }
}

result! {
    /// A whole memory: its current version.
    Memory {
        /// Random UUID; its first 8 characters usually tell it apart.
        id: String,
        /// Current version, counted from 1.
        version: u32,
        /// Space it belongs to.
        space: String,
        /// What sort of knowledge.
        kind: Open<Kind>,
        /// What it is about.
        category: Open<Category>,
        /// The words.
        text: String,
        /// The caller's labels.
        tags: Vec<String>,
        /// Names it mentions.
        entities: Vec<String>,
        /// Where it comes from, oldest first.
        sources: Vec<Source>,
        /// How many times it was told.
        seen_count: u32,
        /// 0 to 1.
        importance: f32,
        /// Where it stands.
        status: Open<Status>,
        /// Never decays.
        pinned: bool,
        /// When its first version was recorded.
        created_at: Timestamp,
        /// When its current version was recorded.
        updated_at: Timestamp,
        /// When it happened.
        occurred_at: Timestamp,
        /// Whether `occurredAt` was given, is told by the words, or is the time of recording.
        occurred_at_source: Open<OccurredAtSource>,
        /// What the words tell of time, where they do.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        told: Option<Told>,
        /// True from then.
        #[serde(skip_serializing_if = "Option::is_none")]
        valid_from: Option<Timestamp>,
        /// True until then.
        #[serde(skip_serializing_if = "Option::is_none")]
        valid_to: Option<Timestamp>,
        /// When it was last put to use.
        #[serde(skip_serializing_if = "Option::is_none")]
        last_used_at: Option<Timestamp>,
        /// How often it was put to use.
        use_count: u64,
        /// The memory that took its place.
        #[serde(skip_serializing_if = "Option::is_none")]
        superseded_by: Option<String>,
        /// The memory whose place it took.
        #[serde(skip_serializing_if = "Option::is_none")]
        supersedes: Option<String>,
        /// Ids of open conflicts with it.
        #[serde(default)]
        conflicts: Vec<String>,
    }
}
