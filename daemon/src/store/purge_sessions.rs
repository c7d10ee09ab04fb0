//! Messages and events of sessions as JSON, row by row, to be read through and changed.
//!
//! Must not know: what in them is changed.

use super::error::StoreError;
use super::read::part;
use super::rows::{Direction, Rows};
use super::write_tx::WriteTx;
use super::{keys, tables};
use std::ops::Bound;
use tiro_schema::record::{EventRecord, MessageRecord};

/// Which rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spoken {
    /// Messages.
    Messages,
    /// Events.
    Events,
}

/// Session and number of a row.
pub type SpokenPlace = (u64, u64);

/// Reads of messages and events. Every error is the disk's or `Damaged`.
#[allow(clippy::missing_errors_doc)]
pub trait SpokenReads: Rows + Sized {
    /// The JSON of a row.
    fn spoken(&self, kind: Spoken, place: SpokenPlace) -> Result<Option<String>, StoreError> {
        let key = keys::u64_u64(place.0, place.1);
        Ok(match kind {
            Spoken::Messages => self.record::<MessageRecord>(tables::MESSAGES, &key)?.map(|row| row.content_json),
            Spoken::Events => self.record::<EventRecord>(tables::EVENTS, &key)?.map(|row| row.params_json),
        })
    }

    /// At most `max` rows after a place, in order.
    fn spoken_after(
        &self,
        kind: Spoken,
        after: Option<SpokenPlace>,
        max: usize,
    ) -> Result<Vec<(SpokenPlace, String)>, StoreError> {
        let table = if kind == Spoken::Messages { tables::MESSAGES } else { tables::EVENTS };
        let from = after.map(|(session, number)| keys::u64_u64(session, number));
        let from = from.as_ref().map_or(Bound::Unbounded, |key| Bound::Excluded(&key[..]));
        let rows = self.rows(table, (from, Bound::Unbounded), Direction::Ascending, max)?;
        let mut found = Vec::with_capacity(rows.len());
        for (key, value) in &rows {
            let session = part(self, keys::u64_at(key, 0), table, key)?;
            let number = part(self, keys::u64_at(key, 8), table, key)?;
            let json = match kind {
                Spoken::Messages => self.unseal::<MessageRecord>(table, key, value)?.content_json,
                Spoken::Events => self.unseal::<EventRecord>(table, key, value)?.params_json,
            };
            found.push(((session, number), json));
        }
        Ok(found)
    }
}

impl<T: Rows> SpokenReads for T {}

impl WriteTx {
    /// Puts other JSON into a row that is there.
    ///
    /// # Errors
    /// The disk's.
    pub fn put_spoken(&mut self, kind: Spoken, place: SpokenPlace, json: String) -> Result<(), StoreError> {
        let key = keys::u64_u64(place.0, place.1);
        match kind {
            Spoken::Messages => match self.record::<MessageRecord>(tables::MESSAGES, &key)? {
                Some(row) => self.put(tables::MESSAGES, &key, &MessageRecord { content_json: json, ..row }),
                None => Ok(()),
            },
            Spoken::Events => match self.record::<EventRecord>(tables::EVENTS, &key)? {
                Some(row) => self.put(tables::EVENTS, &key, &EventRecord { params_json: json, ..row }),
                None => Ok(()),
            },
        }
    }
}
