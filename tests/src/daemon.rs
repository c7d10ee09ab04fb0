//! A real `tirod` in a folder of its own: started, killed, stopped, started again.
//!
//! Must not know: what is asked of it.

use crate::client::Rpc;
use crate::wait::{DEADLINE, wait_for};
use crate::{binary, check};
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use tempfile::TempDir;

/// How a daemon is to be started.
#[derive(Debug, Clone, Default)]
pub struct DaemonSetup {
    env: Vec<(String, OsString)>,
    arguments: Vec<OsString>,
    wrapper: Vec<OsString>,
    config: Option<String>,
    home: Option<PathBuf>,
}

impl DaemonSetup {
    /// With nothing but its folder.
    pub fn new() -> Self {
        Self::default()
    }

    /// With an environment variable.
    pub fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.env.push((name.to_owned(), value.into()));
        self
    }

    /// With an argument.
    pub fn argument(mut self, value: impl Into<OsString>) -> Self {
        self.arguments.push(value.into());
        self
    }

    /// Through another program, as `["prlimit", "--nofile=64"]`.
    pub fn through(mut self, words: &[&str]) -> Self {
        self.wrapper = words.iter().map(OsString::from).collect();
        self
    }

    /// With this `config.toml`.
    pub fn config(mut self, text: &str) -> Self {
        self.config = Some(text.to_owned());
        self
    }

    /// In this folder, which the caller removes, instead of a new one.
    pub fn home(mut self, home: &Path) -> Self {
        self.home = Some(home.to_path_buf());
        self
    }

    /// Starts it and waits until it answers.
    pub fn spawn(self) -> TestDaemon {
        let mut daemon = self.prepare();
        daemon.start();
        daemon
    }

    /// Makes its folder and no more; [`TestDaemon::start`] and [`TestDaemon::run_to_end`] follow.
    pub fn prepare(self) -> TestDaemon {
        let temporary = tempfile::Builder::new().prefix("tiro-").tempdir().expect("a temporary folder");
        let home = self.home.clone().unwrap_or_else(|| temporary.path().to_path_buf());
        std::fs::create_dir_all(&home).expect("the home folder");
        let names_a_model = self.env.iter().any(|(name, _)| name.starts_with("TIRO_MODEL") || name.ends_with("_API_KEY"));
        match &self.config {
            Some(config) => std::fs::write(home.join("config.toml"), config).expect("config.toml"),
            None if names_a_model || home.join("config.toml").exists() => {}
            // No model of this machine: tests that want one say which.
            None => std::fs::write(home.join("config.toml"), "[model]\nprovider = \"none\"\n").expect("config.toml"),
        }
        TestDaemon { setup: self, home, temporary, child: None }
    }
}

/// A daemon's folder, and its process while it runs. Dropped, it is killed and the folder removed.
pub struct TestDaemon {
    setup: DaemonSetup,
    home: PathBuf,
    temporary: TempDir,
    child: Option<Child>,
}

impl TestDaemon {
    /// Starts one in a new folder and waits until it answers.
    pub fn spawn() -> Self {
        DaemonSetup::new().spawn()
    }

