//! The places of this daemon on this machine: the pure rules of the schema, with the looks at the disk they need.
//!
//! Folders are made for their owner only, and one that somebody else could have made or may write to is refused.
//! Must not know: what stands in the folders.

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tiro_schema::place::{Overrides, PlaceError, Places, Surroundings, places};

/// Environment variables by name; a value may be no Unicode, as a path may.
pub type EnvMap = HashMap<String, OsString>;

/// The value of a variable that is text; none when it is absent, empty or no Unicode.
pub fn text<'a>(env: &'a EnvMap, name: &str) -> Option<&'a str> {
    env.get(name)?.to_str().filter(|value| !value.is_empty())
}

/// Why a folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    /// No rule gives a place.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// A link could lead anywhere.
    #[error("{0} is a symbolic link: refused, put a folder there")]
    Link(PathBuf),
    /// Something else than a folder.
    #[error("{0} is not a folder")]
    NotAFolder(PathBuf),
    /// Another user could do anything there.
    #[error("{path} belongs to uid {owner}, not to uid {uid}: refused")]
    Foreign {
        /// The folder.
        path: PathBuf,
        /// Its owner.
        owner: u32,
        /// Us.
        uid: u32,
    },
    /// Others can reach into it.
    #[error("{path} has mode {mode:04o}, which is open to others: refused; chmod 700 {path}")]
    Open {
        /// The folder.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// The system refused.
    #[error("cannot {action} {path}: {source}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// With what.
        path: PathBuf,
        /// The answer.
        source: std::io::Error,
    },
}

/// How closed a folder has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Privacy {
    /// Nobody else may even look (0700).
    Closed,
    /// Nobody else may write: for a folder a person named.
    WriteProtected,
}

impl Privacy {
    /// The mode bits that must not be set.
    fn forbidden(self) -> u32 {
        match self {
            Privacy::Closed => 0o077,
            Privacy::WriteProtected => 0o022,
        }
    }
}

/// The user this process acts for.
pub fn own_uid() -> u32 {
    nix::unistd::geteuid().as_raw()
}

/// Finds every place in this environment.
///
/// # Errors
/// When no rule fits.
pub fn find(env: &EnvMap, overrides: Overrides<'_>) -> Result<Places, PathError> {
    let uid = own_uid();
    let cwd = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let around = Surroundings {
        env: &|name| env.get(name).cloned(),
        uid,
        cwd: &cwd,
        is_private: &|path| check_folder(path, uid, Privacy::Closed).is_ok(),
    };
    Ok(places(&around, overrides)?)
}

/// Checks that a folder is ours and closed, without following a link at its end.
///
/// # Errors
/// Says what is wrong with it.
pub fn check_folder(path: &Path, uid: u32, privacy: Privacy) -> Result<(), PathError> {
    let metadata =
        std::fs::symlink_metadata(path).map_err(|source| PathError::Io { action: "look at", path: path.into(), source })?;
    if metadata.file_type().is_symlink() {
        return Err(PathError::Link(path.into()));
    }
    if !metadata.is_dir() {
        return Err(PathError::NotAFolder(path.into()));
    }
    if metadata.uid() != uid {
        return Err(PathError::Foreign { path: path.into(), owner: metadata.uid(), uid });
    }
    let mode = metadata.permissions().mode() & 0o7777;
    if mode & privacy.forbidden() != 0 {
        return Err(PathError::Open { path: path.into(), mode });
    }
    Ok(())
}

/// Makes a folder (mode 0700, its parents likewise) where there is none, and checks it.
///
/// # Errors
/// Says what is wrong with it.
pub fn make_folder(path: &Path, privacy: Privacy) -> Result<(), PathError> {
    if std::fs::symlink_metadata(path).is_err() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(|source| PathError::Io {
            action: "make the folder",
            path: path.into(),
            source,
        })?;
    }
    check_folder(path, own_uid(), privacy)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_folder_is_made_closed_and_a_link_or_an_open_one_is_refused() {
        // API-2, A37, S2, S3
        let dir = tempfile::tempdir().unwrap();
        let made = dir.path().join("a/b");
        make_folder(&made, Privacy::Closed).unwrap();
        assert_eq!(std::fs::metadata(&made).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(std::fs::metadata(dir.path().join("a")).unwrap().permissions().mode() & 0o777, 0o700);

        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&made, &link).unwrap();
        assert!(matches!(make_folder(&link, Privacy::Closed), Err(PathError::Link(_))));

        std::fs::set_permissions(&made, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert!(matches!(make_folder(&made, Privacy::Closed), Err(PathError::Open { mode: 0o755, .. })));
        assert!(make_folder(&made, Privacy::WriteProtected).is_ok());
        std::fs::set_permissions(&made, std::fs::Permissions::from_mode(0o777)).unwrap();
        assert!(make_folder(&made, Privacy::WriteProtected).is_err());

        let file = dir.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert!(matches!(make_folder(&file, Privacy::Closed), Err(PathError::NotAFolder(_))));
        assert!(matches!(check_folder(&made, own_uid() + 1, Privacy::Closed), Err(PathError::Foreign { .. })));
    }
}
