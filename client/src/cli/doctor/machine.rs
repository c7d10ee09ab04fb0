//! Checks of what lies on this machine: folders, configuration, socket, program, disk, systemd.
//!
//! Must not know: the daemon's answers.

use super::super::config::{plain_keys, unknown};
use super::super::daemon::unit::systemctl;
use super::super::exit::Exit;
use super::Check;
use crate::render::size;
use crate::trust::{self, TrustError};
use crate::{launch, place};
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tiro_schema::place::Places;

/// Free bytes under which a disk is looked at.
const DISK_WARN_BYTES: u64 = 1 << 30;
/// Free bytes under which it fails.
const DISK_FAIL_BYTES: u64 = 64 << 20;

/// All of them but systemd, which comes last.
pub fn checks(places: &Places) -> Vec<Check> {
    vec![folders(places), config(places), socket(places), program(), disk(&places.data_dir)]
}

fn folders(places: &Places) -> Check {
    let named = [&places.config_dir, &places.data_dir, &places.state_dir];
    let open: Vec<String> =
        named.iter().filter(|dir| dir.exists() && !place::is_private(dir)).map(|dir| dir.display().to_string()).collect();
    if open.iter().any(|dir| *dir == places.data_dir.display().to_string()) {
        let advice = format!("chmod 700 {}", open.join(" "));
        return Check::warn("folders", format!("others can look into {}", open.join(", ")), advice);
    }
    if let Some(dir) = open_to_all(&places.data_dir) {
        let found = format!("others can put another folder in the place of yours: they may write to {}", dir.display());
        return Check::warn("folders", found, format!("chmod go-w {}", dir.display()));
    }
    let made = if places.data_dir.exists() { "" } else { " (not made yet)" };
    Check::ok("folders", format!("{}{made}", places.home.as_ref().unwrap_or(&places.data_dir).display()))
}

/// The folder above, at any height, in which others may rename what is not theirs.
fn open_to_all(dir: &Path) -> Option<&Path> {
    const ALL_WRITE: u32 = 0o002;
    const STICKY: u32 = 0o1000;
    let open = |dir: &&Path| {
        let mode = std::fs::metadata(dir).map_or(0, |found| found.permissions().mode());
        mode & ALL_WRITE != 0 && mode & STICKY == 0
    };
    dir.ancestors().skip(1).find(open)
}

fn config(places: &Places) -> Check {
    let file = places.config_file();
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Check::ok("config", "none: everything at its default"),
        Err(error) => return Check::fail("config", Exit::Failed, format!("{}: {error}", file.display()), "make it readable"),
    };
    match text.parse::<toml::Table>() {
        Err(error) => Check::fail(
            "config",
            Exit::Failed,
            format!("{}: {}", file.display(), error.message()),
            "correct it: tiro config show says where",
        ),
        Ok(table) => settings(&file, &table),
    }
}

fn settings(file: &Path, table: &toml::Table) -> Check {
    let (keys, unknown) = (plain_keys(table), unknown(table));
    let (mut found, mut advice) = (file.display().to_string(), Vec::new());
    if !keys.is_empty() {
        found.push_str(&format!("; it holds a key in plain text ({})", keys.join(", ")));
        advice.push("put the key into an environment variable and name it: apiKeyEnv");
    }
    if !unknown.is_empty() {
        found.push_str(&format!("; {}", unknown.join("; ")));
        advice.push("correct the names (tiro config init --force writes a file with every setting), then tiro daemon stop");
    }
    match advice.is_empty() {
        true => Check::ok("config", found),
        false => Check::warn("config", found, advice.join("; ")),
    }
}

fn socket(places: &Places) -> Check {
    let shown = match &places.socket_wanted {
        Some(wanted) => format!("{} (stands for {}, which is too long)", places.socket.display(), wanted.display()),
        None => places.socket.display().to_string(),
    };
    match trust::check_path(&places.socket) {
        Ok(()) => Check::ok("socket", shown),
        Err(TrustError::Look { source, .. }) if source.kind() == ErrorKind::NotFound => {
            Check::ok("socket", format!("{shown} (not made yet)"))
        }
        Err(error) => Check::fail(
            "socket",
            Exit::Unreachable,
            error.to_string(),
            "its folder has to be yours and of mode 0700; TIRO_SOCKET names another",
        ),
    }
}

fn program() -> Check {
    match launch::program() {
        Ok(path) => Check::ok("tirod", path.display().to_string()),
        Err(error) => Check::fail("tirod", Exit::Unreachable, error.to_string(), "put tirod beside tiro, or in PATH"),
    }
}

/// Free space where the store is, or will be.
fn disk(dir: &Path) -> Check {
    let Some(existing) = dir.ancestors().find(|path| path.exists()) else {
        return Check::warn("disk", "cannot be looked at", "");
    };
    #[allow(clippy::useless_conversion)] // 32 bits on macOS
    let free = match nix::sys::statvfs::statvfs(existing) {
        Ok(found) => u64::from(found.blocks_available()).saturating_mul(u64::from(found.fragment_size())),
        Err(error) => return Check::warn("disk", format!("{}: {error}", existing.display()), ""),
    };
    let found = format!("{} free in {}", size::bytes(free), existing.display());
    match free {
        free if free < DISK_FAIL_BYTES => {
            Check::fail("disk", Exit::Failed, found, "free some space: a full disk takes no writes")
        }
        free if free < DISK_WARN_BYTES => Check::warn("disk", found, "free some space soon"),
        _ => Check::ok("disk", found),
    }
}

/// Whether systemd starts the daemon; everything works without it.
pub fn systemd() -> Check {
    match systemctl(&["is-enabled", "tiro.socket"]) {
        Ok(()) => Check::ok("systemd", "tiro.socket is on"),
        Err(_) => Check::ok("systemd", "not used: commands start the daemon (tiro daemon install changes that)"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::Verdict;
    use super::*;

    #[test]
    fn an_open_data_folder_and_a_plain_key_are_told() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().unwrap();
        let places = place::places_of_home(home.path()).unwrap();
        assert!(checks(&places)[..3].iter().all(|check| check.verdict == Verdict::Ok), "{:?}", checks(&places));
        std::fs::create_dir(&places.data_dir).unwrap();
        std::fs::set_permissions(&places.data_dir, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::write(places.config_file(), "[model]\napiKey = \"x\"\n").unwrap();
        let found = checks(&places);
        assert_eq!((found[0].verdict, found[1].verdict), (Verdict::Warn, Verdict::Warn), "{found:?}");
        std::fs::write(places.config_file(), "[model]\nbaseurl = \"x\"\n[memry]\n").unwrap();
        let found = checks(&places)[1].clone();
        assert!(
            found.verdict == Verdict::Warn && found.found.contains("model.baseurl") && found.found.contains("memry"),
            "{found:?}"
        );
    }
}
