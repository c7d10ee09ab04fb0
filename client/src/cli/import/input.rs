//! The streams behind the paths of a command line: standard input, files, folders of documents, folders of transcripts.
//!
//! Must not know: what becomes of them.

use super::super::Failure;
use crate::import::{Format, folder, recognise};
use crate::limits::IMPORT_LOOK_BYTES;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

/// What stands behind a path.
pub enum Source {
    /// One stream.
    Stream(Stream),
    /// Documents of a folder: all, or one.
    Documents {
        /// The folder.
        folder: PathBuf,
        /// What they are.
        format: Format,
        /// The one, by its name in the folder.
        file: Option<String>,
    },
    /// A file of no known format.
    Unknown {
        /// Which.
        path: String,
        /// Why not.
        reason: String,
    },
}

/// A stream and its format.
pub struct Stream {
    /// What it holds.
    pub format: Format,
    /// Its file; none for standard input.
    pub path: Option<PathBuf>,
    /// Its length in bytes, where that is known.
    pub length: Option<u64>,
    /// Reads it from its beginning.
    pub input: Box<dyn BufRead + Send>,
}

impl Source {
    /// Its name: a path, as whole as it can be had.
    pub fn name(&self) -> String {
        let whole = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()).display().to_string();
        match self {
            Source::Stream(Stream { path: Some(path), .. }) => whole(path),
            Source::Stream(_) => "stdin".to_owned(),
            Source::Documents { folder, .. } => whole(folder),
            Source::Unknown { path, .. } => path.clone(),
        }
    }
}

/// What stands behind a path. Files of a folder are opened one after another, as they are asked for.
///
/// # Errors
/// When it cannot be read, or a file that was named is of no known format.
pub fn sources(path: &Path, format: Option<Format>) -> Result<Box<dyn Iterator<Item = Source>>, Failure> {
    if path.as_os_str() == "-" {
        let stream = begin(Box::new(io::stdin()), None, None, format).map_err(|reason| unknown(path, reason))?;
        return Ok(Box::new(std::iter::once(Source::Stream(stream))));
    }
    let cannot = |error: io::Error| Failure::usage(format!("cannot read {}", path.display())).because(error.to_string());
    let found = std::fs::metadata(path).map_err(cannot)?;
    if !found.is_dir() {
        let source = of_file(path, format).map_err(|reason| unknown(path, reason))?;
        return Ok(Box::new(std::iter::once(source)));
    }
    if let Some(format) = documents_of(path, format).map_err(cannot)? {
        let folder = path.to_owned();
        return Ok(Box::new(std::iter::once(Source::Documents { folder, format, file: None })));
    }
    let is_json = |path: &Path| path.extension().is_some_and(|extension| extension == "jsonl" || extension == "json");
    let files = folder::walk(path, &is_json).map_err(cannot)?;
    if files.is_empty() {
        return Err(Failure::usage(format!("{} holds nothing to import", path.display()))
            .hint("looked for: *.md, else *.jsonl and *.json; --format text takes *.txt"));
    }
    Ok(Box::new(files.into_iter().map(move |path| {
        let unknown = |reason| Source::Unknown { path: path.display().to_string(), reason };
        of_file(&path, format).unwrap_or_else(unknown)
    })))
}

/// Whether a folder is one of documents: of which format.
fn documents_of(path: &Path, format: Option<Format>) -> io::Result<Option<Format>> {
    if let Some(format) = format {
        return Ok(Some(format).filter(|format| format.is_document()));
    }
    let is_markdown = |path: &Path| path.extension().is_some_and(|extension| extension == "md" || extension == "markdown");
    let is_transcript = |path: &Path| path.extension().is_some_and(|extension| extension == "jsonl");
    if !folder::walk(path, &is_markdown)?.is_empty() && folder::walk(path, &is_transcript)?.is_empty() {
        return Ok(Some(Format::Markdown));
    }
    Ok(None)
}

fn unknown(path: &Path, reason: String) -> Failure {
    let formats = Format::ALL.map(Format::name).join(", ");
    Failure::usage(format!("cannot import {}", path.display())).because(reason).hint(format!("formats: {formats}"))
}

fn of_file(path: &Path, format: Option<Format>) -> Result<Source, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let length = file.metadata().ok().filter(std::fs::Metadata::is_file).map(|found| found.len());
    let stream = begin(Box::new(file), Some(path), length, format)?;
    match (stream.format.is_document(), path.parent(), path.file_name()) {
        (true, Some(folder), Some(name)) if length.is_some() => {
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            let file = Some(name.to_string_lossy().into_owned());
            Ok(Source::Documents { folder: folder.to_owned(), format: stream.format, file })
        }
        _ => Ok(Source::Stream(stream)),
    }
}

/// Looks at the beginning of a stream; it is read again with the rest.
fn begin(
    mut from: Box<dyn Read + Send>,
    path: Option<&Path>,
    length: Option<u64>,
    format: Option<Format>,
) -> Result<Stream, String> {
    let mut head = Vec::new();
    (&mut from).take(IMPORT_LOOK_BYTES as u64).read_to_end(&mut head).map_err(|error| error.to_string())?;
    let name = path.map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
    let format = match format {
        Some(format) => format,
        None => recognise::format(&head, &name)?,
    };
    let input = BufReader::with_capacity(IMPORT_LOOK_BYTES, Cursor::new(head).chain(from));
    Ok(Stream { format, path: path.map(Path::to_owned), length, input: Box::new(input) })
}
