//! Documents of a folder kept in step with memory: new passages go in, changed ones change, what is gone is archived.
//!
//! What memory holds of a folder is asked of the daemon, once a run: nothing is kept beside it. Must not know: formats; when this is done.

use super::super::Failure;
use super::super::shell::Daemon;
use super::pump::Pump;
use super::report::Report;
use crate::import::folder::{Folder, Seen};
use crate::import::sink::{Batch, Sink, Stop};
use crate::import::{Format, talk};
use crate::limits::{IMPORT_BATCHES_WAITING_MAX, IMPORT_RETIRE_IDS, PAGE_ITEMS};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use tiro_schema::wire::memory::{Filter, ListOrder, ListParams, ListResult, Status};
use tokio::sync::mpsc;

/// Ids of the passages that memory holds, by the path of their document.
pub type Known = BTreeMap<String, BTreeSet<String>>;

/// The folder at a path.
///
/// # Errors
/// When it cannot be read.
pub fn folder(path: &Path, named: Option<&str>, format: Format, space: &str) -> Result<Folder, Failure> {
    Folder::at(path, named, format, space)
        .map_err(|error| Failure::usage(format!("cannot read {}", path.display())).because(error.to_string()))
}

/// What memory holds of a folder.
///
/// # Errors
/// As the daemon answers.
pub async fn known(daemon: &mut Daemon, folder: &Folder) -> Result<Known, Failure> {
    let mut known = Known::new();
    let filter = Filter {
        tags: talk::tag(&folder.source).map(|tag| vec![tag]),
        statuses: Some(vec![Status::Active]),
        ..Filter::default()
    };
    let mut params = ListParams {
        space: Some(folder.space.clone()),
        filter: Some(filter),
        order: Some(ListOrder::Oldest),
        limit: Some(PAGE_ITEMS),
        ..ListParams::default()
    };
    loop {
        let page: ListResult = daemon.call("memory/list", &params).await?;
        for item in page.items {
            let ours = |source: &tiro_schema::wire::memory::Source| {
                let is_ours = source.program.as_deref() == Some(folder.format.name());
                let session = source.session.as_deref().filter(|_| is_ours)?;
                session.strip_prefix(&folder.source)?.strip_prefix('/').map(str::to_owned)
            };
            if let Some(path) = item.sources.iter().find_map(ours) {
                known.entry(path).or_default().insert(item.id);
            }
        }
        match page.next_cursor {
            Some(cursor) => params.cursor = Some(cursor),
            None => return Ok(known),
        }
    }
}

/// Brings these documents of a folder into step, all of them where none are named. What memory then holds of it.
///
/// # Errors
/// As the daemon answers, and when the folder cannot be read.
pub async fn keep_in_step(
    folder: &Folder,
    files: Option<Vec<String>>,
    pump: &mut Pump,
    report: &mut Report,
) -> Result<Known, Failure> {
    let mut known = known(&mut pump.daemon, folder).await?;
    step(folder, files, &mut known, pump, report).await?;
    Ok(known)
}

/// The same with what memory holds known.
///
/// # Errors
/// As [`keep_in_step`].
pub async fn step(
    folder: &Folder,
    files: Option<Vec<String>>,
    known: &mut Known,
    pump: &mut Pump,
    report: &mut Report,
) -> Result<(), Failure> {
    let is_whole = files.is_none();
    let cannot =
        |error: std::io::Error| Failure::failed(format!("cannot read {}", folder.root.display())).because(error.to_string());
    let files = match files {
        Some(files) => files,
        None => folder.files().map_err(cannot)?,
    };
    let there: BTreeSet<String> = files.iter().cloned().collect();
    let (batches, mut waiting) = mpsc::channel::<Batch>(IMPORT_BATCHES_WAITING_MAX);
    let of_reader = folder.clone();
    let reader = std::thread::spawn(move || -> Result<Seen, Stop> {
        let mut sink = Sink::new(0, move |batch| batches.blocking_send(batch).map_err(|_| Stop::Gone));
        let seen = of_reader.read(&files, &mut sink)?;
        sink.flush()?;
        Ok(seen)
    });
    while let Some(batch) = waiting.recv().await {
        pump.documents(batch, folder.format, &folder.space, report).await?;
    }
    let seen = match tokio::task::spawn_blocking(move || reader.join()).await {
        Ok(Ok(Ok(seen))) => seen,
        _ => return Err(Failure::failed("the reader ended by itself")),
    };
    let mut gone: Vec<String> = Vec::new();
    for (path, ids) in seen {
        // What could not be read is not gone.
        let Some(ids) = ids else { continue };
        let before = known.remove(&path).unwrap_or_default();
        gone.extend(before.difference(&ids).cloned());
        if !ids.is_empty() {
            known.insert(path, ids);
        }
    }
    if is_whole {
        let lost: Vec<String> = known.keys().filter(|path| !there.contains(*path)).cloned().collect();
        for path in lost {
            gone.extend(known.remove(&path).into_iter().flatten());
        }
    }
    for ids in gone.chunks(IMPORT_RETIRE_IDS) {
        pump.retire(&folder.space, ids.to_vec(), report).await?;
    }
    Ok(())
}
