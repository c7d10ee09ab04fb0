//! Where Tiro's files and its socket stand: one set of rules for daemon and client.
//!
//! Pure: the environment, the uid and the one look at the disk that a rule needs are handed in. Must not know: how a
//! folder is made, checked or opened.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Longest socket path taken as it is, in bytes: `sun_path` holds 108 on Linux and 104 on macOS.
pub const SOCKET_PATH_BYTES_MAX: usize = 100;

/// What the rules look at.
pub struct Surroundings<'a> {
    /// Reads an environment variable, whatever bytes it holds; empty counts as unset.
    pub env: &'a dyn Fn(&str) -> Option<OsString>,
    /// The user.
    pub uid: u32,
    /// The current folder: relative paths start there.
    pub cwd: &'a Path,
    /// Whether this path is a folder (no link) that belongs to the user and is closed to everybody else.
    pub is_private: &'a dyn Fn(&Path) -> bool,
}

/// What a command line may say over the environment.
#[derive(Debug, Clone, Copy, Default)]
pub struct Overrides<'a> {
    /// `--home`.
    pub home: Option<&'a Path>,
    /// `--socket`.
    pub socket: Option<&'a Path>,
}

/// Which rule chose the socket's path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SocketRule {
    /// `--socket` or `TIRO_SOCKET`.
    Named,
    /// `run/` in `--home` or `TIRO_HOME`.
    Home,
    /// `tiro/` in `XDG_RUNTIME_DIR`.
    RuntimeDir,
    /// `run/` in the state folder, as there is no private `XDG_RUNTIME_DIR`.
    StateDir,
}

/// Every place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// `TIRO_HOME`, when that is what the others come from.
    pub home: Option<PathBuf>,
    /// Holds `config.toml`.
    pub config_dir: PathBuf,
    /// Holds the store, its backups and the index.
    pub data_dir: PathBuf,
    /// Holds the log.
    pub state_dir: PathBuf,
    /// The socket.
    pub socket: PathBuf,
    /// Which rule chose it.
    pub socket_rule: SocketRule,
    /// The path the rule chose, when it was too long and `socket` is a hashed name in its stead.
    pub socket_wanted: Option<PathBuf>,
}

impl Places {
    /// The configuration file.
    pub fn config_file(&self) -> PathBuf {
        self.config_dir.join("config.toml")
    }

    /// The log of a daemon in the background.
    pub fn log_file(&self) -> PathBuf {
        self.state_dir.join("daemon.log")
    }

    /// The folder of the socket; it has to be private.
    pub fn socket_dir(&self) -> &Path {
        self.socket.parent().unwrap_or(Path::new("/"))
    }

    /// The lock beside the socket: held for life by the daemon that answers there; it holds the owner's pid.
    pub fn socket_lock(&self) -> PathBuf {
        let mut name = self.socket.clone().into_os_string();
        name.push(".lock");
        name.into()
    }

    /// The lock in the store's folder: held for life by the daemon that serves the store; [`crate::owner`] says what
    /// stands in it.
    pub fn store_lock(&self) -> PathBuf {
        self.data_dir.join(crate::owner::LOCK_FILE)
    }
}

/// Why there are no places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlaceError {
    /// Neither `TIRO_HOME` nor `HOME` is set.
    NoHome,
    /// A socket path without a file name.
    NotASocketPath(PathBuf),
}

impl std::fmt::Display for PlaceError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PlaceError::NoHome => {
                f.write_str("neither TIRO_HOME nor HOME is set, so there is no place for the store: set one of them")
            }
            PlaceError::NotASocketPath(path) => write!(f, "{} cannot be a socket: it names no file", path.display()),
        }
    }
}

impl std::error::Error for PlaceError {}

