//! `memory/recall` and `memory/context`.
//!
//! Must not know: how scores come about.

use super::{Category, ExplainFeedback, Kind, OccurredAtSource, Source, Status, Told};
use crate::wire::{Open, Timestamp, params, result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Which legs search.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Mode {
    /// Both legs, fused.
    #[default]
    Hybrid,
    /// Words only.
    Lexical,
    /// Vectors only.
    Vector,
}

params! {
    /// What may be found or listed. Members are joined by and, the values of one member by or.
    Filter {
        /// Kinds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kinds: Option<Vec<Kind>>,
        /// Categories.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        categories: Option<Vec<Category>>,
        /// Tags, any of.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tags: Option<Vec<String>>,
        /// Entities, any of.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        entities: Option<Vec<String>>,
        /// Speakers, any of.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        speakers: Option<Vec<String>>,
        /// Session of a source.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
        /// Occurred (or, where unknown, recorded) at or after; a stretch of time that the words tell fits as well.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<Timestamp>,
        /// Occurred (or, where unknown, recorded) before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<Timestamp>,
        /// Statuses; active only when absent, and then a recall finds what holds now (`validFrom`, `validTo`).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        statuses: Option<Vec<Status>>,
    }
}

params! {
    /// Params of `memory/recall`; `memory/context` takes the same.
    RecallParams {
        /// What to look for, in any words. Never parsed as a query language.
        query: String,
        /// One space; `personal` when neither is given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        space: Option<String>,
        /// Several spaces.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        spaces: Option<Vec<String>>,
        /// Hits at most; 5 when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
        /// Which legs search.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<Mode>,
        /// What may be found.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        filter: Option<Filter>,
        /// As it was known at this instant: nothing learned later counts, in no text, status or statistic. What is forgotten by now
        /// stays hidden. A time to come is the present.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        as_of: Option<Timestamp>,
        /// Only what held at this instant, by what is known: `validFrom` and `validTo`, where absent what the words tell, and of
        /// superseded memories until the one that took their place began. Without `filter.statuses` superseded memories count, too.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        valid_at: Option<Timestamp>,
        /// Whether age lowers the score; true when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decay: Option<bool>,
        /// Lowest score before decay, 0 to 1; 0 keeps all, calibrated when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        threshold: Option<f32>,
        /// Tokens at most of all texts together.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token_budget: Option<u32>,
        /// How far near-duplicates give way to other hits, 0 (not at all) to 1; 0 when absent. A hit then counts
        /// `1 - diversity x likeness` of its score when its place is found, by its likeness to the hit before it that it repeats most.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        diversity: Option<f32>,
        /// Whether hits carry the parts of their score.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        explain: Option<bool>,
        /// Whether the hits count as used; false when absent.
        #[serde(default, rename = "use", skip_serializing_if = "Option::is_none")]
        use_: Option<bool>,
    }
}

/// How sure a hit, or the whole answer, is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Strength {
    /// Nothing of worth.
    None,
    /// Perhaps.
    Weak,
    /// Likely.
    Good,
    /// Almost surely.
    Strong,
}

result! {
    /// One feature of a hit: lexical, near, far, answers, dense, beside, speaker, reply, time, later.
    Feature {
        /// Its name.
        name: String,
        /// Its value.
        value: f32,
        /// What it weighs.
        weight: f32,
    }
}

