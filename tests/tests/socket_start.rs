//! One daemon a socket: start, stale sockets, races, stop.
#![allow(clippy::unwrap_used)]

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};
use tiro_tests::{DEADLINE, DaemonSetup, Rpc, TestDaemon, check, heavy, wait_for};

/// Exit code of a daemon that found another one there.
const ALREADY_RUNNING: i32 = 7;

// API-2, A33
#[test]
fn a_socket_left_by_kill_9_is_replaced_at_once() {
    let mut daemon = TestDaemon::spawn();
    daemon.kill9();
    assert!(daemon.socket().exists(), "kill -9 leaves the socket");
    assert!(Rpc::connect(&daemon.socket()).is_err());
    let began = Instant::now();
    daemon.start();
    assert!(began.elapsed() < Duration::from_secs(5), "took {:?}", began.elapsed());
    check::serves_others(&daemon.socket());
}

// API-2, A35: a daemon that does not answer for a while is not stale.
#[test]
fn a_busy_daemon_keeps_its_socket_while_another_is_started() {
    let daemon = TestDaemon::spawn();
    let inode = std::fs::symlink_metadata(daemon.socket()).unwrap().ino();
    daemon.signal(Signal::SIGSTOP);
    let (status, message) = daemon.run_to_end();
    daemon.signal(Signal::SIGCONT);
    assert_eq!(status.code(), Some(ALREADY_RUNNING), "{message}");
    assert!(message.contains(&format!("pid {}", daemon.pid())), "{message}");
    assert_eq!(std::fs::symlink_metadata(daemon.socket()).unwrap().ino(), inode);
    check::serves_others(&daemon.socket());
}

// API-2, A35: even without its lock file, what answers is alive.
#[test]
fn a_socket_that_somebody_answers_at_is_never_removed() {
    let daemon = DaemonSetup::new().prepare();
    let socket = daemon.socket();
    std::fs::DirBuilder::new().recursive(true).create(socket.parent().unwrap()).unwrap();
    std::fs::set_permissions(socket.parent().unwrap(), std::fs::Permissions::from_mode(0o700)).unwrap();
    let _listener = UnixListener::bind(&socket).unwrap();
    let (status, message) = daemon.run_to_end();
    assert_eq!(status.code(), Some(ALREADY_RUNNING), "{message}");
    assert!(socket.exists());
}

// API-2, D12: of many that start at once exactly one runs; the others name it.
#[test]
fn of_twenty_daemons_started_together_one_runs() {
    let mut daemon = TestDaemon::spawn();
    daemon.kill9();
    for round in 0..if heavy() { 10 } else { 2 } {
        let mut children: Vec<_> = (0..20)
            .map(|_| daemon.command().stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped()).spawn().unwrap())
            .collect();
        check::ready(&daemon.socket());
        let status: Value = Rpc::open(&daemon.socket()).ask("daemon/status", json!({}));
        let owner = u32::try_from(status["pid"].as_u64().unwrap()).unwrap();
        wait_for("the losers to end", DEADLINE, || {
            let running = children.iter_mut().filter_map(|child| child.try_wait().unwrap().is_none().then_some(child.id()));
            let running: Vec<u32> = running.collect();
            (running == [owner]).then_some(())
        });
        for mut child in children {
            if child.id() == owner {
                child.kill().unwrap();
                child.wait().unwrap();
                continue;
            }
            let output = child.wait_with_output().unwrap();
            let message = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(ALREADY_RUNNING), "round {round}: {message}");
            assert!(message.contains(&format!("pid {owner}")), "round {round}: {message}");
        }
    }
}

// API-2, A36, S4
#[test]
fn a_home_path_of_120_bytes_works() {
    let outer = tempfile::tempdir().unwrap();
    let home = outer.path().join("h".repeat(120));
    std::fs::create_dir(&home).unwrap();
    let daemon = DaemonSetup::new().home(&home).spawn();
    let socket = daemon.socket();
    assert!(socket.starts_with("/tmp"), "{}", socket.display());
    let folder = std::fs::symlink_metadata(socket.parent().unwrap()).unwrap();
    assert_eq!(folder.permissions().mode() & 0o777, 0o700);
    check::serves_others(&socket);
    assert!(daemon.log().contains("too long for a socket"));
    drop(daemon);
    std::fs::remove_file(socket.with_extension("sock.lock")).unwrap();
    let _ = std::fs::remove_file(&socket);
}

// API-2: asked by a client or by a signal, it tells its clients, answers what is in flight, and leaves no socket.
#[test]
fn a_stop_is_told_to_clients_and_removes_the_socket_and_nothing_else() {
    for by_signal in [Some(Signal::SIGTERM), Some(Signal::SIGINT), Some(Signal::SIGHUP), None] {
        let mut daemon = TestDaemon::spawn();
        let mut watcher = daemon.rpc();
        match by_signal {
            Some(signal) => daemon.signal(signal),
            None => assert_eq!(daemon.rpc().call("daemon/shutdown", json!({})).unwrap(), json!({"stopping": true})),
        }
        let params = watcher.notification("daemon/draining");
        assert!(params["reason"].is_string());
        assert!(daemon.wait_exit().success(), "{}", daemon.log());
        assert!(watcher.until_closed().is_empty());
        assert!(!daemon.socket().exists());
        daemon.start();
        check::serves_others(&daemon.socket());
    }
}

