//! The vectors of one space: int8 rows, contiguous, one scale a row, what the codes leave over, and the slot that each row belongs to. Scans
//! read the codes alone; what they leave over makes the cosines of the few that are looked at again as exact as f32.
//! It must not know what a slot is or where full-precision vectors are kept.

use super::codes::{encode, encode_fine, row_len};
use super::door::{VectorError, check_vector};
use super::kernels::{REACHING_MAX, dot_code_rows, dot_fine, prefetch, reaching};
use super::top::Top;
use crate::hash::NumberMap;

/// Rows scored at once before they are compared with the best so far: small enough for the first-level cache.
const TILE_ROWS: usize = REACHING_MAX;

/// One more in so many is looked for where nearly every slot is let through.
const SPARE_SHARE: usize = 4;

/// Vectors of one space and dimension, at most one a slot. Rows have no order: removing one moves the last into its place, so there are
/// no holes to skip or to compact. Memory: three times the padded dimension plus about 20 bytes a row.
#[derive(Debug, Clone)]
pub struct Block {
    pub(super) dimension: usize,
    /// `row_len(dimension)` codes a row.
    pub(super) codes: Vec<i8>,
    /// What the codes leave over, as many a row.
    pub(super) rest: Vec<i16>,
    pub(super) scales: Vec<f32>,
    pub(super) slots: Vec<u32>,
    rows: NumberMap<u32, u32>,
}

impl Block {
    /// An empty block for vectors of `dimension`.
    pub fn new(dimension: usize) -> Self {
        Self { dimension, codes: Vec::new(), rest: Vec::new(), scales: Vec::new(), slots: Vec::new(), rows: NumberMap::default() }
    }

    /// Takes over whole columns whose lengths fit; `None` when a slot comes twice.
    pub(super) fn from_columns(
        dimension: usize,
        codes: Vec<i8>,
        rest: Vec<i16>,
        scales: Vec<f32>,
        slots: Vec<u32>,
    ) -> Option<Self> {
        let rows: NumberMap<u32, u32> = slots.iter().enumerate().map(|(row, &slot)| (slot, row as u32)).collect();
        (rows.len() == slots.len()).then_some(Self { dimension, codes, rest, scales, slots, rows })
    }

    /// Dimension of the vectors.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Vectors held.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there is no vector.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Whether `slot` has a vector.
    pub fn contains(&self, slot: u32) -> bool {
        self.rows.contains_key(&slot)
    }

    /// Heap bytes in use, about.
    pub fn memory_bytes(&self) -> usize {
        self.codes.capacity()
            + self.rest.capacity() * 2
            + self.scales.capacity() * 4
            + self.slots.capacity() * 4
            + self.rows.capacity() * 9
    }

    /// Sets the vector of `slot`, in the place of the one it may have.
    ///
    /// # Errors
    /// What [`check_vector`] refuses; the block is then as before.
    pub fn put(&mut self, slot: u32, vector: &[f32]) -> Result<(), VectorError> {
        check_vector(vector, self.dimension)?;
        let stride = row_len(self.dimension);
        let row = match self.rows.get(&slot) {
            Some(&row) => row as usize,
            None => {
                let row = self.slots.len();
                self.rows.insert(slot, row as u32);
                self.slots.push(slot);
                self.scales.push(0.0);
                self.codes.resize(self.codes.len() + stride, 0);
                self.rest.resize(self.codes.len(), 0);
                row
            }
        };
        let places = row * stride..(row + 1) * stride;
        self.scales[row] = encode_fine(vector, &mut self.codes[places.clone()], &mut self.rest[places]);
        Ok(())
    }

    /// Forgets the vector of `slot`; its bytes are overwritten. False when it has none.
    pub fn remove(&mut self, slot: u32) -> bool {
        let Some(row) = self.rows.remove(&slot) else {
            return false;
        };
        let (row, last, stride) = (row as usize, self.slots.len() - 1, row_len(self.dimension));
        take_row(&mut self.codes, row, last, stride);
        take_row(&mut self.rest, row, last, stride);
        self.scales.swap_remove(row);
        self.slots.swap_remove(row);
        if row != last {
            self.rows.insert(self.slots[row], row as u32);
        }
        true
    }

    /// Gives memory that removals freed back.
    pub fn compact(&mut self) {
        self.codes.shrink_to_fit();
        self.rest.shrink_to_fit();
        self.scales.shrink_to_fit();
        self.slots.shrink_to_fit();
        self.rows.shrink_to_fit();
    }

