//! Bytes as they come in, cut into lines.
//!
//! Pure: knows no socket. A line may come in any number of pieces, split anywhere, also inside a character; it is only
//! looked at when it is whole. Must not know: what a line holds.

use crate::limits::{FRAME_BYTES_MAX, READ_BYTES};
use std::ops::Range;

/// A line longer than [`FRAME_BYTES_MAX`], whole or not.
#[derive(Debug, PartialEq, Eq)]
pub struct Overlong;

/// The bytes that have come in and were not taken yet.
#[derive(Default)]
pub struct FrameBuffer {
    bytes: Vec<u8>,
    start: usize,
    scanned: usize,
}

impl FrameBuffer {
    /// The next whole line: a range of [`FrameBuffer::bytes`], without its end. Empty lines are left out.
    ///
    /// # Errors
    /// When a line is too long; there is no next line after that.
    pub fn next_line(&mut self) -> Result<Option<Range<usize>>, Overlong> {
        loop {
            let Some(end) = self.bytes[self.scanned..].iter().position(|byte| *byte == b'\n').map(|at| at + self.scanned) else {
                self.scanned = self.bytes.len();
                if self.partial() > FRAME_BYTES_MAX {
                    return Err(Overlong);
                }
                return Ok(None);
            };
            let line = self.start..if end > self.start && self.bytes[end - 1] == b'\r' { end - 1 } else { end };
            self.start = end + 1;
            self.scanned = self.start;
            if line.len() > FRAME_BYTES_MAX {
                return Err(Overlong);
            }
            if self.bytes[line.clone()].iter().any(|byte| !matches!(byte, b' ' | b'\t')) {
                return Ok(Some(line));
            }
        }
    }

    /// Where lines are read from.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Bytes of the line that is not whole yet.
    pub fn partial(&self) -> usize {
        self.bytes.len() - self.start
    }

    /// Bytes of memory held.
    pub fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// Forgets the lines that were taken and hands out the buffer with room for more.
    pub fn make_room(&mut self) -> &mut Vec<u8> {
        if self.start > 0 {
            self.bytes.drain(..self.start);
            self.scanned -= self.start;
            self.start = 0;
        }
        if self.bytes.is_empty() && self.bytes.capacity() > 2 * READ_BYTES {
            self.bytes = Vec::new();
        }
        self.bytes.reserve(READ_BYTES);
        &mut self.bytes
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn lines(pieces: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Vec<String> {
        let mut buffer = FrameBuffer::default();
        let mut lines = Vec::new();
        for piece in pieces {
            buffer.make_room().extend_from_slice(piece.as_ref());
            while let Some(range) = buffer.next_line().unwrap() {
                lines.push(String::from_utf8(buffer.bytes()[range].to_vec()).unwrap());
            }
        }
        lines
    }

    #[test]
    fn lines_come_out_whole_however_they_went_in() {
        // API-1, A40
        let text = "{\"a\":\"桂\u{2028}花\"}\r\n\n  \n{\"b\":2}\nrest";
        let expected = vec!["{\"a\":\"桂\u{2028}花\"}".to_owned(), "{\"b\":2}".to_owned()];
        for size in 1..=text.len() {
            assert_eq!(lines(text.as_bytes().chunks(size)), expected, "pieces of {size}");
        }
    }

    #[test]
    fn a_line_over_the_limit_is_refused_whether_or_not_it_ends() {
        // API-3, A41, C3
        let mut buffer = FrameBuffer::default();
        buffer.make_room().extend_from_slice(&vec![b'x'; FRAME_BYTES_MAX]);
        assert_eq!(buffer.next_line(), Ok(None));
        buffer.make_room().push(b'\n');
        assert_eq!(buffer.next_line(), Ok(Some(0..FRAME_BYTES_MAX)));
        buffer.make_room().extend_from_slice(&vec![b'x'; FRAME_BYTES_MAX + 1]);
        assert_eq!(buffer.next_line(), Err(Overlong));
    }

    #[test]
    fn a_long_line_leaves_no_memory_behind() {
        let mut buffer = FrameBuffer::default();
        buffer.make_room().extend_from_slice(&vec![b'x'; 1 << 20]);
        buffer.make_room().push(b'\n');
        assert!(buffer.next_line().unwrap().is_some());
        buffer.make_room();
        assert!(buffer.capacity() <= 2 * READ_BYTES);
    }
}
