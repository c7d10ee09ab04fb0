//! One committed state of the full-text index, for searches. It must not know what makes a document eligible: it asks.

use super::schema::{Fields, KEY, SEQ, push_term};
use crate::state::space::Statistics;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use tantivy::columnar::ColumnValues;
use tantivy::query::{Bm25StatisticsProvider, BooleanQuery, EnableScoring, Occur, Query, TermQuery, Weight};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, Searcher, TERMINATED, Term};

/// A committed state.
pub(crate) struct Reader {
    searcher: Searcher,
    fields: Fields,
    columns: Vec<Columns>,
    /// Store sequence that its commit claims to hold everything up to.
    pub(crate) seq: u64,
}

/// The columns of one segment.
struct Columns {
    keys: Arc<dyn ColumnValues<u64>>,
    seqs: Arc<dyn ColumnValues<u64>>,
}

/// A candidate, ordered so that the worst is the greatest.
#[derive(Clone, Copy, PartialEq)]
struct Scored {
    name: u64,
    score: f32,
}

impl Eq for Scored {}

impl Ord for Scored {
    fn cmp(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then(self.name.cmp(&other.name))
    }
}

impl PartialOrd for Scored {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Reader {
    /// Opens the columns of a searcher.
    pub(super) fn new(searcher: Searcher, fields: Fields, seq: u64) -> tantivy::Result<Self> {
        let columns = searcher
            .segment_readers()
            .iter()
            .map(|segment| {
                let fast = segment.fast_fields();
                Ok(Columns { keys: fast.column_first_or_default(KEY)?, seqs: fast.column_first_or_default(SEQ)? })
            })
            .collect::<tantivy::Result<_>>()?;
        Ok(Self { searcher, fields, columns, seq })
    }

    /// Documents held.
    pub(crate) fn documents(&self) -> u64 {
        self.searcher.num_docs()
    }

    /// Calls `see` with key and sequence of every document held, until it fails.
    pub(crate) fn for_each_held<E>(&self, see: &mut impl FnMut(u64, u64) -> Result<(), E>) -> Result<(), E> {
        for (segment, columns) in self.searcher.segment_readers().iter().zip(&self.columns) {
            for document in segment.doc_ids_alive() {
                see(columns.keys.get_val(document), columns.seqs.get_val(document))?;
            }
        }
        Ok(())
    }

    /// The best `limit` documents of a space that hold any of `tokens`, by BM25 with the statistics given. `admit` names the slot of
    /// a key, or leaves the document out as if it were not there. Damage that the checksums let through ends in an error.
    pub(crate) fn candidates(&self, question: &Question<'_>, admit: &dyn Fn(u64) -> Option<u32>) -> Result<Vec<u32>, String> {
        catch_unwind(AssertUnwindSafe(|| self.collect(question, admit)))
            .map_err(|_| "full-text index: a panic while reading".to_owned())?
            .map_err(|error| format!("full-text index: {error}"))
    }

    fn collect(&self, question: &Question<'_>, admit: &dyn Fn(u64) -> Option<u32>) -> tantivy::Result<Vec<u32>> {
        let weights = question.terms(self.fields.terms).map(|term| {
            let query: Box<dyn Query> = Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs));
            (Occur::Should, query)
        });
        let query = BooleanQuery::new(weights.collect());
        let provider = Provider(question);
        let weight = query.weight(EnableScoring::enabled_from_statistics_provider(&provider, &self.searcher))?;
        let key = |segment: usize, document| self.columns.get(segment).map(|columns| columns.keys.get_val(document));
        // Nearly always all of the best are admitted, and then no other has to be looked up.
        let best =
            self.best(&*weight, question.limit, &|segment, document| Some((segment as u64) << 32 | u64::from(document)))?;
        let admitted: Option<Vec<u32>> = best.into_iter().map(|name| admit(key((name >> 32) as usize, name as u32)?)).collect();
        if let Some(slots) = admitted {
            return Ok(slots);
        }
        let best = self.best(&*weight, question.limit, &|segment, document| admit(key(segment, document)?).map(u64::from))?;
        Ok(best.into_iter().map(|slot| slot as u32).collect())
    }

    /// The names of the best `limit` living documents, best first, among those that `name` names.
    fn best(&self, weight: &dyn Weight, limit: usize, name: &dyn Fn(usize, DocId) -> Option<u64>) -> tantivy::Result<Vec<u64>> {
        let mut best: BinaryHeap<Scored> = BinaryHeap::with_capacity(limit + 1);
        for (number, segment) in self.searcher.segment_readers().iter().enumerate() {
            let alive = segment.alive_bitset();
            let bar = |best: &BinaryHeap<Scored>| match best.peek() {
                Some(worst) if best.len() >= limit => worst.score,
                _ => f32::MIN,
            };
            let start = bar(&best);
            let mut offer = |document, score| {
                if alive.is_none_or(|alive| alive.is_alive(document))
                    && let Some(name) = name(number, document)
                {
                    best.push(Scored { name, score });
                    if best.len() > limit {
                        best.pop();
                    }
                }
                bar(&best)
            };
            weight.for_each_pruning(start, segment, &mut offer)?;
        }
        Ok(best.into_sorted_vec().into_iter().map(|scored| scored.name).collect())
    }

    /// Whether every one of `sample` (space, token, key) is found by its token: a check of the postings against memory.
    pub(super) fn check(&self, sample: &[(u32, u32, u64)]) -> Result<bool, String> {
        catch_unwind(AssertUnwindSafe(|| self.finds(sample)))
            .map_err(|_| "reading its postings panicked".to_owned())?
            .map_err(|error| error.to_string())
    }

    fn finds(&self, sample: &[(u32, u32, u64)]) -> tantivy::Result<bool> {
        for &(space, token, key) in sample {
            let mut text = String::new();
            push_term(&mut text, space, token);
            let term = Term::from_field_text(self.fields.terms, &text);
            let mut found = false;
            for (segment, columns) in self.searcher.segment_readers().iter().zip(&self.columns) {
                let Some(mut postings) =
                    segment.inverted_index(self.fields.terms)?.read_postings(&term, IndexRecordOption::Basic)?
                else {
                    continue;
                };
                while postings.doc() != TERMINATED && !found {
                    found = columns.keys.get_val(postings.doc()) == key && !segment.is_deleted(postings.doc());
                    postings.advance();
                }
            }
            if !found {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// What candidates are asked for.
pub(crate) struct Question<'a> {
    /// The space.
    pub(crate) space: u32,
    /// Distinct tokens, each held by at least one document of the space.
    pub(crate) tokens: &'a [u32],
    /// Statistics of the space.
    pub(crate) statistics: &'a Statistics,
    /// Candidates wanted.
    pub(crate) limit: usize,
}

impl Question<'_> {
    fn terms(&self, field: Field) -> impl Iterator<Item = Term> + '_ {
        self.tokens.iter().map(move |&token| {
            let mut text = String::new();
            push_term(&mut text, self.space, token);
            Term::from_field_text(field, &text)
        })
    }
}

/// Gives the statistics of the space to the full-text index, in place of its own.
struct Provider<'a>(&'a Question<'a>);

impl Bm25StatisticsProvider for Provider<'_> {
    fn total_num_tokens(&self, _: Field) -> tantivy::Result<u64> {
        Ok(self.0.statistics.tokens.max(1))
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        Ok(self.0.statistics.documents.max(1))
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        let token = super::schema::token_of(term.serialized_value_bytes()).unwrap_or(0);
        Ok(u64::from(self.0.statistics.frequency(token)).min(self.0.statistics.documents.max(1)))
    }
}
