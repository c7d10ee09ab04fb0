//! A daemon inside the test's own process: with a clock and a storage that the test owns.
//!
//! It has its own runtime and its own folder, and is spoken to over its socket as any other. Must not know: what is
//! asked of it.

use crate::check;
use crate::client::Rpc;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use tiro_daemon::clock::ManualClock;
use tiro_daemon::config::Config;
use tiro_daemon::paths::EnvMap;
use tiro_daemon::run::{Daemon, Running, Seams};
use tokio::runtime::Runtime;

/// The time a new daemon's clock stands at: 2026-03-05T12:00:00Z.
pub const NOON_MS: i64 = 1_772_712_000_000;

/// The daemon.
pub struct InsideDaemon {
    /// Its clock; it stands until it is set.
    pub clock: Arc<ManualClock>,
    home: TempDir,
    socket: PathBuf,
    runtime: Option<Runtime>,
    running: Option<Running>,
}

impl InsideDaemon {
    /// Starts one in a new folder with a clock that stands at [`NOON_MS`].
    pub fn start() -> Self {
        Self::start_with(|_| {})
    }

    /// The same, after `change` has had its way with the seams.
    pub fn start_with(change: impl FnOnce(&mut Seams)) -> Self {
        let mut daemon = Self::prepare();
        daemon.start_again_with(change);
        daemon
    }

    /// The same, without waiting until its store is open.
    pub fn start_unready_with(change: impl FnOnce(&mut Seams)) -> Self {
        let mut daemon = Self::prepare();
        daemon.launch(change);
        daemon
    }

    fn prepare() -> Self {
        let home = tempfile::Builder::new().prefix("tiro-").tempdir().expect("a temporary folder");
        let clock = Arc::new(ManualClock::new(NOON_MS));
        InsideDaemon { clock, socket: home.path().join("run/daemon.sock"), home, runtime: None, running: None }
    }

    /// Starts it again on the same folder, after [`InsideDaemon::stop`].
    pub fn start_again(&mut self) {
        self.start_again_with(|_| {});
    }

    /// The same, after `change` has had its way with the seams.
    pub fn start_again_with(&mut self, change: impl FnOnce(&mut Seams)) {
        self.launch(change);
        check::ready(&self.socket);
    }

    fn launch(&mut self, change: impl FnOnce(&mut Seams)) {
        let env = EnvMap::from([("TIRO_HOME".to_owned(), self.home.path().into())]);
        let mut config = Config::load(&env, None, None).expect("the configuration");
        let mut seams = Seams::system(&config, env);
        seams.clock = self.clock.clone();
        change(&mut seams);
        // No model of this machine: tests that want one say which.
        if !seams.env.contains_key("TIRO_MODEL_BASE_URL") {
            config.file.model.provider.get_or_insert_with(|| "none".to_owned());
        }
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
        let running = runtime.block_on(Daemon::start(config, seams)).expect("the daemon starts");
        self.runtime = Some(runtime);
        self.running = Some(running);
    }

    /// Stops it in order.
    pub fn stop(&mut self) {
        if let (Some(runtime), Some(running)) = (self.runtime.take(), self.running.take()) {
            runtime.block_on(running.stop("the test asks"));
            runtime.shutdown_timeout(crate::DEADLINE);
        }
    }

    /// Its folder.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Its socket.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// A new client of it, ready for calls.
    pub fn rpc(&self) -> Rpc {
        Rpc::open(&self.socket)
    }
}

impl Drop for InsideDaemon {
    fn drop(&mut self) {
        self.stop();
    }
}
