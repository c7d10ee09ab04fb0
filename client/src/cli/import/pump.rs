//! From a reader to the daemon: a thread reads and parses while batches are on their way, and few wait between them.
//!
//! Must not know: formats.

use super::super::shell::{Daemon, fresh_key};
use super::super::{Failure, progress};
use super::checkpoint::Checkpoint;
use super::input::Stream;
use super::report::{At, Refused, Report};
use crate::import::sink::{Batch, Sink, Stop};
use crate::import::{self, Format, Setting, native};
use crate::limits::{IMPORT_BATCHES_WAITING_MAX, IMPORT_PAUSE, IMPORT_REFUSED_MAX, IMPORT_TRIES_MAX};
use indicatif::ProgressBar;
use tiro_schema::ErrorKind;
use tiro_schema::wire::memory::{ImportParams, ImportResult};
use tokio::sync::mpsc;

/// Sends batches.
pub struct Pump {
    /// The daemon.
    pub daemon: Daemon,
    bar: ProgressBar,
    /// Bytes of the streams before this one.
    before: u64,
    total: u64,
    /// Whether it only judges.
    pub dry_run: bool,
}

/// A batch on its way with what came back.
struct Sent {
    refused: Vec<Refused>,
    result: ImportResult,
}

impl Pump {
    /// To a daemon, with a line of progress.
    pub fn new(daemon: Daemon, bar: ProgressBar, dry_run: bool) -> Self {
        Pump { daemon, bar, before: 0, total: 0, dry_run }
    }

    /// Takes a stream to its end. `spaces` are the one for lines that name none, and the one that goes over what lines name.
    ///
    /// # Errors
    /// As the daemon answers; what a line lacks is in the report.
    pub async fn stream(
        &mut self,
        stream: Stream,
        setting: Setting,
        spaces: (Option<&str>, Option<&str>),
        report: &mut Report,
    ) -> Result<(), Failure> {
        let Stream { format, path, length, mut input } = stream;
        self.total += length.unwrap_or(0);
        progress::set_total(&self.bar, self.total.max(1));
        let places = self.daemon.places();
        let mut checkpoint = match path.as_deref().filter(|_| !self.dry_run) {
            Some(path) => Checkpoint::of(path, format, &setting, spaces.1, places, self.daemon.hello()),
            None => None,
        };
        let mut reached = checkpoint.as_ref().and_then(Checkpoint::reached).unwrap_or_default();
        let before = reached.lines;
        let (batches, mut waiting) = mpsc::channel::<Batch>(IMPORT_BATCHES_WAITING_MAX);
        let of_reader = setting.clone();
        let reader = std::thread::spawn(move || {
            let mut sink = Sink::new(before, move |batch| batches.blocking_send(batch).map_err(|_| Stop::Gone));
            let ended = import::read(format, &mut *input, &of_reader, &mut sink);
            sink.flush().and(ended)
        });
        let file = path.as_ref().map(|path| path.display().to_string());
        if before > 0 {
            report.resumed_after = Some(report.resumed_after.unwrap_or(0) + before);
            report.lines += before;
            report.refused_count += reached.refused_count;
            report.refused.extend(reached.refused.iter().cloned());
        }
        let mut ours = std::mem::take(&mut reached);
        report.done.created += ours.done.created;
        report.done.duplicate += ours.done.duplicate;
        report.done.updated += ours.done.updated;
        report.done.kept += ours.done.kept;
        while let Some(mut batch) = waiting.recv().await {
            let lines = batch.lines.len() as u64;
            self.bar.set_position(self.before + batch.read);
            let sent = self.batch(&mut batch, format, spaces, file.as_deref(), report).await?;
            let Some(sent) = sent else { continue };
            ours.lines += lines;
            ours.done.add(&sent.result);
            ours.refused_count += sent.refused.len() as u64;
            let room = IMPORT_REFUSED_MAX.saturating_sub(ours.refused.len());
            ours.refused.extend(sent.refused.into_iter().take(room));
            if let Some(checkpoint) = &mut checkpoint {
                checkpoint.note(&ours);
            }
        }
        match tokio::task::spawn_blocking(move || reader.join()).await {
            Ok(Ok(Ok(()) | Err(Stop::Gone))) => {}
            Ok(Ok(Err(stop))) => report.refuse(At { file, ..At::default() }, format!("the rest cannot be read: {stop}")),
            _ => return Err(Failure::failed("the reader ended by itself")),
        }
        if let Some(checkpoint) = checkpoint {
            checkpoint.done();
        }
        self.before += length.unwrap_or(0);
        Ok(())
    }

