//! The background thread: feeds the full-text index from the state and writes snapshots when enough has changed. It must not
//! know how a batch is written or a snapshot laid out.

use super::open::open;
use super::schema::Payload;
use super::writer::Writer;
use crate::limits::{
    LEXICAL_ATTEMPT_MS, LEXICAL_ATTEMPTS_MAX, LEXICAL_BATCH_DOCUMENTS_MAX, LEXICAL_FAILURES_MAX, LEXICAL_IDLE_MS,
    LEXICAL_REST_MS, LEXICAL_RETRY_MS_MAX, LEXICAL_RETRY_MS_MIN, LEXICAL_SAMPLE_DOCUMENTS, LEXICAL_WAITING_DOCUMENTS_MAX,
};
use crate::settings::{Identity, Settings};
use crate::snapshot::remove;
use crate::state::State;
use parking_lot::{Condvar, Mutex, RwLock};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What the thread and the index share.
pub(crate) struct Work {
    pub(crate) state: RwLock<State>,
    pub(crate) identity: Identity,
    pub(crate) settings: Settings,
    /// Folder of the full-text index.
    pub(crate) dir: PathBuf,
    signal: Mutex<Signal>,
    wake: Condvar,
    done: Condvar,
}

/// What the thread is asked to do.
#[derive(Default)]
struct Signal {
    /// Changes since the last batch began.
    pending: usize,
    /// When the first of them came.
    since: Option<Instant>,
    /// Whether a round is asked for at once.
    soon: bool,
    /// Flushes asked for.
    wanted: u64,
    /// Flushes answered.
    answered: u64,
    /// Rounds ended, with all that follows them.
    rounds: u64,
    /// Whether the next round leaves no file with what was deleted.
    purge: bool,
    /// Why the last round failed, if it did.
    failed: Option<String>,
    stop: bool,
    /// What makes the full-text index suspect, if anything does: it is to be built anew.
    suspect: Option<String>,
    /// Whether the state is whole, so that work may begin.
    started: bool,
}

impl Work {
    /// The shared part of an index.
    pub(crate) fn new(state: State, identity: Identity, settings: Settings, dir: PathBuf) -> Self {
        Self {
            state: RwLock::new(state),
            identity,
            settings,
            dir,
            signal: Mutex::default(),
            wake: Condvar::new(),
            done: Condvar::new(),
        }
    }

    /// Says that changes were applied.
    pub(crate) fn changed(&self, changes: usize) {
        let mut signal = self.signal.lock();
        signal.pending += changes;
        signal.since.get_or_insert_with(Instant::now);
        if signal.pending == changes || signal.pending >= self.settings.batch_documents {
            self.wake.notify_one();
        }
    }

    /// Says that the state is whole.
    pub(crate) fn start(&self) {
        let mut signal = self.signal.lock();
        signal.started = true;
        signal.soon = true;
        self.wake.notify_one();
    }

    /// Waits until everything applied so far is in the full-text index.
    pub(crate) fn flush(&self, wait: Duration) -> Result<(), Option<String>> {
        let deadline = Instant::now() + wait;
        let mut signal = self.signal.lock();
        if !signal.started || signal.stop {
            return Err(Some("it is not being written: the index is not loaded, or closed".to_owned()));
        }
        signal.wanted += 1;
        let ticket = signal.wanted;
        self.wake.notify_one();
        while signal.answered < ticket {
            if self.done.wait_until(&mut signal, deadline).timed_out() {
                return Err(None);
            }
        }
        signal.failed.clone().map_or(Ok(()), |reason| Err(Some(reason)))
    }

    /// Waits until everything applied so far is in the full-text index, and nothing that was taken out is in its files.
    pub(crate) fn purge(&self, wait: Duration) -> Result<(), Option<String>> {
        self.signal.lock().purge = true;
        self.flush(wait)
    }

    /// Says that the full-text index is not to be trusted: it is built anew.
    pub(crate) fn suspect(&self, reason: String) {
        let mut signal = self.signal.lock();
        signal.suspect = Some(reason);
        signal.soon = true;
        self.wake.notify_one();
    }

    /// Asks for a round at once, without a change.
    pub(crate) fn nudge(&self) {
        self.signal.lock().soon = true;
        self.wake.notify_one();
    }

