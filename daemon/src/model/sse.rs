//! A small bounded parser of server-sent events (the `text/event-stream` format of the WHATWG HTML standard).
//! It must not know what the events say.

use crate::limits;

/// Why a stream of events cannot be read on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SseError {
    /// A line longer than [`limits::MODEL_SSE_LINE_BYTES_MAX`].
    #[error("an event line is longer than {0} bytes")]
    LineTooLong(usize),
    /// More bytes than [`limits::MODEL_STREAM_BYTES_MAX`] in all.
    #[error("the stream is longer than {0} bytes")]
    StreamTooLong(usize),
    /// A line that is not UTF-8.
    #[error("the stream is not UTF-8")]
    NotUtf8,
}

/// Bounds of one stream, in bytes.
#[derive(Debug, Clone, Copy)]
pub struct SseLimits {
    /// Longest line, and longest data of one event.
    pub line_bytes_max: usize,
    /// Longest stream.
    pub stream_bytes_max: usize,
}

impl Default for SseLimits {
    fn default() -> Self {
        SseLimits { line_bytes_max: limits::MODEL_SSE_LINE_BYTES_MAX, stream_bytes_max: limits::MODEL_STREAM_BYTES_MAX }
    }
}

/// Takes bytes as they come, gives the `data` of each whole event.
#[derive(Debug, Default)]
pub struct SseParser {
    limits: SseLimits,
    line: Vec<u8>,
    data: Option<String>,
    last_was_cr: bool,
    is_past_start: bool,
    bytes_seen: usize,
}

impl SseParser {
    /// A parser with its bounds.
    pub fn new(limits: SseLimits) -> SseParser {
        SseParser { limits, ..SseParser::default() }
    }

    /// Feeds bytes, cut anywhere; appends the data of events completed by them to `events`.
    pub fn feed(&mut self, bytes: &[u8], events: &mut Vec<String>) -> Result<(), SseError> {
        self.bytes_seen = self.bytes_seen.saturating_add(bytes.len());
        if self.bytes_seen > self.limits.stream_bytes_max {
            return Err(SseError::StreamTooLong(self.limits.stream_bytes_max));
        }
        for &byte in bytes {
            let after_cr = std::mem::replace(&mut self.last_was_cr, byte == b'\r');
            match byte {
                b'\n' if after_cr => {}
                b'\n' | b'\r' => self.end_line(events)?,
                _ if self.line.len() >= self.limits.line_bytes_max => {
                    return Err(SseError::LineTooLong(self.limits.line_bytes_max));
                }
                _ => self.line.push(byte),
            }
        }
        Ok(())
    }

    /// Ends the stream. An event without its blank line counts: some servers leave the last one out.
    pub fn finish(&mut self, events: &mut Vec<String>) -> Result<(), SseError> {
        if !self.line.is_empty() {
            self.end_line(events)?;
        }
        events.extend(self.data.take());
        Ok(())
    }

    fn end_line(&mut self, events: &mut Vec<String>) -> Result<(), SseError> {
        let line = std::mem::take(&mut self.line);
        let mut line = std::str::from_utf8(&line).map_err(|_| SseError::NotUtf8)?;
        if !std::mem::replace(&mut self.is_past_start, true) {
            line = line.strip_prefix('\u{feff}').unwrap_or(line);
        }
        if line.is_empty() {
            events.extend(self.data.take());
            return Ok(());
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        if field == "data" {
            self.push_data(value.strip_prefix(' ').unwrap_or(value))?;
        }
        Ok(())
    }

    fn push_data(&mut self, value: &str) -> Result<(), SseError> {
        match &mut self.data {
            None => self.data = Some(value.to_owned()),
            Some(data) if data.len() + value.len() >= self.limits.line_bytes_max => {
                return Err(SseError::LineTooLong(self.limits.line_bytes_max));
            }
            Some(data) => {
                data.push('\n');
                data.push_str(value);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn parse(chunks: &[&[u8]]) -> Result<Vec<String>, SseError> {
        let mut parser = SseParser::new(SseLimits { line_bytes_max: 64, stream_bytes_max: 400 });
        let mut events = Vec::new();
        for chunk in chunks {
            parser.feed(chunk, &mut events)?;
        }
        parser.finish(&mut events)?;
        Ok(events)
    }

    #[test]
    fn events_come_out_whole() {
        let table: &[(&str, &[&str])] = &[
            ("data: a\n\ndata: b\n\n", &["a", "b"]),
            ("data: a\r\n\r\ndata:b\r\n\r\n", &["a", "b"]),
            ("data: a\r\rdata: b\r\r", &["a", "b"]),
            (": ping\n\n: ping\n\ndata: a\n\n", &["a"]),
            ("event: x\nid: 1\ndata: a\nretry: 5\n\n", &["a"]),
            ("data: a\ndata: b\n\n", &["a\nb"]),
            ("data\n\n", &[""]),
            ("data: a", &["a"]),
            ("\u{feff}data: a\n\n", &["a"]),
            ("data:  two\n\n", &[" two"]),
            ("\n\n\n", &[]),
        ];
        for (input, expected) in table {
            assert_eq!(parse(&[input.as_bytes()]).unwrap(), *expected, "{input:?}");
            let single: Vec<&[u8]> = input.as_bytes().chunks(1).collect();
            assert_eq!(parse(&single).unwrap(), *expected, "{input:?}, a byte at a time");
        }
    }

    // A40
    #[test]
    fn a_character_split_across_chunks_stays_whole() {
        let bytes = "data: 记忆\u{2028}é\n\n".as_bytes();
        for cut in 0..bytes.len() {
            assert_eq!(parse(&[&bytes[..cut], &bytes[cut..]]).unwrap(), ["记忆\u{2028}é"], "cut at {cut}");
        }
    }

    #[test]
    fn what_passes_a_bound_is_refused() {
        assert_eq!(parse(&[&[b'x'; 65]]).unwrap_err(), SseError::LineTooLong(64));
        let many = b"data: 0123456789\n".repeat(8);
        assert_eq!(parse(&[&many]).unwrap_err(), SseError::LineTooLong(64));
        let endless = b": ping\n\n".repeat(60);
        assert_eq!(parse(&[&endless]).unwrap_err(), SseError::StreamTooLong(400));
        assert_eq!(parse(&[b"data: \xff\n\n"]).unwrap_err(), SseError::NotUtf8);
    }
}
