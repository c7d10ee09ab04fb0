//! Who gets in: modes, planted folders, other users, and no door but the one.
#![allow(clippy::unwrap_used)]

use serde_json::json;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use tiro_tests::{DaemonSetup, Rpc, TestDaemon, check, skipped};

fn mode(path: &Path) -> u32 {
    std::fs::symlink_metadata(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())).permissions().mode() & 0o777
}

fn everything_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        found.push(entry.path());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            everything_below(&entry.path(), found);
        }
    }
}

// API-2, A37, S2
#[test]
fn with_umask_000_everything_is_still_for_its_owner_only() {
    let script = "umask 000; exec \"$0\" \"$@\"";
    let daemon = DaemonSetup::new().through(&["sh", "-c", script]).spawn();
    assert_eq!(mode(daemon.socket().parent().unwrap()), 0o700);
    assert_eq!(mode(&daemon.socket()), 0o600);
    let mut found = Vec::new();
    for folder in ["run", "data"] {
        assert_eq!(mode(&daemon.home().join(folder)), 0o700, "{folder}");
        everything_below(&daemon.home().join(folder), &mut found);
    }
    for path in &found {
        assert_eq!(mode(path) & 0o077, 0, "{} has mode {:o}", path.display(), mode(path));
    }
    assert!(found.len() > 1, "{found:?}");
}

/// Puts something in the place of the runtime folder.
type Plant = fn(&Path);

// API-2, A37, S3
#[test]
fn a_planted_runtime_folder_is_refused_with_its_reason() {
    let plant: [(&str, Plant); 3] = [
        ("symbolic link", |run| std::os::unix::fs::symlink("/tmp", run).unwrap()),
        ("open to others", |run| {
            std::fs::create_dir(run).unwrap();
            std::fs::set_permissions(run, std::fs::Permissions::from_mode(0o755)).unwrap();
        }),
        ("not a folder", |run| std::fs::write(run, "").unwrap()),
    ];
    for (reason, plant) in plant {
        let daemon = DaemonSetup::new().prepare();
        plant(&daemon.home().join("run"));
        let (status, message) = daemon.run_to_end();
        assert_eq!(status.code(), Some(1), "{message}");
        assert!(message.contains(reason) && message.contains("run"), "{reason}: {message}");
    }
}

// API-2, A37, S3
#[test]
fn a_folder_of_another_user_is_refused() {
    if !nix::unistd::geteuid().is_root() {
        return skipped("a folder of another user", "needs root");
    }
    let daemon = DaemonSetup::new().prepare();
    let run = daemon.home().join("run");
    std::fs::create_dir(&run).unwrap();
    std::fs::set_permissions(&run, std::fs::Permissions::from_mode(0o700)).unwrap();
    std::os::unix::fs::chown(&run, Some(12_345), Some(12_345)).unwrap();
    let (status, message) = daemon.run_to_end();
    assert_eq!(status.code(), Some(1), "{message}");
    assert!(message.contains("uid 12345"), "{message}");
}

/// Names the socket that [`the_part_of_another_user`] connects to.
const CONNECT_TO: &str = "TIRO_TEST_CONNECT_TO";

// A38: run by the test below, as another user.
#[test]
fn the_part_of_another_user() {
    let Some(socket) = std::env::var_os(CONNECT_TO) else { return };
    let mut rpc = match Rpc::connect(Path::new(&socket)) {
        Ok(rpc) => rpc,
        Err(error) => return println!("CONNECT {:?}", error.kind()),
    };
    let said = rpc.try_call("daemon/status", json!({}));
    println!("SAID {said:?}");
}

/// Runs [`the_part_of_another_user`] as uid 12345, from a copy of this program that this user can read.
fn speak_as_another(socket: &Path, readable: &Path) -> Option<String> {
    if !nix::unistd::geteuid().is_root() {
        skipped("another user", "needs root");
        return None;
    }
    let copy = readable.join("another");
    if !copy.exists() {
        std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "12345", "--regid", "12345", "--clear-groups"]).arg(copy);
    command.args(["--exact", "the_part_of_another_user", "--nocapture"]).env(CONNECT_TO, socket);
    match command.output() {
        Ok(output) => Some(String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)),
        Err(error) => {
            skipped("another user", &format!("setpriv is needed: {error}"));
            None
        }
    }
}

// API-2, A38, S1: refused by the modes, and with the modes opened by who it is, before a byte is read.
#[test]
fn another_user_is_refused_by_the_modes_and_by_uid_when_these_are_opened() {
    let outer = tempfile::tempdir().unwrap();
    std::fs::set_permissions(outer.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let daemon = DaemonSetup::new().env("TIRO_SOCKET", outer.path().join("s").join("d.sock")).spawn();
    let socket = daemon.socket();
    let Some(said) = speak_as_another(&socket, outer.path()) else { return };
    assert!(said.contains("CONNECT PermissionDenied"), "{said}");

    std::fs::set_permissions(socket.parent().unwrap(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let said = speak_as_another(&socket, outer.path()).unwrap();
    assert!(said.contains("CONNECT PermissionDenied"), "{said}");
    std::fs::set_permissions(&socket, std::fs::Permissions::from_mode(0o777)).unwrap();
    let said = speak_as_another(&socket, outer.path()).unwrap();
    assert!(said.contains("SAID Err(Gone)"), "{said}");
    assert!(daemon.log().contains("another user"), "{}", daemon.log());
    check::serves_others(&socket);
}

// API-2, S5
#[test]
fn there_is_no_door_but_the_socket() {
    let daemon = TestDaemon::spawn();
    let sockets: Vec<String> = std::fs::read_dir(format!("/proc/{}/fd", daemon.pid()))
        .expect("the daemon's descriptors")
        .filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok())
        .filter_map(|link| link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']').map(str::to_owned))
        .collect();
    for table in ["tcp", "tcp6", "udp", "udp6"] {
        let text = std::fs::read_to_string(format!("/proc/net/{table}")).unwrap_or_default();
        for line in text.lines().skip(1) {
            let inode = line.split_whitespace().nth(9).unwrap_or_default();
            assert!(!sockets.iter().any(|socket| socket == inode), "{table}: {line}");
        }
    }
    let unix = std::fs::read_to_string("/proc/net/unix").unwrap();
    let ours: Vec<&str> = unix
        .lines()
        .skip(1)
        .filter(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            // Flag 00010000: it listens.
            fields.get(3) == Some(&"00010000") && fields.get(6).is_some_and(|inode| sockets.iter().any(|socket| socket == inode))
        })
        .collect();
    assert_eq!(ours.len(), 1, "{ours:?}");
    assert!(ours[0].ends_with(daemon.socket().to_str().unwrap()), "{ours:?}");
}

// MEM-10, A7 of the plan: no core file can hold a memory, and nobody of the same user looks in.
#[test]
fn the_process_leaves_no_core_and_is_not_dumpable() {
    let daemon = TestDaemon::spawn();
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", daemon.pid())).unwrap();
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    assert_eq!(core.split_whitespace().nth(4), Some("0"), "{core}");
    let owner = std::fs::metadata(format!("/proc/{}/environ", daemon.pid())).unwrap();
    let dumpable_owner = std::fs::metadata("/proc/self/environ").unwrap();
    if nix::unistd::geteuid().is_root() {
        skipped("owner of /proc/PID/environ", "root owns it either way");
    } else {
        assert_ne!(owner.uid(), dumpable_owner.uid());
    }
}
