//! Looking for texts in every byte that the store's folders hold: which rows hold them, and which files, whatever they are.
//!
//! Files are read as a stream; the longest text decides what is held of them. Must not know: who asks, the index's own formats.

use super::error::StoreError;
use super::read::UNBOUNDED;
use super::read_session::SessionReads;
use super::rows::{Direction, ReadTx, Rows};
use super::tables::{self, ALL, Table};
use super::{codec, keys};
use crate::limits::{ABSENT_COUNT_MAX, ABSENT_FILES_MAX, ABSENT_PLACES_MAX, ABSENT_READ_BYTES};
use aho_corasick::AhoCorasick;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The byte strings that are looked for.
pub struct Needles {
    automaton: AhoCorasick,
    longest: usize,
}

impl Needles {
    /// Each text as it is, in small letters, and as JSON writes it, once and twice over; ASCII letters of either case. And `raw` as it is.
    ///
    /// # Errors
    /// `Invalid` when they are too many or too long to be looked for at once.
    pub fn new(texts: &[String], raw: &[Vec<u8>]) -> Result<Needles, StoreError> {
        let mut forms: Vec<Vec<u8>> = raw.to_vec();
        for text in texts {
            for form in [text.clone(), text.to_lowercase()] {
                let once = json(&form);
                let twice = json(&once);
                let ascii = ascii_json(&form);
                forms.extend([form, once, twice, ascii].map(String::into_bytes));
            }
        }
        forms.sort_unstable();
        forms.dedup();
        let longest = forms.iter().map(Vec::len).max().unwrap_or(0);
        let automaton = AhoCorasick::builder().ascii_case_insensitive(true).build(&forms);
        let automaton = automaton.map_err(|_| StoreError::Invalid("too much text to look for at once".to_owned()))?;
        Ok(Needles { automaton, longest })
    }

    /// Whether one of them stands here.
    pub fn stand_in(&self, bytes: &[u8]) -> bool {
        self.automaton.is_match(bytes)
    }

    /// How often they stand in a file, counted up to a limit, and how many bytes it has. Read piece by piece, with as much of the piece
    /// before as the longest could begin in.
    pub(super) fn count_in(&self, path: &Path, cancelled: &dyn Fn() -> bool) -> Result<(u64, u64), StoreError> {
        let mut file = File::open(path)?;
        let mut piece = vec![0; ABSENT_READ_BYTES + self.longest];
        let (mut kept, mut count, mut bytes) = (0, 0, 0_u64);
        loop {
            if cancelled() {
                return Err(StoreError::Interrupted);
            }
            let read = file.read(&mut piece[kept..])?;
            if read == 0 {
                return Ok((count, bytes));
            }
            bytes += read as u64;
            let there = kept + read;
            // What ends in the part that was kept was counted with the piece before.
            let found = self.automaton.find_iter(&piece[..there]).filter(|found| found.end() > kept).count() as u64;
            count = (count + found).min(ABSENT_COUNT_MAX);
            let keep = self.longest.saturating_sub(1).min(there);
            piece.copy_within(there - keep..there, 0);
            kept = keep;
        }
    }
}

/// The text as it stands between the quotes of a JSON string.
fn json(text: &str) -> String {
    let quoted = serde_json::Value::String(text.to_owned()).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// The same with everything but ASCII as `\u` and four digits.
fn ascii_json(text: &str) -> String {
    let mut out = String::new();
    for c in json(text).chars() {
        match c {
            c if c.is_ascii() => out.push(c),
            c => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}"))),
        }
    }
    out
}

/// Rows that hold a text: kind, name of the thing, how many.
pub type RowsFound = BTreeMap<(&'static str, String), u64>;

/// Looks through the records of every table.
pub(super) fn in_rows(
    view: &ReadTx,
    needles: &Needles,
    progress: &dyn Fn(u64, u64),
    cancelled: &dyn Fn() -> bool,
) -> Result<RowsFound, StoreError> {
    let total = ALL.iter().try_fold(0, |sum, table| Ok::<_, StoreError>(sum + view.row_count(*table)?))?;
    let (mut found, mut done) = (RowsFound::new(), 0_u64);
    for table in ALL {
        view.scan(*table, UNBOUNDED, Direction::Ascending, &mut |key, value| {
            done += 1;
            if done.is_multiple_of(4_096) {
                progress(done, total);
                if cancelled() {
                    return Err(StoreError::Interrupted);
                }
            }
            if needles.stand_in(codec::payload(table.as_written(value), key, value)?) || needles.stand_in(key) {
                let place = named(view, *table, key)?;
                if found.len() < ABSENT_PLACES_MAX || found.contains_key(&place) {
                    *found.entry(place).or_default() += 1;
                }
            }
            Ok(true)
        })?;
    }
    Ok(found)
}

/// What a row is to a person.
fn named(view: &ReadTx, table: Table, key: &[u8]) -> Result<(&'static str, String), StoreError> {
    let id = |id: [u8; 16]| uuid::Uuid::from_bytes(id).to_string();
    let session = |number: Option<u64>| -> Result<(&'static str, String), StoreError> {
        let known = number.map(|number| view.session(number)).transpose()?.flatten();
        Ok(("transcript", known.map_or_else(|| table.name.to_owned(), |session| format!("session {}", id(session.id)))))
    };
    Ok(match table {
        tables::MEMORIES => {
            let number = keys::u64_at(key, 0).unwrap_or(0);
            let version = keys::u32_at(key, 8).unwrap_or(0);
            let record = super::read::Reads::memory_version(view, number, version)?;
            let now = super::read::Reads::memory(view, number)?;
            let forgotten = now.is_some_and(|now| now.status == tiro_schema::convert::STATUS_FORGOTTEN);
            let state = if forgotten { "forgotten, not purged" } else { "kept" };
            ("memory", record.map_or_else(|| table.name.to_owned(), |record| format!("memory {} ({state})", id(record.id))))
        }
        tables::MESSAGES
        | tables::EVENTS
        | tables::SESSIONS
        | tables::SESSION_STATES
        | tables::RESULTS
        | tables::RESULT_PARTS => session(keys::u64_at(key, 0))?,
        tables::TURNS | tables::TURN_DETAILS => {
            let turn: Option<tiro_schema::record::TurnRecord> = view.record(tables::TURNS, key)?;
            session(turn.map(|turn| turn.session))?
        }
        tables::QUESTIONS => {
            let question: Option<tiro_schema::record::QuestionRecord> = view.record(table, key)?;
            session(question.map(|question| question.session))?
        }
        tables::IDEMPOTENCY => ("answer", "an answer kept under an idempotency key for seven days".to_owned()),
        tables::PURGED | tables::PURGED_BY | tables::PURGES => ("receipt", "the receipt of a purge, which holds ids".to_owned()),
        _ => ("record", table.name.to_owned()),
    })
}

/// A file in which a text stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFound {
    /// The file.
    pub path: PathBuf,
    /// How often, up to a limit.
    pub count: u64,
}

