//! What models beside the built-in table left in the store: which there are, their vectors, what they made of the background sample.
//!
//! Must not know: how a vector is made or compared. The built-in table's vectors stand with their memories (`read.rs`, `write_tx.rs`).

use super::error::StoreError;
use super::read::{UNBOUNDED, part};
use super::rows::{Direction, Rows};
use super::write_tx::WriteTx;
use super::{keys, tables};
use std::ops::Bound;
use tiro_schema::record::{EmbedderRecord, VectorRecord};

/// Reads of models and their vectors. Every error is the disk's or `Damaged`.
#[allow(clippy::missing_errors_doc)]
pub trait ModelReads: Rows + Sized {
    /// Every model with its number.
    fn embedders(&self) -> Result<Vec<(u32, EmbedderRecord)>, StoreError> {
        let mut found = Vec::new();
        self.scan(tables::EMBEDDERS, UNBOUNDED, Direction::Ascending, &mut |key, value| {
            let number = part(self, keys::u32_at(key, 0), tables::EMBEDDERS, key)?;
            found.push((number, self.unseal(tables::EMBEDDERS, key, value)?));
            Ok(true)
        })?;
        Ok(found)
    }

    /// Number of the model whose vectors are in use, if one is.
    fn embedder_in_use(&self) -> Result<Option<u32>, StoreError> {
        let bytes: Option<Vec<u8>> = self.record(tables::SETTINGS, tables::SETTING_EMBEDDER.as_bytes())?;
        Ok(bytes.and_then(|bytes| bytes.try_into().ok()).map(u32::from_be_bytes))
    }

    /// What a model made of the passages of a version, by passage; empty where it made nothing yet. Give a record's `vector_version`.
    fn model_vectors(&self, model: u32, key: u64, version: u32) -> Result<Vec<Vec<f32>>, StoreError> {
        let mut vectors = Vec::new();
        let (from, to) = (keys::model_passage(model, key, version, 0), keys::model_passage(model, key, version, u16::MAX));
        let bounds = (Bound::Included(&from[..]), Bound::Included(&to[..]));
        self.scan(tables::MODEL_VECTORS, bounds, Direction::Ascending, &mut |key, value| {
            let record: VectorRecord = self.unseal(tables::MODEL_VECTORS, key, value)?;
            vectors.push(record.values);
            Ok(true)
        })?;
        Ok(vectors)
    }

    /// What a model made of the background sample, by place.
    fn model_background(&self, model: u32) -> Result<Vec<(u32, Vec<f32>)>, StoreError> {
        let mut found = Vec::new();
        let (from, to) = (keys::u32_u32(model, 0), keys::u32_u32(model, u32::MAX));
        let bounds = (Bound::Included(&from[..]), Bound::Included(&to[..]));
        self.scan(tables::MODEL_BACKGROUNDS, bounds, Direction::Ascending, &mut |key, value| {
            let record: VectorRecord = self.unseal(tables::MODEL_BACKGROUNDS, key, value)?;
            found.push((part(self, keys::u32_at(key, 4), tables::MODEL_BACKGROUNDS, key)?, record.values));
            Ok(true)
        })?;
        Ok(found)
    }
}

impl<T: Rows> ModelReads for T {}

impl WriteTx {
    /// The number of the model with this id, noted when it is new, and from now on the one in use.
    ///
    /// # Errors
    /// The disk's.
    pub fn use_embedder(&mut self, id: &str, dimension: u32) -> Result<u32, StoreError> {
        let all = self.embedders()?;
        let known = all.iter().find(|(_, record)| record.id == id && record.dimension == dimension).map(|(number, _)| *number);
        let number = match known {
            Some(number) => number,
            None => {
                let number = all.last().map_or(0, |(number, _)| *number) + 1;
                let record = EmbedderRecord { id: id.to_owned(), dimension, created_at_ms: self.now_ms() };
                self.put(tables::EMBEDDERS, &keys::u32(number), &record)?;
                number
            }
        };
        if self.embedder_in_use()? != Some(number) {
            self.put_setting(tables::SETTING_EMBEDDER, &number.to_be_bytes())?;
        }
        Ok(number)
    }

    /// From now on the built-in table's vectors alone are in use.
    ///
    /// # Errors
    /// The disk's.
    pub fn use_no_embedder(&mut self) -> Result<(), StoreError> {
        if self.embedder_in_use()?.is_some() { self.put_setting(tables::SETTING_EMBEDDER, &[]) } else { Ok(()) }
    }

    /// Writes what a model made of the passages of a version, in the place of all it made of earlier ones.
    ///
    /// # Errors
    /// The disk's.
    pub fn put_model_vectors(&mut self, model: u32, key: u64, version: u32, vectors: &[Vec<f32>]) -> Result<(), StoreError> {
        let (from, to) = (keys::model_passage(model, key, 0, 0), keys::model_passage(model, key, u32::MAX, u16::MAX));
        self.take_out_range(tables::MODEL_VECTORS, (Bound::Included(&from), Bound::Included(&to)), usize::MAX)?;
        for (passage, values) in (0..=u16::MAX).zip(vectors) {
            let record = VectorRecord { values: values.clone() };
            self.put(tables::MODEL_VECTORS, &keys::model_passage(model, key, version, passage), &record)?;
        }
        Ok(())
    }

    /// Writes what a model made of the text at a place of the background sample.
    ///
    /// # Errors
    /// The disk's.
    pub fn put_model_background(&mut self, model: u32, place: u32, values: &[f32]) -> Result<(), StoreError> {
        self.put(tables::MODEL_BACKGROUNDS, &keys::u32_u32(model, place), &VectorRecord { values: values.to_vec() })
    }

    /// Takes out at most `max` rows of a model, its own entry last. True when there may be more.
    ///
    /// # Errors
    /// The disk's.
    pub fn remove_embedder(&mut self, model: u32, max: usize) -> Result<bool, StoreError> {
        let first = keys::u32(model);
        let end = model.checked_add(1).map(keys::u32);
        let bounds = (Bound::Included(&first[..]), end.as_ref().map_or(Bound::Unbounded, |end| Bound::Excluded(&end[..])));
        for table in [tables::MODEL_VECTORS, tables::MODEL_BACKGROUNDS] {
            if self.take_out_range(table, bounds, max)?.len() == max {
                return Ok(true);
            }
        }
        self.take_out(tables::EMBEDDERS, &first)?;
        Ok(false)
    }
}