    /// Sends one batch and adds it to the report; none where there was nothing to send.
    async fn batch(
        &mut self,
        batch: &mut Batch,
        format: Format,
        spaces: (Option<&str>, Option<&str>),
        file: Option<&str>,
        report: &mut Report,
    ) -> Result<Option<Sent>, Failure> {
        report.sources += batch.sources;
        for (kind, count) in std::mem::take(&mut batch.skipped) {
            *report.skipped.entry(kind.to_owned()).or_default() += count;
        }
        let unlisted = batch.refused_count - batch.refused.len() as u64;
        report.lines += batch.lines.len() as u64 + batch.refused_count;
        report.refused_count += unlisted;
        for refused in std::mem::take(&mut batch.refused) {
            report.refuse(At::of(file, refused.place), refused.reason);
        }
        if batch.lines.is_empty() {
            return Ok(None);
        }
        let mut lines = std::mem::take(&mut batch.lines);
        if let (Format::Native, Some(named)) = (format, spaces.1) {
            report.moved += lines.iter_mut().map(|line| u64::from(native::put_into(named, line))).sum::<u64>();
        }
        let params = ImportParams {
            lines,
            space: spaces.0.map(str::to_owned),
            // Lines of an export say what is; lines of other programs say what their source has now.
            update: (format != Format::Native).then_some(true),
            ..ImportParams::default()
        };
        let result = self.send(params).await?;
        let mut all = Vec::new();
        for refused in &result.refused {
            let place = usize::try_from(refused.line).ok().and_then(|n| batch.places.get(n)).cloned();
            let at = place.map_or_else(At::default, |place| At::of(file, place));
            report.refuse(at.clone(), refused.reason.clone());
            all.push(Refused { at, reason: refused.reason.clone() });
        }
        Ok(Some(self.count(result, all, report)))
    }

    fn count(&self, result: ImportResult, refused: Vec<Refused>, report: &mut Report) -> Sent {
        report.done.add(&result);
        for (name, count) in &result.unknown_fields {
            *report.unknown_fields.entry(name.clone()).or_default() += count;
        }
        report.seq = Some(result.seq.clone());
        Sent { refused, result }
    }

    /// Retires memories of a space.
    ///
    /// # Errors
    /// As the daemon answers.
    pub async fn retire(&mut self, space: &str, ids: Vec<String>, report: &mut Report) -> Result<(), Failure> {
        let params = ImportParams { retire: Some(ids), space: Some(space.to_owned()), ..ImportParams::default() };
        let result = self.send(params).await?;
        self.count(result, Vec::new(), report);
        Ok(())
    }

    /// Calls `memory/import`, again where the daemon has no room at the moment. A key of its own makes a batch that is sent again, as
    /// the daemon went away, one; what an earlier run took is known by its words or its id.
    async fn send(&mut self, mut params: ImportParams) -> Result<ImportResult, Failure> {
        params.dry_run = self.dry_run.then_some(true);
        params.key = fresh_key().filter(|_| !self.dry_run);
        let mut pause = IMPORT_PAUSE;
        for _ in 1..IMPORT_TRIES_MAX {
            match self.daemon.call("memory/import", &params).await {
                Err(failure) if failure.error.as_ref().is_some_and(|error| error.kind() == Some(ErrorKind::Overloaded)) => {}
                answer => return answer,
            }
            tokio::time::sleep(pause).await;
            pause *= 2;
        }
        self.daemon.call("memory/import", &params).await
    }

    /// Takes a document's batch.
    ///
    /// # Errors
    /// As the daemon answers.
    pub async fn documents(&mut self, mut batch: Batch, format: Format, space: &str, report: &mut Report) -> Result<(), Failure> {
        self.batch(&mut batch, format, (Some(space), None), None, report).await.map(drop)
    }

    /// Takes the line of progress away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