result! {
    /// The parts of a hit's score.
    Explain {
        /// BM25 of the query on this memory.
        bm25: f32,
        /// The query's best possible BM25: sum of idf x (k1 + 1) over its distinct terms.
        bm25_ideal: f32,
        /// `bm25 / bm25Ideal`.
        lexical: f32,
        /// Cosine of query and memory; absent without a vector leg.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cosine: Option<f32>,
        /// Cosine in standard deviations above that of a background sample.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        z: Option<f32>,
        /// Rank in the lexical leg, from 1; absent when it was not a candidate there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lexical_rank: Option<u32>,
        /// Rank in the vector leg, from 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        vector_rank: Option<u32>,
        /// Share of the lexical leg, a setting; it turns the weights of the lexical features up.
        weight_lexical: f32,
        /// Share of the dense leg: the rest.
        weight_dense: f32,
        /// Every feature with its value and weight; values times weights sum up to `evidence`. One leg alone has one feature.
        features: Vec<Feature>,
        /// The weighted sum of the features, which ranks; relevance is its logistic.
        evidence: f32,
        /// Fused score in 0 to 1, before decay.
        relevance: f32,
        /// Factor by age, between the floor and 1.
        decay: f32,
        /// What feedback on earlier recalls does to the score; absent when nothing stands against it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        feedback: Option<ExplainFeedback>,
        /// Age that decay counts, in days.
        age_days: f32,
        /// Half-life of its category, stretched by use, in days; absent when pinned.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        half_life_days: Option<f32>,
        /// Rank it would have without decay, from 1.
        rank_without_decay: u32,
        /// What it repeats of a hit before it; absent where `diversity` was not asked for, and for what repeats nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gave_way: Option<GaveWay>,
    }
}

result! {
    /// What a hit repeats of one before it.
    GaveWay {
        /// Id of the hit before it that it is most alike.
        to: String,
        /// How alike they are, 0 to 1: the share of words in common times the cosine.
        likeness: f32,
        /// What of its score counted when its place was found.
        factor: f32,
    }
}

result! {
    /// One memory found.
    Hit {
        /// Its id.
        id: String,
        /// Its words, whole.
        text: String,
        /// What sort of knowledge.
        kind: Open<Kind>,
        /// What it is about.
        category: Open<Category>,
        /// Space it belongs to.
        space: String,
        /// Its labels.
        tags: Vec<String>,
        /// Where it stands.
        status: Open<Status>,
        /// When it was first recorded.
        created_at: Timestamp,
        /// When it happened.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        occurred_at: Option<Timestamp>,
        /// Whether that was given, is told by the words, or is the time of recording.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        occurred_at_source: Option<Open<OccurredAtSource>>,
        /// What the words tell of time, where they do.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        told: Option<Told>,
        /// Where it comes from.
        sources: Vec<Source>,
        /// 0 to 1, after decay.
        score: f32,
        /// How sure.
        strength: Open<Strength>,
        /// Pinned memories do not decay.
        pinned: bool,
        /// True when an open conflict names it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        conflict: Option<bool>,
        /// For a long text: the passage that fits best.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        passage: Option<String>,
        /// The parts of its score.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        explain: Option<Explain>,
    }
}

result! {
    /// Result of `memory/recall`.
    RecallResult {
        /// Names this recall in feedback and audit.
        recall_id: String,
        /// Best first.
        hits: Vec<Hit>,
        /// Strength of the best hit; `none` when there is none.
        strength: Open<Strength>,
        /// Sequence token of the view that answered.
        seq: String,
        /// What answered: `tantivy`, `overlay`, `forward`, `exact`, `hnsw`, `model`, `reranker`.
        served_by: Vec<String>,
        /// Why the answer may be less than whole.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        degraded: Option<String>,
        /// How many candidates were too weak.
        below_threshold: u32,
        /// How many hits the token budget had no room for.
        #[serde(default, skip_serializing_if = "is_zero")]
        over_budget: u32,
    }
}

result! {
    /// Result of `memory/context`.
    ContextResult {
        /// One block ready for a prompt: data with sources and dates; empty when nothing was found.
        text: String,
        /// Tokens it takes, estimated.
        tokens: u32,
        /// Ids in it, in order.
        ids: Vec<String>,
        /// Of these, what stands whatever is asked: instructions, preferences, constraints, who somebody is.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        standing: Vec<String>,
        /// Names this recall in feedback and audit.
        recall_id: String,
        /// Strength of the best hit.
        strength: Open<Strength>,
        /// How many candidates were too weak.
        below_threshold: u32,
        /// How many hits the token budget had no room for.
        #[serde(default, skip_serializing_if = "is_zero")]
        over_budget: u32,
    }
}
