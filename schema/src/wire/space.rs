//! `space/list`, `space/update` and `space/delete`.
//!
//! Must not know: the memories inside.

use super::{Page, Timestamp, params, result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

params! {
    /// Params of `space/list`.
    SpaceListParams {
        /// From the page before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cursor: Option<String>,
        /// Items at most.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    }
}

result! {
    /// One space.
    SpaceItem {
        /// Its flat name.
        name: String,
        /// Memories in it that are not forgotten.
        memories: u64,
        /// When it was first written to.
        created_at: Timestamp,
        /// Its rules, where it has some.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rules: Option<SpaceRules>,
    }
}

/// How strict the write gate of a space is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Gate {
    /// What is not worth keeping is refused; a statement that no rule knows passes.
    #[default]
    Normal,
    /// Nothing is refused for what it says; secrets are.
    Off,
    /// Of what programs and models would keep only identity, preferences, constraints, goals and conclusions, and what they label.
    Strict,
}

/// What becomes of memories that outlive the retention of their space.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RetentionAct {
    /// They are archived.
    #[default]
    Archive,
    /// They are forgotten; `memory/undo` brings them back for seven days.
    Forget,
}

/// What becomes of secrets in a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Secrets {
    /// The text is refused.
    #[default]
    Refuse,
    /// `[redacted:KIND]` stands in the place of each, in the text of `memory/remember` and `memory/rememberMany`; elsewhere refused.
    Redact,
}

/// A rule that `space/update` can take away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SpaceRule {
    /// Memories are kept.
    Retention,
    /// The gate is normal.
    Gate,
    /// Secrets are refused.
    Secrets,
    /// Everybody may read.
    Readers,
    /// Everybody may write.
    Writers,
    /// No bounds.
    Quota,
}

params! {
    /// Somebody whom a rule names. Where both are given both must fit.
    Principal {
        /// Absolute path of the executable, as the kernel names it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        executable: Option<String>,
        /// Name that the client gives in `initialize`, with or without `/version`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        client: Option<String>,
    }
}

params! {
    /// How long memories that are not pinned stay.
    Retention {
        /// Days since they were recorded.
        days: u32,
        /// What becomes of them then; `archive` when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        then: Option<RetentionAct>,
    }
}

params! {
    /// What a space may hold; what goes beyond is refused.
    Quota {
        /// Memories, forgotten ones not counted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        memories: Option<u64>,
        /// Bytes of their texts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bytes: Option<u64>,
    }
}

result! {
    /// The rules of a space.
    SpaceRules {
        /// How long memories stay; for good when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retention: Option<Retention>,
        /// How strict the write gate is.
        gate: Gate,
        /// What becomes of secrets.
        secrets: Secrets,
        /// Who may read; everybody when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        readers: Option<Vec<Principal>>,
        /// Who may write; everybody when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        writers: Option<Vec<Principal>>,
        /// What it may hold.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        quota: Option<Quota>,
    }
}

params! {
    /// Params of `space/update`: the rules given change, the others stay.
    SpaceUpdateParams {
        /// Name of the space; it is made when there is none.
        space: String,
        /// How long memories stay.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retention: Option<Retention>,
        /// How strict the write gate is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gate: Option<Gate>,
        /// What becomes of secrets.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        secrets: Option<Secrets>,
        /// Who may read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        readers: Option<Vec<Principal>>,
        /// Who may write, and change the rules; so may the `tiro` that stands beside the daemon.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        writers: Option<Vec<Principal>>,
        /// What the space may hold.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        quota: Option<Quota>,
        /// Rules to take away.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        clear: Option<Vec<SpaceRule>>,
        /// Idempotency key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    }
}

result! {
    /// Result of `space/update`.
    SpaceUpdateResult {
        /// The space.
        space: String,
        /// Its rules now.
        rules: SpaceRules,
        /// Sequence token of the write.
        seq: String,
    }
}

/// Result of `space/list`.
pub type SpaceListResult = Page<SpaceItem>;

params! {
    /// Params of `space/delete`: every memory of the space is forgotten.
    SpaceDeleteParams {
        /// Its name.
        space: String,
        /// Only count.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        dry_run: Option<bool>,
        /// Idempotency key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    }
}
