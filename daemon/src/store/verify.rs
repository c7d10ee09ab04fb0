//! The check of a whole store: every record's checksum, every table's count, every pointer from one table to another.
//!
//! Counts make the checks go both ways cheaply: when every memory has its own row in an index and both have equally many rows, the index
//! has no other rows. Must not know: the index itself, which is asked through a closure.

use super::error::StoreError;
use super::open::Progress;
use super::read::{Reads, UNBOUNDED};
use super::rows::{Direction, ReadTx, Rows};
use super::tables::{ALL, Table};
use super::verify_rows::Cross;
use super::{audit, codec};
use crate::limits::VERIFY_PROBLEMS_MAX;
use std::time::Instant;

/// What a check found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VerifyReport {
    /// Records read.
    pub records: u64,
    /// Memories that are not forgotten.
    pub memories: u64,
    /// What is wrong, the first few.
    pub problems: Vec<String>,
    /// The first damaged row among it, if a row is damaged.
    pub damage: Option<StoreError>,
    /// Milliseconds it took.
    pub elapsed_ms: u64,
}

/// Asked whether the index holds every memory once: gets the sequence of the view, and key and status code of every memory; answers what is wrong.
pub type IndexCheck<'a> = &'a dyn Fn(u64, &[(u64, u8)]) -> Vec<String>;

/// What a check is made with.
pub(super) struct Verifying<'a> {
    pub(super) progress: &'a Progress,
    pub(super) cancelled: &'a dyn Fn() -> bool,
    pub(super) index: Option<IndexCheck<'a>>,
}

impl Verifying<'_> {
    /// Checks a view. Damage is a finding, not an error.
    pub(super) fn run(&self, view: &ReadTx) -> Result<VerifyReport, StoreError> {
        let began = Instant::now();
        let mut report = VerifyReport::default();
        let total = ALL.iter().try_fold(0, |sum, table| Ok::<_, StoreError>(sum + view.row_count(*table)?));
        let total = match total {
            Ok(total) => total,
            Err(error) => return note(report, began, error),
        };
        for table in ALL {
            if let Err(error) = self.check_table(view, *table, total, &mut report) {
                report = note(report, began, error)?;
            }
        }
        if report.damage.is_none() {
            let mut cross = Cross::new(view);
            match self.check_pointers(&mut cross) {
                Ok(memories) => report.memories = memories.iter().filter(|(_, status)| *status < 3).count() as u64,
                Err(error) => report = note(report, began, error)?,
            }
            report.problems.append(&mut cross.problems);
        }
        report.problems.truncate(VERIFY_PROBLEMS_MAX);
        report.elapsed_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(report)
    }

    fn check_pointers(&self, cross: &mut Cross<'_>) -> Result<Vec<(u64, u8)>, StoreError> {
        let memories = cross.memories(self.cancelled)?;
        cross.sessions(self.cancelled)?;
        cross.ledgers(self.cancelled)?;
        cross.conflicts(self.cancelled)?;
        let head = cross.view.audit_head()?;
        cross.problems.extend(audit::check_chain(cross.view, &head)?);
        if let Some(index) = self.index {
            cross.problems.extend(index(cross.view.newest_seq()?, &memories));
        }
        Ok(memories)
    }

    /// Checksums, order and count of one table's rows.
    fn check_table(&self, view: &ReadTx, table: Table, total: u64, report: &mut VerifyReport) -> Result<(), StoreError> {
        let (mut rows, mut last): (u64, Option<Vec<u8>>) = (0, None);
        view.scan(table, UNBOUNDED, Direction::Ascending, &mut |key, value| {
            codec::payload(table.as_written(value), key, value)?;
            if last.as_deref().is_some_and(|last| last >= key) {
                return Err(codec::damaged(table, key, "the rows are out of order"));
            }
            last = Some(key.to_vec());
            rows += 1;
            report.records += 1;
            if report.records.is_multiple_of(4_096) {
                (self.progress)("verify", report.records, total);
                if (self.cancelled)() {
                    return Err(StoreError::Interrupted);
                }
            }
            Ok(true)
        })?;
        if rows != view.row_count(table)? {
            return Err(StoreError::Damaged {
                table: table.name,
                key: "-".into(),
                what: format!("{rows} rows can be reached, {} are counted", view.row_count(table)?),
            });
        }
        Ok(())
    }
}

/// Damage goes into the report, anything else ends the check.
fn note(mut report: VerifyReport, began: Instant, error: StoreError) -> Result<VerifyReport, StoreError> {
    if !matches!(error, StoreError::Damaged { .. }) {
        return Err(error);
    }
    report.problems.push(error.to_string());
    report.damage.get_or_insert(error);
    report.elapsed_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(report)
}
