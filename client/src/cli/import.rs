//! `tiro import`: memories from JSON Lines, in batches that can be repeated.
//!
//! Must not know: what a line may hold; the daemon judges it.

use super::shell::{Daemon, fresh_key};
use super::{Exit, Failure, Outcome, Shell, progress};
use crate::limits::{IMPORT_BATCH_BYTES, IMPORT_BATCH_LINES, IMPORT_LINE_BYTES_MAX, IMPORT_REFUSED_MAX};
use crate::render::{Style, escape, size};
use clap::Args;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use tiro_schema::wire::memory::{ImportParams, ImportResult};

const EXAMPLES: &str = "\
Examples:
  tiro import memories.jsonl
  tiro import notes.jsonl --space work --dry-run      (every line, whatever space it names)
  echo '{\"text\":\"the retro is on Fridays\",\"category\":\"fact\"}' | tiro import -";

/// Memories from JSON Lines
///
/// A line is an object with `text` and whatever else `tiro export` writes: space, kind, category, tags, entities,
/// importance, pinned, occurredAt, source {session, position, speaker, program, uri}. Lines that cannot be taken are
/// reported with their number; the others go in. Repeating the command on the same file takes nothing twice and counts what
/// is there as known, so an import that was interrupted is simply run again. --space is where every line goes, over the
/// space a line names.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ImportArgs {
    /// The file; - reads standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Only judge
    #[arg(long)]
    dry_run: bool,
}

/// A line that was not taken.
#[derive(Debug, Serialize)]
struct Refused {
    /// Its number in the file, from 1.
    line: u64,
    reason: String,
}

/// What became of the lines.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    lines: u64,
    created: u64,
    duplicate: u64,
    /// Lines that named another space than `--space`.
    moved: u64,
    refused_count: u64,
    /// The first [`IMPORT_REFUSED_MAX`].
    refused: Vec<Refused>,
    unknown_fields: BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<String>,
}

impl Report {
    fn refuse(&mut self, line: u64, reason: String) {
        self.refused_count += 1;
        if self.refused.len() < IMPORT_REFUSED_MAX {
            self.refused.push(Refused { line, reason });
        }
    }

    fn add(&mut self, numbers: &[u64], result: ImportResult) {
        self.created += result.created;
        self.duplicate += result.duplicate;
        for refused in result.refused {
            let line = usize::try_from(refused.line).ok().and_then(|index| numbers.get(index)).copied().unwrap_or(0);
            self.refuse(line, refused.reason);
        }
        for (name, count) in result.unknown_fields {
            *self.unknown_fields.entry(name).or_default() += count;
        }
        self.seq = Some(result.seq);
    }

    fn exit(&self) -> Exit {
        match self.refused_count {
            0 => Exit::Done,
            n if n == self.refused.len() as u64 && self.refused.iter().all(|r| r.reason.starts_with("secret:")) => Exit::Refused,
            _ => Exit::Failed,
        }
    }
}

/// Lines on their way, with their numbers in the file.
#[derive(Default)]
struct Batch {
    lines: Vec<Value>,
    numbers: Vec<u64>,
    bytes: usize,
}

impl Batch {
    fn add(&mut self, number: u64, line: &[u8], value: Value) {
        self.bytes += line.len();
        self.lines.push(with_id(number, line, value));
        self.numbers.push(number);
    }

    fn is_full(&self) -> bool {
        self.lines.len() >= IMPORT_BATCH_LINES || self.bytes >= IMPORT_BATCH_BYTES
    }
}

/// A line that is to be kept whatever is there already, and names no id, gets one made of its words and its place in the
/// file: so it too is known when the file comes again.
fn with_id(number: u64, line: &[u8], mut value: Value) -> Value {
    if value["verbatim"] == Value::Bool(true)
        && let Value::Object(members) = &mut value
        && !members.contains_key("id")
    {
        let mut hash = xxhash_rust::xxh3::Xxh3::new();
        hash.update(&number.to_le_bytes());
        hash.update(line.trim_ascii());
        let id = uuid::Builder::from_custom_bytes(hash.digest128().to_be_bytes()).into_uuid();
        members.insert("id".to_owned(), Value::String(id.to_string()));
    }
    value
}

/// Puts a line into the space of the command line; whether it named another.
fn put_into(space: &str, value: &mut Value) -> bool {
    let Value::Object(members) = value else { return false };
    let named = members.insert("space".to_owned(), Value::String(space.to_owned()));
    named.is_some_and(|named| named.as_str() != Some(space))
}

