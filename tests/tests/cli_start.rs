//! Starting on demand: one daemon for many clients, after crashes, at awkward paths, and never one that is not ours.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};
use tiro_tests::{DEADLINE, Ran, Tiro, binary};

// API-2, A34
#[test]
fn twenty_clients_that_start_together_get_one_daemon_and_are_all_served() {
    let tiro = Tiro::new();
    let texts: Vec<String> = (0..20).map(|n| format!("client number {n} was here")).collect();
    let children: Vec<_> = texts.iter().map(|text| tiro.command(&["remember", text, "--json"]).spawn().unwrap()).collect();
    for child in children {
        let ran = Ran::of(&["remember"], child.wait_with_output().unwrap()).exits(0);
        assert_eq!(ran.value()["outcome"], "created");
    }
    assert_eq!(tiro.json(&["list", "--all"])["items"].as_array().unwrap().len(), 20);
    let log = std::fs::read_to_string(tiro.home().join("state/daemon.log")).unwrap();
    let pids: BTreeSet<&str> =
        log.lines().filter(|line| line.contains("listening")).filter_map(|line| line.split("pid=").nth(1)).collect();
    assert_eq!(pids.len(), 1, "{log}");
}

// API-2, A33
#[test]
fn after_kill_9_the_next_client_starts_a_fresh_daemon_at_once() {
    let tiro = Tiro::new();
    tiro.ok(&["remember", "kept over the crash"]);
    let first = tiro.daemon_pid().unwrap();
    tiro.kill_daemon();
    assert!(tiro.socket().exists(), "kill -9 leaves the socket");
    let began = Instant::now();
    assert_eq!(tiro.json(&["recall", "kept over the crash"])["hits"][0]["text"], "kept over the crash");
    assert!(began.elapsed() < Duration::from_secs(10), "took {:?}", began.elapsed());
    assert_ne!(tiro.daemon_pid().unwrap(), first);
}

// API-2, A36
#[test]
fn a_home_path_of_120_bytes_works() {
    let outer = tempfile::tempdir().unwrap();
    let name = "n".repeat(120 - outer.path().as_os_str().len() - 1);
    let home = outer.path().join(name);
    assert_eq!(home.as_os_str().len(), 120);
    let tiro = Tiro::at(&home);
    tiro.ok(&["remember", "deep down"]);
    let status = tiro.json(&["daemon", "status"]);
    let socket = status["socket"].as_str().unwrap().to_owned();
    assert!(socket.starts_with("/tmp/tiro-") && socket.len() < 104, "{socket}");
    tiro.ok(&["daemon", "stop"]);
    for left in [socket.clone(), format!("{socket}.lock"), format!("{socket}.start")] {
        let _ = std::fs::remove_file(left);
    }
}

/// A daemon of another time: speaks protocol 7 to 9, answers what never changes shape.
fn old_daemon(tiro: &Tiro) -> std::thread::JoinHandle<Vec<String>> {
    let socket = tiro.socket();
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(socket.parent().unwrap()).unwrap();
    let listener = UnixListener::bind(&socket).unwrap();
    std::thread::spawn(move || {
        let mut asked = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            for line in BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok) {
                let request: Value = serde_json::from_str(&line).unwrap();
                let method = request["method"].as_str().unwrap_or_default().to_owned();
                let Some(id) = request.get("id") else { continue };
                let answer = answer_of_another_time(&method);
                let line = json!({"jsonrpc": "2.0", "id": id, answer.0: answer.1});
                stream.write_all(format!("{line}\n").as_bytes()).unwrap();
                asked.push(method);
                if asked.last().is_some_and(|method| method == "daemon/shutdown") {
                    std::fs::remove_file(&socket).unwrap();
                    return asked;
                }
            }
        }
        asked
    })
}

fn answer_of_another_time(method: &str) -> (&'static str, Value) {
    match method {
        "daemon/status" => {
            let value = json!({
                "daemon": {"name": "tirod", "version": "7.0.0"}, "protocol": {"min": 7, "max": 9}, "pid": 2_147_480_000u32, "state": "ready",
                "startedAt": "2026-03-05T12:00:00.000Z", "socket": "/x", "dataDir": "/x", "clients": 1, "embedder": "e",
                "model": {"configured": false, "reason": "none"}, "residentBytes": 1, "somethingNew": true
            });
            ("result", value)
        }
        "daemon/shutdown" => ("result", json!({"stopping": true})),
        _ => {
            let data = json!({"kind": "versionUnsupported", "retryable": false, "hint": "update"});
            ("error", json!({"code": -32101, "message": "no version in common", "data": data}))
        }
    }
}

