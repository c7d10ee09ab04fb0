//! `tiro daemon`: start, run, stop and look at tirod, and hand it to systemd.
//!
//! Must not know: what the daemon does with memories.

mod logs;
pub mod unit;

use super::{Exit, Failure, Outcome, Shell};
use crate::connection::{CallError, CallOptions};
use crate::launch::{self, LaunchError};
use crate::limits::{HANDSHAKE_MAX, PROBE_MAX, PROBE_MIN, STOP_MAX};
use crate::render::{Style, escape, size, time, wrap};
use crate::{handshake, owner};
use clap::{Args, Subcommand};
use std::os::unix::process::CommandExt;
use std::time::Instant;
use tiro_schema::place::Places;
use tiro_schema::wire::daemon::{NoParams, SchemaResult, ShutdownResult, StatusResult};

/// Start, run, stop and look at the daemon
///
/// Commands that need it start it by themselves; `install` hands it to systemd.
#[derive(Debug, Subcommand)]
pub enum DaemonCommand {
    Start(StartArgs),
    Run(RunArgs),
    Stop(StopArgs),
    Status(StatusArgs),
    Logs(logs::LogsArgs),
    Schema(SchemaArgs),
    Install(unit::InstallArgs),
    Uninstall(unit::UninstallArgs),
}

/// Start the daemon in the background
///
/// It goes on after this shell ends; its log is in the state folder. Fine when it runs already.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tiro daemon start")]
pub struct StartArgs {}

/// Run the daemon in this terminal, with its log on standard error
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tiro daemon run\n  TIRO_HOME=/tmp/trial tiro daemon run")]
pub struct RunArgs {}

/// Stop the daemon
///
/// It ends what it is doing and stops cleanly, as on SIGTERM, SIGINT and SIGHUP. Fine when it does not run. Works with a
/// daemon of any version.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tiro daemon stop")]
pub struct StopArgs {}

/// Show what the daemon is doing
///
/// Does not start it: exit code 4 when it does not run. Works with a daemon of any version.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tiro daemon status\n  tiro daemon status --json | jq .model")]
pub struct StatusArgs {}

/// Describe every method, notification and error of the daemon's socket
///
/// A line each; with --json whole, as JSON Schema made from the types.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tiro daemon schema\n  tiro daemon schema --json | jq '.methods[] | select(.name == \"memory/recall\")'"
)]
pub struct SchemaArgs {}

/// Runs the command.
pub async fn run(shell: &Shell, command: DaemonCommand) -> Outcome {
    match command {
        DaemonCommand::Start(_) => start(shell).await,
        DaemonCommand::Run(_) => foreground(shell),
        DaemonCommand::Stop(_) => stop(shell).await,
        DaemonCommand::Status(_) => status(shell).await,
        DaemonCommand::Logs(args) => logs::run(shell, args).await,
        DaemonCommand::Schema(_) => schema(shell).await,
        DaemonCommand::Install(args) => unit::install(shell, args).await,
        DaemonCommand::Uninstall(args) => unit::uninstall(shell, args).await,
    }
}

async fn start(shell: &Shell) -> Outcome {
    let session = launch::reach(&shell.places()?, super::shell::CLIENT).await?;
    let status = handshake::status(&session.connection).await?;
    shell.answer(&status, |status, _| {
        let what = if session.started { "started" } else { "runs already" };
        format!("tirod {} {what} (pid {}), at {}\n", status.daemon.version, status.pid, status.socket)
    })?;
    Ok(Exit::Done)
}

fn foreground(shell: &Shell) -> Outcome {
    let program = launch::program()?;
    let error = launch::foreground(&program, &shell.places()?).exec();
    Err(Failure::failed(format!("cannot run {}", program.display())).because(error.to_string()))
}

async fn stop(shell: &Shell) -> Outcome {
    let pid = match shut_down(&shell.places()?).await {
        Ok(pid) => pid,
        Err(LaunchError::NotRunning { .. }) => {
            shell.answer(&serde_json::json!({"stopped": false}), |_, _| String::new())?;
            shell.note("the daemon does not run");
            return Ok(Exit::Done);
        }
        Err(other) => return Err(other.into()),
    };
    shell.answer(&serde_json::json!({"stopped": true, "pid": pid}), |_, _| match pid {
        Some(pid) => format!("stopped (pid {pid})\n"),
        None => "stopped\n".to_owned(),
    })?;
    Ok(Exit::Done)
}

