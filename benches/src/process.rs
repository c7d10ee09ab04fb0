//! A daemon as a process in a throw-away home, ended by its own id.
//!
//! Must not know: what is measured.

use crate::rpc::Client;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const START_MAX: Duration = Duration::from_secs(60);
const PROBE_EVERY: Duration = Duration::from_millis(2);

/// A running daemon and its home.
pub struct Daemon {
    home: tempfile::TempDir,
    bin: PathBuf,
    env: Vec<(String, String)>,
    child: Option<Child>,
}

impl Daemon {
    /// Starts `tirod` from this folder in a new home.
    ///
    /// # Errors
    /// When it does not answer within a minute.
    pub fn start(bin: &Path) -> Result<Daemon> {
        Daemon::start_with(bin, None, &[])
    }

    /// The same with a text for its `config.toml`, and with variables of its environment.
    ///
    /// # Errors
    /// When it does not answer within a minute.
    pub fn start_with(bin: &Path, config: Option<&str>, env: &[(String, String)]) -> Result<Daemon> {
        let home = tempfile::Builder::new().prefix("tiro-bench-").tempdir()?;
        if let Some(config) = config {
            std::fs::write(home.path().join("config.toml"), config)?;
        }
        let mut daemon = Daemon { home, bin: bin.to_owned(), env: env.to_vec(), child: None };
        daemon.launch()?;
        daemon.ready()?;
        Ok(daemon)
    }

    /// Starts the process again on the same home, without waiting.
    ///
    /// # Errors
    /// When the program cannot be run.
    pub fn launch(&mut self) -> Result<()> {
        let child = self
            .command("tirod")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("starting tirod in {}", self.bin.display()))?;
        self.child = Some(child);
        Ok(())
    }

    /// A program of the same folder that will talk to this daemon.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.bin.join(program));
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if ["TIRO_", "OPENAI_", "ANTHROPIC_"].iter().any(|p| text.starts_with(p)) {
                command.env_remove(&name);
            }
        }
        command.env("TIRO_HOME", self.home.path()).env("TIRO_SOCKET", self.socket());
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Its socket.
    pub fn socket(&self) -> PathBuf {
        self.home.path().join("s.sock")
    }

    /// Its home.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Connects, waiting until it answers.
    ///
    /// # Errors
    /// When it does not within a minute, or ends.
    pub fn ready(&mut self) -> Result<Client> {
        let begun = Instant::now();
        loop {
            if let Ok(client) = Client::connect(&self.socket()) {
                return Ok(client);
            }
            if let Some(child) = &mut self.child
                && let Some(status) = child.try_wait()?
            {
                bail!("tirod ended while starting: {status}");
            }
            if begun.elapsed() > START_MAX {
                bail!("tirod did not answer within {START_MAX:?}");
            }
            std::thread::sleep(PROBE_EVERY);
        }
    }

    /// Ends it without warning, as a crash would.
    ///
    /// # Errors
    /// When it cannot be ended.
    pub fn kill9(&mut self) -> Result<()> {
        if let Some(mut child) = self.child.take() {
            child.kill()?;
            child.wait()?;
        }
        Ok(())
    }

    /// Resident memory in MiB.
    ///
    /// # Errors
    /// When it does not run.
    pub fn resident_mib(&self) -> Result<f64> {
        let pid = self.child.as_ref().context("the daemon does not run")?.id();
        let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
        let line = status.lines().find(|l| l.starts_with("VmRSS")).context("VmRSS")?;
        let kib: f64 = line.split_whitespace().nth(1).context("VmRSS value")?.parse()?;
        Ok(kib / 1024.0)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // A bench that fails must not leave a process behind; there is nobody left to tell of a second failure.
        let _ = self.kill9();
    }
}

/// The folder of the release binaries, built by cargo before the first use.
///
/// # Errors
/// When the build fails.
pub fn release_binaries() -> Result<PathBuf> {
    if let Some(dir) = std::env::var_os("TIRO_BIN_DIR") {
        return Ok(dir.into());
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--release", "--workspace", "--bins"])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .status()?;
    if !status.success() {
        bail!("building the release binaries failed");
    }
    let exe = std::env::current_exe()?;
    exe.ancestors()
        .find(|dir| dir.join("tirod").is_file())
        .map(Path::to_owned)
        .with_context(|| format!("no tirod above {}", exe.display()))
}
