//! Where readers put what they find: lines, what was refused, what was passed over; in batches, to whoever takes them.
//!
//! Must not know: formats, the daemon.

use crate::limits::{IMPORT_BATCH_BYTES, IMPORT_BATCH_LINES, IMPORT_REFUSED_MAX};
use serde_json::Value;
use std::collections::BTreeMap;
use tiro_schema::wire::memory::ExportLine;

/// Why a reader ends before its stream does.
#[derive(Debug, thiserror::Error)]
pub enum Stop {
    /// Nobody takes the lines any more.
    #[error("stopped")]
    Gone,
    /// The stream cannot be read.
    #[error(transparent)]
    Unreadable(#[from] std::io::Error),
    /// What stands in the stream is not of the format.
    #[error("{0}")]
    Misfit(String),
}

/// Where in a stream something stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A line, counted from 1.
    Line(u64),
    /// In words.
    Named(String),
}

/// What was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Where it stands.
    pub place: Place,
    /// Why.
    pub reason: String,
}

/// Lines on their way, with what was met before the last of them.
#[derive(Debug, Default)]
pub struct Batch {
    /// What `memory/import` takes.
    pub lines: Vec<Value>,
    /// Where each stands.
    pub places: Vec<Place>,
    /// What was refused here, without asking the daemon. The first are kept, all are counted.
    pub refused: Vec<Refusal>,
    /// All that was refused.
    pub refused_count: u64,
    /// What was passed over on purpose, by kind.
    pub skipped: BTreeMap<&'static str, u64>,
    /// Conversations, or documents, that have begun.
    pub sources: u64,
    /// Bytes read so far.
    pub read: u64,
    /// Bytes of the lines.
    bytes: usize,
}

/// Takes what a reader finds.
pub struct Sink {
    batch: Batch,
    deliver: Box<dyn FnMut(Batch) -> Result<(), Stop> + Send>,
    /// Lines that an earlier run has sent already.
    skip_first: u64,
    read: u64,
}

impl Sink {
    /// Gives full batches to `deliver`; the first `skip_first` lines are left out, as they were sent before.
    pub fn new(skip_first: u64, deliver: impl FnMut(Batch) -> Result<(), Stop> + Send + 'static) -> Self {
        Sink { batch: Batch::default(), deliver: Box::new(deliver), skip_first, read: 0 }
    }

    /// A line to be taken. `bytes` is about how much it weighs.
    ///
    /// # Errors
    /// When nobody takes it.
    pub fn push(&mut self, place: Place, line: Value, bytes: usize) -> Result<(), Stop> {
        if self.skip_first > 0 {
            self.skip_first -= 1;
            return Ok(());
        }
        let is_full = self.batch.lines.len() >= IMPORT_BATCH_LINES || self.batch.bytes + bytes > IMPORT_BATCH_BYTES;
        if is_full && !self.batch.lines.is_empty() {
            self.flush()?;
        }
        self.batch.bytes += bytes;
        self.batch.lines.push(line);
        self.batch.places.push(place);
        Ok(())
    }

    /// The same for a line of the wire's type.
    ///
    /// # Errors
    /// When nobody takes it.
    pub fn line(&mut self, place: Place, line: &ExportLine) -> Result<(), Stop> {
        let bytes = line.memory.text.len() + 256;
        match serde_json::to_value(line) {
            Ok(value) => self.push(place, value, bytes),
            Err(error) => {
                self.refuse(place, error.to_string());
                Ok(())
            }
        }
    }

    /// Something that cannot be taken.
    pub fn refuse(&mut self, place: Place, reason: impl Into<String>) {
        self.batch.refused_count += 1;
        if self.batch.refused.len() < IMPORT_REFUSED_MAX {
            self.batch.refused.push(Refusal { place, reason: reason.into() });
        }
    }

    /// Something that is passed over on purpose.
    pub fn skip(&mut self, kind: &'static str) {
        *self.batch.skipped.entry(kind).or_default() += 1;
    }

    /// A conversation or a document begins.
    pub fn begin(&mut self) {
        self.batch.sources += 1;
    }

    /// How far the stream was read, in bytes.
    pub fn read_to(&mut self, bytes: u64) {
        self.read = bytes;
    }

    /// Delivers what is there.
    ///
    /// # Errors
    /// When nobody takes it.
    pub fn flush(&mut self) -> Result<(), Stop> {
        let mut batch = std::mem::take(&mut self.batch);
        batch.read = self.read;
        (self.deliver)(batch)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::sync::{Arc, Mutex};

    fn collecting(skip_first: u64) -> (Sink, Arc<Mutex<Vec<usize>>>) {
        let sizes = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&sizes);
        let sink = Sink::new(skip_first, move |batch| {
            kept.lock().unwrap().push(batch.lines.len());
            Ok(())
        });
        (sink, sizes)
    }

    #[test]
    fn batches_are_bounded_by_lines_and_by_bytes() {
        let (mut sink, sizes) = collecting(0);
        for n in 0..(IMPORT_BATCH_LINES as u64 + 1) {
            sink.push(Place::Line(n), Value::Null, 1).unwrap();
        }
        sink.flush().unwrap();
        for n in 0..3 {
            sink.push(Place::Line(n), Value::Null, IMPORT_BATCH_BYTES / 2 + 1).unwrap();
        }
        sink.flush().unwrap();
        assert_eq!(*sizes.lock().unwrap(), [IMPORT_BATCH_LINES, 1, 1, 1, 1]);
    }

    #[test]
    fn what_was_sent_before_is_left_out() {
        let (mut sink, sizes) = collecting(2);
        for n in 0..5 {
            sink.push(Place::Line(n), Value::Null, 1).unwrap();
        }
        sink.flush().unwrap();
        assert_eq!(*sizes.lock().unwrap(), [3]);
    }
}
