//! Little-endian numbers, out with a running checksum and in with a check of every length. It must not know what they mean.

use std::io::{self, Write};
use xxhash_rust::xxh3::Xxh3Default;

/// Writes and hashes.
pub(super) struct Sink<W: Write> {
    inner: W,
    hash: Xxh3Default,
    bytes: u64,
}

impl<W: Write> Sink<W> {
    pub(super) fn new(inner: W) -> Self {
        Self { inner, hash: Xxh3Default::new(), bytes: 0 }
    }

    pub(super) fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
        self.inner.write_all(bytes)
    }

    /// The inner writer, how many bytes went through, and their checksum.
    pub(super) fn finish(self) -> (W, u64, u64) {
        (self.inner, self.bytes, self.hash.digest())
    }
}

/// Reads from bytes whose checksum matched; still checks every length.
pub(super) struct Source<'a> {
    rest: &'a [u8],
}

impl<'a> Source<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(super) fn raw(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(taken)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.raw(4)?.try_into().ok().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.raw(8)?.try_into().ok().map(u64::from_le_bytes)
    }

    pub(super) fn i64(&mut self) -> Option<i64> {
        self.raw(8)?.try_into().ok().map(i64::from_le_bytes)
    }

    /// `len` numbers; nothing is allocated before the bytes are known to be there.
    pub(super) fn u32s(&mut self, len: usize) -> Option<Vec<u32>> {
        let bytes = self.raw(len.checked_mul(4)?)?;
        Some(bytes.as_chunks().0.iter().map(|&four| u32::from_le_bytes(four)).collect())
    }

    /// As [`Source::u32s`].
    pub(super) fn u64s(&mut self, len: usize) -> Option<Vec<u64>> {
        let bytes = self.raw(len.checked_mul(8)?)?;
        Some(bytes.as_chunks().0.iter().map(|&eight| u64::from_le_bytes(eight)).collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }
}
