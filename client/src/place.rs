//! Tiro's places as this process sees them: the shared rules, given this environment.
//!
//! Must not know: the rules themselves (they stand in the schema crate), or what lies at the places.

use nix::unistd::Uid;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use tiro_schema::place::{Overrides, PlaceError, Places, Surroundings};

/// The places, from the environment and, over it, a socket named on the command line.
///
/// # Errors
/// When neither `TIRO_HOME` nor `HOME` is set.
pub fn places(socket: Option<&Path>) -> Result<Places, PlaceError> {
    let cwd = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let env = |name: &str| std::env::var_os(name);
    let around = Surroundings { env: &env, uid: Uid::effective().as_raw(), cwd: &cwd, is_private: &is_private };
    tiro_schema::place::places(&around, Overrides { home: None, socket })
}

/// The places of a home of one's own, whatever the environment says.
///
/// # Errors
/// Never in practice: the home is given.
pub fn places_of_home(home: &Path) -> Result<Places, PlaceError> {
    let env = |_: &str| None;
    let around = Surroundings { env: &env, uid: Uid::effective().as_raw(), cwd: home, is_private: &is_private };
    tiro_schema::place::places(&around, Overrides { home: Some(home), socket: None })
}

/// Whether this is a folder, no link, of this user, closed to everybody else.
pub fn is_private(path: &Path) -> bool {
    fs::symlink_metadata(path)
        .is_ok_and(|found| found.is_dir() && found.uid() == Uid::effective().as_raw() && found.mode() & 0o077 == 0)
}

/// Makes a folder, and what is missing above it, for this user only.
///
/// # Errors
/// As the file system says.
pub fn make_private(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn only_a_closed_folder_is_private() {
        let dir = tempfile::tempdir().unwrap();
        let made = dir.path().join("a/b");
        make_private(&made).unwrap();
        assert!(is_private(&made));
        fs::set_permissions(&made, fs::Permissions::from_mode(0o750)).unwrap();
        assert!(!is_private(&made));
    }
}
