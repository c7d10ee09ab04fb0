//! `tirod`: reads the command line, runs a daemon in the foreground, and stops it on a signal.
//!
//! Logs go to standard error and never hold the text of a memory. Must not know: anything a library module could.

use anyhow::Context;
use clap::Parser;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tiro_daemon::config::{Config, ConfigError};
use tiro_daemon::limits::BLOCKING_THREADS_MAX;
use tiro_daemon::paths::{self, EnvMap};
use tiro_daemon::run::{Daemon, Running, Seams};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The Tiro daemon. Runs in the foreground and logs to standard error.
///
/// Exit codes: 0 stopped as asked, 1 failed, 2 wrong usage or configuration, 3 the store is damaged, newer or foreign,
/// 7 another daemon already answers there.
#[derive(Parser)]
#[command(name = "tirod", version)]
struct Arguments {
    /// Path of the socket, over TIRO_SOCKET and every rule.
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Folder of everything, over TIRO_HOME.
    #[arg(long, value_name = "FOLDER")]
    home: Option<PathBuf>,
    /// Print the places and the configuration, and leave.
    #[arg(long)]
    print_config: bool,
    /// Put a backup in the place of a store that is refused, and leave: the file named, or the newest good one. The store
    /// there is now is set aside. Prints the result as JSON.
    #[arg(long, value_name = "BACKUP", num_args = 0..=1)]
    restore: Option<Option<PathBuf>>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let env: EnvMap = std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value))).collect();
    start_log(paths::text(&env, "TIRO_LOG"));
    let config = match Config::load(&env, arguments.home.as_deref(), arguments.socket.as_deref()) {
        Ok(config) => config,
        Err(error @ ConfigError::Path(_)) => return fail(1, &error),
        Err(error) => return fail(2, &error),
    };
    if arguments.print_config {
        print_config(&config);
        return ExitCode::SUCCESS;
    }
    if let Some(backup) = &arguments.restore {
        return restore(&config, env, backup.as_deref());
    }
    tiro_daemon::harden::harden();
    tiro_daemon::heap::bound();
    match run(config, env) {
        Ok(code) => code,
        Err(error) => fail(1, &format!("{error:#}")),
    }
}

fn fail(code: u8, error: &dyn std::fmt::Display) -> ExitCode {
    eprintln!("tirod: {error}");
    ExitCode::from(code)
}

fn restore(config: &Config, env: EnvMap, backup: Option<&Path>) -> ExitCode {
    let restored = tiro_daemon::rooms::restore(config, &Seams::system(config, env), backup);
    match restored.map(|result| serde_json::to_string(&result)) {
        Ok(Ok(line)) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Ok(Err(error)) => fail(1, &error),
        Err(error) => fail(error.exit_code(), &error),
    }
}

fn start_log(filter: Option<&str>) {
    let filter = tracing_subscriber::EnvFilter::try_new(filter.unwrap_or("info,tantivy=warn"))
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("info,tantivy=warn"));
    let ansi = std::io::IsTerminal::is_terminal(&std::io::stderr());
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(ansi).with_target(false).init();
}

fn print_config(config: &Config) {
    let places = &config.places;
    println!("# socket: {}", places.socket.display());
    println!("# data: {}", places.data_dir.display());
    println!("# state: {}", places.state_dir.display());
    println!("# configuration: {}", places.config_file().display());
    for warning in &config.warnings {
        println!("# warning: {warning}");
    }
    if let Ok(text) = toml::to_string(&config.file) {
        print!("{text}");
    }
}

/// Runs until asked to stop.
fn run(config: Config, env: EnvMap) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(BLOCKING_THREADS_MAX)
        .thread_name("tirod")
        .build()
        .context("cannot start the runtime")?;
    let code = runtime.block_on(async {
        let signals = Signals {
            term: signal(SignalKind::terminate())?,
            int: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        };
        let seams = Seams::system(&config, env);
        match Daemon::start(config, seams).await {
            Ok(running) => anyhow::Ok(serve(running, signals).await),
            Err(error) => Ok(fail(error.exit_code(), &error)),
        }
    })?;
    runtime.shutdown_timeout(std::time::Duration::from_secs(1));
    Ok(code)
}

struct Signals {
    term: Signal,
    int: Signal,
    /// The terminal is gone. The configuration is read at the start only, so there is nothing to read again.
    hangup: Signal,
}

impl Signals {
    async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.term.recv() => "terminated by a signal",
            _ = self.int.recv() => "interrupted by a signal",
            _ = self.hangup.recv() => "its terminal hung up",
        }
    }
}

/// Waits for a reason to stop and stops; a second signal ends it at once.
async fn serve(running: Running, mut signals: Signals) -> ExitCode {
    let (reason, code) = tokio::select! {
        reason = signals.next() => (reason, ExitCode::SUCCESS),
        () = running.stop_requested() => ("a client asked for it", ExitCode::SUCCESS),
        (message, code) = running.refused() => ("there is no store to serve", fail(code, &message)),
    };
    tokio::select! {
        () = running.stop(reason) => code,
        _ = signals.next() => fail(1, &"stopped at once by a second signal"),
    }
}
