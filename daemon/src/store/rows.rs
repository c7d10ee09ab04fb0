//! Rows as bytes: the few operations on tables that every read and write goes through.
//!
//! A panic of redb on a damaged page ends here as `Damaged`. Must not know: which records there are.

use super::codec::{self, Checks};
use super::error::{StoreError, engine};
use super::tables::{ALL, Definition, Table};
use crate::limits::SCAN_ROWS;
use redb::{ReadOnlyTable, ReadTransaction, ReadableTable, ReadableTableMetadata, TableError};
use serde::de::DeserializeOwned;
use std::cell::{OnceCell, RefCell};
use std::ops::Bound;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Which end a scan starts at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the smallest key.
    Ascending,
    /// From the largest key.
    Descending,
}

/// A row: key and value.
pub type Row = (Vec<u8>, Vec<u8>);

/// Is shown the key and value of a row; answers whether to go on.
pub type VisitRow<'a> = &'a mut dyn FnMut(&[u8], &[u8]) -> Result<bool, StoreError>;

/// Reads of rows, in a read transaction or inside a write.
pub trait Rows {
    /// The value under `key`.
    ///
    /// # Errors
    /// The disk's, or `Damaged`.
    fn row(&self, table: Table, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError>;

    /// At most `max` rows between the bounds.
    ///
    /// # Errors
    /// The disk's, or `Damaged`.
    fn rows(
        &self,
        table: Table,
        bounds: (Bound<&[u8]>, Bound<&[u8]>),
        direction: Direction,
        max: usize,
    ) -> Result<Vec<Row>, StoreError>;

    /// Rows the table says it has.
    ///
    /// # Errors
    /// The disk's, or `Damaged`.
    fn row_count(&self, table: Table) -> Result<u64, StoreError>;

    /// Whether damage is looked for.
    fn checks(&self) -> Checks;

    /// Remembers an error of the disk or damage, so that whoever opened the view sees it even if its user does not pass it on.
    fn note(&self, error: StoreError) -> StoreError;

    /// The record in a row.
    ///
    /// # Errors
    /// `Damaged`.
    fn unseal<R: DeserializeOwned>(&self, table: Table, key: &[u8], value: &[u8]) -> Result<R, StoreError>
    where
        Self: Sized,
    {
        codec::unseal(table, key, value, self.checks()).map_err(|error| self.note(error))
    }

    /// The record under `key`.
    ///
    /// # Errors
    /// The disk's, or `Damaged`.
    fn record<R: DeserializeOwned>(&self, table: Table, key: &[u8]) -> Result<Option<R>, StoreError>
    where
        Self: Sized,
    {
        self.row(table, key)?.map(|bytes| self.unseal(table, key, &bytes)).transpose()
    }

    /// Visits the rows between the bounds until `visit` answers false. No redb iterator is open while it runs.
    ///
    /// # Errors
    /// The disk's, `Damaged`, or that of `visit`.
    fn scan(
        &self,
        table: Table,
        bounds: (Bound<&[u8]>, Bound<&[u8]>),
        direction: Direction,
        visit: VisitRow<'_>,
    ) -> Result<(), StoreError> {
        let mut last: Option<Vec<u8>> = None;
        loop {
            let bounds = match (&last, direction) {
                (None, _) => bounds,
                (Some(key), Direction::Ascending) => (Bound::Excluded(key.as_slice()), bounds.1),
                (Some(key), Direction::Descending) => (bounds.0, Bound::Excluded(key.as_slice())),
            };
            let chunk = self.rows(table, bounds, direction, SCAN_ROWS)?;
            for (key, value) in &chunk {
                if !visit(key, value)? {
                    return Ok(());
                }
            }
            match chunk.into_iter().next_back() {
                Some((key, _)) => last = Some(key),
                None => return Ok(()),
            }
        }
    }
}

/// Runs a call into redb, turning its panic into `Damaged`.
pub(super) fn guarded<R>(call: impl FnOnce() -> Result<R, StoreError>) -> Result<R, StoreError> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| Err(StoreError::damaged_file(panic_text(&*panic))))
}

