//! The daemon's log file, read from its end.
//!
//! Must not know: what the lines mean.

use crate::limits::LOG_TAIL_BYTES;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// The last lines of a file, at most `count`, out of its last [`LOG_TAIL_BYTES`]; with the length read up to.
///
/// # Errors
/// As the file system says.
pub fn last_lines(path: &Path, count: usize) -> io::Result<(Vec<String>, u64)> {
    lines_after(path, 0, count)
}

/// The last lines written after `begins_at`; none when the file cannot be read.
pub fn last_lines_since(path: &Path, begins_at: u64, count: usize) -> Vec<String> {
    lines_after(path, begins_at, count).map(|(lines, _)| lines).unwrap_or_default()
}

fn lines_after(path: &Path, begins_at: u64, count: usize) -> io::Result<(Vec<String>, u64)> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let from = begins_at.max(length.saturating_sub(LOG_TAIL_BYTES));
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(LOG_TAIL_BYTES).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let mut lines: Vec<&str> = text.lines().collect();
    if from > begins_at && lines.len() > 1 {
        lines.remove(0); // the first line was cut
    }
    let skip = lines.len().saturating_sub(count);
    Ok((lines[skip..].iter().map(|line| (*line).to_owned()).collect(), length))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_end_is_read_and_only_what_came_after() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        std::fs::write(&path, "one\ntwo\nthree\n").unwrap();
        assert_eq!(last_lines(&path, 2).unwrap().0, ["two", "three"]);
        assert_eq!(last_lines_since(&path, 4, 9), ["two", "three"]);
        assert!(last_lines_since(&dir.path().join("none"), 0, 3).is_empty());
    }

    #[test]
    fn a_long_log_is_read_from_its_end_in_whole_lines() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let line = "x".repeat(99);
        std::fs::write(&path, format!("{line}\n").repeat(10_000)).unwrap();
        let (lines, length) = last_lines(&path, 5_000).unwrap();
        assert_eq!(length, 1_000_000);
        assert!(lines.len() > 2_000 && lines.iter().all(|l| *l == line));
    }
}