/// Runs the command.
pub async fn run(shell: &Shell, args: ImportArgs) -> Outcome {
    let (mut input, length) = open(&args.file)?;
    let mut daemon = shell.daemon().await?;
    let bar = progress::bar(shell, "importing");
    if let Some(length) = length {
        progress::set_total(&bar, length);
    }
    let (mut report, mut batch) = (Report::default(), Batch::default());
    let space = shell.space()?;
    let mut read = 0;
    for number in 1.. {
        let Some(line) = next_line(&mut input, &mut read)? else { break };
        match judged(&line) {
            Ok(None) => continue,
            Ok(Some(mut value)) => {
                report.moved += u64::from(space.as_deref().is_some_and(|space| put_into(space, &mut value)));
                batch.add(number, &line, value);
            }
            Err(reason) => report.refuse(number, reason),
        }
        report.lines += 1;
        if batch.is_full() {
            send(&mut daemon, &mut batch, &mut report, args.dry_run).await?;
            bar.set_position(read);
        }
    }
    send(&mut daemon, &mut batch, &mut report, args.dry_run).await?;
    bar.finish_and_clear();
    report.refused.sort_by_key(|refused| refused.line);
    shell.answer(&report, |report, style| said(report, args.dry_run, space.as_deref().unwrap_or_default(), style))?;
    if !shell.global.json {
        report.refused.iter().for_each(|refused| eprintln!("line {}: {}", refused.line, escape::terminal_line(&refused.reason)));
    }
    Ok(report.exit())
}

fn open(path: &PathBuf) -> Result<(Box<dyn BufRead>, Option<u64>), Failure> {
    if path.as_os_str() == "-" {
        return Ok((Box::new(BufReader::new(std::io::stdin())), None));
    }
    let file =
        File::open(path).map_err(|error| Failure::usage(format!("cannot read {}", path.display())).because(error.to_string()))?;
    let length = file.metadata().ok().filter(std::fs::Metadata::is_file).map(|found| found.len());
    Ok((Box::new(BufReader::with_capacity(1 << 18, file)), length))
}

/// The next line, without more of a long one in memory than is needed to refuse it.
fn next_line(input: &mut dyn BufRead, read: &mut u64) -> Result<Option<Vec<u8>>, Failure> {
    let mut line = Vec::new();
    let max = IMPORT_LINE_BYTES_MAX as u64 + 1;
    let taken = Read::take(&mut *input, max).read_until(b'\n', &mut line)?;
    *read += taken as u64;
    if taken == 0 {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') && taken as u64 == max {
        *read += skip_line(input)?;
    }
    Ok(Some(line))
}

/// Passes over the rest of a line.
fn skip_line(input: &mut dyn BufRead) -> std::io::Result<u64> {
    let mut skipped = 0u64;
    loop {
        let buffer = input.fill_buf()?;
        let (used, ended) = match buffer.iter().position(|byte| *byte == b'\n') {
            Some(at) => (at + 1, true),
            None => (buffer.len(), buffer.is_empty()),
        };
        input.consume(used);
        skipped += used as u64;
        if ended {
            return Ok(skipped);
        }
    }
}

/// The line as JSON; none for an empty one, or why it is not taken.
fn judged(line: &[u8]) -> Result<Option<Value>, String> {
    if line.len() > IMPORT_LINE_BYTES_MAX {
        return Err(format!("longer than {IMPORT_LINE_BYTES_MAX} bytes"));
    }
    let text = std::str::from_utf8(line).map_err(|error| format!("not UTF-8: {error}"))?;
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Ok(None);
    }
    match tiro_schema::strict::parse(text.as_bytes()).map(|parsed| (parsed.value, parsed.duplicate)) {
        Ok((_, Some(name))) => Err(format!("the member {name:?} stands twice")),
        Ok((value @ Value::Object(_), None)) => Ok(Some(value)),
        Ok(_) => Err("not a JSON object".to_owned()),
        Err(error) => Err(format!("not JSON: {error}")),
    }
}

async fn send(daemon: &mut Daemon, batch: &mut Batch, report: &mut Report, dry_run: bool) -> Result<(), Failure> {
    if batch.lines.is_empty() {
        return Ok(());
    }
    // A key of its own: a batch that is sent again, as the daemon went away, is taken once. What an earlier run took is
    // known by its words or its id.
    let key = fresh_key().filter(|_| !dry_run);
    let params = ImportParams { lines: std::mem::take(&mut batch.lines), space: None, dry_run: dry_run.then_some(true), key };
    let numbers = std::mem::take(&mut batch.numbers);
    batch.bytes = 0;
    let result: ImportResult = daemon.call("memory/import", &params).await?;
    report.add(&numbers, result);
    Ok(())
}

