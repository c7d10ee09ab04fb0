//! A folder of documents: which files count, and their passages.
//!
//! Hidden folders and links are passed over. Must not know: the daemon; what is there already.

use super::document::{self, Document};
use super::sink::{Place, Sink, Stop};
use super::{Format, id};
use crate::limits::{IMPORT_FILES_MAX, IMPORT_FOLDERS_DEEP_MAX};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A folder of documents.
#[derive(Debug, Clone)]
pub struct Folder {
    /// Where it is; no links in it.
    pub root: PathBuf,
    /// What it is called, the same each time.
    pub source: String,
    /// The format of its documents.
    pub format: Format,
    /// The space it goes into.
    pub space: String,
}

/// The documents of a folder that were read, by path, with the ids of their passages; none where one could not be read.
pub type Seen = BTreeMap<String, Option<BTreeSet<String>>>;

impl Folder {
    /// The folder at a path. Without a name of its own it is called by its folder's name and a mark of its whole path.
    ///
    /// # Errors
    /// As the file system says.
    pub fn at(path: &Path, named: Option<&str>, format: Format, space: &str) -> io::Result<Folder> {
        let root = fs::canonicalize(path)?;
        let name = root.file_name().map_or_else(|| "root".to_owned(), |name| name.to_string_lossy().into_owned());
        let source = named.map_or_else(|| format!("{name}@{}", id::short(&[&root.to_string_lossy()])), str::to_owned);
        Ok(Folder { root, source, format, space: space.to_owned() })
    }

    /// Whether a file's name is one of the format.
    pub fn counts(&self, path: &Path) -> bool {
        let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
        let is_hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        match extension.as_deref() {
            Some("md" | "markdown") => !is_hidden && self.format == Format::Markdown,
            Some("txt") => !is_hidden && self.format == Format::Text,
            _ => false,
        }
    }

    /// A path within the folder, with slashes; none for one outside it, or in a hidden folder.
    pub fn within(&self, path: &Path) -> Option<String> {
        let within = path.strip_prefix(&self.root).ok()?;
        let parts: Vec<String> = within.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
        (!parts.is_empty() && !parts.iter().any(|part| part.starts_with('.'))).then(|| parts.join("/"))
    }

    /// Every document, by its path within the folder.
    ///
    /// # Errors
    /// When the folder cannot be read, or holds too many. A folder below it that cannot be read is an error too: its documents would seem
    /// to be gone.
    pub fn files(&self) -> io::Result<Vec<String>> {
        let is_document = |path: &Path| self.counts(path);
        let found = walk(&self.root, &is_document)?;
        Ok(found.iter().filter_map(|path| self.within(path)).collect())
    }

    /// Gives the passages of these documents to the sink. What is not there any more is seen without passages.
    ///
    /// # Errors
    /// When nobody takes the lines.
    pub fn read(&self, files: &[String], sink: &mut Sink) -> Result<Seen, Stop> {
        let mut seen = Seen::new();
        let mut read = 0;
        for path in files {
            let whole = self.root.join(path);
            let is_file = fs::symlink_metadata(&whole).map(|found| found.is_file());
            let words = match is_file {
                Ok(true) => {
                    fs::File::open(&whole).map_err(|error| error.to_string()).and_then(|mut file| document::text_of(&mut file))
                }
                Ok(false) => continue,
                Err(error) if error.kind() == io::ErrorKind::NotFound || error.kind() == io::ErrorKind::NotADirectory => {
                    seen.insert(path.clone(), Some(BTreeSet::new()));
                    continue;
                }
                Err(error) => Err(error.to_string()),
            };
            let words = match words {
                Ok(words) => words,
                Err(reason) => {
                    sink.refuse(Place::Named(path.clone()), reason);
                    seen.insert(path.clone(), None);
                    continue;
                }
            };
            sink.begin();
            let uri = Some(uri(&whole));
            let document = Document { format: self.format, space: &self.space, source: &self.source, path, uri };
            let mut ids = BTreeSet::new();
            for passage in document::passages(&document, &words) {
                ids.extend(passage.id.clone());
                sink.line(Place::Named(path.clone()), &passage)?;
            }
            seen.insert(path.clone(), Some(ids));
            read += words.len() as u64;
            sink.read_to(read);
        }
        Ok(seen)
    }
}

/// Every file below a folder that counts, sorted. Hidden ones and links are passed over.
///
/// # Errors
/// When a folder cannot be read, or there are too many files.
pub fn walk(root: &Path, counts: &dyn Fn(&Path) -> bool) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![(root.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let (path, kind) = (entry.path(), entry.file_type()?);
            if entry.file_name().to_string_lossy().starts_with('.') {
                continue;
            }
            if kind.is_dir() && depth < IMPORT_FOLDERS_DEEP_MAX {
                folders.push((path, depth + 1));
            } else if kind.is_file() && counts(&path) {
                found.push(path);
                if found.len() > IMPORT_FILES_MAX {
                    return Err(io::Error::other(format!("more than {IMPORT_FILES_MAX} files: import its folders one by one")));
                }
            }
        }
    }
    found.sort();
    Ok(found)
}

/// A path as a `file:` URI.
fn uri(path: &Path) -> String {
    let mut uri = "file://".to_owned();
    for c in path.to_string_lossy().chars() {
        match c {
            ' ' | '%' | '#' | '?' | '"' | '<' | '>' => uri.push_str(&format!("%{:02X}", c as u32)),
            c => uri.push(c),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn documents_are_found_below_a_folder_and_hidden_ones_are_not() {
        let home = tempfile::tempdir().unwrap();
        for path in ["a.md", "deep/er/b.markdown", "c.txt", ".obsidian/d.md", ".e.md"] {
            let path = home.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        std::os::unix::fs::symlink(home.path().join("a.md"), home.path().join("link.md")).unwrap();
        let folder = Folder::at(home.path(), None, Format::Markdown, "personal").unwrap();
        assert_eq!(folder.files().unwrap(), ["a.md", "deep/er/b.markdown"]);
        assert_eq!(folder.within(&folder.root.join("x/.git/y.md")), None);
        assert_eq!(uri(Path::new("/a b/#c.md")), "file:///a%20b/%23c.md");
    }
}
