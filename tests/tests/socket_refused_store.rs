//! A store that cannot be served: said on the terminal and on the socket, with an exit code, and left as it was.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;
use tiro_tests::{DaemonSetup, TestDaemon, check};

/// Exit code for a store that is damaged, newer or foreign.
const STORE_REFUSED: i32 = 3;

fn store_file(daemon: &TestDaemon) -> PathBuf {
    daemon.home().join("data").join(tiro_daemon::store::STORE_FILE)
}

#[track_caller]
fn refused(daemon: &TestDaemon, says: &str) {
    let before = std::fs::read(store_file(daemon)).unwrap();
    let (status, message) = daemon.run_to_end();
    assert_eq!(status.code(), Some(STORE_REFUSED), "{message}");
    assert!(message.contains("tirod: ") && message.contains(says) && message.contains("store.redb"), "{message}");
    assert_eq!(std::fs::read(store_file(daemon)).unwrap(), before, "a refused store was changed");
    assert!(!daemon.socket().exists(), "the socket was left behind");
}

// STORE-2, STORE-3, API-2
#[test]
fn a_damaged_or_foreign_store_is_refused_with_its_name_and_what_to_do() {
    let mut daemon = TestDaemon::spawn();
    check::remember(&mut daemon.rpc(), "kept before the damage");
    daemon.terminate();
    let whole = std::fs::read(store_file(&daemon)).unwrap();

    std::fs::write(store_file(&daemon), &whole[..whole.len() / 2]).unwrap();
    refused(&daemon, "damaged");
    std::fs::write(store_file(&daemon), b"# a text file that somebody put here\n").unwrap();
    refused(&daemon, "not a store of Tiro");
    std::fs::write(store_file(&daemon), b"").unwrap();
    refused(&daemon, "store.redb");

    std::fs::write(store_file(&daemon), &whole).unwrap();
    daemon.start();
    check::recall_contains(&mut daemon.rpc(), "damage", "kept before the damage");
}

// STORE-1, API-2: two sockets, one store.
#[test]
fn a_store_that_another_daemon_has_open_is_refused_naming_its_pid() {
    let first = TestDaemon::spawn();
    let other_socket = first.home().join("other").join("d.sock");
    let second = DaemonSetup::new().home(first.home()).env("TIRO_SOCKET", other_socket).prepare();
    let (status, message) = second.run_to_end();
    assert_eq!(status.code(), Some(7), "{message}");
    assert!(message.contains(&format!("pid {}", first.pid())), "{message}");
    assert!(message.contains(&format!("answers at {}", first.socket().display())), "{message}");
    check::serves_others(&first.socket());
}