    /// Waits until `ready`, which is asked again after every round, or the time is over. Gives what it said last.
    pub(crate) fn wait_until(&self, wait: Duration, ready: impl Fn() -> bool) -> bool {
        let deadline = Instant::now() + wait;
        loop {
            let mut signal = self.signal.lock();
            let rounds = signal.rounds;
            drop(signal);
            if ready() {
                return true;
            }
            signal = self.signal.lock();
            if signal.rounds == rounds && self.done.wait_until(&mut signal, deadline).timed_out() {
                drop(signal);
                return ready();
            }
        }
    }

    /// Back to before the first start.
    pub(crate) fn reset(&self) {
        *self.signal.lock() = Signal::default();
    }

    fn payload(&self, seq: u64) -> Payload {
        Payload::of(&self.identity, seq)
    }
}

/// The thread's own part.
pub(crate) struct Indexer {
    work: Arc<Work>,
    writer: Option<Writer>,
    failures: u32,
    retry_at: Option<Instant>,
    /// Until when a commit is not due only because many documents wait.
    rest_until: Instant,
    after_round: Box<dyn FnMut() + Send>,
}

/// A running thread; ends when dropped.
pub(crate) struct Running {
    work: Arc<Work>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Running {
    /// Ends the thread after the round it is in.
    pub(crate) fn stop(&mut self) {
        self.work.signal.lock().stop = true;
        self.work.wake.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Indexer {
    /// Starts the thread. `after_round` does what else falls due: snapshots, graphs.
    pub(crate) fn spawn(
        work: Arc<Work>,
        writer: Option<Writer>,
        after_round: Box<dyn FnMut() + Send>,
    ) -> std::io::Result<Running> {
        work.signal.lock().stop = false;
        let mut indexer =
            Self { work: Arc::clone(&work), writer, failures: 0, retry_at: None, rest_until: Instant::now(), after_round };
        let thread = std::thread::Builder::new().name("tiro-index".to_owned()).spawn(move || indexer.run())?;
        Ok(Running { work, thread: Some(thread) })
    }

    fn run(&mut self) {
        while let Some(ticket) = self.wait() {
            let failed = self.round().err();
            self.rest_until = Instant::now() + Duration::from_millis(LEXICAL_REST_MS);
            let mut signal = self.work.signal.lock();
            signal.answered = signal.answered.max(ticket);
            signal.failed = failed;
            self.work.done.notify_all();
            drop(signal);
            (self.after_round)();
            self.work.signal.lock().rounds += 1;
            self.work.done.notify_all();
        }
        let mut signal = self.work.signal.lock();
        if signal.answered < signal.wanted {
            signal.answered = signal.wanted;
            signal.failed = Some("the index is closing".to_owned());
        }
        self.work.done.notify_all();
    }

    /// Waits for something to do; the number of the last flush asked for, or `None` when it is time to stop.
    fn wait(&mut self) -> Option<u64> {
        let work = Arc::clone(&self.work);
        let interval = Duration::from_millis(work.settings.batch_interval_ms);
        let mut signal = work.signal.lock();
        loop {
            if signal.stop {
                return None;
            }
            let now = Instant::now();
            let flush = signal.wanted > signal.answered;
            let many = signal.pending >= work.settings.batch_documents;
            let full = signal.pending >= LEXICAL_WAITING_DOCUMENTS_MAX && self.retry_at.is_none();
            let due = match (self.retry_at, signal.since) {
                (Some(retry), _) => Some(retry),
                (None, Some(since)) if many => Some(self.rest_until.min(since + interval)),
                (None, since) => since.map(|since| since + interval),
            };
            if signal.started && (flush || full || signal.soon || due.is_some_and(|due| due <= now)) {
                signal.pending = 0;
                signal.soon = false;
                signal.since = None;
                return Some(signal.wanted);
            }
            match due {
                Some(due) if signal.started => {
                    work.wake.wait_until(&mut signal, due);
                }
                _ => {
                    let idle = work.wake.wait_for(&mut signal, Duration::from_millis(LEXICAL_IDLE_MS)).timed_out();
                    if let (true, Some(writer)) = (idle, &mut self.writer) {
                        writer.rest();
                    }
                }
            }
        }
    }

    /// Writes all there is to write.
    fn round(&mut self) -> Result<(), String> {
        // A failure that opening the folder again cures is none: merges of a writer that was closed may go on for a moment and clear files
        // away between the list of segments and their opening.
        let mut result = self.write_all();
        for attempt in 1..LEXICAL_ATTEMPTS_MAX {
            let Err(reason) = &result else { break };
            tracing::debug!(%reason, "full-text index: opened again");
            self.writer = None;
            std::thread::sleep(Duration::from_millis(LEXICAL_ATTEMPT_MS << attempt));
            result = self.write_all();
        }
        match &result {
            Ok(()) => {
                self.failures = 0;
                self.retry_at = None;
                if self.work.state.read().trouble.is_some() {
                    self.work.state.write().trouble = None;
                }
            }
            Err(reason) => {
                tracing::warn!(%reason, "full-text index: will be tried again");
                self.writer = None;
                self.failures += 1;
                let wait = LEXICAL_RETRY_MS_MIN << self.failures.min(16);
                self.retry_at = Some(Instant::now() + Duration::from_millis(wait.min(LEXICAL_RETRY_MS_MAX)));
                self.work.state.write().trouble = Some(reason.clone());
            }
        }
        result
    }

    fn write_all(&mut self) -> Result<(), String> {
        let suspect = self.work.signal.lock().suspect.take();
        if let Some(reason) = suspect {
            tracing::warn!(%reason, "full-text index: built anew");
            self.discard();
        }
        loop {
            let mut writer = match self.writer.take() {
                Some(writer) => writer,
                None => self.reopen()?,
            };
            // Looked at before the batch is made: whatever was taken out when a purge was asked for is in it then.
            let is_purge = self.work.signal.lock().purge;
            let batch = self.work.state.read().batch(LEXICAL_BATCH_DOCUMENTS_MAX);
            let is_empty = batch.additions.is_empty() && batch.removals.is_empty();
            if !is_empty {
                let reached = self.work.state.read().reader.as_ref().map_or(0, |reader| reader.seq);
                let payload = self.work.payload(batch.complete_at.unwrap_or(reached));
                let reader = writer.write(&batch, &payload)?;
                self.work.state.write().settle(&batch, reader);
            }
            let is_whole = is_empty || batch.complete_at.is_some();
            if is_purge && is_whole {
                self.purge(&mut writer)?;
                self.work.signal.lock().purge = false;
            }
            self.writer = Some(writer);
            if is_whole {
                return Ok(());
            }
        }
    }

    /// Leaves no file with what was deleted.
    fn purge(&self, writer: &mut Writer) -> Result<(), String> {
        let reached = self.work.state.read().reader.as_ref().map_or(0, |reader| reader.seq);
        let reader = writer.merge_deleted(reached)?;
        // No search is under way while the state is written: the reader of before, and with it its files, is let go here.
        let before = self.work.state.write().reader.replace(reader);
        drop(before);
        writer.collect()
    }

    /// Gives the full-text index up, on disk too.
    fn discard(&mut self) {
        self.writer = None;
        self.work.state.write().forget_lexical();
        let _ = remove(&self.work.dir);
    }

    /// Opens the folder again after a failure and learns from it what it holds.
    fn reopen(&mut self) -> Result<Writer, String> {
        if self.failures >= LEXICAL_FAILURES_MAX && self.failures.is_multiple_of(LEXICAL_FAILURES_MAX) {
            self.discard();
        }
        let seq = self.work.state.read().seq;
        open_and_reconcile(&self.work, seq).map(|(writer, _)| writer)
    }
}

/// Opens the full-text index and tells the state what it holds; builds it anew when the two contradict each other. The second value
/// says why it was made anew, if it was. The sequence is where the store stands.
pub(crate) fn open_and_reconcile(work: &Work, store_seq: u64) -> Result<(Writer, Option<String>), String> {
    let wanted = work.payload(store_seq);
    let opened = open(&work.dir, &wanted)?;
    let reason = {
        let mut state = work.state.write();
        match state.reconcile(Arc::clone(&opened.reader)) {
            Err(held) => Some(format!("it holds document {} twice", held.0)),
            Ok(()) => {
                let sample = state.sample(LEXICAL_SAMPLE_DOCUMENTS);
                drop(state);
                match opened.reader.check(&sample) {
                    Ok(true) => None,
                    Ok(false) => Some("its postings miss documents that it holds".to_owned()),
                    Err(reason) => Some(reason),
                }
            }
        }
    };
    let Some(reason) = reason else {
        let rebuilt = opened.rebuilt.clone();
        return Ok((Writer::new(opened), rebuilt));
    };
    work.state.write().forget_lexical();
    drop(opened);
    remove(&work.dir).map_err(|error| format!("cannot remove {}: {error}", work.dir.display()))?;
    let opened = open(&work.dir, &wanted)?;
    work.state
        .write()
        .reconcile(Arc::clone(&opened.reader))
        .map_err(|held| format!("a new index holds document {} twice", held.0))?;
    Ok((Writer::new(opened), Some(reason)))
}
