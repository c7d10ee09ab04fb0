//! Progress on a terminal, from the daemon's notifications or from a count of one's own.
//!
//! Must not know: what is being done.

use super::Failure;
use super::Shell;
use super::shell::Daemon;
use crate::connection::CallOptions;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tiro_schema::wire::Progress;

/// A line of progress on standard error; invisible in a pipe, with `--quiet` and with `--json`.
pub fn bar(shell: &Shell, stage: &str) -> ProgressBar {
    if !shell.err.terminal || shell.global.quiet || shell.global.json {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{msg} {pos} {elapsed}") {
        bar.set_style(style);
    }
    bar.set_message(stage.to_owned());
    bar
}

/// Gives the line an end to count towards.
pub fn set_total(bar: &ProgressBar, total: u64) {
    if bar.length() == Some(total) {
        return;
    }
    bar.set_length(total);
    if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {eta}") {
        bar.set_style(style);
    }
}

/// Calls a long method and shows how far it is.
///
/// # Errors
/// As the daemon answers.
pub async fn call<P: Serialize, R: DeserializeOwned>(
    shell: &Shell,
    daemon: &mut Daemon,
    method: &str,
    params: &P,
    stage: &str,
) -> Result<R, Failure> {
    let bar = bar(shell, stage);
    let notes = if bar.is_hidden() { None } else { daemon.connection().notifications() };
    let Some(mut notes) = notes else {
        return daemon.call(method, params).await;
    };
    let options = CallOptions { timeout: None, progress_token: Some("1".to_owned()) };
    let call = daemon.call_with(method, params, options);
    tokio::pin!(call);
    let answer = loop {
        tokio::select! {
            answer = &mut call => break answer,
            Some(note) = notes.recv() => {
                let progress = note.params.and_then(|params| serde_json::from_value::<Progress>(params).ok());
                if let Some(progress) = progress.filter(|_| note.method == "progress") {
                    bar.set_message(progress.stage);
                    if let Some(total) = progress.total {
                        set_total(&bar, total);
                    }
                    bar.set_position(progress.done);
                }
            }
        }
    };
    bar.finish_and_clear();
    answer
}