// API-2: a cleaner of old files takes the socket, or its whole folder, from under a running daemon.
#[test]
fn a_socket_that_is_removed_under_a_running_daemon_is_made_again() {
    let mut daemon = TestDaemon::spawn();
    let mut before = daemon.rpc();
    check::remember(&mut before, "kept before the socket was removed");
    std::fs::remove_file(daemon.socket()).unwrap();
    check::ready(&daemon.socket());
    assert_eq!(std::fs::symlink_metadata(daemon.socket()).unwrap().permissions().mode() & 0o777, 0o600);
    std::fs::remove_dir_all(daemon.socket().parent().unwrap()).unwrap();
    check::ready(&daemon.socket());
    let status: Value = daemon.rpc().ask("daemon/status", json!({}));
    assert_eq!(status["pid"].as_i64(), Some(i64::from(daemon.pid())));
    check::recall_contains(&mut before, "socket removed", "kept before the socket was removed");
    let (status, message) = daemon.run_to_end();
    assert_eq!(status.code(), Some(ALREADY_RUNNING), "its lock was not taken again: {message}");
    daemon.terminate();
    assert!(!daemon.socket().exists());
}

// API-2: a path that is no Unicode is a path all the same; dropped, it would lead to another store.
#[test]
fn a_home_and_a_socket_whose_names_are_not_unicode_are_used_as_they_are() {
    use std::os::unix::ffi::OsStringExt;
    let raw = |name: &[u8]| std::ffi::OsString::from_vec(name.to_vec());
    let outer = tempfile::tempdir().unwrap();
    let home = outer.path().join(raw(b"h\xff"));
    let daemon = DaemonSetup::new().home(&home).spawn();
    check::serves_others(&daemon.socket());
    assert!(home.join("data/store.redb").exists());
    drop(daemon);
    let socket = outer.path().join(raw(b"s\xfe")).join("d.sock");
    let daemon = DaemonSetup::new().env("TIRO_SOCKET", &socket).spawn();
    assert_eq!(daemon.socket(), socket);
    check::serves_others(&socket);
}

// API-2: a socket that another took the place of is not ours to remove.
#[test]
fn a_daemon_that_stops_leaves_a_socket_that_is_not_its_own() {
    let mut daemon = TestDaemon::spawn();
    std::fs::remove_file(daemon.socket()).unwrap();
    let _other = UnixListener::bind(daemon.socket()).unwrap();
    daemon.terminate();
    assert!(daemon.socket().exists());
}

// API-2: started by a service manager, the socket is the manager's.
#[test]
fn an_inherited_socket_is_served_and_left_alone() {
    let daemon = DaemonSetup::new().prepare();
    let folder = daemon.home().join("given");
    std::fs::create_dir(&folder).unwrap();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).unwrap();
    let socket = folder.join("s.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let early = Rpc::connect(&socket).unwrap();
    let mut child = activated(&daemon, &listener, &socket);
    let mut rpc = early;
    rpc.initialize();
    rpc.call("daemon/shutdown", json!({})).unwrap();
    wait_for("the daemon to end", DEADLINE, || child.try_wait().unwrap());
    assert!(socket.exists(), "an inherited socket was removed");
    let mut second = Rpc::connect(&socket).expect("the manager still listens");
    let mut child = activated(&daemon, &listener, &socket);
    assert!(second.call("daemon/status", json!({})).is_ok());
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Starts a daemon with this listener as descriptor 3, by way of a shell that knows its own pid.
fn activated(daemon: &TestDaemon, listener: &UnixListener, socket: &std::path::Path) -> std::process::Child {
    use std::os::fd::AsRawFd;
    let clear = nix::fcntl::FcntlArg::F_SETFD(nix::fcntl::FdFlag::empty());
    nix::fcntl::fcntl(listener, clear).unwrap();
    let tirod = daemon.command().get_program().to_owned();
    let mut shell = std::process::Command::new("sh");
    let script = format!("exec 3<&{}; LISTEN_FDS=1 LISTEN_PID=$$ exec \"$0\"", listener.as_raw_fd());
    shell.arg("-c").arg(script).arg(tirod).env("TIRO_HOME", daemon.home()).env("TIRO_SOCKET", socket);
    shell.stderr(std::process::Stdio::null()).spawn().unwrap()
}

// API-2: a second signal does not wait.
#[test]
fn a_second_signal_ends_it_at_once() {
    let mut daemon = TestDaemon::spawn();
    daemon.signal(Signal::SIGTERM);
    let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(daemon.pid()), Signal::SIGTERM);
    let began = Instant::now();
    daemon.wait_exit();
    assert!(began.elapsed() < Duration::from_secs(4));
}

// API-2: the command line of the daemon itself.
#[test]
fn wrong_usage_and_wrong_configuration_exit_with_2_and_say_why() {
    let wrong = DaemonSetup::new().argument("--colour").prepare();
    assert_eq!(wrong.run_to_end().0.code(), Some(2));
    let wrong = DaemonSetup::new().config("[memory]\nlexicalWeight = \"high\"\n").prepare();
    let (status, message) = wrong.run_to_end();
    assert_eq!(status.code(), Some(2), "{message}");
    assert!(message.contains("config.toml") && message.contains("line 2"), "{message}");
}