/// What a look through files found.
#[derive(Debug, Default)]
pub struct FilesReport {
    /// Files that hold a text.
    pub found: Vec<FileFound>,
    /// Files that could not be read, with why.
    pub unread: Vec<String>,
    /// Files read.
    pub files: u64,
    /// Bytes read.
    pub bytes: u64,
}

/// Looks through every file below some folders. A file that goes while it is looked for is passed over.
///
/// # Errors
/// `Interrupted` when cancelled, `Invalid` over the limit of files.
pub fn in_files(
    folders: &[PathBuf],
    needles: &Needles,
    progress: &dyn Fn(u64, u64),
    cancelled: &dyn Fn() -> bool,
) -> Result<FilesReport, StoreError> {
    let (mut files, mut report) = (Vec::new(), FilesReport::default());
    for folder in folders {
        list(folder, &mut files, &mut report.unread)?;
    }
    files.sort();
    files.dedup();
    let total = files.iter().map(|(_, bytes)| *bytes).sum();
    for (path, _) in files {
        match needles.count_in(&path, cancelled) {
            Ok((count, bytes)) => {
                (report.files, report.bytes) = (report.files + 1, report.bytes + bytes);
                if count > 0 {
                    report.found.push(FileFound { path, count });
                }
            }
            Err(StoreError::Interrupted) => return Err(StoreError::Interrupted),
            Err(_) if !path.exists() => {}
            Err(error) => report.unread.push(format!("{}: {error}", path.display())),
        }
        progress(report.bytes, total);
    }
    Ok(report)
}

/// Files below a folder with their sizes. Links are not followed.
fn list(folder: &Path, files: &mut Vec<(PathBuf, u64)>, unread: &mut Vec<String>) -> Result<(), StoreError> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => {
                unread.push(format!("{}: {error}", folder.display()));
                continue;
            }
        };
        for entry in entries.flatten() {
            let Ok(meta) = entry.path().symlink_metadata() else { continue };
            if meta.is_dir() {
                folders.push(entry.path());
            } else if meta.is_file() {
                files.push((entry.path(), meta.len()));
            }
            if files.len() > ABSENT_FILES_MAX {
                return Err(StoreError::Invalid(format!("more than {ABSENT_FILES_MAX} files")));
            }
        }
    }
    Ok(())
}

impl super::Store {
    /// Looks for texts in the records of every table. Blocks: the file under the view must not be replaced, so it is long work.
    ///
    /// # Errors
    /// The disk's, `Busy`, `Damaged`, `Interrupted`.
    pub fn rows_with(
        &self,
        needles: &Needles,
        progress: &dyn Fn(u64, u64),
        cancelled: &dyn Fn() -> bool,
    ) -> Result<RowsFound, StoreError> {
        let _alone = self.long_work()?;
        in_rows(&self.handle().long_view()?, needles, progress, cancelled)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    // MEM-9
    #[test]
    fn a_text_is_found_in_every_form_and_across_pieces() {
        let needles = Needles::new(&["Said \"No\" to É茶".to_owned()], &[]).unwrap();
        for form in [
            "Said \"No\" to É茶",
            "said \"no\" to é茶",
            r#"{"a":"Said \"No\" to É茶"}"#,
            r#"{"a":"{\"b\":\"Said \\\"No\\\" to É茶\"}"}"#,
            r#"{"a":"Said \"No\" to \u00c9\u8336"}"#,
        ] {
            assert!(needles.stand_in(form.as_bytes()), "{form}");
        }
        assert!(!needles.stand_in("Said \"No\" to E茶".as_bytes()));
        let dir = tempfile::tempdir().unwrap();
        for before in [0, ABSENT_READ_BYTES - 7, ABSENT_READ_BYTES, 2 * ABSENT_READ_BYTES + 40] {
            let mut bytes = vec![b'x'; before];
            bytes.extend("Said \"No\" to É茶".as_bytes());
            bytes.extend(vec![b'y'; 5 + ABSENT_READ_BYTES / 2]);
            std::fs::write(dir.path().join("f"), &bytes).unwrap();
            let found = in_files(&[dir.path().to_owned()], &needles, &|_, _| {}, &|| false).unwrap();
            assert_eq!((found.found[0].count, found.bytes), (1, bytes.len() as u64), "{before}");
        }
    }
}
