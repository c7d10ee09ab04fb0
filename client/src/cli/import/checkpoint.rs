//! How far an import of a file is, in a small file beside the daemon's log: one that was killed goes on where it was.
//!
//! It holds for the same file, unchanged, and the same store; else the import begins anew, which is as right and takes longer: what is
//! there is known by its id. Must not know: formats.

use super::report::{Done, Refused};
use crate::import::{Branches, Format, Setting, id};
use crate::limits::IMPORT_NOTE_EVERY;
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Instant;
use tiro_schema::place::Places;
use tiro_schema::wire::InitializeResult;

/// What has to be the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Holds {
    program: String,
    file: String,
    bytes: u64,
    inode: u64,
    changed_at_ns: i64,
    store: String,
    format: String,
    branches: String,
    space: String,
}

/// How far it is.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reached {
    /// Lines that the daemon has acknowledged, in the order of the file.
    pub lines: u64,
    /// What it did with them.
    pub done: Done,
    /// Which of them it refused.
    pub refused: Vec<Refused>,
    /// How many those are.
    pub refused_count: u64,
}

#[derive(Serialize, Deserialize)]
struct Note {
    holds: Holds,
    reached: Reached,
}

/// The note of one import.
pub struct Checkpoint {
    path: PathBuf,
    holds: Holds,
    written: Instant,
}

impl Checkpoint {
    /// For a file; none where its state cannot be told, or for what is no file.
    pub fn of(
        path: &Path,
        format: Format,
        setting: &Setting,
        space: Option<&str>,
        places: &Places,
        hello: &InitializeResult,
    ) -> Option<Checkpoint> {
        let found = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
        let holds = Holds {
            program: env!("CARGO_PKG_VERSION").to_owned(),
            file: setting.name.clone(),
            bytes: found.len(),
            inode: found.ino(),
            changed_at_ns: found.mtime().wrapping_mul(1_000_000_000).wrapping_add(found.mtime_nsec()),
            store: format!("{}/{}", hello.store.id, hello.store.epoch),
            format: format.name().to_owned(),
            branches: if setting.branches == Branches::All { "all" } else { "current" }.to_owned(),
            space: format!("{}/{}", setting.space, space.unwrap_or_default()),
        };
        let name = id::of(&[&holds.file, &holds.space]).simple().to_string();
        let path = places.state_dir.join("imports").join(format!("{name}.json"));
        Some(Checkpoint { path, holds, written: Instant::now() })
    }

    /// How far an interrupted import of the same came.
    pub fn reached(&self) -> Option<Reached> {
        let note: Note = serde_json::from_slice(&std::fs::read(&self.path).ok()?).ok()?;
        (note.holds == self.holds).then_some(note.reached)
    }

    /// Notes how far it is, from time to time. That it cannot be noted is no fault: then it begins anew.
    pub fn note(&mut self, reached: &Reached) {
        if self.written.elapsed() < IMPORT_NOTE_EVERY {
            return;
        }
        self.written = Instant::now();
        let _ = self.write(reached);
    }

    fn write(&self, reached: &Reached) -> std::io::Result<()> {
        let Some(folder) = self.path.parent() else { return Ok(()) };
        crate::place::make_private(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        let note = serde_json::json!({"holds": self.holds, "reached": reached});
        file.write_all(note.to_string().as_bytes())?;
        file.persist(&self.path)?;
        Ok(())
    }

    /// It is done: nothing is left to go on with.
    pub fn done(&self) {
        let _ = std::fs::remove_file(&self.path);
    }
}