/// Finds every place.
///
/// `TIRO_HOME` (or `--home`) holds all of them; else the XDG folders do. The socket: `--socket`, `TIRO_SOCKET`,
/// `TIRO_HOME/run/daemon.sock`, `XDG_RUNTIME_DIR/tiro/daemon.sock` when that folder is private, else `run/daemon.sock`
/// in the state folder. A path over [`SOCKET_PATH_BYTES_MAX`] becomes `/tmp/tiro-UID/HASH.sock`.
///
/// # Errors
/// When no rule fits.
pub fn places(around: &Surroundings<'_>, overrides: Overrides<'_>) -> Result<Places, PlaceError> {
    let var = |name: &str| (around.env)(name).filter(|value| !value.is_empty());
    let absolute = |path: &Path| tidy(&around.cwd.join(path));
    let home = overrides.home.map(Path::to_path_buf).or_else(|| var("TIRO_HOME").map(PathBuf::from)).map(|path| absolute(&path));

    let (config_dir, data_dir, state_dir) = match &home {
        Some(home) => (home.clone(), home.join("data"), home.join("state")),
        None => (
            xdg(&var, "XDG_CONFIG_HOME", ".config")?,
            xdg(&var, "XDG_DATA_HOME", ".local/share")?,
            xdg(&var, "XDG_STATE_HOME", ".local/state")?,
        ),
    };

    let named = overrides.socket.map(Path::to_path_buf).or_else(|| var("TIRO_SOCKET").map(PathBuf::from));
    let runtime = || var("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|dir| dir.is_absolute() && (around.is_private)(dir));
    let (wanted, socket_rule) = if let Some(named) = named {
        (absolute(&named), SocketRule::Named)
    } else if let Some(home) = &home {
        (home.join("run/daemon.sock"), SocketRule::Home)
    } else if let Some(dir) = runtime() {
        (dir.join("tiro/daemon.sock"), SocketRule::RuntimeDir)
    } else {
        (state_dir.join("run/daemon.sock"), SocketRule::StateDir)
    };
    if wanted.file_name().is_none() {
        return Err(PlaceError::NotASocketPath(wanted));
    }
    let too_long = wanted.as_os_str().len() > SOCKET_PATH_BYTES_MAX;
    let socket = if too_long { hashed(&wanted, around.uid) } else { wanted.clone() };
    Ok(Places { home, config_dir, data_dir, state_dir, socket, socket_rule, socket_wanted: too_long.then_some(wanted) })
}

/// `tiro` in an XDG folder; a relative value is invalid by that specification, and so unset.
fn xdg(var: &dyn Fn(&str) -> Option<OsString>, name: &str, in_home: &str) -> Result<PathBuf, PlaceError> {
    if let Some(dir) = var(name).map(PathBuf::from).filter(|dir| dir.is_absolute()) {
        return Ok(dir.join("tiro"));
    }
    let home = var("HOME").map(PathBuf::from).filter(|dir| dir.is_absolute()).ok_or(PlaceError::NoHome)?;
    Ok(home.join(in_home).join("tiro"))
}

/// The short path that stands for a long one.
fn hashed(path: &Path, uid: u32) -> PathBuf {
    PathBuf::from(format!("/tmp/tiro-{uid}/{:016x}.sock", fnv1a(path.as_os_str().as_encoded_bytes())))
}

/// FNV-1a, 64 bits: the same in every build and every program.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// Takes `.` and doubled slashes out; `..` stays, as it may cross a link.
fn tidy(path: &Path) -> PathBuf {
    path.components().collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn with(vars: &[(&str, &str)], private: bool) -> Result<Places, PlaceError> {
        let env = |name: &str| vars.iter().find(|(n, _)| *n == name).map(|(_, v)| OsString::from(v));
        let is_private = |_: &Path| private;
        let around = Surroundings { env: &env, uid: 1000, cwd: Path::new("/here"), is_private: &is_private };
        places(&around, Overrides::default())
    }

    #[test]
    fn the_socket_rules_apply_in_their_order() {
        // API-2
        let all = [("TIRO_SOCKET", "/s/x.sock"), ("TIRO_HOME", "/h"), ("XDG_RUNTIME_DIR", "/run/user/1000"), ("HOME", "/home/a")];
        assert_eq!(with(&all, true).unwrap().socket, Path::new("/s/x.sock"));
        assert_eq!(with(&all[1..], true).unwrap().socket, Path::new("/h/run/daemon.sock"));
        assert_eq!(with(&all[2..], true).unwrap().socket, Path::new("/run/user/1000/tiro/daemon.sock"));
        let open_runtime_dir = with(&all[2..], false).unwrap();
        assert_eq!(open_runtime_dir.socket, Path::new("/home/a/.local/state/tiro/run/daemon.sock"));
        assert_eq!(open_runtime_dir.socket_rule, SocketRule::StateDir);
        assert_eq!(with(&[], true), Err(PlaceError::NoHome));
    }

    #[test]
    fn the_folders_follow_home_else_xdg_and_relative_or_empty_values() {
        let home = with(&[("TIRO_HOME", "./h//x"), ("HOME", "/home/a")], true).unwrap();
        assert_eq!(home.data_dir, Path::new("/here/h/x/data"));
        assert_eq!(home.config_file(), Path::new("/here/h/x/config.toml"));
        let xdg =
            with(&[("TIRO_HOME", ""), ("HOME", "/home/a"), ("XDG_DATA_HOME", "/d"), ("XDG_STATE_HOME", "rel")], true).unwrap();
        assert_eq!(xdg.data_dir, Path::new("/d/tiro"));
        assert_eq!(xdg.state_dir, Path::new("/home/a/.local/state/tiro"));
    }

    #[test]
    fn a_home_path_of_120_bytes_gets_a_hashed_socket() {
        // API-2, A36
        let long = format!("/{}", "a".repeat(119));
        let found = with(&[("TIRO_HOME", &long)], true).unwrap();
        assert!(found.socket.starts_with("/tmp/tiro-1000"));
        assert!(found.socket.as_os_str().len() <= SOCKET_PATH_BYTES_MAX);
        assert_eq!(found.socket_wanted.unwrap(), Path::new(&long).join("run/daemon.sock"));
        let other = with(&[("TIRO_HOME", &format!("/{}", "b".repeat(119)))], true).unwrap();
        assert_ne!(found.socket, other.socket);
        let exactly = format!("/{}/x.sock", "c".repeat(SOCKET_PATH_BYTES_MAX - 8));
        assert_eq!(with(&[("TIRO_SOCKET", &exactly), ("HOME", "/h")], true).unwrap().socket, Path::new(&exactly));
    }

    #[test]
    fn a_path_that_is_not_unicode_is_taken_as_it_is() {
        // API-2: one that is dropped would lead to another store.
        use std::os::unix::ffi::OsStrExt;
        let raw = std::ffi::OsStr::from_bytes(b"/h/\xff\xfe");
        for name in ["TIRO_HOME", "TIRO_SOCKET", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"] {
            let env = |asked: &str| match asked {
                _ if asked == name => Some(raw.to_owned()),
                "HOME" => Some("/home/a".into()),
                _ => None,
            };
            let around = Surroundings { env: &env, uid: 1000, cwd: Path::new("/here"), is_private: &|_| true };
            let found = places(&around, Overrides::default()).unwrap();
            let holds = [&found.data_dir, &found.state_dir, &found.socket].iter().any(|path| path.starts_with(raw));
            assert!(holds, "{name}: {found:?}");
        }
    }
}