fn said(report: &Report, dry_run: bool, space: &str, style: &Style) -> String {
    let would = if dry_run { "would be " } else { "" };
    let mut text = format!(
        "{}: {} {would}new, {} known already, {} refused\n",
        size::count(report.lines, "line", "lines"),
        report.created,
        report.duplicate,
        report.refused_count
    );
    if report.moved > 0 {
        let lines = size::count(report.moved, "line", "lines");
        text.push_str(&format!(
            "{lines} named another space: {would}put into {}, as --space says\n",
            escape::terminal_line(space)
        ));
    }
    if !report.unknown_fields.is_empty() {
        let names: Vec<String> =
            report.unknown_fields.iter().map(|(name, count)| format!("{} ({count})", escape::terminal_line(name))).collect();
        text.push_str(&style.dim(&format!("left out, unknown: {}", names.join(", "))));
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use tiro_schema::wire::memory::RefusedLine;

    #[test]
    fn lines_are_judged_before_they_are_sent() {
        assert!(judged(b"\xef\xbb\xbf{\"text\":\"x\"}\r\n").unwrap().is_some());
        assert!(judged(b"  \n").unwrap().is_none());
        assert_eq!(judged(b"{\"text\":\"a\",\"text\":\"b\"}").unwrap_err(), "the member \"text\" stands twice");
        for bad in [&b"[1]"[..], b"{", b"\xff", b"text"] {
            assert!(judged(bad).is_err());
        }
    }

    #[test]
    fn a_long_line_is_refused_without_being_held_and_the_next_one_is_read() {
        let mut text = vec![b'x'; 3 * IMPORT_LINE_BYTES_MAX];
        text.extend_from_slice(b"\n{}\n");
        let mut input: Box<dyn BufRead> = Box::new(std::io::Cursor::new(text));
        let mut read = 0;
        let long = next_line(&mut *input, &mut read).unwrap().unwrap();
        assert!(long.len() == IMPORT_LINE_BYTES_MAX + 1 && judged(&long).is_err());
        assert_eq!(next_line(&mut *input, &mut read).unwrap().unwrap(), b"{}\n");
        assert_eq!(next_line(&mut *input, &mut read).unwrap(), None);
        assert_eq!(read, 3 * IMPORT_LINE_BYTES_MAX as u64 + 4);
    }

    #[test]
    fn refused_lines_carry_their_number_in_the_file() {
        let mut report = Report::default();
        let refused = |reason: &str| ImportResult {
            created: 1,
            duplicate: 0,
            refused: vec![RefusedLine { line: 1, reason: reason.to_owned() }],
            unknown_fields: BTreeMap::from([("mood".to_owned(), 2)]),
            seq: "1-1".to_owned(),
        };
        report.add(&[4, 7], refused("secret:jwt"));
        assert_eq!((report.refused[0].line, report.exit()), (7, Exit::Refused));
        report.add(&[9, 11], refused("text: missing"));
        assert_eq!((report.refused[1].line, report.exit(), report.unknown_fields["mood"]), (11, Exit::Failed, 4));
    }

    #[test]
    fn a_line_that_is_kept_whatever_is_there_has_an_id_of_its_words_and_place() {
        let id = |number: u64, line: &str| with_id(number, line.as_bytes(), serde_json::from_str(line).unwrap())["id"].clone();
        let line = "{\"text\":\"x\",\"verbatim\":true}";
        assert_eq!(id(1, line), id(1, line));
        assert_ne!(id(1, line), id(2, line));
        assert_eq!(id(1, "{\"text\":\"x\"}"), Value::Null);
        assert_eq!(id(1, "{\"text\":\"x\",\"verbatim\":true,\"id\":\"i\"}"), "i");
    }

    #[test]
    fn the_space_of_the_command_line_is_over_that_of_a_line() {
        let mut line = serde_json::json!({"text": "x", "space": "old"});
        assert!(put_into("new", &mut line) && line["space"] == "new");
        assert!(!put_into("new", &mut line));
        assert!(!put_into("new", &mut serde_json::json!({"text": "x"})));
    }
}
