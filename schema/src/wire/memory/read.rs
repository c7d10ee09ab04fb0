//! `memory/get` and `memory/list`.
//!
//! Must not know: how pages are cut.

use super::{Filter, Memory};
use crate::wire::{Page, params};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

params! {
    /// Params of `memory/get`.
    GetParams {
        /// The id, or a prefix of 8 characters or more that fits one memory only.
        id: String,
    }
}

/// Order of a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ListOrder {
    /// Newest recorded first.
    #[default]
    Newest,
    /// Oldest recorded first.
    Oldest,
}

params! {
    /// Params of `memory/list`.
    ListParams {
        /// Space; `personal` when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        space: Option<String>,
        /// What may be listed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        filter: Option<Filter>,
        /// Only memories that contain this text, case folded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// Order.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        order: Option<ListOrder>,
        /// From the page before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cursor: Option<String>,
        /// Items at most; 50 when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    }
}

/// Result of `memory/list`.
pub type ListResult = Page<Memory>;