// API-2, A39
#[test]
fn a_daemon_of_another_version_is_told_clearly_and_status_and_stop_still_work() {
    let tiro = Tiro::new();
    let daemon = old_daemon(&tiro);
    let skew = tiro.run(&["recall", "anything"]).exits(4);
    assert!(skew.stderr.contains("speaks protocol 1, the daemon (7.0.0) speaks 7 to 9"), "{}", skew.stderr);
    assert!(skew.stderr.contains("tiro daemon stop"), "{}", skew.stderr);
    assert_eq!(tiro.run(&["--json", "recall", "x"]).exits(4).value()["error"]["data"]["kind"], "unreachable");
    let status = tiro.ok(&["daemon", "status"]);
    assert!(status.contains("7.0.0") && status.contains("7 to 9; this client speaks 1 to 1"), "{status}");
    tiro.ok(&["daemon", "stop"]);
    assert!(daemon.join().unwrap().ends_with(&["daemon/status".to_owned(), "daemon/shutdown".to_owned()]));
}

// A37: the client is the one fooled by a planted socket.
#[test]
fn a_folder_that_others_can_write_to_is_not_trusted() {
    let tiro = Tiro::new();
    let run = tiro.home().join("run");
    std::fs::create_dir(&run).unwrap();
    std::fs::set_permissions(&run, std::fs::Permissions::from_mode(0o777)).unwrap();
    let refused = tiro.run(&["recall", "x"]).exits(4);
    assert!(refused.stderr.contains("can be written to by others"), "{}", refused.stderr);
    assert!(tiro.daemon_pid().is_none());
}

#[test]
fn without_tirod_the_client_says_where_it_looked() {
    let tiro = Tiro::new();
    let alone = tiro.home().join("alone");
    std::fs::create_dir(&alone).unwrap();
    std::fs::copy(binary::tiro(), alone.join("tiro")).unwrap();
    let tiro = Tiro::new().program(alone.join("tiro")).env("PATH", "/nonexistent");
    let refused = tiro.run(&["list"]).exits(4);
    assert!(refused.stderr.contains("tirod was found neither beside"), "{}", refused.stderr);
}

#[test]
fn a_daemon_that_cannot_start_shows_the_end_of_its_log() {
    let tiro = Tiro::new();
    std::fs::write(tiro.home().join("config.toml"), "[memory]\nlexicalWeight = \"high\"\n").unwrap();
    let refused = tiro.run(&["list"]).exits(4);
    assert!(refused.stderr.contains("the daemon cannot start") && refused.stderr.contains("line 2"), "{}", refused.stderr);
}

#[test]
fn the_daemon_is_started_stopped_and_looked_at() {
    let tiro = Tiro::new();
    let none = tiro.run(&["daemon", "status"]).exits(4);
    assert!(none.stderr.contains("tiro daemon start"), "{}", none.stderr);
    assert!(tiro.ok(&["daemon", "start"]).contains("started"));
    assert!(tiro.ok(&["daemon", "start"]).contains("runs already"));
    let status = tiro.json(&["daemon", "status"]);
    assert_eq!(status["pid"].as_i64().unwrap(), i64::from(tiro.daemon_pid().unwrap()));
    assert!(tiro.ok(&["daemon", "logs", "-n", "5"]).contains("listening"));
    assert!(tiro.ok(&["daemon", "schema"]).contains("memory/recall\t"));
    assert!(tiro.json(&["daemon", "schema"])["errors"].as_array().unwrap().len() > 20);
    let pid = tiro.daemon_pid().unwrap();
    assert_eq!(tiro.json(&["daemon", "stop"])["stopped"], true);
    assert!(tiro.daemon_pid().is_none());
    let alive = std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z"));
    assert!(!alive, "stop waits until the process has ended");
    assert_eq!(tiro.json(&["daemon", "stop"])["stopped"], false);
}

#[test]
fn the_log_is_followed_as_it_grows() {
    let tiro = Tiro::new();
    tiro.ok(&["daemon", "start"]);
    let mut follower = tiro.command(&["daemon", "logs", "-f", "-n", "50"]).spawn().unwrap();
    let lines = BufReader::new(follower.stdout.take().unwrap()).lines();
    let (found, seen) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for line in lines.map_while(Result::ok).filter(|line| line.contains("stopping")) {
            let _ = found.send(line);
        }
    });
    tiro.ok(&["daemon", "stop"]);
    seen.recv_timeout(DEADLINE).expect("the line that is written on the way out");
    follower.kill().unwrap();
    follower.wait().unwrap();
}

// API-2: a cleaner of old files took the socket of a daemon that runs.
#[test]
fn a_daemon_whose_socket_was_removed_is_not_said_to_be_stopped() {
    let tiro = Tiro::new();
    tiro.ok(&["remember", "said before the socket was removed"]);
    let pid = tiro.daemon_pid().unwrap();
    std::fs::remove_file(tiro.socket()).unwrap();
    assert_eq!(tiro.json(&["daemon", "status"])["pid"], pid);
    std::fs::remove_file(tiro.socket()).unwrap();
    assert_eq!(tiro.json(&["recall", "socket removed"])["hits"][0]["text"], "said before the socket was removed");
    std::fs::remove_file(tiro.socket()).unwrap();
    assert_eq!(tiro.json(&["daemon", "stop"]), json!({"stopped": true, "pid": pid}));
}

