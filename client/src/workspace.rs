//! The space that a folder asks for: `space` in the nearest `.tiro.toml`, of the folder itself or of one above it.
//!
//! Only files of this user (or of root) are read, so that nobody chooses for another in a shared folder. Must not know: commands,
//! the daemon, or whether there is such a space.

use crate::limits::{WORKSPACE_FILE_BYTES_MAX, WORKSPACE_PARENTS_MAX};
use nix::libc::O_NONBLOCK;
use nix::unistd::Uid;
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The name of the file.
pub const WORKSPACE_FILE: &str = ".tiro.toml";

/// What a folder says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// The file that says it.
    pub file: PathBuf,
    /// The space it names, where it names one.
    pub space: Option<String>,
}

/// Why a folder's file says nothing that can be followed.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// It cannot be read.
    #[error("cannot read {}: {source}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is no TOML, too long, or names a space that is no text.
    #[error("{}: {why}", file.display())]
    Misfit {
        /// The file.
        file: PathBuf,
        /// What does not fit.
        why: String,
    },
}

/// The space that work in a folder belongs to, by the nearest `.tiro.toml`; none where no file names one, or the nearest cannot be
/// followed ([`lookup`] tells why).
pub fn space_for(dir: &Path) -> Option<String> {
    lookup(dir).ok().flatten()?.space
}

/// The nearest `.tiro.toml` of this user in a folder or above it, at most [`WORKSPACE_PARENTS_MAX`] folders up. The nearest alone
/// counts, also where it names no space.
///
/// # Errors
/// [`WorkspaceError`] where that file cannot be read or followed: then nothing is taken in its place, since what is written would
/// land in a space that was not meant.
pub fn lookup(dir: &Path) -> Result<Option<Workspace>, WorkspaceError> {
    for folder in dir.ancestors().take(WORKSPACE_PARENTS_MAX) {
        let file = folder.join(WORKSPACE_FILE);
        // A pipe of that name is not waited for.
        let opened = match OpenOptions::new().read(true).custom_flags(O_NONBLOCK).open(&file) {
            Ok(opened) => opened,
            Err(error) if absent(&error) => continue,
            Err(source) => return Err(WorkspaceError::Unreadable { file, source }),
        };
        let unreadable = |source| WorkspaceError::Unreadable { file: file.clone(), source };
        let found = opened.metadata().map_err(unreadable)?;
        if !found.is_file() || !is_ours(found.uid()) {
            continue;
        }
        let mut text = String::new();
        opened.take(WORKSPACE_FILE_BYTES_MAX + 1).read_to_string(&mut text).map_err(unreadable)?;
        let space = space_in(&text).map_err(|why| WorkspaceError::Misfit { file: file.clone(), why })?;
        return Ok(Some(Workspace { file, space }));
    }
    Ok(None)
}

/// Whether an error says that there is no file to be read here.
fn absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::PermissionDenied)
}

fn is_ours(uid: u32) -> bool {
    uid == 0 || uid == Uid::effective().as_raw()
}

/// The space that the text of a file names. Other names in it are left to later versions.
fn space_in(text: &str) -> Result<Option<String>, String> {
    if text.len() as u64 > WORKSPACE_FILE_BYTES_MAX {
        return Err(format!("longer than {WORKSPACE_FILE_BYTES_MAX} bytes"));
    }
    let table: toml::Table = toml::from_str(text).map_err(|error| error.message().to_owned())?;
    match table.get("space") {
        None => Ok(None),
        Some(toml::Value::String(name)) if !name.trim().is_empty() => Ok(Some(name.trim().to_owned())),
        Some(_) => Err("`space` is the name of a space, as in space = \"work\"".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::fs;

    fn home() -> tempfile::TempDir {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir_all(home.path().join("a/b/c")).unwrap();
        home
    }

    #[test]
    fn the_nearest_file_of_a_folder_or_above_it_names_the_space() {
        let home = home();
        let deep = home.path().join("a/b/c");
        assert_eq!(lookup(&deep).unwrap(), None);
        fs::write(home.path().join(".tiro.toml"), "space = \"far\"\n").unwrap();
        assert_eq!(space_for(&deep).as_deref(), Some("far"));
        fs::write(home.path().join("a/.tiro.toml"), "space = \" 项目 \"\n[later]\nx = 1\n").unwrap();
        assert_eq!(space_for(&deep).as_deref(), Some("项目"));
        assert_eq!(lookup(&deep).unwrap().unwrap().file, home.path().join("a/.tiro.toml"));
        // One that names none ends the search: it was put there.
        fs::write(home.path().join("a/b/.tiro.toml"), "").unwrap();
        assert_eq!(space_for(&deep), None);
        assert_eq!(space_for(home.path()).as_deref(), Some("far"));
    }

    #[test]
    fn a_file_that_cannot_be_followed_is_told_and_nothing_further_up_is_taken() {
        let home = home();
        let deep = home.path().join("a/b");
        fs::write(home.path().join(".tiro.toml"), "space = \"far\"\n").unwrap();
        for bad in ["space = 3", "space = \"\"", "space", &format!("# {}", "x".repeat(1 << 17))] {
            fs::write(deep.join(".tiro.toml"), bad).unwrap();
            assert!(matches!(lookup(&deep), Err(WorkspaceError::Misfit { .. })), "{bad:?}");
            assert_eq!(space_for(&deep), None);
        }
        fs::write(deep.join(".tiro.toml"), b"space = \"\xff\"").unwrap();
        assert!(matches!(lookup(&deep), Err(WorkspaceError::Unreadable { .. })));
    }

    #[test]
    fn a_folder_of_that_name_is_no_file() {
        let home = home();
        fs::create_dir(home.path().join("a/.tiro.toml")).unwrap();
        fs::write(home.path().join(".tiro.toml"), "space = \"far\"\n").unwrap();
        assert_eq!(space_for(&home.path().join("a/b")).as_deref(), Some("far"));
        assert_eq!(space_for(&home.path().join("nowhere/at/all")).as_deref(), Some("far"));
    }

    #[test]
    fn a_pipe_of_that_name_hangs_nobody() {
        let home = home();
        let pipe = home.path().join("a/.tiro.toml");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        fs::write(home.path().join(".tiro.toml"), "space = \"far\"\n").unwrap();
        assert_eq!(space_for(&home.path().join("a/b")).as_deref(), Some("far"));
    }

    #[test]
    fn a_file_of_another_user_chooses_nothing() {
        assert!(is_ours(Uid::effective().as_raw()) && is_ours(0));
        assert!(!is_ours(Uid::effective().as_raw() + 1));
    }
}
