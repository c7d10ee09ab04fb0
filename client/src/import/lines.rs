//! A stream line by line, without more of a long line in memory than is needed to refuse it.
//!
//! Must not know: formats.

use std::io::{self, BufRead, Read};

/// A line of a stream.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// Its bytes, without its end.
    Whole(Vec<u8>),
    /// It is longer than was allowed.
    TooLong,
}

/// Reads lines and counts bytes.
pub struct Lines<'a> {
    input: &'a mut dyn BufRead,
    max: usize,
    /// Bytes read so far.
    pub read: u64,
    /// The number of the last line, from 1.
    pub number: u64,
}

impl<'a> Lines<'a> {
    /// Lines of at most `max` bytes.
    pub fn new(input: &'a mut dyn BufRead, max: usize) -> Self {
        Lines { input, max, read: 0, number: 0 }
    }

    /// The next line; none at the end.
    ///
    /// # Errors
    /// As the stream says.
    pub fn next_line(&mut self) -> io::Result<Option<Line>> {
        let mut line = Vec::new();
        let most = self.max as u64 + 1;
        let taken = Read::take(&mut *self.input, most).read_until(b'\n', &mut line)?;
        self.read += taken as u64;
        if taken == 0 {
            return Ok(None);
        }
        self.number += 1;
        if line.last() != Some(&b'\n') && taken as u64 == most {
            self.skip()?;
            return Ok(Some(Line::TooLong));
        }
        while matches!(line.last(), Some(b'\n' | b'\r')) {
            line.pop();
        }
        if self.number == 1 && line.starts_with(b"\xef\xbb\xbf") {
            line.drain(..3);
        }
        Ok(Some(Line::Whole(line)))
    }

    /// Passes over the rest of a line.
    fn skip(&mut self) -> io::Result<()> {
        loop {
            let buffer = self.input.fill_buf()?;
            let (used, ended) = match buffer.iter().position(|byte| *byte == b'\n') {
                Some(at) => (at + 1, true),
                None => (buffer.len(), buffer.is_empty()),
            };
            self.input.consume(used);
            self.read += used as u64;
            if ended {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_long_line_is_passed_over_and_the_next_one_is_read() {
        let mut text = b"\xef\xbb\xbffirst\r\n".to_vec();
        text.extend_from_slice(&[b'x'; 300]);
        text.extend_from_slice(b"\n\nlast");
        let mut input = io::Cursor::new(text.clone());
        let mut lines = Lines::new(&mut input, 100);
        let whole = |text: &str| Some(Line::Whole(text.as_bytes().to_vec()));
        assert_eq!(lines.next_line().unwrap(), whole("first"));
        assert_eq!(lines.next_line().unwrap(), Some(Line::TooLong));
        assert_eq!(lines.next_line().unwrap(), whole(""));
        assert_eq!((lines.next_line().unwrap(), lines.number), (whole("last"), 4));
        assert_eq!((lines.next_line().unwrap(), lines.read), (None, text.len() as u64));
    }
}
