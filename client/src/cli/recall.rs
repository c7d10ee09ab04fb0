//! `tiro recall`: find what fits a question.
//!
//! Must not know: how scores come about.

use super::filter::FilterArgs;
use super::input::{self, MODES};
use super::{Exit, Outcome, Shell};
use crate::render::{hits, size};
use clap::Args;
use tiro_schema::wire::Timestamp;
use tiro_schema::wire::memory::{Mode, RecallParams, RecallResult};

const EXAMPLES: &str = "\
Examples:
  tiro recall \"which port does staging use?\"
  tiro recall 数据库端口 --limit 3 --explain
  tiro recall REQ-2041 --mode lexical
  tiro recall \"dinner plans\" --after \"7 days ago\" -c event
  tiro recall \"who is on call\" --as-of 2026-02-01
  tiro recall deploy --space work --space personal --json | jq -r '.hits[].id'";

/// Find what fits a question
///
/// Any words in any language; never a query syntax. Memories are scored by words and by meaning, weighed by age, and
/// left out when too weak: nothing relevant, nothing found (exit code 5).
///
/// In a pipe each hit is one line of tab-separated fields: score, strength, id, category, date, text (with \n, \t and \\
/// escaped).
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct RecallArgs {
    #[command(flatten)]
    search: SearchArgs,
    /// Show the parts of every score
    #[arg(long, short = 'x')]
    explain: bool,
    /// Count the hits as used, which keeps them fresh
    #[arg(long = "use")]
    use_: bool,
}

/// What recall and context share.
#[derive(Debug, Args)]
pub struct SearchArgs {
    /// The question; - reads standard input
    #[arg(required = true, value_name = "QUERY")]
    query: Vec<String>,
    /// Hits at most [default: 5]
    #[arg(long, short = 'n', value_name = "N", value_parser = input::count)]
    limit: Option<u32>,
    /// Which legs search [default: hybrid]
    #[arg(long, value_parser = input::one_of::<Mode>(&MODES))]
    mode: Option<Mode>,
    /// Lowest score, 0 to 1; 0 keeps all. Calibrated when absent
    #[arg(long, value_name = "0..1", value_parser = input::unit)]
    threshold: Option<f32>,
    /// As it was known at this time (2026-03-05, "3 days ago", …): nothing learned later counts
    #[arg(long, value_name = "TIME", value_parser = input::instant)]
    as_of: Option<Timestamp>,
    /// Only what held at this time, superseded memories included
    #[arg(long, value_name = "TIME", value_parser = input::instant)]
    valid_at: Option<Timestamp>,
    /// Do not weigh by age
    #[arg(long)]
    no_decay: bool,
    /// Tokens at most of all texts together
    #[arg(long, value_name = "TOKENS")]
    token_budget: Option<u32>,
    /// How far near-duplicates give way to other hits: 0 not at all, 1 as far as can be
    #[arg(long, value_name = "0..1", value_parser = input::unit)]
    diversity: Option<f32>,
    #[command(flatten)]
    filter: FilterArgs,
}

impl SearchArgs {
    /// The params of the wire.
    ///
    /// # Errors
    /// When there is no question.
    pub fn params(&self, shell: &Shell) -> Result<RecallParams, super::Failure> {
        let space = if shell.global.space.is_empty() { shell.folder_space()? } else { None };
        Ok(self.params_of(input::text(&self.query)?, space, shell))
    }

    /// Whether the question is to be read from standard input.
    pub fn is_from_stdin(&self) -> bool {
        self.query == ["-"]
    }

    /// The question's words as they were given.
    pub fn words(&self) -> String {
        self.query.join(" ")
    }

    /// The params for a question, in the spaces of the command line, else in this one.
    pub fn params_of(&self, query: String, space: Option<String>, shell: &Shell) -> RecallParams {
        let (space, spaces) = match shell.global.space.as_slice() {
            [] => (space, None),
            [one] => (Some(one.clone()), None),
            several => (None, Some(several.to_vec())),
        };
        RecallParams {
            query,
            space,
            spaces,
            limit: self.limit,
            mode: self.mode,
            filter: self.filter.to_filter(),
            as_of: self.as_of.clone(),
            valid_at: self.valid_at.clone(),
            decay: self.no_decay.then_some(false),
            threshold: self.threshold,
            token_budget: self.token_budget,
            diversity: self.diversity,
            explain: None,
            use_: None,
        }
    }
}

/// Runs the command.
pub async fn run(shell: &Shell, args: RecallArgs) -> Outcome {
    let mut params = args.search.params(shell)?;
    params.explain = args.explain.then_some(true);
    params.use_ = args.use_.then_some(true);
    let result: RecallResult = shell.daemon().await?.call("memory/recall", &params).await?;
    shell.answer(&result, |result, style| {
        let mut text = hits::hits(&result.hits, style);
        let explained = hits::explained(&result.hits, style);
        if !explained.is_empty() {
            text.push('\n');
            text.push_str(&explained);
            text.push_str(&hits::legend(style));
        }
        text
    })?;
    if let Some(degraded) = &result.degraded {
        shell.note(&format!("the answer may be less than whole: {degraded}"));
    }
    if result.hits.is_empty() {
        nothing_found(shell, result.over_budget, result.below_threshold);
        return Ok(Exit::NothingFound);
    }
    Ok(Exit::Done)
}

/// Says that nothing was found, and why: too long for the budget, or not near enough.
pub fn nothing_found(shell: &Shell, over_budget: u32, below_threshold: u32) {
    shell.note(&nothing(over_budget, below_threshold));
}

fn nothing(over_budget: u32, below_threshold: u32) -> String {
    let memories = |n: u32, one: &str, many: &str| size::count(u64::from(n), one, many);
    match (over_budget, below_threshold) {
        (0, 0) => "nothing found".to_owned(),
        (0, n) => {
            format!("nothing found; {} not near enough (--threshold 0 shows all)", memories(n, "memory was", "memories were"))
        }
        (n, _) => format!(
            "{} found, but nothing fits the token budget: give a larger --token-budget",
            memories(n, "memory was", "memories were")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_found_is_told_with_its_reason() {
        assert_eq!(nothing(0, 1), "nothing found; 1 memory was not near enough (--threshold 0 shows all)");
        assert!(nothing(2, 9).starts_with("2 memories were found, but nothing fits the token budget"));
    }
}