/// Tells the daemon to stop and waits until its process has ended; gives its pid where it said.
///
/// # Errors
/// [`LaunchError::NotRunning`] when there is none, [`LaunchError::Held`] when it answers nowhere, [`LaunchError::TooSlow`]
/// when it does not end.
pub async fn shut_down(places: &Places) -> Result<Option<u32>, LaunchError> {
    let connection = launch::connect(places).await?;
    let pid = handshake::status(&connection).await.ok().map(|status| status.pid);
    let options = CallOptions { timeout: Some(HANDSHAKE_MAX), progress_token: None };
    match connection.call_with::<_, ShutdownResult>("daemon/shutdown", &NoParams {}, options).await {
        Ok(_) | Err(CallError::Closed { .. }) => {}
        Err(CallError::Refused(error)) if error.kind() == Some(tiro_schema::ErrorKind::Draining) => {}
        Err(other) => return Err(LaunchError::Handshake(other.into())),
    }
    let too_slow = || LaunchError::TooSlow { log: places.log_file() };
    let deadline = Instant::now() + STOP_MAX;
    tokio::time::timeout(STOP_MAX, connection.closed()).await.map_err(|_| too_slow())?;
    let mut pause = PROBE_MIN;
    while pid.is_some_and(owner::is_alive) {
        if Instant::now() > deadline {
            return Err(too_slow());
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(PROBE_MAX);
    }
    Ok(pid)
}

async fn status(shell: &Shell) -> Outcome {
    let places = shell.places()?;
    let connection = launch::connect(&places).await?;
    // No initialize before it: this has to work with a daemon of any version.
    let status = handshake::status(&connection).await?;
    shell.answer(&status, shown)?;
    Ok(Exit::Done)
}

async fn schema(shell: &Shell) -> Outcome {
    let result: SchemaResult = shell.daemon().await?.call("daemon/schema", &NoParams {}).await?;
    shell.answer(&result, |result, style| {
        let methods = result.methods.iter().map(|method| (&method.name, &method.summary));
        let notifications = result.notifications.iter().map(|note| (&note.name, &note.summary));
        let errors = result.errors.iter().map(|error| (&error.kind, &error.hint));
        let lines = methods.chain(notifications).chain(errors);
        lines
            .map(|(name, what)| match style.terminal {
                true => format!("{} {what}\n", style.cyan(&wrap::pad(name, 20))),
                false => format!("{name}\t{what}\n"),
            })
            .collect()
    })?;
    Ok(Exit::Done)
}

fn shown(status: &StatusResult, style: &Style) -> String {
    let state = match status.state.as_str() {
        "ready" => style.green(&status.state),
        "starting" | "draining" => style.yellow(&status.state),
        other => style.red(&escape::terminal_line(other)),
    };
    let model = match (&status.model.name, status.model.configured) {
        (Some(name), true) => format!("{name} ({})", status.model.reason),
        (None, true) => status.model.reason.clone(),
        (_, false) if status.model.reason.is_empty() => "none".to_owned(),
        (_, false) => status.model.reason.clone(),
    };
    let ours = handshake::ours();
    let speaks = if status.protocol.min > ours.max || status.protocol.max < ours.min {
        format!(
            "{} to {}; this client speaks {} to {}: update the older",
            status.protocol.min, status.protocol.max, ours.min, ours.max
        )
    } else {
        format!("{} to {}", status.protocol.min, status.protocol.max)
    };
    let mut rows = vec![
        ("state", state),
        ("version", status.daemon.version.clone()),
        ("protocol", speaks),
        ("pid", status.pid.to_string()),
        ("since", time::minute(&status.started_at, style)),
        ("socket", status.socket.clone()),
        ("store", status.data_dir.clone()),
        ("clients", status.clients.to_string()),
        ("memory", size::bytes(status.resident_bytes)),
        ("embedder", status.embedder.clone()),
        ("model", model),
    ];
    rows.extend(status.embedding.as_ref().map(|state| {
        let name = if state.model.is_empty() { "none" } else { &state.model };
        ("vectors", format!("{name}: {}, {} of {}", state.state, state.done, state.total))
    }));
    rows.extend(status.store_bytes.map(|bytes| ("store file", size::bytes(bytes))));
    rows.extend(status.index.as_ref().map(|index| {
        let bytes = size::bytes(status.index_bytes.unwrap_or(0));
        ("index", format!("{}, {bytes}", size::count(index.documents, "document", "documents")))
    }));
    rows.extend(status.store.as_ref().map(|store| ("seq", store.seq.clone())));
    rows.push((
        "last backup",
        status.last_backup_at.as_ref().map_or_else(|| "none yet".to_owned(), |at| time::minute(at, style)),
    ));
    rows.iter().map(|(name, value)| format!("{} {value}\n", style.dim(&wrap::pad(name, 12)))).collect()
}