// API-2: one that cannot make it again is named, with what to do.
#[test]
fn a_daemon_that_answers_nowhere_is_named_with_its_pid() {
    let tiro = Tiro::new();
    tiro.ok(&["daemon", "start"]);
    let pid = nix::unistd::Pid::from_raw(tiro.daemon_pid().unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGSTOP).unwrap();
    std::fs::remove_file(tiro.socket()).unwrap();
    let stop = tiro.run(&["daemon", "stop"]);
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGCONT).unwrap();
    let stop = stop.exits(4);
    assert!(stop.stderr.contains(&format!("(pid {pid}) serves the store")), "{}", stop.stderr);
    assert!(stop.stderr.contains(&format!("kill {pid}")), "{}", stop.stderr);
    tiro.ok(&["daemon", "stop"]);
}

// API-2: another runtime folder (a second login, sudo, cron) or another --socket, and the same store.
#[test]
fn a_client_that_looks_elsewhere_uses_the_socket_of_the_daemon_that_has_the_store() {
    let tiro = Tiro::new();
    tiro.ok(&["remember", "one store, two doors"]);
    let elsewhere = tiro.home().join("elsewhere/d.sock");
    let named = elsewhere.to_str().unwrap();
    assert_eq!(tiro.json(&["--socket", named, "recall", "two doors"])["hits"][0]["text"], "one store, two doors");
    let status = tiro.json(&["--socket", named, "daemon", "status"]);
    assert_eq!(status["socket"], tiro.socket().to_str().unwrap());
    assert!(!elsewhere.exists(), "a second daemon was started");
    tiro.ok(&["--socket", named, "daemon", "stop"]);
    assert!(tiro.daemon_pid().is_none());
}

// API-2: an environment without TIRO_HOME, and names that are no Unicode.
#[test]
fn the_xdg_folders_are_used_as_they_are_and_a_second_runtime_folder_leads_to_the_same_daemon() {
    use std::os::unix::ffi::OsStringExt;
    let outer = tempfile::tempdir().unwrap();
    let data = outer.path().join(std::ffi::OsString::from_vec(b"data\xff".to_vec()));
    let tiro = Tiro::new();
    let run = |runtime: &str, arguments: &[&str]| {
        let runtime = outer.path().join(runtime);
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&runtime).unwrap();
        let mut command = tiro.command(arguments);
        command.env_remove("TIRO_HOME").env("XDG_DATA_HOME", &data).env("XDG_STATE_HOME", outer.path().join("state"));
        command.env("XDG_CONFIG_HOME", outer.path().join("config")).env("XDG_RUNTIME_DIR", runtime);
        Ran::of(arguments, command.output().unwrap()).exits(0)
    };
    run("a", &["remember", "kept by way of a"]);
    assert!(data.join("tiro/store.redb").exists());
    assert_eq!(run("b", &["--json", "recall", "kept by way"]).value()["hits"][0]["text"], "kept by way of a");
    assert!(!outer.path().join("b/tiro/daemon.sock").exists());
    run("b", &["daemon", "stop"]);
}

/// The lock of a file, held as a daemon that is ending holds it.
fn held(path: &std::path::Path) -> nix::fcntl::Flock<std::fs::File> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path.parent().unwrap()).unwrap();
    let mut file = std::fs::File::options().create(true).truncate(false).write(true).mode(0o600).open(path).unwrap();
    writeln!(file, "{}", std::process::id()).unwrap();
    nix::fcntl::Flock::lock(file, nix::fcntl::FlockArg::LockExclusiveNonblock).map_err(|(_, errno)| errno).unwrap()
}

// API-2, A33: a daemon that was killed may hold its lock a little longer than its socket
#[test]
fn a_start_is_repeated_while_a_lock_is_not_given_up_yet() {
    let tiro = Tiro::new();
    let lock = held(&tiro.home().join("run/daemon.sock.lock"));
    let client = tiro.command(&["remember", "kept after the lock was given up"]).spawn().unwrap();
    let log = tiro.home().join("state/daemon.log");
    tiro_tests::wait_for("a start to be turned away", DEADLINE, || {
        std::fs::read_to_string(&log).ok().filter(|text| text.contains("already answers at this socket"))
    });
    drop(lock);
    Ran::of(&["remember"], client.wait_with_output().unwrap()).exits(0);
    assert_eq!(tiro.json(&["list"])["items"].as_array().unwrap().len(), 1);
}

// API-2: the same of the store's lock, whose holder is waited for before anything is started
#[test]
fn a_store_that_is_still_held_is_waited_for() {
    let tiro = Tiro::new();
    let path = tiro.home().join("data/lock");
    let lock = held(&path);
    std::fs::write(&path, format!("pid {}\nsocket {}\n", std::process::id(), tiro.socket().display())).unwrap();
    let mut client = tiro.command(&["remember", "kept after the store was let go"]).spawn().unwrap();
    let began = Instant::now();
    while began.elapsed() < Duration::from_millis(300) {
        assert!(client.try_wait().unwrap().is_none(), "it did not wait");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(!tiro.home().join("state/daemon.log").exists(), "a daemon was started while another held the store");
    drop(lock);
    Ran::of(&["remember"], client.wait_with_output().unwrap()).exits(0);
}
