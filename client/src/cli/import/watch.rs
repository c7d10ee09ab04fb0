//! `tiro import --watch`: a folder of documents kept in step until Ctrl-C.
//!
//! Changes are told by the system, gathered until the folder is quiet, and taken file by file; when too many come, or a folder changed as a
//! whole, all of it is looked through. A daemon that goes away is waited for, and nothing that changed meanwhile is lost. Must not know:
//! formats.

use super::super::{Exit, Failure, Outcome, Shell, progress};
use super::ImportArgs;
use super::documents::{self, Known};
use super::pump::Pump;
use super::report::Report;
use crate::import::Format;
use crate::import::folder::Folder;
use crate::limits::{WATCH_EVENTS_MAX, WATCH_PATIENCE, WATCH_PAUSE_MAX, WATCH_PAUSE_MIN, WATCH_QUIET, WATCH_ROUND};
use crate::render::escape;
use notify::{EventKind, RecursiveMode, Watcher};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until, timeout};

/// What waits to be taken.
#[derive(Debug, Default)]
struct Waiting {
    /// Documents, by path.
    files: BTreeSet<String>,
    /// The whole folder.
    all: bool,
}

impl Waiting {
    fn is_empty(&self) -> bool {
        self.files.is_empty() && !self.all
    }

    /// Adds a path that changed.
    fn add(&mut self, folder: &Folder, path: &std::path::Path) {
        match folder.within(path) {
            Some(within) if folder.counts(path) => drop(self.files.insert(within)),
            // A folder that came, went or was renamed, with all that is in it.
            Some(_) if path.extension().is_none() || path.is_dir() => self.all = true,
            _ if path == folder.root => self.all = true,
            _ => {}
        }
        self.all |= self.files.len() > WATCH_EVENTS_MAX;
    }
}

/// Runs the command.
pub async fn run(shell: &Shell, args: &ImportArgs) -> Outcome {
    let [path] = args.paths.as_slice() else { return Err(Failure::usage("--watch takes one folder")) };
    if !path.is_dir() {
        return Err(Failure::usage(format!("{} is not a folder", path.display())).hint("--watch takes a folder of documents"));
    }
    let format = args.format.unwrap_or(Format::Markdown);
    if !format.is_document() {
        return Err(Failure::usage(format!("--watch keeps documents in step, not {}", format.name())));
    }
    let folder = documents::folder(path, args.source.as_deref(), format, &shell.space_name()?)?;
    let lost = Arc::new(AtomicBool::new(false));
    let (changed, mut changes) = mpsc::channel::<PathBuf>(WATCH_EVENTS_MAX);
    let mut watcher = watcher(changed, Arc::clone(&lost))?;
    watcher.watch(&folder.root, RecursiveMode::Recursive).map_err(|error| cannot(&folder, &error))?;

    let mut pump = Pump::new(shell.daemon().await?, progress::bar(shell, "importing"), false);
    let mut known: Option<Known> = None;
    let mut waiting = Waiting { all: true, ..Waiting::default() };
    let mut ended = std::pin::pin!(interrupted());
    loop {
        if !waiting.is_empty() {
            tokio::select! {
                () = &mut ended => break,
                taken = take(shell, &folder, &mut waiting, &mut known, &mut pump) => taken?,
            }
        }
        let round = sleep(WATCH_ROUND);
        tokio::select! {
            () = &mut ended => break,
            () = round => waiting.all = true,
            path = changes.recv() => {
                let Some(path) = path else { return Err(Failure::failed("the watcher ended by itself")) };
                waiting.add(&folder, &path);
                gather(&folder, &mut changes, &mut waiting).await;
                waiting.all |= lost.swap(false, Ordering::SeqCst);
            }
        }
    }
    shell.note("no longer watching");
    Ok(Exit::Done)
}

fn watcher(changed: mpsc::Sender<PathBuf>, lost: Arc<AtomicBool>) -> Result<notify::RecommendedWatcher, Failure> {
    let told = move |event: Result<notify::Event, notify::Error>| match event {
        Ok(event) if matches!(event.kind, EventKind::Access(_)) => {}
        Ok(event) => {
            if event.need_rescan() {
                lost.store(true, Ordering::SeqCst);
            }
            for path in event.paths {
                // Full: the whole folder is looked through once there is room.
                if changed.try_send(path).is_err() {
                    lost.store(true, Ordering::SeqCst);
                }
            }
        }
        Err(_) => lost.store(true, Ordering::SeqCst),
    };
    notify::recommended_watcher(told).map_err(|error| Failure::failed("cannot watch files").because(error.to_string()))
}

