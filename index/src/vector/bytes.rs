//! A block as bytes, for snapshots, and back. Nothing in the bytes is believed before it is checked.
//! It must not know of files.
//!
//! Little-endian: magic (8 bytes), dimension u32, rows u32, slots (u32 each), scales (f32 each), codes, what they
//! leave over (i16 each), XXH3-64 of all that (u64).

use std::io;
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use super::block::Block;
use super::codes::row_len;

const MAGIC: &[u8; 8] = b"tiroblk2";
const HEADER_BYTES: usize = 16;
const CHECKSUM_BYTES: usize = 8;
/// Bytes of a piece when a block is written, about.
const PIECE_BYTES: usize = 1 << 16;

/// Why bytes are no block. The block is then rebuilt from its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BlockBytesError {
    /// Not a block, or of another format.
    #[error("bytes are not a vector block of this format")]
    Format,
    /// Not of the length that the header asks for.
    #[error("vector block is {got} bytes long where its header asks for {expected}")]
    Length {
        /// Bytes that the header asks for.
        expected: u128,
        /// Bytes there.
        got: usize,
    },
    /// Bytes have changed since they were written.
    #[error("checksum of the vector block does not match")]
    Checksum,
    /// The content contradicts itself though its checksum is right.
    #[error("vector block holds a scale or a code out of range, or a slot twice")]
    Content,
}

impl Block {
    /// The block as bytes, piece by piece, so that there is no second copy of it.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_to(&self, out: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let mut hash = Xxh3Default::new();
        let mut piece = Vec::with_capacity(PIECE_BYTES);
        piece.extend_from_slice(MAGIC);
        piece.extend_from_slice(&(self.dimension as u32).to_le_bytes());
        piece.extend_from_slice(&(self.len() as u32).to_le_bytes());
        let mut give = |piece: &mut Vec<u8>| {
            hash.update(piece);
            let given = out(piece);
            piece.clear();
            given
        };
        for slots in self.slots.chunks(PIECE_BYTES / 4) {
            give(&mut piece)?;
            slots.iter().for_each(|slot| piece.extend_from_slice(&slot.to_le_bytes()));
        }
        for scales in self.scales.chunks(PIECE_BYTES / 4) {
            give(&mut piece)?;
            scales.iter().for_each(|scale| piece.extend_from_slice(&scale.to_le_bytes()));
        }
        for codes in self.codes.chunks(PIECE_BYTES) {
            give(&mut piece)?;
            piece.extend(codes.iter().map(|&code| code as u8));
        }
        for rest in self.rest.chunks(PIECE_BYTES / 2) {
            give(&mut piece)?;
            rest.iter().for_each(|rest| piece.extend_from_slice(&rest.to_le_bytes()));
        }
        give(&mut piece)?;
        out(&hash.digest().to_le_bytes())
    }

    /// Bytes that [`write_to`](Self::write_to) gives.
    pub fn byte_len(&self) -> usize {
        HEADER_BYTES + self.len() * 8 + self.codes.len() + self.rest.len() * 2 + CHECKSUM_BYTES
    }

    /// The same as one piece.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.byte_len());
        let written = self.write_to(&mut |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        });
        debug_assert!(written.is_ok(), "writing to memory does not fail");
        bytes
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote. Allocates no more than the bytes given.
    ///
    /// # Errors
    /// When the bytes are not exactly a block.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, BlockBytesError> {
        let (Some(magic), Some(dimension), Some(rows)) = (bytes.get(..8), u32_at(bytes, 8), u32_at(bytes, 12)) else {
            return Err(BlockBytesError::Format);
        };
        if magic != MAGIC {
            return Err(BlockBytesError::Format);
        }
        let stride = (dimension as usize).checked_next_multiple_of(row_len(1)).ok_or(BlockBytesError::Format)?;
        let expected = HEADER_BYTES as u128 + u128::from(rows) * (8 + 3 * stride as u128) + CHECKSUM_BYTES as u128;
        if bytes.len() as u128 != expected {
            return Err(BlockBytesError::Length { expected, got: bytes.len() });
        }
        let (body, checksum) = bytes.split_at(bytes.len() - CHECKSUM_BYTES);
        if xxh3_64(body).to_le_bytes() != checksum {
            return Err(BlockBytesError::Checksum);
        }
        let rows = rows as usize;
        let (slots, rest) = body[HEADER_BYTES..].split_at(rows * 4);
        let (scales, codes) = rest.split_at(rows * 4);
        let slots: Vec<u32> = slots.as_chunks().0.iter().map(|&bytes| u32::from_le_bytes(bytes)).collect();
        let scales: Vec<f32> = scales.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
        let (codes, rest) = codes.split_at(codes.len() / 3);
        let codes: Vec<i8> = codes.iter().map(|&byte| byte as i8).collect();
        let rest: Vec<i16> = rest.as_chunks().0.iter().map(|&bytes| i16::from_le_bytes(bytes)).collect();
        let is_scale = |scale: &f32| scale.is_finite() && *scale >= 0.0;
        if !scales.iter().all(is_scale) || codes.contains(&i8::MIN) || rest.contains(&i16::MIN) {
            return Err(BlockBytesError::Content);
        }
        Self::from_columns(dimension as usize, codes, rest, scales, slots).ok_or(BlockBytesError::Content)
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn block() -> Block {
        let mut block = Block::new(3);
        for slot in 0..10 {
            block.put(slot * 7, &[0.1 * slot as f32, 0.2, -0.3]).unwrap();
        }
        block
    }

    #[test]
    fn comes_back_as_it_was() {
        for block in [block(), Block::new(192), Block::new(0)] {
            let back = Block::from_bytes(&block.to_bytes()).unwrap();
            assert_eq!((back.dimension, back.len()), (block.dimension, block.len()));
            assert_eq!(back.scan(&[1.0, 0.0, 0.0], 10, |_| true), block.scan(&[1.0, 0.0, 0.0], 10, |_| true));
            assert_eq!(back.to_bytes(), block.to_bytes());
        }
    }

    // M30
    #[test]
    fn every_flip_cut_and_extension_is_refused() {
        let bytes = block().to_bytes();
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            assert!(Block::from_bytes(&flipped).is_err(), "flip at {at}");
            assert!(Block::from_bytes(&bytes[..at]).is_err(), "cut at {at}");
        }
        assert!(Block::from_bytes(&[bytes.as_slice(), &[0]].concat()).is_err());
    }

    #[test]
    fn a_right_checksum_over_wrong_content_is_refused() {
        let bytes = block().to_bytes();
        let with = |at: usize, new: &[u8]| {
            let mut body = bytes[..bytes.len() - 8].to_vec();
            body[at..at + new.len()].copy_from_slice(new);
            let checksum = xxh3_64(&body).to_le_bytes();
            Block::from_bytes(&[body.as_slice(), &checksum].concat()).map(|_| ())
        };
        assert_eq!(with(16, &7_u32.to_le_bytes()), Err(BlockBytesError::Content)); // the slot of row 1
        assert_eq!(with(16 + 40, &f32::NAN.to_le_bytes()), Err(BlockBytesError::Content));
        assert_eq!(with(16 + 80, &[0x80]), Err(BlockBytesError::Content));
        assert_eq!(with(bytes.len() - 10, &i16::MIN.to_le_bytes()), Err(BlockBytesError::Content));
        assert!(matches!(with(12, &u32::MAX.to_le_bytes()), Err(BlockBytesError::Length { .. })));
        assert!(matches!(with(8, &u32::MAX.to_le_bytes()), Err(BlockBytesError::Length { .. })));
    }
}
