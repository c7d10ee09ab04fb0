//! The upper four bits of a block's codes, and how far the codes lie from them: half the bytes to read in a scan, and a bound on each cosine
//! that no row can exceed. What the bound rules out is not looked at any further, so that the answer is that of reading every code.
//! It must not know slots or what is done with a bound.

use super::kernels::{NIBBLE_ROW_CODES, dot_nibble_rows};

/// Middle of the sixteen codes that share their upper four bits u: code = 16 u + MIDDLE, and at most 7.5 more or less.
const MIDDLE: f32 = -120.5;
/// More than what rounding can take from a bound.
const ROUNDING: f32 = 1e-5;

/// The sketch of each row of a block, in the order of its rows.
#[derive(Debug, Clone, Default)]
pub(super) struct Sketch {
    /// Two codes' upper bits a byte, [`row_bytes`] a row.
    nibbles: Vec<u8>,
    /// Length of what lies between a row's codes and its sketch, times the row's scale.
    slack: Vec<f32>,
}

/// A query, ready to be held against sketches.
pub(super) struct SketchQuery {
    codes: Vec<i8>,
    scale: f32,
    middle: f32,
    length: f32,
}

/// Bytes of the sketch of a row of so many codes.
fn row_bytes(codes: usize) -> usize {
    codes.next_multiple_of(NIBBLE_ROW_CODES) / 2
}

impl SketchQuery {
    /// From the codes of a query and their scale.
    pub(super) fn new(codes: &[i8], scale: f32) -> Self {
        let mut padded = codes.to_vec();
        padded.resize(codes.len().next_multiple_of(NIBBLE_ROW_CODES), 0);
        let sum: f32 = codes.iter().map(|&code| f32::from(code)).sum();
        let length = codes.iter().map(|&code| f32::from(code) * f32::from(code)).sum::<f32>().sqrt();
        Self { codes: padded, scale, middle: MIDDLE * sum, length: length * scale }
    }
}

impl Sketch {
    /// The sketch of whole columns: rows of `stride` codes, and their scales.
    pub(super) fn of(codes: &[i8], scales: &[f32], stride: usize) -> Self {
        let mut sketch = Self::default();
        for (row, (codes, scale)) in codes.chunks_exact(stride.max(1)).zip(scales).enumerate() {
            sketch.set(row, codes, *scale);
        }
        sketch
    }

    /// Heap bytes in use, about.
    pub(super) fn memory_bytes(&self) -> usize {
        self.nibbles.capacity() + self.slack.capacity() * 4
    }

    /// Sets a row, which is there or the next one.
    pub(super) fn set(&mut self, row: usize, codes: &[i8], scale: f32) {
        let bytes = row_bytes(codes.len());
        if row == self.slack.len() {
            self.slack.push(0.0);
            self.nibbles.resize(self.nibbles.len() + bytes, 0);
        }
        let mut squares = 0.0;
        let out = &mut self.nibbles[row * bytes..(row + 1) * bytes];
        let halves = NIBBLE_ROW_CODES / 2;
        for (codes, out) in codes.chunks(NIBBLE_ROW_CODES).zip(out.chunks_exact_mut(halves)) {
            out.fill(0);
            for (place, &code) in codes.iter().enumerate() {
                let raised = code as u8 ^ 0x80; // code + 128
                out[place % halves] |= (raised >> 4) << if place < halves { 0 } else { 4 };
                let left = f32::from(raised & 0x0F) - 7.5;
                squares += left * left;
            }
        }
        self.slack[row] = squares.sqrt() * scale;
    }

    /// Takes a row out; the last takes its place.
    pub(super) fn swap_remove(&mut self, row: usize) {
        let bytes = self.nibbles.len() / self.slack.len().max(1);
        let last = self.slack.len() - 1;
        self.nibbles.copy_within(last * bytes.., row * bytes);
        self.nibbles.truncate(last * bytes);
        self.slack.swap_remove(row);
    }

    /// Gives memory that removals freed back.
    pub(super) fn compact(&mut self) {
        self.nibbles.shrink_to_fit();
        self.slack.shrink_to_fit();
    }

    /// What the cosines of the rows from `first` on cannot exceed; `scales` are theirs, `dots` is scratch of the same length.
    pub(super) fn bounds(&self, query: &SketchQuery, first: usize, scales: &[f32], dots: &mut [i32], bounds: &mut [f32]) {
        let bytes = query.codes.len() / 2;
        dot_nibble_rows(&query.codes, &self.nibbles[first * bytes..(first + scales.len()) * bytes], dots);
        let slack = &self.slack[first..first + scales.len()];
        for (((bound, &dot), &scale), &slack) in bounds.iter_mut().zip(dots.iter()).zip(scales).zip(slack) {
            // By Cauchy and Schwarz, what is left of the codes adds no more than its length times the query's.
            *bound = (16.0 * dot as f32 + query.middle) * (scale * query.scale) + (slack * query.length + ROUNDING);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::kernels::{CODE_MAX, dot_codes};
    use super::*;

    proptest! {
        #[test]
        fn no_row_exceeds_its_bound((query, rows) in (1_usize..7).prop_flat_map(|n| {
            let codes = || prop_oneof![3 => -CODE_MAX..=CODE_MAX, 1 => Just(CODE_MAX), 1 => Just(-CODE_MAX), 1 => Just(15)];
            (vec(codes(), n * 32), vec(vec(codes(), n * 32), 1..9))
        })) {
            let codes = rows.concat();
            let scales: Vec<f32> = (0..rows.len()).map(|row| 0.001 * (row + 1) as f32).collect();
            let sketch = Sketch::of(&codes, &scales, query.len());
            let (mut dots, mut bounds) = (vec![0; rows.len()], vec![0.0; rows.len()]);
            sketch.bounds(&SketchQuery::new(&query, 0.002), 0, &scales, &mut dots, &mut bounds);
            for ((row, scale), bound) in rows.iter().zip(&scales).zip(bounds) {
                let cosine = dot_codes(&query, row) as f32 * scale * 0.002;
                prop_assert!(cosine <= bound, "{cosine} over {bound}");
            }
        }
    }

    #[test]
    fn a_bound_is_reached_where_the_rest_points_along_the_query() {
        // Codes of 15 more than a multiple of 16, against ones: the rest is the largest there is, and all of it counts.
        let (row, query) = (vec![15_i8; 64], vec![1_i8; 64]);
        let sketch = Sketch::of(&row, &[0.01], 64);
        let mut bound = [0.0];
        sketch.bounds(&SketchQuery::new(&query, 0.01), 0, &[0.01], &mut [0], &mut bound);
        assert!((bound[0] - 15.0 * 64.0 * 1e-4).abs() < 1e-4, "{}", bound[0]);
    }
}