fn cannot(folder: &Folder, error: &notify::Error) -> Failure {
    let failure = Failure::failed(format!("cannot watch {}", folder.root.display())).because(error.to_string());
    match error.kind {
        notify::ErrorKind::MaxFilesWatch => {
            failure.hint("raise the limit of the system: sysctl fs.inotify.max_user_watches=524288")
        }
        _ => failure,
    }
}

/// Gathers changes until the folder is quiet, or has kept on for long.
async fn gather(folder: &Folder, changes: &mut mpsc::Receiver<PathBuf>, waiting: &mut Waiting) {
    let end = Instant::now() + WATCH_PATIENCE;
    while Instant::now() < end {
        tokio::select! {
            () = sleep_until(end) => return,
            path = timeout(WATCH_QUIET, changes.recv()) => match path {
                Ok(Some(path)) => waiting.add(folder, &path),
                _ => return,
            },
        }
    }
}

/// Takes what waits. A daemon that does not answer is tried again, with longer and longer pauses, until it does.
async fn take(
    shell: &Shell,
    folder: &Folder,
    waiting: &mut Waiting,
    known: &mut Option<Known>,
    pump: &mut Pump,
) -> Result<(), Failure> {
    let mut pause = WATCH_PAUSE_MIN;
    loop {
        let mut report = Report::new(false, None);
        report.format(folder.format);
        match once(folder, waiting, known, pump, &mut report).await {
            Ok(()) => {
                *waiting = Waiting::default();
                return tell(shell, &report);
            }
            // What the daemon refused as a whole it would refuse again.
            Err(failure) if !passes(&failure) => return Err(failure),
            Err(failure) => {
                // It may have been restored from a backup: what it holds is asked anew.
                *known = None;
                waiting.all = true;
                shell.note(&format!("{}: trying again in {} s", failure.what, pause.as_secs_f32()));
            }
        }
        sleep(pause).await;
        pause = (pause * 2).min(WATCH_PAUSE_MAX);
    }
}

async fn once(
    folder: &Folder,
    waiting: &Waiting,
    known: &mut Option<Known>,
    pump: &mut Pump,
    report: &mut Report,
) -> Result<(), Failure> {
    if !folder.root.is_dir() {
        return Err(Failure::failed(format!("{} is gone", folder.root.display())).hint("what was imported from it stays"));
    }
    let files = (!waiting.all).then(|| waiting.files.iter().cloned().collect());
    let mut now = match known.take() {
        Some(now) => now,
        None => documents::known(&mut pump.daemon, folder).await?,
    };
    documents::step(folder, files, &mut now, pump, report).await?;
    *known = Some(now);
    Ok(())
}

/// Whether a failure may be none the next time: the daemon cannot be reached, or says that it can be tried again.
fn passes(failure: &Failure) -> bool {
    let is_retryable = failure.error.as_ref().and_then(|error| error.data.as_ref()).is_some_and(|data| data.retryable);
    failure.exit == Exit::Unreachable || is_retryable
}

fn tell(shell: &Shell, report: &Report) -> Result<(), Failure> {
    if shell.global.json {
        shell.print_json(report)?;
    } else {
        shell.print(&report.said(&shell.out))?;
        report.refused.iter().for_each(|refused| eprintln!("{}", escape::terminal_line(&refused.to_string())));
    }
    Ok(())
}

/// Waits for Ctrl-C, or to be told to end.
async fn interrupted() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate())) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn documents_wait_one_by_one_and_folders_whole() {
        let home = tempfile::tempdir().unwrap();
        let folder = Folder::at(home.path(), None, Format::Markdown, "personal").unwrap();
        let mut waiting = Waiting::default();
        for ignored in ["x.png", ".obsidian/y.md", "a.md~"] {
            waiting.add(&folder, &folder.root.join(ignored));
        }
        assert!(waiting.is_empty(), "{waiting:?}");
        waiting.add(&folder, &folder.root.join("a/b.md"));
        assert!(waiting.files.contains("a/b.md") && !waiting.all);
        waiting.add(&folder, &folder.root.join("a"));
        assert!(waiting.all);
    }
}
