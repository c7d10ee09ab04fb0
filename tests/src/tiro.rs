//! The real `tiro` in a home of its own: run with arguments, judged by exit code and output.
//!
//! Dropped, it ends the daemon its commands started. Must not know: what the commands do.

use crate::client::Rpc;
use crate::{DEADLINE, binary, wait_for};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A home, and the environment commands run in.
pub struct Tiro {
    home: PathBuf,
    program: PathBuf,
    env: Vec<(String, OsString)>,
    _temporary: Option<TempDir>,
}

impl Default for Tiro {
    fn default() -> Self {
        Self::new()
    }
}

impl Tiro {
    /// An empty home.
    pub fn new() -> Self {
        let temporary = tempfile::Builder::new().prefix("tiro-").tempdir().expect("a temporary folder");
        Tiro { home: temporary.path().to_owned(), program: binary::tiro(), env: Vec::new(), _temporary: Some(temporary) }
    }

    /// In a home that somebody else removes.
    pub fn at(home: &Path) -> Self {
        Tiro { home: home.to_owned(), program: binary::tiro(), env: Vec::new(), _temporary: None }
    }

    /// With another program than the one that was built.
    pub fn program(mut self, program: PathBuf) -> Self {
        self.program = program;
        self
    }

    /// With an environment variable.
    pub fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.env.push((name.to_owned(), value.into()));
        self
    }

    /// Its `TIRO_HOME`.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Its socket, by the rules.
    pub fn socket(&self) -> PathBuf {
        let named = self.env.iter().rev().find(|(name, _)| name == "TIRO_SOCKET").map(|(_, value)| PathBuf::from(value));
        let env = |name: &str| (name == "TIRO_HOME").then(|| self.home.clone().into_os_string());
        let around = tiro_schema::place::Surroundings {
            env: &env,
            uid: nix::unistd::geteuid().as_raw(),
            cwd: Path::new("/"),
            is_private: &|_| true,
        };
        let overrides = tiro_schema::place::Overrides { home: None, socket: named.as_deref() };
        tiro_schema::place::places(&around, overrides).expect("the places").socket
    }

    /// The command, in a clean environment, with nothing on its standard input.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).env_clear().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        for name in ["PATH", "LD_LIBRARY_PATH", "RUST_BACKTRACE"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command.env("HOME", &self.home).env("TIRO_HOME", &self.home).envs(self.env.iter().cloned());
        command
    }

    /// Runs a command to its end.
    pub fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(arguments, self.command(arguments).output().expect("tiro runs"))
    }

    /// Runs a command with text on its standard input.
    pub fn run_with(&self, input: &str, arguments: &[&str]) -> Ran {
        let mut child = self.command(arguments).stdin(Stdio::piped()).spawn().expect("tiro runs");
        let mut stdin = child.stdin.take().expect("invariant: standard input is piped");
        let input = input.to_owned();
        // A command that does not read its input ends before it is written.
        let writer = std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
        let output = child.wait_with_output().expect("tiro ends");
        writer.join().expect("the writer ends");
        Ran::of(arguments, output)
    }

    /// Runs a command that has to succeed; what it printed.
    pub fn ok(&self, arguments: &[&str]) -> String {
        self.run(arguments).exits(0).stdout
    }

    /// Runs a command with `--json` that has to succeed; its one value.
    pub fn json(&self, arguments: &[&str]) -> Value {
        self.run(&[&["--json"], arguments].concat()).exits(0).value()
    }

    /// Pid of the daemon that answers, if one does.
    pub fn daemon_pid(&self) -> Option<i32> {
        let mut rpc = Rpc::connect(&self.socket()).ok()?;
        let status = rpc.try_call("daemon/status", json!({})).ok()?.ok()?;
        status["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok())
    }

    /// Kills the daemon as a crash would, and waits until it is gone.
    pub fn kill_daemon(&self) {
        let Some(pid) = self.daemon_pid() else { return };
        let pid = nix::unistd::Pid::from_raw(pid);
        let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL);
        wait_for("the daemon to be gone", DEADLINE, || Rpc::connect(&self.socket()).is_err().then_some(()));
    }
}

impl Drop for Tiro {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = std::fs::read_to_string(self.home.join("state/daemon.log")).unwrap_or_default();
            let tail: Vec<&str> = log.lines().rev().take(30).collect();
            eprintln!("--- end of the daemon's log ---\n{}", tail.into_iter().rev().collect::<Vec<_>>().join("\n"));
        }
        if let Some(pid) = self.daemon_pid() {
            let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGKILL);
        }
    }
}

/// A command that has ended.
#[derive(Debug)]
pub struct Ran {
    arguments: String,
    /// Its exit code; -1 when a signal ended it.
    pub code: i32,
    /// What it printed.
    pub stdout: String,
    /// What it said beside that.
    pub stderr: String,
}

impl Ran {
    /// Reads what a process left.
    pub fn of(arguments: &[&str], output: Output) -> Self {
        Ran {
            arguments: arguments.join(" "),
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).expect("standard output is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("standard error is UTF-8"),
        }
    }

    /// It has to have this exit code.
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "tiro {}\nstdout: {}\nstderr: {}", self.arguments, self.stdout, self.stderr);
        self
    }

    /// Standard output, which has to be one JSON value and nothing else.
    pub fn value(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("tiro {} printed {:?}: {error}", self.arguments, self.stdout))
    }
}
