//! The params of `memory/recall`, checked.
//!
//! Pure. Must not know: how the search goes.

use super::draft::{is_blank, space_name};
use super::error::MemoryError;
use super::filter::{Sieve, Unnamed, time};
use super::model_leg::Asked;
use crate::limits::{HITS_DEFAULT, HITS_MAX, QUERY_BYTES_MAX, SPACES_PER_RECALL_MAX};
use tiro_schema::wire::memory::{Mode, RecallParams};

/// A recall that fits.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub query: String,
    pub spaces: Vec<String>,
    pub limit: usize,
    pub mode: Mode,
    pub sieve: Sieve,
    /// As it was known then, Unix milliseconds; none is the present.
    pub as_of_ms: Option<i64>,
    /// Only what held then, Unix milliseconds.
    pub valid_at_ms: Option<i64>,
    pub decay: bool,
    pub threshold: Option<f32>,
    pub token_budget: Option<u32>,
    /// How far near-duplicates give way, 0 to 1.
    pub diversity: f32,
    pub explain: bool,
    pub count_use: bool,
    /// What came of asking the model beside the built-in table.
    pub asked: Asked,
}

impl Plan {
    /// Checks the params; `limit_default` is what a call without a limit means.
    pub fn new(params: &RecallParams, limit_default: u32) -> Result<Plan, MemoryError> {
        if params.query.len() > QUERY_BYTES_MAX {
            return Err(MemoryError::too_large("query", "queryBytesMax", QUERY_BYTES_MAX));
        }
        let limit = params.limit.unwrap_or(limit_default);
        if !(1..=HITS_MAX).contains(&limit) {
            return Err(MemoryError::invalid("limit", format!("between 1 and {HITS_MAX}")));
        }
        if params.threshold.is_some_and(|t| !(0.0..=1.0).contains(&t)) {
            return Err(MemoryError::invalid("threshold", "between 0 and 1"));
        }
        if params.diversity.is_some_and(|d| !(0.0..=1.0).contains(&d)) {
            return Err(MemoryError::invalid("diversity", "between 0 and 1"));
        }
        Ok(Plan {
            query: if is_blank(&params.query) { String::new() } else { params.query.clone() },
            spaces: spaces(params)?,
            limit: limit as usize,
            mode: params.mode.unwrap_or_default(),
            sieve: Sieve::new(params.filter.as_ref(), if params.valid_at.is_some() { Unnamed::Held } else { Unnamed::Active })?,
            as_of_ms: time("asOf", params.as_of.as_ref())?,
            valid_at_ms: time("validAt", params.valid_at.as_ref())?,
            decay: params.decay.unwrap_or(true),
            threshold: params.threshold,
            token_budget: params.token_budget,
            diversity: params.diversity.unwrap_or(0.0),
            explain: params.explain.unwrap_or(false),
            count_use: params.use_.unwrap_or(false),
            asked: Asked::default(),
        })
    }
}

impl Plan {
    /// The instant it is asked from, Unix milliseconds: the present, or one before it. Ages, words of time and what holds count from it.
    pub fn seen_from_ms(&self, now_ms: i64) -> i64 {
        self.as_of_ms.map_or(now_ms, |as_of_ms| as_of_ms.min(now_ms))
    }

    /// What the index is asked for.
    pub fn index_filter(&self, now_ms: i64) -> tiro_index::Filter {
        match self.valid_at_ms {
            Some(at_ms) => tiro_index::Filter { valid_at_ms: None, held_at_ms: Some(at_ms), ..self.sieve.for_index(now_ms) },
            None => self.sieve.for_index(self.seen_from_ms(now_ms)),
        }
    }
}

impl Default for Plan {
    fn default() -> Self {
        Plan {
            query: String::new(),
            spaces: Vec::new(),
            limit: HITS_DEFAULT as usize,
            mode: Mode::Hybrid,
            sieve: Sieve::default(),
            as_of_ms: None,
            valid_at_ms: None,
            decay: true,
            threshold: None,
            token_budget: None,
            diversity: 0.0,
            explain: false,
            count_use: false,
            asked: Asked::default(),
        }
    }
}

fn spaces(params: &RecallParams) -> Result<Vec<String>, MemoryError> {
    let Some(list) = &params.spaces else {
        return Ok(vec![space_name("space", params.space.as_deref())?]);
    };
    if params.space.is_some() {
        return Err(MemoryError::invalid("spaces", "give space or spaces, not both"));
    }
    if list.is_empty() || list.len() > SPACES_PER_RECALL_MAX {
        return Err(MemoryError::invalid("spaces", format!("1 to {SPACES_PER_RECALL_MAX} names")));
    }
    let mut names = Vec::with_capacity(list.len());
    for (i, name) in list.iter().enumerate() {
        let name = space_name(&format!("spaces[{i}]"), Some(name))?;
        if !names.contains(&name) {
            names.push(name);
        }
    }
    Ok(names)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn path(params: &RecallParams) -> String {
        match Plan::new(params, HITS_DEFAULT).unwrap_err() {
            MemoryError::Invalid { path, .. } | MemoryError::TooLarge { path, .. } => path,
            other => panic!("{other}"),
        }
    }

    #[test]
    fn params_out_of_bounds_name_their_path() {
        let p = || RecallParams { query: "q".into(), ..RecallParams::default() };
        assert_eq!(path(&RecallParams { limit: Some(0), ..p() }), "limit");
        assert_eq!(path(&RecallParams { limit: Some(HITS_MAX + 1), ..p() }), "limit");
        assert_eq!(path(&RecallParams { threshold: Some(f32::NAN), ..p() }), "threshold");
        assert_eq!(path(&RecallParams { diversity: Some(1.5), ..p() }), "diversity");
        assert_eq!(path(&RecallParams { diversity: Some(f32::NAN), ..p() }), "diversity");
        let never = || Some(tiro_schema::wire::Timestamp("never".into()));
        assert_eq!(path(&RecallParams { as_of: never(), ..p() }), "asOf");
        assert_eq!(path(&RecallParams { valid_at: never(), ..p() }), "validAt");
        assert_eq!(path(&RecallParams { query: "q".repeat(QUERY_BYTES_MAX + 1), ..p() }), "query");
        assert_eq!(path(&RecallParams { spaces: Some(vec![]), ..p() }), "spaces");
        assert_eq!(path(&RecallParams { spaces: Some(vec!["a".into(), "b/c".into()]), ..p() }), "spaces[1]");
        assert_eq!(path(&RecallParams { spaces: Some(vec!["a".into()]), space: Some("b".into()), ..p() }), "spaces");
        let plan = Plan::new(&RecallParams { spaces: Some(vec!["a".into(), "a".into()]), ..p() }, HITS_DEFAULT).unwrap();
        assert_eq!(plan.spaces, ["a"]);
    }
}