    /// The `k` slots nearest to `query` among those that `eligible` lets through, best first, each with its approximate cosine (inner
    /// product; the query has norm 1), ties by the lower slot. What is not eligible takes no place: the answer is as if it were not there.
    /// `eligible` is asked only about rows that would enter the answer, so it may look things up.
    ///
    /// Take the [`cosines`](Self::cosines) of the first 30 where the order matters: that gives the exact top 10. A query of another dimension
    /// finds nothing.
    pub fn scan(&self, query: &[f32], k: usize, mut eligible: impl FnMut(u32) -> bool) -> Vec<(u32, f32)> {
        let Some((query, query_scale)) = self.encode_query(query) else {
            return Vec::new();
        };
        if k == 0 {
            return Vec::new();
        }
        let mut top = Top::new(k);
        let mut bar = top.bar();
        let (mut dots, mut cosines) = ([0; TILE_ROWS], [0.0; TILE_ROWS]);
        let tiles =
            self.codes.chunks(query.len() * TILE_ROWS).zip(self.scales.chunks(TILE_ROWS)).zip(self.slots.chunks(TILE_ROWS));
        for ((codes, scales), slots) in tiles {
            let (dots, cosines) = (&mut dots[..slots.len()], &mut cosines[..slots.len()]);
            dot_code_rows(&query, codes, dots);
            for ((cosine, &dot), &scale) in cosines.iter_mut().zip(dots.iter()).zip(scales) {
                *cosine = dot as f32 * scale * query_scale;
            }
            for at in bits(reaching(cosines, bar)) {
                if cosines[at] >= bar && eligible(slots[at]) {
                    top.offer(slots[at], cosines[at]);
                    bar = top.bar();
                }
            }
        }
        top.into_sorted()
    }

    /// The same where nearly every slot is let through: whether the best are is asked afterwards, of those that stay best alone, since looking a
    /// slot up costs more than comparing its vector. Where too many are not, all are asked.
    pub fn scan_mostly(&self, query: &[f32], k: usize, eligible: impl Fn(u32) -> bool) -> Vec<(u32, f32)> {
        let most = k.saturating_add(k / SPARE_SHARE).saturating_add(1);
        let mut found = self.scan(query, most, |_| true);
        let all = found.len() < most;
        found.retain(|&(slot, _)| eligible(slot));
        if found.len() < k && !all {
            return self.scan(query, k, eligible);
        }
        found.truncate(k);
        found
    }

    /// The cosines of some slots to `query`, in order, from codes and what they leave over; `None` for a slot without a vector.
    pub fn cosines(&self, query: &[f32], slots: &[u32]) -> Vec<Option<f32>> {
        if query.len() != self.dimension || query.iter().any(|x| !x.is_finite()) {
            return vec![None; slots.len()];
        }
        let rows: Vec<Option<usize>> = slots.iter().map(|slot| Some(*self.rows.get(slot)? as usize)).collect();
        for &row in rows.iter().flatten() {
            prefetch(self.row(row).0);
            prefetch(self.rest_of(row));
        }
        let cosine = |row: usize| {
            let ((codes, scale), rest) = (self.row(row), self.rest_of(row));
            dot_fine(query, codes, rest) * scale
        };
        rows.into_iter().map(|row| row.map(cosine)).collect()
    }

    /// Every slot with its codes (padded) and their scale, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &[i8], f32)> {
        self.slots.iter().enumerate().map(|(row, &slot)| {
            let (codes, scale) = self.row(row);
            (slot, codes, scale)
        })
    }

    /// The codes (padded) and scale of one slot.
    pub fn get(&self, slot: u32) -> Option<(&[i8], f32)> {
        self.rows.get(&slot).map(|&row| self.row(row as usize))
    }

    fn row(&self, row: usize) -> (&[i8], f32) {
        let stride = row_len(self.dimension);
        (&self.codes[row * stride..(row + 1) * stride], self.scales[row])
    }

    fn rest_of(&self, row: usize) -> &[i16] {
        let stride = row_len(self.dimension);
        &self.rest[row * stride..(row + 1) * stride]
    }

    fn encode_query(&self, query: &[f32]) -> Option<(Vec<i8>, f32)> {
        if query.len() != self.dimension || query.is_empty() || query.iter().any(|x| !x.is_finite()) {
            return None;
        }
        let mut codes = vec![0; row_len(self.dimension)];
        let scale = encode(query, &mut codes);
        Some((codes, scale))
    }
}

/// Moves the last row into the place of another; what stood there is overwritten.
fn take_row<T: Copy + Default>(column: &mut Vec<T>, row: usize, last: usize, stride: usize) {
    column.copy_within(last * stride.., row * stride);
    column[last * stride..].fill(T::default());
    column.truncate(last * stride);
}

/// The places of the bits that are set, lowest first.
fn bits(mut set: u128) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let at = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(at)
    })
}

#[cfg(test)]
#[path = "block_tests.rs"]
mod tests;