    /// Its `TIRO_HOME`.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Its socket, by the rules.
    pub fn socket(&self) -> PathBuf {
        let named = self.setup.env.iter().rev().find(|(name, _)| name == "TIRO_SOCKET").map(|(_, value)| PathBuf::from(value));
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

    /// Its process.
    pub fn pid(&self) -> i32 {
        i32::try_from(self.child.as_ref().expect("the daemon runs").id()).expect("invariant: a pid fits")
    }

    /// The command that starts it, in a clean environment.
    pub fn command(&self) -> Command {
        let mut words = self.setup.wrapper.iter();
        let mut command = match words.next() {
            Some(wrapper) => {
                let mut command = Command::new(wrapper);
                command.args(words).arg(binary::tirod());
                command
            }
            None => Command::new(binary::tirod()),
        };
        command.args(&self.setup.arguments).env_clear();
        for name in ["PATH", "LD_LIBRARY_PATH", "RUST_BACKTRACE"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command.env("TIRO_HOME", &self.home).env("TIRO_LOG", "debug,tantivy=warn").envs(self.setup.env.iter().cloned());
        command.stdin(Stdio::null());
        command
    }

    /// Starts it and waits until it answers.
    pub fn start(&mut self) {
        self.start_only();
        let socket = self.socket();
        wait_for("the daemon to answer", DEADLINE, || {
            if let Some(status) = self.exit_status() {
                panic!("the daemon ended with {status}; its log:\n{}", self.log());
            }
            Rpc::connect(&socket).ok()
        });
        check::ready(&socket);
    }

    /// Starts it and does not wait.
    pub fn start_only(&mut self) {
        assert!(self.child.is_none(), "the daemon runs already");
        let log = File::options().append(true).create(true).open(self.log_path()).expect("the log file");
        let mut command = self.command();
        command.stdout(Stdio::null()).stderr(log);
        self.child = Some(command.spawn().unwrap_or_else(|error| panic!("cannot start {}: {error}", binary::tirod().display())));
    }

    /// Runs it in the foreground to its end: its exit status and what it wrote to standard error.
    pub fn run_to_end(&self) -> (ExitStatus, String) {
        let mut child = self.command().stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("tirod starts");
        let mut stderr = child.stderr.take().expect("invariant: standard error is piped");
        let reader = std::thread::spawn(move || {
            let mut text = String::new();
            std::io::Read::read_to_string(&mut stderr, &mut text).map(|_| text)
        });
        let status = wait_for("the daemon to end by itself", DEADLINE, || child.try_wait().expect("the child can be waited for"));
        (status, reader.join().expect("the reader ends").expect("standard error is UTF-8"))
    }

    /// How it ended, if it has.
    pub fn exit_status(&mut self) -> Option<ExitStatus> {
        self.child.as_mut().and_then(|child| child.try_wait().expect("the child can be waited for"))
    }

    /// Waits for its end.
    pub fn wait_exit(&mut self) -> ExitStatus {
        let status = wait_for("the daemon to end", DEADLINE, || self.exit_status());
        self.child = None;
        status
    }

    /// Kills it as a crash would.
    pub fn kill9(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().expect("the child can be killed");
            let status = child.wait().expect("the child can be waited for");
            assert!(status.signal() == Some(9) || status.code().is_some(), "{status}");
        }
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: nix::sys::signal::Signal) {
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(self.pid()), signal).expect("the daemon can be signalled");
    }

    /// Asks it to stop, and waits; it has to end in order.
    pub fn terminate(&mut self) {
        self.signal(nix::sys::signal::Signal::SIGTERM);
        let status = self.wait_exit();
        assert!(status.success(), "the daemon ended with {status}; its log:\n{}", self.log());
    }

    /// Stops it in order and starts it again on the same folder.
    pub fn restart(&mut self) {
        self.terminate();
        self.start();
    }

    /// A new client of it, ready for calls.
    pub fn rpc(&self) -> Rpc {
        Rpc::open(&self.socket())
    }

    /// A new connection without a word.
    pub fn connect(&self) -> Rpc {
        Rpc::connect(&self.socket()).expect("the daemon answers")
    }

    fn log_path(&self) -> PathBuf {
        self.temporary.path().join("test-daemon.log")
    }

    /// What it has logged so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.log_path()).unwrap_or_default()
    }
}

impl Drop for TestDaemon {
    fn drop(&mut self) {
        if std::thread::panicking() && self.child.is_some() {
            let log = self.log();
            let tail: Vec<&str> = log.lines().rev().take(40).collect();
            eprintln!("--- end of the daemon's log ---\n{}", tail.into_iter().rev().collect::<Vec<_>>().join("\n"));
        }
        self.kill9();
    }
}