/// What a panic said.
pub(super) fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "panic without words".to_owned())
}

/// Reads at most `max` rows of an open table.
pub(super) fn collect(
    table: &impl ReadableTable<&'static [u8], &'static [u8]>,
    bounds: (Bound<&[u8]>, Bound<&[u8]>),
    direction: Direction,
    max: usize,
) -> Result<Vec<Row>, StoreError> {
    if is_empty(bounds) {
        return Ok(Vec::new());
    }
    let mut range = table.range::<&[u8]>(bounds).map_err(engine)?;
    let mut rows = Vec::new();
    while rows.len() < max {
        let next = match direction {
            Direction::Ascending => range.next(),
            Direction::Descending => range.next_back(),
        };
        let Some(next) = next else { break };
        let (key, value) = next.map_err(engine)?;
        rows.push((key.value().to_vec(), value.value().to_vec()));
    }
    Ok(rows)
}

fn is_empty(bounds: (Bound<&[u8]>, Bound<&[u8]>)) -> bool {
    match bounds {
        (Bound::Included(from), Bound::Included(to)) => from > to,
        (Bound::Included(from) | Bound::Excluded(from), Bound::Included(to) | Bound::Excluded(to)) => from >= to,
        _ => false,
    }
}

/// One consistent view of the store. Short: it holds back the reuse of pages.
pub struct ReadTx {
    transaction: ReadTransaction,
    tables: Vec<OnceCell<ReadOnlyTable<&'static [u8], &'static [u8]>>>,
    checks: Checks,
    noted: RefCell<Option<StoreError>>,
}

/// One table as redb opens it for reading.
type Opened = ReadOnlyTable<&'static [u8], &'static [u8]>;

impl ReadTx {
    pub(super) fn new(transaction: ReadTransaction, checks: Checks) -> Self {
        ReadTx { transaction, tables: ALL.iter().map(|_| OnceCell::new()).collect(), checks, noted: RefCell::new(None) }
    }

    /// The first damage that a read of this view met.
    pub(super) fn damage(&self) -> Option<StoreError> {
        self.noted.borrow().clone()
    }

    /// The open table; none where an earlier build made the file and nothing was written to the table since.
    fn table(&self, table: Table) -> Result<Option<&Opened>, StoreError> {
        let Some(cell) = table.place().and_then(|place| self.tables.get(place)) else { return Ok(None) };
        if cell.get().is_none() {
            let definition: Definition = table.definition();
            match self.transaction.open_table(definition) {
                Ok(opened) => drop(cell.set(opened)),
                Err(TableError::TableDoesNotExist(_)) if table.is_added() => return Ok(None),
                Err(error) => return Err(engine(error)),
            }
        }
        cell.get().map(Some).ok_or_else(|| StoreError::Engine(format!("table {} did not open", table.name)))
    }
}

impl Rows for ReadTx {
    fn row(&self, table: Table, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        guarded(|| {
            let Some(table) = self.table(table)? else { return Ok(None) };
            Ok(table.get(key).map_err(engine)?.map(|value| value.value().to_vec()))
        })
        .map_err(|error| self.note(error))
    }

    fn rows(
        &self,
        table: Table,
        bounds: (Bound<&[u8]>, Bound<&[u8]>),
        direction: Direction,
        max: usize,
    ) -> Result<Vec<Row>, StoreError> {
        guarded(|| match self.table(table)? {
            Some(table) => collect(table, bounds, direction, max),
            None => Ok(Vec::new()),
        })
        .map_err(|error| self.note(error))
    }

    fn row_count(&self, table: Table) -> Result<u64, StoreError> {
        guarded(|| match self.table(table)? {
            Some(table) => table.len().map_err(engine),
            None => Ok(0),
        })
        .map_err(|error| self.note(error))
    }

    fn checks(&self) -> Checks {
        self.checks
    }

    fn note(&self, error: StoreError) -> StoreError {
        if matches!(error, StoreError::Damaged { .. }) {
            self.noted.borrow_mut().get_or_insert_with(|| error.clone());
        }
        error
    }
}
